package proc

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

func TestStatIsReadWhateverTheCommandIsCalled(t *testing.T) {
	for stat, want := range map[string]Process{
		"17 (sh) S 1 17 17 0 -1":         {PID: 17, Parent: 1, Group: 17},
		"17 (a b) S 1 17 17":             {PID: 17, Parent: 1, Group: 17},
		"17 (a) S 2 3) R 4 5 6":          {PID: 17, Parent: 4, Group: 5},
		"17 (() S 4 5":                   {PID: 17, Parent: 4, Group: 5},
		"17 ()) S 4 5":                   {PID: 17, Parent: 4, Group: 5},
		"17 (a\n18 (b) S 1 1\n) S 4 5 6": {PID: 17, Parent: 4, Group: 5},
		"17 () S 4 5":                    {PID: 17, Parent: 4, Group: 5},
		"17 (x) Z 4 5 6":                 {PID: 17, Parent: 4, Group: 5, Zombie: true},
		"17 (x) X 4 5 6":                 {PID: 17, Parent: 4, Group: 5, Zombie: true},
		"17 (x) Z 4 5 5 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 9": {PID: 17, Parent: 4, Group: 5, Zombie: true},
		"17 (x) Z 4 5 5 0 -1 4 0 0 0 0 0 0 0 0 20 0 2 0 9": {PID: 17, Parent: 4, Group: 5}, // its leading thread alone is dead
		"17 (x) T 4 5 6\n":                  {PID: 17, Parent: 4, Group: 5},
		"4194304 (x) D 0 0 0 0 -1 69238880": {PID: 4194304},
	} {
		if got, ok := parseStat([]byte(stat)); !ok || got != want {
			t.Errorf("%q: %+v, %v; want %+v", stat, got, ok, want)
		}
	}
	for _, stat := range []string{
		"", "(", ")", "()", "17", "17 (x", "17 x) S 1 2", "(x) S 1 2", "17 (x) S", "17 (x) S 1", "17 (x) S a 2",
		"17 (x) S 1 b", "a (x) S 1 2", ")17( S 1 2", "99999999999999999999 (x) S 1 2",
	} {
		if got, ok := parseStat([]byte(stat)); ok {
			t.Errorf("%q was read as %+v", stat, got)
		}
	}
}

func FuzzStat(f *testing.F) {
	for _, seed := range []string{"17 (sh) S 1 17 17 0", "1 (a) b) Z 2 3", "1 (\n) S 4 5", "(((", ")))"} {
		f.Add([]byte(seed), "sh")
	}
	f.Fuzz(func(t *testing.T, stat []byte, name string) {
		if p, ok := parseStat(stat); !ok && p != (Process{}) {
			t.Errorf("%q was refused with %+v", stat, p)
		}
		// Whatever its name, a process cannot pass for another.
		line := fmt.Sprintf("17 (%s) S 4 5 6 7", name)
		if p, ok := parseStat([]byte(line)); !ok || p != (Process{PID: 17, Parent: 4, Group: 5}) {
			t.Errorf("%q was read as %+v, %v", line, p, ok)
		}
	})
}

func TestThisProcessIsInTheTable(t *testing.T) {
	for _, p := range processes(os.Getpid(), walkBound) {
		if p.PID == os.Getpid() {
			if p.Parent != os.Getppid() || p.Zombie {
				t.Errorf("this process is read as %+v", p)
			}
			return
		}
	}
	t.Error("this process is not in the table")
}

func TestWalkThatIsCutShortHasFoundSomething(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	if found, _ := quickDescendants(os.Getpid(), 0); len(found) != 1 {
		t.Errorf("the quick one has found %v", found)
	}
	cut := processes(os.Getpid(), 0)
	if found := descendants(cut, os.Getpid()); len(found) != 1 {
		t.Errorf("it has found %v", found)
	}
	if last := cut[len(cut)-1]; last.Parent != os.Getpid() {
		t.Errorf("it has gone on to %+v", last)
	}
}

func TestWalkBeginsWithWhoIsAskedFor(t *testing.T) {
	for _, c := range []struct {
		first         int
		numbers, want []int
	}{
		{3, []int{5, 1, 3, 2}, []int{3, 5, 1, 2}},
		{4, []int{5, 1, 3, 2}, []int{5, 1, 2, 3}},
		{9, []int{2, 1}, []int{1, 2}},
		{1, nil, nil},
	} {
		if got := from(c.first, c.numbers); !slices.Equal(got, c.want) {
			t.Errorf("%v from %d: %v, want %v", c.numbers, c.first, got, c.want)
		}
	}
}

// descends says by the chain of parents whether a process descends from root.
func descends(table []Process, p Process, root int) bool {
	for range len(table) + 1 {
		if p.Parent == root {
			return p.PID != root
		}
		parent := slices.IndexFunc(table, func(q Process) bool { return q.PID == p.Parent })
		if parent < 0 {
			return false
		}
		p = table[parent]
	}
	return false // a circle, which a table read in pieces may show
}

func TestDescendantsAreThoseWhoseChainOfParentsLeadsHere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "processes")
		var table []Process
		for pid := 1; pid <= n; pid++ {
			table = append(table, Process{
				PID: pid, Parent: rapid.IntRange(0, n).Draw(t, "parent"), Group: pid,
				Zombie: rapid.IntRange(0, 3).Draw(t, "zombie") == 0,
			})
		}
		root := rapid.IntRange(1, n).Draw(t, "root")
		var want []int
		for _, p := range table {
			if !p.Zombie && p.PID != root && descends(table, p, root) {
				want = append(want, p.PID)
			}
		}
		var got []int
		for _, p := range descendants(table, root) {
			got = append(got, p.PID)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("descendants of %d in %+v (-want +got):\n%s", root, table, diff)
		}
	})
}

func TestAGroupIsThereAsLongAsOneIsInIt(t *testing.T) {
	table := []Process{{PID: 1, Group: 1}, {PID: 2, Group: 7}}
	if !inGroup(table, 7) || inGroup(table, 2) || inGroup(nil, 7) {
		t.Error("a group is told by its number")
	}
}

func TestTheKernelsListsHaveTheDescendantsToo(t *testing.T) {
	child := exec.Command("sh", "-c", "sleep 60 & sleep 60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, p := range Descendants() {
			_ = unix.Kill(p.PID, unix.SIGKILL)
		}
		_ = child.Wait()
	}()
	for end := time.Now().Add(patience); len(Descendants()) < 3 && time.Now().Before(end); {
		runtime.Gosched()
	}
	found, known := quickDescendants(os.Getpid(), walkBound)
	if !known {
		t.Skip("this kernel has no lists of children (CONFIG_PROC_CHILDREN)")
	}
	all := Descendants()
	order := func(a, b Process) int { return a.PID - b.PID }
	slices.SortFunc(found, order)
	slices.SortFunc(all, order)
	if len(all) < 3 || !slices.Equal(found, all) {
		t.Errorf("by lists %+v, by the table %+v", found, all)
	}
}
