package docs

import (
	"fmt"
	"regexp"
	"strings"
)

// Command is what somebody types, and what is said to come of it.
type Command struct {
	Text string // for a shell
	Want string // the output, as Match reads it
}

const prompt = "$ "

// Commands reads the commands of a block. One that ends in a backslash goes on
// in the next line.
func (b Block) Commands() ([]Command, error) {
	var all []Command
	goesOn := false
	for line := range strings.Lines(b.Text) {
		switch text, isCommand := strings.CutPrefix(line, prompt); {
		case goesOn:
			all[len(all)-1].Text += line
		case isCommand:
			all = append(all, Command{Text: text})
		case len(all) == 0:
			return nil, fmt.Errorf("%s: the block does not begin with a command after %q", b.Place, prompt)
		default:
			all[len(all)-1].Want += line
			continue
		}
		goesOn = strings.HasSuffix(line, "\\\n")
	}
	return all, nil
}

// varies are the parts of an expected output that stand for others of their
// kind, each with what it stands for.
var varies = []struct{ part, means string }{
	{`…`, `.*`},
	{`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`, `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`},
	{`\d+ms|(?:\d+min )?\d+\.\d+s|\d+min \d+s`, `(?:\d+min )?\d+(?:\.\d+)?(?:ms|s)`},
	{` +`, ` +`},
}

// part finds the next part that varies; its group says of which kind it is.
var part = func() *regexp.Regexp {
	var kinds []string
	for _, v := range varies {
		kinds = append(kinds, "("+v.part+")")
	}
	return regexp.MustCompile(strings.Join(kinds, "|"))
}()

// Match says how an output differs from what is expected, if it does. Blanks at
// the ends of lines do not count, and the width of a column does not.
func Match(want, got string) error {
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for line := range strings.Lines(want) {
		if line == "…\n" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		pattern.WriteString(linePattern(strings.TrimRight(line, " \n")) + ` *\n`)
	}
	pattern.WriteString(`\z`)
	whole, err := regexp.Compile(pattern.String())
	if err != nil {
		return err
	}
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	if !whole.MatchString(got) {
		return fmt.Errorf("the output is\n%s\nthe page has\n%s", got, want)
	}
	return nil
}

// linePattern is the regular expression of a line that is expected.
func linePattern(line string) string {
	var pattern strings.Builder
	for line != "" {
		at := part.FindStringSubmatchIndex(line)
		if at == nil {
			break
		}
		pattern.WriteString(regexp.QuoteMeta(line[:at[0]]))
		for kind, v := range varies {
			if at[2+2*kind] >= 0 {
				pattern.WriteString(v.means)
			}
		}
		line = line[at[1]:]
	}
	return pattern.String() + regexp.QuoteMeta(line)
}
