package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/journal"
	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// The places in a machine.
const (
	guestStages  = "/run/equal"
	guestUnits   = "/run/systemd/system"
	guestService = "/usr/local/bin/equal-service"
	holder       = "equal.target"
)

// The messages by which a manager tells what it does, by their ids
// (systemd: src/systemd/sd-messages.h).
const (
	unitStarting    = "7d4958e842da4a758f6c1cdc7b36dcc5"
	unitStarted     = "39f53479d3a045ac8e11786248231fbf"
	unitReloaded    = "7b05ebc668384222baa8881179cfda54"
	unitFailure     = "d9b373ed55a64feb8242e02dbe79a49c"
	unitSuccess     = "7ad2d189f7e94e70a38c781354912448"
	unitSkipped     = "0e4284a0caca4bfc81c0bb6786972673"
	unitStartFailed = "be02cf6855d2428ba40df7e9d022f03d"
)

// systemd is a machine on which scenarios are played side by side.
type systemd struct {
	m      *lab.Machine
	target string

	mu    sync.Mutex
	units map[string]*unitNow
}

// unitNow is what is known of a unit up to now.
type unitNow struct {
	said
	asked   time.Time // when something was last asked of it
	results []string  // of its ends, as the manager logs them
	refused bool      // what fails next is a start that did not happen
	unsure  bool      // whether it is down
}

func newSystemd(m *lab.Machine, target string) *systemd {
	return &systemd{m: m, target: target, units: map[string]*unitNow{}}
}

// watch follows what the manager says and does until the context ends.
func (s *systemd) watch(ctx context.Context, failed func(error)) error {
	follow := s.m.Command(ctx, "journalctl", "--follow", "--lines=0", "--output=json", "_PID=1", "--output-fields=_PID,_UID,UNIT,MESSAGE,MESSAGE_ID,UNIT_RESULT,JOB_RESULT,_SOURCE_REALTIME_TIMESTAMP")
	out, err := follow.StdoutPipe()
	if err != nil {
		return err
	}
	if err := follow.Start(); err != nil {
		return err
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if entry, err := journal.Decode(lines.Bytes()); err == nil {
				s.heard(entry)
			}
		}
		_ = follow.Wait()
	}()
	go func() {
		for ctx.Err() == nil {
			if err := s.look(ctx); err != nil && ctx.Err() == nil {
				failed(err)
				return
			}
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}()
	return nil
}

// heard takes a line of the manager's.
func (s *systemd) heard(e history.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.units[e.Unit]
	if u == nil {
		return
	}
	u.unsure = true
	if strings.HasSuffix(e.Message, "Start request repeated too quickly.") { // has no id
		u.refused = true
		return
	}
	switch e.MessageID {
	case unitStarting:
		u.starts++
		u.unsure = false
	case unitStarted:
		u.readies++
		u.unsure = false
	case unitReloaded:
		u.reloads++
	case unitFailure, unitSuccess:
		if u.refused {
			u.refused = false
			return
		}
		u.ends++
		result := e.UnitResult
		if e.MessageID == unitSuccess {
			result = "success"
		}
		u.results = append(u.results, result)
	}
}

// look sees which units are down and have nothing before them.
func (s *systemd) look(ctx context.Context) error {
	began, argv := time.Now(), []string{"systemctl", "show", "--property=Id,SubState,Job"}
	s.mu.Lock()
	for unit, u := range s.units {
		if u.unsure && !u.down {
			argv = append(argv, unit)
		}
	}
	s.mu.Unlock()
	if len(argv) == 3 {
		return nil
	}
	out, err := s.m.Output(ctx, argv...)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range blocks(out) {
		if u := s.units[p["Id"]]; u != nil && began.After(u.asked) {
			over := p["SubState"] == "dead" || p["SubState"] == "failed"
			u.down = over && (p["Job"] == "" || p["Job"] == "0")
		}
	}
	return nil
}

