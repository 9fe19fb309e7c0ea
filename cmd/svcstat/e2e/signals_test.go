//go:build linux

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/internal/syntax"
)

// clean are the signals of which death is a clean end: systemd.service(5),
// SuccessExitStatus=.
var clean = []syntax.Signal{syntax.SIGHUP, syntax.SIGINT, syntax.SIGPIPE, syntax.SIGTERM}

// sampled is how many of the signals make test tries on each systemd.
const sampled = 8

// fatal are the signals that end a process by default where SVCKIT_FULL asks for
// them, else some of them.
func fatal(t *testing.T) []int {
	const harmless = "17 18 19 20 21 22 23 28" // CHLD, CONT, STOP and the like: signal(7)
	var all []int
	for n := 1; n <= 64; n++ {
		if !slices.Contains(strings.Fields(harmless), fmt.Sprint(n)) && n != 32 && n != 33 { // kept by libc
			all = append(all, n)
		}
	}
	if os.Getenv("SVCKIT_FULL") != "" {
		return all
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d: which of the %d signals", seed, len(all))
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:sampled]
}

// signalUnits are templates of services that kill themselves, with svcrun and
// without.
var signalUnits = map[string]string{
	"signal@":     "ExecStart=/bin/sh -c 'kill -%i $$$$; exit 99'\n",
	"own-signal@": "Type=notify\nExecStart=" + svcrun + " " + endsBy + "kill -%i $$$$; exit 99'\n",
}

// checkSignals: death of each signal that ends a process by default is told by
// its name. What is told is added to all that is.
func checkSignals(t *testing.T, m *labtest.Machine, told map[string]answer) {
	signals, start := fatal(t), []string{"systemctl", "start"}
	happened := make(map[string]string)
	for template, unit := range signalUnits {
		m.Write("/run/systemd/system/"+template+".service", "[Service]\nLimitCORE=0\nIgnoreSIGPIPE=no\n"+unit, 0o644)
		for _, n := range signals {
			unit := fmt.Sprintf("%s%d.service", template, n)
			start = append(start, unit)
			happened[unit] = "unknown ready signal signal=" + syntax.Signal(n).Name()
			if slices.Contains(clean, syntax.Signal(n)) {
				happened[unit] = "unknown ready clean"
			}
		}
	}
	m.Run("systemctl", "daemon-reload")
	m.Run(start...)
	for _, unit := range start[2:] {
		m.WaitUntil(unit, func(p lab.Properties) bool { return p["ActiveState"] != "active" }, "ActiveState")
	}
	m.Run("journalctl", "--sync")
	for unit, got := range ask(onMachine(m), start[2:]) {
		told[unit] = got
		if runs := got.runs(t); len(runs) != 1 || !agree(happened[unit], runs[0]) {
			t.Errorf("%s: told %s, want %s", unit, inWords(runs), happened[unit])
		}
		want := "failed restart-setting +read-log +start"
		if strings.HasSuffix(happened[unit], "clean") {
			want = "down restart-setting +start"
		}
		why := got.explanation(t)
		if why.String() != want {
			t.Errorf("%s: why says %q, want %q\n%s", unit, why, want, strings.Join(why.Sentences, "\n"))
		}
		checkSentences(t, unit, []string{happened[unit]}, why)
	}
}
