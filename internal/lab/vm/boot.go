package vm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/lab"
)

// bootBound is how long a boot may take; it takes about 20 seconds on two idle
// cores.
const bootBound = 3 * time.Minute

// kernelArguments: the console is the first serial line; what is masked would
// wait for devices, which nobody makes known without udev.
const kernelArguments = "console=ttyS0 quiet panic=-1 rdinit=/lib/systemd/systemd" +
	" systemd.unit=multi-user.target systemd.show_status=no" +
	" systemd.mask=serial-getty@ttyS0.service systemd.mask=getty@tty1.service systemd.mask=systemd-logind.service"

// Config is what to boot.
type Config struct {
	Lab   *lab.Lab
	Suite lab.Suite
	// Files are programs of the host by their path in the machine; Guest is
	// one of them.
	Files map[string]string
}

// Machine is a virtual machine that runs. It executes one command at a time.
type Machine struct {
	process *os.Process
	ended   <-chan struct{}
	work    string // holds the image until the machine is up
	console *lab.Tail

	turn     sync.Mutex
	line     net.Conn
	requests *json.Encoder
	answers  *json.Decoder
}

// Boot boots a machine and returns when it takes commands. The context bounds
// the boot, not the machine, which lives until Close and no longer than this
// process. The error is a [*lab.MissingError] where no machine can be.
func Boot(ctx context.Context, c Config) (*Machine, error) {
	if needs := missing(); len(needs) > 0 {
		return nil, &lab.MissingError{Needs: needs}
	}
	ctx, cancel := context.WithTimeout(ctx, bootBound)
	defer cancel()
	work, err := os.MkdirTemp("", "svckit-vm-")
	if err != nil {
		return nil, err
	}
	m := &Machine{work: work, console: &lab.Tail{}}
	if err := m.boot(ctx, c); err != nil {
		return nil, errors.Join(fmt.Errorf("the %s virtual machine did not come up: %w\n%s", c.Suite, err, m.console), m.Close())
	}
	return m, nil
}

// boot starts QEMU, and waits for the guest's hello.
func (m *Machine) boot(ctx context.Context, c Config) error {
	kernel, err := c.kernel(ctx)
	if err != nil {
		return err
	}
	image, err := c.image(ctx, m.work)
	if err != nil {
		return err
	}
	theirs, err := m.connect()
	if err != nil {
		return err
	}
	defer theirs.Close()
	if err := m.start(kernel, image, theirs); err != nil {
		return err
	}
	if _, err := m.answer(ctx); err != nil {
		return err
	}
	return os.RemoveAll(m.work) // QEMU has it open: nothing is left even if this process is killed
}

// connect makes the second serial line, and returns QEMU's end of it.
func (m *Machine) connect() (*os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "line"), os.NewFile(uintptr(pair[1]), "line")
	defer ours.Close()
	if m.line, err = net.FileConn(ours); err != nil {
		return nil, errors.Join(err, theirs.Close())
	}
	m.requests, m.answers = json.NewEncoder(m.line), json.NewDecoder(m.line)
	return theirs, nil
}

// start starts QEMU. The accelerator is named, as one that is there need not work.
func (m *Machine) start(kernel, image string, line *os.File) error {
	cmd := exec.Command(qemu, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1536M",
		"-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
		"-kernel", kernel, "-initrd", image, "-append", kernelArguments,
		"-serial", "stdio", "-chardev", "socket,id=line,fd=3", "-serial", "chardev:line")
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = m.console, m.console, []*os.File{line}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // the kernel ties the death signal to the thread that forks
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	m.ended = ended
	if err := <-started; err != nil {
		return err
	}
	m.process = cmd.Process
	return nil
}

// Close ends the machine as if its plug were pulled, and removes what it needed.
func (m *Machine) Close() error {
	if m.process != nil {
		_ = m.process.Kill()
		<-m.ended
	}
	if m.line != nil {
		_ = m.line.Close()
	}
	return os.RemoveAll(m.work)
}
