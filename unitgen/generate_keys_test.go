package unitgen

import (
	"slices"
	"strings"
	"testing"

	"github.com/svckit/svckit/unitgen/unit"
)

// made is all that is generated of a policy's lines for a target.
func made(t *testing.T, lines, target string) Result {
	t.Helper()
	result, err := Generate(mustRead(t, "name: x\nexec: /opt/x/bin/x\n"+lines+"\n"), profile(t, target), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestKeysBecomeTheseDirectives(t *testing.T) {
	for lines, want := range map[string][]string{
		"start_pre: [/bin/a, [/bin/b, 'c d$']]": {"ExecStartPre=/bin/a\nExecStartPre=/bin/b \"c d$$\"\nExecStart="},
		"start_pre: [/bin/a, /bin/b]\nrestart: {base: 1s, cap: 1s, give_up: {starts: 2}}": {
			"and 2 runs of 6min 40s at most (start_pre, start timeout, then a hang or a stop).\n", "TimeoutStartSec=2min 15s\n", "StartLimitIntervalSec=13min 23s\n"},
		"env_files: [/etc/a b%, -/etc/c]":                                {"EnvironmentFile=/etc/a b%%\nEnvironmentFile=-/etc/c\n"},
		"wants: [a.service]\nafter: [a.service]":                         {"After=a.service\nWants=a.service\n"},
		"after: [network-online.target]":                                 {"After=network-online.target\n# after: of network-online.target pulls it in as well.\nWants=network-online.target\n"},
		"requires: [a.service]\npart_of: [b@%N.x.target]":                {"Requires=a.service\nPartOf=b@%N.x.target\n"},
		"after: [network-online.target]\nwants: [network-online.target]": {"After=network-online.target\nWants=network-online.target\n"},
		"credentials: {a: /b, c: /d%}":                                   {"LoadCredential=a:/b\nLoadCredential=c:/d%%\n"},
		"watchdog: wrapper":                                              {"# watchdog: wrapper: svcrun shows every 15s that it lives itself, which says nothing of the service.\nWatchdogSec=30s\n"},
		"runtime_max: 1h":                                                {"# runtime_max: after that the service is stopped in its own time, and started again.\nRuntimeMaxSec=1h\n"},
		"runtime_max: 1h\nrestart: {when: no}":                           {"and stays down, as restart.when is no.\nRuntimeMaxSec=1h\n"},
		"dirs: {state: [a, b/c], runtime: [d], cache: [e], logs: [f], config: [g]}": {
			"RuntimeDirectory=svckit/%N d\nRuntimeDirectoryPreserve=restart\nStateDirectory=svckit/%N a b/c\nCacheDirectory=e\nLogsDirectory=f\nConfigurationDirectory=g\n"},
		"resources: {memory_max: 50%, tasks_max: 64, nofile: '64:128', cpu_quota: 12.5%}": {"MemoryMax=50%\nTasksMax=64\nLimitNOFILE=64:128\nCPUQuota=12.5%\n"},
		"extra: {Service: {Nice: 5, ReadOnlyPaths: [/a, /b], Slice: ''}, Unit: {Documentation: 'man:%n'}}": {
			"# extra: of the policy, as it stands there.\nNice=5\nReadOnlyPaths=/a\nReadOnlyPaths=/b\nSlice=\n", "Documentation=man:%n\n"},
		"extra: {Service: {RestrictAddressFamilies: ~AF_NETLINK, NoExecPaths: /, ExecPaths: /usr /opt/x}}": {"RestrictAddressFamilies=~AF_NETLINK\nNoExecPaths=/\nExecPaths=/usr /opt/x\n"},
		"extra: {Service: {RestrictAddressFamilies: [AF_INET, AF_UNIX]}}":                                  {"RestrictAddressFamilies=AF_INET\nRestrictAddressFamilies=AF_UNIX\n"},
		"extra: {Install: {Alias: y.service}}\ninstall: {wanted_by: []}":                                   {"[Install]\n# extra: of the policy, as it stands there.\nAlias=y.service\n"},
		"on_give_up: [a@%N.service]":                         {"hides those before it.\n# A stop that needed SIGKILL is such a failure too.\nOnFailure=a@%N.service\n", "RestartMode=direct\n"},
		"on_each_failure: [a.service]":                       {"# on_each_failure: at each failure, whether a restart follows or not.\nOnFailure=a.service\n"},
		"on_give_up: [a.service]\nrestart: {when: no}":       {"# on_give_up: at the first failure, as no restart follows.\nOnFailure=a.service\n"},
		"on_each_failure: [a.service]\nrestart: {when: no}":  {"OnFailure=a.service\n"},
		"ready: {checks: ['http://a:b%2F@x/y', 'tcp:x:80']}": {"--ready=http://x/y,header-file=%d/svckit.ready-0 ", "LoadCredential=svckit.ready-0:/etc/credstore/svckit.x.ready-0\n"},
	} {
		result := made(t, lines, "debian13")
		text := string(result.Files[0].Text)
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no\n%s\nin\n%s", lines, part, text)
			}
		}
		if lines != "on_give_up: [a@%N.service]" && strings.Contains(text, "RestartMode") {
			t.Errorf("%s: RestartMode= is there", lines)
		}
	}
}

