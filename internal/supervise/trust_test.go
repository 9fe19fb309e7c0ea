package supervise

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/svckit/svckit/notify/socket"
)

func TestASenderIsTrustedInTheServicesCgroupAndBelow(t *testing.T) {
	const own = "0::/system.slice/app.service"
	for group, want := range map[string]bool{
		own:                              true,
		own + "/worker":                  true,
		own + "/a/b":                     true,
		"0::/system.slice/app.service2":  false,
		"0::/system.slice":               false,
		"0::/":                           false,
		"0::/user.slice":                 false,
		"0::/../other":                   false,
		"1:name=systemd:/system.slice\n": false,
	} {
		if got := within(group, own); got != want {
			t.Errorf("a sender in %s is trusted: %v; want %v", group, got, want)
		}
	}
	if !within("0::/", "0::/") || within("0::/user.slice", "0::/") {
		t.Error("below the root is everybody")
	}
}

func TestTheCgroupOfAProcessThatHasGoneIsUnknown(t *testing.T) {
	if group := cgroupOf("self"); group == "" || group != cgroupOf(strconv.Itoa(os.Getpid())) {
		t.Errorf("this process is in %q", group)
	}
	if group := cgroupOf("0"); group != "" {
		t.Errorf("no process is in %q", group)
	}
}

// nobody is a process that has another uid than the tests.
func nobody(t *testing.T) (pid int, uid uint32) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("not root: no process of another uid can be started")
	}
	const id = 65534
	cmd := exec.Command("/bin/sleep", "100")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid, id
}

func TestTheUidOfAProcessIsItsEffectiveOne(t *testing.T) {
	if uid, ok := uidOf(os.Getpid()); !ok || uid != uint32(os.Geteuid()) {
		t.Errorf("this process has uid %d, %v", uid, ok)
	}
	if _, ok := uidOf(0); ok {
		t.Error("no process has a uid")
	}
	pid, want := nobody(t)
	if uid, ok := uidOf(pid); !ok || uid != want {
		t.Errorf("a process of %d has uid %d, %v", want, uid, ok)
	}
}

// A process that has gone can only be told by its uid.
func TestASenderThatHasGoneIsTrustedByItsUid(t *testing.T) {
	const gone = 0 // what the kernel names where it knows none, and no process's number
	pid, uid := nobody(t)
	s := &service{cgroup: cgroupOf("self")}
	own := uint32(os.Getuid())
	if !s.trusts(socket.Datagram{PID: gone, UID: own}) {
		t.Error("svcrun's own uid is not trusted")
	}
	if s.trusts(socket.Datagram{PID: gone, UID: uid}) {
		t.Error("nobody is trusted without a main process of that uid")
	}
	s.main.pid = pid
	if !s.trusts(socket.Datagram{PID: gone, UID: uid}) || s.trusts(socket.Datagram{PID: gone, UID: uid - 1}) {
		t.Error("the main process's uid is not told from another")
	}
}

func TestASenderThatIsThereIsTrustedByItsCgroupAlone(t *testing.T) {
	s := &service{cgroup: "0::/some/where/else", main: mainProcess{pid: os.Getpid()}}
	if s.trusts(socket.Datagram{PID: os.Getpid(), UID: uint32(os.Getuid())}) {
		t.Error("a process of another cgroup is trusted for its uid")
	}
	s.cgroup = cgroupOf("self")
	if !s.trusts(socket.Datagram{PID: os.Getpid(), UID: 12345}) {
		t.Error("a process of the same cgroup is not trusted")
	}
}
