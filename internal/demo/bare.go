package main

import (
	"context"
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

	"github.com/svckit/svckit/internal/story"
	"github.com/svckit/svckit/notify/socket"
)

// bare tells the part that needs no lab: the three programs against a notify
// socket of the demo's own.
func bare(ctx context.Context, bin string) error {
	dir, err := os.MkdirTemp("", "svckit-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	line := newTimeLine()

	chapter("svcgen: what it makes of examples/redis.yaml")
	out, err := exec.CommandContext(ctx, filepath.Join(bin, "svcgen"), "generate", "examples/redis.yaml", "--target", "debian13").Output()
	if err != nil {
		return fmt.Errorf("svcgen: %w", err)
	}
	fmt.Print(string(out))

	chapter("svcrun: a service that hangs; the demo listens in the manager's place")
	if err := supervised(ctx, line, bin, dir, unix.SIGSTOP); err != nil {
		return err
	}
	chapter("svcrun: the same service is stopped")
	if err := supervised(ctx, line, bin, dir, unix.SIGTERM); err != nil {
		return err
	}
	chapter("svcstat: what this machine's own manager says")
	list, err := exec.CommandContext(ctx, filepath.Join(bin, "svcstat"), "list").CombinedOutput()
	fmt.Print(string(list))
	if err != nil {
		fmt.Println("(" + err.Error() + ": there is no systemd to ask here)")
	}
	return nil
}

// supervised runs the demo's own service under svcrun, and tells what the
// manager hears. When it is ready it is stopped: hard in its tracks, or as
// asked for.
func supervised(ctx context.Context, line *timeLine, bin, dir string, how unix.Signal) error {
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
	line.print(story.Line{At: time.Now(), Who: "operator", What: "svcrun --live=" + check + " -- demo serve …"})
	if err := cmd.Start(); err != nil {
		return err
	}
	go hear(listener, line, func() { strike(line, cmd.Process.Pid, how) })
	err = cmd.Wait()
	line.print(story.Line{At: time.Now(), Who: "manager", What: "svcrun ended: " + cmd.ProcessState.String()})
	if code := cmd.ProcessState.ExitCode(); code == 0 || code == 69 {
		return nil
	}
	return err
}

// hear tells every datagram, and calls ready at READY=1.
func hear(l *socket.Listener, line *timeLine, ready func()) {
	for l.Wait() == nil {
		d, ok := l.Receive()
		if !ok {
			continue
		}
		line.print(story.Line{At: time.Now(), Who: "manager hears", What: strings.ReplaceAll(string(d.Data), "\n", "  ")})
		d.Close()
		if strings.HasPrefix(string(d.Data), "READY=1") {
			ready()
		}
	}
}

// strike hits svcrun's child with SIGSTOP, or svcrun with SIGTERM.
func strike(line *timeLine, svcrun int, how unix.Signal) {
	if how == unix.SIGTERM {
		line.print(story.Line{At: time.Now(), Who: "operator", What: "kill -TERM svcrun"})
		_ = unix.Kill(svcrun, how)
		return
	}
	out, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", svcrun, svcrun))
	var child int
	if _, scanned := fmt.Sscan(string(out), &child); err != nil || scanned != nil {
		return
	}
	line.print(story.Line{At: time.Now(), Who: "operator", What: fmt.Sprintf("kill -STOP %d: the service hangs", child)})
	_ = unix.Kill(child, how)
}

// serve is the demo's own service: it answers its health check until it is
// told to end.
func serve(at string) {
	_ = os.Remove(at)
	l, err := net.Listen("unix", at)
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo serve:", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	server := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("fine\n")) }),
		ReadHeaderTimeout: time.Second,
	}
	go func() { <-ctx.Done(); _ = server.Close() }()
	_ = server.Serve(l)
}
