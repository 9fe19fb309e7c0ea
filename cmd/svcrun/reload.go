package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/notify/socket"
)

// reloadVerb is for ExecReload= of a unit whose systemd has no notify-reload:
// it has the svcrun of the same unit reload, and ends when that is over.
const reloadVerb = "reload"

// reloadFlags are those of svcrun's flags that tell where its socket is.
var reloadFlags = [...]string{"runtime-dir", "notify-socket"}

// runReload asks for the reload and returns the exit code.
func runReload(args []string, out *output) int {
	address, err := parseReload(args)
	switch {
	case errors.Is(err, errHelp):
		out.reloadHelp()
		return 0
	case err != nil:
		out.usage(fmt.Errorf("reload: %w", err))
		return exitUsage
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGTERM)
	return askReload(address, stop, out)
}

// termWait is how long the manager's TERM may come after the service's end.
const termWait = 300 * time.Millisecond

// askReload waits for the end of the reload, or for the manager's TERM: at a stop it
// goes to control processes as well, and one that dies of it, or fails then,
// fails the unit (systemd: src/core/service.c, service_sigchld_event).
func askReload(address string, stop <-chan os.Signal, out *output) int {
	ended := make(chan error, 1)
	go func() { ended <- socket.Reload(address) }()
	var err error
	select {
	case err = <-ended:
	case <-stop:
	}
	if err == nil {
		return 0
	}
	select {
	case <-stop:
		return 0
	case <-time.After(termWait):
	}
	out.reloadFailed(err)
	return 1
}

// parseReload finds the socket: by the same flag that svcrun itself was given.
func parseReload(args []string) (address string, err error) {
	at := defaults()
	for len(args) > 0 {
		name, _, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[0], "-"), "-"), "=")
		switch {
		case !strings.HasPrefix(args[0], "-"):
			return "", fmt.Errorf("%q is no flag; write svcrun reload --runtime-dir=DIR", args[0])
		case (name == "help" || name == "h") && !hasValue:
			return "", errHelp
		case !slices.Contains(reloadFlags[:], name):
			return "", fmt.Errorf("unknown flag --%s; known are --%s", name, strings.Join(reloadFlags[:], " and --"))
		}
		taken, err := at.parseFlag(args)
		if err != nil {
			return "", err
		}
		args = args[taken:]
	}
	switch {
	case at.ListenAddress != "":
		return at.ListenAddress, nil
	case at.RuntimeDir != "":
		return filepath.Join(at.RuntimeDir, "notify"), nil
	}
	return "", fmt.Errorf("no socket; write svcrun reload --runtime-dir=DIR, with the directory that svcrun itself was given")
}
