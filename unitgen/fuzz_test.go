package unitgen

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ownLine is every line that a unit of svcgen's may have.
var ownLine = regexp.MustCompile(`^(#.*|\[(Unit|Service|Install)\]||    \S.*|` +
	`(Description|After|Wants|StartLimitBurst|StartLimitIntervalSec|Type|NotifyAccess|ReloadSignal|ExecStart|ExecReload|User|Group|WorkingDirectory|` +
	`Environment|Restart|RestartSec|RestartSteps|RestartMaxDelaySec|RestartForceExitStatus|SuccessExitStatus|TimeoutStartSec|` +
	`TimeoutStopSec|TimeoutAbortSec|WatchdogSec|KillMode|KillSignal|SendSIGKILL|OOMPolicy|SyslogIdentifier|TasksMax|` +
	`RuntimeDirectory|RuntimeDirectoryPreserve|StateDirectory|WantedBy)=.*)$`)

// FuzzPolicyFile reads any file: it is refused with places, or makes a unit
// for every target that has no line which is not svcgen's own.
func FuzzPolicyFile(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("name: x\nexec: ['/bin/ x']\n"))
	for _, m := range mistakes {
		f.Add([]byte(m.text))
	}
	examples, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(examples) == 0 {
		f.Fatal("no examples", err)
	}
	for _, example := range examples {
		text, err := os.ReadFile(example)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Read("x.yaml", data)
		if err != nil {
			checkPlaces(t, err)
			return
		}
		for _, target := range targets {
			result, err := Generate(p, target, Options{Source: "x.yaml"})
			if err != nil {
				checkPlaces(t, err)
				continue
			}
			for _, file := range result.Files {
				checkUnit(t, string(file.Text), target)
			}
		}
	})
}

// checkPlaces wants every error to have a place and to be one line.
func checkPlaces(t *testing.T, err error) {
	var errs Errors
	if !errors.As(err, &errs) || len(errs) == 0 {
		t.Fatalf("no place: %v", err)
	}
	for _, e := range errs {
		if e.Line < 1 || e.Column < 1 || e.Message == "" || strings.Contains(e.Error(), "\n") {
			t.Fatalf("%q has no place, or more than one line", e.Error())
		}
	}
}

func checkUnit(t *testing.T, unit string, target Target) {
	starts := 0
	for line := range strings.Lines(unit) {
		line = strings.TrimSuffix(line, "\n")
		if !ownLine.MatchString(line) {
			t.Fatalf("%q is no line of svcgen's", line)
		}
		if strings.HasPrefix(line, "RestartSteps") && !target.Can(restartLadder) {
			t.Fatalf("%s has no %s", target.Name, line)
		}
		if strings.HasPrefix(line, "ExecStart=") {
			starts++
		}
	}
	if starts != 1 || AuthorOf([]byte(unit)) != Untouched {
		t.Fatalf("%d commands, or a wrong checksum, in\n%s", starts, unit)
	}
}

func TestPathologicalFilesAreRefusedQuickly(t *testing.T) {
	for name, text := range map[string]string{
		"too long":        strings.Repeat("a", maxFile+1),
		"too deep":        "name: " + strings.Repeat("[", 20) + strings.Repeat("]", 20),
		"far too deep":    strings.Repeat("[", 100_000),
		"deep blocks":     strings.Repeat("- ", 100_000),
		"many aliases":    "a: &a x\nb: [" + strings.Repeat("*a, ", 1000) + "]",
		"a billion":       "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nexec: [*c,*c,*c]\nname: x",
		"many keys":       strings.Repeat("a: b\n", 100_000),
		"many arguments":  "name: x\nexec: [/bin/a" + strings.Repeat(", a", 1000) + "]",
		"a long argument": "name: x\nexec: [/bin/a, " + strings.Repeat("a", 40_000) + "]",
	} {
		_, err := Read("x.yaml", []byte(text))
		if err == nil {
			t.Errorf("%s: read", name)
			continue
		}
		checkPlaces(t, err)
		if lines := strings.Count(err.Error(), "\n") + 1; lines > maxErrors+1 {
			t.Errorf("%s: %d lines of errors", name, lines)
		}
	}
}
