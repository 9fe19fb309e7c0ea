package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/unitgen"
)

var update = flag.Bool("update", false, "write the golden files anew; commit only what you understand")

// generated runs svcgen in this process, and returns what it printed.
func generated(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := program{strings.NewReader(""), &out, &errs, host{defaults: "/nonexistent"}}
	if code := p.run(append([]string{"svcgen", "generate"}, args...)); code != 0 {
		t.Fatalf("svcgen generate %q: exit code %d\n%s", args, code, errs.String())
	}
	return out.String(), errs.String()
}

// TestExamplesGiveTheseUnits holds all that is generated of examples, for each
// target in a file of its own.
func TestExamplesGiveTheseUnits(t *testing.T) {
	for _, target := range unitgen.Targets() {
		t.Run(target.Name, func(t *testing.T) {
			var all strings.Builder
			for _, file := range examples(t) {
				units, _ := generated(t, file, "--target", target.Name)
				all.WriteString(units)
			}
			compareGolden(t, filepath.Join("testdata", "golden", target.Name+".units"), all.String())
		})
	}
}

// examples are the policies that come with svckit.
func examples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatal("no examples found", err)
	}
	return files
}

func compareGolden(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; run go test -update if that is meant\n%s", golden, diff)
	}
}
