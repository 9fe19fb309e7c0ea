package watchdog

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
)

// This file reads the targets of the kinds that ask the kernel, and of grpc.

// Listener is where a listen check wants a socket: the zero Address is any.
type Listener struct {
	Address netip.Addr
	Port    uint16
}

// String is the target of a listen check.
func (l Listener) String() string {
	if !l.Address.IsValid() {
		return strconv.Itoa(int(l.Port))
	}
	return netip.AddrPortFrom(l.Address, l.Port).String()
}

// Listener takes the target of a listen check apart.
func (c Check) Listener() (Listener, error) { return parseListen(c.Target) }

// parseListen reads PORT or ADDRESS:PORT. The kernel's tables have addresses
// and no names, and a name may stand for several.
func parseListen(s string) (Listener, error) {
	const form = "write listen:PORT, listen:127.0.0.1:PORT or listen:[::1]:PORT"
	host, port := "", s
	if strings.ContainsAny(s, ":[]") {
		var err error
		if host, port, err = splitHostPort(s); err != nil {
			return Listener{}, fmt.Errorf("%w; "+form, err)
		}
	}
	if err := validPort(port); err != nil {
		return Listener{}, fmt.Errorf("%w; "+form, err)
	}
	n, _ := strconv.ParseUint(port, 10, 16) // no error: it is valid
	if host == "" {
		return Listener{Port: uint16(n)}, nil
	}
	address, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return Listener{}, fmt.Errorf("the host is no address, and the kernel's tables have no names; " + form)
	case address.Zone() != "":
		return Listener{}, fmt.Errorf("the kernel's tables have no zones; leave the zone out")
	}
	return Listener{address.Unmap(), uint16(n)}, nil
}

// validHostPort checks HOST:PORT.
func validHostPort(s string) error {
	host, port, err := splitHostPort(s)
	if err == nil && port == "" {
		err = fmt.Errorf("the port is missing")
	}
	if err != nil {
		return err
	}
	return validHost(host)
}

// maxService bounds the name of a gRPC service, in bytes.
const maxService = 256

// GRPC takes the target of a grpc check apart; the empty service is the server
// as a whole.
func (c Check) GRPC() (address, service string, err error) {
	const form = "write grpc:HOST:PORT[/SERVICE], for example grpc:127.0.0.1:50051"
	address, service, _ = strings.Cut(c.Target, "/")
	if err := validHostPort(address); err != nil {
		return "", "", fmt.Errorf("%w; "+form, err)
	}
	if len(service) > maxService || strings.ContainsFunc(service, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", "", fmt.Errorf("the service's name is one word of at most %d letters; "+form, maxService)
	}
	return address, service, nil
}

// validPath checks the path of a file check.
func validPath(s string) error {
	switch {
	case !strings.HasPrefix(s, "/"):
		return fmt.Errorf("a file is an absolute path, such as /run/app/alive")
	case len(s) > 4095 || strings.ContainsFunc(s, isControl): // PATH_MAX
		return fmt.Errorf("the file's path has a control character, or more than 4095 bytes")
	}
	return nil
}

// Size is the size of a memory check, in bytes.
func (c Check) Size() (int64, error) { return parseMemory(c.Target) }

// parseMemory reads a size that a process can be below of.
func parseMemory(s string) (int64, error) {
	size, err := syntax.ParseSize(s)
	if err != nil {
		return 0, fmt.Errorf("%w; write memory:SIZE, for example memory:512M", err)
	}
	if size < 1<<20 {
		return 0, fmt.Errorf("the size %s is less than svcrun itself takes; write memory:SIZE, for example memory:512M", syntax.FormatSize(size))
	}
	return size, nil
}

// The descriptors that a child may announce its readiness on: 0 to 2 are its
// standard streams, and a higher one than 1023 is a slip.
const minFD, maxFD = 3, 1023

// Descriptor is the descriptor of an fd check.
func (c Check) Descriptor() (int, error) { return parseFD(c.Target) }

func parseFD(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n < minFD || n > maxFD {
		return 0, fmt.Errorf("a descriptor is a number of %d to %d; write fd:3", minFD, maxFD)
	}
	return int(n), nil
}
