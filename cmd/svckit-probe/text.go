package main

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
)

// This file holds all text that a user of svckit-probe sees. Why a check fails
// is one line on stdout, which svcrun reads; all else goes to stderr, in lower
// case and without a full stop. No line repeats the check, which may hold a
// secret.

// output is where the lines go.
type output struct{ stdout, stderr io.Writer }

var errNoCheck = errors.New("one check is wanted; write svckit-probe CHECK")

func (o output) failure(err error) { _, _ = fmt.Fprintln(o.stdout, err) }

func (o output) addresses(addresses []netip.Addr) {
	for _, address := range addresses {
		_, _ = fmt.Fprintln(o.stdout, address.Unmap())
	}
}

func (o output) usage(err error) { _, _ = fmt.Fprintln(o.stderr, "svckit-probe:", err) }

func (o output) version() { _, _ = fmt.Fprintf(o.stdout, "svckit-probe %s\n", version) }

func (o output) help() { _, _ = io.WriteString(o.stdout, helpText) }

const helpText = `usage: svckit-probe CHECK
       svckit-probe --resolve HOST

Asks CHECK once, as svcrun does with --ready=CHECK and --live=CHECK, and says
why it fails. svcrun --help has the grammar of a CHECK.
With --resolve it prints the addresses of HOST, one a line, in the order in
which they are tried.

Not asked here: exec, notify, fd, listen, and owned, which need the service.

exit status:
   0  the check holds, or HOST has addresses
   1  it fails, or its timeout is over
  64  usage
`
