package page

import (
	"slices"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/manual/cmdline"
)

var program = cmdline.Program{
	Name:  "prog",
	Flags: []cmdline.Flag{{Names: []string{"help", "h"}, Help: "show help"}},
	Verbs: []cmdline.Verb{
		{Name: "make", Usage: "makes *it*", Arguments: []string{"FILE"}, Document: "made", Flags: []cmdline.Flag{
			{Names: []string{"output", "o"}, Value: "DIR", Help: "write into DIR", Default: "/tmp"},
			{Names: []string{"early"}, Value: "fail|success", Help: "what then"},
		}},
		{Name: "list", Usage: "lists", Arguments: []string{"[UNIT...]"}, Flags: []cmdline.Flag{{Names: []string{"json"}, Help: "as JSON"}}},
	},
	Objects: []cmdline.Object{{Name: "made", Fields: []cmdline.Field{{Name: "name", Type: "string or null"}}}},
	Choices: map[string][]string{"CAUSE": {"oom", "exit-code"}},
}

// made is a page of a source, without its head.
func made(t *testing.T, source string) (string, []Gap) {
	t.Helper()
	roff, gaps, err := Make(Page{Name: "prog", Section: "1", Source: source, Program: program, Date: "2026-12-01", Version: "svckit 1", Tables: map[string]string{
		"keys": "| key | is | default |\n|---|---|---|\n| `a.b`, `c` | what it is | 5 – 6 |\n| `d` | others | |\n",
	}})
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(roff, ".ad l\n")
	if want := ".TH PROG 1 2026-12-01 \"svckit 1\" \"svckit\"\n"; !strings.HasPrefix(head, want) {
		t.Errorf("the head is\n%swant\n%s", head, want)
	}
	return body, gaps
}

func TestBlocksBecomeMacros(t *testing.T) {
	all := "@verb make\n@verb list\n"
	for source, want := range map[string]string{
		"# NAME\nprog - does":                         ".SH NAME\nprog \\- does\n",
		"a\nb. *C* d\n\n.e":                           ".PP\na b.\n\\fIC\\fR d\n.PP\n\\&.e\n",
		"one (see x(5))":                              ".PP\none (see \\fBx\\fR(5))\n",
		"`a-b` a-b -c --d ~ ^":                        ".PP\n\\fBa\\-b\\fR a-b \\-c \\-\\-d \\(ti \\(ha\n",
		`\*no\* marks, \\ one`:                        ".PP\n*no* marks, \\e one\n",
		"- one\n  more\n- two":                        ".IP \\(bu 2\none more\n.IP \\(bu 2\ntwo\n",
		"term\n: text\n  more\n\n  again\nterm2\n: t": ".TP\nterm\ntext more\n.IP\nagain\n.TP\nterm2\nt\n",
		"```\n.a 'b' -c \\\n```":                      ".PP\n.RS 4\n.EX\n\\&.a \\(aqb\\(aq \\-c \\e\n.EE\n.RE\n",
		"## sub\ntext":                                ".SS sub\ntext\n",
		"@table keys":                                 ".TP\n\\fBa.b\\fR, \\fBc\\fR\nWhat it is.\nDefault: 5 \\(en 6.\n.TP\n\\fBd\\fR\nOthers.\n",
		"@words CAUSE\noom\n: no memory\nexit-code\n: ~ `c`*N*: x": ".TP\n\\fBoom\\fR\nno memory\n.TP\n\\fBc\\fR\\fIN\\fR\nx\n",
		"@list CAUSE":                 ".PP\n\\fBoom\\fR, \\fBexit\\-code\\fR\n",
		"@object made\nname\n: of it": ".TP\n\\fBname\\fR (string or null)\nof it\n",
		"@synopsis":                   ".PP\n\\fBprog make\\fR [\\fIFLAGS\\fR] \\fIFILE\\fR\n.PP\n\\fBprog list\\fR [\\fIFLAGS\\fR] [\\fIUNIT\\fR...]\n",
		"@flags\n--help\n: and more":  ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nShow help. and more\n",
	} {
		got, _ := made(t, source+"\n"+all)
		if got, _, _ = strings.Cut(got, ".SS \\fBprog make"); got != want {
			t.Errorf("%q is\n%s\nwant\n%s", source, got, want)
		}
	}
}

func TestAVerbIsToldWithItsFlagsAndWhatTheyDefaultTo(t *testing.T) {
	got, gaps := made(t, "@verb make\nIt makes.\n-o\n: So much for it.\n@verbs\n")
	want := `.SS \fBprog make\fR [\fIFLAGS\fR] \fIFILE\fR
Makes *it*.
.PP
It makes.
.TP
\fB\-o\fR \fIDIR\fR, \fB\-\-output=\fR\fIDIR\fR
Write into DIR.
Default: \fB/tmp\fR.
So much for it.
.TP
\fB\-\-early=\fR\fBfail\fR|\fBsuccess\fR
What then.
.SS \fBprog list\fR [\fIFLAGS\fR] [\fIUNIT\fR...]
Lists.
.TP
\fB\-\-json\fR
As JSON.
`
	if got != want {
		t.Errorf("the page is\n%swant\n%s", got, want)
	}
	if want := []Gap{"prog.1: verb list", "prog.1: the JSON of the verb list", "prog.1: object made"}; !slices.Equal(gaps, want) {
		t.Errorf("the gaps are %q, want %q", gaps, want)
	}
}

func TestWhatIsToldOfAndNotThereIsAnError(t *testing.T) {
	for source, want := range map[string]string{
		"@verb make\n--outptu\n: x\n@verbs":        `"--outptu" is told of`,
		"@verb lost":                               "no such verb",
		"@verb make":                               "nothing is told of the verb list",
		"@verb make\n--early\n: x\n\nmore\n@verbs": "comes last",
		"@words CAUSE\nomo\n: x\n@verbs":           `"omo" is told of`,
		"@words EFFECT\n@verbs":                    "no such list",
		"@object made\nnaem\n: x\n@verbs":          `"naem" is told of`,
		"@object lost\n@verbs":                     "no such object",
		"@table lost\n@verbs":                      "no such table",
		"@frobnicate\n@verbs":                      "no directive",
		"```\nno end\n@verbs":                      "line 1: the code has no end",
		"a *b\n\n@verbs":                           `"*" has no end`,
		"a ☃\n\n@verbs":                            "has no name in roff",
	} {
		_, _, err := Make(Page{Name: "prog", Section: "1", Source: source, Program: program})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "prog.1: ") {
			t.Errorf("%q: %v, want %q", source, err, want)
		}
	}
}
