package unitgen

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svckit/svckit/drain"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/watchdog"
)

// full says everything that a policy can say.
const full = `
name: worker
description: 100% of the work
exec: [/opt/gateway/bin/worker, --port, 8080, -v, true, 'a b']
user: gateway
group: 1000
working_dir: /opt/gateway
env: {GATEWAY_ENV: production, EMPTY: "", PORT: 8080}
after: [network-online.target, postgresql@main.service]
ready:
  checks: [http://127.0.0.1:8080/ready, notify]
  start_timeout: 1h 30min
live:
  checks:
    - {http: http://127.0.0.1:8080/live, interval: 5, timeout: 1500ms, failures: 4, on_unhealthy: report, header_file: /etc/w}
    - {exec: [/usr/bin/test, -e, a b], interval: 30s}
    - {notify: true, timeout: 5s}
    - {http: http://127.0.0.1, header: ["Accept: text/html", "X-Probe: svckit"]}
    - tcp:127.0.0.1:8080,successes=2
  on_unhealthy: abort
reload: {signal: USR2, timeout: 2h}
restart:
  when: always
  base: 2s
  cap: 5min
  steps: 7
  jitter: 25%
  stable_after: 5min
  give_up: {starts: 5, within: 1h}
  storm: {failures: 4, half_life: 5min, pause: 1min}
  never_on: [78, USR2]
success: [143, USR1, SIGRTMIN+3]
drain:
  pre_stop: /usr/local/bin/deregister --name "the worker"
  pre_stop_timeout: 3s
  delay: 5s
  steps: ["INT@10s,main", TERM@20s]
  kill_wait: 500ms
early_exit: success
install: {wanted_by: [multi-user.target, app.target]}
target: debian12
`

// ignored leaves out of comparisons what is checked elsewhere.
var ignored = cmpopts.IgnoreUnexported(Policy{})

func mustRead(t *testing.T, text string) Policy {
	t.Helper()
	policies, err := Read("x.yaml", []byte(text))
	if err != nil || len(policies) != 1 {
		t.Fatalf("%d services, %v\nin\n%s", len(policies), err, text)
	}
	return policies[0]
}

