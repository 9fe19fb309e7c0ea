package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// stage is where one scenario is played: a real manager or svcgen run.
type stage interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	Reload(ctx context.Context) error
	// Signal signals a process, by its pid as the services know it.
	Signal(ctx context.Context, pid int, signal syscall.Signal) error
	// Dir is the scenario's directory, as this process reaches it.
	Dir() string
	// Said is what the manager has said of a unit up to now.
	Said(unit string) said
	// Observe is what the manager tells of each unit's past, once all are down.
	Observe(ctx context.Context) (map[string]observation, error)
	// Close ends what has not ended.
	Close()
	// Log is what was said, for whoever has to find out why.
	Log(ctx context.Context) string
}

// said counts what a manager has said of a unit.
type said struct {
	starts, readies, ends, reloads int
	down                           bool // no further start comes by itself
}

// play is a scenario on a stage.
type play struct {
	scenario
	stage
	staged  string // the name that the services have there
	answers chan string
	heard   string // the last answer
	acts    []act
}

// cue is one thing that happens from outside, or that is waited for.
type cue struct {
	name string
	do   func(ctx context.Context, p *play) error
	acts bool // and is not only waited for
}

// act is when something was done from outside: at some moment between the two.
type act struct{ begun, done time.Time }

// cueBound is the longest that is waited for one event.
const cueBound = labtest.Patience

func (p *play) run(ctx context.Context) error {
	for i, c := range p.cues {
		ctx, cancel := context.WithTimeout(ctx, cueBound)
		begun := time.Now()
		err := c.do(ctx, p)
		cancel()
		if c.acts {
			p.acts = append(p.acts, act{begun, time.Now()})
		}
		if err != nil {
			return fmt.Errorf("cue %d, %s: %w", i+1, c.name, err)
		}
	}
	return nil
}

