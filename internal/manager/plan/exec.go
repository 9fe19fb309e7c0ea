package plan

import (
	"fmt"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/unitgen/unit"
)

// A command line is read in systemd's order (systemd.service(5), "Command
// lines"): it is split into words, specifiers are put in, then variables. Of
// those there is one that svcgen writes, where the manager has no %d.
const credentialsVariable = "CREDENTIALS_DIRECTORY"

// command reads the value of ExecStart= and the like.
func (n names) command(line string) (Command, error) {
	words, err := syntax.SplitCommand(line)
	if err != nil {
		return Command{}, err
	}
	prefixes, program := cutPrefixes(words[0])
	for _, prefix := range prefixes {
		switch prefix {
		case '-', ':':
		default:
			return Command{}, fmt.Errorf("svcgen run cannot do what the prefix %q of %s asks", prefix, program)
		}
	}
	if words[0], err = n.resolve(program); err != nil {
		return Command{}, err
	}
	for i, word := range words[1:] {
		if word, err = n.resolve(word); err != nil {
			return Command{}, err
		}
		if !strings.ContainsRune(prefixes, ':') {
			if word, err = n.expand(word); err != nil {
				return Command{}, err
			}
		}
		words[i+1] = word
	}
	return Command{Argv: words, MayErr: strings.ContainsRune(prefixes, '-')}, nil
}

// cutPrefixes takes what stands before a program for the manager off it.
func cutPrefixes(word string) (prefixes, program string) {
	program = strings.TrimLeft(word, "-@:+!|")
	return strings.TrimSuffix(word, program), program
}

// expand puts variables into a word, after its specifiers. $ in front of
// anything but $, { and a name at the word's start stands for itself.
func (n names) expand(word string) (string, error) {
	if name, ok := strings.CutPrefix(word, "$"); ok && unit.IsVariable(name) {
		return n.variable(name)
	}
	var out strings.Builder
	for i := 0; i < len(word); i++ {
		rest := word[i:]
		name, _, closed := strings.Cut(strings.TrimPrefix(rest, "${"), "}")
		switch {
		case strings.HasPrefix(rest, "$$"):
			out.WriteByte('$')
			i++
		case strings.HasPrefix(rest, "${") && closed && unit.IsVariable(name):
			value, err := n.variable(name)
			if err != nil {
				return "", err
			}
			out.WriteString(value)
			i += len("${}") + len(name) - 1
		default:
			out.WriteByte(word[i])
		}
	}
	return out.String(), nil
}

func (n names) variable(name string) (string, error) {
	if name != credentialsVariable {
		return "", fmt.Errorf("svcgen run puts no variable such as $%s into a command line", name)
	}
	return n.credentials(), nil
}
