package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// slack is how late a wait may end: the manager's timers have an accuracy of
// 250 ms (sd_event_add_time(3)).
const slack = 250 * time.Millisecond

// busy is what comes on top on a machine that does other things too: to end
// svcrun, to start it, and to start the service; and as often again what the
// restart of a service that is nothing else is late by.
func busy(late time.Duration) time.Duration {
	return 800*time.Millisecond + 3*max(0, late-slack)
}

// crash is the restart: part of a policy, and what becomes of a service under
// it that ends at once, every time.
type crash struct {
	name, restart string
	ends          string // how; exit 1 where it does not say
	waits         string // before each restart, but for slack
	most          string // the same with the most that jitter may make of it, if there is any
	always        bool   // the waits are those of a manager's own ladder, which counts clean ends too
}

var crashes = []crash{
	{name: "flat", restart: "{base: 300ms, cap: 300ms, give_up: {starts: 4}}", waits: "300ms 300ms 300ms"},
	{name: "doubling", restart: "{base: 200ms, cap: 1600ms, give_up: {starts: 6}}", waits: "200ms 400ms 800ms 1600ms 1600ms"},
	{name: "threefold", restart: "{base: 100ms, cap: 2700ms, factor: 3, give_up: {starts: 5}}", waits: "100ms 300ms 900ms 2700ms"},
	{name: "steps", restart: "{base: 160ms, cap: 2500ms, steps: 2, give_up: {starts: 4, within: 1m}}", waits: "160ms 632ms 2500ms"},
	{name: "after", restart: "{base: 250ms, cap: 1s, give_up: {after: 2s}}", waits: "250ms 500ms 1s"},
	{name: "abnormal", restart: "{when: on-abnormal, base: 200ms, cap: 800ms, give_up: {starts: 4, within: infinity}}", ends: "kill -KILL $$", waits: "200ms 400ms 800ms"},
	{name: "quarter", restart: "{base: 800ms, cap: 800ms, jitter: 25%, give_up: {starts: 4}}", waits: "800ms 800ms 800ms", most: "1s 1s 1s"},
	{name: "quarter-of-a-ladder", restart: "{base: 400ms, cap: 1600ms, jitter: 25%, give_up: {starts: 4}}", waits: "400ms 800ms 1600ms", most: "500ms 1s 2s"},
	{name: "full", restart: "{base: 400ms, cap: 1600ms, jitter: full, give_up: {starts: 5}}", waits: "0 0 0 0", most: "400ms 800ms 1600ms 1600ms"},
	{name: "storm", restart: "{base: 200ms, cap: 200ms, storm: {failures: 2, half_life: 1h, pause: 1500ms}, give_up: {starts: 5}}",
		waits: "200ms 1700ms 200ms 1700ms"},
	{name: "storm-of-a-ladder", restart: "{base: 200ms, cap: 800ms, jitter: 25%, storm: {failures: 3, half_life: 1h, pause: 1s}, give_up: {starts: 5}}",
		waits: "200ms 400ms 1800ms 800ms", most: "250ms 500ms 2250ms 1s"},
	{name: "clean", restart: "{when: always, base: 300ms, cap: 1200ms, give_up: {starts: 4}}", ends: "exit 0", waits: "300ms 600ms 1200ms", always: true},
}

// policy is the policy of the crash, for a service that writes down its starts.
// It has no companion: a dozen of them that ask a busy manager for something at
// each start would be what is measured.
func (c crash) policy(unit string) string {
	ends := c.ends
	if ends == "" {
		ends = "exit 1"
	}
	return fmt.Sprintf("name: %s\nexec: [/bin/sh, -c, %q]\nrestart: {stable_after: infinity, %s\ninstall: {wanted_by: []}\n",
		unit, "read up idle < /proc/uptime; echo $up >> "+startsFile(unit)+"; "+ends, strings.TrimPrefix(c.restart, "{"))
}

func startsFile(unit string) string { return "/run/" + unit + ".starts" }

// clock is the resolution of /proc/uptime.
const clock = 10 * time.Millisecond

