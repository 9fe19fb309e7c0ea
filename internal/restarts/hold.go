package restarts

import (
	"github.com/svckit/svckit/internal/statefile"
	"github.com/svckit/svckit/policy"
)

// Hold begins a run of this process, and says how long its start is to be held
// back for the failures before it. A run whose svcrun was killed is among them,
// as one that has just ended. With an error too, it says what is known.
func Hold(dir string, delay policy.StartDelay, random policy.Random) (policy.Held, error) {
	return bounded(dir, func() (held policy.Held, err error) {
		err = update(dir, func(s State) State {
			if s.Killed() {
				s.Series = s.Series.Failed(Now(), delay.Storm)
			}
			held, s.Series = delay.Hold(s.Series, Now(), random)
			s.Open = self()
			return s
		})
		return held, err
	})
}

// self is this process, and no process where the system does not say: then the
// next start takes it for one that was killed.
func self() *statefile.Process {
	p, err := statefile.Self()
	if err != nil {
		return &statefile.Process{}
	}
	return &p
}
