package e2e

import (
	"syscall"
	"time"

	"github.com/svckit/svckit/policy"
)

const (
	// crash is a run that ends with exit status 3 as soon as it is ready.
	crash = "ready exit=3"
	// serves is one that goes on until it is stopped.
	serves = "ready"
)

// upAndDown are the cues of a scenario that ends with a stop, once the service
// has been ready n times.
func upAndDown(n int) []cue { return []cue{start, ready(n), stop, down} }

// leftDown are the cues of a scenario that ends by itself.
var leftDown = []cue{start, down}

// scenarios are all of them, the longest first.
func scenarios() []scenario {
	all := []scenario{}
	for _, some := range [][]scenario{timeLimits, healths, ladders, ends, stops, reloads, readinesses, surroundings, values()} {
		all = append(all, some...)
	}
	return all
}

// ladders are about when the next start comes, and when no more.
var ladders = []scenario{
	{
		name: "crash-loop", services: one("restart: {base: 200ms, cap: 800ms}", crash, crash, crash, crash, serves),
		cues: upAndDown(5),
	},
	{name: "start-limit", services: one("restart: {base: 200ms, cap: 800ms, give_up: {starts: 4, within: 10m}}", crash), cues: leftDown},
	{
		// Each window is over before it holds a start too many.
		name: "start-limit-missed", services: one("restart: {give_up: {starts: 3, within: 2100ms}}",
			"ready for=800ms exit=3", "ready for=800ms exit=3", "ready for=800ms exit=3", "ready for=800ms exit=3", serves),
		cues: upAndDown(5),
	},
	{name: "clean-loop", services: one("restart: {when: always, base: 200ms, cap: 800ms, give_up: {starts: 4, within: 10m}}", "ready exit=0"), cues: leftDown},
	{name: "storm", services: one("restart: {storm: {failures: 2, half_life: 1h, pause: 1s}, give_up: {starts: 4, within: 10m}}", crash), cues: leftDown},
	{
		name: "stable-reset", services: one("restart: {base: 200ms, cap: 1600ms, stable_after: 1s}",
			"exit=3", "exit=3", "exit=3", "ready for=5s exit=3", "exit=3", serves),
		cues: upAndDown(2),
	},
	{name: "jitter-quarter", services: one("restart: {base: 400ms, cap: 1600ms, jitter: 25%, give_up: {starts: 4, within: 10m}}", crash), cues: leftDown},
	{name: "jitter-full", services: one("restart: {base: 400ms, cap: 1600ms, jitter: full, give_up: {starts: 4, within: 10m}}", crash), cues: leftDown},
	{
		name: "stop-in-hold-off", services: one("restart: {base: 20s, cap: 20s}", crash),
		cues: []cue{start, ended(1), after(300 * time.Millisecond), stop, down},
	},
	{
		// svcrun holds the third start back, as the storm has come.
		name: "stop-in-storm-pause", services: one("restart: {storm: {failures: 2, half_life: 1h, pause: 30s}}", crash),
		cues: []cue{start, started(3), after(time.Second), stop, down},
	},
	{name: "start-again", services: one("restart: {base: 200ms, cap: 800ms}", crash, crash, serves, crash, serves), cues: []cue{start, ready(3), stop, down, start, ready(5), stop, down}},
}

// values are all values of Restart=, each with four ways to end.
func values() []scenario {
	var all []scenario
	for _, value := range policy.RestartValues() {
		with := "restart: {when: " + string(value) + "}"
		all = append(all, scenario{
			name: "restart-" + string(value), cues: []cue{start, settled(2), stop, down},
			services: []service{
				{suffix: "-exit0", policy: with, runs: []string{"ready exit=0", serves}},
				{suffix: "-exit3", policy: with, runs: []string{crash, serves}},
				{suffix: "-kill", policy: with, runs: []string{"ready die=KILL", serves}},
				{suffix: "-term", policy: with, runs: []string{"ready die=TERM", serves}},
			},
		})
	}
	return all
}