// blocks are the properties of several units, as systemctl show prints them.
func blocks(out string) []lab.Properties {
	var all []lab.Properties
	for block := range strings.SplitSeq(out, "\n\n") {
		p := lab.Properties{}
		for row := range strings.Lines(block) {
			key, value, _ := strings.Cut(strings.TrimSpace(row), "=")
			p[key] = value
		}
		all = append(all, p)
	}
	return all
}

// prepare has svcgen write the units of all scenarios, and the manager read them.
func (s *systemd) prepare(ctx context.Context, staged map[string]scenario) (map[string]stage, error) {
	stages := map[string]stage{}
	for name, sc := range staged {
		dir := path.Join(guestStages, name)
		if err := s.m.WriteFile(dir+"/policy.yaml", []byte(sc.file(name, dir, guestService)), 0o644); err != nil {
			return nil, err
		}
		one := &onSystemd{systemd: s, name: name}
		wanted := []string{}
		for _, svc := range sc.services {
			one.units = append(one.units, svc.unit(name))
			s.add(svc.unit(name))
			if !svc.hook {
				wanted = append(wanted, svc.unit(name))
			}
		}
		// All are started and stopped in one go, as by svcgen run.
		text := "[Unit]\nWants=" + strings.Join(wanted, " ") + "\nPropagatesStopTo=" + strings.Join(one.units, " ") + "\n"
		if err := s.m.WriteFile(path.Join(guestUnits, name+".target"), []byte(text), 0o644); err != nil {
			return nil, err
		}
		stages[name] = one
	}
	const generate = `dir=$1 target=$2; shift 2; for name; do svcgen generate --target $target -o $dir /run/equal/$name/policy.yaml || exit; done`
	argv := append([]string{"sh", "-c", generate, "sh", guestUnits, s.target}, slices.Sorted(maps.Keys(staged))...)
	if _, err := s.m.Output(ctx, argv...); err != nil {
		return nil, err
	}
	// A unit that is down and that nobody names is forgotten, with its result.
	text := "[Unit]\nAfter=" + strings.Join(s.known(), " ") + "\n"
	if err := s.m.WriteFile(path.Join(guestUnits, holder), []byte(text), 0o644); err != nil {
		return nil, err
	}
	if err := s.m.Reload(ctx); err != nil {
		return nil, err
	}
	_, err := s.m.Output(ctx, "systemctl", "start", holder)
	return stages, err
}

// add adds a unit that has not been started.
func (s *systemd) add(unit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.units[unit] = &unitNow{said: said{down: true}}
}

// known are all units, those of earlier tries too.
func (s *systemd) known() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.units))
}

// onSystemd is a scenario's stage on a machine.
type onSystemd struct {
	*systemd
	name  string
	units []string
}

func (s *onSystemd) ask(ctx context.Context, verb string, units ...string) error {
	_, err := s.m.Output(ctx, append([]string{"systemctl", "--no-block", verb}, units...)...)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, unit := range s.units {
		s.systemd.units[unit].asked = time.Now()
		s.systemd.units[unit].down, s.systemd.units[unit].unsure = false, true
	}
	return err
}

func (s *onSystemd) Start(ctx context.Context) error { return s.ask(ctx, "start", s.name+".target") }

// Stop stops all in one go; a service that waits for a start that has failed
// already is passed over then, and stopped by its name.
func (s *onSystemd) Stop(ctx context.Context) error {
	return errors.Join(s.ask(ctx, "stop", s.name+".target"), s.ask(ctx, "stop", s.units...))
}

// Reload may be refused, which svcgen run has no way to tell.
func (s *onSystemd) Reload(ctx context.Context) error {
	_, err := s.m.Exec(ctx, append([]string{"systemctl", "--no-block", "reload"}, s.units...)...)
	return err
}

// Close leaves the units to the machine's end, but for what is not down.
func (s *onSystemd) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), cueBound)
	defer cancel()
	for _, unit := range s.units {
		if !s.Said(unit).down {
			_ = s.Stop(ctx)
			_, _ = s.m.Exec(ctx, "systemctl", "kill", "--signal=KILL", unit)
		}
	}
}

func (s *onSystemd) Signal(ctx context.Context, pid int, signal syscall.Signal) error {
	return s.m.Signal(ctx, pid, signal)
}

