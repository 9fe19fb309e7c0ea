package probe

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/watchdog"
)

// newFile holds when the file is there and was touched within its maximal age.
// A time in the future is young: clocks are set back. A file system that hangs
// keeps the probe out, and so the heartbeat back.
func newFile(c watchdog.Check) attempt {
	return func(context.Context) error {
		info, err := os.Stat(c.Target)
		if err != nil {
			return bare(err)
		}
		if age := time.Since(info.ModTime()); c.MaxAge > 0 && age > c.MaxAge {
			return fmt.Errorf("not touched for %s", syntax.FormatDuration(coarse(age)))
		}
		return nil
	}
}

// coarse is d as a person wants to read it.
func coarse(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Truncate(time.Millisecond)
	}
	return d.Truncate(time.Second)
}
