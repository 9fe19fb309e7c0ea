package main

import (
	"strings"
	"testing"
)

func TestFlagsMayStandAnywhere(t *testing.T) {
	for line, want := range map[string]string{
		"":                                    "",
		"generate":                            "generate --",
		"generate FILE":                       "generate -- FILE",
		"generate FILE -o DIR":                "generate -o DIR -- FILE",
		"generate -o DIR FILE --json":         "generate -o DIR --json -- FILE",
		"-o DIR generate FILE":                "generate -o DIR -- FILE",
		"generate FILE --output=DIR --force":  "generate --output=DIR --force -- FILE",
		"generate -":                          "generate -- -",
		"generate - --target debian12":        "generate --target debian12 -- -",
		"generate -- --force":                 "generate -- --force",
		"generate --target -- FILE":           "generate --target -- -- FILE",
		"generate --svcrun generate generate": "generate --svcrun generate -- generate",
		"--version":                           "--version",
		"-h":                                  "-h",
		"generate --help":                     "generate --help --",
		"generate FILE -h":                    "generate -h -- FILE",
	} {
		args := append([]string{"svcgen"}, strings.Fields(line)...)
		got, err := permute(args, program{}.app())
		if err != nil || strings.Join(got[1:], " ") != want {
			t.Errorf("%q became %q, %v; want %q", line, got, err, want)
		}
	}
	for line, want := range map[string]string{
		"generate FILE --frobnicate": "unknown flag --frobnicate; known are --force, --format, --help, --json, --output, --svcrun, --target",
		"generate FILE --outpt=DIR":  "unknown flag --outpt; did you mean --output",
		"generate FILE -o":           "-o wants a value",
		"--force":                    "unknown flag --force",
		"generate FILE --target":     "--target wants a value",
	} {
		_, err := permute(append([]string{"svcgen"}, strings.Fields(line)...), program{}.app())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", line, err, want)
		}
	}
}

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
