package story

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/svckit/svckit/internal/lab"
)

// Line is one line of the time line.
type Line struct {
	At        time.Time
	Who, What string
}

// Options say where a story finds its things, and who hears it.
type Options struct {
	Bin      string     // directory of the three programs
	Policies []string   // directories of policy files, the first that has a file wins
	Tell     func(Line) // is called from another goroutine, in the order of time
}

// Stage is a machine with svckit installed.
type Stage struct {
	Machine *lab.Machine
	options Options
	teller  *teller
}

// programs are what a package of svckit would install.
var programs = []string{"svcrun", "svcgen", "svcstat"}

// Open installs the programs in a machine, and begins to tell.
func Open(ctx context.Context, m *lab.Machine, o Options) (*Stage, error) {
	for _, p := range programs {
		if err := m.Install(filepath.Join(o.Bin, p), "/usr/bin/"+p, 0o755); err != nil {
			return nil, fmt.Errorf("cannot install %s: %w", p, err)
		}
	}
	return &Stage{Machine: m, options: o, teller: newTeller(ctx, o.Tell)}, nil
}

// Target is the policy target that fits the machine.
func (s *Stage) Target() string {
	if s.Machine.Suite() == lab.Bookworm {
		return "debian12"
	}
	return "debian13"
}

// tell adds a line of the story's own.
func (s *Stage) tell(who, format string, args ...any) {
	s.teller.add(Line{time.Now(), who, fmt.Sprintf(format, args...)})
}

// Service is a unit made from a policy.
type Service struct {
	Unit string // redis.service
	Text string // the unit as svcgen wrote it
	*Stage
	seen atomic.Value // the cursor of the journal's last line that was told
}

// Deploy makes a unit from the policy NAME.yaml and loads it, as an
// administrator would.
func (s *Stage) Deploy(ctx context.Context, name string) (*Service, error) {
	text, err := s.policy(name)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	path := "/root/" + name + ".yaml"
	if err := s.Machine.WriteFile(path, text, 0o644); err != nil {
		return nil, err
	}
	const units = "/etc/systemd/system"
	s.tell("operator", "svcgen generate %s.yaml --target %s -o %s", name, s.Target(), units)
	if _, err := s.Machine.Output(ctx, "svcgen", "generate", path, "--target", s.Target(), "-o", units); err != nil {
		return nil, err
	}
	if err := s.Machine.Reload(ctx); err != nil {
		return nil, err
	}
	unit, err := s.Machine.ReadFile(filepath.Join(units, name+".service"))
	if err != nil {
		return nil, err
	}
	svc := &Service{Unit: name + ".service", Text: string(unit), Stage: s}
	return svc, svc.follow(ctx, began)
}

// policy reads a policy file.
func (s *Stage) policy(name string) ([]byte, error) {
	var failed error
	for _, dir := range s.options.Policies {
		text, err := os.ReadFile(filepath.Join(dir, name+".yaml"))
		if err == nil {
			return text, nil
		}
		failed = err
	}
	return nil, failed
}

// follow tells what the journal says of the service since then, and from now on.
func (svc *Service) follow(ctx context.Context, since time.Time) error {
	cmd := svc.Machine.Command(ctx, "journalctl", "--follow", "--no-tail", fmt.Sprintf("--since=@%d", since.Unix()),
		"--output=json", "--unit="+svc.Unit)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot follow the journal: %w", err)
	}
	go func() {
		for decoder := json.NewDecoder(out); ; {
			var entry journalEntry
			if decoder.Decode(&entry) != nil {
				_ = cmd.Wait()
				return
			}
			svc.teller.add(entry.line())
			svc.seen.Store(entry.Cursor)
		}
	}()
	return nil
}

// Settle waits until all that the journal says of the service has been told,
// for at most two seconds: a chapter ends with its last line.
func (svc *Service) Settle(ctx context.Context) {
	out, err := svc.Machine.Output(ctx, "journalctl", "--lines=1", "--output=json", "--unit="+svc.Unit)
	var last journalEntry
	if err != nil || json.Unmarshal([]byte(out), &last) != nil {
		return
	}
	for range 200 {
		if svc.seen.Load() == last.Cursor || ctx.Err() != nil {
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	svc.teller.flush()
}

// journalEntry is what a time line shows of an entry.
type journalEntry struct {
	Cursor     string `json:"__CURSOR"`
	Realtime   string `json:"__REALTIME_TIMESTAMP"`
	Identifier string `json:"SYSLOG_IDENTIFIER"`
	Message    any    `json:"MESSAGE"`
}

func (e journalEntry) line() Line {
	usec, _ := strconv.ParseInt(e.Realtime, 10, 64)
	line := Line{At: time.UnixMicro(usec), Who: e.Identifier, What: fmt.Sprint(e.Message)}
	if strings.HasPrefix(line.What, "svcrun: ") {
		line.Who, line.What = "svcrun", strings.TrimPrefix(line.What, "svcrun: ")
	}
	return line
}

// systemctl runs a verb on the service, and returns how long it took.
func (svc *Service) systemctl(ctx context.Context, verb string) (time.Duration, error) {
	svc.tell("operator", "systemctl %s %s", verb, svc.Unit)
	began := time.Now()
	_, err := svc.Machine.Output(ctx, "systemctl", verb, svc.Unit)
	took := time.Since(began)
	if err == nil {
		svc.tell("operator", "systemctl %s returned after %s", verb, short(took))
	}
	return took, err
}

// child is the pid of the service's own main process: svcrun's first child.
func (svc *Service) child(ctx context.Context) (int, error) {
	show, err := svc.Machine.Show(ctx, svc.Unit, "MainPID")
	if err != nil {
		return 0, err
	}
	out, err := svc.Machine.Output(ctx, "pgrep", "--oldest", "--parent", show["MainPID"])
	if err != nil {
		return 0, fmt.Errorf("svcrun (pid %s) has no child: %w", show["MainPID"], err)
	}
	return strconv.Atoi(strings.TrimSpace(out))
}

// short is a duration for people.
func short(d time.Duration) string {
	if d >= time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}
