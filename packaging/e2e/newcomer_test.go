package e2e

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/docs"
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

// TestNewcomerIsThereInFiveMinutesByTheReadmeAlone goes from a package that is
// not installed yet to an nginx that has survived a hang, and back to Debian's own.
func TestNewcomerIsThereInFiveMinutesByTheReadmeAlone(t *testing.T) {
	onEachSuite(t, func(t *testing.T, newcomer life) {
		newcomer.Install(filepath.Join(built(t, oldRelease), deb(oldVersion)), "/root/svckit.deb", 0o644)
		newcomer.Run("systemctl", "enable", "--now", nginx) // as when it was installed by apt
		debian, state := newcomer.Show(nginx, "FragmentPath")["FragmentPath"], newcomer.state()

		ctx, cancel := context.WithTimeout(t.Context(), learned)
		defer cancel()
		newcomer.dpkg("--install", "/root/svckit.deb")
		for _, block := range newcomer.readme() {
			newcomer.follow(ctx, block)
		}
		if unit := newcomer.Show(nginx, "FragmentPath", "ActiveState"); unit["FragmentPath"] != debian || unit["ActiveState"] != "active" {
			t.Errorf("after the way back nginx is %v, not active from %s", unit, debian)
		}
		newcomer.dpkg("--purge", "svckit")
		newcomer.Run("systemctl", "restart", nginx)
		newcomer.checkState(state)
	})
}

// readme is what the README that is installed has for a newcomer, in its order.
func (l life) readme() []docs.Block {
	l.t.Helper()
	page, err := docs.ParsePage(shipped, l.Read(shipped))
	if err != nil {
		l.t.Fatal(err)
	}
	blocks := slices.DeleteFunc(page.Blocks, func(block docs.Block) bool {
		mark, err := block.ReadMark()
		return err != nil || mark.Role != docs.NotRun || mark.Name != forNewcomers
	})
	if len(blocks) == 0 {
		l.t.Fatalf("%s has no block that is marked %q", shipped, forNewcomers)
	}
	return blocks
}

// follow types the commands of a block. Each has to end well, by the context's
// end, and with the output that is told.
func (l life) follow(ctx context.Context, block docs.Block) {
	l.t.Helper()
	commands, err := block.Commands()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, command := range commands {
		out, err := l.Command(ctx, "sh", "-c", "cd /root\n"+command.Text).CombinedOutput()
		switch {
		case ctx.Err() != nil:
			l.t.Fatalf("%s: $ %sis not over %v after the package was unpacked\n%s", block.Place, command.Text, learned, out)
		case err != nil:
			l.t.Fatalf("%s: $ %s%v\n%s", block.Place, command.Text, err, out)
		}
		// A terminal does not show how a line of HTTP ends.
		if err := docs.Match(command.Want, strings.ReplaceAll(string(out), "\r\n", "\n")); err != nil {
			l.t.Fatalf("%s: $ %s%v", block.Place, command.Text, err)
		}
	}
}
