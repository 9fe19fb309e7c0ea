package unitgen

import (
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/drain"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/unitgen/unit"
	"github.com/svckit/svckit/watchdog"
)

// Policy is what one service wants, as svckit-policy(5) describes it. Read
// fills in the defaults and has checked it. Its texts may hold unit.Instance
// and unit.Credentials for what only the manager knows.
type Policy struct {
	Name        string // of the unit, without .service; a template's ends in @
	Description string
	Scope       Scope
	Target      string // empty or TargetHost for the machine that svcgen runs on

	Exec        []string
	StartPre    [][]string // commands that run before it, one after the other
	User, Group string
	WorkingDir  string
	Env         []Variable
	EnvFiles    []string // a - before one that may be missing
	Credentials []Credential

	After, Wants, Requires, PartOf []string
	OnGiveUp, OnEachFailure        []string // units started when the service is left down, or fails at all
	WantedBy                       []string

	Ready     Ready
	Live      Live
	Watchdog  Watchdog
	Reload    Reload
	Restart   Restart
	Success   Success
	Drain     drain.Plan
	EarlyExit EarlyExit

	RuntimeMax time.Duration // the longest that it runs before it is stopped; 0 for ever
	Sockets    []Socket
	Dirs       Dirs
	Resources  []Setting
	Hardening  Hardening
	Extra      map[string][]Setting // by section

	at        map[string]Position // where each key's value stands, by its path
	inherited map[string]bool     // and which of them are defaults
	secrets   []Secret            // of its checks
}

// Scope is which manager runs the service.
type Scope string

// The managers.
const (
	ScopeSystem Scope = "system"
	ScopeUser   Scope = "user"
)

// Watchdog is when svcrun owes the manager heartbeats.
type Watchdog string

// The heartbeats.
const (
	WatchdogChecks  Watchdog = "checks"  // with live checks
	WatchdogWrapper Watchdog = "wrapper" // without them too: they prove svcrun alive
)

// Hardening is how much of the system the service is kept from.
type Hardening string

// The levels.
const (
	HardeningOff      Hardening = "off"
	HardeningBaseline Hardening = "baseline" // nothing that an ordinary service would notice
	HardeningStrict   Hardening = "strict"   // nothing but what the policy names
)

// Credential is a secret that the manager hands to the service.
type Credential struct {
	Name, Path string
}

// Secret is what a check sends and the unit may not tell: headers, in a file
// that becomes a credential.
type Secret struct {
	Credential string
	Text       []byte

	at Position
}

// Socket is a socket that the manager opens for the service.
type Socket struct {
	Listen      string // as ListenStream= has it
	Kind        string // stream, datagram or seqpacket
	Name        string // of its descriptors; empty for the unit's
	Mode        string // of a path; empty for systemd's default
	User, Group string // who owns a path
}

// Dirs are directories that the manager makes for the service, relative to
// /var/lib, /var/cache and so on.
type Dirs struct {
	State, Cache, Logs, Runtime, Config []string
}

// Setting is one directive with its value as the unit has it.
type Setting struct {
	Directive string
	Value     unit.Value

	at Position
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
	Jitter policy.Jitter
	GiveUp GiveUp

	StableAfter time.Duration // a run so long makes the failures before it forgotten; 0 for none
	Storm       policy.Storm  // a pause after failures that come too fast; zero for none
	NeverOn     Statuses      // ends that no restart follows
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

// Statuses are exit codes and signals with which the service may end.
type Statuses struct {
	Codes   []int
	Signals []syntax.Signal
}

// Success is how the service may end well, beside exit 0.
type Success = Statuses

// Words are the codes and signals as SuccessExitStatus= and --success= take them.
func (s Statuses) Words() []string {
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

// IsTemplate says whether the unit is started as instances only.
func (p Policy) IsTemplate() bool { return isTemplate(p.Name) }

// isTemplate says whether a name is a template's (systemd.unit(5)).
func isTemplate(name string) bool { return strings.HasSuffix(name, "@") }

// says is whether the service itself has a key, and not its defaults.
func (p Policy) says(path string) bool {
	_, given := p.at[path]
	return given && !p.inherited[path]
}

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
	defaultStableAfter  = 10 * time.Minute
)

// defaults is the policy that a file which says nothing would have.
func defaults() Policy {
	ladder := policy.Ladder{Base: defaultBase, Cap: defaultCap}
	ladder.Steps = policy.StepsFor(ladder.Base, ladder.Cap, policy.DefaultFactor)
	return Policy{
		Scope:     ScopeSystem,
		Watchdog:  WatchdogChecks,
		Hardening: HardeningOff,
		Ready:     Ready{StartTimeout: defaultStartTimeout},
		Live:      Live{OnUnhealthy: watchdog.Drain},
		Reload:    Reload{Signal: syntax.SIGHUP, Timeout: defaultReloadTime},
		Restart:   Restart{When: "on-failure", Ladder: ladder, Factor: policy.DefaultFactor, StableAfter: defaultStableAfter},
		Drain:     drain.Default(),
		EarlyExit: EarlyExitFail,
		WantedBy:  []string{"multi-user.target"},
	}
}
