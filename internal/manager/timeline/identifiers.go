package timeline

import (
	"bytes"
	"encoding/json"

	"github.com/svckit/svckit/history"
)

// identifier is a name that is a promise, with what it means.
type identifier struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

// events are the names of all events, in the order of a service's life.
var events = []identifier{
	{string(Starting), "a run begins: its number, and how many automatic restarts there have been"},
	{string(Ready), "the service has said READY=1: how long after the start, and the status text that came with it"},
	{string(Status), "its status text has changed"},
	{string(Output), "a line that it printed, on stdout or stderr"},
	{string(Reloading), "a reload was asked for"},
	{string(Reloaded), "the reload is over; a text says why it failed"},
	{string(Forgotten), "its failures before do not count any more for the delay of a restart"},
	{string(Stopping), "its stop begins: why"},
	{string(Signalled), "the manager has sent it a signal"},
	{string(Ended), "a run is over: cause, result, exit, the last lines, and whether a restart follows"},
	{string(Restarting), "the next run is waited for: how long, and why there is one"},
	{string(GivenUp), "no further start comes by itself: why"},
	{string(Refused), "a start did not happen, for a start limit or a dependency"},
	{string(Finished), "all services are down for good: their sums"},
	{string(Note), "something else that is worth a line"},
}

// meanings are those of the causes.
var meanings = map[history.Cause]string{
	history.Clean:         "the service ended by itself in a way that counts as success",
	history.ExitCode:      "a process of the unit ended with a status that counts as failure",
	history.Signal:        "a signal killed the main process, and nobody had asked for a stop",
	history.CoreDump:      "a signal killed the main process, and it dumped its core",
	history.OOM:           "the kernel or systemd-oomd killed for lack of memory",
	history.Watchdog:      "no heartbeat came in time, and the manager aborted the service",
	history.Unhealthy:     "a live check failed to its threshold, and svcrun drained the service",
	history.StartTimeout:  "the service was not ready in time",
	history.StopTimeout:   "the service did not stop in time, or needed SIGKILL for it",
	history.Protocol:      "the service broke the rules of its type, as when it ends before READY=1",
	history.Exec:          "the command could not be executed, or its surroundings not be set up",
	history.StartLimit:    "the start was refused, as too many had come before it; nothing ran",
	history.StopRequested: "an operator, a dependency or the shutdown asked for the stop",
	history.Dependency:    "the start was refused, as a unit that it needs had failed; nothing ran",
	history.Unknown:       "the run ended, and no record says why",
}

// Identifiers is docs/identifiers.json: every name of a cause and of an event
// that svckit's documents have.
func Identifiers() []byte {
	document := struct {
		Schema int          `json:"schema"`
		Causes []identifier `json:"causes"`
		Events []identifier `json:"events"`
	}{Schema: schema, Events: events}
	for _, cause := range history.Causes() {
		document.Causes = append(document.Causes, identifier{string(cause), meanings[cause]})
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(document) // of strings alone
	return out.Bytes()
}
