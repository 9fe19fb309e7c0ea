package unitgen

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svckit/svckit/policy"
)

// ladders are the targets whose manager has a ladder; below, svcrun has it.
var (
	oldTargets    = []string{"rhel8", "ubuntu20.04", "debian11", "ubuntu22.04", "debian12", "rhel9", "v253"}
	askedTargets  = []string{"v254", "ubuntu24.04", "v255", "v256", "debian13", "rhel10", "v257"}
	tellingTarget = []string{"v258", "v259", "v260", "v261"}
	newestTargets = []string{"v262"}
)

// written is what a unit says about restarts.
type written struct {
	sec, steps, most, random string // RestartSec= and so on
	delay, stable            string // --start-delay= and --stable-after=
	companion                bool
	warnings                 string // the first words of each, one to a line
}

// restartsOf reads it from what is generated.
func restartsOf(t *testing.T, restart, target string) written {
	t.Helper()
	result, err := Generate(mustRead(t, "name: x\nexec: /bin/x\nrestart: "+restart+"\n"), profile(t, target), Options{})
	if err != nil {
		t.Fatal(err)
	}
	unit := string(result.Files[0].Text)
	flag := func(name string) string {
		_, after, _ := strings.Cut(directive(t, unit, "ExecStart"), "--"+name+"=")
		value, _, _ := strings.Cut(after, " \\\n")
		return strings.Trim(value, `"`)
	}
	w := written{
		sec: directive(t, unit, "RestartSec"), steps: directive(t, unit, "RestartSteps"), most: directive(t, unit, "RestartMaxDelaySec"),
		random: directive(t, unit, "RestartRandomizedDelaySec"), delay: flag("start-delay"), stable: flag("stable-after"),
		companion: len(result.Files) == 3,
	}
	if has := directive(t, unit, "ExecStartPost") != ""; has != w.companion || len(result.Files) != 1 && !has {
		t.Errorf("%s for %s: %d files, and ExecStartPost= is there: %v", restart, target, len(result.Files), has)
	}
	var said []string
	for _, warning := range result.Warnings {
		text, _, _ := strings.Cut(warning.Message, ";")
		if !strings.Contains(unit, "# "+strings.TrimSuffix(warning.Message, ".")) {
			t.Errorf("%s for %s: the unit does not say %q", restart, target, warning.Message)
		}
		if !strings.Contains(text, "TimeoutAbortSec") && !strings.Contains(text, "OOMPolicy") { // of RHEL 8, and no matter of restarts
			said = append(said, strings.TrimPrefix(text, profile(t, target).String()+" "))
		}
	}
	w.warnings = strings.Join(said, "\n")
	return w
}

