package syntax

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestCommandsAreSplitBySystemdsRules(t *testing.T) {
	for text, want := range map[string][]string{
		`/bin/true`:                   {"/bin/true"},
		"  /bin/x \t a\nb\r\nc  ":     {"/bin/x", "a", "b", "c"},
		`/bin/x 'a b' "c d"`:          {"/bin/x", "a b", "c d"},
		`/bin/x a'b c'd"e f"g`:        {"/bin/x", "ab cde fg"},
		`/bin/x "" ''`:                {"/bin/x", "", ""},
		`/bin/x "it's" 'say "hi"'`:    {"/bin/x", "it's", `say "hi"`},
		`/bin/x a\ b`:                 nil, // systemd knows \s, not an escaped blank
		`/bin/x a\sb "a\sb"`:          {"/bin/x", "a b", "a b"},
		`/bin/x \x41 \101 \u00e9`:     {"/bin/x", "A", "A", "é"},
		`/bin/x '\U0001F600' \xff`:    {"/bin/x", "😀", "\xff"},
		`/bin/x \a\b\f\n\r\t\v\\\"\'`: {"/bin/x", "\a\b\f\n\r\t\v\\\"'"},
		`/bin/x $HOME %i ; | > # ~ *`: {"/bin/x", "$HOME", "%i", ";", "|", ">", "#", "~", "*"},
	} {
		got, err := SplitCommand(text)
		if want == nil && err == nil || want != nil && !slices.Equal(got, want) {
			t.Errorf("SplitCommand(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestBadCommandsAreRefusedWithThePlace(t *testing.T) {
	for text, want := range map[string]string{
		"":               `empty command; write the program's path and its arguments`,
		" \t\n":          `empty command; write the program's path and its arguments`,
		"/bin/x 'a":      `the quote ' is not closed (at character 8)`,
		`/bin/x "a'`:     `the quote " is not closed (at character 8)`,
		`/bin/x \`:       `the command ends in a lone \; write \\ for a backslash (at character 8)`,
		`/bin/x \d`:      `unknown escape \d; write \\d for a backslash (at character 8)`,
		`/bin/x \8`:      `unknown escape \8; write \\8 for a backslash (at character 8)`,
		`/bin/x \x4`:     `the escape \x wants 2 digits (at character 8)`,
		`/bin/x \x4g`:    `the escape \x wants 2 digits of base 16 (at character 8)`,
		`/bin/x \18`:     `the escape \1 wants 3 digits (at character 8)`,
		`/bin/x \777`:    `the escape \777 stands for no character (at character 8)`,
		`/bin/x \000`:    `an escape stands for a NUL byte, which no argument can carry (at character 8)`,
		`/bin/x \ud800`:  `the escape \ud800 stands for no character (at character 8)`,
		"/bin/x \x00":    `the command has a NUL byte, which no argument can carry`,
		"/bin/x \xff":    `the command is not valid UTF-8`,
		`/x \Uffffffff`:  `the escape \Uffffffff stands for no character (at character 4)`,
		`/x \U00110000`:  `the escape \U00110000 stands for no character (at character 4)`,
		`/bin/x a b'c d`: `the quote ' is not closed (at character 10)`,
	} {
		if _, err := SplitCommand(text); err == nil || err.Error() != want {
			t.Errorf("SplitCommand(%q):\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestCommandsAreQuotedOnlyWhereTheyNeedIt(t *testing.T) {
	for want, argv := range map[string][]string{
		`/bin/x -a --b=c,d é $x %i`:      {"/bin/x", "-a", "--b=c,d", "é", "$x", "%i"},
		`/bin/x "" "a b" "it's" "\"\\"`:  {"/bin/x", "", "a b", "it's", `"\`},
		`/bin/x "\n\t\x01\x7f" "\xffé�"`: {"/bin/x", "\n\t\x01\x7f", "\xffé\ufffd"},
	} {
		if got := QuoteCommand(argv); got != want {
			t.Errorf("QuoteCommand(%q) = %s, want %s", argv, got, want)
		}
	}
}

func TestWhatQuoteCommandPrintsIsSplitBackUnchanged(t *testing.T) {
	arg := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-z "'\\\n\t]{0,8}`),
		rapid.Map(rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 8), func(b []byte) string { return string(b) }),
	).Filter(func(s string) bool { return !strings.Contains(s, "\x00") })
	rapid.Check(t, func(t *rapid.T) {
		argv := rapid.SliceOfN(arg, 1, 5).Draw(t, "argv")
		text := QuoteCommand(argv)
		if got, err := SplitCommand(text); err != nil || !slices.Equal(got, argv) {
			t.Fatalf("%q is quoted as %s and split as %q, %v", argv, text, got, err)
		}
		if !utf8.ValidString(text) {
			t.Fatalf("%q is quoted as %q, which no unit file may have", argv, text)
		}
	})
}

// Without escapes, systemd's quoting is the shell's.
func TestQuotesAreReadAsTheShellReadsThem(t *testing.T) {
	var script strings.Builder
	var texts []string
	for seed := range 300 {
		text := "x " + rapid.StringMatching(`([ab \t]|'[ab "\t]{0,4}'|"[ab '\t]{0,4}"){0,8}`).Example(seed)
		texts = append(texts, text)
		script.WriteString("printf '<%s>' " + text + "; echo\n")
	}
	out, err := exec.Command("sh", "-c", script.String()).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i, text := range texts {
		argv, err := SplitCommand(text)
		if got := "<" + strings.Join(argv, "><") + ">"; err != nil || got != lines[i] {
			t.Errorf("SplitCommand(%q) = %s, %v; the shell says %s", text, got, err, lines[i])
		}
	}
}

func FuzzSplitCommand(f *testing.F) {
	for _, seed := range []string{`/bin/x 'a b' "c"`, `\x41\101\u00e9`, `a'b`, `\`, `\U0001F600`, "\xff", `""`, `a\sb`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		argv, err := SplitCommand(text)
		if err != nil {
			checkError(t, err)
			return
		}
		again, err := SplitCommand(QuoteCommand(argv))
		if err != nil || !slices.Equal(again, argv) {
			t.Fatalf("%q is split as %q, then as %q, %v", text, argv, again, err)
		}
	})
}
