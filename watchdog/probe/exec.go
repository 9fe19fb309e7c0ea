package probe

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/watchdog"
)

// newExec holds when the command exits 0.
func newExec(c watchdog.Check, run Runner) (attempt, error) {
	if run == nil {
		return nil, fmt.Errorf("a check of kind exec needs a runner")
	}
	argv, err := syntax.SplitCommand(c.Target)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		result, err := run.Run(ctx, argv)
		if err != nil {
			return fmt.Errorf("cannot run %s: %w", path.Base(argv[0]), bare(err))
		}
		return result.failure()
	}, nil
}

// failure is nil for a command that exited 0. Else it has the last line that
// the command wrote, where such checks by custom say what is wrong.
func (r Result) failure() error {
	how := "exit status " + strconv.Itoa(r.Code)
	switch {
	case r.Signal != 0:
		how = "killed by " + syntax.Signal(r.Signal).String()
	case r.Code == 0:
		return nil
	}
	if said := lastLine(r.Output); said != "" {
		how += ": " + said
	}
	return fmt.Errorf("%s", how)
}

// lastLine is the last line of text that is not blank.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
