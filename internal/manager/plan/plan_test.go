package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/unitgen"
)

// here is what the specifiers stand for in these tests.
var here = System{Runtime: "/run", State: "/var/lib", Cache: "/var/cache", Logs: "/var/log", Config: "/etc", Credentials: "/run/credentials"}

// planned reads what is generated of a policy file.
func planned(t *testing.T, text, target string, instances ...string) ([]Service, error) {
	t.Helper()
	policies, err := unitgen.Read("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Read(generated(t, policies, target), profile(t, target), here, instances...)
}

// one is the plan of a file with one service.
func one(t *testing.T, text, target string) Service {
	t.Helper()
	services, err := planned(t, text, target)
	if err != nil || len(services) != 1 {
		t.Fatalf("%d services, %v", len(services), err)
	}
	return services[0]
}

func generated(t *testing.T, policies []unitgen.Policy, target string) []unitgen.File {
	t.Helper()
	var files []unitgen.File
	for _, p := range policies {
		result, err := unitgen.Generate(p, profile(t, target), unitgen.Options{})
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, result.Files...)
	}
	return files
}

func profile(t testing.TB, name string) unitgen.Target {
	t.Helper()
	target, err := unitgen.LookupTarget(name)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func TestAPolicyOfMostKeysIsReadAsItsUnitMeansIt(t *testing.T) {
	got := one(t, `
name: worker
description: A 100% worker
exec: [/opt/w/bin/worker, --port, "8080", "a b", "$HOME", "100%", "\tq\"\\"]
user: gateway
group: "1000"
working_dir: /opt/w %
env: {A: "x y", B: "$C%", QUOTED: "a\"b\\c\nd"}
env_files: [/etc/w, -/etc/w.local]
start_pre: [[/bin/pre, "100%"]]
after: [network.target]
ready: {start_timeout: 30s}
restart:
  when: always
  base: 1s
  cap: 8s
  stable_after: 2min
  give_up: {starts: 4, within: 10min}
  never_on: [78, SIGUSR2]
success: [143]
reload: {signal: HUP}
runtime_max: 1h
dirs: {state: [w], runtime: [w, x], cache: [c], logs: [l], config: [e]}
resources: {memory_max: 1G, nofile: 1024}
sockets: [{listen: "127.0.0.1:8080", name: web}, {listen: /run/w.sock, name: admin, mode: "0660", user: root, group: adm}]
credentials: {token: /etc/token}
on_give_up: [alert@%N.service]
`, "debian13")
	want := Service{
		Name:   "worker.service",
		Before: []Command{{Argv: []string{"/bin/pre", "100%"}}},
		Main: Command{Argv: []string{
			"/usr/bin/svcrun", "--runtime-dir=/run/svckit/worker", "--state-dir=/var/lib/svckit/worker", "--start-timeout=30s", "--success=143",
			"--", "/opt/w/bin/worker", "--port", "8080", "a b", "$HOME", "100%", "\tq\"\\",
		}},
		Reload: Reload{Signal: syntax.SIGHUP},
		OnFail: []string{"alert@worker.service"}, Direct: true,
		Restarts: policy.Restarts{
			Rules: policy.Rules{
				Restart: policy.RestartAlways, Systemd: 257,
				Prevent: policy.Statuses{Codes: []int{78}, Signals: []syntax.Signal{syntax.SIGUSR2}},
				Force:   policy.Statuses{Codes: []int{69, 70}},
				Success: policy.Statuses{Codes: []int{143}},
			},
			Ladder: policy.Ladder{Base: time.Second, Cap: 8 * time.Second, Steps: 3},
			Limit:  policy.Limit{Starts: 4, Within: 10 * time.Minute},
			Stable: policy.Stable{After: 2 * time.Minute, Forget: policy.ResetFailed},
		},
		Settle:       2 * time.Minute,
		StartTimeout: 75 * time.Second, StopTimeout: 45 * time.Second, AbortTimeout: 20 * time.Second,
		RuntimeMax: time.Hour, StopSignal: syntax.SIGTERM,
		Surroundings: Surroundings{
			User: "gateway", Group: "1000", WorkingDir: "/opt/w %",
			Env:      []string{"A=x y", "B=$C%", "QUOTED=a\"b\\c\nd"},
			EnvFiles: []string{"/etc/w", "-/etc/w.local"},
			Dirs: []Dir{
				{"/run/svckit/worker", "RUNTIME_DIRECTORY", true}, {"/run/w", "RUNTIME_DIRECTORY", true}, {"/run/x", "RUNTIME_DIRECTORY", true},
				{"/var/lib/svckit/worker", "STATE_DIRECTORY", false}, {"/var/lib/w", "STATE_DIRECTORY", false},
				{"/var/cache/c", "CACHE_DIRECTORY", false}, {"/var/log/l", "LOGS_DIRECTORY", false}, {"/etc/e", "CONFIGURATION_DIRECTORY", false},
			},
			Sockets: []Socket{
				{Address: "127.0.0.1:8080", Kind: "stream", Name: "web", Mode: 0o666},
				{Address: "/run/w.sock", Kind: "stream", Name: "admin", Mode: 0o660, User: "root", Group: "adm"},
			},
			Credentials: []Credential{{"token", "/etc/token"}},
			NoFile:      1024,
		},
		Ignored: []string{"MemoryMax", "After=network.target"},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestWhatAUnitDoesNotSayIsAsSystemdHasIt(t *testing.T) {
	got := one(t, "name: a\nexec: /bin/a\nrestart: {when: no}\n", "v262")
	want := policy.Restarts{
		Rules:  policy.Rules{Restart: policy.RestartNo, Systemd: 262},
		Ladder: policy.Flat(100 * time.Millisecond),
		Limit:  policy.Limit{Starts: 5, Within: 10 * time.Second},
	}
	if diff := cmp.Diff(want, got.Restarts); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if old := one(t, "name: a\nexec: /bin/a\n", "rhel8"); old.AbortTimeout != old.StopTimeout {
		t.Errorf("without TimeoutAbortSec= the abort has %s, want TimeoutStopSec=, %s", old.AbortTimeout, old.StopTimeout)
	}
}

// TestRestartsAreThoseThatTheGeneratorReckonedWith reads the numbers back from
// the units that were written of them, for every target.
func TestRestartsAreThoseThatTheGeneratorReckonedWith(t *testing.T) {
	for _, when := range policy.RestartValues() {
		for _, more := range []string{
			"", ", base: 2s, cap: 2s, jitter: 25%", ", base: 1s, cap: 64s", ", jitter: full", ", stable_after: infinity",
			", give_up: {starts: 3, within: infinity}", ", give_up: {starts: 7}", ", storm: {failures: 5, half_life: 30s, pause: 60s}",
			", base: 250ms, cap: 1min, steps: 7, never_on: [1, SIGSEGV]",
		} {
			if when != policy.RestartOnFailure && when != policy.RestartAlways && more != "" {
				continue // what else there is to say is the same for these, and nothing for no
			}
			text := "name: a\nexec: /bin/a\nrestart: {when: " + string(when) + more + "}\n"
			policies, err := unitgen.Read("x.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			for _, target := range unitgen.Targets() {
				derived, _, err := unitgen.Derive(policies[0], target)
				if err != nil {
					t.Fatal(err)
				}
				services, err := Read(generated(t, policies, target.Name), target, here)
				if err != nil {
					t.Fatal(err)
				}
				got := services[0]
				if diff := cmp.Diff(expected(derived, target), got.Restarts); diff != "" {
					t.Errorf("%s for %s: -generator +plan\n%s", text, target, diff)
				}
				if got.StartTimeout != derived.Start || got.StopTimeout != derived.Stop {
					t.Errorf("%s for %s: start %s and stop %s, want %s and %s", text, target, got.StartTimeout, got.StopTimeout, derived.Start, derived.Stop)
				}
			}
		}
	}
}

// expected is what the manager's part is of what the generator reckons with.
func expected(d unitgen.Derived, target unitgen.Target) policy.Restarts {
	want := d.Restarts.Restarts
	want.StartDelay = policy.StartDelay{} // svcrun's
	if want.Stable.Forget != policy.ResetFailed {
		want.Stable = policy.Stable{} // svcrun's as well
	}
	if want.Limit.Within == syntax.Infinity && target.Systemd < 247 {
		want.Limit.Within = 10 * 365 * 24 * time.Hour
	}
	if want.Rules.Restart == policy.RestartNo { // of which the unit says nothing more
		want.Limit = policy.Limit{Starts: defaultStarts, Within: defaultWithin}
		want.Ladder, want.Randomized, want.Stable = policy.Flat(defaultRestart), 0, policy.Stable{}
		want.Rules.Prevent = policy.Statuses{}
	}
	if !want.Ladder.Grows() {
		want.Ladder = policy.Flat(want.Ladder.Base)
	}
	return want
}

func TestOnFailureIsForEachFailureOrForTheLast(t *testing.T) {
	for _, c := range []struct {
		key, target  string
		each, direct bool
	}{
		{"on_give_up", "debian12", false, false}, // which tells of the last one only
		{"on_give_up", "debian13", false, true},
		{"on_each_failure", "debian13", true, false},
	} {
		s := one(t, "name: a\nexec: /bin/a\nrestart: {give_up: {starts: 3}}\n"+c.key+": [b.service]\n", c.target)
		if s.EachFail != c.each || s.Direct != c.direct || !slices.Equal(s.OnFail, []string{"b.service"}) {
			t.Errorf("%s on %s: each %v, direct %v, %v", c.key, c.target, s.EachFail, s.Direct, s.OnFail)
		}
	}
}

func TestAReloadIsASignalOrACommand(t *testing.T) {
	if s := one(t, "name: a\nexec: /bin/a\n", "debian13"); s.Reload != (Reload{}) {
		t.Errorf("a reload that nobody asked for: %+v", s.Reload)
	}
	if s := one(t, "name: a\nexec: /bin/a\nreload: {exec: [/bin/r]}\n", "debian13"); s.Reload.Signal != syntax.SIGHUP || s.Reload.Command != nil {
		t.Errorf("got %+v", s.Reload)
	}
	s := one(t, "name: a\nexec: /bin/a\nreload: {signal: USR1}\n", "debian12")
	if s.Reload.Command == nil || s.Reload.Signal != 0 || strings.Join(s.Reload.Command.Argv, " ") != "/usr/bin/svcrun reload --runtime-dir=/run/svckit/a" {
		t.Errorf("got %+v", s.Reload)
	}
}

func TestATemplateIsReadAsItsInstances(t *testing.T) {
	text := `
name: w@
description: number %i
exec: [/bin/w, "%i", "%%"]
sockets: [{listen: "127.0.0.1:80%i"}]
restart: {stable_after: 1min}
`
	services, err := planned(t, text, "debian13", "01", "02")
	if err != nil || len(services) != 2 {
		t.Fatalf("%d services, %v", len(services), err)
	}
	s := services[1]
	if s.Name != "w@02.service" || s.Settle != time.Minute {
		t.Errorf("got %s, settles after %s", s.Name, s.Settle)
	}
	if got := s.Main.Argv[len(s.Main.Argv)-2:]; !slices.Equal(got, []string{"02", "%"}) {
		t.Errorf("got the arguments %q", got)
	}
	if got := s.Surroundings.Sockets; len(got) != 1 || got[0].Address != "127.0.0.1:8002" || got[0].Name != "w@02.socket" {
		t.Errorf("got the sockets %+v", got)
	}
	if _, err := planned(t, text, "debian13"); err == nil || !strings.Contains(err.Error(), "say as which instances") {
		t.Errorf("without an instance: %v", err)
	}
	for _, instance := range []string{"", "a/b", "../x", "a b", "é", strings.Repeat("x", 250)} {
		if _, err := planned(t, text, "debian13", instance); err == nil {
			t.Errorf("instance %q is taken", instance)
		}
	}
}

func TestATemplateOfOnFailureComesAlongAsTheInstanceThatIsNamed(t *testing.T) {
	services, err := planned(t, `
name: a
exec: /bin/a
restart: {when: no}
on_give_up: [alert@%N.service]
---
name: alert@
exec: [/bin/alert, "%i"]
`, "debian13")
	if err != nil || len(services) != 2 || services[1].Name != "alert@a.service" {
		t.Errorf("got %v, %v", services, err)
	}
}

func TestRelationsAreThoseToServicesOfTheSameFile(t *testing.T) {
	services, err := planned(t, `
name: a
exec: /bin/a
after: [b.service, network-online.target]
requires: [b.service, postgresql.service, foreign.socket]
sockets: [{listen: 127.0.0.1:80}]
part_of: [all.target]
---
name: b
exec: /bin/b
after: [a.service]
wants: [a.service]
`, "debian13")
	if err != nil {
		t.Fatal(err)
	}
	a, b := services[0], services[1]
	if len(a.After) != 0 || !slices.Equal(a.Requires, []string{"b.service"}) || len(a.PartOf)+len(a.Wants) != 0 {
		t.Errorf("a: after %v, requires %v, wants %v, part of %v", a.After, a.Requires, a.Wants, a.PartOf)
	}
	if !slices.Equal(b.After, []string{"a.service"}) || !slices.Equal(b.Wants, []string{"a.service"}) {
		t.Errorf("b: after %v, wants %v", b.After, b.Wants)
	}
	if slices.Contains(a.Ignored, "Requires=a.socket") {
		t.Errorf("its own socket is among what is ignored, %v", a.Ignored)
	}
	for _, want := range []string{
		"After=network-online.target", "Wants=network-online.target", "Requires=postgresql.service", "PartOf=all.target",
		"Requires=foreign.socket",
		"After=b.service", // or each would wait for the other
	} {
		if !slices.Contains(a.Ignored, want) {
			t.Errorf("%s is not among what is ignored, %v", want, a.Ignored)
		}
	}
}

func TestWhatExtraAsksForIsIgnoredByName(t *testing.T) {
	s := one(t, `
name: a
exec: /bin/a
hardening: strict
extra:
  Unit: {Documentation: "man:a(1)", ConditionPathExists: /etc/a, X-Mine: "1"}
  Service: {Nice: 5, DynamicUser: yes, ExecStopPost: /bin/true, ExecStartPost: /bin/true}
  Install: {Alias: b.service}
resources: {tasks_max: 100}
`, "debian13")
	for _, want := range []string{"ConditionPathExists", "Nice", "DynamicUser", "ExecStopPost", "ExecStartPost", "ProtectSystem", "SystemCallFilter", "TasksMax"} {
		if !slices.Contains(s.Ignored, want) {
			t.Errorf("%s is not among what is ignored, %v", want, s.Ignored)
		}
	}
	for _, name := range []string{"Documentation", "X-Mine", "Alias", "WantedBy", "SyslogIdentifier", "KillMode", "OOMPolicy"} {
		if slices.Contains(s.Ignored, name) {
			t.Errorf("%s changes nothing here, and is among what is ignored", name)
		}
	}
}

func TestAConditionOfExtraComesBeforeTheCommands(t *testing.T) {
	s := one(t, `
name: a
exec: /bin/a
start_pre: [/bin/pre]
extra: {Service: {ExecCondition: ["/usr/bin/test -e /x", "-/bin/c %n"]}}
`, "debian13")
	want := []Command{
		{Argv: []string{"/usr/bin/test", "-e", "/x"}, Condition: true},
		{Argv: []string{"/bin/c", "a.service"}, Condition: true, MayErr: true},
		{Argv: []string{"/bin/pre"}},
	}
	if diff := cmp.Diff(want, s.Before); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	s = one(t, "name: a\nexec: /bin/a\nextra: {Service: {ExecCondition: /bin/test $X}}\n", "debian13")
	if len(s.Before) != 0 || !slices.Contains(s.Ignored, "ExecCondition") {
		t.Errorf("a variable that nobody puts in: %+v, ignored %v", s.Before, s.Ignored)
	}
	if _, err := planned(t, "name: a\nexec: /bin/a\nextra: {Service: {ExecCondition: \"/bin/test 'x\"}}\n", "debian13"); err == nil {
		t.Error("a quote that is not closed is a unit that systemd refuses, and was read")
	}
}

func TestASecretOfACheckIsFoundInTheCredentialsOfItsUnit(t *testing.T) {
	for _, target := range []string{"debian13", "debian11"} { // the one has %d
		s := one(t, `
name: a
exec: /bin/a
live: {checks: [{http: "http://127.0.0.1/", header: ["Authorization: Bearer x"]}]}
`, target)
		line := strings.Join(s.Main.Argv, "\n")
		if !strings.Contains(line, "header-file=/run/credentials/a.service/") || len(s.Surroundings.Credentials) != 1 {
			t.Errorf("%s: %q, credentials %+v", target, line, s.Surroundings.Credentials)
		}
	}
}

func TestTheExamplesAreRead(t *testing.T) {
	files, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range unitgen.Targets() {
			var instances []string
			if strings.Contains(file, "@") {
				instances = []string{"6401"}
			}
			if _, err := planned(t, string(text), target.Name, instances...); err != nil {
				t.Errorf("%s for %s: %v", file, target, err)
			}
		}
	}
}
