package supervise

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/notify/socket"
)

// opened gives datagrams descriptors of their own, and says whether any of them
// is still open.
type opened struct {
	t    *testing.T
	r, w *os.File
}

func newOpened(t *testing.T) *opened {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return &opened{t, r, w}
}

func (o *opened) with(d socket.Datagram, n int) socket.Datagram {
	for range n {
		fd, err := unix.FcntlInt(o.w.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			o.t.Fatal(err)
		}
		d.FDs = append(d.FDs, fd)
	}
	return d
}

// closed checks that no copy is left, in this process at least.
func (o *opened) closed() {
	o.t.Helper()
	_ = o.w.Close()
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(o.r.Fd()), Events: unix.POLLIN}}, 0); n != 1 || err != nil {
		o.t.Errorf("poll: %d, %v: a descriptor of a datagram is still open", n, err)
	}
}

func TestDescriptorsOfADatagramThatIsNotAboutThemAreClosedAndItIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, o := start(t, typical()), newOpened(t)
		for range 3 {
			f.say(o.with(words("X_HERE=1", "STATUS=heard"), 253), o.with(words("BARRIER=1"), 2), words("BARRIER=1"), o.with(words("X_SVCKIT_RELOAD=1"), 2))
		}
		lost := words("X_LOST=1")
		lost.Lost = true
		f.say(o.with(lost, 2), lost)
		f.expect("say X_HERE=1", "· child: heard")
		f.never("X_HERE=1 with")
		f.never("say BARRIER")
		f.never("RELOADING")
		f.never("X_LOST")
		for _, kind := range []string{
			"descriptors of a datagram that is not about them", "a datagram that wants one descriptor and has another number of them",
			"a datagram whose descriptors have not all arrived",
		} {
			if n := f.count("log 4 dropped " + kind + " on the notify socket"); n != 1 {
				t.Errorf("%q was logged %d times; want once", kind, n)
			}
		}
		o.closed()
		f.exit(machine.Status{}).ends(machine.Status{})
	})
}

func TestBarrierGoesOutAloneAfterAllBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, o := start(t, typical()), newOpened(t)
		f.say(words("ERRNO=1"), words("STATUS=one"), o.with(words("BARRIER=1"), 1), words("ERRNO=2"))
		f.expect("say ERRNO=1", "say STATUS=", "say BARRIER=1 with", "say ERRNO=2")
		o.closed()
		f.exit(machine.Status{}).ends(machine.Status{})
	})
}

func TestWhoAsksForAReloadKeepsHisDescriptorUntilItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, o := start(t, typical()).wait(time.Second), newOpened(t)
		f.say(o.with(words("X_SVCKIT_RELOAD=1"), 1))
		f.never("answer")
		f.wait(time.Second)
		f.expect("say RELOADING=1", "HUP to main", "say READY=1", `answer ""`)
		f.never("X_SVCKIT")
		o.closed()
		f.exit(machine.Status{}).ends(machine.Status{})
	})
}

func TestFewAreKeptWaitingForAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, o := start(t, typical()).wait(time.Second), newOpened(t)
		for range 100 {
			f.say(o.with(words("X_SVCKIT_RELOAD=1"), 1))
		}
		if n := f.count(`answer "too many wait for a reload"`); n != 100-maxWaiting {
			t.Errorf("%d were sent away; want all but %d", n, maxWaiting)
		}
		f.exit(machine.Status{}).ends(machine.Status{})
		if n := f.count(`answer "the service has ended"`); n != maxWaiting {
			t.Errorf("%d were told of the end; want %d", n, maxWaiting)
		}
		o.closed()
	})
}

func TestLastWordOfTheMainProcessMayNameAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical()).wait(time.Second)
		f.inbox = append(f.inbox, words("MAINPID=101")) // unread when the end comes
		f.exit(machine.Status{Code: 9})
		f.expect("adopt 101", "log 6 the main process is 101 from now on")
		f.exit(machine.Status{Code: 4}).ends(machine.Status{Code: 4})
	})
}

func TestMainProcessThatCannotBeTakenIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical(), func(f *fake) { f.adoptFails = errors.New("it is no process of the service") }).wait(time.Second)
		f.say(words("MAINPID=1"), words("MAINPID=2"))
		if n := f.count("log 4 the service sent MAINPID="); n != 1 {
			t.Errorf("%d warnings; want one", n)
		}
		f.inbox = append(f.inbox, words("MAINPID=101"))
		f.exit(machine.Status{Code: 9}).ends(machine.Status{Code: 9})
	})
}

func TestMainProcessThatItsParentHasReapedGivesWayToTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical()).wait(time.Second).say(words("MAINPID=101"))
		f.lost = machine.Adopted{PID: 100}
		f.gone <- struct{}{}
		synctest.Wait()
		f.expect("log 6 the main process is 101 from now on", "log 6 the main process is 100 from now on")
		f.say(words("MAINPID=102"))
		f.lost = machine.MainExited{}
		f.gone <- struct{}{}
		f.ends(machine.Status{})
	})
}

// A child that speaks without a pause gets its turns, and no more of the loop.
func TestFloodOfMessagesIsHeardInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical()).wait(time.Second)
		f.talks = 100 * turn
		f.readable <- struct{}{}
		f.signals <- syscall.SIGUSR1
		synctest.Wait()
		heard := 0
		for _, line := range f.done() {
			if strings.HasSuffix(line, "USR1 to main") {
				break
			}
			if strings.HasSuffix(line, "say X_TALK=1") {
				heard++
			}
		}
		if heard > 20*turn {
			t.Errorf("%d datagrams were heard before a signal was", heard)
		}
		f.exit(machine.Status{}).ends(machine.Status{})
	})
}

// FuzzDatagram has the loop hear whatever a process may send: it warns, closes
// what came with it, and goes on.
func FuzzDatagram(f *testing.F) {
	for _, seed := range []string{
		"READY=1", "STATUS=x\nWATCHDOG=trigger", "BARRIER=1", "FDSTORE=1\nFDNAME=a", "FDSTOREREMOVE=1\nFDNAME=a", "X_SVCKIT_RELOAD=1",
		"MAINPID=101", "RELOADING=1\nMONOTONIC_USEC=1", "STOPPING=1", "EXTEND_TIMEOUT_USEC=18446744073709551615", "WATCHDOG_USEC=1",
		"NOTIFYACCESS=all", "A=\x00", "=", "\xff=", "noise", "", strings.Repeat("A=1\n", 1500),
	} {
		f.Add([]byte(seed), 1, true)
		f.Add([]byte(seed), 3, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, fds int, ours bool) {
		synctest.Test(t, func(t *testing.T) {
			f, o := start(t, typical(), func(f *fake) { f.stranger[666] = true }).wait(time.Second), newOpened(t)
			d := o.with(socket.Datagram{Data: data, PID: 100, Truncated: len(data) > notify.MaxBytes}, max(0, fds)%4)
			if !ours {
				d.PID = 666
			}
			before := f.count("say ")
			f.say(d)
			if !ours && f.count("say ") != before {
				t.Errorf("%q of a stranger was passed on", data)
			}
			f.never("s say NOTIFYACCESS=")
			f.never("s say MAINPID=")
			f.exit(machine.Status{})
			for range f.outcome {
			}
			o.closed()
		})
	})
}
