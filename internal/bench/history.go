package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// What svcstat stands beside: the journalctl that it runs, and itself where the
// journal has a tenth of the entries.
const (
	feed  = "journalctl"
	tenth = "a tenth"
)

// entriesPerRestart is how much the services say: one entry in a hundred begins
// a run anew.
const entriesPerRestart = 100

// leastEntries is the smallest journal: each service is restarted once.
const leastEntries = historyUnits * entriesPerRestart

// flat is how much more memory ten times the entries may take.
const flat = 1.25

// historyMetrics are the rows of the table of histories. Its contender is
// svcstat, whose figures stand as ours like svcrun's.
func historyMetrics() []metric {
	return []metric{
		{
			key: "history", name: "history, ms", ratios: []ratio{{to: feed, limit: atMost(1.5)}},
			explain: "svcstat history UNIT, start to end, beside the journalctl that feeds it: the same matches and fields, to /dev/null",
		},
		{
			key: "history.memory", name: "peak memory, KiB", ratios: []ratio{{to: tenth, limit: atMost(flat)}},
			explain: "of that svcstat, without its journalctl, beside the same where the journal has a tenth of the entries and restarts",
		},
		{
			key: "history.export", name: "of an export, KiB", ratios: []ratio{{to: tenth, limit: atMost(flat)}},
			explain: "the same with --journal-file=-, where every entry of the journal goes through svcstat",
		},
	}
}

// histories measures svcstat with a journal of its own.
func (b *bench) histories(ctx context.Context) error {
	programs, err := findJournalPrograms()
	if err != nil {
		b.missing = append(b.missing, "history: "+err.Error())
		return nil
	}
	if _, err := os.Stat(b.svcstat); err != nil {
		return fmt.Errorf("svcstat: %w; make build builds it", err)
	}
	reader := historyReader{svcstat: b.svcstat, shim: filepath.Join(b.dir, "journalctl.d")}
	if err := reader.install(programs.journalctl); err != nil {
		return err
	}
	for name, entries := range map[string]int{tenth: b.entries / 10, ours: b.entries} {
		reader.journal = filepath.Join(b.dir, fmt.Sprintf("journal-%d", entries))
		if err := b.importHistory(ctx, programs.remote, reader.journal, entries); err != nil {
			return fmt.Errorf("a journal of %d entries: %w", entries, err)
		}
		if err := b.historyMemory(ctx, reader, name, entries); err != nil {
			return err
		}
	}
	reader.journal = filepath.Join(b.dir, fmt.Sprintf("journal-%d", b.entries))
	for range b.rounds {
		if err := b.history(ctx, reader); err != nil {
			return err
		}
	}
	return nil
}

// history measures svcstat and its journalctl once, for one of the services.
func (b *bench) history(ctx context.Context, reader historyReader) error {
	unit := fmt.Sprintf("service-%d", b.random.IntN(historyUnits))
	arguments, err := reader.asked(ctx, unit)
	if err != nil {
		return err
	}
	who := []struct {
		name string
		cmd  *exec.Cmd
	}{
		{ours, reader.command(ctx, reader.svcstat, "history", unit)},
		{feed, reader.command(ctx, filepath.Join(reader.shim, feed), arguments...)},
	}
	b.random.Shuffle(len(who), func(i, j int) { who[i], who[j] = who[j], who[i] })
	for _, w := range who {
		began := time.Now()
		if err := w.cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		b.samples.add("history", w.name, milliseconds(time.Since(began)))
	}
	return nil
}

// historyMemory measures svcstat's peaks, with the journal and with an export.
func (b *bench) historyMemory(ctx context.Context, reader historyReader, name string, entries int) error {
	for range min(b.rounds, 5) {
		unit := fmt.Sprintf("service-%d", b.random.IntN(historyUnits))
		peak, err := peakKiB(reader.command(ctx, reader.svcstat, "history", unit))
		if err != nil {
			return err
		}
		b.samples.add("history.memory", name, peak)
	}
	cmd := reader.command(ctx, reader.svcstat, "history", "--journal-file=-", "service-0")
	input, written, err := b.exportHistory(entries)
	if err != nil {
		return err
	}
	cmd.Stdin = input
	peak, err := peakKiB(cmd)
	_ = input.Close() // or the writer would wait for a reader that has gone
	if err := errors.Join(err, <-written); err != nil {
		return err
	}
	b.samples.add("history.export", name, peak)
	return nil
}

// writeHistories writes the table of it.
func writeHistories(w io.Writer, s samples) {
	rows := [][]string{{"", "beside", "", "svcstat", "ratio", "goal"}}
	for _, m := range historyMetrics() {
		r := m.ratios[0]
		own, other := s.median(m.key, ours), s.median(m.key, r.to)
		rows = append(rows, []string{m.name, r.to, figure(other), figure(own), figure(own / other), r.limit.judge(own / other)})
	}
	writeTable(w, rows)
	fmt.Fprintln(w)
	writeExplanations(w, s, historyMetrics())
}

// journalPrograms are systemd's own that the scenario needs.
type journalPrograms struct{ journalctl, remote string }

// findJournalPrograms finds them; the error says what is missing and its cure.
func findJournalPrograms() (p journalPrograms, err error) {
	if p.journalctl, err = exec.LookPath(feed); err != nil {
		return p, errors.New("there is no journalctl (apt-get install systemd)")
	}
	const remote = "systemd-journal-remote"
	for _, program := range []string{remote, "/usr/lib/systemd/" + remote, "/lib/systemd/" + remote} {
		if p.remote, err = exec.LookPath(program); err == nil {
			return p, nil
		}
	}
	return p, fmt.Errorf("there is no %s to write the journal (apt-get install %s)", remote, remote)
}

// historyReader runs svcstat with a journal that is not the host's. It runs
// whatever journalctl the PATH has: here one that says where to read.
type historyReader struct {
	svcstat string
	shim    string // the directory of that journalctl
	journal string // the directory to read
}

// The variables of the shim.
const (
	historyDir  = "SVCKIT_BENCH_JOURNAL"
	historyCall = "SVCKIT_BENCH_CALL"
)

func (r historyReader) install(journalctl string) error {
	if err := os.Mkdir(r.shim, 0o755); err != nil { //nolint:gosec // a scratch directory's
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\n[ -z \"$%s\" ] || printf '%%s\\n' \"$@\" >\"$%[1]s\"\nexec '%s' --directory=\"$%s\" \"$@\"\n",
		historyCall, journalctl, historyDir)
	return os.WriteFile(filepath.Join(r.shim, feed), []byte(script), 0o755) //nolint:gosec // a program
}

// command is a program that finds the shim. What it prints goes nowhere.
func (r historyReader) command(ctx context.Context, program string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.Env = append(os.Environ(), "PATH="+r.shim+":"+os.Getenv("PATH"), historyDir+"="+r.journal)
	cmd.WaitDelay = time.Second
	return cmd
}

// asked is what svcstat asks journalctl for.
func (r historyReader) asked(ctx context.Context, unit string) ([]string, error) {
	file := filepath.Join(r.shim, "asked")
	cmd := r.command(ctx, r.svcstat, "history", unit)
	cmd.Env = append(cmd.Env, historyCall+"="+file)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "\n") < 2 {
		return nil, fmt.Errorf("svcstat history %s: %w\n%s", unit, err, out)
	}
	text, err := os.ReadFile(file)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), err
}