// until waits for a condition.
func until(ctx context.Context, holds func() bool) error {
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		if holds() {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// when waits for what the manager says of the service of that suffix.
func when(name, suffix string, holds func(said) bool) cue {
	return cue{name: name, do: func(ctx context.Context, p *play) error {
		return until(ctx, func() bool { return holds(p.Said(p.staged + suffix + ".service")) })
	}}
}

func ready(n int) cue { return readyOf("", n) }

func readyOf(suffix string, n int) cue {
	return when(fmt.Sprint("ready ", n, suffix), suffix, func(s said) bool { return s.readies >= n })
}

func started(n int) cue {
	return when(fmt.Sprint("started ", n), "", func(s said) bool { return s.starts >= n })
}

func ended(n int) cue { return endedOf("", n) }

func endedOf(suffix string, n int) cue {
	return when(fmt.Sprint("ended ", n, suffix), suffix, func(s said) bool { return s.ends >= n })
}

func reloaded(n int) cue {
	return when(fmt.Sprint("reloaded ", n), "", func(s said) bool { return s.reloads >= n })
}

// settled waits until each service has ended for good, or is ready for the nth time.
func settled(n int) cue {
	return cue{name: fmt.Sprint("settled ", n), do: func(ctx context.Context, p *play) error {
		return until(ctx, func() bool {
			for _, svc := range p.services {
				if s := p.Said(svc.unit(p.staged)); !s.down && s.readies < n {
					return false
				}
			}
			return true
		})
	}}
}

// serving waits until each service has ended for good, or has come to its last
// run, which says so in its record.
var serving = cue{name: "serving", do: func(ctx context.Context, p *play) error {
	return until(ctx, func() bool {
		for _, svc := range p.services {
			lines, _ := readRecord(p.Dir(), svc.record())
			last := len(lines) > 0 && lines[len(lines)-1].word == "serving"
			if !last && !p.Said(svc.unit(p.staged)).down {
				return false
			}
		}
		return true
	})
}}

// down waits until all services have ended for good.
var down = cue{name: "down", do: func(ctx context.Context, p *play) error {
	return until(ctx, func() bool {
		for _, svc := range p.services {
			if !p.Said(svc.unit(p.staged)).down {
				return false
			}
		}
		return true
	})
}}

// acting is a cue that does something.
func acting(name string, do func(ctx context.Context, p *play) error) cue {
	return cue{name, do, true}
}

var (
	start  = acting("start", func(ctx context.Context, p *play) error { return p.Start(ctx) })
	stop   = acting("stop", func(ctx context.Context, p *play) error { return p.Stop(ctx) })
	reload = acting("reload", func(ctx context.Context, p *play) error { return p.Reload(ctx) })
)

// wrote waits until the service has written a word into its record n times.
func wrote(word string, n int) cue {
	return cue{name: fmt.Sprint("wrote ", word, " ", n), do: func(ctx context.Context, p *play) error {
		return until(ctx, func() bool {
			lines, _ := readRecord(p.Dir(), p.services[0].record())
			found := 0
			for _, l := range lines {
				if l.word == word {
					found++
				}
			}
			return found >= n
		})
	}}
}

// child signals the main process of the last run, svcrun's child.
func child(signal syscall.Signal) cue {
	return acting("signal to the service", func(ctx context.Context, p *play) error {
		last, err := p.last()
		if err != nil {
			return err
		}
		return p.Signal(ctx, last.pid, signal)
	})
}

// svcrun signals the svcrun of the last run, the unit's main process.
func svcrun(signal syscall.Signal) cue {
	return acting("signal to svcrun", func(ctx context.Context, p *play) error {
		last, err := p.last()
		if err != nil {
			return err
		}
		return p.Signal(ctx, last.parent, signal)
	})
}

func (p *play) last() (line, error) {
	lines, err := readRecord(p.Dir(), p.services[0].record())
	if err != nil || len(lines) == 0 {
		return line{}, fmt.Errorf("no line in the record: %w", err)
	}
	return lines[len(lines)-1], nil
}

// touch makes a file in the scenario's directory.
func touch(name string) cue {
	return acting("touch "+name, func(_ context.Context, p *play) error {
		return os.WriteFile(filepath.Join(p.Dir(), name), nil, 0o644)
	})
}

func remove(name string) cue {
	return acting("remove "+name, func(_ context.Context, p *play) error { return os.Remove(filepath.Join(p.Dir(), name)) })
}

// made waits for a file in the scenario's directory.
func made(name string) cue {
	return cue{name: "made " + name, do: func(ctx context.Context, p *play) error {
		return until(ctx, func() bool {
			_, err := os.Stat(filepath.Join(p.Dir(), name))
			return err == nil
		})
	}}
}

// after lets some time pass: for what is about time itself.
func after(d time.Duration) cue {
	return cue{name: "after " + d.String(), do: func(ctx context.Context, _ *play) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}}
}

// connect connects to the services' socket, whoever may be there to answer;
// answered waits for the answer.
var (
	connect = cue{name: "connect", do: func(_ context.Context, p *play) error {
		conn, err := net.Dial("unix", filepath.Join(p.Dir(), "door"))
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			answer := make([]byte, 64)
			_ = conn.SetDeadline(time.Now().Add(cueBound))
			n, err := conn.Read(answer)
			if err != nil {
				p.answers <- err.Error()
				return
			}
			p.answers <- strings.TrimSpace(string(answer[:n]))
		}()
		return nil
	}}
	answered = cue{name: "answered", do: func(ctx context.Context, p *play) error {
		select {
		case p.heard = <-p.answers:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}}
)

// line is a line of a service's record.
type line struct {
	at          time.Time
	run         int
	pid, parent int
	word        string
}

func readRecord(dir, name string) ([]line, error) {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var lines []line
	for row := range strings.Lines(string(text)) {
		if !strings.HasSuffix(row, "\n") {
			break // it is being written
		}
		var l line
		var us int64
		if _, err := fmt.Sscan(row, &us, &l.run, &l.pid, &l.parent, &l.word); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, strconv.Quote(row), err)
		}
		l.at = time.UnixMicro(us)
		lines = append(lines, l)
	}
	return lines, nil
}
