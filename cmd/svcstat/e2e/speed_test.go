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
//	go test -run - -bench List ./cmd/svcstat/e2e
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
