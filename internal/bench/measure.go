package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// bound is how long one measurement may take.
const bound = time.Minute

// watched starts a service, and returns when whoever watches it says that it is
// ready. The service's own word of when it was up comes from its output.
type watched func(ctx context.Context, dir, kind, where string, service []string) (ready, up time.Duration, err error)

// measure is how long after the endpoint was up it was seen.
func measure(ctx context.Context, kind string, delay time.Duration, watch watched) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	dir, err := os.MkdirTemp("", "svckit-bench-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	where, err := endpoint(kind, dir)
	if err != nil {
		return 0, err
	}
	ready, up, err := watch(ctx, dir, kind, where, []string{self, "serve", kind, where, delay.String()})
	return max(ready-up, 0), err
}

// endpoint is where a service of that kind will be found. Nothing else on this host
// takes a port of that address while nobody has it.
func endpoint(kind, dir string) (string, error) {
	if kind != "http" && kind != "tcp" {
		return filepath.Join(dir, "endpoint"), nil
	}
	l, err := net.Listen("tcp", map[string]string{"http": "127.83.0.1:0", "tcp": "127.83.0.2:0"}[kind])
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}

// check is the endpoint as --ready wants it.
func check(kind, where string) string {
	switch kind {
	case "http":
		return "http://" + where + "/"
	case "exec":
		return "exec:/usr/bin/test -e " + where
	}
	return kind + ":" + where
}

// question is the same in shell.
func question(kind, where string) string {
	host, port, _ := net.SplitHostPort(where)
	switch kind {
	case "http":
		return "curl -fs -o /dev/null http://" + where + "/"
	case "tcp":
		return "(: </dev/tcp/" + host + "/" + port + ") 2>/dev/null"
	case "unix":
		return "test -S " + where
	}
	return "test -e " + where
}

// underSvcrun has svcrun watch: it says READY=1.
func underSvcrun(svcrun string) watched {
	return func(ctx context.Context, dir, kind, where string, service []string) (ready, up time.Duration, err error) {
		m, err := newManager(filepath.Join(dir, "notify"))
		if err != nil {
			return 0, 0, err
		}
		defer m.close()
		cmd := exec.CommandContext(ctx, svcrun, append([]string{"--ready=" + check(kind, where), "--"}, service...)...)
		cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+m.path)
		told := make(chan time.Duration, 1)
		defer m.attend(func(message []byte, arrived time.Duration) {
			if bytes.HasPrefix(message, []byte("READY=1")) {
				told <- arrived
			}
		})()
		return run(ctx, cmd, told)
	}
}

// besideLoop has a shell loop watch that asks once a second.
func besideLoop(ctx context.Context, _, kind, where string, service []string) (ready, up time.Duration, err error) {
	loop := exec.CommandContext(ctx, "bash", "-c", "until "+question(kind, where)+"; do sleep 1; done")
	told := make(chan time.Duration, 1)
	go func() {
		_ = loop.Run()
		told <- now()
	}()
	return run(ctx, exec.CommandContext(ctx, service[0], service[1:]...), told)
}

// run runs the service until whoever watches it has told, and stops it.
func run(ctx context.Context, cmd *exec.Cmd, told <-chan time.Duration) (ready, up time.Duration, err error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	defer func() {
		_ = cmd.Process.Signal(unix.SIGTERM)
		_ = cmd.Wait()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return 0, 0, fmt.Errorf("the service did not come up: %w", err)
	}
	nanoseconds, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil {
		return 0, 0, err
	}
	select {
	case ready = <-told:
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	}
	return ready, time.Duration(nanoseconds), nil
}
