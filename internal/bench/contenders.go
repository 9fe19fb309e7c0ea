package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// grace is how long a stubborn service is given in the grace scenario.
const grace = 300 * time.Millisecond

// contender is one wrapper: what stands before the service's own command line
// in each use. What it cannot be used for is nil.
type contender struct {
	name     string
	plain    []string
	grace    []string // SIGKILL follows SIGTERM after grace
	relay    []string // the service has a $NOTIFY_SOCKET
	message  []string // no wrapper: a process that sends its last argument
	heard    bool     // it is given a $NOTIFY_SOCKET in every use
	restarts bool     // its service's end is not its own; it takes a directory with the service in it
}

func canRun(c contender) bool   { return c.plain != nil }
func canEnd(c contender) bool   { return c.plain != nil && !c.restarts }
func canKill(c contender) bool  { return c.grace != nil }
func canRelay(c contender) bool { return c.relay != nil || c.message != nil }

// isWrapper says whether there is something to be weighed.
func isWrapper(c contender) bool { return c.plain != nil && c.name != direct }

// peer is a program that others use: where it comes from, and how.
type peer struct {
	pkg string // Debian's
	contender
}

func peers() []peer {
	return []peer{
		{pkg: "tini", contender: contender{name: tini, plain: []string{"tini", "-s", "--"}}},
		{pkg: "dumb-init", contender: contender{name: "dumb-init", plain: []string{"dumb-init", "--"}}},
		{pkg: "catatonit", contender: contender{name: "catatonit", plain: []string{"catatonit", "--"}}},
		{pkg: "s6", contender: contender{
			name: s6, plain: []string{"s6-supervise"}, grace: []string{"s6-supervise"}, restarts: true,
		}},
		{pkg: "systemd", contender: contender{name: "systemd-notify", message: []string{"systemd-notify", "--status"}}},
	}
}

// own is svcrun, the last of the contenders.
func (b *bench) own() contender { return b.contenders[len(b.contenders)-1] }

// find puts the program's path in place of its name.
func (p peer) find() (contender, error) {
	c := p.contender
	for _, command := range [][]string{c.plain, c.grace, c.message} {
		if command == nil {
			continue
		}
		path, err := exec.LookPath(command[0])
		if err != nil {
			return c, err
		}
		command[0] = path
	}
	return c, nil
}

// assemble finds the contenders, and says of each that is missing how to get it.
func assemble(p programs, svcrun string) (all []contender, missing []string) {
	ms := strconv.Itoa(int(grace.Milliseconds()))
	all = append(all, contender{name: direct, plain: []string{}, relay: []string{}})
	if p.cFloor != "" {
		all = append(all, contender{
			name: cFloor, plain: []string{p.cFloor}, grace: []string{p.cFloor, "-g", ms}, relay: []string{p.cFloor, "-r"},
		})
	} else {
		missing = append(missing, "C floor: there is no C compiler (apt-get install gcc libc6-dev); start times include a Go service's own")
	}
	all = append(all, contender{name: goFloor, plain: []string{p.goFloor}, grace: []string{p.goFloor, "-g", ms}})
	for _, peer := range peers() {
		c, err := peer.find()
		if err != nil {
			missing = append(missing, fmt.Sprintf("%s: not in PATH (apt-get install %s)", peer.name, peer.pkg))
			continue
		}
		all = append(all, c)
	}
	return append(all, contender{
		name: ours, plain: []string{svcrun, "--"}, grace: []string{svcrun, "--stop=TERM@" + ms + "ms", "--"},
		relay: []string{svcrun, "--"}, heard: true,
	}), missing
}

// use is how a contender is used.
type use struct {
	prefix   []string
	stubborn bool     // the service ignores SIGTERM
	nth      int      // of several at the same time
	notify   bool     // the contender is given a $NOTIFY_SOCKET
	env      []string // beside the usual
}

func plainly(c contender) use    { return use{prefix: c.plain} }
func stubbornly(c contender) use { return use{prefix: c.grace, stubborn: true} }

// launch starts a contender with a service.
func (b *bench) launch(ctx context.Context, c contender, u use) (*instance, error) {
	o := order{
		argv: append(append([]string{}, u.prefix...), b.programs.service), dir: b.dir, stderr: b.stderr,
		env: append([]string{"PATH=" + os.Getenv("PATH")}, u.env...),
	}
	if u.stubborn {
		o.env = append(o.env, "BENCH_STUBBORN=1")
	}
	if c.restarts {
		dir, err := b.serviceDirectory(u)
		if err != nil {
			return nil, err
		}
		o.argv = append(append([]string{}, u.prefix...), dir)
	}
	var m *manager
	if c.heard || u.notify {
		var err error
		if m, err = newManager(filepath.Join(b.dir, fmt.Sprintf("manager-%d", u.nth))); err != nil {
			return nil, err
		}
		o.env = append(o.env, "NOTIFY_SOCKET="+m.path)
	}
	i, err := launch(ctx, o)
	if err != nil {
		m.close()
		return nil, err
	}
	i.manager = m
	return i, nil
}

// serviceDirectory makes what s6-supervise(8) runs.
func (b *bench) serviceDirectory(u use) (string, error) {
	dir := filepath.Join(b.dir, fmt.Sprintf("service-%d", u.nth))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.Symlink(b.programs.service, filepath.Join(dir, "run")); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "timeout-kill"), []byte(strconv.Itoa(int(grace.Milliseconds()))), 0o600)
}