func TestEverythingAPolicySaysIsRead(t *testing.T) {
	check := func(s string) watchdog.Check {
		c, err := watchdog.ParseCheck(s)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	want := Policy{
		Name: "worker", Description: "100% of the work",
		Exec: []string{"/opt/gateway/bin/worker", "--port", "8080", "-v", "true", "a b"},
		User: "gateway", Group: "1000", WorkingDir: "/opt/gateway",
		Env:   []Variable{{"GATEWAY_ENV", "production"}, {"EMPTY", ""}, {"PORT", "8080"}},
		After: []string{"network-online.target", "postgresql@main.service"},
		Ready: Ready{
			Checks:       []watchdog.Check{check("http://127.0.0.1:8080/ready"), check("notify")},
			StartTimeout: 90 * time.Minute,
		},
		Live: Live{
			Checks: []watchdog.Check{
				check("http://127.0.0.1:8080/live,interval=5s,timeout=1500ms,failures=4,on-unhealthy=report,header-file=/etc/w"),
				check(`exec:/usr/bin/test -e "a b",interval=30s`),
				check("notify,timeout=5s"),
				check("http://127.0.0.1/,header=Accept: text/html,header=X-Probe: svckit"),
				check("tcp:127.0.0.1:8080,successes=2"),
			},
			OnUnhealthy: watchdog.Abort,
		},
		Scope: ScopeSystem, Watchdog: WatchdogChecks, Hardening: HardeningOff,
		Reload: Reload{Wanted: true, Signal: syntax.SIGUSR2, Timeout: 2 * time.Hour},
		Restart: Restart{
			When: "always", Ladder: policy.Ladder{Base: 2 * time.Second, Cap: 5 * time.Minute, Steps: 7},
			GiveUp: GiveUp{Starts: 5, Within: time.Hour}, Jitter: policy.QuarterJitter, StableAfter: 5 * time.Minute,
			Storm:   policy.Storm{Failures: 4, HalfLife: 5 * time.Minute, Pause: time.Minute},
			NeverOn: Statuses{Codes: []int{78}, Signals: []syntax.Signal{syntax.SIGUSR2}},
		},
		Success: Success{Codes: []int{143}, Signals: []syntax.Signal{syntax.SIGUSR1, 37}},
		Drain: drain.Plan{
			PreStop:        []string{"/usr/local/bin/deregister", "--name", "the worker"},
			PreStopTimeout: 3 * time.Second, Delay: 5 * time.Second, KillWait: 500 * time.Millisecond,
			Steps: []drain.Step{{Signal: syntax.SIGINT, Wait: 10 * time.Second, MainOnly: true}, {Signal: syntax.SIGTERM, Wait: 20 * time.Second}},
		},
		EarlyExit: EarlyExitSuccess, WantedBy: []string{"multi-user.target", "app.target"}, Target: "debian12",
	}
	if diff := cmp.Diff(want, mustRead(t, full), ignored); diff != "" {
		t.Error(diff)
	}
}

func TestDefaultsAreThoseOfTheManual(t *testing.T) {
	want := Policy{
		Name: "web", Exec: []string{"/bin/web"},
		Scope: ScopeSystem, Watchdog: WatchdogChecks, Hardening: HardeningOff,
		Ready:  Ready{StartTimeout: 90 * time.Second},
		Live:   Live{OnUnhealthy: watchdog.Drain},
		Reload: Reload{Signal: syntax.SIGHUP, Timeout: time.Minute},
		Restart: Restart{
			When: "on-failure", Factor: 2000, StableAfter: 10 * time.Minute,
			Ladder: policy.Ladder{Base: time.Second, Cap: time.Minute, Steps: 6},
		},
		Drain: drain.Plan{
			PreStopTimeout: 10 * time.Second, KillWait: 5 * time.Second,
			Steps: []drain.Step{{Signal: syntax.SIGTERM, Wait: 30 * time.Second}},
		},
		EarlyExit: EarlyExitFail, WantedBy: []string{"multi-user.target"},
	}
	if diff := cmp.Diff(want, mustRead(t, "name: web\nexec: /bin/web\n"), ignored); diff != "" {
		t.Error(diff)
	}
	if !want.Restart.GiveUp.Never() {
		t.Error("the default is to give up")
	}
}

func TestWhatMeansTheSameIsReadTheSame(t *testing.T) {
	for name, texts := range map[string][2]string{
		"a command as list or string": {
			"exec: [/bin/a, 'b c', '$d', '']", `exec: /bin/a "b c" '$d' ""`},
		"a command over several lines": {
			"exec: [/bin/a, b, c]", "exec: >\n  /bin/a\n  b c\n"},
		"a check as string or mapping": {
			"exec: /bin/a\nlive: {checks: ['tcp:[::1]:80,interval=5s']}", "exec: /bin/a\nlive: {checks: [{tcp: '[::1]:80', interval: 5}]}"},
		"factor or steps": {
			"exec: /bin/a\nrestart: {base: 1s, cap: 64s, factor: 2}", "exec: /bin/a\nrestart: {base: 1s, cap: 64s, factor: 2.0}"},
		"an alias or the value": {
			"exec: /bin/a\nready: {checks: [notify], start_timeout: 5s}\ndrain: {delay: 5s}",
			"exec: /bin/a\nready: {checks: [notify], start_timeout: &five 5s}\ndrain: {delay: *five}"},
		"never said or not": {
			"exec: /bin/a", "exec: /bin/a\nrestart: {give_up: never}"},
		"CRLF and a byte order mark": {
			"exec: /bin/a", "exec: /bin/a\r\n"},
		"two ways to say http over a socket": {
			"exec: /bin/a\nready: {checks: ['http+unix:/run/a.sock:/healthz']}", "exec: /bin/a\nready: {checks: [{http+unix: '/run/a.sock:/healthz'}]}"},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := mustRead(t, "name: x\n"+texts[0]), mustRead(t, "name: x\n"+texts[1])
			if diff := cmp.Diff(first, second, ignored); diff != "" {
				t.Error(diff)
			}
		})
	}
	if diff := cmp.Diff(mustRead(t, "name: x\nexec: /bin/a\n"), mustRead(t, "\ufeffname: x\nexec: /bin/a\n"), ignored); diff != "" {
		t.Error(diff)
	}
}

