package bus

import (
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/svckit/svckit/history"
)

// command is one of ExecStart= and the like, with how it last went: an (sasbttttuii).
// Starting the unit resets that, and so does loading it anew.
type command struct {
	argv           []string
	ignored        bool // its failure, by a - before it
	started, ended time.Time
	exit           history.Exit
}

func commands(v dbus.Variant) []command {
	var all []command
	list, _ := v.Value().([][]any)
	for _, fields := range list {
		if len(fields) != 10 {
			continue
		}
		of := func(i int) dbus.Variant { return dbus.MakeVariant(fields[i]) }
		argv, _ := fields[1].([]string)
		all = append(all, command{
			argv: argv, ignored: fields[2] == true, started: timestamp(of(3)), ended: timestamp(of(5)),
			exit: history.Exit{Kind: exitKind(of(8)), Status: int(number(of(9)))},
		})
	}
	return all
}

// failed says whether the command made what it is a part of fail.
func (c command) failed() bool {
	return !c.ignored && c.exit.Kind != history.NoExit && c.exit != history.Exit{Kind: history.Exited}
}

// addCommands takes when the commands of a run were started, and ended.
func addCommands(s *history.State, v dbus.Variant) {
	for _, c := range commands(v) {
		addStart(s, c.started)
		addExit(s, c.ended)
	}
}

// addControls is addCommands for a directive beside ExecStart=.
func addControls(directive string) func(*history.State, dbus.Variant) {
	return func(s *history.State, v dbus.Variant) {
		addCommands(s, v)
		for _, c := range commands(v) {
			if s.Command == "" && c.failed() {
				s.Command, s.Control = directive, c.exit
			}
		}
	}
}

// addStart takes when a process of a run was started.
func addStart(s *history.State, at time.Time) {
	if !at.IsZero() && (s.FirstCommand.IsZero() || at.Before(s.FirstCommand)) {
		s.FirstCommand = at
	}
}

func addExit(s *history.State, at time.Time) {
	if at.After(s.LastExit) {
		s.LastExit = at
	}
}

// setReload takes the result of the last reload; a start resets it.
func setReload(s *history.State, v dbus.Variant) {
	if result := str(v); result != "" && result != "success" {
		s.FailedReload = &history.FailedReload{Result: result}
	}
}

// addReload takes which command of the last reload failed: the newest to have done
// so, as those after it may still tell of a reload before.
func addReload(s *history.State, v dbus.Variant) {
	if s.FailedReload == nil {
		return
	}
	for _, c := range commands(v) {
		if c.failed() && c.ended.After(s.FailedReload.Ended) {
			s.FailedReload.Ended, s.FailedReload.Exit = c.ended, c.exit
		}
	}
}

// svcrun finds svcrun among the commands of ExecStart=.
func svcrun(v dbus.Variant) *history.Svcrun {
	for _, c := range commands(v) {
		if s, ok := history.ParseSvcrun(c.argv); ok {
			return &s
		}
	}
	return nil
}
