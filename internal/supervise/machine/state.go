package machine

// State is where the service is in its life.
type State int

const (
	// Delaying: the start is held back (jitter, ladder or storm pause); there
	// is no child yet. Left at its deadline, or by a request to stop.
	Delaying State = iota

	// Starting: the child runs, READY=1 has not gone out. Failures of live
	// checks count for nothing. Left when every ready check holds at once, when
	// the child ends, at the start timeout, or by a request to stop.
	Starting

	// Ready: READY=1 has gone out; heartbeats go out on fresh evidence. Left
	// when the child ends, when a live check is unhealthy, by a request to stop
	// or to reload.
	Ready

	// Reloading: RELOADING=1 has gone out and the matching READY=1 has not.
	// Failures of live checks count for nothing; heartbeats go on. Left when
	// the child says READY=1 or every ready check has passed a fresh probe, and
	// at the latest after the reload timeout.
	Reloading

	// Draining: a stop has begun; the hook runs, then the delay passes, while
	// the service still serves. Left when both are over, when the child ends,
	// or by a second request to stop.
	Draining

	// Stopping: the soft phase. Each step's signal is sent and given its time;
	// a later request to stop goes on to the next step at once. Left when the
	// child ends, or after the last step.
	Stopping

	// Ending: the main process is gone, others in the kill scope are not. They
	// have got the last stop signal. Left when they are gone, or after the kill
	// wait.
	Ending

	// Aborting: the manager's watchdog sent SIGABRT; the child got it too, and
	// may dump its core. Left when the child ends, or after the abort wait.
	Aborting

	// Killing: the hard phase. Everything in the kill scope has got SIGKILL.
	// Left when it is gone, or after the kill wait.
	Killing

	// Done: nothing is left to do but to end as Ending says.
	Done
)

var stateNames = [...]string{
	"delaying", "starting", "ready", "reloading", "draining", "stopping", "ending", "aborting", "killing", "done",
}

// String is the state's name as logs and STATUS= show it.
func (s State) String() string { return stateNames[s] }
