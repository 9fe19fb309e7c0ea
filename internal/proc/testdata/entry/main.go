// Command entry prints which signals it was started with ignored, whether it can
// know, its arguments, for how many processors its runtime prepares, and whether
// it has the environment that the kernel has, for the test that links it with
// svckit_rt0 and without.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/svckit/svckit/internal/proc"
)

func main() {
	ignored, known := proc.InheritedIgnored()
	text, _ := os.ReadFile("/proc/self/environ")
	given, environ := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), proc.Environ()
	slices.Sort(given) // an emulator has an order of its own
	slices.Sort(environ)
	whole := slices.Equal(given, environ)
	_, _ = fmt.Fprintf(os.Stdout, "%x %v %v %d %v\n", uint64(ignored), known, os.Args[1:], runtime.GOMAXPROCS(0), whole)
}
