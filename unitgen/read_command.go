package unitgen

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/svckit/svckit/internal/syntax"
)

// commandExample is what a command may look like, for errors.
const commandExample = "[/usr/bin/worker, --port, 8080]"

// command reads a command: a list of its arguments, or one string that is
// split as systemd would, without a shell. It returns nil where it is wrong.
func (r *reader) command(v value) []string {
	argv, ok := r.arguments(v)
	if !ok {
		return nil
	}
	program := argv[0]
	name, _, assigns := strings.Cut(program, "=")
	switch {
	case strings.HasPrefix(program, "/") && !strings.HasSuffix(program, "/"):
		return argv
	case assigns && name != "" && !strings.Contains(name, "/"):
		r.errorf(v.Node, "%s: %s= before a command takes a shell to understand; write it under env:", v.path, name)
	case program == "" || strings.HasSuffix(program, "/"):
		r.errorf(v.Node, "%s: %s is no program; write its absolute path, such as /usr/bin/worker", v.path, quoted(program))
	default:
		base := program[strings.LastIndexByte(program, '/')+1:]
		r.errorf(v.Node, "%s: relative command path %s; write the absolute path, such as /usr/bin/%s", v.path, quoted(program), base)
	}
	return nil
}

// commands reads a list of commands.
func (r *reader) commands(v value) [][]string {
	var commands [][]string
	for _, item := range r.items(v, "[[/usr/bin/migrate, --all]]") {
		if argv := r.command(item); argv != nil {
			commands = append(commands, argv)
		}
	}
	return commands
}

// arguments are those of a command, as the list or the string has them.
func (r *reader) arguments(v value) ([]string, bool) {
	if v.Kind != yaml.ScalarNode {
		before := len(r.errs)
		argv := r.texts(v, commandExample)
		if len(argv) == 0 && len(r.errs) == before {
			r.errorf(v.Node, "%s is an empty list; write a command such as %s", v.path, commandExample)
		}
		return argv, len(r.errs) == before
	}
	text, ok := r.literal(v, commandExample)
	if !ok || !r.noShell(v, text) {
		return nil, false
	}
	argv, err := syntax.SplitCommand(text)
	if err != nil {
		r.errorf(v.Node, "%s: %w", v.path, err)
	}
	return argv, err == nil
}

// noShell reports the first character of a command that only a shell would
// understand: a program would get it as an argument, which nobody means.
func (r *reader) noShell(v value, text string) bool {
	char := shellChar(text)
	if char == "" {
		return true
	}
	r.errorf(v.Node, "%s: %s means something to a shell only, and there is none; quote it ('%s') where the program wants it, "+
		"write a list of arguments, or run [/bin/sh, -c, ...]", v.path, char, char)
	return false
}

// shellChar finds the first character that a shell would not take for itself:
// outside quotes, or $ and ` in double quotes.
func shellChar(s string) string {
	var quote rune
	escaped, start := false, true
	for _, c := range s {
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && (strings.ContainsRune("|&;<>()$`*?", c) || start && strings.ContainsRune("#~", c)),
			quote == '"' && strings.ContainsRune("$`", c):
			return string(c)
		}
		start = quote == 0 && strings.ContainsRune(" \t\r\n", c)
	}
	return ""
}
