package manager

import (
	"os"
	"slices"
	"testing"

	"github.com/svckit/svckit/internal/manager/plan"
)

func TestACommandBesideTheMainProcessLeavesItsCredentialsAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/secret", []byte("hush"), 0o600); err != nil {
		t.Fatal(err)
	}
	u := &unit{plan: &plan.Service{Name: "a.service"}}
	u.plan.Surroundings.Credentials = []plan.Credential{{Name: "token", Path: dir + "/secret"}}
	r := &runner{host: &Host{Dir: dir}}
	t.Cleanup(func() { takeCredentials(r.host.Credentials("a.service")) })
	token := r.host.Credentials("a.service") + "/token"
	if p := r.seeTo(u, "/bin/true", true); p.err != nil {
		t.Fatal(p.err)
	}
	held, err := os.Open(token) // or another file could have its number
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for _, isFirst := range []bool{false, true} {
		if p := r.seeTo(u, "/bin/true", isFirst); p.err != nil {
			t.Fatal(p.err)
		}
		before, _ := held.Stat()
		after, err := os.Stat(token)
		if err != nil || os.SameFile(before, after) == isFirst {
			t.Errorf("first of its run %v: the credential is another file %v, %v", isFirst, !isFirst, err)
		}
	}
}

func TestAUnitThatWasNotStartedTakesNobodysDirectory(t *testing.T) {
	dir := t.TempDir()
	u := &unit{plan: &plan.Service{Name: "a.service"}}
	u.plan.Surroundings.Dirs = []plan.Dir{{Path: dir + "/a", Runtime: true}}
	for _, started := range []bool{false, true} {
		if err := os.MkdirAll(dir+"/a", 0o755); err != nil {
			t.Fatal(err)
		}
		u.surrounded = started
		u.release(&Host{Dir: dir})
		if exists(dir+"/a") == started {
			t.Errorf("started %v: its directory is there: %v", started, !started)
		}
	}
}

func TestASessionIsTheUnitsUntilAnotherProcessHasItsNumber(t *testing.T) {
	u := &unit{sessions: []int{7, 8, 9}}
	if u.forget(8); !slices.Equal(u.sessions, []int{7, 9}) {
		t.Errorf("%v", u.sessions)
	}
}
