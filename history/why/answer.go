package why

import (
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/policy"
)

// Standing is what a service does now. The names are a promise to scripts.
type Standing string

// The standings.
const (
	Up        Standing = "up"
	Starting  Standing = "starting"
	Stopping  Standing = "stopping"
	Waiting   Standing = "waiting"  // for its automatic restart
	Stranded  Standing = "stranded" // or so the manager says, but the restart's job is gone
	Queued    Standing = "queued"   // down, and a job is under way
	Down      Standing = "down"     // without a failure
	Failed    Standing = "failed"
	Never     Standing = "never"     // down, and no run is on record
	Unusable  Standing = "unusable"  // masked, or its file is refused or gone
	Uncertain Standing = "uncertain" // the manager could not be asked
)

// IsDown says whether nothing runs and nothing is about to.
func (s Standing) IsDown() bool {
	switch s {
	case Down, Failed, Never, Unusable, Stranded:
		return true
	default:
		return false
	}
}

// Reason is why no restart came. The names are a promise to scripts.
type Reason string

// The reasons. The empty one means that there is nothing to explain.
const (
	ByStop        Reason = "stop-requested"      // before the end
	ByStopWaiting Reason = "stop-in-hold-off"    // or just before it: while the service ended
	ByPrevent     Reason = "prevent-exit-status" // RestartPreventExitStatus=
	BySetting     Reason = "restart-setting"     // Restart= does not cover the end
	ByRemain      Reason = "remain-after-exit"
	ByForce       Reason = "force-exit-status" // a oneshot that has succeeded
	ByStartLimit  Reason = "start-limit"
	ByDependency  Reason = "dependency" // the next start was refused
	ByCondition   Reason = "condition"  // the next start was skipped
	NotSince      Reason = "not-started-since"
	Unknown       Reason = "unknown"
)

// Step is something to do about it.
type Step string

// The steps.
const (
	ReadLog       Step = "read-log" // of the run that failed first
	DaemonReload  Step = "daemon-reload"
	ResetFailed   Step = "reset-failed"
	ForgetSvcrun  Step = "forget"
	Start         Step = "start"
	ReloadAgain   Step = "reload"
	RestartNow    Step = "restart" // in the hold-off of a manager that does not hurry for a start
	ListFailed    Step = "list-failed"
	ListJobs      Step = "list-jobs"
	ReadStatus    Step = "read-status"
	Unmask        Step = "unmask"
	ReadCondition Step = "read-condition"
)

// Answer is the explanation of a service.
type Answer struct {
	Standing Standing
	Last     *history.Run // the last that ran, or runs; nil for none on record
	Before   *history.Run // while Last is on: the one before it; nil for none on record
	First    *history.Run // the first failure of the burst that Last, or Before, is of; nil where it is that one itself
	Refused  *history.Run // a start after Last that was refused

	Reason Reason
	Clause string         // the rule that decided, as in "Restart=no, result exit-code"
	Would  policy.Restart // with BySetting: the Restart= that covers the end, "" for none
	Unmet  *Condition     // with ByCondition
	Open   []Reason       // with Unknown: what would explain it

	// Forgotten, with ByStartLimit: the manager has since forgotten all starts, as it
	// has loaded its units anew, or with Reset as it was told to forget the failure.
	Forgotten, Reset bool

	FailedReload *history.FailedReload // with Up: the last one, where it failed

	Window *Window   // the start limit's, where there is one and a start is known
	Next   time.Time // when the hold-off ends; zero where none is on, or it is for ever
	// NextRefused: at Next the window has no start left. NextDoubtful: or it has, as
	// something that leaves no record may have emptied it.
	NextRefused, NextDoubtful bool
	// Outlook, with Waiting: what becomes of it if all runs go like Last; nil
	// where that cannot be told.
	Outlook *policy.Outlook
	Steps   []Step
}

// Window is how far the start limit is used, by the runs on record.
type Window struct {
	Used      int       // starts in it
	Automatic int       // of these, by Restart=
	Until     time.Time // zero for one that never ends
	Hit       bool      // a start was refused for it

	// Sure: it is that one. Else a reset-failed, which leaves no record, may have
	// emptied it, or starts are not on record: then Used is the most that it can be
	// by those that are, and Until the latest.
	Sure bool
}
