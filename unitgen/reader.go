package unitgen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/unitgen/unit"
)

// reader walks a policy's nodes by its schema. It goes on after an error, so
// that one run tells all that is wrong.
type reader struct {
	file    string
	errs    Errors
	aliases int

	files     map[*yaml.Node]string // where a node stands, if not in file
	at        map[string]Position   // of one service: where each key's value stands
	inherited map[string]bool       // and which of them are defaults
	template  bool                  // and whether it is a template
	secrets   []Secret              // that its checks hold
	earlier   int                   // and how many errors there were before it
}

func newReader(file string) *reader {
	return &reader{file: file, files: map[*yaml.Node]string{}, at: map[string]Position{}, inherited: map[string]bool{}}
}

// value is a node with the path of keys that leads to it, aliases followed.
type value struct {
	*yaml.Node
	path      string
	file      string  // where it stands; empty for the reader's own
	isDefault bool    // no service says it itself
	under     []layer // mappings that say what a mapping does not, the first of them first
}

// field reads the value of one key.
type field[T any] func(r *reader, v value, into *T)

// section is the schema of a mapping.
type section[T any] struct {
	path    string // "" for the file itself
	example string // of what the mapping may look like, for errors
	fields  map[string]field[T]
	later   []string   // keys of the format that this version does not have
	instead [][]string // keys that say the same in other words: one of them takes the place of another's default
	whole   bool       // the mapping takes the place of a default as a whole
}

// read reads a mapping by its schema.
func (s section[T]) read(r *reader, v value, into *T) {
	if s.whole {
		v.under = nil
	}
	pairs := r.pairs(v, s.example)
	for _, pair := range pairs {
		read, known := s.fields[pair.key.Value]
		switch {
		case !known:
			r.unknownKey(pair.key, s.path, s.known(), s.later)
		case pair.value.Tag == "!!null":
			r.errorf(pair.value.Node, "%s is empty; give it a value, or remove the key", pair.value.path)
		case !s.overruled(pair, pairs):
			r.at[pair.value.path] = r.position(pair.value.Node)
			r.inherited[pair.value.path] = pair.value.isDefault
			read(r, pair.value, into)
		}
	}
}

// overruled says whether a default is none because a key nearer to the
// service says the same in other words.
func (s section[T]) overruled(p pair, pairs []pair) bool {
	for _, group := range s.instead {
		if !slices.Contains(group, p.key.Value) {
			continue
		}
		for _, other := range pairs {
			if other.depth < p.depth && slices.Contains(group, other.key.Value) {
				return true
			}
		}
	}
	return false
}

// says is whether the service itself has a key, and not its defaults.
func (r *reader) says(path string) bool {
	_, given := r.at[path]
	return given && !r.inherited[path]
}

// known are the names of the section's keys.
func (s section[T]) known() []string {
	var names []string
	for name := range s.fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r *reader) unknownKey(key *yaml.Node, path string, known, later []string) {
	where := ""
	if path != "" {
		where = " in " + path
	}
	if len(r.errs) > maxErrors { // it will not be told
		r.errorf(key, "unknown key")
		return
	}
	if slices.Contains(later, key.Value) {
		r.errorf(key, "this version of svckit does not have the key %q%s; remove it", key.Value, where)
		return
	}
	if near, ok := syntax.Nearest(key.Value, slices.Concat(known, later)); ok {
		r.errorf(key, "unknown key %s%s; did you mean %s", quoted(key.Value), where, near)
		return
	}
	r.errorf(key, "unknown key %s%s; known are %s", quoted(key.Value), where, strings.Join(known, ", "))
}

// pair is one key of a mapping with its value.
type pair struct {
	key   *yaml.Node
	value value
	depth int // 0 for the mapping's own, more for a default
}

