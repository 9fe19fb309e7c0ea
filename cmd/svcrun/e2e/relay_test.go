package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// speaker builds testdata/speaker, once.
var speaker = sync.OnceValues(func() (string, error) { return labtest.Build("./testdata/speaker") })

// onEachSpoken is onEach with the speaker installed, and a unit's name.
func onEachSpoken(t *testing.T, test func(t *testing.T, m *labtest.Machine, unit string)) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		installSpeaker(t, m)
		test(t, m, m.UnitName())
	})
}

func installSpeaker(t *testing.T, m *labtest.Machine) {
	t.Helper()
	path, err := speaker()
	if err != nil {
		t.Fatal(err)
	}
	machines.Install(m, path, "/usr/bin/speaker")
	m.Run("mkdir", "-p", "/run/speaker")
}

// started starts a unit that svcrun runs with a speaker.
func started(m *labtest.Machine, unit, flags, actions string, lines ...string) {
	m.InstallUnit(unit, service(append(lines, "ExecStart=/usr/bin/svcrun "+flags+" -- /usr/bin/speaker "+actions)...))
	m.Run("systemctl", "start", unit)
}

func TestGrandchildSpeaksUnderNotifyAccessMain(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		started(m, unit, "--ready=notify", `fork=say=STATUS=warm;say=READY=1;say=ERRNO=7 wait`)
		m.WaitFor(unit, "ActiveState=active", "StatusText=ready 1/1 · child: warm", "StatusErrno=7")
	})
}

func TestWhatTheServiceSaysOfItsErrorsIsTheUnits(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		started(m, unit, "", `say=ERRNO=5\\nBUSERROR=org.x.Failed\\nEXIT_STATUS=3\\nX_MINE=1 say=VARLINKERROR=org.y.Failed wait`)
		want := []string{"StatusErrno=5"}
		if m.Version() >= 257 {
			want = append(want, "StatusBusError=org.x.Failed", "StatusVarlinkError=org.y.Failed")
		}
		m.WaitFor(unit, want...)
	})
}

func TestThousandSendersThatExitAtOnceAreAllHeard(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		started(m, unit, "--ready=notify", "each=1000,store=n# say=READY=1 wait", "FileDescriptorStoreMax=2000")
		m.WaitFor(unit, "NFileDescriptorStore=1000")
		if n := descriptors(t, m, unit); n > 30 {
			t.Errorf("svcrun holds %d descriptors after it passed 1000 on", n)
		}
	})
}

// descriptors counts those of a unit's svcrun.
func descriptors(t *testing.T, m *labtest.Machine, unit string) int {
	t.Helper()
	pid := m.Show(unit, "MainPID")["MainPID"]
	return len(strings.Fields(m.Run("ls", "/proc/"+pid+"/fd")))
}

func TestStoredDescriptorComesBackAfterARestart(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		file := "/run/speaker/" + unit
		started(m, unit, "--ready=notify", "stored="+file+" store=db store=cache barrier say=READY=1 wait", "FileDescriptorStoreMax=10")
		m.WaitFor(unit, "NFileDescriptorStore=2")
		if got := m.Read(file); got != "" {
			t.Fatalf("%q has come back before anything was stored", got)
		}
		m.Run("systemctl", "restart", unit)
		for _, want := range []string{"db db <nil>\n", "cache cache <nil>\n"} {
			if got := m.Read(file); !strings.Contains(got, want) {
				t.Errorf("after the restart came back %q; want %q in it", got, want)
			}
		}
	})
}

func TestStoredDescriptorIsRemovedByItsName(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		started(m, unit, "--ready=notify", `store=a store=b store=c say=READY=1 on=USR1,say=FDSTOREREMOVE=1\\nFDNAME=b wait`, "FileDescriptorStoreMax=10")
		m.WaitFor(unit, "NFileDescriptorStore=3")
		m.Run("systemctl", "kill", "--kill-who=main", "--signal=USR1", unit)
		m.WaitFor(unit, "NFileDescriptorStore=2")
	})
}

