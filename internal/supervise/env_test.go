package supervise

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/drain"
	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/watchdog"
)

// given is what a manager may give svcrun.
var given = []string{
	"PATH=/usr/bin:/bin", "HOME=/", "EMPTY=", "ODD", "A=1=2",
	"NOTIFY_SOCKET=/run/systemd/notify", "WATCHDOG_PID=17", "WATCHDOG_USEC=60000000", "SYSTEMD_EXEC_PID=17",
	"LISTEN_PID=17", "LISTEN_FDS=2", "LISTEN_FDNAMES=http:https", "LISTEN_PIDFDID=4711",
	"INVOCATION_ID=0123", "JOURNAL_STREAM=9:1234", "MAINPID=17",
	"RUNTIME_DIRECTORY=/run/app:/run/svckit/app", "STATE_DIRECTORY=/var/lib/svckit/app",
	"NOTIFY_SOCKET_=x", "XNOTIFY_SOCKET=x",
}

func options() Options {
	return Options{
		Environ:    given,
		RuntimeDir: "/run/svckit/app", StateDir: "/var/lib/svckit/app",
		Machine: machine.Config{
			StartTimeout: 90 * time.Second,
			Drain: drain.Plan{
				Steps:    []drain.Step{{Signal: syntax.SIGINT, Wait: 5 * time.Second}, {Signal: syntax.SIGTERM, Wait: 25 * time.Second}},
				KillWait: 5 * time.Second,
			},
		},
	}
}

func TestTheChildsEnvironmentIsSvcrunsButForWhatMeansSvcrun(t *testing.T) {
	want := []string{
		"PATH=/usr/bin:/bin", "HOME=/", "EMPTY=", "ODD", "A=1=2",
		"SYSTEMD_EXEC_PID=17", "LISTEN_PID=17", "LISTEN_FDS=2", "LISTEN_FDNAMES=http:https",
		"INVOCATION_ID=0123", "JOURNAL_STREAM=9:1234", "MAINPID=17",
		"RUNTIME_DIRECTORY=/run/app",
		"NOTIFY_SOCKET_=x", "XNOTIFY_SOCKET=x",
		"NOTIFY_SOCKET=/run/svckit/app/notify",
		"SVCKIT_START_BUDGET_USEC=90000000", "SVCKIT_STOP_BUDGET_USEC=30000000",
	}
	before := slices.Clone(given)
	if diff := cmp.Diff(want, childEnv(options(), "/run/svckit/app/notify", 17, true)); diff != "" {
		t.Errorf("the child's environment (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, given); diff != "" {
		t.Errorf("svcrun's own environment was changed:\n%s", diff)
	}
}

func TestTheChildIsToldOfAWatchdogOnlyWhereItsHeartbeatsAreWanted(t *testing.T) {
	o := options()
	o.Machine.Live = []watchdog.Check{probed(time.Second), spoken(time.Second)}
	env := childEnv(o, "@x", 17, false)
	if !slices.Contains(env, "WATCHDOG_USEC=60000000") {
		t.Error("a live check notify, and no WATCHDOG_USEC")
	}
	if slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "WATCHDOG_PID=") }) {
		t.Error("WATCHDOG_PID is svcrun's, and would tell the child that it is not meant")
	}
	o.Machine.Ready, o.Machine.Live = []watchdog.Check{spoken(time.Second)}, nil
	if slices.Contains(childEnv(o, "@x", 17, false), "WATCHDOG_USEC=60000000") {
		t.Error("a ready check notify asks for no heartbeats")
	}
}

