package statefile

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAProcessIsKnownUntilItHasEnded(t *testing.T) {
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	if self.PID != os.Getpid() || len(self.BootID) != 32 || !self.Lives() {
		t.Errorf("%+v, lives %v", self, self.Lives())
	}
	for name, other := range map[string]Process{
		"of another boot":     {"0123456789abcdef0123456789abcdef", self.PID, self.Ticks},
		"with the pid reused": {self.BootID, self.PID, self.Ticks + 1},
		"with no pid":         {self.BootID, 0, self.Ticks},
		"with a negative pid": {self.BootID, -1, self.Ticks},
		"none":                {},
	} {
		if other.Lives() {
			t.Errorf("one %s lives: %+v", name, other)
		}
	}
}

func TestAProcessOfAHiddenBootIsKnownByTheRest(t *testing.T) {
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	self.BootID = ""
	if !self.Lives() {
		t.Errorf("%+v does not live", self)
	}
	self.Ticks++
	if self.Lives() {
		t.Errorf("%+v lives", self)
	}
}

func TestAZombieDoesNotLive(t *testing.T) {
	child := exec.Command("/bin/cat")
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	ticks, _, err := startTime(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	p := Process{BootID(), child.Process.Pid, ticks}
	if !p.Lives() {
		t.Errorf("%+v does not live", p)
	}
	_ = stdin.Close()
	if err := unix.Waitid(unix.P_PID, p.PID, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil { // dead, and not reaped
		t.Fatal(err)
	}
	if p.Lives() {
		t.Error("a zombie lives")
	}
	_ = child.Wait()
	if p.Lives() {
		t.Error("what was reaped lives")
	}
}

// stat is a line of proc_pid_stat(5).
func stat(name, state, starttime string) string {
	return fmt.Sprintf("12 (%s) %s 1 12 12 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 %s 1 1 1\n", name, state, starttime)
}

func TestTheStartTimeIsFoundBehindAnyName(t *testing.T) {
	for line, want := range map[string]struct {
		ticks    uint64
		dead, ok bool
	}{
		stat("svcrun", "S", "4711"):                 {4711, false, true},
		stat("a) R 1 2 3 (b", "Z", "4711"):          {4711, true, true},
		stat("", "X", "0"):                          {0, true, true},
		stat(") ) (\n", "R", "4711"):                {4711, false, true},
		stat("svcrun", "S", "-1"):                   {0, false, false},
		stat("svcrun", "S", "18446744073709551616"): {18446744073709551615, false, false},
		"12 (svcrun) S 1 12":                        {},
		"":                                          {},
	} {
		ticks, dead, ok := parseStat([]byte(line))
		if ok != want.ok || ok && (ticks != want.ticks || dead != want.dead) {
			t.Errorf("%q: %d, %v, %v", line, ticks, dead, ok)
		}
	}
}

func FuzzStat(f *testing.F) {
	f.Add("svcrun", "S", uint64(4711))
	f.Add(") Z 1 (", "Z", uint64(0))
	f.Fuzz(func(t *testing.T, name, state string, ticks uint64) {
		got, _, ok := parseStat([]byte(stat(name, "S", fmt.Sprint(ticks))))
		if !ok || got != ticks {
			t.Errorf("%q: %d, %v; want %d", name, got, ok, ticks)
		}
		parseStat([]byte(name + state))
	})
}