func TestScriptThatNotifiesReturnsFromItsBarrier(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		m.InstallUnit(unit, service("TimeoutStartSec=20",
			`ExecStart=/usr/bin/svcrun --ready=notify -- /bin/sh -c "systemd-notify --status=loading && systemd-notify --ready --status=loaded && touch /run/speaker/%n && exec sleep 86400"`))
		m.Run("systemctl", "start", unit)
		m.WaitFor(unit, "StatusText=ready 1/1 · child: loaded")
		m.WaitShell(`[ -e "/run/speaker/$0" ]`, unit)
	})
}

func TestBarrierReturnsAfterTheManagerHasHeardAllBeforeIt(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		started(m, unit, "--ready=notify", "each=50,store=n# say=READY=1 say=STATUS=before barrier touch=/run/speaker/"+unit+" wait", "FileDescriptorStoreMax=100")
		m.WaitShell(`[ -e "/run/speaker/$0" ]`, unit)
		got := m.Show(unit, "NFileDescriptorStore", "StatusText")
		if got["NFileDescriptorStore"] != "50" || !strings.HasSuffix(got["StatusText"], "child: before") {
			t.Errorf("the barrier was over, and the manager had heard %v", got)
		}
	})
}

func TestChildThatHasDroppedToNobodyIsHeard(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		m.InstallUnit(unit, service("RuntimeDirectory=svckit/%N",
			`ExecStopPost=/bin/sh -c "systemctl show -P StatusErrno %n >/run/speaker/%n"`, `ExecStart=/usr/bin/svcrun --runtime-dir=%t/svckit/%N --ready=notify -- `+
				`/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/speaker say=READY=1\\nSTATUS=dropped "on=USR1,say=ERRNO=9;exit=0" wait`))
		m.Run("systemctl", "start", unit)
		m.WaitFor(unit, "StatusText=ready 1/1 · child: dropped")
		m.Run("systemctl", "kill", "--kill-who=main", "--signal=USR1", unit) // its last word is heard as well
		m.WaitFor(unit, "ActiveState=inactive", "Result=success")
		if got := m.Read("/run/speaker/" + unit); got != "9\n" {
			t.Errorf("the manager has heard ERRNO=%s; want 9", got)
		}
	})
}

func TestNotifyAccessAndMainPIDOfTheServiceAreNotTheUnits(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		started(m, unit, "--ready=notify", `say=NOTIFYACCESS=all say=NOTIFYACCESS=all say=MAINPIDFD=1 name say=MAINPID=1 say=READY=1\\nSTATUS=said barrier wait`)
		m.WaitFor(unit, "StatusText=ready 1/1 · child: said")
		got := m.Show(unit, "MainPID", "NotifyAccess")
		comm := strings.TrimSpace(m.Run("cat", "/proc/"+got["MainPID"]+"/comm"))
		if comm != "svcrun" || got["NotifyAccess"] != "main" {
			t.Errorf("the main process is %s, NotifyAccess=%s", comm, got["NotifyAccess"])
		}
		journalCount(t, m, unit, "the service sent NOTIFYACCESS=", 1)
	})
}

func TestDaemonThatExecutesItselfAnewByForkingStaysUp(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		file := "/run/speaker/" + unit
		started(m, unit, "--ready=notify", fmt.Sprintf("say=READY=1 fork=name;barrier;touch=%s;until=%s.end;exit=4 until=%s exit=9", file, file, file))
		m.WaitShell(`[ "$(pgrep -c -f "until=$0.end")" = 2 ]`, file)
		if got := m.Show(unit, "ActiveState")["ActiveState"]; got != "active" {
			t.Fatalf("the unit is %s after the old process has ended", got)
		}
		m.Run("touch", file+".end")
		m.WaitFor(unit, "ActiveState=failed", "Result=exit-code", "ExecMainStatus=4")
	})
}

