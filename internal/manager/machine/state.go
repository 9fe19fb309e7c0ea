package machine

// state is where a service is. The names, and what becomes of each when its
// time is over, are systemd's (src/core/service.c). What a unit of svcgen's never
// has is left out: ExecStop= and ExecStopPost=, and of ExecStartPost= there is
// only the start of the companion timer, which takes no time.
type state int

const (
	// dead: it is down, and its last end was no failure.
	dead state = iota
	// failed: it is down, and the last run or start was a failure.
	failed
	// startPre: a command of ExecCondition= or ExecStartPre= runs, to each of
	// which TimeoutStartSec= applies anew.
	startPre
	// start: the main process runs, and has not said READY=1.
	start
	// running: it has. The deadline is that of RuntimeMaxSec=.
	running
	// reload: the command of ExecReload= runs.
	reload
	// reloadSignal: the reload signal has been sent, and not been answered.
	reloadSignal
	// reloadNotify: it has said RELOADING=1, and READY=1 is yet to come.
	reloadNotify
	// stopWatchdog: the watchdog's SIGABRT has been sent. The deadline is that
	// of TimeoutAbortSec=; in all states below it is that of TimeoutStopSec=.
	stopWatchdog
	// stopSigterm: KillSignal= has been sent, or it has said STOPPING=1.
	stopSigterm
	// stopSigkill: SIGKILL has been sent to all that there was.
	stopSigkill
	// finalSigterm: the main process has outlived SIGKILL, and is asked again.
	finalSigterm
	// finalSigkill: what the main process has left behind is killed.
	finalSigkill
	// autoRestart: it is down, and waits for its next start. The deadline is
	// the end of that wait.
	autoRestart
	// queued: that wait is over, and the start is a job like any other.
	queued
)

var stateNames = [...]string{
	dead: "dead", failed: "failed", startPre: "start-pre", start: "start", running: "running",
	reload: "reload", reloadSignal: "reload-signal", reloadNotify: "reload-notify",
	stopWatchdog: "stop-watchdog", stopSigterm: "stop-sigterm", stopSigkill: "stop-sigkill",
	finalSigterm: "final-sigterm", finalSigkill: "final-sigkill",
	autoRestart: "auto-restart", queued: "auto-restart-queued",
}

// String is systemd's name for the state.
func (s state) String() string { return stateNames[s] }

// down says whether nothing of the service runs and nothing comes by itself.
func (s state) down() bool { return s == dead || s == failed }

// active says whether the service has said READY=1 and is not on its way out.
func (s state) active() bool { return s == running || s.reloads() }

// reloads says whether a reload is under way.
func (s state) reloads() bool { return s == reload || s == reloadSignal || s == reloadNotify }

// stops says whether the service is on its way out.
func (s state) stops() bool { return s >= stopWatchdog && s <= finalSigkill }