// An svcrun under an svcrun, or a variable of the same name from elsewhere.
func TestWhatSvcrunSaysStandsOnceInTheChildsEnvironment(t *testing.T) {
	o := options()
	o.Environ = []string{"NOTIFY_SOCKET=a", "SVCKIT_START_BUDGET_USEC=1", "NOTIFY_SOCKET=b", "SVCKIT_STOP_BUDGET_USEC=1"}
	want := []string{"NOTIFY_SOCKET=@x", "SVCKIT_START_BUDGET_USEC=90000000", "SVCKIT_STOP_BUDGET_USEC=30000000"}
	if diff := cmp.Diff(want, childEnv(o, "@x", 17, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSvcrunsOwnDirectoriesAreTakenOutOfTheLists(t *testing.T) {
	for _, c := range []struct{ list, own, want string }{
		{"/run/svckit/app", "/run/svckit/app", ""},
		{"/run/svckit/app/", "/run/svckit/app", ""},
		{"/run/app:/run/svckit/app", "/run/svckit/app", "/run/app"},
		{"/run/svckit/app:/run/app", "/run/svckit/app", "/run/app"},
		{"/a:/run/svckit/app:/b", "/run/svckit//app", "/a:/b"},
		{"/run/svckit/app2:/run/svckit", "/run/svckit/app", "/run/svckit/app2:/run/svckit"},
		{"/run/app", "", "/run/app"},
	} {
		want := []string{"A=1", "STATE_DIRECTORY=" + c.want, "B=2"}
		if c.want == "" {
			want = slices.Delete(want, 1, 2)
		}
		got := withoutEntry([]string{"A=1", "STATE_DIRECTORY=" + c.list, "B=2"}, "STATE_DIRECTORY", c.own)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s without %s (-want +got):\n%s", c.list, c.own, diff)
		}
	}
}

func TestProbesAndHooksSeeNeitherSocketNorTheServicesRole(t *testing.T) {
	want := []string{
		"PATH=/usr/bin:/bin", "HOME=/", "EMPTY=", "ODD", "A=1=2",
		"INVOCATION_ID=0123", "JOURNAL_STREAM=9:1234", "MAINPID=17",
		"RUNTIME_DIRECTORY=/run/app:/run/svckit/app", "STATE_DIRECTORY=/var/lib/svckit/app",
		"NOTIFY_SOCKET_=x", "XNOTIFY_SOCKET=x",
	}
	if diff := cmp.Diff(want, helperEnv(given)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(withheld) != 4 || len(activation) != 3 {
		t.Errorf("withheld has become %v, activation %v", withheld, activation)
	}
}

func TestSocketActivationIsPassedOnOnlyIfItIsMeantForSvcrun(t *testing.T) {
	names := func(environ []string) string {
		var found []string
		for _, entry := range environ {
			name, _, _ := strings.Cut(entry, "=")
			if name == execPID || slices.Contains(activation, name) {
				found = append(found, name)
			}
		}
		return strings.Join(found, " ")
	}
	const all = "LISTEN_PID LISTEN_FDS LISTEN_FDNAMES"
	for _, c := range []struct {
		name  string
		given string
		shim  bool
		want  string
	}{
		{"svcrun's", "LISTEN_PID=7 LISTEN_FDS=1 LISTEN_FDNAMES=a", true, all},
		{"with the manager's own word", "LISTEN_PID=7 LISTEN_FDS=1 LISTEN_FDNAMES=a SYSTEMD_EXEC_PID=7", true, all + " SYSTEMD_EXEC_PID"},
		{"another's", "LISTEN_PID=8 LISTEN_FDS=1 LISTEN_FDNAMES=a SYSTEMD_EXEC_PID=8", true, ""},
		{"of a pid that begins alike", "LISTEN_PID=70 LISTEN_FDS=1 LISTEN_FDNAMES=a", true, ""},
		{"nobody's", "LISTEN_FDS=1 LISTEN_FDNAMES=a", true, ""},
		{"of none", "LISTEN_PID=7 LISTEN_FDS=0", true, ""},
		{"of nonsense", "LISTEN_PID=7 LISTEN_FDS=-1", true, ""},
		{"the shim for another reason", "SYSTEMD_EXEC_PID=7", true, "SYSTEMD_EXEC_PID"},
		{"no shim", "SYSTEMD_EXEC_PID=7", false, ""},
	} {
		environ := strings.Fields(c.given)
		if got := names(childEnv(Options{Environ: environ}, "@x", 7, c.shim)); got != c.want {
			t.Errorf("%s: %s; want %q", c.name, got, c.want)
		}
		if got := activated(environ, 7); got != (strings.HasPrefix(c.want, all)) {
			t.Errorf("%s: activated is %v", c.name, got)
		}
	}
}
