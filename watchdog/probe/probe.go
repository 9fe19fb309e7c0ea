package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/watchdog"
)

// ErrUnattributed is an answer that says nothing of the service: whose a socket
// is cannot be found out with the rights that there are.
var ErrUnattributed = errors.New("cannot attribute")

// Probe asks once.
type Probe interface {
	// Probe answers nil when the check holds. The caller gives ctx the
	// check's timeout; an error of an ended ctx unwraps to ctx.Err().
	Probe(ctx context.Context) error
}

// Runner runs a check's command. Whoever reaps the process's children
// implements it, as there can be only one reaper.
type Runner interface {
	// Run starts argv in a process group of its own, without the notify
	// sockets, and waits for its end. At ctx's end it kills the whole group.
	// It returns only after the group's leader is reaped: with the command's
	// end, or with an error when the command did not start or ctx ended.
	Run(ctx context.Context, argv []string) (Result, error)
}

// Result is how a command ended.
type Result struct {
	Code   int    // exit status, where Signal is 0
	Signal int    // the signal that killed it, or 0
	Output string // the tail of what it wrote to stdout and stderr, bounded
}

// attempt asks once, with an error as it comes.
type attempt func(ctx context.Context) error

// Host is what checks ask of the process that runs them. What no check of it
// needs may be nil.
type Host struct {
	Run     Runner       // of exec checks, and of the helper program
	Service func() []int // the pids of the service's processes; of listen checks and of owned ones

	// TLS makes a connection a secure one, for https. Where it is nil, the
	// helper program asks, as package crypto/tls is too heavy for all.
	TLS Handshake
	// Resolve finds the addresses of a name that is not localhost. Where it is nil,
	// the helper program is asked for them.
	Resolve Resolver
	// Helper is the path of that program, for tests; HelperPath's where empty.
	Helper string
}

// Handshake greets the server as a TLS client that wants the certificate of
// name, or any where insecure. The connection has the check's deadline.
type Handshake func(conn Conn, name string, insecure bool) (Conn, error)

// New makes the probe of a check, or says why the check cannot be asked here.
// The kinds that the service itself answers have none.
func New(c watchdog.Check, host Host) (Probe, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p := prober{timeout: c.Timeout}
	var err error
	switch c.Kind {
	case watchdog.HTTP:
		if c.TLS() && host.TLS == nil {
			p.attempt, err = newHelped(c, host)
		} else {
			p.attempt, err = newHTTP(c, host)
		}
	case watchdog.TCP:
		p.attempt, err = newOpen("tcp", c, host)
	case watchdog.Listen:
		p.attempt, err = newListen(c, host.Service)
	case watchdog.Unix:
		p.attempt, err = newOpen("unix", c, host)
	case watchdog.GRPC:
		p.attempt, err = newGRPC(c, host)
	case watchdog.Exec:
		p.attempt, err = newExec(c, host.Run)
	case watchdog.File:
		p.attempt = newFile(c)
	case watchdog.Memory:
		p.attempt, err = newMemory(c, hostCgroups)
	default:
		err = fmt.Errorf("a check of kind %s cannot be probed", c.Kind)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// prober turns an attempt's error into a line for STATUS.
type prober struct {
	timeout time.Duration
	attempt attempt
}

func (p prober) Probe(ctx context.Context) error {
	err := p.attempt(ctx)
	if err == nil {
		return nil
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done() // the network's timer may have been quicker than ctx's
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &failure{"timeout after " + syntax.FormatDuration(p.timeout), ctx.Err()}
	case ctx.Err() != nil:
		return &failure{"cancelled", ctx.Err()}
	}
	return &failure{plain(err.Error()), err}
}
