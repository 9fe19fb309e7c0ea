package manager

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/manager/machine"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/proc"
	supervised "github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
)

// filesBound is how long the files that a start needs may take: what hangs on a
// disk that does is this start, and nothing else.
const filesBound = 10 * time.Second

// prepared is a start that has its files, or the reason why not.
type prepared struct {
	machine.Spawn
	number  int      // of the start
	path    string   // of the program
	dir     string   // to start it in
	env     []string // of EnvironmentFile=
	without error    // svcrun has to do without a directory
	err     error
}

// prepare sees to the files of a start beside the loop, which hears of it by
// r.prepared within the bound.
func (r *runner) prepare(a machine.Spawn, number int) {
	u := r.units[a.Unit]
	u.surrounded = true
	isFirst := u.pid(machine.Main) == 0
	go func() {
		p := r.seeToInTime(u, a.Argv[0], isFirst)
		p.Spawn, p.number = a, number
		select {
		case r.prepared <- p:
		case <-r.closed:
		}
	}()
}

// seeToInTime is seeTo within the bound. Of a unit one start at a time is seen
// to: where one hangs, those that follow wait for it, and are not stuck as well.
func (r *runner) seeToInTime(u *unit, program string, isFirst bool) prepared {
	ctx, cancel := context.WithTimeout(context.Background(), filesBound)
	defer cancel()
	late := prepared{err: fmt.Errorf("its files took longer than %v", filesBound)}
	select {
	case u.preparing <- struct{}{}:
	case <-ctx.Done():
		return late
	}
	done := make(chan prepared, 1)
	go func() {
		done <- r.seeTo(u, program, isFirst)
		<-u.preparing
	}()
	select {
	case p := <-done:
		return p
	case <-ctx.Done():
		return late
	}
}

// seeTo makes what a process has to find, and reads what it is to be given. What
// it knows of the unit does not change. A command beside the main process finds
// the credentials that this one has, which may be reading them.
func (r *runner) seeTo(u *unit, program string, isFirst bool) prepared {
	p, at := prepared{dir: r.workingDir(u)}, u.plan.Surroundings
	if p.env, p.err = readEnvFiles(at.EnvFiles); p.err != nil {
		return p
	}
	if p.without, p.err = makeDirs(at.Dirs, u.who); p.err != nil {
		return p
	}
	if isFirst {
		if err := giveCredentials(r.host.Credentials(u.plan.Name), at.Credentials, r.secrets, u.who); err != nil {
			p.err = &startError{statusCredentials, fmt.Errorf("cannot hand over a credential: %w", err)}
			return p
		}
	}
	if !isDir(p.dir) {
		p.err = &startError{statusChdir, fmt.Errorf("there is no directory %s to start it in", p.dir)}
		return p
	}
	var err error
	if p.path, err = r.find(program); err != nil {
		p.err = &startError{statusExec, fmt.Errorf("cannot execute %s: %w", program, err)}
	}
	return p
}

// spawn starts a process of a unit, as systemd would (systemd.exec(5)).
func (r *runner) spawn(p prepared) (int, error) {
	u := r.units[p.Unit]
	r.noteWithout(u, p.without)
	if p.err != nil {
		return 0, p.err
	}
	if u.sockets == nil { // the unit was down for good, and another one needs it
		var err error
		if u.sockets, err = listen(u.plan.Surroundings.Sockets, r.host.Root); err != nil {
			return 0, &startError{0, err}
		}
	}
	event := timeline.Event{Unit: p.Unit, Name: timeline.Output, Run: u.run}
	output, err := newOutput(event, p.Role == machine.Main, r.feed.line)
	if err != nil {
		return 0, &startError{0, err}
	}
	command := r.command(u, p)
	command.Out, command.Err = output.streams[0].write, output.streams[1].write
	ended := make(chan supervised.Status, 1)
	pid, err := r.table.Start(command, ended)
	if err != nil {
		output.abandon()
		return 0, &startError{statusExec, fmt.Errorf("cannot execute %s: %w", command.Path, err)}
	}
	output.begin()
	for _, other := range r.units {
		other.forget(pid)
	}
	started := &process{unit: u, role: p.Role, pid: pid, output: output}
	u.started(started)
	go r.await(started, ended)
	return pid, nil
}

// noteWithout tells, once, that svcrun has to do without a directory.
func (r *runner) noteWithout(u *unit, why error) {
	if why != nil && !u.noted {
		u.noted = true
		r.feed.tell(timeline.Event{
			Time: time.Now(), Unit: u.plan.Name, Name: timeline.Note, Run: u.run,
			Text: "svcrun has to do without one of its directories: " + why.Error(),
		})
	}
}

// command is what to execute.
func (r *runner) command(u *unit, p prepared) proc.Command {
	at := u.plan.Surroundings
	s := start{
		role: p.Role, service: u.plan, who: u.who, path: r.path, invocation: u.invocation, notify: u.listener.Address(),
		mainPID: u.pid(machine.Main), special: r.monitored(p.Env), files: p.env, given: r.given,
	}
	if !r.host.Root {
		s.runtimeDir = r.host.Runtime
	}
	if len(at.Credentials) > 0 {
		s.creds = r.host.Credentials(u.plan.Name)
	}
	c := proc.Command{
		Path: p.path, Argv: p.Argv, Env: environment(s), Dir: p.dir, Session: true, Death: syntax.SIGTERM,
		Shim: true, Ignore: proc.NewSignalSet(syntax.SIGPIPE), NoFile: at.NoFile, As: u.who.credential,
	}
	if p.Role == machine.Main {
		c.Descriptors = u.sockets.byNumber()
	}
	return c
}

// monitored adds to what a unit of OnFailure= is told of the one that has failed
// which of its runs that was.
func (r *runner) monitored(env []string) []string {
	for _, entry := range env {
		if name, ok := strings.CutPrefix(entry, "MONITOR_UNIT="); ok && r.units[name] != nil {
			return append(slices.Clone(env), "MONITOR_INVOCATION_ID="+r.units[name].invocation)
		}
	}
	return env
}

// workingDir is where the unit's processes start. Where WorkingDirectory= does not
// say, a user's manager has it be the home directory, if there is one (systemd:
// src/core/unit.c, unit_patch_contexts).
func (r *runner) workingDir(u *unit) string {
	switch dir := u.plan.Surroundings.WorkingDir; {
	case dir != "":
		return dir
	case !r.host.Root && isDir(r.host.HomeDir):
		return r.host.HomeDir
	}
	return "/"
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// find finds a program as systemd does: in the path of services, where its name
// has no slash.
func (r *runner) find(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for dir := range strings.SplitSeq(r.path, ":") {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", errors.New("it is in no directory of " + r.path)
}

// servicePath is PATH= of services: systemd's own, and what stands apart where
// /bin is no link to /usr/bin.
func servicePath() string {
	if info, err := os.Lstat("/bin"); err == nil && info.Mode()&os.ModeSymlink == 0 {
		return defaultPath + ":/sbin:/bin"
	}
	return defaultPath
}