// pairs are the keys and values of a mapping, in their order, without those
// that checkKeys has reported. Defaults for what it does not say follow.
func (r *reader) pairs(v value, example string) []pair {
	if v.Kind != yaml.MappingNode {
		r.wrongType(v, "a mapping", example)
		return nil
	}
	var pairs []pair
	seen := map[string]bool{}
	for depth, l := range append([]layer{{v.file, v.Node}}, v.under...) {
		for i := 0; i+1 < len(l.node.Content); i += 2 {
			key := l.node.Content[i]
			if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || seen[key.Value] {
				continue
			}
			seen[key.Value] = true
			r.foreign(key, l.file)
			pairs = append(pairs, pair{key, r.below(v, depth, key, l.node.Content[i+1]), depth})
		}
	}
	return pairs
}

// below is the value of a key that v has at some depth. A mapping keeps those
// of the deeper defaults: it is merged with them key by key in its turn.
func (r *reader) below(v value, depth int, key, n *yaml.Node) value {
	layers := append([]layer{{v.file, v.Node}}, v.under...)
	below := r.value(n, join(v.path, key.Value), layers[depth].file)
	below.isDefault = v.isDefault || depth > 0
	if below.Kind != yaml.MappingNode {
		return below
	}
	for _, l := range layers[depth+1:] {
		_, deeper := lookupKey(l.node, key.Value)
		if deeper == nil {
			continue
		}
		if deeper = follow(deeper); deeper.Kind != yaml.MappingNode {
			break
		}
		below.under = append(below.under, layer{l.file, deeper})
	}
	return below
}

// foreign remembers of a node which other file it stands in.
func (r *reader) foreign(n *yaml.Node, file string) {
	if file != "" && file != r.file {
		r.files[n] = file
	}
}

// items are the values of a list.
func (r *reader) items(v value, example string) []value {
	if v.Kind != yaml.SequenceNode {
		r.wrongType(v, "a list", example)
		return nil
	}
	const most = 256
	if len(v.Content) > most {
		r.errorf(v.Node, "%s has %d items; at most %d are read", v.path, len(v.Content), most)
		return nil
	}
	var items []value
	for i, n := range v.Content {
		items = append(items, r.value(n, fmt.Sprintf("%s[%d]", v.path, i), v.file))
	}
	return items
}

// value follows an alias: once, since an anchor stands for what it is set on
// and never for another alias. What is wrong is blamed on the alias.
func (r *reader) value(n *yaml.Node, path, file string) value {
	if n.Kind == yaml.AliasNode {
		meant := *n.Alias
		meant.Line, meant.Column = n.Line, n.Column
		n = &meant
	}
	r.foreign(n, file)
	return value{Node: n, path: path, file: file}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// text reads a scalar as it is written: 8080 and true are words as well, in an
// argument or a variable.
func (r *reader) text(v value, example string) (string, bool) {
	const most = 32 << 10
	switch {
	case v.Kind != yaml.ScalarNode || v.Tag == "!!null":
		r.wrongType(v, "text", example)
	case len(v.Value) > most:
		r.errorf(v.Node, "%s has %d bytes; at most %d are read", v.path, len(v.Value), most)
	case !utf8.ValidString(v.Value):
		r.errorf(v.Node, "%s is not valid UTF-8", v.path)
	case strings.Contains(v.Value, "\x00"):
		r.errorf(v.Node, "%s has a NUL byte, which no unit can carry; remove it", v.path)
	case strings.ContainsFunc(v.Value, unit.IsNoncharacter):
		r.errorf(v.Node, "%s has a noncharacter of Unicode, which systemd takes for invalid; remove it", v.path)
	default:
		return v.Value, true
	}
	return "", false
}

// scalar is the text of a value that is one.
func scalar(v value) (string, bool) {
	return v.Value, v.Kind == yaml.ScalarNode && v.Tag != "!!null"
}

// literal reads a text that reaches the service as it is written. Only in a
// template % has a meaning: %i is the instance.
func (r *reader) literal(v value, example string) (string, bool) {
	text, ok := r.text(v, example)
	if !ok || !r.template || !strings.Contains(text, "%") {
		return text, ok
	}
	var out strings.Builder
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "%")
		out.WriteString(before)
		rest = after
		switch {
		case !found:
		case strings.HasPrefix(after, "i"):
			out.WriteRune(unit.Instance)
			rest = after[1:]
		case strings.HasPrefix(after, "%"):
			out.WriteByte('%')
			rest = after[1:]
		default:
			r.errorf(v.Node, "%s: in a template %%i is the instance, and nothing else begins with %%; write %%%% for a percent sign", v.path)
			return "", false
		}
	}
	return out.String(), true
}

