package manager

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/manager/machine"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify/socket"
)

// These tests run the loop in a world without processes, with a machine that
// does as it is told: testing/synctest has time pass, and finds what is left.

// fake is such a world, and a log of what happened in it.
type fake struct {
	t        *testing.T
	signals  chan os.Signal
	children chan os.Signal
	prepared chan prepared
	ended    chan machine.Exited
	words    chan string
	deserted chan struct{}
	code     chan int

	inbox    []socket.Datagram
	left     atomic.Int32
	spawning error
	asleep   time.Duration // at the next SIGCHLD
	hungUp   bool
	deadline time.Time
	heardAt  []time.Time
	answers  map[string][]machine.Action // to an event, by what event prints
	log      []string
}

func (f *fake) did(format string, args ...any) { f.log = append(f.log, fmt.Sprintf(format, args...)) }

// Step logs the event, and does as the test says.
func (f *fake) Step(now time.Time, event machine.Event) []machine.Action {
	name := fmt.Sprintf("%T%+v", event, event)
	name = strings.TrimPrefix(name, "machine.")
	if h, ok := event.(machine.Heard); ok {
		name = "Heard " + h.Said.Status
		f.heardAt = append(f.heardAt, now)
	}
	f.did("%s", name)
	if _, ok := event.(machine.Tick); ok {
		f.deadline = time.Time{}
	}
	return f.answers[name]
}

// Deadline is what the test has set.
func (f *fake) Deadline() (time.Time, bool) { return f.deadline, !f.deadline.IsZero() }

