package unitgen

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/svckit/svckit/unitgen/unit"
)

// The bounds of a policy file. They are far above what a policy needs, and low
// enough that no file takes time or memory worth speaking of.
const (
	maxFile    = 1 << 20
	maxDepth   = 16
	maxAliases = 100

	maxDocuments = 100
	maxKeys      = 1000 // of one mapping
)

// parseDocuments reads the YAML documents of the file, and checks what does
// not depend on any key: bounds, encoding, duplicate keys, tags.
func (r *reader) parseDocuments(data []byte) []*yaml.Node {
	if !r.checkBytes(data) {
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var roots []*yaml.Node
	for {
		var document yaml.Node
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF) && len(roots) == 0:
			r.fail(Position{Line: 1, Column: 1}, emptyText)
			return nil
		case errors.Is(err, io.EOF):
			return roots
		case err != nil:
			r.syntaxError(err, data)
			return nil
		case len(roots) == maxDocuments:
			r.errorf(&document, "more than %d documents; divide the file", maxDocuments)
			return nil
		}
		root := document.Content[0]
		if root.Tag == "!!null" && root.Kind == yaml.ScalarNode {
			r.errorf(root, "%s", emptyDocumentText(len(roots)))
			return nil
		}
		r.checkTree(root, 1)
		roots = append(roots, root)
	}
}

const emptyText = "the file is empty; write at least name: and exec:"

// emptyDocumentText says what an empty document is, after so many others.
func emptyDocumentText(before int) string {
	if before == 0 {
		return emptyText
	}
	return "an empty document; remove the line --- before it"
}

// isBlank says whether a file has nothing but blanks and comments.
func isBlank(data []byte) bool {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// checkBytes refuses what no YAML can be made of, or too much of it.
func (r *reader) checkBytes(data []byte) bool {
	switch {
	case len(data) > maxFile:
		r.fail(Position{Line: 1, Column: 1}, "the file is longer than %d bytes; no policy is", maxFile)
	case !utf8.Valid(data):
		valid := data
		for len(valid) > 0 {
			char, size := utf8.DecodeRune(valid)
			if char == utf8.RuneError && size == 1 {
				break
			}
			valid = valid[size:]
		}
		r.fail(positionAfter(data[:len(data)-len(valid)]), "the file is not valid UTF-8; save it as UTF-8")
	case bytes.IndexByte(data, 0) >= 0:
		r.fail(positionAfter(data[:bytes.IndexByte(data, 0)]), "a NUL byte; a policy is text, remove it")
	default:
		return true
	}
	return false
}

// positionAfter is the place of what follows the text.
func positionAfter(text []byte) Position {
	lastLine := text[bytes.LastIndexByte(text, '\n')+1:]
	return Position{Line: bytes.Count(text, []byte("\n")) + 1, Column: utf8.RuneCount(lastLine) + 1}
}

// yamlError is how the library reports errors.
var yamlError = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)

// yamlCures say what to do about the errors that people make most.
var yamlCures = []struct{ part, cure string }{
	{"mapping values are not allowed", `a value with ": " in it wants quotes, and a key starts a line of its own`},
	{"tab character", "indent with blanks, not with tabs"},
	{"cannot start any token", "quote a value that begins with @, ` or %, and indent with blanks, not with tabs"},
	{"unexpected end of stream", "a quote is not closed"},
	{"expected ',' or ']'", "close the list with ]"},
	{"expected ',' or '}'", "close the mapping with }"},
	{"could not find expected ':'", "write key: value"},
	{"unknown escape", `write \\ for a backslash, or use single quotes`},
	{"unknown anchor", "define it with &NAME before it is used, or quote a value that begins with *"},
}

// syntaxError reports that the file is not YAML. The library knows the line
// only, counts it from 0 where its parser and not its scanner stumbled, and
// leaves it out where it is 0.
func (r *reader) syntaxError(err error, data []byte) {
	match := yamlError.FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	if match == nil {
		match = []string{"", "", err.Error()}
	}
	number, _ := strconv.Atoi(match[1])
	if strings.HasPrefix(match[2], "did not find expected") {
		number++
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	number = min(max(1, number), len(lines))
	line := lines[number-1]
	column := utf8.RuneCountInString(line) - utf8.RuneCountInString(strings.TrimLeft(line, " \t")) + 1
	cure := "check the quotes, brackets and indentation here and just before"
	for _, known := range yamlCures {
		if strings.Contains(match[2], known.part) {
			cure = known.cure
			break
		}
	}
	r.fail(Position{Line: number, Column: column}, "this is not YAML: %s; %s", match[2], cure)
}

// checkTree walks all nodes, without following aliases, and reports what no
// part of a policy may have.
func (r *reader) checkTree(n *yaml.Node, depth int) {
	switch {
	case depth > maxDepth:
		r.errorf(n, "nested more than %d levels deep; no policy is", maxDepth)
		return
	case n.Style&yaml.TaggedStyle != 0:
		r.errorf(n, "the tag %s means nothing in a policy; remove it", n.Tag)
	case n.Kind == yaml.AliasNode:
		if r.aliases++; r.aliases == maxAliases+1 {
			r.errorf(n, "more than %d aliases; write the values out", maxAliases)
		}
	case n.Kind == yaml.MappingNode:
		r.checkKeys(n)
	}
	for _, child := range n.Content {
		r.checkTree(child, depth+1)
	}
}

// checkKeys reports keys that are no words, and those that stand twice.
func (r *reader) checkKeys(n *yaml.Node) {
	if len(n.Content)/2 > maxKeys {
		r.errorf(n, "%d keys; at most %d are read", len(n.Content)/2, maxKeys)
		n.Content = n.Content[:2*maxKeys]
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		first, again := seen[key.Value]
		switch {
		case key.Tag == "!!merge":
			r.errorf(key, "merge keys (<<) are not read; write the keys out, or repeat a value with an alias")
		case key.Kind != yaml.ScalarNode:
			r.errorf(key, "a key is a word; this is %s", kindOf(key))
		case again:
			r.errorf(key, "key %s stands twice, first in line %d; remove one of the two", quoted(key.Value), first)
		default:
			seen[key.Value] = key.Line
		}
	}
}

// kindOf names what a node is, as the author of a policy would.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	case n.Tag == "!!null":
		return "empty"
	}
	return "the text " + quoted(n.Value)
}

// quoted shortens a text for a message.
func quoted(s string) string {
	const enough = 60
	s = unit.Readable(s)
	if utf8.RuneCountInString(s) > enough {
		s = string([]rune(s)[:enough]) + "..."
	}
	return fmt.Sprintf("%q", s)
}
