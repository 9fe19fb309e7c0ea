package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// unitDir is where units of tests go: the administrator's directory.
const unitDir = "/etc/systemd/system"

// Properties are a unit's properties as systemctl show prints them. One that it
// prints more than once (ExecStart) holds its values line by line.
type Properties map[string]string

// UnitName makes a name for a unit that no other unit of this machine has, out
// of a test's name.
func (m *Machine) UnitName(test string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, test)
	return fmt.Sprintf("%.120s-%d.service", strings.Trim(safe, "-"), m.units.Add(1))
}

// InstallUnit writes a unit file, or a drop-in if the name is
// "UNIT.d/NAME.conf", and makes the manager read it. It does not start it.
//
// The manager finds a new unit by itself and is reloaded only for a changed
// one: up to version 254 a reload empties the start limits of all units
// (systemd: NEWS of 255), and so would disturb the other tests.
func (m *Machine) InstallUnit(ctx context.Context, name, text string) error {
	file := path.Join(unitDir, name)
	_, err := m.ReadFile(file)
	known := err == nil || isDropIn(name)
	if err := m.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	if !known {
		state, err := m.Show(ctx, name, "LoadState", "NeedDaemonReload")
		if err != nil || state["NeedDaemonReload"] == "no" && state["LoadState"] != "not-found" {
			return err
		}
	}
	return m.Reload(ctx)
}

// Reload makes the manager read all unit files again.
func (m *Machine) Reload(ctx context.Context) error {
	_, err := m.Output(ctx, "systemctl", "daemon-reload")
	return err
}

func isDropIn(name string) bool { return strings.Contains(name, ".d/") }

// RemoveUnit ends a unit at once, makes the manager forget its failures and
// removes its file; of a drop-in it removes the file. It is for the end of a
// test; a unit that is gone already is no error.
func (m *Machine) RemoveUnit(ctx context.Context, name string) error {
	end := [][]string{
		{"systemctl", "stop", "--no-block", name},
		{"systemctl", "kill", "--signal=KILL", name},
		{"systemctl", "stop", name},
		{"systemctl", "reset-failed", name},
	}
	if isDropIn(name) {
		end = nil
	}
	for _, argv := range end {
		if _, err := m.Exec(ctx, argv...); err != nil {
			return err
		}
	}
	if err := m.Remove(path.Join(unitDir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Show reads properties of a unit, or all of them.
func (m *Machine) Show(ctx context.Context, unit string, properties ...string) (Properties, error) {
	argv := []string{"systemctl", "show", "--no-pager"}
	if len(properties) > 0 {
		argv = append(argv, "--property="+strings.Join(properties, ","))
	}
	out, err := m.Output(ctx, append(argv, "--", unit)...)
	if err != nil {
		return nil, err
	}
	return parseProperties(out), nil
}

func parseProperties(text string) Properties {
	read := Properties{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if before, twice := read[name]; twice {
			value = before + "\n" + value
		}
		if ok {
			read[name] = value
		}
	}
	return read
}

// Journal returns the journal's last lines about a unit, those of its processes
// and those of the manager, with all that was logged before: the journal is asked
// to have it written first. One that does not answer shows what it has.
func (m *Machine) Journal(ctx context.Context, unit string, lines int) ([]string, error) {
	if _, err := m.Exec(ctx, "journalctl", "--sync"); err != nil {
		return nil, err
	}
	out, err := m.Output(ctx, "journalctl", "--no-pager", "--quiet", "--output=short-precise",
		"--lines="+strconv.Itoa(lines), "--unit="+unit)
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n"), nil
}

// Pids are the processes of a unit and of the groups below its own, numbered
// as in the machine.
func (m *Machine) Pids(ctx context.Context, unit string) ([]int, error) {
	show, err := m.Show(ctx, unit, "ControlGroup")
	if err != nil || show["ControlGroup"] == "" {
		return nil, err
	}
	// The group may go away under the search; then it holds no process.
	result, err := m.Exec(ctx, "find", "/sys/fs/cgroup"+show["ControlGroup"],
		"-name", "cgroup.procs", "-exec", "cat", "{}", "+")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, field := range strings.Fields(result.Stdout) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, fmt.Errorf("cgroup.procs of %s: %w", unit, err)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}
