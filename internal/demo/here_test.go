package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The demo's service is this test binary, as the policy names the program itself.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		os.Exit(serve(os.Args[2]))
	}
	os.Exit(m.Run())
}

// programs is where svcgen and svcrun are: make's, or built here.
func programs(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("SVCKIT_BIN"); dir != "" {
		return dir
	}
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-o", dir, "github.com/svckit/svckit/cmd/svcgen", "github.com/svckit/svckit/cmd/svcrun")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// patience is how long a busy machine is given.
const patience = 3 * time.Minute

func TestTheStoryIsToldWithoutSystemd(t *testing.T) {
	bin := programs(t)
	var text strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := here(ctx, newOutput(&text), bin); err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	rest := text.String()
	for _, want := range []string{
		`name: svckit-demo`, `ExecStart=/usr/bin/svcrun`, `RestartSec=500ms`,
		`starting \(run 1\)`, `ready after `,
		`POST /crash`, `ended: exit code 3 \(exit-code\)`, `restart 1 in 500ms`, `ready after`,
		`POST /crash`, `restart 2 in 1\.00s`, `ready after`,
		`POST /hang`, `ended: exit code 69 \(unhealthy `, `restart 3 in 2\.00s`, `ready after`,
		`GET /slow`, `Ctrl-C`, `stopping: a stop was asked for`, `\| drained`, `answer: an answer that took its time`,
		`svckit-demo +4 .*exit-code 2, unhealthy 1, stop-requested 1`, `ended with exit code 0`,
	} {
		at := regexp.MustCompile(want).FindStringIndex(rest)
		if at == nil {
			t.Fatalf("%s is not told, or not in its place:\n%s", want, text.String())
		}
		rest = rest[at[1]:]
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "svckit-demo-*")); len(left) > 0 {
		t.Errorf("it leaves %q", left)
	}
}
