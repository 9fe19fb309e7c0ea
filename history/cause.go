package history

// Cause is why a run ended. The names are a promise to scripts: they are
// added to, and never renamed.
type Cause string

// The causes. The zero value means that the run has not ended, as far as is known.
const (
	// Clean: the service ended by itself in a way that counts as success.
	Clean Cause = "clean"
	// ExitCode: a process of the unit ended with a status that counts as failure.
	ExitCode Cause = "exit-code"
	// Signal: a signal killed the main process, and nobody had asked for a stop.
	Signal Cause = "signal"
	// CoreDump: a signal killed the main process and it dumped its core.
	CoreDump Cause = "core-dump"
	// OOM: the kernel or systemd-oomd killed for lack of memory.
	OOM Cause = "oom"
	// Watchdog: no heartbeat came in time, and the manager aborted the service.
	Watchdog Cause = "watchdog"
	// Unhealthy: a live check failed to its threshold, and svcrun drained the service.
	Unhealthy Cause = "unhealthy"
	// StartTimeout: the service was not ready in time.
	StartTimeout Cause = "start-timeout"
	// StopTimeout: the service did not stop in time, or needed SIGKILL for it.
	StopTimeout Cause = "stop-timeout"
	// Protocol: the service broke the rules of its type, as when it ends before READY=1.
	Protocol Cause = "protocol"
	// Exec: the command could not be executed (203), or its environment not be set up (200 to 245).
	Exec Cause = "exec"
	// StartLimit: the start was refused, too many starts had come before it; nothing ran.
	StartLimit Cause = "start-limit"
	// StopRequested: an operator, a dependency or the shutdown asked for the stop.
	StopRequested Cause = "stop-requested"
	// Dependency: the start was refused, as a unit that it needs had failed; nothing ran.
	Dependency Cause = "dependency"
	// Unknown: the run ended, and no record says why.
	Unknown Cause = "unknown"
)

// Causes lists every cause, in the order of the documentation.
func Causes() []Cause {
	return []Cause{
		Clean, ExitCode, Signal, CoreDump, OOM, Watchdog, Unhealthy, StartTimeout, StopTimeout,
		Protocol, Exec, StartLimit, StopRequested, Dependency, Unknown,
	}
}

// ParseCause is the cause of that name.
func ParseCause(name string) (Cause, bool) {
	for _, c := range Causes() {
		if string(c) == name {
			return c, true
		}
	}
	return "", false
}

// Refused says whether nothing ran at all: the start itself was refused.
func (c Cause) Refused() bool {
	return c == StartLimit || c == Dependency
}
