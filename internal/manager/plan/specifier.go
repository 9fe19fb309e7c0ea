package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// System is what those specifiers stand for that the machine decides about,
// and not the unit (systemd.unit(5), "Specifiers").
type System struct {
	Runtime string // %t: below it are the directories of RuntimeDirectory=
	State   string // %S, and so on
	Cache   string // %C
	Logs    string // %L
	Config  string // %E

	// Credentials has a directory for each unit, by its name: %d.
	Credentials string
}

// names are what specifiers stand for in one unit.
type names struct {
	system   System
	unit     string // worker@1.service
	template string // worker@.service; the unit's own name where it is no instance
	prefix   string // worker
	instance string // 1
}

// namesOf takes the name of a unit apart.
func namesOf(system System, unit string) names {
	n := names{system: system, unit: unit, template: unit}
	n.prefix = bare(unit)
	if prefix, instance, ok := strings.Cut(n.prefix, "@"); ok {
		n.prefix, n.instance = prefix, instance
		n.template = prefix + "@" + suffix(unit)
	}
	return n
}

// bare is a unit's name without its type.
func bare(unit string) string { return strings.TrimSuffix(unit, suffix(unit)) }

// suffix is a unit's type, with the dot.
func suffix(unit string) string {
	i := strings.LastIndexByte(unit, '.')
	if i < 0 {
		return ""
	}
	return unit[i:]
}

// credentials is the directory that the unit finds its credentials in.
func (n names) credentials() string { return n.system.Credentials + "/" + n.unit }

// of is what one specifier stands for.
func (n names) of(letter byte) (string, bool) {
	switch letter {
	case '%':
		return "%", true
	case 'n':
		return n.unit, true
	case 'N':
		return bare(n.unit), true
	case 'p':
		return n.prefix, true
	case 'P':
		return unescape(n.prefix), true
	case 'j':
		return last(n.prefix), true
	case 'J':
		return unescape(last(n.prefix)), true
	case 'i':
		return n.instance, true
	case 'I':
		return unescape(n.instance), true
	case 't':
		return n.system.Runtime, true
	case 'S':
		return n.system.State, true
	case 'C':
		return n.system.Cache, true
	case 'L':
		return n.system.Logs, true
	case 'E':
		return n.system.Config, true
	case 'd':
		return n.credentials(), true
	}
	return "", false
}

// resolve puts in what the specifiers of a text stand for. A % at the very end
// stands for itself, as systemd has it.
func (n names) resolve(text string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		value, known := n.of(text[i])
		if !known {
			return "", fmt.Errorf("%q: svcgen run does not know what %%%c stands for; write it out", text, text[i])
		}
		out.WriteString(value)
	}
	return out.String(), nil
}

// last is the part of a name behind its last dash.
func last(name string) string { return name[strings.LastIndexByte(name, '-')+1:] }

// unescape undoes systemd-escape(1): a dash is a slash, \x2d a dash. What is no
// escape stays.
func unescape(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		const escape = len(`\x2d`)
		switch {
		case s[i] == '-':
			out.WriteByte('/')
			continue
		case strings.HasPrefix(s[i:], `\x`) && len(s) >= i+escape:
			if c, err := strconv.ParseUint(s[i+2:i+escape], 16, 8); err == nil {
				out.WriteByte(byte(c))
				i += escape - 1
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}
