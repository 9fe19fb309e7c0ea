package watchdog

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// splitHostPort takes HOST, HOST:PORT, [IPv6] and [IPv6]:PORT apart. The
// port is checked, the host is not.
func splitHostPort(s string) (host, port string, err error) {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		host, tail, found := strings.Cut(inner, "]")
		switch {
		case !found:
			return "", "", fmt.Errorf("the bracket [ is not closed")
		case !strings.Contains(host, ":"):
			return "", "", fmt.Errorf("brackets are for IPv6 addresses only")
		case tail == "":
			return host, "", nil
		case tail[0] != ':':
			return "", "", fmt.Errorf("after ] comes :PORT")
		}
		return host, tail[1:], validPort(tail[1:])
	}
	host, port, hasPort := strings.Cut(s, ":")
	switch {
	case strings.Contains(port, ":"):
		return "", "", fmt.Errorf("an IPv6 address stands in brackets, as [::1]:8080")
	case host == "":
		return "", "", fmt.Errorf("the host is missing")
	case !hasPort:
		return host, "", nil
	}
	return host, port, validPort(port)
}

// validPort checks a port's number.
func validPort(s string) error {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 || len(s) > 5 {
		return fmt.Errorf("the port is not a number of 1 to 65535")
	}
	return nil
}

// validHost checks a name, an IPv4 address or an IPv6 address without
// brackets. What ends in a number must be an address, as no name does.
func validHost(s string) error {
	if strings.Contains(s, ":") {
		address, err := netip.ParseAddr(s)
		if err != nil || strings.ContainsFunc(address.Zone(), notHostRune) {
			return fmt.Errorf("the host is no IPv6 address")
		}
		return nil
	}
	if s == "" || len(s) > 253 || strings.ContainsFunc(s, notHostRune) {
		return fmt.Errorf("the host is no name and no address")
	}
	labels := strings.Split(strings.TrimSuffix(s, "."), ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 {
			return fmt.Errorf("the host is no name and no address")
		}
	}
	if strings.Trim(labels[len(labels)-1], "0123456789") == "" {
		if _, err := netip.ParseAddr(s); err != nil {
			return fmt.Errorf("the host is no IPv4 address")
		}
	}
	return nil
}

func notHostRune(r rune) bool {
	return !isLetter(r) && !isDigit(r) && !strings.ContainsRune("-._", r)
}

// validHostHeader checks HOST[:PORT] as a Host header has it.
func validHostHeader(s string) error {
	host, _, err := splitHostPort(s)
	if err != nil {
		return err
	}
	if strings.Contains(host, "%") {
		return fmt.Errorf("a Host header has no zone")
	}
	return validHost(host)
}

// maxSocket is the longest path of a Unix socket, in bytes (unix(7)).
const maxSocket = 107

// validSocket checks an absolute path, or @NAME of the abstract namespace.
func validSocket(s string) error {
	switch {
	case s == "" || s == "@" || s[0] != '/' && s[0] != '@':
		return fmt.Errorf("a socket is an absolute path, such as /run/app.sock, or @NAME")
	case len(s) > maxSocket:
		return fmt.Errorf("the socket's path has %d bytes, and %d are the most that the kernel takes", len(s), maxSocket)
	case strings.ContainsFunc(s, isControl):
		return fmt.Errorf("the socket's path has a control character")
	}
	return nil
}
