package main

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/journal"
)

// TestTheHistoryThatIsWrittenIsTheOneThatIsRead: of every service all runs, with
// their causes, and every entry counts.
func TestTheHistoryThatIsWrittenIsTheOneThatIsRead(t *testing.T) {
	const entries, restarts = 10_000, 7
	var text bytes.Buffer
	services, err := writeHistory(&text, rand.New(rand.NewPCG(1, 0)), entries, restarts)
	if err != nil {
		t.Fatal(err)
	}
	folds := map[string]*history.Fold{}
	for _, s := range services {
		folds[s.unit] = history.NewFold(s.unit)
	}
	read := 0
	file := &journal.File{In: &text}
	report, err := file.Read(t.Context(), journal.Query{}, func(e history.Entry) {
		read++
		if fold := folds[e.Unit]; fold != nil {
			fold.Add(e)
		} else if folds[e.OwnUnit] == nil {
			t.Errorf("an entry of nobody's: %+v", e)
		}
	})
	if err != nil || report.Skipped > 0 || len(report.Warnings) > 0 || read != entries {
		t.Fatalf("%d entries, %+v, %v; want all %d", read, report, err, entries)
	}
	for _, s := range services {
		checkHistory(t, s, folds[s.unit].Runs(), restarts)
	}
}

// checkHistory compares what svcstat makes of a service with the truth.
func checkHistory(t *testing.T, s *historyService, runs []history.Run, restarts int) {
	t.Helper()
	if len(runs) != restarts+1 || len(s.ended) != restarts {
		t.Errorf("%s: %d runs read, %d ends written; want %d restarts", s.unit, len(runs), len(s.ended), restarts)
		return
	}
	for i, was := range s.ended {
		got := runs[i]
		if got.InvocationID != was.invocation || string(got.Cause) != was.end.result || got.Result != was.end.result || string(got.Exit.Kind) != was.end.code {
			t.Errorf("%s: run %d is read as %+v, it was %+v", s.unit, i, got, was)
		}
		if runs[i+1].Restarts != i+1 || runs[i+1].Start != history.Automatic {
			t.Errorf("%s: run %d is start %s, restart %d", s.unit, i+1, runs[i+1].Start, runs[i+1].Restarts)
		}
	}
	if last := runs[restarts]; last.InvocationID != s.invocation || last.Cause != "" {
		t.Errorf("%s: the last run is %+v; it is up, with ID %s", s.unit, last, s.invocation)
	}
}

func TestTheSameSeedWritesTheSameHistory(t *testing.T) {
	write := func(seed uint64) []byte {
		var text bytes.Buffer
		if _, err := writeHistory(&text, rand.New(rand.NewPCG(seed, 0)), 2_000, 1); err != nil {
			t.Fatal(err)
		}
		return text.Bytes()
	}
	if !bytes.Equal(write(1), write(1)) || bytes.Equal(write(1), write(2)) {
		t.Error("a journal is not what its seed makes it")
	}
}

func TestAHistoryOfTooFewEntriesIsRefused(t *testing.T) {
	if _, err := writeHistory(&bytes.Buffer{}, rand.New(rand.NewPCG(1, 0)), 100, 1); err == nil {
		t.Error("no error")
	}
}
