// Command demo tells svckit's main job as a time line. Without an argument it
// is told here, by svcgen run, where no root and no systemd is needed: from a
// policy to a unit, and what becomes of a service that crashes, hangs and is
// stopped. `demo systemd` tells it on a real systemd, in the lab, to the end,
// which is the service's history.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// The stories, and how long each may take: in the lab the first build of a root
// is included.
var stories = map[string]struct {
	tell  func(ctx context.Context, out *output, bin string) error
	bound time.Duration
}{
	"":        {here, time.Minute},
	"systemd": {onSystemd, 15 * time.Minute},
}

func main() {
	word := ""
	if len(os.Args) > 1 {
		word = os.Args[1]
	}
	if word == "serve" && len(os.Args) == 3 {
		os.Exit(serve(os.Args[2]))
	}
	story, ok := stories[word]
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: demo [systemd]")
		os.Exit(64)
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, story.bound)
	err := story.tell(ctx, newOutput(os.Stdout), binaries())
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// binaries is where make has built the programs.
func binaries() string {
	if dir := os.Getenv("SVCKIT_BIN"); dir != "" {
		return dir
	}
	dir, err := filepath.Abs("bin")
	if err != nil {
		return "bin"
	}
	return dir
}