// uptimes are the moments in a file of them; none where there is no file.
func uptimes(t *testing.T, m *labtest.Machine, file string) []time.Duration {
	t.Helper()
	text, err := m.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return labtest.Uptimes(t, string(text))
}

func spans(t *testing.T, text string) []time.Duration {
	t.Helper()
	var all []time.Duration
	for field := range strings.FieldsSeq(text) {
		d, err := time.ParseDuration(field)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// TestServicesRestartAndGiveUpAsThePolicySays lets twelve services crash side
// by side, and compares each wait and the number of starts with what the
// policy's author reads in it: the same on every systemd, whoever does the
// waiting there. Where the machine was too busy for a wait to be over in time,
// that service is tried again, with less beside it.
func TestServicesRestartAndGiveUpAsThePolicySays(t *testing.T) {
	onEachAlone(t, func(t *testing.T, m *labtest.Machine) {
		s := &services{t: t, m: m}
		prefix := strings.TrimSuffix(m.UnitName(), ".service") + "-"
		pending := map[string]crash{}
		for _, c := range crashes {
			s.add(c.policy(prefix + c.name))
			pending[prefix+c.name] = c
		}
		s.load()
		late := map[string]string{}
		control := m.Control()
		for range 4 {
			late = crashAll(t, m, pending, control)
			maps.DeleteFunc(pending, func(unit string, _ crash) bool { return late[unit] == "" })
			if len(pending) == 0 {
				return
			}
			t.Logf("too busy for %d services, which are tried again: %v", len(pending), late)
		}
		for _, unit := range slices.Sorted(maps.Keys(pending)) {
			t.Errorf("too late every time: %s\n%s", late[unit], journal(m, unit))
		}
	})
}

// crashAll starts services and waits until they are given up. It returns what
// was too late, by unit.
func crashAll(t *testing.T, m *labtest.Machine, crashes map[string]crash, control *labtest.Control) map[string]string {
	t.Helper()
	start := []string{"systemctl", "--no-block", "start"}
	for unit := range crashes {
		start = append(start, unit+".service")
		m.Write(startsFile(unit), "", 0o644)
	}
	control.Late()
	m.Run(start...)
	for unit := range crashes {
		m.WaitFor(unit+".service", "ActiveState=failed", "SubState=failed")
	}
	allowed := busy(control.Late())
	late := map[string]string{}
	for unit, c := range crashes {
		late[unit] = c.late(t, m, unit, allowed)
		m.Run("systemctl", "reset-failed", unit+".service")
	}
	return late
}

func journal(m *labtest.Machine, unit string) string {
	return strings.Join(m.Journal(unit+".service", 60), "\n")
}

// late looks at how a service was given up, and returns a wait that was too
// long. One that was too short, or another number of starts, is an error.
func (c crash) late(t *testing.T, m *labtest.Machine, unit string, busy time.Duration) string {
	t.Helper()
	least, most := spans(t, c.waits), spans(t, c.waits)
	if c.most != "" {
		most = spans(t, c.most)
	}
	if c.always && m.Version() < 254 { // svcrun waits after failures only
		least, most = spans(t, "300ms 300ms 300ms"), spans(t, "300ms 300ms 300ms")
	}
	times := uptimes(t, m, startsFile(unit))
	if log := journal(m, unit); len(times) != len(least)+1 || !strings.Contains(log, "Start request repeated too quickly") {
		t.Fatalf("%s: %d starts before it was given up, want %d and a start limit\n%s", c.name, len(times), len(least)+1, log)
	}
	late := ""
	for i := range least {
		wait := times[i+1] - times[i]
		text := fmt.Sprintf("%s: restart %d after %v, want %v to %v, %v for late timers and %v for a busy machine", c.name, i+1, wait, least[i], most[i], slack, busy)
		switch {
		case wait < least[i]-clock:
			t.Errorf("%s\n%s", text, journal(m, unit))
		case wait > most[i]+slack+busy:
			late = text
		}
	}
	return late
}