// ends are about how runs end by themselves.
var ends = []scenario{
	{
		name: "never-on", cues: []cue{start, settled(2), stop, down},
		services: []service{
			{suffix: "-exit7", policy: "restart: {never_on: [7, USR2]}", runs: []string{"ready exit=7", serves}},
			{suffix: "-usr2", policy: "restart: {never_on: [7, USR2]}", runs: []string{"ready die=USR2", serves}},
			{suffix: "-exit8", policy: "restart: {never_on: [7, USR2]}", runs: []string{"ready exit=8", serves}},
		},
	},
	{
		name: "success", cues: []cue{start, settled(2), stop, down},
		services: []service{
			{suffix: "-exit9", policy: "success: [9, USR1]", runs: []string{"ready exit=9", serves}},
			{suffix: "-usr1", policy: "success: [9, USR1]", runs: []string{"ready die=USR1", serves}},
			{suffix: "-exit10", policy: "success: [9, USR1]", runs: []string{"ready exit=10", serves}},
			{suffix: "-always", policy: "success: [9, USR1]\nrestart: {when: always}", runs: []string{"ready exit=9", serves}},
		},
	},
	{name: "early-exit", services: one("restart: {give_up: {starts: 2, within: 10m}}", "exit=0"), cues: leftDown},
	{name: "early-exit-success", services: one("early_exit: success", "exit=0"), cues: leftDown},
	{name: "early-crash", services: one("restart: {give_up: {starts: 2, within: 10m}}", "exit=3"), cues: leftDown},
	{name: "core-dump", services: one("", "ready core=SEGV", serves), cues: upAndDown(2)},
	{name: "not-executable", services: one("exec: [/nonexistent/program]\nrestart: {give_up: {starts: 2, within: 10m}}"), cues: leftDown},
	{
		name: "start-pre-fails", services: one("start_pre: [[/bin/sh, -c, 'test -e $DIR/allowed']]\nrestart: {base: 5s, cap: 5s}", serves),
		cues: []cue{start, ended(1), touch("allowed"), ready(1), stop, down},
	},
	{
		name: "start-pre-second-fails", cues: leftDown,
		services: one("start_pre: [[/bin/true], [/bin/sh, -c, 'kill $$'], [/bin/touch, $DIR/never]]\nrestart: {give_up: {starts: 2, within: 10m}}", serves),
	},
	{
		// What it leaves behind is gone before it is started again.
		name: "svcrun-killed-leaves", services: one("", "leave ready", "alone ready"),
		cues: []cue{start, ready(1), svcrun(syscall.SIGKILL), ready(2), stop, down},
	},
	{name: "leaves", services: one("drain: {kill_wait: 300ms}", "leave ready exit=3", "alone ready"), cues: upAndDown(2)},
	{name: "stops-by-itself", services: one("restart: {when: always}", "ready say=STOPPING=1 for=300ms exit=0", serves), cues: upAndDown(2)},
	{name: "fails-stopping", services: one("", "ready say=STOPPING=1 for=300ms exit=3", serves), cues: upAndDown(2)},
	{name: "asks-for-abort", services: one(aliveCheck+"}", "touch=alive ready say=WATCHDOG=trigger for=10s", "touch=alive ready"), cues: upAndDown(2)},
	{name: "svcrun-killed", services: one("", serves), cues: []cue{start, ready(1), svcrun(syscall.SIGKILL), ready(2), stop, down}},
	{name: "service-killed", services: one("", serves), cues: []cue{start, ready(1), child(syscall.SIGKILL), ready(2), stop, down}},
	{name: "svcrun-terminated", services: one("restart: {when: always}", serves), cues: []cue{start, ready(1), svcrun(syscall.SIGTERM), ready(2), stop, down}},
}

// aliveCheck fails when the scenario takes the file away.
const aliveCheck = "live: {checks: [{file: $DIR/alive, interval: 300ms, timeout: 300ms, failures: 2}]"

