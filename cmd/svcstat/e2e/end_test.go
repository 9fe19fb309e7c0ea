//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

const (
	unitsFile = "testdata/units.txt"
	awaited   = labtest.Patience // the patience of each step; none should take ten seconds
	atOnce    = 8                // units that are driven at a time
)

// installUnits writes the units and their programs.
func installUnits(m *labtest.Machine) {
	for _, f := range units() {
		if strings.HasSuffix(f.name, ".service") {
			m.Write("/run/systemd/system/"+f.name, f.text, 0o644)
		} else {
			m.Write("/run/programs/"+f.name, f.text, 0o755)
		}
	}
	if m.Version() >= 257 { // a start ends the hold-off from then on, and has to come before its end
		m.Write("/run/systemd/system/hold-off-start.service.d/long.conf", "[Service]\nRestartSec=1000\n", 0o644)
	}
	m.Run("ln", "-s", "exit-code.service", "/run/systemd/system/nickname.service")
	m.Run("systemctl", "daemon-reload")
}

// file is one of units.txt.
type file struct{ name, text string }

// units reads units.txt: each file stands under a line "-- NAME --".
func units() []file {
	all, err := os.ReadFile(unitsFile)
	if err != nil {
		panic(err)
	}
	var files []file
	for line := range strings.Lines(string(all)) {
		name, isHead := strings.CutPrefix(line, "-- ")
		switch {
		case isHead:
			files = append(files, file{name: strings.TrimSuffix(name, " --\n")})
		case len(files) > 0:
			files[len(files)-1].text += line
		}
	}
	return files
}

// driver makes one unit end.
type driver struct {
	ctx  context.Context
	m    *lab.Machine
	unit string
}

// systemctl runs a verb on the unit. That it fails may be just what is wanted.
func (d driver) systemctl(verb ...string) error {
	_, err := d.m.Exec(d.ctx, append(append([]string{"systemctl"}, verb...), d.unit)...)
	return err
}

func (d driver) await(wanted ...string) error {
	ctx, cancel := context.WithTimeout(d.ctx, awaited)
	defer cancel()
	return d.m.WaitFor(ctx, d.unit, wanted...)
}

// awaitStatus waits until the service says so.
func (d driver) awaitStatus(text string) error {
	ctx, cancel := context.WithTimeout(d.ctx, awaited)
	defer cancel()
	return d.m.WaitUntil(ctx, d.unit, func(p lab.Properties) bool { return strings.Contains(p["StatusText"], text) }, "StatusText")
}

// down waits until the unit has ended.
func (d driver) down() error {
	ctx, cancel := context.WithTimeout(d.ctx, awaited)
	defer cancel()
	return d.m.WaitUntil(ctx, d.unit, func(p lab.Properties) bool {
		return p["ActiveState"] == "inactive" || p["ActiveState"] == "failed"
	}, "ActiveState")
}

// stopRunning ends a unit that is up by a stop.
func (d driver) stopRunning() error {
	return errors.Join(d.systemctl("start"), d.systemctl("stop"), d.down())
}

// untilLimit starts a unit that the start limit then ends.
func untilLimit(restarts string) func(driver) error {
	return func(d driver) error {
		return errors.Join(d.systemctl("start"), d.await("NRestarts="+restarts, "ActiveState=failed"))
	}
}

// drivers are how the units end that do not end by themselves.
var drivers = map[string]func(driver) error{
	"start-limit":          untilLimit("3"),
	"start-timeout":        untilLimit("2"),
	"unhealthy":            untilLimit("2"),
	"stop":                 driver.stopRunning,
	"stop-code":            driver.stopRunning,
	"stop-sigkill":         driver.stopRunning,
	"stop-oneshot":         driver.stopRunning,
	"stop-timeout":         driver.stopRunning,
	"stop-command-timeout": driver.stopRunning,
	"stop-bound":           stopWhatItNeeds("stop-bound-to.service"),
	"stop-bound-to":        byAnother,
	"holds":                byAnother,
	"recovered": func(d driver) error {
		return errors.Join(d.systemctl("start"), d.await("NRestarts=1", "SubState=running"))
	},
	"reload-fails":  failReload,
	"running":       func(d driver) error { return d.systemctl("start") },
	"waiting":       func(d driver) error { return errors.Join(d.systemctl("start"), d.await("SubState=auto-restart")) },
	"oneshot-fails": byAnother, // dependency starts it
	"restart":       restartRunning,
	"stop-starting": func(d driver) error {
		return errors.Join(d.systemctl("start", "--no-block"), d.await("SubState=start"), d.systemctl("stop"), d.down())
	},
	"watchdog-deaf": func(d driver) error {
		return errors.Join(d.systemctl("start"), d.await("SubState=stop-watchdog"), d.systemctl("stop"), d.down())
	},
	"terminated": func(d driver) error {
		if err := d.systemctl("start"); err != nil {
			return err
		}
		show, err := d.m.Show(d.ctx, d.unit, "MainPID")
		if err != nil {
			return err
		}
		_, err = d.m.Exec(d.ctx, "kill", "-TERM", show["MainPID"])
		return errors.Join(err, d.await("NRestarts=1", "SubState=running"), d.systemctl("stop"), d.down())
	},
	"hold-off-start": func(d driver) error {
		return errors.Join(d.systemctl("start"), d.await("SubState=auto-restart"), d.systemctl("start"),
			d.await("NRestarts=1", "SubState=auto-restart"), d.systemctl("stop"), d.down())
	},
	"hold-off-restart": restartInHoldOff,
	"hold-off-stop": func(d driver) error {
		return errors.Join(d.systemctl("start"), d.await("SubState=auto-restart"), d.systemctl("stop"), d.down())
	},
	"start-limit-manual": func(d driver) error {
		var errs []error
		for range 4 {
			errs = append(errs, d.systemctl("start"), d.down())
		}
		return errors.Join(errs...)
	},
	"condition": func(d driver) error {
		const file = "/run/condition-is-met"
		return errors.Join(d.m.WriteFile(file, nil, 0o644), d.systemctl("start"), d.down(),
			d.m.Remove(file), d.systemctl("start"))
	},
}

