package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/supervise/machine"
)

func TestLinesAreWrittenInTheirOrderBeforeTheEnd(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	s := &sink{fd: raw(w.Fd())}
	var want strings.Builder
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(r)
		read <- string(text)
	}()
	for i := range maxLines {
		// Some are too long to be written at once, and all after them have to wait.
		line := fmt.Sprintf("line %d%s\n", i, strings.Repeat(".", 200*i))
		want.WriteString(line)
		s.write(line)
	}
	s.flush(patience)
	_ = w.Close()
	if text := <-read; text != want.String() {
		t.Errorf("written is\n%s", text)
	}
}

func TestALogThatTakesNothingHoldsUpNobody(t *testing.T) {
	r, w := jammed(t)
	s := &sink{fd: raw(w.Fd())}
	for i := range 10 * maxLines {
		s.write(fmt.Sprintf("line %d\n", i))
	}
	s.flush(time.Millisecond)
	// When it takes something again, the first ones are not lost.
	text := make([]byte, 1<<20)
	for got := ""; !strings.Contains(got, "line 0\nline 1\n"); {
		n, err := r.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		got += string(text[:n])
	}
}

// jammed is a pipe that is full.
func jammed(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	size, err := unix.FcntlInt(w.Fd(), unix.F_GETPIPE_SZ, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	return r, w
}

func TestAStopIsBoundedThoughTheLogIsJammed(t *testing.T) {
	cmd := exec.Command("svcrun", "--ready=notify", "--start-timeout=50ms", "--stop=TERM@50ms", "--kill-wait=20s", "--",
		"/bin/sh", "-c", `trap "" TERM; exec sleep 600`)
	_, cmd.Stderr = jammed(t)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != machine.ExitStartTimeout {
		t.Errorf("ended with %v after %v; want 70", cmd.ProcessState, time.Since(begun))
	}
}

// A log whose reader has gone is no reason to die.
func TestABrokenLogCostsNothing(t *testing.T) {
	for _, invocation := range []string{"", "INVOCATION_ID=0123"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		cmd := exec.Command("svcrun", "--runtime-dir=/nowhere", "--", "/bin/sh", "-c", "exit 5")
		cmd.Stderr = w
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", invocation)
		_ = cmd.Run()
		_ = w.Close()
		if code := cmd.ProcessState.ExitCode(); code != 5 {
			t.Errorf("%q: ended with %v; want the child's 5", invocation, cmd.ProcessState)
		}
	}
}

func TestInTheJournalEveryLineHasItsPriority(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	o := newOutput(os.Stdout, f, []string{fmt.Sprintf("JOURNAL_STREAM=%d:%d", st.Dev, st.Ino)})
	o.level = machine.Warning
	o.log(machine.Error, "an error\nof two lines")
	o.log(machine.Warning, "a warning")
	o.log(machine.Notice, "not told")
	o.end(history.EndLine{Cause: history.Clean})
	o.close()
	want := "<3>svcrun: an error of two lines\n<4>svcrun: a warning\n<6>svcrun: end cause=clean\n"
	if text, err := os.ReadFile(f.Name()); err != nil || string(text) != want {
		t.Errorf("the journal has\n%s(%v); want\n%s", text, err, want)
	}
	if newOutput(os.Stdout, f, []string{"JOURNAL_STREAM=1:1"}).prefixed {
		t.Error("another stream than the journal's gets priorities")
	}
}