// healths are about services that run but do not serve.
var healths = []scenario{
	{
		name: "hang", services: one("live: {checks: [{http: 'http+unix:$DIR/app.sock:/', interval: 300ms, timeout: 300ms, failures: 2}]}", "answer=app.sock ready"),
		cues: []cue{start, ready(1), touch("hang"), wrote("SIGTERM", 1), remove("hang"), ready(2), stop, down},
	},
	{
		name: "unhealthy", services: one(aliveCheck+"}\nrestart: {when: on-abnormal}", "touch=alive ready"),
		cues: []cue{start, ready(1), remove("alive"), ready(2), stop, down},
	},
	{
		name: "unhealthy-deaf", services: one(aliveCheck+"}\ndrain: {steps: [TERM@400ms], kill_wait: 400ms}", "touch=alive ready deaf", "touch=alive ready"),
		cues: []cue{start, ready(1), remove("alive"), ready(2), stop, down},
	},
	{
		name: "unhealthy-abort", services: one(aliveCheck+", on_unhealthy: abort}\nrestart: {when: on-watchdog}", "touch=alive ready plain", "touch=alive ready"),
		cues: []cue{start, ready(1), made("plain"), remove("alive"), ready(2), stop, down},
	},
	{
		name: "unhealthy-given-up", services: one(aliveCheck+"}\nrestart: {give_up: {starts: 2, within: 10m}}", "ready"), cues: leftDown,
	},
	{
		// No heartbeat comes any more, and the manager wakes svcrun to abort the service.
		name: "svcrun-hangs", services: one(aliveCheck+"}", "touch=alive ready plain", "touch=alive ready"),
		cues: []cue{start, ready(1), made("plain"), svcrun(syscall.SIGSTOP), ready(2), stop, down},
	},
}

// timeLimits are about starts and runs that take too long.
var timeLimits = []scenario{
	{name: "start-timeout", services: one("ready: {start_timeout: 4s}\nrestart: {when: on-abort}", "for=20s", serves), cues: upAndDown(1)},
	{
		name: "never-ready", services: one("ready: {start_timeout: 500ms}\nrestart: {give_up: {starts: 3, within: 10m}}", "for=20s"), cues: leftDown,
	},
	{
		name: "never-ready-deaf", services: one("ready: {start_timeout: 400ms}\nrestart: {give_up: {starts: 2, within: 10m}}\ndrain: {steps: [TERM@300ms], kill_wait: 300ms}", "deaf for=20s"),
		cues: leftDown,
	},
	{
		name: "start-pre-hangs", services: one("ready: {start_timeout: 300ms}\nrestart: {when: no}\ndrain: {steps: [TERM@100ms], kill_wait: 100ms}\nstart_pre: [[/bin/sleep, 60]]", serves),
		cues: leftDown,
	},
	{name: "never-ready-no", services: one("ready: {start_timeout: 500ms}\nrestart: {when: no}", "for=20s"), cues: leftDown},
	{name: "runtime-max", services: one("runtime_max: 1s\nrestart: {give_up: {starts: 2, within: 10m}}", serves), cues: leftDown},
}

// stops are about stops that are asked for.
var stops = []scenario{
	{name: "stop", services: one("", serves), cues: upAndDown(1)},
	{name: "stop-slow", services: one("drain: {steps: [TERM@3s]}", "ready slow=600ms"), cues: upAndDown(1)},
	{name: "stop-in-steps", services: one("drain: {steps: [INT@400ms, HUP@400ms, TERM@10s]}", "deaf ready"), cues: []cue{start, ready(1), stop, wrote("SIGTERM", 1), child(syscall.SIGKILL), down}},
	{name: "stop-drains", services: one("drain: {pre_stop: [/usr/bin/touch, $DIR/deregistered], delay: 500ms}", serves), cues: upAndDown(1)},
	{name: "stop-deaf", services: one("drain: {steps: [TERM@400ms], kill_wait: 400ms}", "deaf ready"), cues: upAndDown(1)},
	{name: "stop-twice", services: one("", "slow=800ms ready"), cues: []cue{start, ready(1), stop, stop, down}},
	{
		name: "stop-hurried", services: one("drain: {steps: [TERM@10s], kill_wait: 500ms}", "deaf ready"),
		cues: []cue{start, ready(1), stop, wrote("SIGTERM", 1), after(1200 * time.Millisecond), svcrun(syscall.SIGTERM), down},
	},
	{
		name: "stop-of-the-unhealthy", services: one(aliveCheck+"}\ndrain: {steps: [TERM@10s]}", "slow=4s touch=alive ready"),
		cues: []cue{start, ready(1), remove("alive"), wrote("SIGTERM", 1), stop, down},
	},
	{
		name: "stop-in-start-pre", services: one("start_pre: [[/bin/sh, -c, 'touch $DIR/waits; exec sleep 60']]", serves),
		cues: []cue{start, made("waits"), stop, down},
	},
	{name: "stop-at-start", services: one("", "for=20s"), cues: []cue{start, wrote("start", 1), stop, down}},
	{name: "stop-of-a-crash", services: one("restart: {when: always}", "deaf ready"), cues: []cue{start, ready(1), stop, wrote("SIGTERM", 1), child(syscall.SIGKILL), down}},
}

