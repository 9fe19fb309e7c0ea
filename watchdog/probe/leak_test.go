package probe_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/proc"
	"github.com/svckit/svckit/watchdog"
	"github.com/svckit/svckit/watchdog/probe"
)

// reaper is svcrun's one reaper, as the checks' Runner.
type reaper struct{ table *proc.Table }

func (r reaper) Run(ctx context.Context, argv []string) (probe.Result, error) {
	status, output, err := r.table.Output(ctx, proc.Command{Argv: argv, Path: argv[0], Env: os.Environ()})
	return probe.Result{Code: status.Code, Signal: int(status.Signal), Output: output}, err
}

// newReaper reaps until the test ends.
func newReaper(t *testing.T) reaper {
	t.Helper()
	table, err := proc.NewTable()
	if err != nil {
		t.Fatal(err)
	}
	children, ended := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(children, unix.SIGCHLD)
	go func() {
		defer close(ended)
		for range children {
			table.Reap()
		}
	}()
	t.Cleanup(func() {
		signal.Stop(children)
		close(children)
		<-ended
	})
	return reaper{table}
}

// endpoint answers every connection with a text, or holds it.
func endpoint(t *testing.T, network, address, answer string, hangs bool) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer conn.Close()
				if hangs {
					_, _ = io.Copy(io.Discard, conn) // until the probe closes
					return
				}
				_, _ = conn.Read(make([]byte, 4096)) // the request, so that no reset overtakes the answer
				_, _ = io.WriteString(conn, answer)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		conns.Wait()
	})
	return l.Addr().String()
}

// serving is a gRPC server's whole answer: SETTINGS, headers, SERVING, trailers.
const serving = "\x00\x00\x00\x04\x00\x00\x00\x00\x00" +
	"\x00\x00\x01\x01\x04\x00\x00\x00\x01\x88" +
	"\x00\x00\x07\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x02\x08\x01" +
	"\x00\x00\x0f\x01\x05\x00\x00\x00\x01\x00\x0bgrpc-status\x010"

// Ten thousand with SVCKIT_FULL in the environment, else a fifth of them.
func TestManyProbesATenthOfThemHungLeaveNothing(t *testing.T) {
	n := 2_000
	if os.Getenv("SVCKIT_FULL") != "" {
		n = 10_000
	}
	run := newReaper(t)
	dir := t.TempDir()
	well := endpoint(t, "tcp", "127.0.0.1:0", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false)
	socket := endpoint(t, "unix", filepath.Join(dir, "s"), "HTTP/1.1 200 OK\r\n\r\nok", false)
	grpc := endpoint(t, "tcp", "127.0.0.1:0", serving, false)
	hung := endpoint(t, "tcp", "127.0.0.1:0", "", true)
	good := []string{
		"http://" + well + "/,body=ok,owned", "http+unix:" + socket + ":/", "tcp:" + well, "listen:" + well, "unix:" + socket + ",owned",
		"grpc:" + grpc, "file:" + dir, "http://localhost:" + well[len("127.0.0.1:"):] + "/", "exec:/bin/true",
	}
	bad := []string{
		"http://" + hung + "/", "grpc:" + hung, "exec:/bin/sleep 100", "exec:/bin/sh -c 'sleep 100 & setsid sleep 0.1 & trap \"\" TERM; sleep 100'",
	}
	host := probe.Host{Run: run, Service: func() []int { return []int{os.Getpid()} }}
	probeAll(t, host, good, bad, 100) // what is made once is made now
	before := census(t)
	probeAll(t, host, good, bad, n)
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		after := census(t)
		if after.goroutines <= before.goroutines && after.descriptors <= before.descriptors && after.children == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("before %+v, after %+v", before, after)
		}
	}
}

// probeAll makes n probes, a tenth of them hung, as many at a time as svcrun
// may have checks.
func probeAll(t *testing.T, host probe.Host, good, bad []string, n int) {
	t.Helper()
	work := make(chan string)
	var workers sync.WaitGroup
	for range 32 {
		workers.Go(func() {
			for text := range work {
				probeOnce(t, host, text)
			}
		})
	}
	for i := range n {
		if i%10 == 0 {
			work <- bad[i/10%len(bad)] + ",timeout=100ms"
		} else {
			work <- good[i%len(good)] + ",timeout=10s"
		}
	}
	close(work)
	workers.Wait()
}

func probeOnce(t *testing.T, host probe.Host, text string) {
	c, err := watchdog.ParseCheck(text)
	if err != nil {
		t.Error(err)
		return
	}
	p, err := probe.New(c, host)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	hangs := c.Timeout < time.Second
	if err := p.Probe(ctx); (err != nil) != hangs || hangs && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%s: %v", text, err)
	}
}

// count is what a process has.
type count struct{ goroutines, descriptors, children int }

// census counts what this process has; children are the living ones and zombies.
func census(t *testing.T) count {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	c := count{goroutines: runtime.NumGoroutine(), descriptors: len(fds)}
	if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); !errors.Is(err, syscall.ECHILD) {
		c.children = 1 // at least
	}
	return c
}
