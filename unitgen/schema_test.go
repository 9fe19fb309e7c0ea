package unitgen

import (
	"strings"
	"testing"
)

// schema are the keys of all mappings of a policy, by the path to them.
func schema() map[string][]string {
	return map[string][]string{
		"":                 policySection.known(),
		"ready.":           readySection.known(),
		"live.":            liveSection.known(),
		"reload.":          reloadSection.known(),
		"restart.":         restartSection.known(),
		"restart.give_up.": giveUpSection.known(),
		"restart.storm.":   stormSection.known(),
		"drain.":           drainSection.known(),
		"install.":         installSection.known(),
		"dirs.":            dirsSection.known(),
		"resources.":       resourcesSection.known(),
		"sockets.":         socketSection.known(),
	}
}

// change is one value of a key: what stands in the policy with it, and without.
type change struct {
	with, without string
}

// plainly is a key that needs nothing beside it.
func plainly(with string) change { return change{with: with} }

// changes has one for each key that holds a value.
var changes = map[string]change{
	"name": {"name: y", "name: x"}, "exec": {"exec: /bin/y", "exec: /bin/x"}, "description": plainly("description: a"),
	"scope": plainly("scope: user"), "target": plainly("target: debian12"), "start_pre": plainly("start_pre: [/bin/y]"),
	"user": plainly("user: a"), "group": plainly("group: a"), "working_dir": plainly("working_dir: /a"),
	"env": plainly("env: {A: b}"), "env_files": plainly("env_files: [/a]"), "credentials": plainly("credentials: {a: /b}"),
	"after": plainly("after: [a.target]"), "wants": plainly("wants: [a.target]"), "requires": plainly("requires: [a.target]"),
	"part_of": plainly("part_of: [a.target]"), "on_give_up": plainly("on_give_up: [a.service]"),
	"on_each_failure": plainly("on_each_failure: [a.service]"), "install.wanted_by": plainly("install: {wanted_by: [a.target]}"),

	"ready.checks": plainly("ready: {checks: [notify]}"), "ready.start_timeout": plainly("ready: {start_timeout: 1s}"),
	"live.checks": plainly("live: {checks: [notify]}"), "live.on_unhealthy": {"live: {checks: [notify], on_unhealthy: abort}", "live: {checks: [notify]}"},
	"watchdog": plainly("watchdog: wrapper"), "early_exit": plainly("early_exit: success"), "success": plainly("success: [3]"),
	"reload.signal": {"reload: {signal: USR1}", "reload: {}"}, "reload.exec": {"reload: {exec: /bin/r}", "reload: {}"},
	"reload.timeout": {"reload: {timeout: 1s}", "reload: {}"},

	"restart.when": plainly("restart: {when: always}"), "restart.base": plainly("restart: {base: 3s}"), "restart.cap": plainly("restart: {cap: 5min}"),
	"restart.factor": plainly("restart: {factor: 3}"), "restart.steps": plainly("restart: {steps: 3}"), "restart.jitter": plainly("restart: {jitter: full}"),
	"restart.stable_after": plainly("restart: {stable_after: 1h}"), "restart.never_on": plainly("restart: {never_on: [78]}"),
	"restart.give_up.starts":  plainly("restart: {give_up: {starts: 5}}"),
	"restart.give_up.within":  {"restart: {give_up: {starts: 5, within: 1h}}", "restart: {give_up: {starts: 5}}"},
	"restart.give_up.after":   plainly("restart: {give_up: {after: 1h}}"),
	"restart.storm.failures":  {"restart: {storm: {failures: 4, half_life: 30s, pause: 60s}}", "restart: {storm: {failures: 5, half_life: 30s, pause: 60s}}"},
	"restart.storm.half_life": {"restart: {storm: {failures: 5, half_life: 40s, pause: 60s}}", "restart: {storm: {failures: 5, half_life: 30s, pause: 60s}}"},
	"restart.storm.pause":     {"restart: {storm: {failures: 5, half_life: 30s, pause: 70s}}", "restart: {storm: {failures: 5, half_life: 30s, pause: 60s}}"},
	"drain.pre_stop":          plainly("drain: {pre_stop: /bin/h}"),
	"drain.pre_stop_timeout":  {"drain: {pre_stop: /bin/h, pre_stop_timeout: 1s}", "drain: {pre_stop: /bin/h}"},
	"drain.delay":             plainly("drain: {delay: 1s}"), "drain.steps": plainly("drain: {steps: [INT@1s]}"),
	"drain.kill_wait": plainly("drain: {kill_wait: 1s}"),

	"runtime_max": plainly("runtime_max: 1d"), "hardening": plainly("hardening: strict"), "extra": plainly("extra: {Service: {Nice: 1}}"),
	"sockets.listen": plainly("sockets: [{listen: 80}]"), "sockets.kind": {"sockets: [{listen: 80, kind: datagram}]", "sockets: [80]"},
	"sockets.name": {"sockets: [{listen: 80, name: a}]", "sockets: [80]"}, "sockets.mode": {"sockets: [{listen: /a, mode: 0600}]", "sockets: [/a]"},
	"sockets.user": {"sockets: [{listen: /a, user: a}]", "sockets: [/a]"}, "sockets.group": {"sockets: [{listen: /a, group: a}]", "sockets: [/a]"},
	"dirs.state": plainly("dirs: {state: [a]}"), "dirs.cache": plainly("dirs: {cache: [a]}"), "dirs.logs": plainly("dirs: {logs: [a]}"),
	"dirs.runtime": plainly("dirs: {runtime: [a]}"), "dirs.config": plainly("dirs: {config: [a]}"),
	"resources.memory_max": plainly("resources: {memory_max: 1G}"), "resources.memory_high": plainly("resources: {memory_high: 1G}"),
	"resources.memory_swap_max": plainly("resources: {memory_swap_max: 0}"), "resources.tasks_max": plainly("resources: {tasks_max: 99}"),
	"resources.cpu_quota": plainly("resources: {cpu_quota: 50%}"), "resources.cpu_weight": plainly("resources: {cpu_weight: 9}"),
	"resources.io_weight": plainly("resources: {io_weight: 9}"), "resources.nofile": plainly("resources: {nofile: 999}"),
}

// TestEveryKeyActs walks the schema: a key that is read and changes nothing is
// a promise that is not kept.
func TestEveryKeyActs(t *testing.T) {
	keys := schema()
	for prefix, names := range keys {
		for _, name := range names {
			path := prefix + name
			if _, inner := keys[path+"."]; inner {
				continue // its own keys are walked
			}
			c, ok := changes[path]
			if !ok {
				t.Errorf("%s: the test has no value for it", path)
				continue
			}
			if with, without := directives(t, c.with), directives(t, c.without); with == without {
				t.Errorf("%s has no effect", path)
			}
		}
	}
}

// directives are all files of a policy without their comments, for its own
// target or debian13.
func directives(t *testing.T, text string) string {
	t.Helper()
	for _, needed := range []string{"name: x", "exec: /bin/x"} {
		if key, _, _ := strings.Cut(needed, ":"); !strings.HasPrefix(text, key+":") {
			text += "\n" + needed
		}
	}
	p := mustRead(t, text+"\n")
	target := p.Target
	if target == "" {
		target = "debian13"
	}
	result, err := Generate(p, profile(t, target), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, file := range result.Files {
		for line := range strings.Lines(file.Name + "\n" + string(file.Text)) {
			if !strings.HasPrefix(line, "#") {
				out.WriteString(line)
			}
		}
	}
	return out.String()
}
