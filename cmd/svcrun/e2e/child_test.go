package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// setting is how a manager, or what it starts svcrun by, may set a service up.
type setting struct {
	name   string
	lines  string // of the unit
	before string // of the command: what svcrun is started by
}

// blocking has signals blocked, then executes what follows. CHLD and SEGV are two
// that the Go runtime unblocks.
const blocking = `/usr/bin/perl -MPOSIX -e "sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGUSR2, SIGCHLD, SIGSEGV, SIGTERM)); exec @ARGV" `

// ignoring has signals ignored, then executes what follows.
const ignoring = `/bin/sh -c 'trap "" USR1 HUP CONT TTOU ALRM SEGV TERM; exec "$$@"' sh `

var settings = []setting{
	{name: "plain"},
	{name: "sigpipe", lines: "IgnoreSIGPIPE=no"},
	{name: "ignored", before: ignoring},
	{name: "ignored-sigpipe", lines: "IgnoreSIGPIPE=no", before: ignoring},
	{name: "blocked", before: blocking},
	{name: "blocked-ignored", before: blocking + ignoring},
	{name: "limits", lines: "LimitNOFILE=123:4567\nLimitCORE=1:2\nLimitSTACK=1M:2M\nLimitNPROC=1234\nUMask=0027\nOOMScoreAdjust=300\nNice=5\nTimerSlackNSec=70000\nCoredumpFilter=private-anonymous"},
	{name: "limits-ignored", lines: "LimitNOFILE=123:4567\nUMask=0077", before: ignoring},
	{name: "nofile-equal", lines: "LimitNOFILE=512"},
	{name: "user", lines: "User=nobody\nSupplementaryGroups=adm tty\nAmbientCapabilities=CAP_NET_BIND_SERVICE\nNoNewPrivileges=yes\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE CAP_CHOWN"},
	{name: "user-ignored", lines: "User=nobody\nSecureBits=noroot\nAmbientCapabilities=CAP_NET_BIND_SERVICE", before: ignoring},
	{name: "input", lines: "StandardInput=file:/etc/hostname\nStandardOutput=append:/run/child/%N.out\nStandardError=null"},
	{name: "directories", lines: "RuntimeDirectory=child-%N\nStateDirectory=child-%N\nWorkingDirectory=/var\nEnvironment=ODD= \"TWO=a b\" LISTEN_FDS=3 SYSTEMD_X=1"},
}

// inspect prints what a process has from whoever started it.
const inspect = `#!/bin/sh
{
	echo "pid $$"
	while read -r key value; do # by the shell itself, which blocks signals while it forks
		case $key in Umask:|Uid:|Gid:|Groups:|SigBlk:|SigIgn:|SigCgt:|Cap*|NoNewPrivs:|Seccomp:|*_allowed:) echo "$key $value" ;; esac
	done </proc/$$/status
	cat /proc/$$/limits /proc/$$/oom_score_adj /proc/$$/coredump_filter /proc/$$/timerslack_ns
	echo "nice $(cut -d' ' -f19 /proc/$$/stat)"
	readlink /proc/$$/cwd
	for fd in /proc/$$/fd/*; do echo "fd ${fd##*/} $(readlink $fd)"; done
	tr '\0' '\n' </proc/$$/environ | sed 's/^/env /'
} >/run/child/$1.new
mv /run/child/$1.new /run/child/$1
exec sleep 1000
`

func (s setting) unit(svcrun bool, unit string) string {
	before := s.before
	if svcrun {
		before += "/usr/bin/svcrun -- "
	}
	return fmt.Sprintf("[Service]\nNotifyAccess=main\nKillMode=mixed\nTimeoutStopSec=2\n%s\nExecStart=%s/usr/bin/inspect %s\n", s.lines, before, unit)
}

func TestTheChildFindsWhatTheManagerGaveSvcrun(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		m.Run("mkdir", "-p", "-m", "1777", "/run/child")
		m.Write("/usr/bin/inspect", inspect, 0o755)
		for _, s := range settings {
			without, with := inspected(t, m, s, false), inspected(t, m, s, true)
			if diff := cmp.Diff(without.given, with.given); diff != "" {
				t.Errorf("%s (-without svcrun, +with it):\n%s", s.name, diff)
			}
			s.checkEnvironment(t, without, with)
		}
	})
}

// checkEnvironment holds that the two differ in what means svcrun, and only in that.
func (s setting) checkEnvironment(t *testing.T, without, with inspection) {
	t.Helper()
	want := slices.DeleteFunc(slices.Clone(without.environ), func(e string) bool {
		return strings.HasPrefix(e, "NOTIFY_SOCKET=") || strings.HasPrefix(e, "LISTEN_FDS=") ||
			strings.HasPrefix(e, "SYSTEMD_EXEC_PID=") && !strings.Contains(s.before, ignoring)
	})
	got := slices.DeleteFunc(slices.Clone(with.environ), func(e string) bool {
		return strings.HasPrefix(e, "NOTIFY_SOCKET=@svckit/")
	})
	want = append(want, "SVCKIT_START_BUDGET_USEC=90000000", "SVCKIT_STOP_BUDGET_USEC=30000000")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: environment (-want +got):\n%s", s.name, diff)
	}
}

// inspection is what a process has found, without what differs between any two.
type inspection struct {
	given   []string
	environ []string
}

// inspected starts a service of that setting and takes its report.
func inspected(t *testing.T, m *labtest.Machine, s setting, svcrun bool) inspection {
	t.Helper()
	unit := "child-" + s.name + map[bool]string{false: "-without", true: "-with"}[svcrun]
	m.InstallUnit(unit+".service", s.unit(svcrun, unit))
	m.Run("systemctl", "start", unit)
	text := fileOnceThere(t, m, "/run/child/"+unit)
	m.Run("systemctl", "kill", "--signal=KILL", unit)
	m.WaitFor(unit, "MainPID=0")
	return sortOut(text, unit)
}

var (
	inode  = regexp.MustCompile(`\[\d+\]`)
	ownVar = regexp.MustCompile(`^(INVOCATION_ID|JOURNAL_STREAM)=.*`)
)

// sortOut takes a report apart.
func sortOut(text, unit string) inspection {
	var found inspection
	pid := ""
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		line = inode.ReplaceAllString(strings.ReplaceAll(line, unit, "UNIT"), "[]")
		if number, ok := strings.CutPrefix(line, "pid "); ok {
			pid = number
			continue
		}
		entry, ok := strings.CutPrefix(line, "env ")
		if !ok {
			found.given = append(found.given, line)
			continue
		}
		if entry == "SYSTEMD_EXEC_PID="+pid {
			entry = "SYSTEMD_EXEC_PID=own"
		}
		found.environ = append(found.environ, ownVar.ReplaceAllString(entry, "$1"))
	}
	return found
}

// fileOnceThere waits for a file that is renamed into its place, and reads it.
func fileOnceThere(t *testing.T, m *labtest.Machine, path string) string {
	t.Helper()
	m.WaitShell(`[ -e "$0" ]`, path)
	return m.Read(path)
}
