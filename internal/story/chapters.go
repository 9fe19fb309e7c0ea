package story

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/svckit/svckit/internal/lab"
)

// Started is what the first chapter measures.
type Started struct {
	Took   time.Duration // until systemctl start returned
	Status string        // the unit's StatusText then
	Active string        // its ActiveState
}

// Start starts the service: systemctl returns when its health checks pass.
func (svc *Service) Start(ctx context.Context) (Started, error) {
	took, err := svc.systemctl(ctx, "start")
	if err != nil {
		return Started{}, err
	}
	show, err := svc.Machine.Show(ctx, svc.Unit, "StatusText", "ActiveState")
	svc.tell("systemd", "%s is %s: %q", svc.Unit, show["ActiveState"], show["StatusText"])
	return Started{took, show["StatusText"], show["ActiveState"]}, err
}

// Hung is what a hang cost.
type Hung struct {
	ToRestart time.Duration // from the hang until the service was active again
}

// Hang stops the service's process in its tracks: it still has its port, and
// answers nothing.
func (svc *Service) Hang(ctx context.Context) (Hung, error) {
	before, err := svc.Machine.Show(ctx, svc.Unit, "InvocationID")
	if err != nil {
		return Hung{}, err
	}
	pid, err := svc.child(ctx)
	if err != nil {
		return Hung{}, err
	}
	svc.tell("operator", "kill -STOP %d: the service hangs", pid)
	began := time.Now()
	if err := svc.Machine.Signal(ctx, pid, syscall.SIGSTOP); err != nil {
		return Hung{}, err
	}
	if err := svc.again(ctx, before["InvocationID"]); err != nil {
		return Hung{}, err
	}
	took := time.Since(began)
	svc.tell("systemd", "%s is active again, %s after the hang", svc.Unit, short(took))
	return Hung{took}, nil
}

// again waits until the service is active in another run than the given one,
// or has failed for good.
func (svc *Service) again(ctx context.Context, invocation string) error {
	return svc.Machine.WaitUntil(ctx, svc.Unit, func(p lab.Properties) bool {
		return p["InvocationID"] != invocation && p["ActiveState"] == "active" || p["ActiveState"] == "failed" && p["SubState"] == "failed"
	}, "InvocationID", "ActiveState", "SubState")
}

// Crashed is what a series of crashes came to.
type Crashed struct {
	Starts int    // that happened, the first one included
	Active string // ActiveState after the last crash
}

// Crash kills the service's process as often as told, each time when it is
// active again, and gives up where systemd does.
func (svc *Service) Crash(ctx context.Context, times int) (Crashed, error) {
	// A new series: the reset empties the window of the start limit, and the
	// restart is the first start in it.
	for _, verb := range []string{"reset-failed", "restart"} {
		if _, err := svc.systemctl(ctx, verb); err != nil {
			return Crashed{}, err
		}
	}
	result := Crashed{Starts: 1}
	for range times {
		if err := svc.crashOnce(ctx); err != nil {
			return result, err
		}
		show, err := svc.Machine.Show(ctx, svc.Unit, "ActiveState")
		if err != nil {
			return result, err
		}
		result.Active = show["ActiveState"]
		if result.Active != "active" {
			svc.tell("systemd", "%s is %s: no further restart", svc.Unit, result.Active)
			return result, nil
		}
		result.Starts++
	}
	return result, nil
}

// crashOnce kills the service's process, and waits for what comes of it.
func (svc *Service) crashOnce(ctx context.Context) error {
	before, err := svc.Machine.Show(ctx, svc.Unit, "InvocationID")
	if err != nil {
		return err
	}
	pid, err := svc.child(ctx)
	if err != nil {
		return err
	}
	svc.tell("operator", "kill -KILL %d: the service crashes", pid)
	if err := svc.Machine.Signal(ctx, pid, syscall.SIGKILL); err != nil {
		return err
	}
	return svc.again(ctx, before["InvocationID"])
}

// Stopped is how a stop went.
type Stopped struct {
	Took   time.Duration
	Result string   // the unit's Result
	Alive  []string // what of the service is left, "pid command" each
}