// reloads are about reloads.
var reloads = []scenario{
	{name: "reload", services: one("reload: {signal: HUP}", "ready"), cues: []cue{start, ready(1), reload, reloaded(1), reload, reloaded(2), stop, down}},
	{
		name: "reload-in-reload", services: one("reload: {signal: HUP}", "turn=400ms ready"),
		cues: []cue{start, ready(1), reload, wrote("SIGHUP", 1), reload, wrote("SIGHUP", 2), reloaded(1), stop, down},
	},
	{
		name: "reload-hangs", services: one("reload: {signal: HUP, timeout: 500ms}", "turn=20s ready"),
		cues: []cue{start, ready(1), reload, reloaded(1), stop, down},
	},
	{
		name: "reload-command", services: one("reload: {exec: [/usr/bin/touch, $DIR/reloaded]}\nready: {checks: []}", "for=300ms"),
		cues: []cue{start, ready(1), wrote("start", 1), reload, reloaded(1), stop, down},
	},
	{
		name: "reload-at-start", services: one("reload: {signal: HUP}", "until=go ready"),
		cues: []cue{start, wrote("start", 1), reload, after(time.Second), touch("go"), ready(1), after(500 * time.Millisecond), stop, down},
	},
	{
		name: "reload-in-hold-off", services: one("reload: {signal: HUP}\nrestart: {base: 4s, cap: 4s}", crash, serves),
		cues: []cue{start, ended(1), reload, ready(2), stop, down},
	},
	{
		name: "reload-kills", services: one("reload: {signal: HUP}", "ready plain"),
		cues: []cue{start, ready(1), made("plain"), reload, down},
	},
	{
		name: "reload-command-fails", services: one("reload: {exec: [/bin/false]}", serves),
		cues: []cue{start, ready(1), reload, reloaded(1), stop, down},
	},
	{
		name: "reload-by-itself", services: one("", "ready say=RELOADING=1 for=300ms say=READY=1 for=100ms exit=3", serves), cues: []cue{start, ended(1), ready(2), stop, down},
	},
	{name: "crash-in-reload", services: one("reload: {signal: HUP}", "turn=20s ready"), cues: []cue{start, ready(1), reload, wrote("SIGHUP", 1), child(syscall.SIGKILL), ready(2), stop, down}},
}

// readinesses are about when a service is up.
var readinesses = []scenario{
	{
		name: "readiness-flaps", cues: upAndDown(1),
		services: one("ready: {checks: [{exec: [/bin/sh, -c, 'echo >>$DIR/asked; test $(wc -l <$DIR/asked) != 3'], interval: 500ms, timeout: 500ms, successes: 3}]}", "for=20s"),
	},
	{name: "ready-late", services: one("", "for=700ms ready"), cues: upAndDown(1)},
	{name: "ready-at-once", services: one("ready: {checks: []}", "for=20s"), cues: []cue{start, ready(1), wrote("start", 1), stop, down}},
}

