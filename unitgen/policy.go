package unitgen

import (
	"strconv"
	"time"

	"github.com/svckit/svckit/drain"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/watchdog"
)

// Policy is what one service wants, as svckit-policy(5) describes it. Read
// fills in the defaults and has checked it.
type Policy struct {
	Name        string // of the unit, without .service
	Description string
	Exec        []string
	User, Group string
	WorkingDir  string
	Env         []Variable
	After       []string
	Ready       Ready
	Live        Live
	Reload      Reload
	Restart     Restart
	Success     Success
	Drain       drain.Plan
	EarlyExit   EarlyExit
	WantedBy    []string
	Target      string // empty or TargetHost for the machine that svcgen runs on

	at map[string]Position // where each key's value stands, by its path
}

// Variable is one of the service's environment variables. Its value may be a secret.
type Variable struct {
	Name, Value string
}

// Ready is how the service shows that it serves.
type Ready struct {
	Checks       []watchdog.Check
	StartTimeout time.Duration
}

// Live is how the service shows that it still does.
type Live struct {
	Checks      []watchdog.Check
	OnUnhealthy watchdog.OnUnhealthy
}

// Reload is how the service takes up a changed configuration.
type Reload struct {
	Wanted  bool // the service can be reloaded at all
	Signal  syntax.Signal
	Command []string // instead of the signal
	Timeout time.Duration
}

// Restart is when the service is started again, and when no more.
type Restart struct {
	When   string // a value of Restart=
	Ladder policy.Ladder
	Factor policy.Factor // of which Ladder.Steps were computed; 0 where they were given
	GiveUp GiveUp
}

// never is the restart.when of a service that is not started again.
const never = "no"

// GiveUp is when the service is left down. The zero GiveUp is never.
type GiveUp struct {
	Starts int           // this many starts happen, the next is refused
	Within time.Duration // in this window; 0 to derive one
	After  time.Duration // instead of both: when failing at once has lasted this long
}

// Never says whether the service is started again for ever.
func (g GiveUp) Never() bool { return g.Starts == 0 && g.After == 0 }

// EarlyExit is what it means that the service exits 0 before it was ready.
type EarlyExit string

// The meanings of an early exit.
const (
	EarlyExitFail    EarlyExit = "fail"
	EarlyExitSuccess EarlyExit = "success"
)

// Success is how the service may end well, beside exit 0.
type Success struct {
	Codes   []int
	Signals []syntax.Signal
}

// Words are the codes and signals as SuccessExitStatus= and --success= take them.
func (s Success) Words() []string {
	var words []string
	for _, code := range s.Codes {
		words = append(words, strconv.Itoa(code))
	}
	for _, signal := range s.Signals {
		words = append(words, signal.String())
	}
	return words
}

// Unit is the name of the service's unit.
func (p Policy) Unit() string { return p.Name + ".service" }

// where is the position of the first of the paths that the file has.
func (p Policy) where(paths ...string) Position { return firstOf(p.at, paths) }

func firstOf(at map[string]Position, paths []string) Position {
	for _, path := range paths {
		if position, ok := at[path]; ok {
			return position
		}
	}
	return at[""]
}

// Defaults are those of svckit-policy(5).
const (
	defaultStartTimeout = 90 * time.Second
	defaultReloadTime   = time.Minute
	defaultBase         = time.Second
	defaultCap          = time.Minute
)

// defaults is the policy that a file which says nothing would have.
func defaults() Policy {
	ladder := policy.Ladder{Base: defaultBase, Cap: defaultCap}
	ladder.Steps = policy.StepsFor(ladder.Base, ladder.Cap, policy.DefaultFactor)
	return Policy{
		Ready:     Ready{StartTimeout: defaultStartTimeout},
		Live:      Live{OnUnhealthy: watchdog.Drain},
		Reload:    Reload{Signal: syntax.SIGHUP, Timeout: defaultReloadTime},
		Restart:   Restart{When: "on-failure", Ladder: ladder, Factor: policy.DefaultFactor},
		Drain:     drain.Default(),
		EarlyExit: EarlyExitFail,
		WantedBy:  []string{"multi-user.target"},
	}
}
