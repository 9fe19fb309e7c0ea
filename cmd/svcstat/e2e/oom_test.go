//go:build linux

package e2e

import (
	"context"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/internal/lab/vm"
	"github.com/svckit/svckit/internal/lab/vm/vmtest"
)

// hungry are services that run into their limit, bare and under svcrun. By
// default the manager stops what is left of the unit, and so asks svcrun for a
// stop; with continue it leaves that to svcrun.
var hungry = map[string]string{
	"bare":          "Type=exec\nExecStart=/usr/bin/tail /dev/zero\n",
	"own-oom":       hungryChild,
	"own-continues": "OOMPolicy=continue\n" + hungryChild,
	"own-group":     "OOMPolicy=kill\n" + hungryChild, // svcrun is killed as well
}

const hungryChild = "Type=notify\nExecStart=" + svcrun + " --state-dir=%S/svckit/%N --ready=exec:/bin/true -- /bin/sh -c 'sleep 5; exec tail /dev/zero'\n"

// virtual is a virtual machine in a test.
type virtual struct {
	*vm.Machine
	t   *testing.T
	ctx context.Context
}

func (v virtual) run(argv ...string) string {
	v.t.Helper()
	out, err := v.Output(v.ctx, argv...)
	if err != nil {
		v.t.Fatal(err)
	}
	return out
}

// fetch runs a shell command and returns its output, which may be anything.
func (v virtual) fetch(command string) []byte {
	v.t.Helper()
	data, err := base64.StdEncoding.DecodeString(v.run("sh", "-c", "{ "+command+"; } | gzip | base64 -w 0"))
	if err != nil {
		v.t.Fatal(err)
	}
	unpack := exec.CommandContext(v.ctx, "gzip", "--decompress", "--stdout")
	unpack.Stdin = strings.NewReader(string(data))
	if data, err = unpack.Output(); err != nil {
		v.t.Fatal(err)
	}
	return data
}

// TestOutOfMemoryIsTold needs the memory controller, which the lab's namespaces
// do not have. The suites take turns, each machine has much of the host's memory.
func TestOutOfMemoryIsTold(t *testing.T) {
	vmtest.Asked(t)
	programs := labtest.Programs(t)
	for _, suite := range lab.Suites() {
		t.Run(string(suite), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			v := virtual{vmtest.Boot(t, suite, map[string]string{
				svcrun: filepath.Join(programs, "svcrun"), svcstat: filepath.Join(programs, "svcstat"),
			}), t, ctx}
			told, exported, kept := starve(v)
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
			checkHungry(t, told)
			checkHungryElsewhere(t, told, exported, kept)
		})
	}
}

// starve runs the services to their ends. It returns what is told of them in the
// machine, and what is left of it: its journal, and svcrun's records.
func starve(v virtual) (told map[string]answer, exported, kept string) {
	v.t.Helper()
	const limited = "[Service]\nMemoryMax=40M\nMemorySwapMax=0\nKillMode=mixed\nStateDirectory=svckit/%N\n"
	var names, units []string
	for name, unit := range hungry {
		if err := v.WriteFile(v.ctx, "/run/systemd/system/"+name+".service", limited+unit); err != nil {
			v.t.Fatal(err)
		}
		names, units = append(names, name), append(units, name+".service")
	}
	all := strings.Join(names, " ")
	v.run("sh", "-c", "systemctl daemon-reload; systemctl start "+all+"; for u in "+all+"; do until systemctl is-failed -q $u; do sleep 0.2; done; done; journalctl --sync")
	told = ask(func(args ...string) string { return v.run(append([]string{svcstat}, args...)...) }, units)
	dir := v.t.TempDir()
	exported, kept = filepath.Join(dir, "journal"), filepath.Join(dir, "records")
	if err := os.WriteFile(exported, v.fetch("journalctl --all --output=export -u "+strings.Join(names, " -u ")), 0o600); err != nil {
		v.t.Fatal(err)
	}
	if err := os.Mkdir(kept, 0o700); err != nil {
		v.t.Fatal(err)
	}
	unpack := exec.CommandContext(v.ctx, "tar", "--extract", "--directory="+kept)
	unpack.Stdin = strings.NewReader(string(v.fetch("tar --create --directory=/var/lib/svckit .")))
	if out, err := unpack.CombinedOutput(); err != nil {
		v.t.Fatalf("%v: %s", err, out)
	}
	return told, exported, kept
}

func checkHungry(t *testing.T, told map[string]answer) {
	for unit, answer := range told {
		happened := []string{"ready oom signal=KILL (stop=*)"}
		checkRuns(t, unit, happened, answer.runs(t))
		got := answer.explanation(t)
		if got.String() != "failed restart-setting +read-log +start" {
			t.Errorf("%s: why says %q\n%s", unit, got, strings.Join(got.Sentences, "\n"))
		}
		checkSentences(t, unit, happened, got)
	}
}

// checkHungryElsewhere: svcrun cannot know why its child was killed, so that its
// records alone tell of the signal.
func checkHungryElsewhere(t *testing.T, told map[string]answer, exported, kept string) {
	here := make(map[string]answer)
	for unit := range told {
		name := strings.TrimSuffix(unit, ".service")
		records := "--state-dir=" + filepath.Join(kept, name)
		here[unit] = ask(elsewhere(t), []string{unit}, "--journal-file="+exported, records)[unit]
		want := []string{"ready signal signal=KILL (stop=*)"}
		switch name {
		case "bare":
			continue
		case "own-group":
			want = []string{"ready"}
		}
		checkRuns(t, name+", records alone", want, decodeHistory(t, elsewhere(t)("history", "--json", unit, records)).Runs)
	}
	sameElsewhere(t, told, here, busKnows)
}
