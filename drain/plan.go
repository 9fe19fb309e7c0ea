package drain

import (
	"fmt"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// Step is one signal of the soft phase, and how long it is given to work.
type Step struct {
	Signal   syntax.Signal
	Wait     time.Duration
	MainOnly bool // to the main process; otherwise to its whole process group
}

// Plan is everything that happens from the request to stop until nothing of
// the service is left.
type Plan struct {
	PreStop        []string      // the hook, run before anything is signalled; nil for none
	PreStopTimeout time.Duration // of the hook
	Delay          time.Duration // still serving, after STOPPING=1 and the hook
	Steps          []Step        // the soft phase
	UnhealthySteps []Step        // the soft phase of a stop because of health; nil for Steps
	KillWait       time.Duration // until what got the last stop signal, and what got SIGKILL, must be gone
}

// Default is the plan of a service that asks for nothing special.
func Default() Plan {
	return Plan{
		PreStopTimeout: 10 * time.Second,
		Steps:          []Step{{Signal: syntax.SIGTERM, Wait: 30 * time.Second}},
		KillWait:       5 * time.Second,
	}
}

// Budget is the longest that a requested stop takes, from the request to the
// end of svcrun. KillWait is there twice: once for those who outlive the main
// process, once for those who got SIGKILL.
func (p Plan) Budget() time.Duration {
	before := p.Delay
	if len(p.PreStop) > 0 {
		before += p.PreStopTimeout
	}
	return before + p.StepsBudget()
}

// StepsBudget is the longest that a stop takes which skips hook and delay: of
// a service that never became ready.
func (p Plan) StepsBudget() time.Duration {
	return max(sum(p.Steps), sum(p.UnhealthySteps)) + 2*p.KillWait
}

// SoftPhase is the steps to walk, by why the stop came.
func (p Plan) SoftPhase(unhealthy bool) []Step {
	if unhealthy && p.UnhealthySteps != nil {
		return p.UnhealthySteps
	}
	return p.Steps
}

func sum(steps []Step) time.Duration {
	var total time.Duration
	for _, s := range steps {
		total += s.Wait
	}
	return total
}

// maxWait bounds one step: a stop that takes over a day is a mistake, and
// sums of steps stay far from overflow.
const maxWait = 24 * time.Hour

// ParseStep reads SIGNAL@DURATION[,main], as in TERM@30s or INT@5s,main.
func ParseStep(s string) (Step, error) {
	body, option, hasOption := strings.Cut(s, ",")
	if hasOption && option != "main" {
		return Step{}, fmt.Errorf("unknown option %q in stop step %q; the only one is main", option, s)
	}
	name, wait, hasWait := strings.Cut(body, "@")
	if !hasWait {
		return Step{}, fmt.Errorf("stop step %q has no time; write for example %s@30s", s, name)
	}
	signal, err := syntax.ParseSignal(name)
	if err != nil {
		return Step{}, fmt.Errorf("stop step %q: %w", s, err)
	}
	if signal == syntax.SIGKILL {
		return Step{}, fmt.Errorf("stop step %q: SIGKILL follows the last step by itself; leave it out", s)
	}
	d, err := syntax.ParseDuration(wait)
	if err != nil {
		return Step{}, fmt.Errorf("stop step %q: %w", s, err)
	}
	if d > maxWait {
		return Step{}, fmt.Errorf("stop step %q waits longer than a day; a stop must end: write at most 24h", s)
	}
	return Step{Signal: signal, Wait: d, MainOnly: hasOption}, nil
}

// String is the step as ParseStep reads it.
func (s Step) String() string {
	text := s.Signal.Name() + "@" + strings.ReplaceAll(syntax.FormatDuration(s.Wait), " ", "")
	if s.MainOnly {
		text += ",main"
	}
	return text
}