func TestAUserServiceIsItsManagers(t *testing.T) {
	result := made(t, "scope: user\nsockets: [80]", "debian13")
	for _, file := range result.Files {
		if file.Dir != "/etc/systemd/user" {
			t.Errorf("%s goes to %s", file.Name, file.Dir)
		}
	}
	if text := string(result.Files[0].Text); !strings.Contains(text, "WantedBy=default.target\n") || strings.Contains(text, "User=") {
		t.Errorf("the unit is\n%s", text)
	}
}

func TestSocketsOfOneNameShareAUnit(t *testing.T) {
	result := made(t, "sockets: [80, {listen: 81, name: a}, 82, {listen: /s, kind: seqpacket, name: a, mode: 0600}]", "v262")
	var names []string
	for _, file := range result.Files {
		names = append(names, file.Name)
	}
	if want := []string{"x.service", "x.socket", "x-a.socket"}; !slices.Equal(names, want) {
		t.Fatalf("files %q, want %q", names, want)
	}
	for i, want := range []string{
		"After=x.socket x-a.socket\nRequires=x.socket x-a.socket\n",
		"[Socket]\nListenStream=80\nListenStream=82\n\n[Install]\nWantedBy=sockets.target\n",
	} {
		if text := string(result.Files[i].Text); !strings.Contains(text, want) {
			t.Errorf("%s: no\n%s\nin\n%s", names[i], want, text)
		}
	}
}

func TestSocketsThatCannotShareAUnitAreRefused(t *testing.T) {
	p := mustRead(t, "name: x\nexec: /bin/x\nsockets: [{listen: /a, mode: 0600}, {listen: /b, mode: 0660}]\n")
	_, err := Generate(p, profile(t, "debian13"), Options{})
	checkErrors(t, err, []string{`3:10 sockets: those of one name share mode, user and group; give "/b" a name of its own`})
}

func TestAReadyCheckThatSystemdAnswersIsWarnedOf(t *testing.T) {
	for check, want := range map[string]bool{
		"tcp:127.0.0.1:80": true, "unix:/s": true, "http://127.0.0.1:80/": false, "tcp:127.0.0.1:81": false, "listen:80": false,
	} {
		result := made(t, "sockets: ['127.0.0.1:80', /s]\nready: {checks: ['"+check+"']}", "v262")
		warned := slices.ContainsFunc(result.Warnings, func(w Warning) bool { return strings.Contains(w.Message, "holds before the service runs") })
		if warned != want {
			t.Errorf("%s: warned %v, want %v: %v", check, warned, want, result.Warnings)
		}
	}
}

