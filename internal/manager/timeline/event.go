package timeline

import (
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/policy"
)

// Name is what happened.
type Name string

// The events of a service, in the order of its life.
const (
	Starting   Name = "starting"   // a run begins: Run, Restarts
	Ready      Name = "ready"      // READY=1: After, and Text where a status came with it
	Status     Name = "status"     // STATUS= has changed without one of the above: Text
	Output     Name = "output"     // a line of its own: Text, Stream
	Reloading  Name = "reloading"  // a reload was asked for
	Reloaded   Name = "reloaded"   // and is over: After, and Text where it failed
	Forgotten  Name = "forgotten"  // its failures before do not count any more: Text says why
	Stopping   Name = "stopping"   // its stop begins: Text says why
	Signalled  Name = "signalled"  // the manager signalled it: Signal
	Ended      Name = "ended"      // a run is over: End, After
	Restarting Name = "restarting" // the next run is waited for: Delay, Restarts, Text says why
	GivenUp    Name = "given-up"   // no further start comes by itself: Text says why
	Refused    Name = "refused"    // a start did not happen, as of a start limit or a dependency: Text says why
	Finished   Name = "finished"   // all services are down for good
	Note       Name = "note"       // something else that is worth a line: Text
)

// Event is something that happened to a service.
type Event struct {
	Time     time.Time
	Unit     string // worker.service; empty for all of them
	Name     Name
	Run      int           // the run that it is about, from 1
	Restarts int           // automatic restarts so far, as NRestarts= counts them
	PID      int           // of the main process, while there is one
	After    time.Duration // since the run began; of Reloaded, since the reload did
	Delay    time.Duration // until the next start
	Signal   string        // SIGTERM
	Stream   string        // stdout or stderr
	Text     string
	End      *End
}

// End is how a run ended.
type End struct {
	Cause   history.Cause
	Result  policy.Result
	Exit    policy.Exit
	Detail  []history.Field // what svcrun said of it
	Restart bool            // the manager starts it again
	Why     string          // it does or does not
	Tail    []string        // the last lines of the run
}
