package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/story"
)

// suite is the one whose systemd has all that the story tells of.
const suite = lab.Trixie

// onSystemd tells the story in the lab.
func onSystemd(ctx context.Context, out *output, bin string) error {
	l := lab.New()
	if needs := l.Missing(ctx, suite); len(needs) > 0 {
		return fmt.Errorf("%w; make demo needs no lab", &lab.MissingError{Needs: needs})
	}
	out.say("Booting Debian %s's systemd in namespaces of its own; the first time its root is built, which takes a minute or two.", suite)
	m, err := l.Boot(ctx, suite)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	out.say("systemd %s is up.", m.FullVersion())
	out.began = time.Now()
	s, err := story.Open(ctx, m, story.Options{
		Bin: bin, Policies: []string{"examples", "internal/story/policies"}, Tell: out.line,
	})
	if err != nil {
		return err
	}
	return tell(ctx, out, s)
}

// tell tells every chapter, and the history of all.
func tell(ctx context.Context, out *output, s *story.Stage) error {
	type part func(context.Context, *output, *story.Stage) (*story.Service, error)
	var told []*story.Service
	for _, p := range []part{redis, nginx, stubborn, escape} {
		svc, err := p(ctx, out, s)
		if err != nil {
			return err
		}
		svc.Settle(ctx)
		told = append(told, svc)
	}
	return histories(ctx, out, told)
}

// redis is started, hangs, and crashes to its start limit.
func redis(ctx context.Context, out *output, s *story.Stage) (*story.Service, error) {
	out.chapter("redis-server, which knows nothing of systemd: started by health check")
	svc, err := s.Deploy(ctx, "redis")
	if err != nil {
		return nil, err
	}
	if _, err := svc.Start(ctx); err != nil {
		return nil, err
	}
	svc.Settle(ctx)
	out.chapter("it hangs: the live check notices, svcrun drains it, systemd restarts it")
	if _, err := svc.Hang(ctx); err != nil {
		return nil, err
	}
	svc.Settle(ctx)
	out.chapter("it crashes again and again: the delays are the ladder's, the limit is the policy's")
	_, err = svc.Crash(ctx, story.CrashTimes)
	return svc, err
}

// nginx is stopped while it answers a request.
func nginx(ctx context.Context, out *output, s *story.Stage) (*story.Service, error) {
	out.chapter("nginx: stopped while it answers a request")
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
func stubborn(ctx context.Context, out *output, s *story.Stage) (*story.Service, error) {
	out.chapter("a service that ignores SIGTERM: the stop is bounded all the same")
	return stopped(ctx, s, "stubborn")
}

// escape has children that leave its process group.
func escape(ctx context.Context, out *output, s *story.Stage) (*story.Service, error) {
	out.chapter("a service whose children leave their process group: nothing of it stays")
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
func histories(ctx context.Context, out *output, services []*story.Service) error {
	out.chapter("what svcstat tells of it afterwards")
	for _, svc := range services {
		text, _, err := svc.History(ctx)
		if err != nil {
			return err
		}
		out.say("\n$ svcstat history %s\n%s", svc.Unit, strings.TrimSuffix(text, "\n"))
	}
	return nil
}
