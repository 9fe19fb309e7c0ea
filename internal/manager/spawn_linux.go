package manager

import (
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

// spawn starts a process of a unit, as systemd would (systemd.exec(5)).
func (r *runner) spawn(a machine.Spawn) (int, error) {
	u := r.units[a.Unit]
	files, err := readEnvFiles(u.plan.Surroundings.EnvFiles)
	if err != nil {
		return 0, &startError{0, err}
	}
	if err := r.surround(u); err != nil {
		return 0, err
	}
	command, err := r.command(u, a, files)
	if err != nil {
		return 0, err
	}
	event := timeline.Event{Unit: a.Unit, Name: timeline.Output, Run: u.run}
	output, err := newOutput(event, a.Role == machine.Main, r.feed.line)
	if err != nil {
		return 0, &startError{0, err}
	}
	command.Out, command.Err = output.streams[0].write, output.streams[1].write
	ended := make(chan supervised.Status, 1)
	pid, err := r.table.Start(command, ended)
	if err != nil {
		output.abandon()
		return 0, &startError{statusExec, fmt.Errorf("cannot execute %s: %w", command.Path, err)}
	}
	output.begin()
	p := &process{unit: u, role: a.Role, pid: pid, output: output}
	u.started(p)
	go r.await(p, ended)
	return pid, nil
}

// surround makes what a process of the unit has to find.
func (r *runner) surround(u *unit) error {
	at := u.plan.Surroundings
	without, err := makeDirs(at.Dirs, u.who)
	if err != nil {
		return err
	}
	if without != nil && !u.noted {
		u.noted = true
		r.feed.tell(timeline.Event{
			Time: time.Now(), Unit: u.plan.Name, Name: timeline.Note, Run: u.run,
			Text: "svcrun keeps no records of its runs: " + without.Error(),
		})
	}
	if u.sockets == nil { // the unit was down for good, and another one needs it
		if u.sockets, err = listen(at.Sockets, r.host.Root); err != nil {
			return &startError{0, err}
		}
	}
	if err := giveCredentials(r.host.Credentials(u.plan.Name), at.Credentials, r.secrets, u.who); err != nil {
		return &startError{statusCredentials, fmt.Errorf("cannot hand over a credential: %w", err)}
	}
	return nil
}

// command is what to execute.
func (r *runner) command(u *unit, a machine.Spawn, files []string) (proc.Command, error) {
	at := u.plan.Surroundings
	dir := r.workingDir(u)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return proc.Command{}, &startError{statusChdir, fmt.Errorf("there is no directory %s to start it in", dir)}
	}
	s := start{
		role: a.Role, service: u.plan, who: u.who, path: r.path, invocation: u.invocation, notify: u.listener.Address(),
		mainPID: u.pid(machine.Main), special: r.monitored(a.Env), files: files, given: r.given,
	}
	if !r.host.Root {
		s.runtimeDir = r.host.Runtime
	}
	if len(at.Credentials) > 0 {
		s.creds = r.host.Credentials(u.plan.Name)
	}
	c := proc.Command{
		Argv: a.Argv, Env: environment(s), Dir: dir, Session: true, Death: syntax.SIGTERM,
		Shim: true, Ignore: proc.NewSignalSet(syntax.SIGPIPE), NoFile: at.NoFile, As: u.who.credential,
	}
	if a.Role == machine.Main {
		c.Descriptors = u.sockets.byNumber()
	}
	var err error
	if c.Path, err = r.find(a.Argv[0]); err != nil {
		return proc.Command{}, &startError{statusExec, fmt.Errorf("cannot execute %s: %w", a.Argv[0], err)}
	}
	return c, nil
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

// workingDir is where the unit's processes start: systemd's own managers have it
// so where WorkingDirectory= does not say.
func (r *runner) workingDir(u *unit) string {
	switch dir := u.plan.Surroundings.WorkingDir; {
	case dir != "":
		return dir
	case r.host.Root:
		return "/"
	}
	return r.host.HomeDir
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