func (s *onSystemd) Dir() string {
	return path.Join("/proc", strconv.Itoa(s.m.Pid()), "root", guestStages, s.name)
}

func (s *onSystemd) Said(unit string) said {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.systemd.units[unit].said
}

func (s *onSystemd) Log(ctx context.Context) string {
	argv := []string{"journalctl", "--no-pager", "--output=short-precise", "--lines=" + strconv.Itoa(logLines)}
	for _, unit := range s.units {
		argv = append(argv, "--unit="+unit)
	}
	out, err := s.m.Output(ctx, argv...)
	if err != nil {
		return err.Error()
	}
	return out
}

// Observe asks svcstat for the runs, and the manager for the state.
func (s *onSystemd) Observe(ctx context.Context) (map[string]observation, error) {
	const ask = `journalctl --sync && for unit; do svcstat history $unit --json --utc || exit; done`
	histories, err := s.m.Output(ctx, append([]string{"sh", "-c", ask, "sh"}, s.units...)...)
	if err != nil {
		return nil, err
	}
	shown, err := s.m.Output(ctx, append([]string{"systemctl", "show", "--property=Id,ActiveState,ExecMainCode,ExecMainStatus"}, s.units...)...)
	if err != nil {
		return nil, err
	}
	all, read := map[string]observation{}, json.NewDecoder(strings.NewReader(histories))
	for _, show := range blocks(shown) {
		var told struct{ Runs []toldRun }
		if err := read.Decode(&told); err != nil {
			return nil, fmt.Errorf("svcstat history %s: %w", show["Id"], err)
		}
		o := observation{final: show["ActiveState"] + ", " + mainExit(show)}
		for i, r := range told.Runs {
			if i == 0 && r.Start == history.UnknownStart {
				r.Start = history.Requested // of the journal's first nobody knows, but this test
			}
			o.runs = append(o.runs, r.run())
		}
		if err := s.sure(ctx, show["Id"], o); err != nil {
			return nil, err
		}
		all[show["Id"]] = o
	}
	return all, nil
}

// mainExit is how the last main process ended, by the unit's properties.
func mainExit(show lab.Properties) string {
	status, _ := strconv.Atoi(show["ExecMainStatus"])
	exit := policy.Exit{}
	switch show["ExecMainCode"] {
	case "1":
		exit = policy.Exit{How: policy.Exited, Code: status}
	case "2":
		exit = policy.Exit{How: policy.Killed, Signal: syntax.Signal(status)}
	case "3":
		exit = policy.Exit{How: policy.Dumped, Signal: syntax.Signal(status)}
	}
	return exit.String()
}

// sure holds svcstat's word on the ends against the manager's own lines, which
// may be a moment late.
func (s *onSystemd) sure(ctx context.Context, unit string, o observation) error {
	var told, own []string
	for _, r := range o.runs {
		if !r.cause.Refused() {
			told = append(told, r.result)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, cueBound)
	defer cancel()
	err := until(ctx, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		own = slices.Clone(s.systemd.units[unit].results)
		return slices.Equal(own, told)
	})
	if err != nil {
		return fmt.Errorf("%s: svcstat tells of ends with %q, the manager of %q", unit, told, own)
	}
	return nil
}

// toldRun is a run as svcstat prints it.
type toldRun struct {
	Start    history.Start
	Restarts int
	Started  time.Time
	Ready    *time.Time
	Ended    *time.Time
	Cause    history.Cause
	Result   string
	Code     *int    `json:"exit_code"`
	Signal   *string `json:"signal"`
	Dumped   bool    `json:"core_dumped"`
	Detail   map[string]string
}

func (t toldRun) run() run {
	r := run{
		start: t.Start, restarts: t.Restarts, cause: t.Cause, result: t.Result,
		main: exitOf(t.Code, t.Signal, t.Dumped), command: t.Detail["command"], began: t.Started,
	}
	if t.Ready != nil {
		r.ready = *t.Ready
	}
	if t.Ended != nil {
		r.ended = *t.Ended
	}
	return r
}
