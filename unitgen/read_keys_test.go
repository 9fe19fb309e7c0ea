package unitgen

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keyMistakes are mistakes in a key's value, each in the third line of a
// policy; see mistakes.
var keyMistakes = []struct {
	name, line string
	want       []string
}{
	{"a prefix of systemd's", "start_pre: [-/bin/a]", []string{`3:13 start_pre[0]: relative command path "-/bin/a"`}},
	{"one command as a list of words", "start_pre: [/bin/a, --all]", []string{`3:21 start_pre[1]: relative command path "--all"`}},
	{"a relative file of variables", "env_files: [-a.env, '']", []string{`3:13 env_files[0]: "-a.env" is no absolute path`, "3:21 env_files[1]: the value is empty"}},
	{"a credential's name", "credentials: {a/b: /c, svckit.x: /d}", []string{
		`3:15 credentials: "a/b" is no name of a credential`, "3:24 credentials: names that begin with svckit. are svckit's own"}},
	{"a credential without a place", "credentials: {a: b}", []string{`3:18 credentials.a: "b" is no absolute path`}},
	{"a credential that is none", "ready: {checks: [{http: http://x/, header_file: '%d/a'}]}", []string{
		"3:17 ready.checks: header_file: %d/a is no credential of the service; write credentials: {a: /etc/credstore/a}"}},

	{"a template without instance", "wants: [a@.service, a@%i.service, '%H.service']", []string{
		`3:9 wants[0]: "a@.service" is a template without instance; write a@INSTANCE.service`,
		`3:21 wants[1]: "a@%i.service" has the instance in it, and the service is no template`,
		`3:35 wants[2]: "%H.service" has a % that is none of %n, %N`}},
	{"two ways to be told", "on_give_up: [a.service]\non_each_failure: [a.service]", []string{
		"4:18 on_each_failure is told of the last failure as well; remove on_give_up, or this"}},

	{"no heartbeat to decide on", "live: {on_unhealthy: abort}", []string{"3:22 live.on_unhealthy has no effect without live.checks"}},
	{"heartbeats anyway", "live: {checks: [notify]}\nwatchdog: wrapper", []string{"4:11 watchdog: wrapper has no effect beside live.checks"}},
	{"an unknown watchdog", "watchdog: on", []string{`3:11 watchdog: "on" is not known; write one of checks, wrapper`}},
	{"an unknown level", "hardening: stict", []string{`3:12 hardening: "stict" is not known; did you mean strict`}},
	{"a run of nothing", "runtime_max: 0", []string{`3:14 runtime_max: "0" is too short; the least is 1s`}},

	{"a start timeout below nothing", "ready: {start_timeout: -5s}", []string{"3:24 ready.start_timeout: "}},
	{"a start timeout beyond counting", "ready: {start_timeout: 99999999999999999999h}", []string{"3:24 ready.start_timeout: "}},
	{"a run beyond counting", "runtime_max: 99999999999y", []string{"3:14 runtime_max: "}},
	{"no steps, and ten thousand", "restart: {steps: 10000}", []string{"3:18 restart.steps: 10000 is out of range; write 1 to 5000"}},
	{"memory below nothing", "resources: {memory_max: -1}", []string{"3:25 resources.memory_max: "}},
	{"memory beyond counting", "resources: {memory_max: 99999999999999999999E}", []string{"3:25 resources.memory_max: "}},
	{"a NUL in an argument", "start_pre: [[/bin/a, \"b\\0c\"]]", []string{"3:22 start_pre[0][1] has a NUL byte"}},
	{"sockets as a mapping", "sockets: {listen: 80}", []string{"3:10 sockets wants a list, such as [{listen: 127.0.0.1:8080, name: http}]; this is a mapping"}},
	{"a socket with a host's name", "sockets: ['localhost:80', ':80', '::1:80', '1.2.3.4', 0, 65536, '[::1]:x', 'x']", []string{
		`3:11 sockets[0]: "localhost:80" has a name where systemd wants an address; write 127.0.0.1:80 or [::1]:80`,
		`sockets[1]: ":80" has no address; write 80 alone for all addresses`,
		`sockets[2]: "::1:80" has a name where systemd wants an address`,
		`sockets[3]: "1.2.3.4" has no port`, `sockets[4]: "0" has no port`, `sockets[5]: "65536" has no port`,
		`sockets[6]: "[::1]:x" has no port`, `sockets[7]: "x" has no port`}},
	{"a socket nowhere", "sockets: [{name: a}]", []string{"3:11 sockets[0] does not say where it listens"}},
	{"a socket twice", "sockets: [80, {listen: 80, name: a}, {listen: 80, kind: datagram}]", []string{`3:10 sockets[1]: "80" stands twice`}},
	{"a mode of no file", "sockets: [{listen: 80, mode: 0600}]", []string{`sockets[0]: mode, user and group are those of a socket's file, and "80" is none`}},
	{"a mode that is none", "sockets: [{listen: /a, mode: 999}]", []string{`sockets[0].mode: "999" is no access mode; write it in octal`}},
	{"packets on a port", "sockets: [{listen: 80, kind: seqpacket}]", []string{"seqpacket is a kind of Unix sockets"}},
	{"a long path", "sockets: ['/" + strings.Repeat("a", 107) + "', '/']", []string{"is no address of a Unix socket", `"/" is no address`}},
	{"a name of a socket", "sockets: [{listen: 80, name: a:b}]", []string{`sockets[0].name: "a:b" is no name of a socket`}},

	{"directories", "dirs: {state: [/var/lib/a, ../a, a//b, svckit/x, 'a b', 'a:b', b, b]}", []string{
		`3:16 dirs.state[0]: "/var/lib/a" is absolute`, `dirs.state[1]: "../a" is no name of a directory`, `dirs.state[2]: "a//b" is no name`,
		`dirs.state[3]: svckit is where svcrun has its own directories`, `dirs.state[4]: "a b" is no name`, `dirs.state[5]: "a:b" is no name`,
		`dirs.state[7]: "b" stands twice`}},

	{"limits of memory", "resources: {memory_max: 1GB, memory_high: 101%, memory_swap_max: much}", []string{
		`3:25 resources.memory_max: `, "3:43 resources.memory_high: 101% is more memory than there is", "3:66 resources.memory_swap_max: "}},
	{"a limit that is never reached", "resources: {memory_max: 1G, memory_high: 1024M}", []string{"3:42 resources.memory_high 1024M is never reached: at memory_max 1G a process is killed"}},
	{"limits of tasks", "resources: {tasks_max: 8}", []string{"resources.tasks_max: 8 is too low"}},
	{"no limit of tasks", "resources: {tasks_max: infinity}", []string{"resources.tasks_max: without a limit a service that forks without end cannot be stopped"}},
	{"shares", "resources: {cpu_quota: 50, cpu_weight: 0, io_weight: 10001}", []string{
		`resources.cpu_quota: "50" is no share of a processor`, `resources.cpu_weight: "0" is no weight`, `resources.io_weight: "10001" is no weight`}},
	{"no share", "resources: {cpu_quota: 0%}", []string{`resources.cpu_quota: "0%" is no share`}},
	{"files", "resources: {nofile: 64k}", []string{`resources.nofile: "64k" is no number of open files`}},
	{"few files", "resources: {nofile: 10:20}", []string{"resources.nofile: 10 is too low"}},
	{"files the wrong way round", "resources: {nofile: infinity:1024}", []string{"resources.nofile: the soft limit infinity is above the hard limit 1024"}},

	{"a directive that has a key", "extra: {Service: {RestartSec: 5}, Unit: {After: a.target}}", []string{
		"3:19 extra.Service: svcgen writes RestartSec= by itself; write restart: {base: ..., cap: ...}",
		"3:42 extra.Unit: svcgen writes After= by itself; write after:"}},
	{"a directive that svcrun lives by", "extra: {Service: {KillMode: process}}", []string{"svcgen writes KillMode= by itself; svcrun depends on it, so leave it out"}},
	{"no way to systemd", "extra: {Service: {RestrictAddressFamilies: [AF_INET, AF_INET6]}}", []string{
		"3:45 extra.Service.RestrictAddressFamilies: svcrun speaks to systemd by AF_UNIX; let it be among them"}},
	{"no way to systemd, put otherwise", "extra: {Service: {RestrictAddressFamilies: ~AF_NETLINK AF_UNIX}}", []string{"3:44 extra.Service.RestrictAddressFamilies: svcrun speaks"}},
	{"nothing to be executed", "extra: {Service: {NoExecPaths: /}}", []string{"3:32 extra.Service.NoExecPaths: svcrun could not be executed"}},
	{"another root", "extra: {Service: {RootDirectory: /a}}", []string{"svcrun is not in there"}},
	{"a section that is none", "extra: {service: {Nice: 5}}", []string{`3:9 unknown key "service" in extra; did you mean Service`}},
	{"a value that leaves its line", `extra: {Service: {Nice: "5\nExecStartPost=/bin/evil", Slice: "a\\"}}`, []string{
		"3:25 extra.Service.Nice: the value has a control character, such as a newline", `3:62 extra.Service.Slice: the value ends in a \`}},
	{"a name that leaves its line", `extra: {Service: {"Nice=5\nA": 1}}`, []string{`extra.Service: "Nice=5\nA" is no name of a directive`}},

	{"a user's service as another", "scope: user\nuser: a\nhardening: baseline\ncredentials: {a: /b}\nafter: [network.target]", []string{
		"4:7 user has no effect with scope: user", "5:12 hardening has no effect", "6:14 credentials has no effect", "7:8 after: a user's manager has no network.target"}},
	{"a secret in a user's service", "scope: user\nready: {checks: ['http://u:p@x/']}", []string{"4:18 a check with a secret cannot be with scope: user"}},
	{"a noncharacter", `exec2: a` + "\nenv: {A: \"a\ufdd0\"}", []string{`3:1 unknown key "exec2"`, "4:10 env.A has a noncharacter of Unicode"}},
}

func TestMistakesInKeysAreNamedWithPlaceAndCure(t *testing.T) {
	for _, m := range keyMistakes {
		t.Run(strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			_, err := Read("x.yaml", []byte("name: x\nexec: /bin/a\n"+m.line+"\n"))
			checkErrors(t, err, m.want)
		})
	}
}

func TestASecretIsNoPartOfAnyError(t *testing.T) {
	for _, line := range []string{
		"ready: {checks: ['http://u:hunter2@x/?token=hunter2']}",
		"ready: {checks: [{http: http://x/, header: 'Authorization: hunter2', header_file: /a}]}",
		"scope: user\nready: {checks: [{http: http://x/, header: 'Authorization: hunter2'}]}",
		"env: {A-B: hunter2}",
	} {
		_, err := Read("x.yaml", []byte("name: x\nexec: /bin/a\n"+line+"\n"))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v", line, err)
		}
	}
}

func TestTheInstanceStandsWhereATemplateSaysIt(t *testing.T) {
	p := mustRead(t, `
name: w@
description: 100%% of %i
exec: ['/bin/w', '-p', '80%i']
user: w-%i
working_dir: /srv/%i
start_pre: ["/bin/pre %i"]
env: {A: "%i"}
env_files: [/etc/w/%i.env]
after: [w@%i.socket, "%p.target"]
ready: {checks: ['http://127.0.0.1:80%i/%i', {exec: [/bin/c, '%i%%']}, {http: 'http+unix:/run/%i:/', header: ["X-I: %i"], body: '%i'}]}
drain: {pre_stop: [/bin/h, '%i']}
reload: {exec: '/bin/r %i'}
sockets: [80%i, '/run/%i.sock']
dirs: {state: [w/%i]}
credentials: {t: /etc/%i}
`)
	result, err := Generate(p, profile(t, "debian13"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	unit := string(result.Files[0].Text)
	for _, want := range []string{
		"Description=100%% of %i\n", "-- /bin/w -p 80%i\n", "User=w-%i\n", "WorkingDirectory=/srv/%i\n", "ExecStartPre=/bin/pre %i\n",
		"Environment=A=%i\n", "EnvironmentFile=/etc/w/%i.env\n", "After=w@%i.socket %p.target w@%i.socket\n",
		"--ready=http://127.0.0.1:80%i/%i ", `"--ready=exec:/bin/c %i%%"`, `"--ready=http+unix:/run/%i:/,header=X-I: %i,body=%i"`,
		`"--pre-stop=/bin/h %i"`, `"--reload-exec=/bin/r %i"`, "StateDirectory=svckit/%N w/%i\n", "LoadCredential=t:/etc/%i\n", "Also=w@%i.socket\n",
	} {
		if !strings.Contains(unit, want) {
			t.Errorf("no %q in\n%s", want, unit)
		}
	}
	if socket := result.Files[1]; socket.Name != "w@.socket" || !strings.Contains(string(socket.Text), "ListenStream=80%i\nListenStream=/run/%i.sock\n") {
		t.Errorf("%s is\n%s", socket.Name, socket.Text)
	}
}

func TestAPercentSignInATemplateIsMeant(t *testing.T) {
	const cure = "in a template %i is the instance, and nothing else begins with %; write %% for a percent sign"
	for _, line := range []string{
		"env: {A: 50%}", "env: {A: '%n'}", "env: {A: '%I'}", "description: 5% x", "ready: {checks: ['http://x/%20']}",
	} {
		_, err := Read("x.yaml", []byte("name: x@\nexec: /bin/a\n"+line+"\n"))
		if err == nil || !strings.Contains(err.Error(), cure) {
			t.Errorf("%s: got %v", line, err)
		}
	}
	_, err := Read("x.yaml", []byte("name: x@\nexec: /bin/a\nready: {checks: ['tcp:x:80,interval=1%is']}\n"))
	checkErrors(t, err, []string{"3:18 ready.checks[0]: %i is the instance in what a check asks, and cannot be a number or a word of an option"})
	if p := mustRead(t, "name: x\nexec: [/bin/a, '%i', '100%']\n"); p.Exec[1] != "%i" || p.Exec[2] != "100%" {
		t.Errorf("outside of a template: %q", p.Exec)
	}
}

func TestDefaultsAreMergedKeyByKey(t *testing.T) {
	const file = `
defaults:
  user: www
  env: {A: doc, B: doc}
  restart: {cap: 5min, give_up: {starts: 5}}
  live: {on_unhealthy: report}
  reload: {signal: USR1, timeout: 5s}
  on_give_up: [a.service]
---
name: one
exec: /bin/one
env: {A: own}
restart: {give_up: {after: 1h}}
reload: {exec: /bin/r}
---
name: two
exec: /bin/two
user: two
live: {checks: [notify]}
on_each_failure: [b.service]
restart: {when: no}
`
	global := Text{"d.yaml", []byte("# of this machine\nuser: nobody\ngroup: adm\nenv: {A: glob, C: glob}\nrestart: {base: 3s}\n")}
	policies, err := Read("x.yaml", []byte(file), global)
	if err != nil || len(policies) != 2 {
		t.Fatal(len(policies), err)
	}
	one, two := policies[0], policies[1]
	for name, pair := range map[string][2]any{
		"the service's own, then the file's, then the machine's": {[]Variable{{"A", "own"}, {"B", "doc"}, {"C", "glob"}}, one.Env},
		"the file before the machine":                            {"www", one.User},
		"what only the machine says":                             {"adm", one.Group},
		"the service before all":                                 {"two", two.User},
		"a key within a mapping":                                 {"3s 5m0s", one.Restart.Ladder.Base.String() + " " + one.Restart.Ladder.Cap.String()},
		"one way to give up in place of another":                 {GiveUp{After: 3600e9}, one.Restart.GiveUp},
		"a command in place of a signal":                         {"/bin/r 5s", one.Reload.Command[0] + " " + one.Reload.Timeout.String()},
		"one way to be told in place of another":                 {[]string{"b.service"}, append(two.OnGiveUp, two.OnEachFailure...)},
		"what has no effect here, and is only a default":         {"no", two.Restart.When},
		"an answer for checks that only one of them has":         {"report", string(two.Live.OnUnhealthy)},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestAMistakeInDefaultsIsNamedInItsFile(t *testing.T) {
	const services = "name: a\nexec: /bin/a\n---\nname: b\nexec: /bin/b\n"
	for _, test := range []struct{ file, defaults, want string }{
		{services, "restart: {base: 1M}\n", `d.yaml:1:17: restart.base: bad duration "1M": a month? write 1m or 30d`},
		{services, "raedy: {}\n", `d.yaml:1:1: unknown key "raedy"; did you mean ready`},
		{services, "name: c\n", "d.yaml:1:1: each service has a name of its own; remove it from the defaults"},
		{services, "defaults: {user: a}\n", "d.yaml:1:1: a file of defaults has the keys of a service at its top; remove defaults: and the indentation below it"},
		{services, "user: a\n---\nuser: b\n", "d.yaml:3:1: a file of defaults is one document; remove the others"},
		{services, "- a\n", `d.yaml:1:1: a policy wants a mapping, such as user: www-data; this is a list`},
		{services, "user: [", "d.yaml:1:1: this is not YAML: did not find expected node content; check the quotes, brackets and indentation here and just before"},
		{"defaults: {restart: {base: 1M}}\n---\n" + services, "", `x.yaml:1:28: restart.base: bad duration "1M": a month? write 1m or 30d`},
		{services + "---\ndefaults: {user: a}\n", "", "x.yaml:7:1: defaults come first: move this document to the file's start"},
		{"defaults: {user: a}\nname: x\n", "", "x.yaml:1:1: defaults are a document of their own; put a line --- between them and the service"},
		{"defaults: a\n---\n" + services, "", `x.yaml:1:11: defaults wants a mapping, such as {user: www-data}; this is the text "a"`},
		{"defaults: {user: a}\n", "", "x.yaml:1:1: the file has defaults only; write a service after them, below a line ---"},
		{"name: a\nexec: /bin/a\n---\nname: b\nexec: /bin/b\n---\nname: a\nexec: /bin/c\n", "",
			"x.yaml:7:7: name: another service is called a, at x.yaml:1:7; give one of the two another name"},
	} {
		_, err := Read("x.yaml", []byte(test.file), Text{"d.yaml", []byte(test.defaults)})
		if err == nil || err.Error() != test.want {
			t.Errorf("%q with %q:\ngot  %v\nwant %s", test.file, test.defaults, err, test.want)
		}
	}
}