// mistakes are policies with what is to be said of them: a list of
// "line:column part", where a part of the message is enough.
var mistakes = []struct {
	name, text string
	want       []string
}{
	{"empty", "", []string{"1:1 the file is empty"}},
	{"only comments", "# a\n\n# b\n", []string{"1:1 the file is empty"}},
	{"an empty document", "---\n", []string{"2:1 the file is empty"}},
	{"null", "~\n", []string{"1:1 the file is empty"}},
	{"a text", "hello\n", []string{"1:1 a policy wants a mapping"}},
	{"a list", "- name: x\n", []string{"1:1 a policy wants a mapping"}},
	{"nothing that is needed", "user: x\n", []string{`1:1 the key "name" is missing`, `1:1 the key "exec" is missing`}},
	{"empty values", "name:\nexec:\n", []string{"1:6 name is empty", "2:6 exec is empty"}},
	{"invalid UTF-8", "name: x\nexec: /bin/\xff\n", []string{"2:12 the file is not valid UTF-8"}},
	{"NUL", "name: x\nexec: /b\x00\n", []string{"2:9 a NUL byte"}},
	{"an escaped NUL", "name: x\nexec: [/bin/a, \"\\0\"]\n", []string{"2:16 exec[1] has a NUL byte"}},
	{"a tab", "name: x\n\texec: /bin/a\n", []string{"2:2 this is not YAML"}},
	{"an open quote", "name: 'x\nexec: /bin/a\n", []string{"2:1 this is not YAML: found unexpected end of stream; a quote is not closed"}},
	{"an open list", "name: x\nexec: [/bin/a\n", []string{"2:1 this is not YAML: did not find expected ',' or ']'; close the list with ]"}},
	{"a colon in a value", "name: x: y\n", []string{`1:1 this is not YAML: mapping values are not allowed in this context; a value with ": "`}},
	{"an unknown anchor", "name: *x\n", []string{"1:1 this is not YAML: unknown anchor 'x' referenced; define it"}},
	{"an empty document after another", "name: x\nexec: /bin/a\n---\n", []string{"4:1 an empty document; remove the line --- before it"}},
	{"a second document without a command", "name: x\nexec: /bin/a\n---\nname: y\n", []string{`4:1 the key "exec" is missing`}},
	{"a broken second document", "name: x\nexec: /bin/a\n---\nname: [\n", []string{"4:1 this is not YAML"}},
	{"a tag", "name: !!str x\nexec: /bin/a\n", []string{"1:7 the tag !!str means nothing"}},
	{"a tag of one's own", "name: !secret x\nexec: /bin/a\n", []string{"1:7 the tag !secret means nothing"}},
	{"a merge key", "name: x\nexec: /bin/a\ndrain: &d {delay: 1s}\nready: {<<: *d}\n", []string{"4:9 merge keys"}},
	{"a mapping as key", "? {a: b}\n: c\nname: x\nexec: /bin/a\n", []string{"1:3 a key is a word; this is a mapping"}},
	{"a key twice, further in", "name: x\nexec: /bin/a\nenv: {A: b, B: c, A: d}\n", []string{`3:19 key "A" stands twice, first in line 3`}},
	{"an alias of itself", "name: x\nexec: &e [*e]\n", []string{"2:11 exec[0] wants text"}},
	{"a policy within itself", "&p {name: x, exec: /bin/a, ready: *p}\n", []string{`unknown key "name" in ready`, `unknown key "exec" in ready`, `unknown key "ready" in ready`}},

	{"a key of another program", "name: x\nexec: /bin/a\nhealthcheck: {}\n", []string{`3:1 unknown key "healthcheck"; known are after, credentials, description`}},
	{"an unknown key in each section", "name: x\nexec: /bin/a\nready: {chekcs: []}\nlive: {check: []}\ndrain: {step: []}\ninstall: {wantedby: []}\nrestart: {give_up: {start: 1}}\n", []string{
		`3:9 unknown key "chekcs" in ready; did you mean checks`, `4:8 unknown key "check" in live; did you mean checks`,
		`5:9 unknown key "step" in drain; did you mean steps`, `6:11 unknown key "wantedby" in install; did you mean wanted_by`,
		`7:21 unknown key "start" in restart.give_up; did you mean starts`}},
	{"an empty storm", "name: x\nexec: /bin/a\nrestart: {storm: {}}\n", []string{
		`3:18 restart.storm: it does not say failures, half_life, pause; write all three, such as {failures: 5, half_life: 30s, pause: 60s}`}},
	{"half a storm", "name: x\nexec: /bin/a\nrestart: {storm: {failures: 1001, pause: 0}}\n", []string{
		"3:29 restart.storm.failures: 1001 is out of range; write 1 to 1000", `3:42 restart.storm.pause: "0" is too short; the least is 1ms`}},
	{"a storm that is a number", "name: x\nexec: /bin/a\nrestart: {storm: 5}\n", []string{"3:18 restart.storm wants a mapping, such as {failures: 5, half_life: 30s, pause: 60s}"}},
	{"a jitter of another size", "name: x\nexec: /bin/a\nrestart: {jitter: 50%}\n", []string{`3:19 restart.jitter: "50%" is no jitter; write none, 25%`}},
	{"a stable time of nothing", "name: x\nexec: /bin/a\nrestart: {stable_after: 0}\n", []string{`3:25 restart.stable_after: "0" is too short`}},
	{"never on what svcrun says", "name: x\nexec: /bin/a\nrestart: {never_on: [69, 70, 256, SIGFOO]}\n", []string{
		"3:22 restart.never_on[0]: with 69 svcrun says that the service was unhealthy or not ready in time; take another code",
		"3:26 restart.never_on[1]: with 70 svcrun says", "3:30 restart.never_on[2]: 256 is no exit code", "3:35 restart.never_on[3]:"}},
	{"what no restart makes pointless", "name: x\nexec: /bin/a\nrestart: {when: no, jitter: full, never_on: [1], stable_after: 1m, storm: {failures: 1, half_life: 1s, pause: 1s}}\n", []string{
		"3:29 restart.jitter has no effect, as restart.when is no", "restart.never_on has no effect", "restart.stable_after has no effect", "restart.storm has no effect"}},

	{"a name with a slash", "name: a/b\nexec: /bin/a\n", []string{`1:7 name: "a/b" cannot name a unit`}},
	{"a name with a blank", "name: a b\nexec: /bin/a\n", []string{`cannot name a unit`}},
	{"a name with a newline", "name: \"a\\n[Service]\"\nexec: /bin/a\n", []string{`cannot name a unit`}},
	{"a name of dots", "name: ..\nexec: /bin/a\n", []string{`1:7 name: ".." begins with "."`}},
	{"a name with a dash first", "name: -a\nexec: /bin/a\n", []string{`begins with "-"`}},
	{"an empty name", "name: ''\nexec: /bin/a\n", []string{"1:7 name is empty"}},
	{"a long name", "name: " + strings.Repeat("a", 248) + "\nexec: /bin/a\n", []string{"1:7 name: with .service the name is longer than 255 bytes"}},
	{"an instance", "name: a@b\nexec: /bin/a\n", []string{`1:7 name: "a@b" is an instance; write a@ for the template, which is started as a@b.service`}},
	{"a name of @", "name: '@'\nexec: /bin/a\n", []string{`1:7 name: "@" begins with "@"`}},
	{"a name that is a list", "name: [a]\nexec: /bin/a\n", []string{"1:7 name wants text, such as worker; this is a list"}},
	{"a description of two lines", "name: a\nexec: /bin/a\ndescription: |\n  one\n  two\n", []string{"3:14 description: the value has a control character"}},
	{"a description that would swallow the next line", "name: a\nexec: /bin/a\ndescription: 'one\\'\n", []string{`3:14 description: the value ends in a \`}},
	{"an account with a blank", "name: a\nexec: /bin/a\nuser: a b\ngroup: ''\n", []string{`3:7 user: "a b" is no name`, `4:8 group: "" is no name`}},
	{"a relative directory", "name: a\nexec: /bin/a\nworking_dir: opt\n", []string{`3:14 working_dir: "opt" is no absolute path`}},
	{"a variable with a dash", "name: a\nexec: /bin/a\nenv: {A-B: c}\n", []string{`3:7 env: "A-B" is no name of a variable`}},
	{"a variable without a value", "name: a\nexec: /bin/a\nenv: {A: }\n", []string{`env.A is empty; write ""`}},
	{"a variable that is a list", "name: a\nexec: /bin/a\nenv: {A: [b]}\n", []string{"3:10 env.A wants text"}},
	{"variables as a list", "name: a\nexec: /bin/a\nenv: [A=b]\n", []string{"3:6 env wants a mapping, such as {LANG: C.UTF-8}; this is a list"}},
	{"after with a comma", "name: a\nexec: /bin/a\nafter: ['a.target,b.target']\n", []string{`3:9 after[0]: "a.target,b.target" is no name of a unit`}},
	{"after a text", "name: a\nexec: /bin/a\nafter: network.target\n", []string{"3:8 after wants a list, such as [network-online.target]; this is the text"}},
	{"after nothing but a suffix", "name: a\nexec: /bin/a\nafter: [.target]\n", []string{"has no type"}},
	{"an unknown target", "name: a\nexec: /bin/a\ntarget: debian31\n", []string{`3:9 target: unknown target "debian31"; did you mean debian11`}},
	{"a target of no version", "name: a\nexec: /bin/a\ntarget: v263\n", []string{`3:9 target: unknown target "v263"; systemd is known from v239 to v262`}},
	{"an unknown early exit", "name: a\nexec: /bin/a\nearly_exit: ok\n", []string{`3:13 early_exit: "ok" is not known; write one of fail, success`}},

	{"an empty command", "name: a\nexec: ''\n", []string{"2:7 exec: empty command"}},
	{"an empty list", "name: a\nexec: []\n", []string{"2:7 exec is an empty list"}},
	{"a mapping", "name: a\nexec: {a: b}\n", []string{"2:7 exec wants a list, such as [/usr/bin/worker, --port, 8080]; this is a mapping"}},
	{"a list in a list", "name: a\nexec: [/bin/a, [b]]\n", []string{"2:16 exec[1] wants text"}},
	{"a null in a list", "name: a\nexec: [/bin/a, ~]\n", []string{"2:16 exec[1] wants text, such as [/usr/bin/worker, --port, 8080]; this is empty"}},
	{"a program without a path", "name: a\nexec: [redis-server]\n", []string{`2:7 exec: relative command path "redis-server"; write the absolute path, such as /usr/bin/redis-server`}},
	{"a program below here", "name: a\nexec: ./bin/a\n", []string{`relative command path "./bin/a"; write the absolute path, such as /usr/bin/a`}},
	{"a prefix of systemd's", "name: a\nexec: -/bin/a\n", []string{`relative command path "-/bin/a"`}},
	{"a directory", "name: a\nexec: /bin/\n", []string{`2:7 exec: "/bin/" is no program`}},
	{"a variable before the command", "name: a\nexec: PORT=80 /bin/a\n", []string{"2:7 exec: PORT= before a command takes a shell to understand; write it under env:"}},
	{"an open quote in a command", "name: a\nexec: /bin/a \"b\n", []string{`exec: the quote " is not closed`}},
	{"an unknown escape", "name: a\nexec: /bin/a \\q\n", []string{`exec: unknown escape \q`}},
	{"a pipe", "name: a\nexec: /bin/a | b\n", []string{"exec: | means something to a shell only"}},
	{"a redirection", "name: a\nexec: /bin/a > b\n", []string{"exec: > means something to a shell only"}},
	{"a background", "name: a\nexec: /bin/a &\n", []string{"exec: & means"}},
	{"two commands", "name: a\nexec: /bin/a; /bin/b\n", []string{"exec: ; means"}},
	{"a variable", "name: a\nexec: /bin/a $HOME\n", []string{"exec: $ means"}},
	{"a variable in double quotes", "name: a\nexec: /bin/a \"x $HOME\"\n", []string{"exec: $ means"}},
	{"a command in backquotes", "name: a\nexec: /bin/a `date`\n", []string{"exec: ` means"}},
	{"a glob", "name: a\nexec: /bin/a *.log\n", []string{"exec: * means"}},
	{"a home", "name: a\nexec: /bin/a ~/x\n", []string{"exec: ~ means"}},

	{"a check that is a number", "name: a\nexec: /bin/a\nready: {checks: [80]}\n", []string{"3:18 ready.checks[0]: a check begins with its kind"}},
	{"a check that is a list", "name: a\nexec: /bin/a\nready: {checks: [[notify]]}\n", []string{"3:18 ready.checks[0] wants text"}},
	{"checks that are a text", "name: a\nexec: /bin/a\nready: {checks: notify}\n", []string{"3:17 ready.checks wants a list"}},
	{"an unknown kind", "name: a\nexec: /bin/a\nready: {checks: ['htpt://x/', {htp: x}]}\n", []string{
		`ready.checks[0]: unknown kind of check "htpt"; did you mean http`, `ready.checks[1]: unknown kind of check "htp"; did you mean http`}},
	{"targets that no check can have", "name: a\nexec: /bin/a\nready: {checks: [{https: x}, {memory: 1GB}, 'grpc:x', {listen: localhost:80}, {file: x}, {fd: 1}]}\n", []string{
		"an https check is written https://", "systemd writes G", "the port is missing; write grpc:", "tables have no names", "a file is an absolute path", "write fd:3"}},
	{"a live check of the start only", "name: a\nexec: /bin/a\nlive: {checks: ['fd:3']}\n", []string{"live.checks: fd:3 tells of the start only; move it to ready.checks"}},
	{"no kind", "name: a\nexec: /bin/a\nready: {checks: [{interval: 5s}]}\n", []string{"3:18 ready.checks[0] does not say what it asks"}},
	{"two kinds", "name: a\nexec: /bin/a\nready: {checks: [{tcp: 'x:1', unix: /x}]}\n", []string{"ready.checks[0]: one check asks one thing; make unix a check of its own"}},
	{"notify with a value", "name: a\nexec: /bin/a\nlive: {checks: [{notify: 5s}]}\n", []string{"live.checks[0].notify takes no value; write notify: true"}},
	{"a foreign option", "name: a\nexec: /bin/a\nlive: {checks: [{tcp: 'x:1', periodSeconds: 5}]}\n", []string{`3:30 live.checks[0]: unknown option "periodSeconds"`}},
	{"an option in the flag's spelling", "name: a\nexec: /bin/a\nlive: {checks: [{tcp: 'x:1', on-unhealthy: drain}]}\n", []string{"3:30 live.checks[0].on-unhealthy: in a policy write on_unhealthy"}},
	{"a wrong option in the policy's spelling", "name: a\nexec: /bin/a\nlive: {checks: [{tcp: 'x:1', on_unhealthy: restart}]}\n", []string{`live.checks[0]: option on_unhealthy: "restart" is not known`}},
	{"an option of http", "name: a\nexec: /bin/a\nlive: {checks: [{tcp: 'x:1', interval: 5s, body: x}]}\n", []string{"3:44 live.checks[0]: option body belongs to http checks"}},
	{"a timeout beyond the interval", "name: a\nexec: /bin/a\nlive: {checks: [{timeout: 5s, tcp: 'x:1', interval: 2s}]}\n", []string{"live.checks[0]: timeout 5s is longer than the interval 2s"}},
	{"a mapping as option", "name: a\nexec: /bin/a\nlive: {checks: [{tcp: 'x:1', interval: {a: b}}]}\n", []string{"live.checks[0].interval wants text"}},
	{"on_unhealthy in a ready check", "name: a\nexec: /bin/a\nready: {checks: ['tcp:x:1,on-unhealthy=drain']}\n", []string{"3:17 ready.checks: on_unhealthy belongs to live checks"}},
	{"a shell in a check", "name: a\nexec: /bin/a\nready: {checks: ['exec:/bin/a | /bin/b', {exec: '/bin/a && /bin/b'}]}\n", []string{
		"ready.checks[0]: | means", "ready.checks[1].exec: & means"}},
	{"a relative command in a check", "name: a\nexec: /bin/a\nready: {checks: ['exec:pgrep x', {exec: [pgrep]}]}\n", []string{
		`ready.checks[0]: the command "pgrep" is no absolute path`, `ready.checks[1].exec: relative command path "pgrep"`}},
	{"too many checks", "name: a\nexec: /bin/a\nready: {checks: [" + strings.Repeat("notify,", 33) + "]}\n", []string{"ready.checks has 33 checks; at most 32"}},
	{"an unknown answer", "name: a\nexec: /bin/a\nlive: {on_unhealthy: kill}\n", []string{`live.on_unhealthy: "kill" is not known; write one of drain, abort, report`}},
	{"a start timeout of nothing", "name: a\nexec: /bin/a\nready: {start_timeout: 0}\n", []string{`ready.start_timeout: "0" is too short; the least is 1ms`}},
	{"a start timeout without end", "name: a\nexec: /bin/a\nready: {start_timeout: infinity}\n", []string{"ready.start_timeout: infinity would wait for ever; write a time span of at most 7d"}},
	{"a start timeout of a year", "name: a\nexec: /bin/a\nready: {start_timeout: 365d}\n", []string{`ready.start_timeout: "365d" is too long; the most is 7d`}},
	{"a duration that is a list", "name: a\nexec: /bin/a\nready: {start_timeout: [1]}\n", []string{"ready.start_timeout wants text, such as 90s; this is a list"}},

	{"restart as a text", "name: a\nexec: /bin/a\nrestart: always\n", []string{"3:10 restart wants a mapping, such as {when: on-failure"}},
	{"an unknown restart", "name: a\nexec: /bin/a\nrestart: {when: on-fail}\n", []string{`restart.when: "on-fail" is not known; did you mean on-failure`}},
	{"a base of nothing", "name: a\nexec: /bin/a\nrestart: {base: 0}\n", []string{`restart.base: "0" is too short`}},
	{"base above the default cap", "name: a\nexec: /bin/a\nrestart: {base: 5m}\n", []string{"3:17 restart.base 5min is above the default cap of 1min; write cap: as well, 5min or more"}},
	{"cap below the default base", "name: a\nexec: /bin/a\nrestart: {cap: 100ms}\n", []string{"3:16 restart.cap 100ms is below the default base of 1s; write base: as well, 100ms or less"}},
	{"a wrong base beside a low cap", "name: a\nexec: /bin/a\nrestart: {base: x, cap: 100ms}\n", []string{"3:17 restart.base: bad duration"}},
	{"factor and steps", "name: a\nexec: /bin/a\nrestart: {factor: 2, steps: 3}\n", []string{"3:29 restart.steps and restart.factor say the same"}},
	{"a factor of one", "name: a\nexec: /bin/a\nrestart: {factor: 1}\n", []string{"restart.factor: factor 1 is out of range"}},
	{"no steps", "name: a\nexec: /bin/a\nrestart: {steps: 0}\n", []string{"restart.steps: 0 is out of range; write 1 to 5000"}},
	{"steps in words", "name: a\nexec: /bin/a\nrestart: {steps: three}\n", []string{`restart.steps: "three" is no whole number`}},
	{"a ladder that is never climbed", "name: a\nexec: /bin/a\nrestart: {when: no, base: 1s, give_up: never}\n", []string{
		"restart.base has no effect, as restart.when is no", "restart.give_up has no effect"}},
	{"give up some day", "name: a\nexec: /bin/a\nrestart: {give_up: sometimes}\n", []string{`3:20 restart.give_up: "sometimes" is not known; write never, {starts: 5, within: 10m}`}},
	{"give up in a list", "name: a\nexec: /bin/a\nrestart: {give_up: [5]}\n", []string{"restart.give_up wants a mapping"}},
	{"give up without saying when", "name: a\nexec: /bin/a\nrestart: {give_up: {within: 5m}}\n", []string{"restart.give_up: it does not say when"}},
	{"give up in two ways", "name: a\nexec: /bin/a\nrestart: {give_up: {starts: 5, after: 5m}}\n", []string{"restart.give_up: after says it all"}},
	{"give up after no start", "name: a\nexec: /bin/a\nrestart: {give_up: {starts: 0}}\n", []string{"restart.give_up.starts: 0 is out of range"}},
	{"a window of nothing", "name: a\nexec: /bin/a\nrestart: {give_up: {starts: 5, within: 0}}\n", []string{"restart.give_up.within: \"0\" is too short"}},

	{"a success that is no code", "name: a\nexec: /bin/a\nsuccess: [256, TRM, 69, '']\n", []string{
		"3:11 success[0]: 256 is no exit code", `success[1]: unknown signal "TRM"; did you mean TERM; or write an exit code`,
		"success[2]: with 69 svcrun says that the service was unhealthy", `success[3]: unknown signal ""`}},
	{"no steps of a drain", "name: a\nexec: /bin/a\ndrain: {steps: []}\n", []string{"3:16 drain.steps is an empty list"}},
	{"a step without a time", "name: a\nexec: /bin/a\ndrain: {steps: [TERM]}\n", []string{`drain.steps[0]: stop step "TERM" has no time`}},
	{"SIGKILL as a step", "name: a\nexec: /bin/a\ndrain: {steps: [TERM@1s, KILL@1s]}\n", []string{"drain.steps[1]:"}},
	{"a comma that YAML takes", "name: a\nexec: /bin/a\ndrain: {steps: [QUIT@25s,main]}\n", []string{`drain.steps[1]: main belongs to the step before it; quote the two`}},
	{"a kill wait that svcrun refuses", "name: a\nexec: /bin/a\ndrain: {kill_wait: 99ms}\n", []string{`drain.kill_wait: "99ms" is too short; the least is 100ms`}},
	{"a timeout of no hook", "name: a\nexec: /bin/a\ndrain: {pre_stop_timeout: 5s}\n", []string{"3:27 drain.pre_stop_timeout has no effect without drain.pre_stop"}},
	{"a relative hook", "name: a\nexec: /bin/a\ndrain: {pre_stop: deregister}\n", []string{`drain.pre_stop: relative command path "deregister"`}},
}

// checkErrors compares errors with "line:column part" or "part" of each.
func checkErrors(t *testing.T, err error, want []string) {
	t.Helper()
	var got Errors
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want Errors", err)
	}
	if len(got) != len(want) {
		t.Errorf("got %d errors, want %d:\n%v", len(got), len(want), got)
		return
	}
	for i, e := range got {
		text := fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Message)
		part := want[i]
		hasPlace := part[0] >= '0' && part[0] <= '9'
		if hasPlace && !strings.HasPrefix(text, part) || !strings.Contains(text, part) {
			t.Errorf("got  %s\nwant %s", text, part)
		}
		if e.File != "x.yaml" || e.Line < 1 || e.Column < 1 || strings.Contains(e.Message, "\n") {
			t.Errorf("%q has no place of its own, or more than a line", e)
		}
	}
}

