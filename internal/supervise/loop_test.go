package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/notify/socket"
	"github.com/svckit/svckit/watchdog"
)

func TestTheLoopStartsServesAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical()).wait(time.Minute).send(syntax.SIGTERM).wait(5 * time.Second)
		f.exit(machine.Status{Signal: syntax.SIGTERM}).ends(machine.Status{})
		f.expect(
			"0s spawn", "10ms say READY=1",
			"10.01s say WATCHDOG=1", "20.01s say WATCHDOG=1", "50.01s say WATCHDOG=1",
			"1m0s say STOPPING=1 WATCHDOG_USEC=0", "1m0s hook /bin/deregister", // then the delay
			"1m5s TERM to group", "1m5s CONT to group",
		)
		if n := f.count("say WATCHDOG=1"); n != 5 {
			t.Errorf("%d heartbeats in a minute of WatchdogSec=20; want 5", n)
		}
	})
}

func TestACommandThatCannotBeStartedEndsWith203(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical(), func(f *fake) { f.spawnFails = errors.New("cannot execute /nope: no such file") })
		f.ends(machine.Status{Code: machine.ExitExec})
		f.expect("log 3 cannot execute /nope: no such file")
		f.never("READY=1")
	})
}

func TestAProbeHasItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical(), func(f *fake) {
			f.probed = func(ctx context.Context, _ watchdog.ID) error {
				<-ctx.Done()
				return ctx.Err()
			}
		})
		f.wait(90*time.Second - 1)
		f.expect("2.01s say STATUS=starting, ready 0/1, waiting for tcp:127.0.0.1:1 (context deadline exceeded)")
		f.never("READY=1")
		f.wait(1).expect("1m30s log 3 not ready within 1min 30s")
		f.exit(machine.Status{Signal: syntax.SIGTERM}).ends(machine.Status{Code: machine.ExitStartTimeout})
	})
}

func TestAHangingProbeHoldsUpNeitherHeartbeatNorStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := typical()
		slow := probed(time.Hour)
		slow.Timeout = time.Hour
		cfg.Live = append(cfg.Live, slow)
		f := start(t, cfg, func(f *fake) {
			f.probed = func(ctx context.Context, id watchdog.ID) error {
				if id == 2 {
					<-ctx.Done()
				}
				return nil
			}
		}).wait(time.Minute)
		if n := f.count("say WATCHDOG=1"); n != 5 {
			t.Errorf("%d heartbeats beside a probe that hangs; want 5", n)
		}
		f.send(syntax.SIGTERM).expect("1m0s say STOPPING=1")
		f.wait(5 * time.Second).exit(machine.Status{}).ends(machine.Status{})
	})
}

// The answer of a probe that a stop has ended is nobody's, though the loop is
// ready to take it.
func TestAnAnswerAfterTheProbesWereStoppedIsVoid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(world{probe: func(context.Context, watchdog.ID) error { return nil }}, typical())
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if n := taken(l.probed, func() { l.ask(stopped, 0) }); n > 0 {
			t.Errorf("%d of 100 came after their end", n)
		}
	})
}

func TestTheEndOfAHookThatWasKilledIsVoid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(world{hook: func(context.Context, []string) error { return nil }}, typical())
		killed, kill := context.WithCancel(t.Context())
		kill()
		if n := taken(l.hooked, func() { l.runHook(killed, nil) }); n > 0 {
			t.Errorf("%d of 100 came after their end", n)
		}
	})
}

// taken counts how many of 100 calls send something to one who waits for it.
func taken[T any](from <-chan T, call func()) (n int) {
	quit := make(chan struct{})
	go func() {
		for {
			select {
			case <-from:
				n++
			case <-quit:
				return
			}
		}
	}()
	for range 100 {
		synctest.Wait()
		call()
	}
	close(quit)
	synctest.Wait()
	return n
}

func TestAProbeThatDoesNotHeedItsEndKeepsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical(), func(f *fake) {
			f.probed = func(_ context.Context, id watchdog.ID) error {
				if id == 1 {
					time.Sleep(time.Minute) //nolint:forbidigo // the bubble's time
				}
				return nil
			}
		}).wait(10 * time.Millisecond)
		f.expect("READY=1")
		f.send(syntax.SIGTERM).wait(5 * time.Second).exit(machine.Status{})
		if got := <-f.outcome; got.Status != (machine.Status{}) {
			t.Error(got.Status)
		}
		f.wait(time.Minute) // until it has come back
	})
}

func TestAProbeThatIsOutAtTheEndIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical(), func(f *fake) {
			f.probed = func(ctx context.Context, _ watchdog.ID) error {
				<-ctx.Done()
				return ctx.Err()
			}
		}).wait(10 * time.Millisecond)
		f.exit(machine.Status{Code: 1}).ends(machine.Status{Code: 1})
	})
}

func TestAHookThatHangsIsKilledAtItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical(), func(f *fake) {
			f.hooked = func(ctx context.Context) error {
				<-ctx.Done()
				f.did("hook killed")
				return ctx.Err()
			}
		}).wait(time.Minute).send(syntax.SIGTERM).wait(15 * time.Second)
		f.expect("1m10s log 4 pre-stop hook: timeout after 10s, killed", "1m10s hook killed", "1m15s TERM to group")
		f.exit(machine.Status{}).ends(machine.Status{})
	})
}

func TestAHookThatFailsIsToldAndHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical(), func(f *fake) {
			f.hooked = func(context.Context) error { return errors.New("/bin/deregister exited 1") }
		}).wait(time.Minute).send(syntax.SIGTERM).wait(5 * time.Second)
		f.expect("1m0s log 4 pre-stop hook: /bin/deregister exited 1", "1m5s TERM to group")
		f.exit(machine.Status{}).ends(machine.Status{})
	})
}

func TestADeafServiceIsKilledInItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical()).wait(time.Minute).send(syntax.SIGTERM).wait(5*time.Second + 30*time.Second)
		f.expect("1m5s TERM to group", "1m35s KILL to scope")
		f.exit(machine.Status{Signal: syntax.SIGKILL}).ends(machine.Status{Signal: syntax.SIGKILL})
	})
}

func TestWhatOutlivesTheMainProcessIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical(), func(f *fake) { f.left = true; f.alive.Store(2) }).wait(time.Minute)
		f.exit(machine.Status{Code: 3})
		f.expect("1m0s say STOPPING=1", "1m0s TERM to scope")
		f.alive.Store(1)
		f.children <- syscall.SIGCHLD
		f.wait(time.Second)
		f.alive.Store(0)
		f.children <- syscall.SIGCHLD
		f.ends(machine.Status{Code: 3})
		f.never("KILL")
	})
}

// In a group scope the last one's parent may be outside of it, and alive: then
// no child of svcrun ends with it.
func TestAScopeThatEmptiesUnseenIsNotSaidToBeFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical(), func(f *fake) { f.left = true; f.alive.Store(1) }).wait(time.Minute)
		f.exit(machine.Status{Code: 3})
		f.alive.Store(0)
		f.wait(10 * time.Second).ends(machine.Status{Code: 3})
		f.never("would not die")
	})
}

func TestWhatTheChildSaidBeforeItsEndIsHeardFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := typical()
		cfg.Ready, cfg.Live = []watchdog.Check{spoken(time.Second)}, nil
		for range 20 { // whichever of the two the loop sees first
			f := start(t, cfg)
			f.inbox = append(f.inbox, words("READY=1", "STATUS=done"))
			f.ended = &machine.Status{}
			f.children <- syscall.SIGCHLD
			f.readable <- struct{}{}
			f.ends(machine.Status{})
			f.expect("say READY=1 STATUS=ready 1/1 · child: done")
		}
	})
}

// A child that speaks faster than it is heard must not keep svcrun from its
// signals, nor from its end.
func TestANewlineBeforeTheChildsEndIsReadFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := typical()
		cfg.Ready, cfg.Live = []watchdog.Check{{Kind: watchdog.FD, Target: "3", Interval: time.Second, Timeout: time.Second, Failures: 1, Successes: 1}}, nil
		f := start(t, cfg)
		f.written = []machine.DescriptorRead{{Descriptor: 3, Newline: true}}
		f.ended = &machine.Status{}
		f.children <- syscall.SIGCHLD
		f.ends(machine.Status{})
		f.expect("say READY=1 STATUS=ready 1/1")
	})
}

func TestAChildThatNeverFallsSilentCanBeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical()).wait(time.Minute)
		f.talks = 1_000_000
		f.readable <- struct{}{}
		f.signals <- syscall.SIGTERM
		f.signals <- syscall.SIGUSR1 // taken, so that the one before has been worked off
		f.ended = &machine.Status{}
		f.children <- syscall.SIGCHLD
		if got := <-f.outcome; got.Status != (machine.Status{}) {
			t.Error(got.Status)
		}
		if f.talks == 0 {
			t.Error("all that the child had to say was heard before anything else")
		}
		f.expect("say STOPPING=1")
	})
}

func TestDatagramsThatAreNoMessagesAreWarnedOfOnceAKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical(), func(f *fake) { f.stranger[666] = true })
		big := socket.Datagram{Data: []byte(strings.Repeat("x", notify.MaxBytes+1)), Truncated: true, PID: 100}
		stranger := words("WATCHDOG=trigger")
		stranger.PID = 666
		for range 3 {
			f.say(words("nonsense"), words("A=\x00"), words("A=\xff"), words(""), big, stranger, words("STATUS=on"))
		}
		for _, warning := range []string{
			"log 4 dropped a datagram without any KEY=VALUE line on the notify socket",
			"log 4 dropped a datagram with a NUL byte on the notify socket",
			"log 4 dropped a datagram that is not valid UTF-8 on the notify socket",
			"log 4 dropped a datagram of more than 4096 bytes on the notify socket",
			"log 4 dropped a datagram of a process that is not the service's on the notify socket",
		} {
			if n := f.count(warning); n != 1 {
				t.Errorf("%q was logged %d times; want once", warning, n)
			}
		}
		f.expect("· child: on") // it goes on listening
		f.never("trigger")
		f.exit(machine.Status{}).ends(machine.Status{})
	})
}

func TestDescriptorsGoOnWithTheirMessageAndAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := typical()
		cfg.Ready, cfg.Live = []watchdog.Check{spoken(time.Second)}, nil
		f := start(t, cfg)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		own := func() int {
			fd, err := unix.Dup(int(w.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			return fd
		}
		stored, dropped := words("READY=1", "FDSTORE=1", "FDNAME=x"), words("no message")
		stored.FDs, dropped.FDs = []int{own(), own()}, []int{own()}
		want := fmt.Sprintf("say FDSTORE=1 FDNAME=x with %d", stored.FDs)
		f.say(stored, dropped, words("X_OTHER=1"))
		f.expect(want, "say READY=1 STATUS=ready 1/1", "say X_OTHER=1")
		f.never("ready 1/1 with") // what svcrun says itself
		f.never("say X_OTHER=1 with")
		_ = w.Close()
		_ = r.SetReadDeadline(time.Now().Add(time.Hour))
		if n, err := r.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("read %d, %v: a copy of the descriptor is still open", n, err)
		}
		f.exit(machine.Status{}).ends(machine.Status{})
	})
}

func TestAReloadIsPassedOnAndEndsWithAFreshProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, typical()).wait(time.Minute).send(syntax.SIGHUP)
		f.expect("1m0s say RELOADING=1", "1m0s HUP to main")
		f.wait(10*time.Millisecond).expect("RELOADING=1", "1m0.01s say READY=1")
		f.exit(machine.Status{Code: 1}).ends(machine.Status{Code: 1})
	})
}

func TestIllHealthDrainsAndEndsWith69(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sick atomic.Bool
		f := start(t, typical(), func(f *fake) {
			f.probed = func(_ context.Context, id watchdog.ID) error {
				if id == 1 && sick.Load() {
					return errors.New("status 503")
				}
				return nil
			}
		}).wait(time.Minute)
		sick.Store(true)
		f.wait(15 * time.Second)
		f.expect("log 4 unhealthy: tcp:127.0.0.1:1 failed 3 times, last: status 503", "say STOPPING=1", "hook", "TERM to group")
		f.exit(machine.Status{}).ends(machine.Status{Code: machine.ExitUnhealthy})
	})
}
