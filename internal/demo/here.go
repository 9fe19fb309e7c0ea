package main

import (
	"context"
	_ "embed" // the policy
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed worker.yaml
var policy string

// demoTarget is the systemd that the unit is generated for and that is played.
const demoTarget = "v262"

// here tells the story without root and without systemd.
func here(ctx context.Context, out *output, bin string) error {
	dir, err := os.MkdirTemp("", "svckit-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	port, err := freePort()
	if err != nil {
		return err
	}
	path, text, err := writePolicy(dir, port)
	if err != nil {
		return err
	}
	out.chapter("a policy, worker.yaml")
	out.say("%s", text)
	out.chapter("the unit that svcgen makes of it, with every derived number explained")
	out.say("$ svcgen generate worker.yaml --target %s", demoTarget)
	unit, err := exec.CommandContext(ctx, filepath.Join(bin, "svcgen"), "generate", path, "--target", demoTarget).Output()
	if err != nil {
		return fmt.Errorf("svcgen generate: %w", err)
	}
	out.say("%s", unit)
	if err := runs(ctx, out, bin, path, port); err != nil {
		return err
	}
	out.say("\nThe same on a real systemd, and what svcstat tells of it afterwards: make demo-systemd")
	return nil
}

// freePort is one that nobody listens on at the moment.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// writePolicy puts in where the demo's own service is, and where it answers.
func writePolicy(dir, port string) (path, text string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, "worker.yaml")
	text = strings.NewReplacer("$DEMO", self, "$PORT", port).Replace(policy)
	return path, text, os.WriteFile(path, []byte(text), 0o644)
}

// runs is the service under svcgen run, from its start to its stop.
func runs(ctx context.Context, out *output, bin, path, port string) error {
	out.chapter("the policy runs here, by svcgen run, as it would under that systemd")
	s, err := startStage(ctx, out, bin, path, port)
	if err != nil {
		return err
	}
	defer s.close()
	for _, part := range []struct {
		title string
		play  func() error
	}{
		{"", s.ready},
		{"it crashes, twice: each wait is longer than the one before", s.crashTwice},
		{"it hangs: the live check notices, svcrun drains it, the manager starts it again", s.hang},
		{"it is stopped while it answers a request", s.stop},
	} {
		if part.title != "" {
			out.chapter(part.title)
		}
		if err := part.play(); err != nil {
			return err
		}
	}
	return nil
}