func TestWhatATargetLacksIsSaid(t *testing.T) {
	for _, test := range []struct{ lines, target, unit, warning, refused string }{
		{"on_give_up: [a.service]", "debian12", "# on_give_up: debian12 (systemd 252) comes to this when no restart follows, and only then.\nOnFailure=a.service\n", "", ""},
		{"on_each_failure: [a.service]", "debian12", "", "", "3:18 on_each_failure: debian12 (systemd 252) tells of the last failure only; write on_give_up, or target systemd 254 or later"},
		{"credentials: {a: /b}", "ubuntu20.04", "", "", "3:14 credentials: ubuntu20.04 (systemd 245) has none, they came with systemd 247"},
		{"extra: {Service: {MemoryTHP: always}}", "debian12", "# debian12 (systemd 252) has no MemoryTHP=; extra: is without it.\n", "debian12 (systemd 252) has no MemoryTHP=; extra: is without it", ""},
		{"extra: {Service: {Nics: 5, X-Mine: 1}}", "debian12", "Nics=5\nX-Mine=1\n", "extra.Service: systemd knows no directive Nics= there, and will ignore it; did you mean Nice=", ""},
		{"hardening: strict", "rhel8", "# rhel8 (systemd 239) has no NoExecPaths=; lost: ", "rhel8 (systemd 239) has no ProtectClock=; lost: No change of the clock", ""},
		{"runtime_max: 1h\nrestart: {when: on-abort}", "debian13", "", "runtime_max: after 1h the service is stopped, and restart.when on-abort does not start it again; on-failure and always do", ""},
		{"on_give_up: [a.service]", "v262", "", "on_give_up is told of a stop that needed SIGKILL and of nothing else, as restart.give_up is never; set it, or write on_each_failure", ""},
	} {
		p := mustRead(t, "name: x\nexec: /bin/x\n"+test.lines+"\n")
		result, err := Generate(p, profile(t, test.target), Options{})
		if test.refused != "" {
			checkErrors(t, err, []string{test.refused})
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if text := string(result.Files[0].Text); !strings.Contains(text, test.unit) {
			t.Errorf("%s for %s: no %q in\n%s", test.lines, test.target, test.unit, text)
		}
		warned := slices.ContainsFunc(result.Warnings, func(w Warning) bool { return strings.HasPrefix(w.Message, test.warning) })
		if test.warning != "" && !warned {
			t.Errorf("%s for %s: no warning %q in %v", test.lines, test.target, test.warning, result.Warnings)
		}
	}
	long := strings.Repeat("x", 89)
	_, err := Generate(mustRead(t, "name: "+long+"\nexec: /bin/x\nreload: {}\n"), profile(t, "debian12"), Options{})
	checkErrors(t, err, []string{"1:7 name: with 89 bytes it is too long for a reload on debian12 (systemd 252)"})
}

// restrictionOf is the value of the one directive of a name among restrictions.
func restrictionOf(t *testing.T, lines, directive string) unit.Value {
	t.Helper()
	p := mustRead(t, "name: x\nexec: /opt/x/bin/x\n"+lines+"\n")
	all := restrictions(p, DefaultSvcrun)
	i := slices.IndexFunc(all, func(r restriction) bool { return r.directive == directive })
	if i < 0 {
		return "none"
	}
	if all[i].why == "" {
		t.Errorf("%s= has no reason", directive)
	}
	return all[i].value
}

func TestHardeningLeavesWhatThePolicyNeeds(t *testing.T) {
	const root = "CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER CAP_KILL CAP_NET_BIND_SERVICE CAP_SETGID CAP_SETUID"
	for _, test := range []struct {
		lines, directive string
		want             unit.Value
	}{
		{"hardening: off", "ProtectSystem", "none"},
		{"hardening: baseline", "ProtectSystem", "full"},
		{"hardening: baseline", "NoExecPaths", "none"},
		{"hardening: strict", "ProtectSystem", "strict"},
		{"hardening: strict", "RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6"},
		{"hardening: strict", "ExecPaths", "/usr /opt/x"},
		{"hardening: strict\nstart_pre: [/bin/a, '/srv/b/c d/e']\ndrain: {pre_stop: /home/u/h}\nreload: {exec: /r}\nready: {checks: [exec:/var/lib/c/x]}",
			"ExecPaths", "/usr /opt/x /home/u /r /srv/b /var/lib/c"},
		{"hardening: strict\nstart_pre: [['/a b%/c']]", "ExecPaths", `/usr /opt/x "/a b%%"`},
		{"hardening: strict\ndirs: {state: [a], logs: [b]}\nextra: {Service: {ReadWritePaths: [/c, -/d /e]}}",
			"NoExecPaths", "/ -/tmp -/var/tmp -/dev/shm %t/svckit/%N %S/svckit/%N %S/a %L/b /c -/d /e"},
		{"hardening: strict", "ProtectHome", "yes"},
		{"hardening: baseline\nworking_dir: /home", "ProtectHome", "read-only"},
		{"hardening: strict\nstart_pre: [/root/a]", "ProtectHome", "read-only"},
		{"hardening: strict\nready: {checks: ['file:/root/a']}", "ProtectHome", "read-only"},
		{"hardening: strict\nready: {checks: ['http+unix:/run/user/1/a:/']}", "ProtectHome", "read-only"},
		{"hardening: strict\nready: {checks: [{http: http://x/, header_file: /home/a/b}]}", "ProtectHome", "read-only"},
		{"hardening: strict", "CapabilityBoundingSet", root},
		{"hardening: strict\nuser: root", "CapabilityBoundingSet", root},
		{"hardening: strict\nlive: {checks: [listen:80]}", "CapabilityBoundingSet", root + " CAP_SYS_PTRACE"},
		{"hardening: strict\nready: {checks: ['http://x/,owned']}", "CapabilityBoundingSet", root + " CAP_SYS_PTRACE"},
		{"hardening: strict\nuser: a", "CapabilityBoundingSet", ""},
		{"hardening: strict\nextra: {Service: {DynamicUser: yes}}", "CapabilityBoundingSet", ""},
		{"hardening: strict\nuser: a\nextra: {Service: {AmbientCapabilities: CAP_NET_BIND_SERVICE}}", "CapabilityBoundingSet", "CAP_NET_BIND_SERVICE"},
		{"hardening: strict", "ProtectProc", "none"},
		{"hardening: strict\nuser: a", "ProtectProc", "invisible"},
	} {
		if got := restrictionOf(t, test.lines, test.directive); got != test.want {
			t.Errorf("%s:\n%s=%s\nwant %s", test.lines, test.directive, got, test.want)
		}
	}
}

func TestExtraHasTheLastWordOnHardening(t *testing.T) {
	text := string(made(t, "hardening: strict\nextra: {Service: {ProtectHome: tmpfs}}", "debian13").Files[0].Text)
	if got := directive(t, text, "ProtectHome"); got != "tmpfs" {
		t.Errorf("ProtectHome=%s", got)
	}
}

// TestEveryDirectiveOfOursIsRefusedInExtra holds the table of extra against
// what is written.
func TestEveryDirectiveOfOursIsRefusedInExtra(t *testing.T) {
	hardened := map[string]bool{}
	for _, level := range []Hardening{HardeningBaseline, HardeningStrict} {
		for _, user := range []string{"", "a"} {
			for _, r := range restrictions(Policy{Exec: []string{"/a"}, Hardening: level, User: user}, "/b") {
				hardened[r.directive] = true
			}
		}
	}
	for _, lines := range []string{
		full, "name: x\nexec: /a\nstart_pre: [/b]\nenv_files: [/c]\ncredentials: {d: /e}\nrequires: [f.service]\npart_of: [g.target]\non_give_up: [h.service]\n" +
			"wants: [i.service]\nsockets: [80, {listen: 81, name: a}]\ndirs: {state: [a], cache: [a], logs: [a], runtime: [a], config: [a]}\nruntime_max: 1h\nhardening: strict\n" +
			"resources: {memory_max: 1, memory_high: 0, memory_swap_max: 1, tasks_max: 99, cpu_quota: 1%, cpu_weight: 1, io_weight: 1, nofile: 99}\n",
	} {
		section := ""
		for line := range strings.Lines(string(madeOf(t, lines, "v262").Files[0].Text)) {
			match := unitLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if match[1] != "" {
				section = match[1]
			}
			if _, own := ownDirectives[section][match[2]]; match[2] != "" && !own && !hardened[match[2]] {
				t.Errorf("%s= of [%s] is written, and extra takes it too", match[2], section)
			}
		}
	}
}

func madeOf(t *testing.T, text, target string) Result {
	t.Helper()
	result, err := Generate(mustRead(t, text), profile(t, target), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestNothingSecretIsInAnyUnit(t *testing.T) {
	for _, target := range targets {
		p := mustRead(t, `
name: x
exec: /bin/x
env: {TOKEN: hunter2}
ready: {checks: ['http://u:hunter2@x/', {http: http://x/, header: ['X-Api-Key: hunter2', 'Cookie: hunter2']}]}
hardening: strict
`)
		result, err := Generate(p, target, Options{})
		if err != nil {
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %v", target, err)
			}
			continue
		}
		for _, file := range result.Files {
			for line := range strings.Lines(string(file.Text)) {
				if strings.Contains(line, "hunter2") && !file.Secret && line != "Environment=TOKEN=hunter2\n" {
					t.Errorf("%s for %s: %s", file.Name, target, line)
				}
			}
		}
	}
}
