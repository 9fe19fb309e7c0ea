package manager

import (
	"os"
	"runtime"

	"github.com/svckit/svckit/internal/proc"
)

// A process is started by way of this program, which executes it then: only the
// process itself knows its pid, which it has to find in its environment. So each
// program that calls Run is its own shim, and has these three calls:
// PrepareShim in an init function, IsShim and Shim first of all in main.

// PrepareShim keeps a shim on the first thread, on which init functions run: an
// exec from another would lose the signal that tells svcrun of this process's
// death.
func PrepareShim(args []string) {
	if IsShim(args) {
		runtime.LockOSThread()
	}
}

// IsShim says whether this process was started to be one.
func IsShim(args []string) bool { return proc.IsShim(args) }

// Shim executes what it was started for, and returns only if that fails, with
// the code to exit with.
func Shim(args []string) int { return proc.Shim(args, os.Environ()) }
