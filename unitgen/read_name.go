package unitgen

import (
	"slices"
	"strings"
)

// unitSuffixes are the types of units (systemd.unit(5)).
var unitSuffixes = []string{
	".automount", ".device", ".mount", ".path", ".scope", ".service", ".slice", ".socket", ".swap", ".target", ".timer",
}

// maxUnitName is the longest name of a unit (systemd.unit(5)).
const maxUnitName = 255

// notUnitRune says whether r cannot stand in the name of a unit.
func notUnitRune(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && !strings.ContainsRune(`:-_.\`, r)
}

// readName reads the name that the unit gets. It names directories as well,
// so that it begins with a letter, a digit or _. A template's ends in @.
func readName(r *reader, v value, p *Policy) {
	name, ok := r.text(v, "worker")
	if !ok {
		return
	}
	bare := strings.TrimSuffix(name, ".service")
	switch {
	case name == "":
		r.errorf(v.Node, "name is empty; write the unit's name without .service, such as worker")
	case bare != name:
		r.errorf(v.Node, "name: %s ends in .service, which is added by itself; write %s", quoted(name), bare)
	case strings.HasPrefix(name, "@"):
		r.errorf(v.Node, "name: %s begins with \"@\"; begin with a letter, a digit or _", quoted(name))
	case strings.Contains(strings.TrimSuffix(name, "@"), "@"):
		template, _, _ := strings.Cut(name, "@")
		r.errorf(v.Node, "name: %s is an instance; write %s@ for the template, which is started as %s.service", quoted(name), template, name)
	case strings.ContainsFunc(strings.TrimSuffix(name, "@"), notUnitRune):
		r.errorf(v.Node, "name: %s cannot name a unit; use letters, digits and : - _ . only, and @ at the end of a template's", quoted(name))
	case strings.ContainsAny(name[:1], `:-.\`):
		r.errorf(v.Node, "name: %s begins with %q; begin with a letter, a digit or _", quoted(name), name[:1])
	case len(name)+len(".service") > maxUnitName:
		r.errorf(v.Node, "name: with .service the name is longer than %d bytes; shorten it", maxUnitName)
	default:
		p.Name = name
	}
}

// unitSpecifiers are what a policy may put into the names of other units, which
// cannot hold a % of their own: the service's name in whole and in parts, and
// the instance of a template.
const unitSpecifiers = "nNpPjJiI"

// units reads a list of names of units.
func (r *reader) units(v value, example string) []string {
	var names []string
	for _, item := range r.items(v, example) {
		name, ok := r.text(item, example)
		if !ok {
			continue
		}
		if wrong := r.wrongUnit(name); wrong != "" {
			r.errorf(item.Node, "%s: %s %s", item.path, quoted(name), wrong)
			continue
		}
		names = append(names, name)
	}
	return names
}

// wrongUnit says what is wrong with the name of another unit, if anything.
func (r *reader) wrongUnit(name string) string {
	plain, wrong := r.withoutSpecifiers(name)
	if wrong != "" {
		return wrong
	}
	prefix, instance, _ := strings.Cut(plain, "@")
	suffixed := slices.ContainsFunc(unitSuffixes, func(s string) bool { return strings.HasSuffix(plain, s) && plain != s })
	switch {
	case strings.ContainsFunc(prefix+instance, notUnitRune) || prefix == "" || len(name) > maxUnitName:
		return "is no name of a unit; write names such as network-online.target, each an item of the list"
	case !suffixed:
		return "has no type at its end; write " + name + ".service, " + name + ".target or what else it is"
	case strings.HasPrefix(instance, ".") && slices.Contains(unitSuffixes, instance):
		return "is a template without instance; write " + prefix + "@INSTANCE" + instance
	}
	return ""
}

// withoutSpecifiers is a name with a letter in place of each specifier.
func (r *reader) withoutSpecifiers(name string) (plain, wrong string) {
	var out strings.Builder
	for i := 0; i < len(name); i++ {
		switch {
		case name[i] != '%':
			out.WriteByte(name[i])
		case i+1 == len(name) || !strings.Contains(unitSpecifiers, name[i+1:i+2]):
			return "", "has a % that is none of %n, %N, %p, %P, %j, %J and, in a template, %i and %I; take it out"
		case !r.template && (name[i+1] == 'i' || name[i+1] == 'I'):
			return "", "has the instance in it, and the service is no template; write its name out, or end name: in @"
		default:
			out.WriteByte('x')
			i++
		}
	}
	return out.String(), ""
}
