//go:build linux

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// BenchmarkList is svcstat list beside systemctl list-units, interleaved, on a
// machine with 500 services that are up. It is run by hand:
//
//	go test -run - -bench . -benchtime 1x ./cmd/svcstat/e2e
func BenchmarkList(b *testing.B) {
	const services, rounds = 500, 15
	program := filepath.Join(labtest.Programs(b), "svcstat")
	for _, suite := range lab.Suites() {
		b.Run(string(suite), func(b *testing.B) {
			m := labtest.Boot(b, suite)
			m.Install(program, svcstat, 0o755)
			m.Write("/run/systemd/system/up@.service", "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n", 0o644)
			m.Run("systemctl", "daemon-reload")
			for i := 0; i < services; i += 50 {
				start := []string{"systemctl", "start"}
				for j := range 50 {
					start = append(start, fmt.Sprintf("up@%d.service", i+j))
				}
				m.Run(start...)
			}
			for range b.N {
				times := interleaved(m, rounds, "systemctl list-units --no-pager", svcstat+" list")
				b.ReportMetric(float64(times[1])/float64(times[0]), "x-systemctl")
				b.ReportMetric(float64(times[1])/1e6, "ms")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// BenchmarkHistory is svcstat history beside the journalctl that feeds it, of a
// unit that has printed 200,000 lines and restarted some hundred times.
func BenchmarkHistory(b *testing.B) {
	const rounds, lines, restarts = 5, 200_000, 200
	m := labtest.Boot(b, lab.Trixie)
	m.Install(filepath.Join(labtest.Programs(b), "svcstat"), svcstat, 0o755)
	m.Write("/run/programs/talks", "#!/bin/sh\nseq "+strconv.Itoa(lines/restarts)+"\nsleep 0.1\nexit 3\n", 0o755)
	m.InstallUnit("talks.service", "[Unit]\nStartLimitIntervalSec=0\n[Service]\nExecStart=/run/programs/talks\nRestart=on-failure\n"+
		"RestartSec=1ms\nLogRateLimitIntervalSec=0\n")
	m.Run("systemctl", "start", "talks.service")
	m.WaitUntil("talks.service", func(p lab.Properties) bool {
		n, err := strconv.Atoi(p["NRestarts"])
		return err == nil && n >= restarts
	}, "NRestarts")
	m.Run("systemctl", "stop", "talks.service")
	m.Run("journalctl", "--sync")
	feed := "journalctl -o json --no-pager UNIT=talks.service + _SYSTEMD_UNIT=talks.service"
	for range b.N {
		times := interleaved(m, rounds, feed, svcstat+" history talks")
		b.ReportMetric(float64(times[1])/float64(times[0]), "x-journalctl")
		b.ReportMetric(float64(times[1])/1e6, "ms")
		b.ReportMetric(0, "ns/op")
	}
}

// BenchmarkUnknown is svcstat's answer to a mistyped name, with the nearest ones,
// beside systemctl's, which has none.
func BenchmarkUnknown(b *testing.B) {
	const rounds = 15
	program := filepath.Join(labtest.Programs(b), "svcstat")
	for _, suite := range lab.Suites() {
		b.Run(string(suite), func(b *testing.B) {
			m := labtest.Boot(b, suite)
			m.Install(program, svcstat, 0o755)
			for range b.N {
				times := interleaved(m, rounds, "systemctl status sytemd-journald 2>/dev/null", svcstat+" list sytemd-journald 2>/dev/null", svcstat+" why sytemd-journald 2>/dev/null")
				b.ReportMetric(float64(times[1])/float64(times[0]), "list/systemctl")
				b.ReportMetric(float64(times[2])/float64(times[0]), "why/systemctl")
				b.ReportMetric(float64(times[2])/1e6, "ms")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// interleaved runs commands in turns, and returns each one's median time.
func interleaved(m *labtest.Machine, rounds int, commands ...string) []int {
	script := "for i in $(seq " + strconv.Itoa(rounds) + "); do "
	for _, c := range commands {
		script += "a=$(date +%s%N); " + c + " >/dev/null; b=$(date +%s%N); echo $((b-a)); "
	}
	all := make([][]int, len(commands))
	for i, word := range strings.Fields(m.Run("bash", "-c", script+"done")) {
		ns, _ := strconv.Atoi(word)
		all[i%len(commands)] = append(all[i%len(commands)], ns)
	}
	medians := make([]int, len(commands))
	for i, times := range all {
		slices.Sort(times)
		medians[i] = times[len(times)/2]
	}
	return medians
}