func TestTriggerOfTheServiceIsTheManagersWatchdog(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		started(m, unit, "--ready=notify", "say=READY=1 on=USR1,say=WATCHDOG=trigger wait", "LimitCORE=0")
		m.Run("systemctl", "kill", "--kill-who=main", "--signal=USR1", unit)
		m.WaitFor(unit, "ActiveState=failed", "Result=watchdog")
	})
}

func TestHeartbeatOfTheServiceIsNotPassedOn(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		file := "/run/speaker/" + unit
		started(m, unit, "--ready=notify --live=notify,interval=10min,timeout=10min", `"on=USR1,say=WATCHDOG=1;say=WATCHDOG=1;say=WATCHDOG_USEC=900000000;barrier;touch=`+file+`" say=READY=1 wait`, "WatchdogSec=60")
		before := m.Show(unit, "WatchdogTimestampMonotonic", "WatchdogUSec")
		m.Run("systemctl", "kill", "--kill-who=main", "--signal=USR1", unit)
		m.WaitShell(`[ -e "$0" ]`, file)
		after := m.Show(unit, "WatchdogTimestampMonotonic", "WatchdogUSec")
		if before["WatchdogUSec"] != "1min" || after["WatchdogUSec"] != "1min" || after["WatchdogTimestampMonotonic"] != before["WatchdogTimestampMonotonic"] {
			t.Errorf("the child's heartbeats reached the manager: %v, %v", before, after)
		}
	})
}

func TestForeignSendersAreRefused(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		started(m, unit, "--runtime-dir=%t/svckit/%N --ready=notify", "say=READY=1 wait", "RuntimeDirectory=svckit/%N")
		socket := "/run/svckit/" + strings.TrimSuffix(unit, ".service") + "/notify"
		for i, who := range []string{"root", "nobody"} {
			stranger := m.UnitName()
			m.InstallUnit(stranger, fmt.Sprintf("[Service]\nType=oneshot\nUser=%s\nEnvironment=NOTIFY_SOCKET=%s\n"+
				`ExecStart=/usr/bin/speaker say=ERRNO=%d say=STOPPING=1 say=WATCHDOG=trigger "pass=1,X_SVCKIT_RELOAD=1" barrier`+"\n", who, socket, 70+i))
			m.Run("systemctl", "start", stranger) // the barrier comes back: its descriptor is closed
		}
		// Gone before it is looked up: then its uid decides.
		gone := m.UnitName()
		m.InstallUnit(gone, fmt.Sprintf("[Service]\nType=oneshot\nUser=nobody\nEnvironment=NOTIFY_SOCKET=%s\nExecStart=/usr/bin/speaker each=50,say=ERRNO=80\n", socket))
		m.Run("systemctl", "start", gone)
		got := m.Show(unit, "ActiveState", "SubState", "StatusErrno", "Result")
		if got["SubState"] != "running" || got["StatusErrno"] != "0" || got["Result"] != "success" {
			t.Errorf("strangers had their way: %v", got)
		}
		journalCount(t, m, unit, "dropped a datagram of a process that is not the service's", 1)
	})
}

func TestHostileDatagramsCostAWarningAKindAndNothingElse(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		one := `say=noise say=A=\\0 say=A=\\xff say=A=%%5000x pass=253,A=1 pass=1,STATUS=x pass=2,BARRIER=1 say=BARRIER=1 pass=253,noise say= `
		started(m, unit, "--ready=notify", strings.Repeat(one, 50)+`say=READY=1\\nSTATUS=done wait`)
		m.WaitFor(unit, "StatusText=ready 1/1 · child: done")
		if n := descriptors(t, m, unit); n > 30 {
			t.Errorf("svcrun holds %d descriptors", n)
		}
		for _, kind := range []string{"without any KEY=VALUE line", "with a NUL byte", "not valid UTF-8", "more than 4096 bytes", "that is not about them", "wants one descriptor"} {
			journalCount(t, m, unit, kind, 1)
		}
	})
}

