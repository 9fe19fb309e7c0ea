package vm

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Exec runs a command in the machine to its end, as root and outside of all
// units but the guest's own. A command that fails is not an error here. One that
// does not end before the context, is, and the machine ends with it.
func (m *Machine) Exec(ctx context.Context, argv ...string) (Result, error) {
	return m.ask(ctx, request{Argv: argv})
}

// Output runs a command and returns its standard output. A command that fails
// is an error that tells what it said.
func (m *Machine) Output(ctx context.Context, argv ...string) (string, error) {
	result, err := m.Exec(ctx, argv...)
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("%s: exit code %d\n%s%s", strings.Join(argv, " "), result.Code, result.Stdout, result.Stderr)
	}
	return result.Stdout, err
}

// WriteFile writes a file of the machine.
func (m *Machine) WriteFile(ctx context.Context, path, text string) error {
	result, err := m.ask(ctx, request{Argv: []string{"/bin/sh", "-c", `cat >"$1"`, "sh", path}, Input: []byte(text)})
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("cannot write %s in the machine: %s", path, result.Stderr)
	}
	return err
}

// ask sends one request and waits for its answer; one at a time.
func (m *Machine) ask(ctx context.Context, r request) (Result, error) {
	m.turn.Lock()
	defer m.turn.Unlock()
	if err := m.requests.Encode(r); err != nil {
		return Result{}, fmt.Errorf("%s: the machine cannot be asked: %w\n%s", r.Argv[0], err, m.console)
	}
	result, err := m.answer(ctx)
	if err != nil {
		return result, fmt.Errorf("%s: %w\n%s", r.Argv[0], err, m.console)
	}
	return result, nil
}

// answer waits for an answer at most until the context ends.
func (m *Machine) answer(ctx context.Context) (Result, error) {
	stop := context.AfterFunc(ctx, func() { _ = m.line.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var result Result
	err := m.answers.Decode(&result)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = m.process.Kill()
	}
	return result, err
}
