package lab_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// ownerVar makes the test binary the owner of a machine and nothing else, for
// the tests in which the owner is killed.
const ownerVar = "SVCKIT_LAB_TEST_OWNER"

// patience is how long what has to come is waited for, on a loaded machine too.
const patience = 2 * time.Minute

var machines labtest.Pool

func TestMain(m *testing.M) {
	if os.Getenv(ownerVar) != "" {
		ownMachine()
		return
	}
	os.Exit(machines.Main(m))
}

// ownMachine boots a machine, says which, and ends when its input does, without
// having closed it.
func ownMachine() {
	m, err := lab.New().Boot(context.Background(), lab.Trixie)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println(m.Name(), m.Pid())
	io.Copy(io.Discard, os.Stdin)
}

// An owner is another process with a machine.
type owner struct {
	cmd     *exec.Cmd
	machine string
	pid     int // of the machine's process 1
}

// startOwner runs the test binary as owner of a machine; wrapper is a command
// to run it by, if any.
func startOwner(t *testing.T, wrapper ...string) *owner {
	t.Helper()
	argv := append(wrapper, os.Args[0])
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), ownerVar+"=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	name, pid, ok := strings.Cut(strings.TrimSpace(line), " ")
	number, errPid := strconv.Atoi(pid)
	if err != nil || !ok || errPid != nil {
		t.Fatalf("the owner said %q, %v", line, err)
	}
	return &owner{cmd: cmd, machine: name, pid: number}
}