func TestFloodHoldsUpNeitherHeartbeatNorStop(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, shared *labtest.Machine, unit string) {
		m := labtest.Boot(t, shared.Suite()) // the manager is busy with it, and other tests' is not to be
		installSpeaker(t, m)
		machines.Program(m, "svcrun")
		started(m, unit, `--ready=notify "--live=exec:/bin/true,interval=200ms,timeout=200ms,failures=100"`,
			"say=READY=1 flood=say=STATUS=loud flood=say=X_FLOOD=%%4000x flood=pass=1,noise wait", "WatchdogSec=2", "TimeoutStopSec=20")
		pid := m.Show(unit, "MainPID")["MainPID"]
		memory := func() int {
			var kib int
			_, _ = fmt.Sscan(m.Run("sh", "-c", "grep VmRSS /proc/$0/status | tr -dc 0-9", pid), &kib)
			return kib
		}
		m.Run("sleep", "4") // two periods of the watchdog
		if got := m.Show(unit, "SubState")["SubState"]; got != "running" {
			t.Fatalf("the unit is %s under the flood", got)
		}
		kib := memory()
		if kib > 40<<10 {
			t.Errorf("svcrun holds %d KiB under the flood", kib)
		}
		begun := time.Now()
		m.Run("systemctl", "stop", unit)
		if d := time.Since(begun); d > 10*time.Second {
			t.Errorf("the stop took %v", d)
		} else {
			t.Logf("under the flood svcrun holds %d KiB, and a stop takes %v", kib, d)
		}
		m.WaitFor(unit, "ActiveState=inactive", "Result=success")
	})
}

func TestTimeThatTheServiceAsksForIsGivenWithinSvcrunsOwn(t *testing.T) {
	for name, c := range map[string]struct{ stop, result string }{
		"enough": {"TERM@10s", "success"}, // beyond TimeoutStopSec=, as it asked for it
		"bound":  {"TERM@1s", "signal"},   // svcrun's SIGKILL comes at the end of the steps
	} {
		t.Run(name, func(t *testing.T) {
			onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
				file := "/run/speaker/" + unit
				started(m, unit, "--ready=notify --stop="+c.stop+" --kill-wait=1s",
					`"on=TERM,say=EXTEND_TIMEOUT_USEC=3600000000;until=`+file+`;exit=0" say=READY=1 wait`, "TimeoutStopSec=3")
				m.Run("systemctl", "stop", "--no-block", unit)
				if c.result == "success" {
					m.Run("sleep", "4")
					m.Run("touch", file)
				}
				m.WaitUntil(unit, func(p lab.Properties) bool {
					return p["ActiveState"] == "inactive" || p["ActiveState"] == "failed"
				}, "ActiveState")
				if got := m.Show(unit, "Result")["Result"]; got != c.result {
					t.Errorf("Result=%s; want %s", got, c.result)
				}
			})
		})
	}
}

func TestRestartResetForgetsTheRestarts(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		if m.Version() < 258 {
			t.Skip("systemd has RESTART_RESET=1 since 258")
		}
		started(m, unit, "--ready=notify", "say=READY=1 on=USR1,exit=3 on=USR2,say=RESTART_RESET=1 wait", "Restart=always", "RestartSec=50ms")
		m.Run("systemctl", "kill", "--kill-who=main", "--signal=USR1", unit)
		m.WaitFor(unit, "SubState=running", "NRestarts=1")
		m.Run("systemctl", "kill", "--kill-who=main", "--signal=USR2", unit)
		m.WaitFor(unit, "NRestarts=0")
	})
}

// journalCount checks how many lines of a unit's journal have a text.
func journalCount(t *testing.T, m *labtest.Machine, unit, text string, want int) {
	t.Helper()
	m.Run("journalctl", "--sync")
	n := 0
	for _, line := range m.Journal(unit, 500) {
		if strings.Contains(line, text) {
			n++
		}
	}
	if n != want {
		t.Errorf("the journal has %d lines with %q; want %d", n, text, want)
	}
}
