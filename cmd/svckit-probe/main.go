// Command svckit-probe asks one health check once: it exits 0 when the check
// holds, and 1 with a line that says why it does not. With --resolve it prints the
// addresses of a host.
//
// svcrun starts it for https, and for hosts that are named, since packages net
// and crypto/tls would cost every supervised service a millisecond at its start and
// a third of a megabyte for as long as it runs. By hand it shows what svcrun sees.
package main

import (
	"context"
	"os"

	"github.com/svckit/svckit/watchdog"
	"github.com/svckit/svckit/watchdog/probe"
)

// version is stamped in by the linker.
var version = "development"

// How it ends; svcrun relies on 0 and 1.
const (
	exitHolds = 0
	exitFails = 1
	exitUsage = 64 // EX_USAGE of sysexits.h
)

func main() {
	os.Exit(run(os.Args[1:], output{os.Stdout, os.Stderr}))
}

// run asks the check that is its one argument.
func run(args []string, out output) int {
	switch {
	case len(args) == 1 && args[0] == "--version":
		out.version()
		return exitHolds
	case len(args) == 1 && args[0] == "--help":
		out.help()
		return exitHolds
	case len(args) == 2 && args[0] == probe.ResolveFlag:
		return runResolve(args[1], out)
	case len(args) != 1:
		out.usage(errNoCheck)
		return exitUsage
	}
	c, err := watchdog.ParseCheck(args[0])
	if err != nil {
		out.usage(err)
		return exitUsage
	}
	p, err := probe.New(c, probe.Host{TLS: handshake, Resolve: resolve})
	if err != nil {
		out.usage(err)
		return exitUsage
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	if err := p.Probe(ctx); err != nil {
		out.failure(err)
		return exitFails
	}
	return exitHolds
}

// runResolve prints the addresses of a host. Whoever asks ends it in time.
func runResolve(host string, out output) int {
	addresses, err := resolve(context.Background(), host)
	if err != nil {
		out.failure(err)
		return exitFails
	}
	out.addresses(addresses)
	return exitHolds
}
