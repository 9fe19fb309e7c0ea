package vm

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
)

// served is a machine whose guest is this process, and QEMU a process that can be
// killed.
func served(t *testing.T) *Machine {
	t.Helper()
	ours, theirs := net.Pipe()
	guest := make(chan error, 1)
	go func() { guest <- Serve(theirs) }()
	qemu := exec.Command("sleep", "60")
	if err := qemu.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = qemu.Wait()
		_ = theirs.Close()
	}()
	m := &Machine{
		process: qemu.Process, ended: ended, work: t.TempDir(), console: &lab.Tail{},
		line: ours, requests: json.NewEncoder(ours), answers: json.NewDecoder(ours),
	}
	if _, err := m.answer(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if err := <-guest; err == nil {
			t.Error("the guest ended without a reason")
		}
	})
	return m
}

func TestCommandIsAnsweredWithHowItEnded(t *testing.T) {
	m := served(t)
	for script, want := range map[string]Result{
		"echo out; echo err >&2; exit 3": answered("out\n", "err\n", 3),
		"kill -9 $$":                     answered("", "", 137),
		"exit 0":                         answered("", "", 0),
	} {
		got, err := m.Exec(t.Context(), "sh", "-c", script)
		if err != nil {
			t.Fatal(err)
		}
		if got.Took <= 0 {
			t.Errorf("%s: took %v", script, got.Took)
		}
		if got.Result != want.Result {
			t.Errorf("%s: %+v, want %+v", script, got.Result, want.Result)
		}
	}
	if got, err := m.Exec(t.Context(), "/nonexistent"); err != nil || got.Code != shellFailed || !strings.Contains(got.Stderr, "no such file") {
		t.Errorf("a program that is not there: %+v, %v", got, err)
	}
	if _, err := m.Output(t.Context(), "false"); err == nil || !strings.Contains(err.Error(), "false: exit code 1") {
		t.Errorf("a command that fails: %v", err)
	}
}

func answered(stdout, stderr string, code int) (r Result) {
	r.Stdout, r.Stderr, r.Code = stdout, stderr, code
	return r
}

func TestFileIsWrittenAsGiven(t *testing.T) {
	m := served(t)
	path := t.TempDir() + "/a file"
	const text = "$HOME \"quoted\"\n\x00\xff"
	if err := m.WriteFile(t.Context(), path, text); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("%q, %v", got, err)
	}
	if err := m.WriteFile(t.Context(), path+"/below", text); err == nil || !strings.Contains(err.Error(), "cannot write") {
		t.Errorf("below a file: %v", err)
	}
}

func TestOutputIsCutAtItsBeginning(t *testing.T) {
	got, err := served(t).Exec(t.Context(), "sh", "-c", `head -c 300000 /dev/zero | tr '\0' x; echo end`)
	if err != nil || len(got.Stdout) != maxKept || !strings.HasSuffix(got.Stdout, "xend\n") {
		t.Errorf("%d bytes, %v", len(got.Stdout), err)
	}
}

func TestCommandThatHangsEndsTheMachine(t *testing.T) {
	m := served(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := m.Exec(ctx, "sleep", "1"); err == nil || !strings.Contains(err.Error(), "deadline exceeded") {
		t.Errorf("it has ended with %v", err)
	}
	<-m.ended
}