// play runs a loop in a world that prepare sets up, and then body.
func play(t *testing.T, prepare func(*fake), body func(*fake), want ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{
			t: t, signals: make(chan os.Signal), children: make(chan os.Signal), ended: make(chan machine.Exited),
			prepared: make(chan prepared, 10),
			words:    make(chan string), deserted: make(chan struct{}), code: make(chan int, 1), answers: map[string][]machine.Action{
				"Requested{Verb:0 Unit:}": {machine.Spawn{Unit: "a", Argv: []string{"x"}}},
				"Heard quit":              {machine.Done{Code: 7}},
			},
		}
		if prepare != nil {
			prepare(f)
		}
		l := newLoop(f.world(), f)
		go func() { f.code <- l.run() }()
		synctest.Wait()
		f.log = nil
		body(f)
		synctest.Wait()
		got := slices.Clone(f.log)
		f.says(100, "quit")
		f.words <- "a"
		if code := <-f.code; code != 7 {
			t.Errorf("code %d; want 7", code)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("what happened:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func (f *fake) world() world {
	return world{
		signals: f.signals, children: f.children, prepared: f.prepared, ended: f.ended, words: f.words, deserted: f.deserted,
		units: []string{"a"},
		prepare: func(a machine.Spawn, number int) {
			if a.Env == nil {
				f.prepared <- prepared{Spawn: a, number: number}
			}
		},
		spawn:  func(p prepared) (int, error) { return 100 + p.number, f.spawning },
		signal: func(s machine.Signal) { f.did("signal %s %v to %d", s.Unit, s.Signal, s.To) },
		over:   func(e machine.Exited) { f.did("over %s", e.Unit) },
		reap: func() {
			f.did("reap")
			<-time.After(f.asleep)
			f.asleep = 0
		},
		left: func(string) int { return int(f.left.Load()) },
		receive: func(string) (socket.Datagram, bool) {
			if len(f.inbox) == 0 {
				return socket.Datagram{}, false
			}
			d := f.inbox[0]
			f.inbox = f.inbox[1:]
			return d, true
		},
		mainPID: func(string) int { return 100 },
		begin:   func(unit string, run int) { f.did("begin %s %d", unit, run) },
		release: func(unit string) { f.did("release %s", unit) },
		tell:    func(e timeline.Event) { f.did("tell %s %s", e.Name, e.Text) },
		hungUp:  func() bool { return f.hungUp },
	}
}

// says puts a status of a process into the socket.
func (f *fake) says(pid int, status string) {
	f.inbox = append(f.inbox, socket.Datagram{Data: []byte("STATUS=" + status), PID: pid})
}

func TestWhatWasSaidBeforeAnEndIsHeardBeforeIt(t *testing.T) {
	play(t, nil, func(f *fake) {
		f.left.Store(2)
		f.says(100, "one")
		f.says(100, "two")
		f.ended <- machine.Exited{Unit: "a"}
	}, "Heard one", "Heard two", "over a", "Exited{Unit:a Role:0 PID:0 Exit:no main process Line:<nil> Tail:[] Left:2}")
}

func TestOnlyTheMainProcessIsHeard(t *testing.T) {
	play(t, nil, func(f *fake) {
		f.says(99, "stranger")
		f.says(0, "nobody")
		f.inbox = append(f.inbox, socket.Datagram{Data: []byte("STATUS=cut"), PID: 100, Truncated: true}, socket.Datagram{Data: []byte{0}, PID: 100})
		f.says(100, "main")
		f.words <- "a"
	}, "Heard main")
}

func TestADescriptorOfABarrierIsClosed(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	fd, err := unix.Dup(int(write.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	write.Close()
	play(t, nil, func(f *fake) {
		f.inbox = append(f.inbox, socket.Datagram{Data: []byte("BARRIER=1"), PID: 100, FDs: []int{fd}})
		f.words <- "a"
	}, "Heard ")
	if n, err := read.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("read %d, %v; want the end, which the sender waits for", n, err)
	}
}

func TestEachFurtherStopIsMoreInAHurry(t *testing.T) {
	play(t, nil, func(f *fake) {
		for _, s := range []os.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGQUIT} {
			f.signals <- s
			<-time.After(2 * oneStop)
		}
	}, "Requested{Verb:1 Unit:}", "Requested{Verb:3 Unit:}", "Requested{Verb:3 Unit:}")
}

func TestSignalsThatComeTogetherAreOneStop(t *testing.T) {
	play(t, nil, func(f *fake) {
		for range 3 {
			f.signals <- unix.SIGTERM
		}
		<-time.After(2 * oneStop)
		f.signals <- unix.SIGTERM
		f.signals <- unix.SIGTERM
	}, "Requested{Verb:1 Unit:}", "Requested{Verb:3 Unit:}")
}

func TestSIGHUPReloadsUnlessTheTerminalHasGone(t *testing.T) {
	play(t, nil, func(f *fake) { f.signals <- unix.SIGHUP }, "Requested{Verb:2 Unit:}")
	play(t, func(f *fake) { f.hungUp = true }, func(f *fake) { f.signals <- unix.SIGHUP },
		"tell note the terminal has gone", "Requested{Verb:1 Unit:}")
}

func TestALoneServiceIsPassedWhatOnlyItKnows(t *testing.T) {
	play(t, nil, func(f *fake) {
		f.signals <- unix.SIGUSR1
		f.signals <- unix.SIGUSR2
	}, "signal a SIGUSR1 to 0", "signal a SIGUSR2 to 0")
}

func TestServicesAreStoppedOnceWhenNobodyReads(t *testing.T) {
	play(t, nil, func(f *fake) { close(f.deserted) }, "tell note nobody reads the time line any more", "Requested{Verb:1 Unit:}")
}

func TestAReaderOrATerminalThatGoesDuringAStopDoesNotHurryIt(t *testing.T) {
	play(t, func(f *fake) { f.hungUp = true }, func(f *fake) {
		f.signals <- unix.SIGINT // which ends a reader at the same terminal too
		close(f.deserted)
		f.signals <- unix.SIGHUP
	}, "Requested{Verb:1 Unit:}")
}

func TestWhatIsLeftIsCountedUntilNothingIs(t *testing.T) {
	play(t, nil, func(f *fake) {
		f.children <- unix.SIGCHLD // nothing was left: nobody is counted
		f.left.Store(2)
		f.ended <- machine.Exited{Unit: "a"}
		f.children <- unix.SIGCHLD // still two
		synctest.Wait()
		f.left.Store(1)
		f.children <- unix.SIGCHLD
		synctest.Wait()
		f.left.Store(0)
		f.children <- unix.SIGCHLD
		f.children <- unix.SIGCHLD
	}, "reap", "over a", "Exited{Unit:a Role:0 PID:0 Exit:no main process Line:<nil> Tail:[] Left:2}", "reap", "reap",
		"LeftChanged{Unit:a Left:1}", "reap", "LeftChanged{Unit:a Left:0}", "reap")
}

func TestTheDeadlineIsATickBeforeWhichWhatIsLeftIsCounted(t *testing.T) {
	play(t, nil, func(f *fake) {
		f.left.Store(1)
		f.deadline = time.Now().Add(time.Minute)
		f.ended <- machine.Exited{Unit: "a"}
		synctest.Wait()
		f.left.Store(0) // a process that is nobody's child here
		<-time.After(time.Minute)
	}, "over a", "Exited{Unit:a Role:0 PID:0 Exit:no main process Line:<nil> Tail:[] Left:1}", "LeftChanged{Unit:a Left:0}", "Tick{}")
}

func TestWhatWasSaidWhileTheManagerWasBusyCountsAsInTime(t *testing.T) {
	play(t, nil, func(f *fake) {
		deadline := time.Now().Add(oversleep / 2)
		f.deadline, f.asleep = deadline, oversleep
		f.children <- unix.SIGCHLD
		f.says(100, "alive")
		f.says(100, "alive")
		f.signals <- unix.SIGHUP
		synctest.Wait()
		for _, at := range f.heardAt {
			if !at.Before(deadline) {
				t.Errorf("heard %v after the deadline", at.Sub(deadline))
			}
		}
	}, "reap", "Heard alive", "Heard alive", "Requested{Verb:2 Unit:}", "Tick{}")
}

func TestWhatThisProcessHasSleptCountsForNoTimeLimit(t *testing.T) {
	play(t, nil, func(f *fake) {
		const hour = time.Hour
		began := time.Now()
		f.deadline, f.asleep = began.Add(time.Minute), hour
		f.children <- unix.SIGCHLD // and Ctrl-Z
		<-time.After(hour)
		f.says(100, "alive")
		f.words <- "a"
		synctest.Wait()
		f.says(100, "alive")
		f.words <- "a"
		synctest.Wait()
		want := []time.Duration{time.Minute - oversleep, time.Minute - oversleep}
		for i, at := range f.heardAt {
			if got := at.Sub(began); got != want[i] {
				t.Errorf("heard %v after the start; want %v", got, want[i])
			}
		}
		<-time.After(oversleep)
	}, "reap", "tell note this process was stopped for 59min 1s; that counts for no time limit", "Heard alive", "Heard alive", "Tick{}")
}

func TestAStartThatNobodyWantsAnyMoreDoesNotHappen(t *testing.T) {
	held := []string{"A=1"} // the fake holds it back
	play(t, func(f *fake) {
		f.answers["Heard go"] = []machine.Action{machine.Spawn{Unit: "a", Env: held}}
		f.answers["Heard again"] = []machine.Action{machine.Spawn{Unit: "a", Env: held}}
		f.answers["Heard end"] = []machine.Action{machine.Tell{Event: timeline.Event{Unit: "a", Name: timeline.Ended}}}
	}, func(f *fake) {
		f.says(100, "go")
		f.says(100, "again")
		f.words <- "a"
		f.prepared <- prepared{Spawn: machine.Spawn{Unit: "a"}, number: 2}
		f.prepared <- prepared{Spawn: machine.Spawn{Unit: "a"}, number: 3}
		synctest.Wait()
		f.says(100, "go")
		f.says(100, "end")
		f.words <- "a"
		f.prepared <- prepared{Spawn: machine.Spawn{Unit: "a"}, number: 4}
	}, "Heard go", "Heard again", "Spawned{Unit:a Role:0 PID:103}", "Heard go", "Heard end", "tell ended ")
}

func TestAFailedStartIsToldWithItsStatus(t *testing.T) {
	for err, want := range map[error]string{
		&startError{200, errors.New("no directory")}: "SpawnFailed{Unit:a Role:1 Reason:no directory Status:200}",
		&startError{203, errors.New("no program")}:   "SpawnFailed{Unit:a Role:1 Reason:no program Status:203}",
		&startError{0, errors.New("no variables")}:   "SpawnFailed{Unit:a Role:1 Reason:no variables Status:0}",
	} {
		play(t, func(f *fake) {
			f.answers["Heard spawn"] = []machine.Action{machine.Spawn{Unit: "a", Role: machine.Control}}
		}, func(f *fake) {
			f.spawning = err
			f.says(100, "spawn")
			f.words <- "a"
		}, "Heard spawn", want)
	}
}

func TestActionsAreDoneInTheirOrder(t *testing.T) {
	play(t, func(f *fake) {
		f.answers["Heard go"] = []machine.Action{
			machine.Tell{Event: timeline.Event{Unit: "a", Name: timeline.Starting, Run: 3}},
			machine.Spawn{Unit: "a"},
			machine.Signal{Unit: "a", Signal: syntax.SIGTERM, To: machine.ToAll},
			machine.Release{Unit: "a"},
		}
	}, func(f *fake) {
		f.says(100, "go")
		f.words <- "a"
	}, "Heard go", "begin a 3", "tell starting ", "signal a SIGTERM to 2", "release a", "Spawned{Unit:a Role:0 PID:102}")
}