// TestRestartsAreSharedOutAsEachTargetCan is the table of who does what, from
// the oldest systemd to the newest.
func TestRestartsAreSharedOutAsEachTargetCan(t *testing.T) {
	const (
		noLadder = "has no RestartSteps="
		noRandom = "has no RestartRandomizedDelaySec="
		noReset  = "has no RESTART_RESET=1"
		cleanEnd = "svcrun waits after failures only: after a clean end the restart comes after 1s, however often"
	)
	for _, test := range []struct {
		restart string
		targets []string
		want    written
	}{
		{"{cap: 64s}", oldTargets, written{sec: "100ms", delay: "base=1s,cap=1min4s,steps=6", stable: "10min", warnings: noLadder}},
		{"{cap: 64s}", askedTargets, written{sec: "1s", steps: "6", most: "1min 4s", companion: true, warnings: noReset}},
		{"{cap: 64s}", tellingTarget, written{sec: "1s", steps: "6", most: "1min 4s", stable: "10min"}},
		{"{cap: 64s}", newestTargets, written{sec: "1s", steps: "6", most: "1min 4s", stable: "10min"}},

		{"{cap: 64s, jitter: 25%}", oldTargets, written{sec: "100ms", delay: "base=1s,cap=1min4s,steps=6,jitter=25%%", stable: "10min", warnings: noLadder}},
		{"{cap: 64s, jitter: 25%}", askedTargets, written{sec: "1s", steps: "6", most: "1min 4s", delay: "base=1s,cap=1min4s,steps=6,jitter=25%%",
			stable: "10min", companion: true, warnings: noRandom + "\n" + noReset}},
		{"{cap: 64s, jitter: 25%}", tellingTarget, written{sec: "1s", steps: "6", most: "1min 4s", delay: "base=1s,cap=1min4s,steps=6,jitter=25%%",
			stable: "10min", warnings: noRandom}},
		{"{cap: 64s, jitter: 25%}", newestTargets, written{sec: "1s", steps: "6", most: "1min 4s", delay: "base=1s,cap=1min4s,steps=6,jitter=25%%", stable: "10min"}},

		{"{base: 10s, cap: 10s, jitter: 25%}", append(oldTargets, askedTargets...), written{sec: "10s", delay: "base=10s,jitter=25%%", stable: "10min", warnings: noRandom}},
		{"{base: 10s, cap: 10s, jitter: 25%}", newestTargets, written{sec: "10s", random: "2s 500ms", stable: "10min"}},
		{"{base: 10s, cap: 10s}", append(oldTargets, askedTargets...), written{sec: "10s"}},
		{"{base: 10s, cap: 10s}", append(tellingTarget, newestTargets...), written{sec: "10s", stable: "10min"}},
		{"{base: 10s, cap: 10s, storm: {failures: 2, half_life: 1m, pause: 1m}}", append(oldTargets, askedTargets...),
			written{sec: "10s", delay: "storm=2/1min/1min", stable: "10min"}},
		{"{base: 10s, cap: 10s, jitter: 25%, storm: {failures: 2, half_life: 1m, pause: 1m}}", newestTargets,
			written{sec: "10s", random: "2s 500ms", delay: "jitter=25%%,storm=2/1min/1min", stable: "10min"}},

		{"{cap: 64s, jitter: full}", append(oldTargets, append(askedTargets, append(tellingTarget, newestTargets...)...)...),
			written{sec: "100ms", delay: "base=1s,cap=1min4s,steps=6,jitter=full", stable: "10min"}},
		{"{base: 50ms, cap: 32s, jitter: full}", newestTargets, written{sec: "50ms", delay: "base=50ms,cap=32s,steps=10,jitter=full", stable: "10min"}},
		{"{when: always, cap: 64s}", oldTargets, written{sec: "1s", delay: "base=1s,cap=1min4s,steps=6", stable: "10min", warnings: noLadder + "\n" + cleanEnd}},
		{"{when: on-success, cap: 64s, jitter: full}", newestTargets, written{sec: "1s", delay: "base=1s,cap=1min4s,steps=6,jitter=full", stable: "10min", warnings: cleanEnd}},
		{"{when: always, cap: 64s}", newestTargets, written{sec: "1s", steps: "6", most: "1min 4s", stable: "10min"}},
		{"{cap: 64s, stable_after: infinity}", oldTargets, written{sec: "100ms", delay: "base=1s,cap=1min4s,steps=6", warnings: noLadder}},
		{"{cap: 64s, stable_after: infinity}", append(askedTargets, newestTargets...), written{sec: "1s", steps: "6", most: "1min 4s"}},
		{"{when: no}", append(oldTargets, append(askedTargets, newestTargets...)...), written{}},
	} {
		for _, target := range test.targets {
			if got := restartsOf(t, test.restart, target); got != test.want {
				t.Errorf("%s for %s:\n%+v, want\n%+v", test.restart, target, got, test.want)
			}
		}
	}
}

// TestWaitsAreThePolicysOnEveryTarget lets a service fail at once on timers
// that are not late: who waits makes no difference to how long.
func TestWaitsAreThePolicysOnEveryTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := defaults()
		p.Name, p.Exec = "x", []string{"/bin/x"}
		base := time.Duration(rapid.IntRange(1, 60_000).Draw(t, "base")) * time.Millisecond
		p.Restart.Ladder = policy.Ladder{Base: base, Cap: base * time.Duration(rapid.IntRange(1, 100).Draw(t, "times")), Steps: rapid.IntRange(1, 20).Draw(t, "steps")}
		p.Restart.Jitter = rapid.SampledFrom([]policy.Jitter{policy.NoJitter, policy.QuarterJitter}).Draw(t, "jitter")
		for _, target := range targets {
			d, _, err := Derive(p, target)
			if err != nil {
				t.Fatal(err)
			}
			for draw, most := range map[string]bool{"least": false, "most": true} {
				jitter := policy.Random(policy.Least)
				if most {
					jitter = policy.Most
				}
				ended := time.Duration(0)
				for start := range d.Restarts.Simulate(policy.Always(atOnce), policy.Conditions{Jitter: jitter}) {
					k := start.Number - 1
					want := p.Restart.Ladder.Delay(k)
					if most && p.Restart.Jitter == policy.QuarterJitter {
						want += (want / 4).Truncate(time.Microsecond)
					}
					// The manager draws from a range without its end.
					if wait := start.Begun - ended; k > 0 && (wait > want || wait < want-time.Microsecond) {
						t.Fatalf("%s: with the %s jitter restart %d waits %s, want %s", target, draw, k, wait, want)
					}
					if ended = start.Ended; k > p.Restart.Ladder.Steps+2 {
						break
					}
				}
			}
		}
	})
}

func TestStartTimeoutHasRoomForTheLongestDelay(t *testing.T) {
	for target, want := range map[string]string{"debian12": "5min 30s", "debian13": "5min 30s", "v262": "5min 30s"} {
		// 80 s and 75 s of delay and pause, 90 s to start, 40 s to stop, 5 s to spare, and 40 s more
		unit := generated(t, "name: x\nexec: /bin/x\ndrain: {steps: [TERM@70s]}\n"+
			"restart: {cap: 64s, jitter: 25%, storm: {failures: 2, half_life: 1m, pause: 1m}}\n", target)
		if got := directive(t, unit, "TimeoutStartSec"); got != want {
			t.Errorf("%s: TimeoutStartSec=%s, want %s", target, got, want)
		}
		if want := "# The longest that svcrun holds a start back: 2min 35s.\n"; !strings.Contains(unit, want) {
			t.Errorf("%s: no %q in\n%s", target, want, unit)
		}
	}
}

