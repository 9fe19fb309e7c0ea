package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/drain"
	"github.com/svckit/svckit/history/records"
	"github.com/svckit/svckit/internal/proc"
	"github.com/svckit/svckit/internal/supervise"
	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify/socket"
	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/watchdog"
)

// options is all that the command line and the environment say.
type options struct {
	supervise.Options
	level machine.Level
}

var (
	errHelp    = errors.New("help")
	errVersion = errors.New("version")
	errForget  = errors.New(forgetWord)
)

// words are the flags that end the reading.
var words = map[string]error{"help": errHelp, "h": errHelp, "version": errVersion, forgetWord: errForget}

// flag is one flag: its name, what help says of it, and what sets it. Errors
// never repeat a check's text, which may hold a secret.
type flag struct {
	name, value, help string
	set               func(*options, string) error
}

// Bounds of time spans: beyond them it is a slip, and sums stay far from
// overflow.
const (
	maxSpan     = 7 * 24 * time.Hour
	minKillWait = 100 * time.Millisecond
)

// parse reads FLAGS -- COMMAND [ARG...]. The first argument that is no flag
// begins the command too.
func parse(args, environ []string) (options, error) {
	o := defaults()
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		if args[0] == "--" {
			args = args[1:]
			break
		}
		taken, err := o.parseFlag(args)
		if err != nil {
			return options{}, err
		}
		args = args[taken:]
	}
	if len(args) == 0 {
		return options{}, fmt.Errorf("no command; write svcrun [FLAGS] -- COMMAND [ARG...]")
	}
	o.Argv = args
	return o.complete(environ)
}

// parseFlag reads the flag at the start of args, and returns how many
// arguments it takes.
func (o *options) parseFlag(args []string) (int, error) {
	name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[0], "-"), "-"), "=")
	if word, ok := words[name]; ok {
		if hasValue {
			return 0, fmt.Errorf("--%s takes no value", name)
		}
		return 0, word
	}
	f, err := lookup(name)
	if err != nil {
		return 0, err
	}
	taken := 1
	switch {
	case f.value == "":
		if hasValue {
			return 0, fmt.Errorf("--%s takes no value", name)
		}
	case !hasValue && len(args) == 1:
		return 0, fmt.Errorf("--%s wants a value: --%s=%s", name, name, f.value)
	case !hasValue:
		value, taken = args[1], 2
	}
	if err := f.set(o, value); err != nil {
		return 0, fmt.Errorf("--%s: %w", name, err)
	}
	return taken, nil
}

// lookup finds a flag by its name. Of an unknown one it tells what can only be
// a name: where = is mistyped a value follows, which may hold a secret.
func lookup(name string) (flag, error) {
	var names []string
	for _, f := range flags {
		if f.name == name {
			return f, nil
		}
		names = append(names, f.name)
	}
	said := name
	if end := strings.IndexFunc(name, notInNames); end >= 0 {
		name, said = name[:end], name[:end]+"..."
	}
	if near, ok := syntax.Nearest(name, names); ok {
		return flag{}, fmt.Errorf("unknown flag --%s; did you mean --%s", said, near)
	}
	return flag{}, fmt.Errorf("unknown flag --%s; see svcrun --help", said)
}