// Stop stops the service, and looks for what is left of it: in its cgroup, and
// anywhere by the marker in its command line.
func (svc *Service) Stop(ctx context.Context, marker string) (Stopped, error) {
	took, err := svc.systemctl(ctx, "stop")
	if err != nil {
		return Stopped{}, err
	}
	show, err := svc.Machine.Show(ctx, svc.Unit, "Result")
	if err != nil {
		return Stopped{}, err
	}
	stopped := Stopped{Took: took, Result: show["Result"]}
	found, err := svc.Machine.Exec(ctx, "pgrep", "--list-full", "--full", marker)
	if err != nil {
		return stopped, err
	}
	for line := range strings.Lines(found.Stdout) {
		if !strings.Contains(line, "pgrep") {
			stopped.Alive = append(stopped.Alive, strings.TrimSpace(line))
		}
	}
	svc.tell("operator", "pgrep finds %d processes of the service", len(stopped.Alive))
	return stopped, nil
}

// InFlight is how a request fared that was under way when the stop came.
type InFlight struct {
	Stopped
	Bytes, Want int // of the answer's body
	Refused     bool
}

// StopInFlight stops the service while it answers a request for url, whose
// answer has want bytes and takes its time.
func (svc *Service) StopInFlight(ctx context.Context, url, marker string, want int) (InFlight, error) {
	svc.tell("client", "GET %s, which takes a while", url)
	began := make(chan struct{})
	type answer struct {
		result lab.Result
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		close(began)
		result, err := svc.Machine.Exec(ctx, "curl", "--silent", "--show-error", "--no-buffer", "--output", "/run/answer",
			"--write-out", "%{http_code} %{size_download}", url)
		answered <- answer{result, err}
	}()
	<-began
	if err := svc.firstBytes(ctx); err != nil {
		return InFlight{}, err
	}
	stopped, err := svc.Stop(ctx, marker)
	if err != nil {
		return InFlight{}, err
	}
	got := <-answered
	if got.err != nil {
		return InFlight{}, got.err
	}
	var code, bytes int
	_, _ = fmt.Sscanf(got.result.Stdout, "%d %d", &code, &bytes)
	svc.tell("client", "answer: status %d, %d of %d bytes", code, bytes, want)
	return InFlight{Stopped: stopped, Bytes: bytes, Want: want, Refused: code != 200}, nil
}

// firstBytes waits until the answer has begun to arrive.
func (svc *Service) firstBytes(ctx context.Context) error {
	const loop = "for i in $(seq 6000); do [ -s /run/answer ] && exit 0; sleep 0.01; done; exit 1"
	_, err := svc.Machine.Output(ctx, "sh", "-c", loop)
	if err != nil {
		return fmt.Errorf("the request has not begun to be answered: %w", err)
	}
	return nil
}

// History is what svcstat tells of the service, for people and for programs.
func (svc *Service) History(ctx context.Context) (text, json string, err error) {
	if text, err = svc.Machine.Output(ctx, "svcstat", "history", svc.Unit); err != nil {
		return "", "", err
	}
	json, err = svc.Machine.Output(ctx, "svcstat", "history", svc.Unit, "--json")
	return text, json, err
}

// Property reads a number out of the unit as systemd has read it: a span in
// microseconds, or a count.
func (svc *Service) Property(ctx context.Context, name string) (int64, error) {
	out, err := svc.Machine.Output(ctx, "busctl", "get-property", "org.freedesktop.systemd1",
		svc.path(), "org.freedesktop.systemd1.Service", name)
	if err != nil {
		return 0, err
	}
	_, number, _ := strings.Cut(strings.TrimSpace(out), " ")
	return strconv.ParseInt(number, 10, 64)
}

// path is the unit's object on the bus.
func (svc *Service) path() string {
	var out strings.Builder
	for _, c := range []byte(svc.Unit) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			out.WriteByte(c)
		} else {
			out.WriteString("_" + strconv.FormatInt(int64(c), 16))
		}
	}
	return "/org/freedesktop/systemd1/unit/" + out.String()
}
