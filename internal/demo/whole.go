package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/story"
)

// suite is the one whose systemd has all that the story tells of.
const suite = lab.Trixie

// whole tells the story in the lab.
func whole(ctx context.Context, l *lab.Lab, bin string) error {
	fmt.Printf("Booting Debian %s's systemd in namespaces of its own; the first time its root is built, which takes a minute or two.\n", suite)
	m, err := l.Boot(ctx, suite)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	fmt.Printf("systemd %s is up.\n", m.FullVersion())
	s, err := story.Open(ctx, m, story.Options{
		Bin: bin, Policies: []string{"examples", "internal/story/policies"}, Tell: newTimeLine().print,
	})
	if err != nil {
		return err
	}
	return tell(ctx, s)
}

// timeLine prints lines with the time since the first one.
type timeLine struct{ began time.Time }

func newTimeLine() *timeLine { return &timeLine{began: time.Now()} }

// cast are those whose lines make the story; what the services log themselves
// would drown it.
var cast = []string{"operator", "client", "systemd", "svcrun", "manager", "manager hears"}

// print prints one line: time, who, what. It is cut where it would fill the
// screen.
func (t *timeLine) print(l story.Line) {
	if !slices.Contains(cast, l.Who) {
		return
	}
	const widest = 130
	what := strings.TrimSpace(l.What)
	if r := []rune(what); len(r) > widest {
		what = string(r[:widest]) + "…"
	}
	fmt.Printf("%8.3fs  %-13s %s\n", l.At.Sub(t.began).Seconds(), l.Who, what)
}

// chapter prints a heading.
func chapter(title string) { fmt.Printf("\n── %s\n", title) }

// tell tells every chapter, and the history of all.
func tell(ctx context.Context, s *story.Stage) error {
	var told []*story.Service
	for _, part := range []func(context.Context, *story.Stage) (*story.Service, error){redis, nginx, stubborn, escape} {
		svc, err := part(ctx, s)
		if err != nil {
			return err
		}
		svc.Settle(ctx)
		told = append(told, svc)
	}
	return histories(ctx, told)
}

// redis is started, hangs, and crashes to its start limit.
func redis(ctx context.Context, s *story.Stage) (*story.Service, error) {
	chapter("redis-server, which knows nothing of systemd: started by health check")
	svc, err := s.Deploy(ctx, "redis")
	if err != nil {
		return nil, err
	}
	if _, err := svc.Start(ctx); err != nil {
		return nil, err
	}
	svc.Settle(ctx)
	chapter("it hangs: the live check notices, svcrun drains it, systemd restarts it")
	if _, err := svc.Hang(ctx); err != nil {
		return nil, err
	}
	svc.Settle(ctx)
	chapter("it crashes again and again: the delays are the ladder's, the limit is the policy's")
	_, err = svc.Crash(ctx, story.CrashTimes)
	return svc, err
}

// nginx is stopped while it answers a request.
func nginx(ctx context.Context, s *story.Stage) (*story.Service, error) {
	chapter("nginx: stopped while it answers a request")
	svc, err := s.DeployNginx(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := svc.Start(ctx); err != nil {
		return nil, err
	}
	_, err = svc.StopInFlight(ctx, story.SlowURL, "nginx: ", story.SlowBytes)
	return svc, err
}

// stubborn ignores SIGTERM.
func stubborn(ctx context.Context, s *story.Stage) (*story.Service, error) {
	chapter("a service that ignores SIGTERM: the stop is bounded all the same")
	return stopped(ctx, s, "stubborn")
}

// escape has children that leave its process group.
func escape(ctx context.Context, s *story.Stage) (*story.Service, error) {
	chapter("a service whose children leave their process group: nothing of it stays")
	return stopped(ctx, s, "escape")
}

// stopped starts a service that does not want to stop, and stops it.
func stopped(ctx context.Context, s *story.Stage, name string) (*story.Service, error) {
	svc, err := s.Deploy(ctx, name)
	if err != nil {
		return nil, err
	}
	if _, err := svc.Start(ctx); err != nil {
		return nil, err
	}
	_, err = svc.Stop(ctx, story.Markers[name])
	return svc, err
}

// histories prints what svcstat tells of each service.
func histories(ctx context.Context, services []*story.Service) error {
	chapter("what svcstat tells of it afterwards")
	for _, svc := range services {
		text, _, err := svc.History(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("\n$ svcstat history %s\n%s", svc.Unit, text)
	}
	return nil
}
