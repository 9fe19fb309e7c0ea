package unitgen

import (
	"slices"
	"strings"
)

// Capability is something that svcgen makes use of and that not every target
// has.
type Capability struct {
	Name    string   // for people
	Needs   []string // the directives, NAME=VALUE and messages of sd_notify(3) of which it is made
	Instead string   // what comes of it where they are missing
}

// The capabilities that decide what a unit looks like.
var (
	oomPolicy     = Capability{"OOM policy", []string{"OOMPolicy"}, "the rest of a service goes on when the kernel kills a part of it for memory"}
	abortTimeout  = Capability{"abort time-out", []string{"TimeoutAbortSec"}, "TimeoutStopSec= bounds the watchdog's abort as well"}
	credentials   = Capability{"credentials", []string{"LoadCredential"}, "a policy with secrets is refused"}
	endlessWindow = Capability{"start limit without end", []string{"StartLimitIntervalSec=infinity"}, "its window is ten years"}
	fullHardening = Capability{"hardening", []string{
		"ProtectKernelLogs", "ProtectHostname", "RestrictSUIDSGID", "ProtectClock", "ProtectProc", "NoExecPaths", "ExecPaths",
	}, "left out of the levels that have them"}
	notifyReload  = Capability{"notify-reload", []string{"Type=notify-reload", "ReloadSignal"}, "Type=notify, and ExecReload= asks svcrun"}
	restartLadder = Capability{"restart ladder", []string{"RestartSteps", "RestartMaxDelaySec"}, "svcrun waits before it starts the service"}
	eachFailure   = Capability{"news of each failure", []string{"RestartMode=direct"}, "OnFailure= tells of the last one only: on_each_failure is refused"}
	forgetting    = Capability{"forgetting of failures", []string{"RESTART_RESET"}, "a timer runs systemctl reset-failed, or svcrun forgets where the ladder is its own"}
	restartJitter = Capability{"restart jitter", []string{"RestartRandomizedDelaySec"}, "svcrun waits a little longer"}
)

// capabilities are all of them, in the order in which systemd had them.
var capabilities = []Capability{
	oomPolicy, abortTimeout, credentials, endlessWindow, fullHardening, notifyReload, restartLadder, eachFailure, forgetting, restartJitter,
}

// Since is the version of systemd that brought all of it.
func (c Capability) Since() int {
	since := 0
	for _, need := range c.Needs {
		since = max(since, firstVersions[need])
	}
	return since
}

// Can says whether the target has all that a capability needs.
func (t Target) Can(c Capability) bool { return len(t.missing(c)) == 0 }

// missing is what a capability needs and the target lacks.
func (t Target) missing(c Capability) []string {
	return slices.DeleteFunc(slices.Clone(c.Needs), func(need string) bool {
		directive, value, _ := strings.Cut(need, "=")
		return t.HasValue(directive, value)
	})
}

// Lacks are the capabilities that the target does not have, each with what is
// missing of its needs.
func (t Target) Lacks() []Capability {
	var lacks []Capability
	for _, c := range capabilities {
		if c.Needs = t.missing(c); len(c.Needs) > 0 {
			lacks = append(lacks, c)
		}
	}
	return lacks
}
