package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/unitgen/unit"
)

// What systemd takes where a unit says nothing (systemd.service(5),
// systemd-system.conf(5)).
const (
	defaultTimeout = 90 * time.Second
	defaultRestart = 100 * time.Millisecond
	defaultStarts  = 5
	defaultWithin  = 10 * time.Second
)

// reader reads one unit.
type reader struct {
	set     *set
	names   names
	service *Service

	notifyReload bool
	reloadSignal syntax.Signal

	sockets  []Socket // of a socket unit, and
	socket   Socket   // what is the same for all of them
	socketOf string   // and which service they are for
}

// readService reads a service's own unit.
func (s *set) readService(name string, file *unit.File) (Service, error) {
	r := &reader{set: s, names: namesOf(s.system, name), reloadSignal: syntax.SIGHUP, service: &Service{
		Name:         name,
		Restarts:     policy.Restarts{Rules: policy.Rules{Restart: policy.RestartNo, Systemd: s.target.Systemd}},
		StartTimeout: defaultTimeout, StopTimeout: defaultTimeout,
		StopSignal: syntax.SIGTERM,
	}}
	r.service.Restarts.Ladder.Base = defaultRestart
	r.service.Restarts.Ladder.Cap = syntax.Infinity
	r.service.Restarts.Limit = policy.Limit{Starts: defaultStarts, Within: defaultWithin}
	if err := r.read(file); err != nil {
		return Service{}, err
	}
	if len(r.service.Main.Argv) == 0 {
		return Service{}, fmt.Errorf("%s: no ExecStart=, so that there is nothing to run", name)
	}
	r.complete()
	return *r.service, nil
}

// read takes up every directive of a unit.
func (r *reader) read(file *unit.File) error {
	for _, section := range file.Sections {
		if section.Name == "Install" {
			continue
		}
		for _, line := range section.Lines {
			d, ok := line.(unit.Directive)
			if !ok || strings.HasPrefix(d.Name, "X-") {
				continue
			}
			set, known := directives[section.Name][d.Name]
			if !known {
				r.ignore(d.Name)
				continue
			}
			if set == nil {
				continue
			}
			if err := set(r, d.Value()); err != nil {
				return fmt.Errorf("%s: %s=: %w", r.names.unit, d.Name, err)
			}
		}
	}
	return nil
}

// ignore names something that only systemd can honour.
func (r *reader) ignore(name string) {
	if !slices.Contains(r.service.Ignored, name) {
		r.service.Ignored = append(r.service.Ignored, name)
	}
}

// complete fills in what follows from all that was read (systemd.service(5)).
func (r *reader) complete() {
	s := r.service
	if s.AbortTimeout == 0 {
		s.AbortTimeout = s.StopTimeout
	}
	if r.notifyReload {
		s.Reload.Signal = r.reloadSignal
	}
	if !s.Restarts.Limit.Enabled() {
		s.Restarts.Limit = policy.Never()
	}
	if ladder := &s.Restarts.Ladder; !ladder.Grows() {
		*ladder = policy.Flat(ladder.Base)
	}
	if s.Settle > 0 {
		s.Restarts.Stable = policy.Stable{After: s.Settle, Forget: policy.ResetFailed}
	}
	// Up to 253 OnFailure= is for a failure after which no restart comes.
	s.EachFail = len(s.OnFail) > 0 && !s.Direct && s.Restarts.Rules.Systemd >= 254
}

// command reads a command line.
func (r *reader) command(value string, condition bool) error {
	c, err := r.names.command(value)
	if err != nil {
		return err
	}
	c.Condition = condition
	r.service.Before = append(r.service.Before, c)
	return nil
}

func (r *reader) startPre(value string) error { return r.command(value, false) }

// condition reads ExecCondition=, which only a policy's extra has. All of them
// come before ExecStartPre=, wherever they stand.
func (r *reader) condition(value string) error {
	if _, err := syntax.SplitCommand(value); err != nil {
		return err
	}
	c, err := r.names.command(value)
	if err != nil {
		r.ignore("ExecCondition") // systemd can, and nobody promised that all of it is done here
		return nil
	}
	c.Condition = true
	i := slices.IndexFunc(r.service.Before, func(c Command) bool { return !c.Condition })
	if i < 0 {
		i = len(r.service.Before)
	}
	r.service.Before = slices.Insert(r.service.Before, i, c)
	return nil
}

func (r *reader) start(value string) (err error) {
	if len(r.service.Main.Argv) > 0 {
		return fmt.Errorf("there are two of it, which only Type=oneshot can have")
	}
	r.service.Main, err = r.names.command(value)
	return err
}

func (r *reader) reload(value string) error {
	if r.service.Reload.Command != nil {
		return fmt.Errorf("there are two of it, and svcgen run has one")
	}
	c, err := r.names.command(value)
	r.service.Reload.Command = &c
	return err
}

// startPost takes the start of the companion timer for what it does; nothing
// else is run there.
func (r *reader) startPost(value string) error {
	timer, ok := companionTimer(value)
	if ok {
		name, err := r.names.resolve(timer)
		if err != nil {
			return err
		}
		if file := r.set.file(name); file != nil {
			return settleTime(file, &r.service.Settle)
		}
	}
	r.ignore("ExecStartPost")
	return nil
}
