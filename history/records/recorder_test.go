package records

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/history"
)

// fakeDisk notes what it is asked to write, and can be slow, full or broken.
type fakeDisk struct {
	calls []string
	slow  chan struct{}               // each call waits for a word, until it is closed
	fails func(call int) (kind error) // of the calls from 1 on
	warns []error                     // of each begin
}

func (d *fakeDisk) begin(r history.Record) (int, []error, error) {
	if err := d.call("begin " + r.Name); err != nil {
		return 0, d.warns, err
	}
	return 7, d.warns, nil
}

func (d *fakeDisk) write(r history.Record, run int, sync bool) error {
	return d.call(fmt.Sprintf("write %s as %d, sync %v", r.Name, run, sync))
}

func (d *fakeDisk) call(text string) error {
	if d.slow != nil {
		<-d.slow
	}
	d.calls = append(d.calls, text)
	if d.fails == nil {
		return nil
	}
	return d.fails(len(d.calls))
}

// named is a record that can be told from others.
func named(name string) history.Record { return history.Record{Name: name} }

// says checks what was done, or said.
func says(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// unexpected is a warning in a test that has none.
func unexpected(t *testing.T) func(error) {
	return func(err error) { t.Errorf("warned: %v", err) }
}

func TestNobodyWaitsForADiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &fakeDisk{slow: make(chan struct{})}
		start := time.Now()
		r := newRecorder(disk, "/state", unexpected(t))
		r.Note(named("run"))
		synctest.Wait() // it is at the disk
		for range 1000 {
			r.Note(named("more"))
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("noting took %v", waited)
		}
		err := r.Close(named("end"), 2*time.Second)
		if waited := time.Since(start); waited != 2*time.Second {
			t.Errorf("closing took %v", waited)
		}
		if err == nil || err.Error() != "/state: the disk has not taken the record of this run within 2s" {
			t.Error(err)
		}
		close(disk.slow) // it comes back when svcrun is about to be gone
		<-r.ended
		says(t, disk.calls, "begin run", "write end as 7, sync true")
	})
}

func TestOfWhatWaitsForASlowDiskTheNewestIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &fakeDisk{slow: make(chan struct{})}
		r := newRecorder(disk, "", unexpected(t))
		r.Note(named("1"))
		synctest.Wait() // it is at the disk
		for _, name := range []string{"2", "3", "4"} {
			r.Note(named(name))
		}
		disk.slow <- struct{}{}
		synctest.Wait()
		r.Note(named("5"))
		close(disk.slow)
		synctest.Wait()
		if err := r.Close(named("6"), time.Second); err != nil {
			t.Error(err)
		}
		says(t, disk.calls, "begin 1", "write 4 as 7, sync false", "write 5 as 7, sync false", "write 6 as 7, sync true")
	})
}

func TestARunOfWhichOnlyTheEndIsToldIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &fakeDisk{}
		if err := newRecorder(disk, "", unexpected(t)).Close(named("end"), time.Second); err != nil {
			t.Error(err)
		}
		says(t, disk.calls, "begin end", "write end as 7, sync true")
	})
}

func TestAFullDiskIsTriedAgainAndToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &fakeDisk{fails: func(call int) error {
			switch call {
			case 1, 2, 4:
				return &os.PathError{Op: "write", Path: fmt.Sprint("/state/", call), Err: syscall.ENOSPC}
			case 5:
				return &os.PathError{Op: "write", Path: "/state", Err: syscall.EIO}
			}
			return nil
		}}
		var warned []string
		r := newRecorder(disk, "", func(err error) { warned = append(warned, err.Error()) })
		for i := 1; i <= 6; i++ {
			r.Note(named(fmt.Sprint(i)))
			synctest.Wait()
		}
		if err := r.Close(named("end"), time.Second); err != nil {
			t.Error(err)
		}
		says(t, disk.calls, "begin 1", "begin 2", "begin 3", "write 4 as 7, sync false", "write 5 as 7, sync false",
			"write 6 as 7, sync false", "write end as 7, sync true")
		says(t, warned, "cannot write the run record: write /state/1: no space left on device", "cannot write the run record: write /state: input/output error")
	})
}

func TestWhyTheFinalRecordIsNotThereIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &fakeDisk{fails: func(call int) error {
			if call == 2 {
				return syscall.EROFS
			}
			return nil
		}}
		r := newRecorder(disk, "", unexpected(t))
		r.Note(named("1"))
		if err := r.Close(named("end"), time.Second); !errors.Is(err, syscall.EROFS) {
			t.Error(err)
		}
	})
}

func TestWhatAStartFindsIsToldOnceForEachText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &fakeDisk{warns: []error{errors.New("a is corrupt"), errors.New("b is corrupt"), errors.New("a is corrupt")}}
		var warned []string
		r := newRecorder(disk, "", func(err error) { warned = append(warned, err.Error()) })
		if err := r.Close(named("end"), time.Second); err != nil {
			t.Error(err)
		}
		says(t, warned, "a is corrupt", "b is corrupt")
	})
}

func TestAServiceThatReloadsInALoopDoesNotWearTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &fakeDisk{}
		start := time.Now()
		r := newRecorder(disk, "", unexpected(t))
		for time.Since(start) < 100*time.Second {
			r.Note(named("reload"))
			<-time.After(10 * time.Millisecond)
		}
		synctest.Wait()
		if n, most := len(disk.calls), paceBurst+100+1; n < most-1 || n > most {
			t.Errorf("%d writes in 100s; want %d", n, most)
		}
		at := time.Now()
		if err := r.Close(named("end"), time.Second); err != nil || time.Since(at) != 0 {
			t.Errorf("the end was written after %v, %v", time.Since(at), err)
		}
		if last := disk.calls[len(disk.calls)-1]; !strings.HasPrefix(last, "write end ") {
			t.Error(last)
		}
	})
}

func TestWithoutADirectoryNothingIsRecorded(t *testing.T) {
	for _, r := range []*Recorder{Open("", 100, unexpected(t)), Open(t.TempDir(), 0, unexpected(t)), Open("", 0, nil), nil} {
		if r != nil {
			t.Errorf("%+v", r)
		}
		r.Note(named("run"))
		if err := r.Close(named("end"), time.Second); err != nil {
			t.Error(err)
		}
	}
}
