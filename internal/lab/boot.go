package lab

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// bootBound is how long a boot may take; it takes half a second where nothing
// else runs.
const bootBound = 2 * time.Minute

// groupPrefix begins the name of every machine's control group; the owner's
// pid follows, by which groups are recognised that nobody owns any more.
const groupPrefix = "svckit-lab-"

// machineNamespaces are what a machine has of its own, beside its control
// group's: that is entered once the group has been joined.
const machineNamespaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC |
	syscall.CLONE_NEWUTS | syscall.CLONE_NEWNET

// newName is a machine's name on the host: prefix, this process, a random part.
func (l *Lab) newName() string {
	return groupPrefix + strconv.Itoa(os.Getpid()) + "-" + randomHex(4)
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b) // never fails, see its documentation
	return hex.EncodeToString(b)
}

// Boot boots the suite's systemd in namespaces of its own and returns when it
// has reached multi-user.target. The context bounds the boot, not the machine:
// that lives until Close, and not longer than this process, however that ends.
// The error is a [*MissingError] where no lab can be.
func (l *Lab) Boot(ctx context.Context, s Suite) (*Machine, error) { return l.BootWith(ctx, s, "") }

// BootWith is Boot of a machine that has files of the host's before its systemd
// starts: what is below the directory, an absolute path, is below the machine's
// root.
func (l *Lab) BootWith(ctx context.Context, s Suite, files string) (*Machine, error) {
	if needs := l.missingForBoot(); len(needs) > 0 {
		return nil, &MissingError{Needs: needs}
	}
	lock, err := l.holdRoot(ctx, s)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, bootBound)
	defer cancel()
	if err := l.sweep(ctx, ""); err != nil {
		lock.Close()
		return nil, err
	}
	m := &Machine{lab: l, suite: s, name: l.newName(), lock: lock, console: &Tail{}}
	if err := m.boot(ctx, files); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// boot starts the machine's process 1 and waits for it to say that it is up.
func (m *Machine) boot(ctx context.Context, files string) error {
	var err error
	m.notify, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.notifyPath(), Net: "unixgram"})
	if err != nil {
		return err
	}
	ready := make(chan struct{})
	go hear(m.notify, ready)
	if err := m.start(files); err != nil {
		return fmt.Errorf("cannot start the %s machine: %w", m.suite, err)
	}
	if err := m.awaitReady(ctx, ready); err != nil {
		return fmt.Errorf("the %s machine did not come up: %w\n%s", m.suite, err, m.bootTroubles())
	}
	m.version, err = m.readVersion(ctx)
	return err
}

func (m *Machine) notifyPath() string { return filepath.Join(m.lab.runDir(), m.name+".sock") }

// hear reads what process 1 says of itself, and closes ready at READY=1. It goes
// on as long as the machine lives, or process 1 would block one day on a queue
// that nobody reads.
func hear(notify *net.UnixConn, ready chan<- struct{}) {
	message := make([]byte, 8<<10)
	for said := false; ; {
		n, err := notify.Read(message)
		if err != nil {
			return
		}
		if !said && slices.Contains(strings.Split(string(message[:n]), "\n"), "READY=1") {
			said = true
			close(ready)
		}
	}
}

func (m *Machine) start(files string) error {
	cmd := script(bootScript, machineNamespaces,
		"LAB_NAME="+m.name, "LAB_ENTER="+enterScript, "LAB_ROOT="+m.lab.rootPath(m.suite),
		"LAB_WORK="+m.lab.mountPoint(), "LAB_NOTIFY="+m.notifyPath(),
		"LAB_MACHINE_ID="+randomHex(16), "LAB_PATH="+guestPath, "LAB_FILES="+files)
	cmd.Stdout, cmd.Stderr = m.console, m.console
	waited, err := startLocked(cmd)
	if err != nil {
		return err
	}
	m.process, m.ended = cmd.Process, make(chan struct{})
	go func() {
		<-waited //nolint:errcheck // how it ended says nothing: it is killed
		close(m.ended)
	}()
	return nil
}

// awaitReady waits until process 1 is ready. It says so once its first jobs are
// done, whether all of them succeeded or not: systemd(1).
func (m *Machine) awaitReady(ctx context.Context, ready <-chan struct{}) error {
	select {
	case <-ready:
		return nil
	case <-m.ended:
		return errors.New("its process 1 ended")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// bootTroubles collects what tells why a boot hangs or failed.
func (m *Machine) bootTroubles() string {
	text := lastLines(m.console.String(), 20)
	ctx, cancel := context.WithTimeout(context.Background(), tailBound)
	defer cancel()
	for _, argv := range [][]string{{"systemctl", "list-jobs"}, {"journalctl", "--no-pager", "-q", "-n", "20"}} {
		if r, err := m.Exec(ctx, argv...); err == nil {
			text += "\n" + r.Stdout + r.Stderr
		}
	}
	return text
}
