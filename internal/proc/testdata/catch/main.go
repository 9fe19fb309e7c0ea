// Command catch raises signals that it catches, and prints which have come.
package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/proc"
	"github.com/svckit/svckit/internal/syntax"
)

func main() {
	signals := []syntax.Signal{syntax.SIGTERM, syntax.SIGHUP, syntax.Signal(unix.SIGCHLD), syntax.SIGUSR2}
	c, err := proc.Catch(signals...)
	if err != nil {
		panic(err)
	}
	var got proc.SignalSet
	for _, n := range signals {
		if err := unix.Kill(os.Getpid(), unix.Signal(n)); err != nil {
			panic(err)
		}
		for !got.Has(n) {
			come, ok := c.Wait()
			if got |= come; !ok {
				panic("cannot wait")
			}
		}
	}
	fmt.Printf("%x\n", uint64(got))
}