func TestWindowWithoutEndIsTenYearsWhereItWouldBeNone(t *testing.T) {
	for target, want := range map[string]string{"rhel8": "3650d", "ubuntu20.04": "3650d", "debian11": "infinity", "v262": "infinity"} {
		unit := generated(t, "name: x\nexec: /bin/x\nrestart: {give_up: {starts: 5, within: infinity}}\n", target)
		if got := directive(t, unit, "StartLimitIntervalSec"); got != want {
			t.Errorf("%s: StartLimitIntervalSec=%s, want %s", target, got, want)
		}
	}
}

func TestCompanionIsATimerThatNothingPullsIn(t *testing.T) {
	for name, names := range map[string][4]string{
		"worker":  {"worker-settle.timer", "worker-settle.timer", "worker-settle.service", "worker.service"},
		"worker@": {"worker-settle@.timer", "worker-settle@%i.timer", "worker-settle@.service", "worker@%i.service"},
	} {
		result, err := Generate(mustRead(t, "name: "+name+"\nexec: /bin/x\nuser: nobody\nrestart: {stable_after: 5min}\n"), profile(t, "debian13"), Options{})
		if err != nil || len(result.Files) != 3 {
			t.Fatalf("%d files, %v", len(result.Files), err)
		}
		service, timer, settle := string(result.Files[0].Text), string(result.Files[1].Text), string(result.Files[2].Text)
		for _, same := range [][2]string{
			{result.Files[1].Name, names[0]},
			{directive(t, service, "ExecStartPost"), "+-/usr/bin/systemctl --no-block restart " + names[1]},
			{directive(t, timer, "OnActiveSec"), "5min"},
			{directive(t, timer, "AccuracySec"), "1s"},
			{directive(t, timer, "StartLimitIntervalSec"), "0"},
			{result.Files[2].Name, names[2]},
			{directive(t, settle, "Type"), "oneshot"},
			{directive(t, settle, "ExecCondition"), "/usr/bin/systemctl -q is-active " + names[3]},
			{directive(t, settle, "ExecStart"), "/usr/bin/systemctl reset-failed " + names[3]},
		} {
			if same[0] != same[1] {
				t.Errorf("%s: got %q, want %q", name, same[0], same[1])
			}
		}
		for _, dependency := range []string{"Wants", "Requires", "BindsTo", "PartOf", "Requisite", "After", "Before", "WantedBy"} {
			if got := directive(t, timer, dependency) + directive(t, settle, dependency); got != "" {
				t.Errorf("%s: %s=%s in the companion", name, dependency, got)
			}
		}
	}
	user := generated(t, "name: x\nexec: /bin/x\nscope: user\n", "debian13")
	if got, want := directive(t, user, "ExecStartPost"), "-/usr/bin/systemctl --user --no-block restart x-settle.timer"; got != want {
		t.Errorf("of a user: ExecStartPost=%s, want %s", got, want)
	}
}

func TestWaitsAreToldInComments(t *testing.T) {
	for target, want := range map[string]string{
		"debian12": "# Restarts wait 1s, 2s, 4s, then 8s (base 1s, cap 8s, factor 2), up to a quarter longer by chance; each timer may be 250ms late.\n" +
			"# debian12 (systemd 252) has no RestartSteps=; svcrun does the waiting, by --start-delay, and RestartSec= is a part of what it waits\nRestartSec=100ms\n",
		"v258": "# After 10min of health svcrun has the failures before it forgotten (--stable-after); the start limit counts on.\n",
	} {
		unit := generated(t, "name: x\nexec: /bin/x\nrestart: {cap: 8s, jitter: 25%}\n", target)
		if !strings.Contains(unit, want) {
			t.Errorf("%s: no %q in\n%s", target, want, unit)
		}
	}
	for when, least := range map[string]string{"on-failure": "nothing", "always": "1s"} {
		unit := generated(t, "name: x\nexec: /bin/x\nrestart: {when: "+when+", cap: 2s, jitter: full}\n", "v262")
		if want := "# Restarts wait 1s, then 2s (base 1s, cap 2s, factor 2), by chance anything from " + least + " to that;"; !strings.Contains(unit, want) {
			t.Errorf("%s: no %q in\n%s", when, want, unit)
		}
	}
	unit := generated(t, "name: x\nexec: /bin/x\nrestart: {cap: 8s, storm: {failures: 3, half_life: 1min, pause: 90s}}\n", "v262")
	if want := fmt.Sprintf("# In a storm svcrun pauses for 90s more: when the failures, each worth half after %s, add up to more than 2.\n", "60s"); !strings.Contains(unit, want) {
		t.Errorf("no %q in\n%s", want, unit)
	}
}
