// Package probe asks what a watchdog.Check asks, one attempt at a time: an
// endpoint over HTTP, TCP or a Unix socket, a command, or the kernel itself by
// its tables of sockets, of files and of control groups.
//
// Invariants:
//   - when Probe returns, nothing of the attempt is left: no goroutine, no
//     descriptor, no process; and it returns when its context ends;
//   - whatever an endpoint sends, memory stays flat: each line, the headers
//     and the body have a bound;
//   - an error is one short line of printable text for STATUS, without any
//     secret of the check.
//
// HTTP/1.1 is spoken by a small client of this package's own, as net/http
// and crypto/tls would cost every supervised service a millisecond at its
// start and 350 KiB for as long as it runs, even where nothing asks by HTTP.
// So is as much of HTTP/2 as a grpc check needs. An https check is asked by the
// program svckit-probe, which is this package with crypto/tls, once per probe. It
// finds the addresses of named hosts as well: package net costs another 70 KiB.
//
// What is owned is told by the kernel: its tables name the inodes of the
// sockets that listen, and the descriptors of the service's processes name
// theirs. Where those cannot be read, the check fails and says so.
//
// New is the entry point.
package probe
