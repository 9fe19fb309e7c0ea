package unitgen

import "strings"

// Capability is something that svcgen makes use of and that not every target
// has.
type Capability struct {
	Name    string   // for people
	Needs   []string // the directives, NAME=VALUE and messages of sd_notify(3) of which it is made
	Instead string   // what svcgen does where it is missing
}

// The capabilities that decide what a unit looks like.
var (
	oomPolicy     = Capability{"OOM policy", []string{"OOMPolicy"}, "the rest of a service goes on when the kernel kills a part of it for memory"}
	abortTimeout  = Capability{"abort time-out", []string{"TimeoutAbortSec"}, "TimeoutStopSec= bounds the watchdog's abort as well"}
	endlessWindow = Capability{"start limit without end", []string{"StartLimitIntervalSec=infinity"}, "a window of ten years"}
	notifyReload  = Capability{"notify-reload", []string{"Type=notify-reload", "ReloadSignal"}, "Type=notify, and ExecReload= asks svcrun"}
	restartLadder = Capability{"restart ladder", []string{"RestartSteps", "RestartMaxDelaySec"}, "svcrun waits before it starts the service"}
	forgetting    = Capability{"forgetting of failures", []string{"RESTART_RESET"}, "a timer that runs systemctl reset-failed, or svcrun where the ladder is its own"}
	restartJitter = Capability{"restart jitter", []string{"RestartRandomizedDelaySec"}, "svcrun waits a little longer"}
)

// capabilities are all of them, in the order in which systemd had them.
var capabilities = []Capability{oomPolicy, abortTimeout, endlessWindow, notifyReload, restartLadder, forgetting, restartJitter}

// Since is the version of systemd that brought all of it.
func (c Capability) Since() int {
	since := 0
	for _, need := range c.Needs {
		since = max(since, firstVersions[need])
	}
	return since
}

// Can says whether the target has all that a capability needs.
func (t Target) Can(c Capability) bool {
	for _, need := range c.Needs {
		if directive, value, _ := strings.Cut(need, "="); !t.HasValue(directive, value) {
			return false
		}
	}
	return true
}

// Lacks are the capabilities that the target does not have.
func (t Target) Lacks() []Capability {
	var lacks []Capability
	for _, c := range capabilities {
		if !t.Can(c) {
			lacks = append(lacks, c)
		}
	}
	return lacks
}
