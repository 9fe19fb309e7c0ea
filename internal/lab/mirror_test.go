package lab

import (
	"testing"
	"testing/fstest"
)

func TestMirrorIsTheFirstMainArchiveOfDebian(t *testing.T) {
	const want = "http://mirror.example/debian"
	tests := map[string]struct{ file, text, want string }{
		"one line":               {"sources.list", "deb http://mirror.example/debian bookworm main contrib\n", want},
		"options":                {"sources.list.d/a.list", "deb [ arch=amd64 signed-by=/k.gpg ] http://mirror.example/debian sid main\n", want},
		"options without blanks": {"sources.list", "deb [arch=amd64] http://mirror.example/debian trixie main", want},
		"after a comment, a source and others' archives": {"sources.list", "# deb http://no.example bookworm main\n" +
			"deb-src http://no.example bookworm main\ndeb http://no.example/security bookworm-security main\n" +
			"deb http://no.example nodistro main\ndeb http://no.example bookworm contrib\n" +
			"deb http://mirror.example/debian stable main\n", want},
		"stanza": {"sources.list.d/debian.sources", "Types: deb deb-src\nURIs: http://mirror.example/debian\n" +
			"Suites: bookworm bookworm-updates\nComponents: main\n", want},
		"second stanza, comments, continued field, other case": {"sources.list.d/debian.sources",
			"Types: deb\nURIs: http://no.example/security\nSuites: bookworm-security\nComponents: main\n\n" +
				"types: deb\n# URIs: http://no.example\nuris:\n http://mirror.example/debian\n http://no.example\nSuites: sid\ncomponents: main\n", want},
		"disabled stanza":    {"sources.list.d/debian.sources", "Enabled: no\nTypes: deb\nURIs: http://no.example\nSuites: sid\nComponents: main\n", ""},
		"another system's":   {"sources.list", "deb http://archive.example/ubuntu noble main\n", ""},
		"an unclosed list":   {"sources.list", "deb [ arch=amd64 http://no.example sid main\n", ""},
		"half a line":        {"sources.list", "deb http://no.example sid\n", ""},
		"a file apt ignores": {"sources.list.d/debian.sources.save", "Types: deb\nURIs: http://no.example\nSuites: sid\nComponents: main\n", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			etcApt := fstest.MapFS{test.file: {Data: []byte(test.text)}}
			if got := aptMirror(etcApt); got != test.want {
				t.Errorf("mirror %q, want %q", got, test.want)
			}
		})
	}
	if got := aptMirror(fstest.MapFS{}); got != "" {
		t.Errorf("mirror %q of no sources at all", got)
	}
}

func FuzzMirror(f *testing.F) {
	f.Add("deb [a] http://m sid main\n")
	f.Add("deb [ http://m sid main")
	f.Add("Types: deb\nURIs: http://m\nSuites: sid\nComponents: main\n")
	f.Add(" : \n\n:\n")
	f.Fuzz(func(t *testing.T, text string) {
		mirrorOfList(text)
		mirrorOfDeb822(text)
	})
}
