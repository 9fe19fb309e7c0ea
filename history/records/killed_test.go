package records

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/history"
)

// writes is set for a process that writes records until it is killed.
const writes = "SVCKIT_TEST_WRITES"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writes); dir != "" {
		fmt.Println(writeForEver(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeForEver begins runs and ends them, and says so before the first.
func writeForEver(dir string) error {
	fmt.Println("begins")
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		d := at(dir, keptOfKilled)
		run, warnings, err := d.begin(begun())
		if err := errors.Join(append(warnings, err)...); err != nil {
			return err
		}
		r := begun()
		for range 5 {
			r.Phases = append(r.Phases, history.Phase{Name: "reloading", Began: r.Begun, Reason: strings.Repeat("x", 200)})
			if err := d.write(r, run, false); err != nil {
				return err
			}
		}
		if err := d.write(ended(r), run, true); err != nil {
			return err
		}
	}
	return nil
}

const keptOfKilled = 5

// full says whether the exhaustive sets are wanted.
func full() bool { return os.Getenv("SVCKIT_FULL") != "" }

func TestARecordIsWholeWheneverItsWriterIsKilled(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	kills := 40
	if full() {
		kills = 400
	}
	dir := t.TempDir()
	last, closed, leftovers := 0, 0, 0
	for n := 0; n < kills || closed == 0; n++ { // on a busy machine a writer may be killed before it has come to anything
		kill(t, dir, time.Duration(random.Int64N(int64(n/kills+1)*int64(15*time.Millisecond))))
		leftovers += checkKilled(t, dir)

		next := at(dir, keptOfKilled)
		run := mustBegin(t, next)
		if run <= last {
			t.Errorf("run %d follows run %d", run, last)
		}
		last = run
		for _, name := range names(t, next.path) {
			if _, ok := runOf(name); !ok {
				t.Errorf("the next start left %s behind", name)
			}
		}
		for _, r := range mustRead(t, dir) {
			if r.Closed() == (r.Run == run) {
				t.Errorf("after the start of run %d run %d is closed: %v", run, r.Run, r.Closed())
			}
			if r.Run == run-1 && r.End.ClosedBy == history.NextStart {
				closed++
			}
		}
		mustEnd(t, next, run)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d runs: %d kills left a record open, %d a temporary file", last, closed, leftovers)
}

// kill kills a writer some time after it has begun.
func kill(t *testing.T, dir string, after time.Duration) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), writes+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	<-time.After(after) // any moment will do
	_ = cmd.Process.Kill()
	for lines.Scan() {
		t.Errorf("the writer says: %s", lines.Text())
	}
	_ = cmd.Wait()
}

// checkKilled checks what a killed writer has left, and returns how many
// temporary files are among that.
func checkKilled(t *testing.T, dir string) (leftovers int) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "runs")); err != nil {
		return 0 // it was killed before its first run
	}
	all := mustRead(t, dir)
	for _, name := range names(t, filepath.Join(dir, "runs")) {
		if _, ok := runOf(name); !ok {
			leftovers++
			if !strings.HasSuffix(name, ".tmp") {
				t.Errorf("it left %s behind", name)
			}
		}
	}
	if leftovers > 1 || len(all) > keptOfKilled {
		t.Errorf("it left %d temporary files and %d records", leftovers, len(all))
	}
	return leftovers
}
