package history

import (
	"testing"
	"time"
)

func at(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

func TestStateTellsTheLastEndWhileItCan(t *testing.T) {
	ran := State{LeftInactive: at(0), BecameActive: at(1), BecameInactive: at(9), MainExited: at(8)}
	for _, test := range []struct {
		name   string
		change func(*State)
		want   string // cause and exit, or - where nothing can be told
	}{
		{"a run is on", func(s *State) { s.ActiveState, s.SubState, s.Result = "active", "running", "success" }, "-"},
		{"a start is on", func(s *State) { s.ActiveState, s.SubState, s.Result = "activating", "start", "success" }, "-"},
		{"failed", func(s *State) {
			s.ActiveState, s.Result, s.Exit = "failed", "exit-code", Exit{Exited, 3}
		}, "exit-code exited=3"},
		{"killed", func(s *State) { s.ActiveState, s.Result, s.Exit = "failed", "signal", Exit{Killed, 9} }, "signal killed=9"},
		{"dumped", func(s *State) { s.ActiveState, s.Result, s.Exit = "failed", "core-dump", Exit{Dumped, 11} }, "core-dump dumped=11"},
		{"oom", func(s *State) { s.ActiveState, s.Result, s.Exit = "failed", "oom-kill", Exit{Killed, 9} }, "oom killed=9"},
		{"watchdog", func(s *State) { s.ActiveState, s.Result, s.Exit = "failed", "watchdog", Exit{Dumped, 6} }, "watchdog dumped=6"},
		{"exec", func(s *State) { s.ActiveState, s.Result, s.Exit = "failed", "exit-code", Exit{Exited, 203} }, "exec exited=203"},
		{"a process beside the main one failed", func(s *State) {
			s.ActiveState, s.Result, s.Exit = "failed", "exit-code", Exit{Exited, 0}
		}, "exit-code"},
		{"success may have been a stop", func(s *State) {
			s.ActiveState, s.Result, s.Exit = "inactive", "success", Exit{Exited, 0}
		}, "-"},
		{"success in the hold-off was none", func(s *State) {
			s.ActiveState, s.SubState, s.Result, s.Exit = "activating", "auto-restart", "success", Exit{Exited, 0}
		}, "clean exited=0"},
		{"a timeout may be the start's or the stop's", func(s *State) {
			s.ActiveState, s.Result, s.BecameActive = "failed", "timeout", time.Time{}
		}, "unknown result=timeout"},
		{"a timeout in the hold-off of what never was ready is the start's", func(s *State) {
			s.ActiveState, s.SubState, s.Result, s.BecameActive = "activating", "auto-restart", "timeout", time.Time{}
		}, "start-timeout"},
		{"a timeout in the hold-off of what was ready may be RuntimeMaxSec=", func(s *State) {
			s.ActiveState, s.SubState, s.Result = "activating", "auto-restart", "timeout"
		}, "unknown result=timeout"},
		{"a timeout in the hold-off of what was ready only in the run before is the start's", func(s *State) {
			s.ActiveState, s.SubState, s.Result, s.FirstCommand = "activating", "auto-restart", "timeout", at(5)
		}, "start-timeout"},
		{"it may be where the hold-off came after what was ready", func(s *State) {
			s.ActiveState, s.SubState, s.Result, s.LeftInactive = "activating", "auto-restart", "timeout", at(10)
		}, "unknown result=timeout"},
		{"the start limit", func(s *State) {
			s.ActiveState, s.Result, s.Exit = "failed", "start-limit-hit", Exit{Exited, 3}
		}, "start-limit"},
		{"never started", func(s *State) { *s = State{ActiveState: "inactive", Result: "success"} }, "-"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := ran
			test.change(&s)
			got := "-"
			if end, ok := s.LastEnd(); ok {
				r := tell(Run{End: end, InvocationID: "A", Start: UnknownStart})
				got = r[len("A unknown ") : len(r)-len(" up=0s delay=0s")]
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestARunBeginsWithItsFirstCommand: the hold-off counts as activating, so that
// after it (and since 254 while the next run is on, too) the time when the unit has
// left inactive is that of the hold-off.
func TestARunBeginsWithItsFirstCommand(t *testing.T) {
	waits := State{
		InvocationID: "A", ActiveState: "activating", SubState: "auto-restart", Result: "exit-code", Exit: Exit{Exited, 3},
		FirstCommand: at(0), BecameActive: at(1), MainExited: at(8), LastExit: at(8), BecameInactive: at(9), LeftInactive: at(9),
	}
	refused := waits
	refused.ActiveState, refused.SubState, refused.BecameInactive = "failed", "failed", at(12)
	noMain := refused // a command before the main process has failed
	noMain.Exit, noMain.MainExited, noMain.BecameActive = Exit{}, time.Time{}, time.Time{}
	noMain.Command, noMain.Control = "ExecStartPre", Exit{Exited, 4}
	hidden := noMain // since 260
	hidden.Result = "start-limit-hit"
	again := waits
	again.ActiveState, again.SubState, again.FirstCommand, again.BecameActive = "active", "running", at(11), at(12)
	for _, test := range []struct {
		name  string
		state State
		want  string
	}{
		{"it waits", waits, "A unknown exit-code exited=3 up=7s delay=0s"},
		{"a start after that was refused", refused, "A unknown exit-code exited=3 up=7s delay=0s"},
		{"the same, and there was no main process", noMain, "A unknown exit-code exited=4 command=ExecStartPre up=9s delay=0s"},
		{"the same, and the limit's result hides its own", hidden, "A unknown exit-code exited=4 command=ExecStartPre up=9s delay=0s"},
		{"the next run", again, "A unknown running - up=0s delay=0s"},
	} {
		fold := NewFold(unit)
		fold.AddState(test.state)
		r := fold.Runs()[0]
		if got := tell(r); got != test.want || !r.Started.Equal(test.state.FirstCommand) {
			t.Errorf("%s: %q, started %v; want %q, %v", test.name, got, r.Started, test.want, test.state.FirstCommand)
		}
		test.state.FirstCommand = time.Time{} // the manager has loaded the unit anew since
		fold = NewFold(unit)
		fold.AddState(test.state)
		if r := fold.Runs()[0]; !r.Running && !r.Started.IsZero() {
			t.Errorf("%s: started %v, which nobody knows", test.name, r.Started)
		}
	}
}

// TestSvcrunsRecordTellsTheBeginThatTheManagerHasForgotten: as it does where the
// unit was loaded anew.
func TestSvcrunsRecordTellsTheBeginThatTheManagerHasForgotten(t *testing.T) {
	fold := NewFold(unit)
	fold.AddState(State{
		InvocationID: "A", ActiveState: "activating", SubState: "auto-restart", Result: "exit-code", Exit: Exit{Exited, 3},
		BecameActive: at(1), MainExited: at(8), BecameInactive: at(9), LeftInactive: at(9),
	})
	fold.AddRecords([]Record{recordOf(1, "A", 0, RecordEnd{Cause: ExitCode})})
	if r := fold.Runs()[0]; !r.Started.Equal(at(0)) || !r.Ready.Equal(at(1)) || r.Up != 7*time.Second {
		t.Errorf("%+v", r)
	}
}

func TestNextRestartIsTheEndOfTheHoldOff(t *testing.T) {
	s := State{SubState: "auto-restart", Changed: at(10), RestartDelay: 5 * time.Second}
	if next, ok := s.NextRestart(); !ok || !next.Equal(at(15)) {
		t.Errorf("next restart %v, %v; want %v", next, ok, at(15))
	}
	for _, sub := range []string{"running", "dead", "auto-restart-queued"} {
		s.SubState = sub
		if next, ok := s.NextRestart(); ok {
			t.Errorf("%s: next restart %v", sub, next)
		}
	}
}

func TestUpSinceIsKnownWhileActive(t *testing.T) {
	s := State{ActiveState: "active", BecameActive: at(3)}
	if since, ok := s.UpSince(); !ok || !since.Equal(at(3)) {
		t.Errorf("up since %v, %v", since, ok)
	}
	s.ActiveState = "deactivating"
	if since, ok := s.UpSince(); ok {
		t.Errorf("deactivating is up since %v", since)
	}
}

func TestStateCompletesTheJournal(t *testing.T) {
	running := State{
		InvocationID: "A", ActiveState: "active", SubState: "running", Result: "success", LeftInactive: at(0), BecameActive: at(2),
	}
	failed := State{
		InvocationID: "A", ActiveState: "failed", SubState: "failed", Result: "exit-code", Exit: Exit{Exited, 7},
		LeftInactive: at(0), FirstCommand: at(0), BecameActive: at(2), BecameInactive: at(12), MainExited: at(11),
	}
	stopped := failed
	stopped.ActiveState, stopped.Result, stopped.Exit = "inactive", "success", Exit{Killed, 15}
	idle := State{ActiveState: "inactive", SubState: "dead", Result: "success"}
	for _, test := range []struct {
		name, story string
		state       State
		want        string
	}{
		{"the run that is on", "0s A starting\n2s A started", running, "\nA unknown running - up=0s delay=0s"},
		{"a run that the journal does not know", "0s Z started\n1s Z deactivated", running,
			"\nZ unknown clean up=1s delay=0s\nA unknown running - up=0s delay=0s"},
		{"nothing but the state", "", failed, "\nA unknown exit-code exited=7 up=9s delay=0s"},
		{"a stop or a clean end, nobody knows", "", stopped, "\nA unknown unknown killed=15 up=9s delay=0s"},
		{"an end that the journal does not have", "0s A starting\n2s A started", failed,
			"\nA unknown exit-code exited=7 up=9s delay=0s"},
		{"an end that it has stands", "0s A starting\n2s A started\n8s A exit exited 1\n8s A failed exit-code", failed,
			"\nA unknown exit-code exited=1 up=6s delay=0s"},
		{"a stop that the journal has the begin of", "0s A starting\n2s A started\n8s A stopping", stopped,
			"\nA unknown stop-requested killed=15 up=9s delay=0s"},
		{"a run of before a reboot", "0s Z started", idle, "\nZ unknown unknown up=0s delay=0s"},
		{"a journal that is ahead of the state", "0s A started\n2s A deactivated", running, "\nA unknown clean up=2s delay=0s"},
		{"nothing at all", "", idle, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			fold := NewFold(unit)
			if test.story != "" {
				fold = foldOf(t, test.story)
			}
			fold.AddState(test.state)
			got := ""
			for _, r := range fold.Runs() {
				got += "\n" + tell(r)
			}
			if got != test.want {
				t.Errorf("got%s\nwant%s", got, test.want)
			}
		})
	}
}
