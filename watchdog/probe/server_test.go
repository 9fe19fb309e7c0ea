package probe

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svckit/svckit/watchdog"
)

// server answers each connection with a function of the test's own, and ends
// with the test.
type server struct {
	address  string
	requests chan string // of each connection, what came before the empty line
}

// listen serves on network and address until the test ends. answer returns
// early when its writes fail; the connection is closed after it.
func listen(t testing.TB, network, address string, answer func(net.Conn)) *server {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Skipf("cannot listen on %s %s: %v", network, address, err)
	}
	s := &server{address: listener.Addr().String(), requests: make(chan string, 1024)}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer conn.Close()
				s.requests <- readRequest(conn)
				answer(conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		conns.Wait()
		close(s.requests)
	})
	return s
}

// readRequest reads up to the empty line, or what there is.
func readRequest(conn net.Conn) string {
	in := bufio.NewReader(conn)
	var request strings.Builder
	for {
		line, err := in.ReadString('\n')
		request.WriteString(line)
		if err != nil || line == "\r\n" {
			return request.String()
		}
	}
}

// serve answers all with the same bytes, over TCP.
func serve(t testing.TB, answer string) *server {
	return listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
		_, _ = io.WriteString(conn, answer) // the probe may have seen enough
	})
}

// hang waits until the probe closes its side.
func hang(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// check reads a check, with a timeout that no test is meant to reach unless
// its text says so.
func check(t testing.TB, text string) watchdog.Check {
	t.Helper()
	if !strings.Contains(text, ",timeout=") {
		text += ",timeout=10s"
	}
	c, err := watchdog.ParseCheck(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

// ask makes one attempt as svcrun does.
func ask(t testing.TB, text string) error {
	t.Helper()
	return askOn(t, text, Host{})
}

func askWith(t testing.TB, text string, run Runner) error {
	t.Helper()
	return askOn(t, text, Host{Run: run})
}

// askOn asks on a host of the test's own.
func askOn(t testing.TB, text string, host Host) error {
	t.Helper()
	c := check(t, text)
	p, err := New(c, host)
	if err != nil {
		t.Fatalf("New(%s): %v", text, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	return p.Probe(ctx)
}

// expect asks and compares what a failure says; "" is success.
func expect(t testing.TB, text, want string) {
	t.Helper()
	got := ""
	if err := ask(t, text); err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("%s: %q, want %q", text, got, want)
	}
}

// soon is far longer than anything here takes that works.
const soon = time.Minute
