package unit

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// nasty are texts that mean something to a shell, to YAML or to systemd.
var nasty = []string{
	"", " ", "a b", "tab\there", "line\nbreak", "cr\r", `"`, `'`, `\`, `\\`, `a\`, `\n`, `\x41`, "%", "%%", "%n", "100%",
	"$", "$$", "$HOME", "${HOME}", "x$HOME", "${X:-d}", ";", "#", "# no comment", "; neither", "-", "@", "+", "!", ":", "|",
	"a=b", "ä€😀", "\u0085", "\u2028", "\x01\x7f", `C:\new`, "daemon off;", "`date`", "$(date)", "*", "~", "[x]", "{a,b}",
	"a \\", "\\\n", "--flag=v w", "\ufeff", "\U0010fffd",
}

// execLine is ExecStart= with the arguments on one line, or one to a line.
func execLine(t interface {
	Helper()
	Fatal(...any)
}, argv []string, continued bool) string {
	t.Helper()
	var f File
	program, err := ExecPath("/usr/bin/svc run")
	if err != nil {
		t.Fatal(err)
	}
	parts := []Value{program}
	for _, arg := range argv {
		quoted, err := ExecArg(arg)
		if err != nil {
			t.Fatal(err)
		}
		if continued {
			parts = append(parts, quoted)
		} else {
			parts[0] += " " + quoted
		}
	}
	f.Section("Service").Add("ExecStart", parts...)
	text, err := f.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readBack is the argument vector that systemd takes from the text.
func readBack(t interface {
	Helper()
	Fatal(...any)
}, text string) []string {
	t.Helper()
	all, err := readUnit(text)
	if err != nil || len(all) != 1 || all[0].section != "Service" || all[0].name != "ExecStart" {
		t.Fatal("read back as", all, err, "from", text)
	}
	argv, err := argvOf(all[0].value)
	if err != nil {
		t.Fatal(err, "in", text)
	}
	return argv
}

func TestExecArgumentsComeBackUnchanged(t *testing.T) {
	for _, continued := range []bool{false, true} {
		want := append([]string{"/usr/bin/svc run"}, nasty...)
		if got := readBack(t, execLine(t, nasty, continued)); !slices.Equal(got, want) {
			t.Errorf("continued %v: got %q, want %q", continued, got, want)
		}
	}
}

func TestAnyArgumentsComeBackUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringN(0, 20, -1), rapid.SampledFrom(nasty),
			rapid.StringOf(rapid.SampledFrom([]rune("\\\"'$% ;#\nan0x{}=-"))))
		argv := rapid.SliceOfN(text.Filter(func(s string) bool {
			return !strings.Contains(s, "\x00") && utf8.ValidString(s) && !strings.ContainsFunc(s, IsNoncharacter)
		}), 0, 6).Draw(t, "argv")
		want := append([]string{"/usr/bin/svc run"}, argv...)
		got := readBack(t, execLine(t, argv, rapid.Bool().Draw(t, "continued")))
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestSimpleArgumentsStayReadable(t *testing.T) {
	for _, arg := range []string{"/usr/bin/redis-server", "--port=8080", "daemonize", "http://127.0.0.1:8080/ready", "TERM@30s,main"} {
		if got, err := ExecArg(arg); err != nil || string(got) != arg {
			t.Errorf("%q is written %q, %v", arg, got, err)
		}
	}
}

func TestEnvironmentComesBackUnchanged(t *testing.T) {
	for _, value := range nasty {
		var f File
		quoted, err := Assignment("NAME_1", value)
		if err != nil {
			t.Fatal(err)
		}
		f.Section("Service").Add("Environment", quoted)
		text, err := f.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		all, err := readUnit(string(text))
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		words, err := splitWords(all[0].value)
		if err != nil || len(words) != 1 {
			t.Fatalf("%q is read as %q, %v", value, words, err)
		}
		if got, err := expandSpecifiers(words[0]); err != nil || got != "NAME_1="+value {
			t.Errorf("%q is read as %q, %v", value, got, err)
		}
	}
}

func TestPlainValuesComeBackUnchanged(t *testing.T) {
	for _, value := range nasty {
		quoted, err := Plain(value)
		if err != nil {
			continue
		}
		var f File
		f.Section("Unit").Add("Description", quoted)
		text, err := f.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		all, err := readUnit(string(text))
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		if got, err := expandSpecifiers(all[0].value); err != nil || got != value {
			t.Errorf("%q is read as %q, %v", value, got, err)
		}
	}
}

func TestWhatNoLineCanCarryIsRefused(t *testing.T) {
	plain := map[string]string{
		"": "empty", "a\nExecStart=/bin/evil": "control character", " a": "blank", "a\t": "control character", "a ": "blank",
		`a\`: `ends in a \`, "\xff": "UTF-8", "a\x00": "control character",
	}
	for text, want := range plain {
		if v, err := Plain(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Plain(%q) is %q, %v; want an error with %q", text, v, err, want)
		}
	}
	for text, want := range map[string]string{"a\x00b": "NUL", "\xc3(": "UTF-8", "a\uffff": "noncharacter", "\U0010ffff": "noncharacter", "\ufddf": "noncharacter"} {
		if _, err := ExecArg(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ExecArg(%q): %v, want an error with %q", text, err, want)
		}
		if _, err := Assignment("A", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Assignment(%q): %v, want an error with %q", text, err, want)
		}
	}
	for _, name := range []string{"", "1A", "A-B", "A=B", "Ä", "A B"} {
		if _, err := Assignment(name, "v"); err == nil {
			t.Errorf("a variable may be called %q", name)
		}
	}
	for _, path := range []string{"", "svcrun", "./svcrun", "-/usr/bin/svcrun"} {
		if _, err := ExecPath(path); err == nil || !strings.Contains(err.Error(), "absolute") {
			t.Errorf("a program may be called %q", path)
		}
	}
}

func TestOnlyWhatTheManagerKnowsBecomesASpecifier(t *testing.T) {
	text := "50%i " + string(Instance) + " " + string(Credentials) + "/x"
	const want = "50%%i %i %d/x"
	for name, quote := range map[string]func() (Value, error){
		`"` + want + `"`:   func() (Value, error) { return ExecArg(text) },
		`"A=` + want + `"`: func() (Value, error) { return Assignment("A", text) },
		want:               func() (Value, error) { return Plain(text) },
		"-" + "%i":         func() (Value, error) { return ExecArg("-" + string(Instance)) },
	} {
		if got, err := quote(); err != nil || string(got) != name {
			t.Errorf("written as %s, %v; want %s", got, err, name)
		}
	}
	if got := Readable(text); got != "50%i %i %d/x" {
		t.Errorf("readable is %q", got)
	}
}

func TestAVerbatimValueStaysOnItsLine(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, `%t/x "$A" \\`: true, `a\nB=c`: true, `a\\`: true,
		"a\nB=c": false, `a\`: false, " a": false, "\ufdd0": false,
	} {
		if v, err := Verbatim(text); (err == nil) != ok || ok && string(v) != text {
			t.Errorf("%q: %q, %v; want it taken: %v", text, v, err, ok)
		}
	}
}

func FuzzExecArg(f *testing.F) {
	for _, s := range nasty {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, s string, continued bool) {
		if _, err := ExecArg(s); err != nil {
			if utf8.ValidString(s) && !strings.Contains(s, "\x00") && !strings.ContainsFunc(s, IsNoncharacter) {
				t.Fatal(err)
			}
			return
		}
		if strings.ContainsFunc(s, IsNoncharacter) {
			return // a specifier, which is not read back as it was
		}
		want := []string{"/usr/bin/svc run", s, "end"}
		if got := readBack(t, execLine(t, []string{s, "end"}, continued)); !slices.Equal(got, want) {
			t.Fatalf("%q is read back as %q", want, got)
		}
	})
}

func FuzzPlain(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted, err := Plain(s)
		if err != nil || strings.ContainsFunc(s, IsNoncharacter) {
			return
		}
		var file File
		file.Section("Unit").Comment(s)
		file.Section("Unit").Add("Description", quoted)
		text, err := file.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		all, err := readUnit(string(text))
		if err != nil || len(all) != 1 || all[0].name != "Description" {
			t.Fatalf("%q is read as %v, %v", s, all, err)
		}
		if got, err := expandSpecifiers(all[0].value); err != nil || got != s {
			t.Fatalf("%q is read as %q, %v", s, got, err)
		}
	})
}
