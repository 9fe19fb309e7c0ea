package e2e

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/docs"
	"github.com/svckit/svckit/internal/lab/labtest"
)

const (
	// learned is how long the way from the package to an nginx that survives a hang
	// may take.
	learned = 5 * time.Minute
	// shipped is the only page that a newcomer reads.
	shipped = "/usr/share/doc/svckit/README.md"
	// forNewcomers is how the README marks what this test plays, behind "run: no".
	forNewcomers = "packaging/e2e does it in a machine that has nothing but the package and nginx"
	nginx        = "nginx.service"
)

// newcomer is somebody who has Debian, its nginx and the package, and who does
// what the README says.
type newcomer struct {
	life
	within context.Context
}

// TestNewcomerIsThereInFiveMinutesByTheReadmeAlone goes from a package that is
// not installed yet to an nginx that has survived a hang, and back to Debian's own.
func TestNewcomerIsThereInFiveMinutesByTheReadmeAlone(t *testing.T) {
	onEachSuite(t, func(t *testing.T, m *labtest.Machine) {
		m.Install(filepath.Join(built(t, oldRelease), deb(oldVersion)), "/root/svckit.deb", 0o644)
		m.Run("systemctl", "enable", "--now", nginx) // as when it was installed by apt
		debian, state := m.Show(nginx, "FragmentPath")["FragmentPath"], life{t, m}.state()

		ctx, cancel := context.WithTimeout(t.Context(), learned)
		defer cancel()
		n := newcomer{life{t, m}, ctx}
		n.dpkg("--install", "/root/svckit.deb")
		n.follow(n.blocks())
		if ctx.Err() != nil {
			t.Errorf("it took longer than %v", learned)
		}

		if unit := m.Show(nginx, "FragmentPath", "ActiveState"); unit["FragmentPath"] != debian || unit["ActiveState"] != "active" {
			t.Errorf("after the way back nginx is %v, not active from %s", unit, debian)
		}
		n.dpkg("--purge", "svckit")
		m.Run("systemctl", "restart", nginx)
		n.checkState(state)
	})
}

// blocks are what the README has for a newcomer, in its order.
func (n newcomer) blocks() []docs.Block {
	n.t.Helper()
	page, err := docs.ParsePage(shipped, n.Read(shipped))
	if err != nil {
		n.t.Fatal(err)
	}
	blocks := slices.DeleteFunc(page.Blocks, func(block docs.Block) bool {
		mark, err := block.ReadMark()
		return err != nil || mark.Role != docs.NotRun || mark.Name != forNewcomers
	})
	if len(blocks) == 0 {
		n.t.Fatalf("%s has no block that is marked %q", shipped, forNewcomers)
	}
	return blocks
}

// follow types the commands of the blocks, each of which has to end well and with
// the output that is told.
func (n newcomer) follow(blocks []docs.Block) {
	n.t.Helper()
	for _, block := range blocks {
		commands, err := block.Commands()
		if err != nil {
			n.t.Fatal(err)
		}
		for _, command := range commands {
			out, err := n.Command(n.within, "sh", "-c", "cd /root\n"+command.Text).CombinedOutput()
			if err == nil {
				err = docs.Match(command.Want, string(out))
			}
			if err != nil {
				n.t.Fatalf("%s: $ %s: %v\n%s", block.Place, strings.TrimSpace(command.Text), err, out)
			}
		}
	}
}
