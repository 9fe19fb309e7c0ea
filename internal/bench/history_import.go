package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// exportHistory is a journal of that many entries as an export, to be read
// once. What became of the writing is told when the reader has closed it or
// all is written.
func (b *bench) exportHistory(entries int) (in *os.File, written <-chan error, err error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	became := make(chan error, 1)
	random := rand.New(rand.NewPCG(b.seed, uint64(entries)))
	go func() {
		_, err := writeHistory(out, random, entries, entries/entriesPerRestart/historyUnits)
		became <- errors.Join(err, out.Close())
	}()
	return in, became, nil
}

// importHistory makes of it files of journald's, in a directory of their own.
func (b *bench) importHistory(ctx context.Context, remote, dir string, entries int) error {
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // a scratch directory's
		return err
	}
	input, written, err := b.exportHistory(entries)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, remote, "--output="+filepath.Join(dir, "history.journal"), "-")
	cmd.Stdin = input
	out, err := cmd.CombinedOutput()
	_ = input.Close() // or the writer would wait for a reader that has gone
	if err := errors.Join(err, <-written); err != nil {
		return fmt.Errorf("%s: %w\n%s", remote, err, out)
	}
	return nil
}

// peakInterval is how often a process is asked for its peak. Only what it grows
// in its last moment is not seen.
const peakInterval = 2 * time.Millisecond

// peakKiB is the most memory that a process has had of its own: children, such
// as svcstat's journalctl, do not count, as they would in its rusage.
func peakKiB(cmd *exec.Cmd) (float64, error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(peakInterval)
	defer tick.Stop()
	var peak int64
	for {
		select {
		case err := <-ended:
			if err == nil && peak == 0 {
				err = errors.New("it was gone before it could be weighed")
			}
			return float64(peak), err
		case <-tick.C:
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if err != nil {
				continue // it has just ended
			}
			if n, err := numberOf(status, "VmHWM:"); err == nil {
				peak = max(peak, n)
			}
		}
	}
}
