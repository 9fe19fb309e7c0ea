package main

// The names of the contenders that a goal is relative to.
const (
	direct  = "direct"
	cFloor  = "C floor"
	goFloor = "Go floor"
	tini    = "tini"
	s6      = "s6-supervise"
	shell   = "shell loop"
	ours    = "svcrun"
)

// readyGoal is how long after the endpoint's first good answer READY=1 may
// follow, in milliseconds.
const readyGoal = 20

// metric is one row of the table, with a row more for each of its ratios.
type metric struct {
	key     string // of the samples
	name    string
	explain string
	limit   limit // of svcrun's own figure
	ratios  []ratio
}

// ratio puts a row's figures in relation to a reference's.
type ratio struct {
	to    string // the contender
	in    string // the metric that its figure is of; "" is the row's own
	limit limit  // of svcrun's ratio
}

// reference is the metric that the reference's figure is of.
func (r ratio) reference(row metric) string {
	if r.in != "" {
		return r.in
	}
	return row.key
}

// readyMetrics are the rows of the table of readiness.
func readyMetrics() (all []metric) {
	for _, kind := range []string{"http", "tcp", "unix", "file", "exec"} {
		all = append(all, metric{key: "ready." + kind, name: kind, limit: atMost(readyGoal), ratios: []ratio{{to: shell}}})
	}
	return all
}

// wrapperMetrics are the rows of the table of wrappers, and the goals.
func wrapperMetrics() []metric {
	return []metric{
		{
			key: "start", name: "start, ms", ratios: []ratio{{to: tini, limit: atMost(1.55)}},
			explain: "exec of the wrapper → first instruction of its child's main; under direct stands what is the child's own part",
		},
		{
			key: "exit", name: "exit, ms", ratios: []ratio{{to: cFloor, limit: atMost(2.2)}},
			explain: "the child's _exit → the wrapper has been reaped; s6-supervise restarts its child instead",
		},
		{
			key: "stop.forward", name: "TERM to child, ms", ratios: []ratio{{to: cFloor}},
			explain: "SIGTERM to the wrapper → the child has it",
		},
		{
			key: "stop", name: "TERM to end, ms", ratios: []ratio{{to: cFloor, limit: atMost(2.6)}, {to: s6, limit: atMost(0.55)}},
			explain: "SIGTERM to the wrapper → the child has gone and the wrapper has been reaped",
		},
		{
			key: "grace", name: "KILL too late, ms", ratios: []ratio{{to: cFloor, limit: atMost(1.5)}},
			explain: "the same with a child that ignores SIGTERM: what it takes beyond a grace of 300 ms",
		},
		{
			key: "relay", name: "relay, µs", ratios: []ratio{{to: direct}},
			explain: "the child's STATUS= → it has arrived at the manager's socket; systemd-notify is a process for each message",
		},
		{
			key: "relay.cpu", name: "relay, CPU µs", ratios: []ratio{{to: cFloor, limit: atMost(1.35)}},
			explain: "CPU time per message of the wrapper, or of the whole systemd-notify",
		},
		{
			key: "memory.one", name: "memory, KiB", ratios: []ratio{{to: goFloor}},
			explain: "of a single wrapper at rest, without its child: proportional set size, page tables, kernel stacks",
		},
		{
			key: "memory.many", name: "each of many, KiB", ratios: []ratio{{to: goFloor}},
			explain: "the same per wrapper while many run (-many): they share their program's text",
		},
		{
			key: "memory.check", name: "each with check, KiB", limit: atMost(1050), ratios: []ratio{{to: goFloor, in: "memory.many"}},
			explain: "the same with one http live check every 10 s, probed already; the Go floor has none",
		},
		{
			key: "idle", name: "idle switches", limit: atMost(0),
			explain: "context switches of all threads while a wrapper without checks is left alone (-idle)",
		},
		{key: "idle.heartbeat", name: "switches a heartbeat", limit: atMost(1.1), explain: "context switches for each WATCHDOG=1, with a live check that is not due"},
		{key: "idle.probe", name: "switches a probe", limit: atMost(15), explain: "context switches for each probe of an http live check"},
	}
}