// surroundings are about what services have beside them.
var surroundings = []scenario{
	{
		name: "on-each-failure", since: 254, cues: []cue{start, endedOf("-alert", 3), down},
		services: []service{
			{
				suffix: "-worker", policy: "restart: {base: 3s, cap: 3s, give_up: {starts: 2, within: 10m}}\non_each_failure: [$NAME-alert.service]",
				runs: []string{crash},
			},
			{suffix: "-alert", policy: "restart: {when: no}", runs: []string{"ready exit=0"}, hook: true},
		},
	},
	{
		name: "socket", services: one("sockets: [{listen: $DIR/door, name: door}]\nrestart: {base: 600ms, cap: 600ms}", "serve ready"),
		cues: []cue{start, ready(1), child(syscall.SIGKILL), ended(1), connect, answered, ready(2), stop, down},
	},
	{
		name: "after", inOrder: true,
		services: []service{
			{suffix: "-first", policy: "", runs: []string{"for=400ms ready"}},
			{suffix: "-second", policy: "requires: [$NAME-first.service]\nafter: [$NAME-first.service]", runs: []string{serves}},
		},
		cues: []cue{start, readyOf("-second", 1), stop, down},
	},
	{
		name: "requires-failed",
		services: []service{
			{suffix: "-first", policy: "restart: {when: no}", runs: []string{"exit=3"}},
			{suffix: "-second", policy: "requires: [$NAME-first.service]\nafter: [$NAME-first.service]", runs: []string{serves}},
		},
		cues: leftDown,
	},
	{
		// Who needs a service is restarted with it.
		name: "requires-crashed", inOrder: true, cues: []cue{start, readyOf("-second", 1), touch("crash"), readyOf("-second", 2), stop, down},
		services: []service{
			{suffix: "-first", runs: []string{"ready until=crash exit=3", serves}},
			{suffix: "-second", policy: "requires: [$NAME-first.service]\nafter: [$NAME-first.service]", runs: []string{"ready slow=300ms", serves}},
		},
	},
	{
		name: "on-give-up", cues: []cue{start, endedOf("-alert", 1), down},
		services: []service{
			{suffix: "-worker", policy: "restart: {give_up: {starts: 2, within: 10m}}\non_give_up: [$NAME-alert.service]", runs: []string{crash}},
			{suffix: "-alert", policy: "restart: {when: no}", runs: []string{"ready exit=0"}, hook: true},
		},
	},
	{
		name: "part-of-crashed", inOrder: true, cues: []cue{start, readyOf("-second", 1), touch("crash"), readyOf("-second", 2), stop, down},
		services: []service{
			{suffix: "-first", runs: []string{"ready until=crash exit=3", serves}},
			{suffix: "-second", policy: "part_of: [$NAME-first.service]\nafter: [$NAME-first.service]", runs: []string{serves}},
		},
	},
	{
		// The restart of the first does not get to the third by way of the second, which is down.
		name: "restart-stops-short", cues: []cue{start, readyOf("-third", 1), touch("go"), readyOf("-first", 1), after(time.Second), stop, down},
		services: []service{
			{suffix: "-first", runs: []string{"until=go exit=3", serves}},
			{suffix: "-second", policy: "requires: [$NAME-first.service]\nafter: [$NAME-first.service]", runs: []string{serves}},
			{suffix: "-third", policy: "part_of: [$NAME-second.service]", runs: []string{serves}},
		},
	},
	{
		// Who is restarted with another takes along what it needs, which had ended well.
		name: "restart-pulls-in", cues: []cue{start, readyOf("-third", 1), touch("leave"), endedOf("-second", 1), touch("crash"), readyOf("-third", 2), stop, down},
		services: []service{
			{suffix: "-first", runs: []string{"ready until=crash exit=3", serves}},
			{suffix: "-second", runs: []string{"ready until=leave exit=0", serves}},
			{suffix: "-third", policy: "part_of: [$NAME-first.service]\nrequires: [$NAME-second.service]\nafter: [$NAME-second.service]", runs: []string{serves}},
		},
	},
	{
		name: "wants-failed", inOrder: true, cues: []cue{start, readyOf("-second", 1), stop, down},
		services: []service{
			{suffix: "-first", policy: "restart: {when: no}", runs: []string{"for=300ms exit=3"}},
			{suffix: "-second", policy: "wants: [$NAME-first.service]\nafter: [$NAME-first.service]", runs: []string{serves}},
		},
	},
	{
		// The start that was waited for has failed, though the next one does not.
		name: "requires-late", cues: []cue{start, readyOf("-first", 1), stop, down},
		services: []service{
			{suffix: "-first", runs: []string{"exit=3", serves}},
			{suffix: "-second", policy: "requires: [$NAME-first.service]\nafter: [$NAME-first.service]", runs: []string{serves}},
		},
	},
	{
		name: "after-in-a-row", inOrder: true, cues: []cue{start, readyOf("-third", 1), stop, down},
		services: []service{
			{suffix: "-third", policy: "after: [$NAME-second.service]", runs: []string{serves}},
			{suffix: "-first", runs: []string{"for=200ms ready"}},
			{suffix: "-second", policy: "after: [$NAME-first.service]", runs: []string{"for=200ms ready slow=200ms"}},
		},
	},
}