// byItself is how the other units end.
func byItself(d driver) error {
	return errors.Join(d.systemctl("start"), d.down())
}

// ending is a unit, and how it is made to end.
type ending struct {
	unit  string
	drive func(driver) error
}

// unitsThatEnd are those of units.txt.
func unitsThatEnd() []ending {
	var all []ending
	for _, f := range units() {
		name, isUnit := strings.CutSuffix(f.name, ".service")
		switch drive := drivers[name]; {
		case !isUnit:
		case drive != nil:
			all = append(all, ending{f.name, drive})
		default:
			all = append(all, ending{f.name, byItself})
		}
	}
	return all
}

// endAll starts every unit and makes it end, some at a time.
func endAll(ctx context.Context, m *lab.Machine, endings []ending) error {
	if err := (driver{ctx, m, "holds.service"}).systemctl("start"); err != nil {
		return err
	}
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		errs  []error
		slots = make(chan struct{}, atOnce)
	)
	for _, e := range endings {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if err := e.drive(driver{ctx, m, e.unit}); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, fmt.Errorf("%s: %w", e.unit, err))
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// forge writes an entry as the manager would, from a root process of another
// unit: it must count for nothing.
func forge(m *labtest.Machine) {
	m.Write("/run/forged", "MESSAGE_ID=98e322203f7a4ed290d09fe03c09fe15\nMESSAGE=forged\nUNIT=clean.service\n"+
		"INVOCATION_ID=00000000000000000000000000000001\nEXIT_CODE=killed\nEXIT_STATUS=9\nCOMMAND=ExecStart\n", 0o644)
	m.Run("logger", "--journald=/run/forged")
}

// recorded are the fields that a recording keeps.
var recorded = []string{
	"__REALTIME_TIMESTAMP", "__MONOTONIC_TIMESTAMP", "_BOOT_ID", "_PID", "_SYSTEMD_UNIT", "_SYSTEMD_INVOCATION_ID", "UNIT",
	"INVOCATION_ID", "MESSAGE_ID", "MESSAGE", "JOB_RESULT", "EXIT_CODE", "EXIT_STATUS", "COMMAND", "UNIT_RESULT",
	"N_RESTARTS",
}

// Recordings are kept small: all units of one version, and of the others
// those whose records differ between versions.
const recordedWhole = 257

var recordedAlways = []string{
	"clean", "start-limit", "start-timeout", "stop-starting", "terminated", "hold-off-start", "hold-off-stop", "condition",
}

// record writes the entries about the units for the tests of package history:
// few fields, short IDs, nothing of the machine that they come from.
func record(t *testing.T, m *labtest.Machine) {
	var out strings.Builder
	for line := range strings.Lines(m.Run("journalctl", "-o", "json")) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if !isRecorded(entry, truth(t, m.Version()), m.Version()) {
			continue
		}
		kept, err := json.Marshal(trim(entry))
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(kept, '\n'))
	}
	file := filepath.Join(filepath.Dir(truthFile), strconv.Itoa(m.Version())+".jsonl")
	if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// isRecorded picks the entries about or by the units, without the manager's
// remarks on each process that it signals.
func isRecorded(entry map[string]any, happened map[string][]string, version int) bool {
	unit, _ := entry["UNIT"].(string)
	if unit == "" {
		unit, _ = entry["_SYSTEMD_UNIT"].(string)
	}
	message, _ := entry["MESSAGE"].(string)
	remark := strings.Contains(message, ": Killing process ") || strings.Contains(message, " pids.max ")
	always := slices.Contains(recordedAlways, strings.TrimSuffix(unit, ".service"))
	return happened[unit] != nil && !remark && (always || version == recordedWhole)
}

// trim keeps of an entry what is read of it. Of the texts of messages that
// have an ID only those are kept that matter.
func trim(entry map[string]any) map[string]any {
	kept := make(map[string]any)
	for _, key := range recorded {
		text, isText := entry[key].(string)
		switch {
		case !isText, text == "init.scope", text == "done":
			continue
		case strings.HasSuffix(key, "INVOCATION_ID"), key == "_BOOT_ID":
			text = text[:min(len(text), 6)]
		}
		kept[key] = text
	}
	id, _ := entry["MESSAGE_ID"].(string)
	if !slices.Contains([]string{
		"", "39f53479d3a045ac8e11786248231fbf", "5eb03494b6584870a536b337290809b3", "641257651c1b4ec9a8624d7a40a9e1e7",
	}, id) {
		delete(kept, "MESSAGE")
	}
	return kept
}
