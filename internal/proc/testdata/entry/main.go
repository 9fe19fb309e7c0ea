// Command entry prints which signals it was started with ignored, and whether it
// can know, for the test that links it with svckit_rt0 and without.
package main

import (
	"fmt"
	"os"

	"github.com/svckit/svckit/internal/proc"
)

func main() {
	ignored, known := proc.InheritedIgnored()
	_, _ = fmt.Fprintf(os.Stdout, "%x %v %v\n", uint64(ignored), known, os.Args[1:])
}
