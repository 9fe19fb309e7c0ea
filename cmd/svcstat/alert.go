package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/internal/verbs"
)

const (
	hookDir     = "/etc/svckit/alert.d"
	hookTimeout = 30 * time.Second
	alertTail   = 10 // lines of the service's own output

	// explainBound keeps a journal or a bus that hangs from holding the hooks up.
	explainBound = 30 * time.Second
)

func alertCommand(out output) *cli.Command {
	return &cli.Command{
		Name: "alert", Usage: alertUsage, ArgsUsage: "UNIT", Description: alertDescription,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "hooks", Value: hookDir, Usage: hooksUsage},
			&cli.StringFlag{Name: "hook-timeout", Value: hookTimeout.String(), Usage: hookTimeoutUsage},
			&cli.IntFlag{Name: "tail", Value: alertTail, Usage: alertTailUsage},
			&cli.BoolFlag{Name: "user", Usage: userUsage},
			&cli.BoolFlag{Name: "utc", Usage: utcUsage},
		},
		Action: func(c *cli.Context) error { return alert(c, out) },
	}
}

// alert tells the journal of a service that failed, and then every hook. What
// cannot be found out, or written to the journal, keeps no hook from running.
func alert(c *cli.Context, out output) error {
	about, run, err := parseAlert(c, out)
	if err != nil {
		return err
	}
	text, state := about.tell(c.Context, out, zoneOf(c, out))
	unlogged := alertLog{socket: journalSocket, getenv: os.Getenv, fallback: out.stdout}.alert(about, text)
	run.env = append(os.Environ(), monitorVariables(about.unit, state, os.Getenv)...)
	return errors.Join(unlogged, run.all(c.Context, text))
}

func parseAlert(c *cli.Context, out output) (subject, hooks, error) {
	about, err := parseSubject(c)
	if err != nil {
		return about, hooks{}, err
	}
	about.settings = true
	if about.tail, err = parseTail(c); err != nil {
		return about, hooks{}, err
	}
	bound, err := syntax.ParseDuration(c.String("hook-timeout"))
	if err != nil || bound <= 0 {
		return about, hooks{}, verbs.Usagef("flag --hook-timeout: %q is no time that a hook may take; write for example 30s", c.String("hook-timeout"))
	}
	return about, hooks{dir: c.String("hooks"), timeout: bound, stdout: out.stdout, stderr: out.stderr}, nil
}

// tell is the text of an alert: what svcstat why says, and what the run that
// failed said last. The state is nil where D-Bus could not be asked.
func (s subject) tell(ctx context.Context, out output, zone *time.Location) (string, *history.State) {
	ctx, cancel := context.WithTimeout(ctx, explainBound)
	defer cancel()
	syncJournal(ctx)
	rec, err := collect(ctx, s, out)
	if err != nil {
		return cannotTell(s.unit, err), rec.state
	}
	x := rec.explained(out.now(), zone)
	return x.alertText(x.lastLines(ctx, s.tail)), rec.state
}

// syncJournal has the journal take in what the service said just before it failed:
// systemd starts an alert at once. Where it cannot, there is an alert without.
func syncJournal(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, journalBound)
	defer cancel()
	_ = exec.CommandContext(ctx, "journalctl", "--sync").Run()
}

// lastLines are the n lines that the service said last, in whatever run: of one that
// ended at once the journal may not know the run, and with RestartMode=direct it has
// all of a burst under the first one's invocation, as systemd does not tell it of the
// later ones (systemd: src/core/unit.c, unit_export_invocation_id).
func (x explained) lastLines(ctx context.Context, n int) []string {
	if !x.journal {
		return nil
	}
	lines, err := x.source.Tail(ctx, x.query, history.Lines{}, n)
	if err != nil {
		return nil
	}
	return lines
}

// monitorVariables are those that systemd gives to a unit started by OnFailure=,
// from 251 on: systemd.exec(5). Before, and where an alert is raised by hand, they
// are made of what the manager says of the unit.
func monitorVariables(unit string, state *history.State, getenv func(string) string) []string {
	if getenv("MONITOR_UNIT") == unit {
		return nil
	}
	vars := []string{"MONITOR_UNIT=" + unit}
	if state == nil {
		return vars
	}
	vars = append(vars, "MONITOR_SERVICE_RESULT="+state.Result, "MONITOR_INVOCATION_ID="+state.InvocationID)
	if code, ok := state.Exit.Code(); ok {
		vars = append(vars, "MONITOR_EXIT_CODE="+string(state.Exit.Kind), "MONITOR_EXIT_STATUS="+strconv.Itoa(code))
	}
	if signal, ok := state.Exit.Signal(); ok {
		vars = append(vars, "MONITOR_EXIT_CODE="+string(state.Exit.Kind), "MONITOR_EXIT_STATUS="+signal.Name())
	}
	return vars
}
