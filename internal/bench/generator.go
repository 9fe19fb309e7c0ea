package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/lab"
)

// generated is how many policies the generator makes units of.
const generated = 50

// generatorSuite is the systemd that reloads.
const generatorSuite = lab.Trixie

// empty is the other generator: /bin/true, beside the same units, installed.
const empty = "empty generator"

// generatorMetrics are the rows of the table of generators. Its contender is
// svcgen, whose figures stand as ours like svcrun's.
func generatorMetrics() []metric {
	return []metric{
		{
			key: "generator.reload", name: "daemon-reload, ms", ratios: []ratio{{to: empty, limit: atMost(1.5)}},
			explain: "systemctl daemon-reload, start to end, with units of 50 services: generated anew, or installed",
		},
		{
			key: "generator.alone", name: "alone, ms", ratios: []ratio{{to: empty}},
			explain: "the generator by itself, start to end: of 50 policies svcgen makes 150 units",
		},
		{
			key: "generator.nothing", name: "without policies, ms", ratios: []ratio{{to: empty, limit: atMost(6)}},
			explain: "the same where there is no policy, as on any machine with svckit installed",
		},
	}
}

// What stands in the machine: the generator is one or the other, and the units
// are made of policies or stand in a directory of systemd's.
const (
	generatorLink = "/etc/systemd/system-generators/svckit"
	policiesDir   = "/etc/svckit/units"
	installedDir  = "/run/installed" // in memory, as what a generator writes
	installedLink = "/usr/local/lib/systemd/system"
)

// setup is how the machine becomes a contender's.
type setup struct {
	link     string // the generator
	on, undo string // the units, or the policies that they are made of
}

func setups() map[string]setup {
	swap := func(dir string) (on, off string) {
		return "mv -T " + dir + ".off " + dir, "mv -T " + dir + " " + dir + ".off"
	}
	installed, removed := swap(installedDir)
	there, gone := swap(policiesDir)
	return map[string]setup{
		empty: {"ln -sfn /bin/true " + generatorLink, installed, removed},
		ours:  {"ln -sfn /usr/bin/svcgen " + generatorLink, there, gone},
	}
}

// generators measures a reload of a manager of the lab's, with svcgen as its
// generator and with one that does nothing.
func (b *bench) generators(ctx context.Context) error {
	l := lab.New()
	if needs := l.Missing(ctx, generatorSuite); len(needs) > 0 {
		b.missing = append(b.missing, fmt.Sprintf("generator: there is no lab: %v", needs[0]))
		return nil
	}
	files, err := b.generatorFiles()
	if err != nil {
		return err
	}
	m, err := l.BootWith(ctx, generatorSuite, files)
	if err != nil {
		return err
	}
	defer m.Close()
	own := setups()[ours]
	install := strings.Join([]string{
		"mkdir -p " + path.Dir(installedLink), "ln -s " + installedDir + " " + installedLink,
		own.link, own.on, generatorLink + " " + installedDir + ".off /e /l", own.undo,
	}, ";")
	if _, err := m.Output(ctx, "sh", "-euc", install); err != nil {
		return err
	}
	for range b.rounds {
		who := []string{empty, ours}
		b.random.Shuffle(len(who), func(i, j int) { who[i], who[j] = who[j], who[i] })
		for _, name := range who {
			if err := b.generator(ctx, m, name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// generatorFiles makes what the machine has at its boot.
func (b *bench) generatorFiles() (string, error) {
	root := filepath.Join(b.dir, "generator")
	for _, dir := range []string{"usr/bin", path.Dir(generatorLink), policiesDir + ".off"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return "", err
		}
	}
	for i := range generated {
		policy := fmt.Sprintf("name: service-%d\nexec: [/usr/sbin/worker, --port, \"%d\"]\nuser: www-data\nhardening: strict\n"+
			"ready: {checks: [http://127.0.0.1:%d/ready]}\nlive: {checks: [{http: http://127.0.0.1:%d/live, interval: 5s}]}\n", i, 8000+i, 8000+i, 8000+i)
		file := filepath.Join(root, policiesDir+".off", fmt.Sprintf("service-%d.yaml", i))
		if err := os.WriteFile(file, []byte(policy), 0o644); err != nil { //nolint:gosec // as an administrator's are
			return "", err
		}
	}
	for from, to := range map[string]string{b.svcgen: "svcgen", b.svcrun: "svcrun"} {
		if err := copyProgram(from, filepath.Join(root, "usr/bin", to)); err != nil {
			return "", fmt.Errorf("%s: %w; make build builds it", to, err)
		}
	}
	return root, nil
}

// generator measures one of the two once.
func (b *bench) generator(ctx context.Context, m *lab.Machine, name string) error {
	with, alone := setups()[name], generatorLink+" /run/bench /run/bench /run/bench"
	for _, step := range []struct{ metric, before, measured, after string }{
		{"generator.nothing", ":", alone, ":"},
		{"generator.alone", with.on, alone, with.undo},
		{"generator.reload", with.on, "systemctl daemon-reload", with.undo},
	} {
		script := strings.Join([]string{
			"rm -rf /run/bench", with.link, step.before, "a=$(date +%s%N)", step.measured, "b=$(date +%s%N)", step.after, "echo $((b - a))",
		}, "; ")
		out, err := m.Output(ctx, "sh", "-euc", script)
		if err != nil {
			return err
		}
		took, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
		if err != nil {
			return err
		}
		b.samples.add(step.metric, name, milliseconds(time.Duration(took)))
	}
	return nil
}

// writeGenerators writes the table of it.
func writeGenerators(w io.Writer, s samples) {
	rows := [][]string{{"", empty, "svcgen", "svcgen ÷ empty", "goal"}}
	for _, m := range generatorMetrics() {
		own, other := s.median(m.key, ours), s.median(m.key, empty)
		rows = append(rows, []string{m.name, figure(other), figure(own), figure(own / other), m.ratios[0].limit.judge(own / other)})
	}
	writeTable(w, rows)
	fmt.Fprintln(w)
	writeExplanations(w, s, generatorMetrics())
}
