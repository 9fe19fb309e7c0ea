//go:build linux

package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/internal/lab/vm/vmtest"
)

// TestOutOfMemoryIsTold needs the memory controller, which the lab's namespaces
// do not have. It makes a service, bare and under svcrun, run into its limit.
func TestOutOfMemoryIsTold(t *testing.T) {
	vmtest.Asked(t)
	programs := labtest.Programs(t)
	m := vmtest.Boot(t, lab.Sid, map[string]string{
		svcrun: filepath.Join(programs, "svcrun"), svcstat: filepath.Join(programs, "svcstat"),
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	output := func(argv ...string) string {
		t.Helper()
		out, err := m.Output(ctx, argv...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const limited = "[Service]\nMemoryMax=40M\nMemorySwapMax=0\nKillMode=mixed\nStateDirectory=svckit/%N\n"
	for name, exec := range map[string]string{
		"bare":    "Type=exec\nExecStart=/usr/bin/tail /dev/zero\n",
		"wrapped": "Type=notify\nExecStart=" + svcrun + " --state-dir=%S/svckit/%N --ready=exec:/bin/true -- /bin/sh -c 'sleep 5; exec tail /dev/zero'\n",
	} {
		if err := m.WriteFile(ctx, "/run/systemd/system/"+name+".service", limited+exec); err != nil {
			t.Fatal(err)
		}
		output("systemctl", "daemon-reload")
		output("sh", "-c", "systemctl start "+name+"; until systemctl is-failed -q "+name+"; do sleep 0.2; done; journalctl --sync")
		runs := decodeHistory(t, output(svcstat, "history", "--json", name)).Runs
		if len(runs) != 1 || runs[0].Cause == nil || *runs[0].Cause != "oom" || runs[0].Signal == nil || *runs[0].Signal != "SIGKILL" {
			t.Errorf("%s: told %+v, want one that ended for lack of memory\n%s", name, runs, output("journalctl", "-u", name))
		}
		got := decodeWhy(t, output(svcstat, "why", "--json", name))
		if got.String() != "failed restart-setting +read-log +start" || !strings.Contains(strings.Join(got.Sentences, "\n"), "killed for lack of memory") {
			t.Errorf("%s: why says %q\n%s", name, got, strings.Join(got.Sentences, "\n"))
		}
	}
}
