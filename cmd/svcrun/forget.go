package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/svckit/svckit/internal/restarts"
)

// forgetWord is the flag that has svcrun do this and nothing else.
const forgetWord = "forget"

// runForget is svcrun --forget: the failed runs of a service are forgotten by
// hand, so that its next start is not held back. The service may run meanwhile.
// It returns the exit code.
func runForget(args []string, out *output) int {
	dir, err := parseForget(args)
	switch {
	case errors.Is(err, errHelp):
		out.help()
		return 0
	case err != nil:
		out.usage(fmt.Errorf("--forget: %w", err))
		return exitUsage
	}
	failures, err := restarts.Forget(dir)
	if err != nil {
		out.forgetFailed(err)
		return 1
	}
	out.forgot(failures)
	return 0
}

// parseForget finds the runtime directory, which is all that has to be said.
func parseForget(args []string) (dir string, err error) {
	o := defaults()
	for len(args) > 0 {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[0], "-"), "-"), "=")
		taken := 1
		switch {
		case !strings.HasPrefix(args[0], "-") || name == "":
			return "", errors.New("no command is started; leave it out")
		case name == forgetWord:
		case name == "help" || name == "h":
			return "", errHelp
		default:
			if _, err := lookup(name); err != nil {
				return "", err
			}
			if name != "runtime-dir" {
				return "", fmt.Errorf("--%s has no meaning here; --runtime-dir is all that is needed", name)
			}
			if taken, err = o.parseFlag(args); err != nil {
				return "", err
			}
		}
		args = args[taken:]
	}
	if o.RuntimeDir == "" {
		return "", errors.New("no directory; write svcrun --forget --runtime-dir=DIR, with the directory that svcrun itself was given")
	}
	return o.RuntimeDir, nil
}