func notInNames(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// defaults are the options before the first flag.
func defaults() options {
	o := options{level: machine.Info}
	o.KillScope = supervise.ScopeTree
	o.History = 100
	plan := drain.Default()
	plan.Steps = nil // set by the first --stop, or completed
	o.Machine = machine.Config{
		OnUnhealthy:  watchdog.Drain,
		StartTimeout: 90 * time.Second,
		EarlyExit:    machine.EarlyExitFail,
		Drain:        plan,
		AbortWait:    10 * time.Second,
		Reload:       machine.Reload{Signal: syntax.SIGHUP, Timeout: time.Minute},
	}
	return o
}

// complete adds what the environment says, and what follows from the flags.
func (o options) complete(environ []string) (options, error) {
	if o.Machine.Drain.Steps == nil {
		o.Machine.Drain.Steps = drain.Default().Steps
	}
	if o.StartDelay.Enabled() && o.RuntimeDir == "" {
		return options{}, errors.New("--start-delay: failed runs are remembered in the runtime directory; add --runtime-dir=DIR")
	}
	o.Environ = environ
	o.NotifyAddress = supervise.Variable(environ, "NOTIFY_SOCKET")
	o.Machine.Managed = o.NotifyAddress != ""
	o.Machine.WatchdogPeriod = watchdogPeriod(environ)
	o.Terminal = !o.Machine.Managed && proc.HasTerminal()
	o.Machine.InterruptStops = o.Terminal || os.Getpid() == 1 || isTerminal(os.Stdin)
	if o.Machine.Managed {
		if err := socket.CheckAddress(o.NotifyAddress); err != nil {
			return options{}, err
		}
	}
	return o, nil
}

// watchdogPeriod is what the manager expects of this process, 0 for nothing
// (sd_watchdog_enabled(3)).
func watchdogPeriod(environ []string) time.Duration {
	usec, err := strconv.ParseUint(supervise.Variable(environ, "WATCHDOG_USEC"), 10, 64)
	pid := supervise.Variable(environ, "WATCHDOG_PID")
	if err != nil || usec > math.MaxInt64/1000 || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	return time.Duration(usec) * time.Microsecond
}

// flags is every flag, in the order of --help.
var flags = []flag{
	{"ready", "CHECK", "READY=1 goes out when every ready check holds at once; may be repeated", func(o *options, v string) error {
		return addCheck(&o.Machine.Ready, v)
	}},
	{"live", "CHECK", "probed for as long as the service runs; may be repeated", func(o *options, v string) error {
		return addCheck(&o.Machine.Live, v)
	}},
	{"on-unhealthy", "drain|abort|report", "what follows when a live check reaches its failure threshold (drain)", func(o *options, v string) error {
		return choose(&o.Machine.OnUnhealthy, v, watchdog.Drain, watchdog.Abort, watchdog.Report)
	}},
	{"start-timeout", "D", "how long READY=1 may take (90s)", func(o *options, v string) error {
		return span(&o.Machine.StartTimeout, v, time.Millisecond)
	}},
	{"early-exit", "fail|success", "what an exit 0 before READY=1 means (fail)", func(o *options, v string) error {
		return choose(&o.Machine.EarlyExit, v, machine.EarlyExitFail, machine.EarlyExitSuccess)
	}},
	{"pre-stop", "CMD", "run at the start of a drain, before anything is signalled", func(o *options, v string) (err error) {
		o.Machine.Drain.PreStop, err = command(v)
		return err
	}},
	{"pre-stop-timeout", "D", "how long the hook may take (10s)", func(o *options, v string) error {
		return span(&o.Machine.Drain.PreStopTimeout, v, 0)
	}},
	{"drain-delay", "D", "keep serving that long after STOPPING=1 and the hook (0)", func(o *options, v string) error {
		return span(&o.Machine.Drain.Delay, v, 0)
	}},
	{"stop", "SIG@D[,main]", "send SIG, wait up to D, then the next; may be repeated (TERM@30s)", func(o *options, v string) error {
		return addStep(&o.Machine.Drain.Steps, v)
	}},
	{"unhealthy-stop", "SIG@D[,main]", "the same for a stop because of health; may be repeated (as --stop)", func(o *options, v string) error {
		return addStep(&o.Machine.Drain.UnhealthySteps, v)
	}},
	{"kill-wait", "D", "how long to wait, after SIGKILL, for all that got it to be gone (5s)", func(o *options, v string) error {
		return span(&o.Machine.Drain.KillWait, v, minKillWait)
	}},
	{"kill-scope", "tree|group|main", "what SIGKILL reaches, and svcrun waits for (tree)", func(o *options, v string) error {
		return choose(&o.KillScope, v, supervise.ScopeTree, supervise.ScopeGroup, supervise.ScopeMain)
	}},
	{"abort-wait", "D", "how long the child may dump its core after the watchdog's SIGABRT (10s)", func(o *options, v string) error {
		return span(&o.Machine.AbortWait, v, 0)
	}},
	{"reload-signal", "SIG", "sent to the child for a reload: at SIGHUP, or when svcrun reload asks (HUP)", func(o *options, v string) (err error) {
		o.Machine.Reload.Signal, err = syntax.ParseSignal(v)
		return err
	}},
	{"reload-exec", "CMD", "run instead of a signal; it finds the main process in $MAINPID", func(o *options, v string) (err error) {
		o.Machine.Reload.Command, err = command(v)
		return err
	}},
	{"reload-timeout", "D", "how long a reload may take (60s)", func(o *options, v string) error {
		return span(&o.Machine.Reload.Timeout, v, time.Millisecond)
	}},
	{"success", "LIST", "codes and signals that are a clean end of a requested stop, as 143,INT", func(o *options, v string) error {
		return addSuccess(&o.Machine.Success, v)
	}},
	{"stable-after", "D", "unbroken health after which earlier failures are forgotten (never)", func(o *options, v string) error {
		return span(&o.Machine.StableAfter, v, time.Millisecond)
	}},
	{"start-delay", "SPEC", "hold a start back after failed runs: base=1s,cap=60s,steps=6,jitter=25%,storm=5/30s/60s", func(o *options, v string) (err error) {
		o.StartDelay, err = policy.ParseStartDelay(v)
		return err
	}},
	{"runtime-dir", "DIR", "svcrun's own runtime directory: its socket for the child stands there", func(o *options, v string) error {
		return absolute(&o.RuntimeDir, v)
	}},
	{"state-dir", "DIR", "svcrun's own state directory: a record of each run stands there", func(o *options, v string) error {
		return absolute(&o.StateDir, v)
	}},
	{"history", "N", "how many runs' records are kept in the state directory, 0 for none (100)", func(o *options, v string) error {
		return number(&o.History, v, 0, records.MaxKept)
	}},
	{"name", "NAME", "the unit's name, for the records", func(o *options, v string) error {
		return unitName(&o.Name, v)
	}},
	{"notify-socket", "PATH", "where svcrun's own socket for the child stands", func(o *options, v string) error {
		if strings.HasPrefix(v, "@") && len(v) > 1 {
			o.ListenAddress = v
			return nil
		}
		return absolute(&o.ListenAddress, v)
	}},
	{"manager-signals-all", "", "the manager's TERM reaches the child too (KillMode=control-group)", func(o *options, _ string) error {
		o.Machine.ManagerSignalsAll = true
		return nil
	}},
	{"log-level", "error|warning|notice|info", "the least important of what is logged (info)", func(o *options, v string) error {
		return setLevel(&o.level, v)
	}},
}
