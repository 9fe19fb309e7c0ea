package docs_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/docs"
	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

const (
	commandBound = 100 * time.Second      // of one command
	askAgain     = 250 * time.Millisecond // where the output may take its time
)

// place is where a page's commands run.
type place struct {
	command func(ctx context.Context, text string) *exec.Cmd
	write   func(t *testing.T, path, text string)
}

func TestCommandsOfTheDocsRunHere(t *testing.T) {
	for _, page := range pages(t) {
		if _, marks := marked(t, page, docs.RunHere); len(marks) > 0 {
			t.Run(page.Name, func(t *testing.T) {
				t.Parallel()
				here(t).play(t, page, docs.RunHere)
			})
		}
	}
}

// here is a directory of this machine, with the programs in PATH.
func here(t *testing.T) place {
	dir, bin := t.TempDir(), labtest.Programs(t)
	return place{
		command: func(ctx context.Context, text string) *exec.Cmd {
			cmd := exec.CommandContext(ctx, "sh", "-c", text)
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8"}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
			return cmd
		},
		write: func(t *testing.T, path, text string) {
			if filepath.IsAbs(path) {
				return // it is for the lab
			}
			if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		},
	}
}

// everywhere are the pages that are tried on each suite; of the others one does.
var everywhere = []string{"README.md", "docs/start.md"}

func TestCommandsOfTheDocsRunInTheLab(t *testing.T) {
	for _, page := range pages(t) {
		if _, marks := marked(t, page, docs.RunLab); len(marks) == 0 {
			continue
		}
		for _, suite := range lab.Suites() {
			if suite != lab.Trixie && !slices.Contains(everywhere, page.Name) {
				continue
			}
			t.Run(page.Name+"/"+string(suite), func(t *testing.T) {
				t.Parallel()
				installed(t, suite).play(t, page, docs.RunLab)
			})
		}
	}
}

// installed is a machine of the page's own as svckit's package leaves it, in
// root's home.
func installed(t *testing.T, suite lab.Suite) place {
	m := labtest.Boot(t, suite)
	for program, dir := range map[string]string{"svcrun": "/usr/bin/", "svcgen": "/usr/bin/", "svcstat": "/usr/bin/", "svckit-probe": "/usr/lib/svckit/"} {
		m.Install(filepath.Join(labtest.Programs(t), program), dir+program, 0o755)
	}
	m.Run("mkdir", "-p", "/etc/svckit/units", "/etc/svckit/alert.d", "/usr/lib/systemd/system-generators")
	m.Run("ln", "-s", "../../../bin/svcgen", "/usr/lib/systemd/system-generators/svckit")
	return place{
		command: func(ctx context.Context, text string) *exec.Cmd {
			return m.Command(ctx, "sh", "-c", "cd /root\n"+text)
		},
		write: func(t *testing.T, path, text string) {
			if !filepath.IsAbs(path) {
				path = "/root/" + path
			}
			mode := os.FileMode(0o644)
			if strings.HasPrefix(text, "#!") {
				mode = 0o755
			}
			m.Write(path, text, mode)
		},
	}
}

// play writes a page's files and runs those of its blocks that have the role, in
// the order of the page.
func (p place) play(t *testing.T, page docs.Page, role docs.Role) {
	blocks, marks := marked(t, page, role, docs.File, docs.Refused)
	for i, block := range blocks {
		if marks[i].Role != role {
			p.write(t, marks[i].Name, block.Text)
			continue
		}
		commands, err := block.Commands()
		if err != nil {
			t.Fatal(err)
		}
		for j, command := range commands {
			exits := 0
			if j == len(commands)-1 {
				exits = marks[i].Exits
			}
			if err := p.try(t, command, exits, marks[i].Within); err != nil {
				t.Fatalf("%s: $ %s%v", block.Place, command.Text, err)
			}
		}
	}
}

// try runs a command, again and again where its output may take its time.
func (p place) try(t *testing.T, command docs.Command, exits int, within time.Duration) error {
	for deadline := time.Now().Add(within); ; {
		err := p.once(t, command, exits)
		if err == nil || !time.Now().Before(deadline) {
			return err
		}
		select {
		case <-time.After(askAgain):
		case <-t.Context().Done():
			return err
		}
	}
}

func (p place) once(t *testing.T, command docs.Command, exits int) error {
	ctx, cancel := context.WithTimeout(t.Context(), commandBound)
	defer cancel()
	cmd := p.command(ctx, command.Text)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	if code := cmd.ProcessState.ExitCode(); code != exits {
		return errors.New("it ended with " + cmd.ProcessState.String() + "\n" + string(out))
	}
	return docs.Match(command.Want, string(out))
}
