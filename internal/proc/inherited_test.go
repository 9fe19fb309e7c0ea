package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/svckit/svckit/internal/syntax"
)

func TestASignalSetIsWhatTheKernelPrints(t *testing.T) {
	if got, want := NewSignalSet(syntax.SIGHUP, syntax.SIGUSR1, 64), SignalSet(0x8000000000000201); got != want {
		t.Errorf("%x; want %x", uint64(got), uint64(want))
	}
	s := NewSignalSet(syntax.SIGUSR1)
	for n := syntax.Signal(1); n <= maxSignal; n++ {
		if s.Has(n) != (n == syntax.SIGUSR1) {
			t.Errorf("Has(%v) is %v", n, s.Has(n))
		}
	}
}

// The set is the kernel's, whatever the Go runtime has done to it since.
func TestTheEntryPointKnowsEverySignalThatWasIgnored(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			run := buildFor(t, arch, "-s -w -E=svckit_rt0", "./testdata/entry")
			// HUP, USR1, CHLD and TSTP are four of the runtime's own ways with signals.
			traps := map[string]string{
				"":                       "0 true [a b] 1 true\n",
				"PIPE":                   "1000 true [a b] 1 true\n",
				"HUP INT USR1 ALRM TERM": "6203 true [a b] 1 true\n",
				"CHLD CONT TSTP":         "b0000 true [a b] 1 true\n",
			}
			if arch == runtime.GOARCH { // an emulator has some for itself
				traps["SEGV 34 64"] = "8000000200000400 true [a b] 1 true\n"
			}
			for trap, want := range traps {
				if got := run(t, trap); got != want {
					t.Errorf("ignoring %q: %q; want %q", trap, got, want)
				}
			}
		})
	}
}

// go build without flags gives a program that works, and says what it cannot know.
func TestWithoutTheEntryPointIgnoredSignalsAreFoundAsFarAsTheyCanBe(t *testing.T) {
	run := buildFor(t, runtime.GOARCH, "", "./testdata/entry")
	if got, want := run(t, "HUP INT PIPE USR1 CONT TSTP"), "a0003 false [a b] 7 true\n"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
}

// buildFor links a program for an architecture, and returns what runs it with
// signals ignored.
func buildFor(t *testing.T, arch, ldflags, program string) func(t *testing.T, trap string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	build := exec.Command("go", "build", "-ldflags="+ldflags, "-o", file, program)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+arch)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	before := ""
	if arch != runtime.GOARCH {
		emulator, err := exec.LookPath("qemu-" + map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch])
		if err != nil {
			t.Skipf("it links for %s, and cannot be run: no qemu-user here", arch)
		}
		before = emulator + " "
	}
	return func(t *testing.T, trap string) string {
		t.Helper()
		script := fmt.Sprintf("exec %s%s a b", before, file)
		if trap != "" {
			script = "trap '' " + trap + "; " + script
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=7")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
}

func TestInheritedDescriptorsAreThoseThatAnExecKeeps(t *testing.T) {
	before := InheritedDescriptors()
	r, w, err := os.Pipe() // closes at an exec
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	if got := InheritedDescriptors(); !slices.Equal(got, before) {
		t.Errorf("%v; want %v", got, before)
	}
	passed := duplicate(t, r, 700)
	if got, want := InheritedDescriptors(), append(slices.Clone(before), passed); !slices.Equal(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
}

func TestWhatWasBlockedIsBlockedInTheCommandToo(t *testing.T) {
	alone(t, func(t *testing.T) {
		atEntry.blocked = uint64(NewSignalSet(syntax.SIGUSR2, syntax.SIGTERM, 11, 17))
		defer func() { atEntry.blocked = 0 }()
		fifo := filepath.Join(t.TempDir(), "fifo")
		tell := told(t, fifo)
		r := newReaped(t)
		r.begin(shell(`while read name value; do [ "$name" = SigBlk: ] && echo $value; done </proc/$$/status >` + fifo))
		if got, want := tell(), "0000000000014c00"; got != want {
			t.Errorf("SigBlk %s; want %s", got, want)
		}
	})
}
