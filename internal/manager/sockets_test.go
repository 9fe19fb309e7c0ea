package manager

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/manager/machine"
	"github.com/svckit/svckit/internal/manager/plan"
)

func TestEveryKindOfSocketIsListenedOn(t *testing.T) {
	dir := shortDir(t)
	for _, test := range []struct {
		address, kind  string
		domain, typeOf int
	}{
		{dir + "/deep/down/stream", "stream", unix.AF_UNIX, unix.SOCK_STREAM},
		{dir + "/datagram", "datagram", unix.AF_UNIX, unix.SOCK_DGRAM},
		{dir + "/seqpacket", "seqpacket", unix.AF_UNIX, unix.SOCK_SEQPACKET},
		{"@svckit-test/" + filepath.Base(dir), "stream", unix.AF_UNIX, unix.SOCK_STREAM},
		{"127.0.0.1:0", "stream", unix.AF_INET, unix.SOCK_STREAM},
		{"127.0.0.1:0", "datagram", unix.AF_INET, unix.SOCK_DGRAM},
		{"[::1]:0", "stream", unix.AF_INET6, unix.SOCK_STREAM},
		{"0", "stream", unix.AF_INET6, unix.SOCK_STREAM}, // of IPv4 as well
	} {
		s, err := listen([]plan.Socket{{Address: test.address, Kind: test.kind, Mode: 0o640}}, false)
		if err != nil {
			if strings.HasPrefix(test.address, "[") || test.address == "0" {
				t.Logf("no IPv6 here: %v", err)
				continue
			}
			t.Errorf("%s %s: %v", test.kind, test.address, err)
			continue
		}
		fd := int(s.byNumber()[3].Fd())
		domain, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
		typeOf, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
		if domain != test.domain || typeOf != test.typeOf {
			t.Errorf("%s %s: domain %d, type %d; want %d, %d", test.kind, test.address, domain, typeOf, test.domain, test.typeOf)
		}
		if filepath.IsAbs(test.address) {
			if info, err := os.Stat(test.address); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%s: %v, %v; want mode 0640", test.address, info, err)
			}
		}
		s.close()
		if _, err := os.Stat(test.address); err == nil {
			t.Errorf("%s is there after its close", test.address)
		}
	}
}

func TestASocketThatIsListenedOnStaysItsOwners(t *testing.T) {
	dir := shortDir(t)
	l, err := net.Listen("unix", dir+"/taken")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.WriteFile(dir+"/file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		dir + "/taken": "cannot listen on " + dir + "/taken: address already in use",
		dir + "/file":  "cannot listen on " + dir + "/file: there is something else",
		"nowhere":      "cannot listen on nowhere: listen tcp: address nowhere: missing port in address",
	} {
		if _, err := listen([]plan.Socket{{Address: dir + "/free", Kind: "stream"}, {Address: address, Kind: "stream"}}, false); errorText(err) != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
	if exists(dir + "/free") {
		t.Error("what was opened before the error is there")
	}
	if _, err := listen([]plan.Socket{{Address: "127.0.0.1:0", Kind: "seqpacket"}}, false); err == nil {
		t.Error("there is no seqpacket socket of IP")
	}
}

func TestASocketThatIsBusyOrOfAnotherKindStaysItsOwners(t *testing.T) {
	dir := shortDir(t)
	busy, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(busy)
	if err := errors.Join(unix.Bind(busy, &unix.SockaddrUnix{Name: dir + "/busy"}), unix.Listen(busy, 0)); err != nil {
		t.Fatal(err)
	}
	waiting, err := net.Dial("unix", dir+"/busy") // and there is no room for another
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	other, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: dir + "/other", Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, path := range []string{dir + "/busy", dir + "/other"} {
		_, err := listen([]plan.Socket{{Address: path, Kind: "stream"}}, false)
		if !errors.Is(err, unix.EADDRINUSE) || !exists(path) {
			t.Errorf("%s: %v; there %v", path, err, exists(path))
		}
	}
}

func TestWhatAKilledRunHasLeftIsReplaced(t *testing.T) {
	path := shortDir(t) + "/left"
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	s, err := listen([]plan.Socket{{Address: path, Kind: "stream"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	s.close()
}

func TestAManagerOfTheSameServiceIsFoundByItsSocket(t *testing.T) {
	dir := shortDir(t)
	dirs := []plan.Dir{{Path: dir, Variable: "RUNTIME_DIRECTORY", Runtime: true}}
	if err := unused(dirs); err != nil {
		t.Error(err)
	}
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: dir + "/notify", Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	if err := unused(dirs); err == nil {
		t.Error("it was not found")
	}
	l.Close()
	if err := unused(dirs); err != nil {
		t.Error(err)
	}
}

func TestAFileThatCouldBeWaitedForIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/large", make([]byte, maxEnvFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir + "/fifo":  dir + "/fifo is no plain file",
		dir:            dir + " is no plain file",
		"/dev/zero":    "/dev/zero is no plain file",
		dir + "/large": dir + "/large has more than 1048576 bytes",
		os.DevNull:     "",
	} {
		if _, err := readEnvFile(path); errorText(err) != want {
			t.Errorf("%s: %v; want %s", path, err, want)
		}
	}
}

func TestAStartWhoseFilesHangFailsAtItsTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &unit{preparing: make(chan struct{}, 1)}
		r := &runner{units: map[string]*unit{"a": u}, prepared: make(chan prepared), closed: make(chan struct{})}
		u.preparing <- struct{}{} // a start before it hangs for ever
		began := time.Now()
		r.prepare(machine.Spawn{Unit: "a", Argv: []string{"x"}}, 7)
		p := <-r.prepared
		if took := time.Since(began); took != filesBound || p.number != 7 || p.err == nil {
			t.Errorf("after %v start %d: %v", took, p.number, p.err)
		}
	})
}

func TestOfTwoManagersThatStartAServiceAtOnceNotBothDo(t *testing.T) {
	dir := shortDir(t)
	var hosts [2]*Host
	for i := range hosts {
		hosts[i] = &Host{Runtime: dir, Dir: filepath.Join(dir, ownPrefix+string(rune('1'+i)))}
		if err := os.Mkdir(hosts[i].Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		l, err := (&runner{host: hosts[i]}).listenFor("a.service")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	for _, h := range hosts {
		if h.rivals("a.service") == nil {
			t.Errorf("%s does not see the other", h.Dir)
		}
		if err := h.rivals("b.service"); err != nil {
			t.Error(err)
		}
	}
	private := &Host{Runtime: dir + "/else", Dir: dir + "/elsewhere"}
	if err := private.rivals("a.service"); err != nil {
		t.Errorf("with directories of its own: %v", err)
	}
}

func TestWhatCannotBeSetUpHasSystemdsStatus(t *testing.T) {
	for variable, want := range map[string]int{
		"RUNTIME_DIRECTORY": 233, "STATE_DIRECTORY": 238, "CACHE_DIRECTORY": 239, "LOGS_DIRECTORY": 240, "CONFIGURATION_DIRECTORY": 241,
	} {
		_, err := makeDirs([]plan.Dir{{Path: "/dev/null/x", Variable: variable}}, identity{})
		var why *startError
		if !errors.As(err, &why) || why.status != want {
			t.Errorf("%s: %v; want status %d", variable, err, want)
		}
	}
	without, err := makeDirs([]plan.Dir{{Path: "/dev/null/svckit/x", Variable: "STATE_DIRECTORY"}}, identity{})
	if without == nil || err != nil {
		t.Errorf("svcrun's own directory: %v, %v; want only a reason to do without", without, err)
	}
}
