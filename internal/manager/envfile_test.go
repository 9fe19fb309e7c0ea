package manager

import (
	"strings"
	"testing"
)

// The lines are those of systemd's own documentation and its corners
// (systemd.exec(5), EnvironmentFile=).
func TestAFileOfVariablesIsReadAsSystemdReadsIt(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"A=1\nB=2":                      "A=1|B=2",
		"  A=1  \n\n":                   "A=1",
		"A = 1 2  ":                     "A=1 2",
		"# A=1\n; B=2\nC=3":             "C=3",
		"A=1 # no comment":              "A=1 # no comment",
		"# a \\\nA=1":                   "A=1", // no continuation, since systemd 254
		"A='a  b'":                      "A=a  b",
		"A=\"a  b\"  ":                  "A=a  b",
		"A='one' 'two'":                 "A=onetwo",
		"A=one\" two\"":                 "A=one\" two\"",
		"A='a\\b'":                      `A=a\b`,
		`A="a\b\"c\$d"`:                 `A=a\b"c$d`,
		"A=a\\ b\\\\c":                  `A=a b\c`,
		"A=one \\\n  two":               "A=one   two",
		"A=\"one \\\n two\"":            "A=one  two",
		"A='one\ntwo'":                  "A=one\ntwo",
		"A=\nB=":                        "A=|B=",
		"A":                             "",
		"A\nB=1":                        "B=1",
		"=1\nA=1":                       "A=1",
		"export A=1\nA-B=2\n1A=3\n_a=4": "_a=4",
		"A=1\r\nB=2\r\n":                "A=1|B=2",
		"A=trailing\\ ":                 "A=trailing ",
		"A=b=c":                         "A=b=c",
		"A='never ends\nB=1":            "A=never ends\nB=1",
		"A=größer":                      "A=größer",
	} {
		got, err := parseEnvFile([]byte(text))
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestAFileThatIsNoTextIsRefused(t *testing.T) {
	for text, want := range map[string]error{
		"A=\xff": errEnvUTF8, "A=\x00": errEnvNUL, strings.Repeat("x", maxEnvFile+1): errEnvSize,
	} {
		if got, err := parseEnvFile([]byte(text)); err != want || got != nil { //nolint:errorlint // it is this very one
			t.Errorf("%.10q: %q, %v; want %v", text, got, err, want)
		}
	}
}

// FuzzEnvFile holds that whatever the file, only variables come out of it, and
// that a value in double quotes comes out as it was.
func FuzzEnvFile(f *testing.F) {
	for _, seed := range []string{"A=1\n", "A='a\\'\\\n", "#\\\nA=\"$`\\\"", "A=\\", "=", "A B=1", "A=1\r2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found, err := parseEnvFile([]byte(text))
		if err != nil {
			return
		}
		for _, entry := range found {
			if name, _, ok := strings.Cut(entry, "="); !ok || !isVariable(name) || strings.ContainsRune(entry, 0) {
				t.Errorf("%q gives %q", text, entry)
			}
		}
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text)
		found, err = parseEnvFile([]byte(`A="` + quoted + `"`))
		if err == nil && (len(found) != 1 || found[0] != "A="+text) {
			t.Errorf("%q in quotes gives %q", text, found)
		}
	})
}