func TestMistakesAreNamedWithPlaceAndCure(t *testing.T) {
	for _, m := range mistakes {
		t.Run(strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			_, err := Read("x.yaml", []byte(m.text))
			checkErrors(t, err, m.want)
		})
	}
}

func TestEveryKeyIsKnownOrLaterAndNeverEmpty(t *testing.T) {
	for section, keys := range map[string][2][]string{
		"":                 {policySection.known(), policySection.later},
		"ready: ":          {readySection.known(), readySection.later},
		"live: ":           {liveSection.known(), liveSection.later},
		"restart: ":        {restartSection.known(), restartSection.later},
		"reload: ":         {reloadSection.known(), reloadSection.later},
		"drain: ":          {drainSection.known(), drainSection.later},
		"install: ":        {installSection.known(), installSection.later},
		"restart.give_up:": {giveUpSection.known(), giveUpSection.later},
	} {
		if section == "restart.give_up:" {
			continue // read by readGiveUp, with its own errors
		}
		for _, key := range keys[0] {
			if slices.Contains(keys[1], key) {
				t.Errorf("%s%s is known and later", section, key)
			}
			text := key + ": ~"
			if section != "" {
				text = section + "{" + text + "}"
			}
			if _, err := Read("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), key+" is empty") {
				t.Errorf("%s: got %v", text, err)
			}
		}
		for _, key := range keys[1] {
			text := key + ": x"
			if section != "" {
				text = section + "{" + text + "}"
			}
			if _, err := Read("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "this version of svckit does not have") {
				t.Errorf("%s: got %v", text, err)
			}
		}
	}
}
