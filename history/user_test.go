package history

import (
	"testing"
)

// userEntry is a line of the manager's as that of user 1500's would be.
func userEntry(t *testing.T, line string) Entry {
	t.Helper()
	e := entry(t, line)
	e.UserUnit, e.UserInvocation, e.Unit, e.Invocation = e.Unit, e.Invocation, "", ""
	e.PID, e.UID, e.OwnUnit, e.OwnUserUnit = "71", "1500", "user@1500.service", "init.scope"
	e.Cgroup = "/user.slice/user-1500.slice/user@1500.service/init.scope"
	return e
}

func userRuns(t *testing.T, lines ...string) []string {
	t.Helper()
	fold := NewUserFold(unit, "1500")
	for _, line := range lines {
		fold.Add(userEntry(t, line))
	}
	var told []string
	for _, r := range fold.Runs() {
		told = append(told, tell(r))
	}
	return told
}

// TestAUsersManagerIsSilentAboutSuccess: it logs no end with success (since
// 249), so that a restart or a stop that follows is what tells of one.
func TestAUsersManagerIsSilentAboutSuccess(t *testing.T) {
	got := userRuns(t, "0s A started", "9s A scheduled 1", "9s B started", "19s B stopping", "20s B stopped", "30s C started", "35s C exit exited 3", "35s C failed exit-code")
	want := []string{"A unknown clean up=0s delay=0s", "B automatic/1 stop-requested up=11s delay=10s", "C requested exit-code exited=3 up=5s delay=0s"}
	if len(got) != len(want) {
		t.Fatalf("told %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("told %q, want %q", got[i], want[i])
		}
	}
}

// TestOthersCannotSpeakForAUsersManager: not another user, not the system's
// services, and not the user's own services.
func TestOthersCannotSpeakForAUsersManager(t *testing.T) {
	for name, disguise := range map[string]func(*Entry){
		"another user": func(e *Entry) { e.UID = "1501" },
		"root":         func(e *Entry) { e.UID = "0" },
		"a service of the user": func(e *Entry) {
			e.OwnUserUnit, e.Cgroup = "x.service", "/user.slice/user-1500.slice/user@1500.service/app.slice/x.service"
		},
		"a session of the user": func(e *Entry) { e.OwnUnit, e.OwnUserUnit = "session-1.scope", "" },
		"the system's manager": func(e *Entry) {
			e.PID, e.UID, e.OwnUnit, e.OwnUserUnit, e.Cgroup = "1", "0", "init.scope", "", "/init.scope"
		},
		"a group of that name": func(e *Entry) { e.Cgroup = "/user.slice/x-user@1500.service/init.scope" },
	} {
		fold := NewUserFold(unit, "1500")
		e := userEntry(t, "0s A started")
		disguise(&e)
		fold.Add(e)
		if runs := fold.Runs(); len(runs) > 0 {
			t.Errorf("%s: %d runs of a forged line", name, len(runs))
		}
	}
	fold := NewFold(unit)
	fold.Add(userEntry(t, "0s A started"))
	if runs := fold.Runs(); len(runs) > 0 {
		t.Errorf("a user's manager speaks for the system's: %d runs", len(runs))
	}
}