// texts reads a list of literals.
func (r *reader) texts(v value, example string) []string {
	var texts []string
	for _, item := range r.items(v, example) {
		if text, ok := r.literal(item, example); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// maxSpan bounds every time span of a policy: beyond it it is a slip, and
// sums stay far from overflow.
const maxSpan = 7 * 24 * time.Hour

// duration reads a time span between least and maxSpan.
func (r *reader) duration(v value, least time.Duration, into *time.Duration) {
	r.spanUpTo(v, least, maxSpan, into)
}

// spanUpTo reads a time span between two bounds.
func (r *reader) spanUpTo(v value, least, most time.Duration, into *time.Duration) {
	text, ok := r.text(v, "90s")
	if !ok {
		return
	}
	d, err := syntax.ParseDuration(text)
	switch {
	case err != nil:
		r.errorf(v.Node, "%s: %w", v.path, err)
	case d == syntax.Infinity:
		r.errorf(v.Node, "%s: infinity would wait for ever; write a time span of at most %s", v.path, syntax.FormatDuration(most))
	case d < least:
		r.errorf(v.Node, "%s: %s is too short; the least is %s", v.path, quoted(text), syntax.FormatDuration(least))
	case d > most:
		r.errorf(v.Node, "%s: %s is too long; the most is %s", v.path, quoted(text), syntax.FormatDuration(most))
	default:
		*into = d
	}
}

// integer reads a whole number between least and most.
func (r *reader) integer(v value, least, most int, into *int) {
	text, ok := r.text(v, strconv.Itoa(least))
	if !ok {
		return
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		r.errorf(v.Node, "%s: %s is no whole number; write %d to %d", v.path, quoted(text), least, most)
	case n < least || n > most:
		r.errorf(v.Node, "%s: %d is out of range; write %d to %d", v.path, n, least, most)
	default:
		*into = n
	}
}

// word reads one of a few words.
func (r *reader) word(v value, words []string, into *string) {
	text, ok := r.text(v, words[0])
	switch {
	case !ok:
	case slices.Contains(words, text):
		*into = text
	default:
		if near, ok := nearest(text, words); ok {
			r.errorf(v.Node, "%s: %s is not known; did you mean %s", v.path, quoted(text), near)
			return
		}
		r.errorf(v.Node, "%s: %s is not known; write one of %s", v.path, quoted(text), strings.Join(words, ", "))
	}
}

// nearest finds the word that was mistyped, or cut short.
func nearest(text string, words []string) (string, bool) {
	for _, word := range words {
		if len(text) > 3 && strings.HasPrefix(word, text) {
			return word, true
		}
	}
	return syntax.Nearest(text, words)
}

// wrongType reports a value of a kind that its key cannot have.
func (r *reader) wrongType(v value, wanted, example string) {
	what := v.path
	if what == "" {
		what = "a policy"
	}
	r.errorf(v.Node, "%s wants %s, such as %s; this is %s", what, wanted, example, kindOf(v.Node))
}

// position is where a node stands.
func (r *reader) position(n *yaml.Node) Position {
	if file, ok := r.files[n]; ok {
		return Position{file, n.Line, n.Column}
	}
	return Position{r.file, n.Line, n.Column}
}

func (r *reader) errorf(n *yaml.Node, format string, args ...any) {
	r.fail(r.position(n), format, args...)
}

// fail reports an error at a place of the file.
func (r *reader) fail(at Position, format string, args ...any) {
	if at.File == "" {
		at.File = r.file
	}
	r.errs = append(r.errs, Error{at, oneLine(fmt.Errorf(format, args...).Error())})
}

// failAt reports an error at the first of the paths that the file has.
func (r *reader) failAt(paths []string, format string, args ...any) {
	r.fail(firstOf(r.at, paths), format, args...)
}
