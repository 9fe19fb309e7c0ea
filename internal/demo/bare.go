package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/notify/socket"
)

// bare tells the part that needs no lab: the three programs against a notify
// socket of the demo's own.
func bare(ctx context.Context, out *output, bin string) error {
	dir, err := os.MkdirTemp("", "svckit-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()

	out.chapter("svcgen: what it makes of examples/redis.yaml")
	unit, err := exec.CommandContext(ctx, filepath.Join(bin, "svcgen"), "generate", "examples/redis.yaml", "--target", "debian13").Output()
	if err != nil {
		return fmt.Errorf("svcgen: %w", err)
	}
	out.say("%s", unit)

	out.chapter("svcrun: a service that hangs; the demo listens in the manager's place")
	if err := supervised(ctx, out, bin, dir, unix.SIGSTOP); err != nil {
		return err
	}
	out.chapter("svcrun: the same service is stopped")
	if err := supervised(ctx, out, bin, dir, unix.SIGTERM); err != nil {
		return err
	}
	out.chapter("svcstat: what this machine's own manager says")
	list, err := exec.CommandContext(ctx, filepath.Join(bin, "svcstat"), "list").CombinedOutput()
	out.say("%s", list)
	if err != nil {
		out.say("(%v: there is no systemd to ask here)", err)
	}
	return nil
}

// supervised runs the demo's own service under svcrun, and tells what the
// manager hears. When it is ready it is stopped: hard in its tracks, or as
// asked for.
func supervised(ctx context.Context, out *output, bin, dir string, how unix.Signal) error {
	listener, err := socket.Listen(filepath.Join(dir, "notify"))
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	at := filepath.Join(dir, "health")
	check := "http+unix:" + at + ":/health,interval=500ms,timeout=200ms"
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "svcrun"), "--ready="+check, "--live="+check, "--", self, "serve", at)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+listener.Address(), "WATCHDOG_USEC=4000000")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
	out.now("operator", "svcrun --live="+check+" -- demo serve …")
	if err := cmd.Start(); err != nil {
		return err
	}
	go hear(listener, out, func() { strike(out, cmd.Process.Pid, how) })
	err = cmd.Wait()
	out.now("manager", "svcrun ended: "+cmd.ProcessState.String())
	if code := cmd.ProcessState.ExitCode(); code == 0 || code == 69 {
		return nil
	}
	return err
}

// hear tells every datagram, and calls ready at READY=1.
func hear(l *socket.Listener, out *output, ready func()) {
	for l.Wait() == nil {
		d, ok := l.Receive()
		if !ok {
			continue
		}
		out.now("manager hears", strings.ReplaceAll(string(d.Data), "\n", "  "))
		d.Close()
		if strings.HasPrefix(string(d.Data), "READY=1") {
			ready()
		}
	}
}

// strike hits svcrun's child with SIGSTOP, or svcrun with SIGTERM.
func strike(out *output, svcrun int, how unix.Signal) {
	if how == unix.SIGTERM {
		out.now("operator", "kill -TERM svcrun")
		_ = unix.Kill(svcrun, how)
		return
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", svcrun, svcrun))
	var child int
	if _, scanned := fmt.Sscan(string(children), &child); err != nil || scanned != nil {
		return
	}
	out.now("operator", fmt.Sprintf("kill -STOP %d: the service hangs", child))
	_ = unix.Kill(child, how)
}

// serve is the demo's own service: it answers its health check until it is
// told to end.
func serve(at string) error {
	_ = os.Remove(at)
	l, err := net.Listen("unix", at)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	server := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("fine\n")) }),
		ReadHeaderTimeout: time.Second,
	}
	go func() { <-ctx.Done(); _ = server.Close() }()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
