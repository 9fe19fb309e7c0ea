package history

import "time"

// Seen is what a manager saw of a run that has ended. A manager that decides
// by itself has it at hand, where svcstat has to gather it from records.
type Seen struct {
	Result string // as Result= has it (systemd.service(5))
	Main   Exit

	// Command is the directive of the process beside the main one that failed,
	// such as ExecStartPre, and Control how it ended.
	Command string
	Control Exit

	Started, Ready, Ended time.Time // Ready is zero where the run never was

	Stopped  bool     // a stop was asked for before the main process ended
	TimedOut TimedOut // the first time limit that was reached
	Watchdog string   // the watchdog's limit, where that was
	Message  string   // why nothing could be executed
	Line     *EndLine // what svcrun printed at its end
}

// TimedOut is a time limit of a service.
type TimedOut int

// The time limits.
const (
	NoTimeout    TimedOut = iota
	StartTimed            // TimeoutStartSec=
	StopTimed             // TimeoutStopSec= or TimeoutAbortSec=
	RuntimeTimed          // RuntimeMaxSec=
)

// Judge names the cause of the end, as a Fold does.
func (s Seen) Judge() End {
	phases := map[TimedOut]phase{StartTimed: phaseStart, StopTimed: phaseStop, RuntimeTimed: phaseRuntime}
	return decide(&evidence{
		result: s.Result, main: s.Main, control: controlExit{s.Command, s.Control},
		started: stamp{time: s.Started}, ready: stamp{time: s.Ready}, mainEnded: stamp{time: s.Ended}, dead: stamp{time: s.Ended},
		startFailed: s.Ready.IsZero(), stopRequested: s.Stopped, stopJob: s.Stopped,
		timeout: phases[s.TimedOut], watchdogLimit: s.Watchdog, spawn: s.Message, endLine: s.Line,
	})
}
