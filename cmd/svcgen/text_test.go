package main

import (
	"testing"
)

func TestNamesAreQuotedForTheShellThatTheyArePastedInto(t *testing.T) {
	for name, want := range map[string]string{
		"a.yaml": "a.yaml", "/etc/svckit/ä@b.yaml": "/etc/svckit/ä@b.yaml", "my policy.yaml": "'my policy.yaml'",
		"$(reboot).yaml": "'$(reboot).yaml'", "it's": `'it'\''s'`, "~": "'~'",
	} {
		if got := shellWord(name); got != want {
			t.Errorf("%q is quoted as %s, want %s", name, got, want)
		}
	}
}
