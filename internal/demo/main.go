// Command demo tells svckit's main job as a time line: from a policy file to a
// supervised service on a real systemd, and back to its history. Where no lab
// can be, it tells the part that needs none, and says what is missing.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/lab"
)

// bound is how long the whole demo may take, the first build of a root included.
const bound = 15 * time.Minute

func main() {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		if err := serve(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "demo serve:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, bound)
	err := demo(ctx, os.Stdout, binaries())
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// demo tells the story in the lab, or the part of it that needs none.
func demo(ctx context.Context, w io.Writer, bin string) error {
	out := newOutput(w)
	l := lab.New()
	if needs := l.Missing(ctx, suite); len(needs) > 0 {
		out.say("No lab on this machine, so this is the part that needs none. For the whole story:")
		for _, n := range needs {
			out.say("  - %s", n)
		}
		return bare(ctx, out, bin)
	}
	return whole(ctx, out, l, bin)
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
