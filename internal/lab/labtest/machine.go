package labtest

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
)

const (
	// commandBound is how long a command may take in a machine; a test that needs
	// longer calls Machine.Exec with a context of its own.
	commandBound = 100 * time.Second
	// Patience is how long a test waits for what has to come. It is no promise of
	// the product's, only an end: a loaded machine takes many times what an idle
	// one does.
	Patience = 2 * time.Minute
)

// A Machine is one test's view of a machine: what cannot be done ends the test.
type Machine struct {
	*lab.Machine
	tb testing.TB
}

func (m *Machine) context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(m.tb.Context(), commandBound)
}

// must ends the test for an error.
func (m *Machine) must(err error) {
	m.tb.Helper()
	if err != nil {
		m.tb.Fatalf("lab %s: %v", m.Suite(), err)
	}
}

// Run runs a command that has to succeed and returns its standard output.
func (m *Machine) Run(argv ...string) string {
	m.tb.Helper()
	ctx, cancel := m.context()
	defer cancel()
	out, err := m.Output(ctx, argv...)
	m.must(err)
	return out
}

// Try runs a command that may fail.
func (m *Machine) Try(argv ...string) lab.Result {
	m.tb.Helper()
	ctx, cancel := m.context()
	defer cancel()
	result, err := m.Exec(ctx, argv...)
	m.must(err)
	return result
}

// Write writes a file of the machine.
func (m *Machine) Write(guestPath, text string, mode fs.FileMode) {
	m.tb.Helper()
	m.must(m.WriteFile(guestPath, []byte(text), mode))
}

// Read reads a file of the machine.
func (m *Machine) Read(guestPath string) string {
	m.tb.Helper()
	text, err := m.ReadFile(guestPath)
	m.must(err)
	return string(text)
}

// Install copies a file of the host into the machine.
func (m *Machine) Install(hostPath, guestPath string, mode fs.FileMode) {
	m.tb.Helper()
	m.must(m.Machine.Install(hostPath, guestPath, mode))
}

// UnitName makes a name for a unit of this test that no other test has.
func (m *Machine) UnitName() string { return m.Machine.UnitName(m.tb.Name()) }

// InstallUnit writes a unit; at the end of the test it is killed and removed.
func (m *Machine) InstallUnit(name, text string) {
	m.tb.Helper()
	ctx, cancel := m.context()
	defer cancel()
	m.tb.Cleanup(func() { m.removeUnit(name) })
	m.must(m.Machine.InstallUnit(ctx, name, text))
}

func (m *Machine) removeUnit(name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.tb.Context()), commandBound)
	defer cancel()
	if err := m.RemoveUnit(ctx, name); err != nil && !errors.Is(err, lab.ErrEnded) {
		m.tb.Errorf("lab %s: removing %s: %v", m.Suite(), name, err)
	}
}

// Show reads properties of a unit.
func (m *Machine) Show(unit string, properties ...string) lab.Properties {
	m.tb.Helper()
	ctx, cancel := m.context()
	defer cancel()
	show, err := m.Machine.Show(ctx, unit, properties...)
	m.must(err)
	return show
}

// WaitFor waits until the unit's properties have the values wanted, each
// "NAME=VALUE".
func (m *Machine) WaitFor(unit string, wanted ...string) {
	m.tb.Helper()
	ctx, cancel := context.WithTimeout(m.tb.Context(), Patience)
	defer cancel()
	m.must(m.Machine.WaitFor(ctx, unit, wanted...))
}

// WaitUntil waits until a condition on some properties of the unit holds.
func (m *Machine) WaitUntil(unit string, holds func(lab.Properties) bool, properties ...string) {
	m.tb.Helper()
	ctx, cancel := context.WithTimeout(m.tb.Context(), Patience)
	defer cancel()
	m.must(m.Machine.WaitUntil(ctx, unit, holds, properties...))
}

// WaitShell waits until a command of the shell succeeds, which finds the
// arguments in $0, $1 and so on.
func (m *Machine) WaitShell(command string, args ...string) {
	m.tb.Helper()
	ctx, cancel := context.WithTimeout(m.tb.Context(), Patience)
	defer cancel()
	_, err := m.Output(ctx, append([]string{"sh", "-c", "until " + command + "; do sleep 0.01; done"}, args...)...)
	if err != nil {
		m.tb.Fatalf("lab %s: waiting for %s %q: %v", m.Suite(), command, args, err)
	}
}

// Journal returns the last lines about a unit.
func (m *Machine) Journal(unit string, lines int) []string {
	m.tb.Helper()
	ctx, cancel := m.context()
	defer cancel()
	text, err := m.Machine.Journal(ctx, unit, lines)
	m.must(err)
	return text
}

// Pids are the processes of a unit, numbered as in the machine.
func (m *Machine) Pids(unit string) []int {
	m.tb.Helper()
	ctx, cancel := m.context()
	defer cancel()
	pids, err := m.Machine.Pids(ctx, unit)
	m.must(err)
	return pids
}

// Signal sends a signal to a process of the machine.
func (m *Machine) Signal(pid int, sig syscall.Signal) {
	m.tb.Helper()
	ctx, cancel := m.context()
	defer cancel()
	m.must(m.Machine.Signal(ctx, pid, sig))
}
