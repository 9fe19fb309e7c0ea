// Command preflight prints what the lab lacks on this machine, each with its
// cure, in the form of scripts/preflight.sh, which calls it: what packages can
// mend is the script's, what the kernel, the privileges and the network allow
// only the lab itself can try.
//
// It prints nothing where a lab can be; that there is none is no error of its.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/svckit/svckit/internal/lab"
)

func main() {
	write(os.Stdout, lab.New().Missing(context.Background(), lab.Suites()...))
}

// write prints each need as the script does.
func write(w io.Writer, needs []lab.Need) {
	for _, need := range needs {
		fmt.Fprintf(w, "\n  %s\n      for: the lab, a real systemd in namespaces of its own\n      cure: %s", need.What, need.Cure)
	}
}
