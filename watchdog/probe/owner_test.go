package probe

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// us is a service whose one process is the test itself.
func us() []int { return []int{os.Getpid()} }

// others is a service that the test does not belong to.
func others() []int { return nil }

// held is what is said of what the test itself holds, to another service.
func held(t testing.TB, what string) string {
	t.Helper()
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s is held by process %d (%s), not by this service", what, os.Getpid(), strings.TrimSpace(string(name)))
}

// expectOf asks of a service, twice: the second time it remembers.
func expectOf(t testing.TB, service func() []int, text, want string) {
	t.Helper()
	c := check(t, text)
	p, err := New(c, Host{Service: service})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got := ""
		if err := p.Probe(t.Context()); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func port(t testing.TB, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestListenHoldsForASocketOfTheServiceAndConnectsToNothing(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0", "[::]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("not tested on %s: %v", address, err)
			continue
		}
		defer l.Close()
		expectOf(t, us, "listen:"+port(t, l.Addr().String()), "")
		expectOf(t, us, "listen:"+l.Addr().String(), "")
		expectOf(t, others, "listen:"+l.Addr().String(), held(t, "the port"))
		nobodyCame(t, l.(*net.TCPListener))
	}
}

// nobodyCame says that no connection waits to be accepted.
func nobodyCame(t *testing.T, l *net.TCPListener) {
	t.Helper()
	raw, err := l.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		if _, _, err := unix.Accept(int(fd)); err != unix.EAGAIN {
			t.Errorf("a connection came in: %v", err)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

func TestListenAtAnotherAddressOrPortFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := port(t, l.Addr().String())
	expectOf(t, us, "listen:127.0.0.2:"+p, "nothing listens there")
	expectOf(t, us, "listen:[::1]:"+p, "nothing listens there")
	l.Close()
	expectOf(t, us, "listen:"+p, "nothing listens there")
}

func TestListenFollowsASocketThatWasMadeAnew(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	p, err := New(check(t, "listen:"+address), Host{Service: us})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := p.Probe(t.Context()); err != nil {
			t.Error(err)
		}
		l.Close()
		if err := p.Probe(t.Context()); err == nil || err.Error() != "nothing listens there" {
			t.Error(err)
		}
		if l, err = net.Listen("tcp", address); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
}

func TestOwnedPortsAreHeldByTheServiceAndNoStranger(t *testing.T) {
	s := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) { _, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n") })
	for _, text := range []string{"tcp:" + s.address, "http://" + s.address + "/", "http://localhost:" + port(t, s.address) + "/"} {
		expectOf(t, us, text+",owned", "")
		expectOf(t, others, text+",owned", held(t, "the port"))
		expectOf(t, others, text, "")
	}
}

func TestOwnedSocketsAreHeldByTheServiceAndNoStranger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.sock")
	listen(t, "unix", path, func(conn net.Conn) { _, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n") })
	for _, text := range []string{"unix:" + path, "http+unix:" + path + ":/"} {
		expectOf(t, us, text+",owned", "")
		expectOf(t, others, text+",owned", held(t, "the socket"))
		expectOf(t, others, text, "")
	}
}

// A relative path is not what the check says, but the peer is who it is.
func TestOwnedSocketMayBeBoundByAnotherName(t *testing.T) {
	t.Chdir(t.TempDir())
	listen(t, "unix", "app.sock", func(net.Conn) {})
	path, err := filepath.Abs("app.sock")
	if err != nil {
		t.Fatal(err)
	}
	expectOf(t, us, "unix:"+path+",owned", "")
	expectOf(t, others, "unix:"+path+",owned", held(t, "the socket"))
}

func TestStrangerSeesNothingOfTheRequest(t *testing.T) {
	s := listen(t, "tcp", "127.0.0.1:0", func(net.Conn) {})
	expectOf(t, others, "http://"+s.address+"/,owned,header=Authorization: Bearer secret", held(t, "the port"))
	for range 2 {
		if got := <-s.requests; got != "" {
			t.Errorf("the stranger was told %q", got)
		}
	}
}

func TestConnectionToAnotherHostCannotBeOwned(t *testing.T) {
	o, err := newOwner(us)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.own(nil, "the port"); err == nil || err.Error() != "the port is not of this host's own, and cannot be the service's" {
		t.Error(err)
	}
}

func TestSocketOfAProcessThatCannotBeSeenIsAStrangers(t *testing.T) {
	o, err := newOwner(us)
	if err != nil {
		t.Fatal(err)
	}
	const none = 1<<63 + 1 // no socket has that number
	for want, s := range map[string]socket{
		"the port is held by a process of uid 33, not by this service": {inode: none, uid: 33}, // all can be seen, or nobody may become 33
		"the port is held by another process, not by this service":     {inode: none, uid: -1},
	} {
		if err := o.one(s, "the port"); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	known := map[uint64]holder{}
	for i := range uint64(1000) {
		remember(known, i, holder{})
		if len(known) > maxRemembered {
			t.Fatalf("%d sockets are remembered", len(known))
		}
	}
}
