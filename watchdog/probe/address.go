package probe

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

// Resolver finds the addresses of a host by its name, in the order in which they
// are to be tried.
type Resolver func(ctx context.Context, name string) ([]netip.Addr, error)

// resolver is what finds the addresses of the host of HOST:PORT. An address needs
// nobody; localhost is this host (RFC 6761), whatever a resolver has to say; every
// other name is asked of Resolve, or else of the helper program: Go's resolver is
// too heavy for all, and another one would have other answers.
func (h Host) resolver(address string) (Resolver, error) {
	host, _, err := splitPort(address)
	if err != nil {
		return nil, err
	}
	if to, err := netip.ParseAddr(host); err == nil {
		return fixed(to), nil
	}
	if host == "localhost" {
		return fixed(netip.IPv6Loopback(), netip.AddrFrom4([4]byte{127, 0, 0, 1})), nil
	}
	if h.Resolve != nil {
		return h.Resolve, nil
	}
	return newHelpedResolver(h)
}

func fixed(addresses ...netip.Addr) Resolver {
	return func(context.Context, string) ([]netip.Addr, error) { return addresses, nil }
}

// sockaddr is an address as the kernel takes it.
func sockaddr(to netip.AddrPort) (family int, address unix.Sockaddr, err error) {
	if to.Addr().Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}, nil
	}
	zone, err := zoneNumber(to.Addr().Zone())
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(to.Port()), ZoneId: zone, Addr: to.Addr().As16()}, err
}

// addrPort is an address of the kernel's, without its zone.
func addrPort(address unix.Sockaddr) netip.AddrPort {
	switch a := address.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return netip.AddrPort{}
}

// zoneNumber is the number of an IPv6 zone, which is an interface's name or its
// number (RFC 4007, section 11).
func zoneNumber(zone string) (uint32, error) {
	if number, err := strconv.ParseUint(zone, 10, 32); err == nil || zone == "" {
		return uint32(number), nil
	}
	request, err := unix.NewIfreq(zone)
	if err != nil {
		return 0, fmt.Errorf("no interface %s", zone)
	}
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, request); err != nil {
		return 0, fmt.Errorf("no interface %s: %w", zone, err)
	}
	return request.Uint32(), nil
}
