package watchdog

import (
	"fmt"
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
		address, zone, hasZone := strings.Cut(s, "%")
		if !validIPv6(address) || hasZone && (zone == "" || strings.ContainsFunc(zone, notHostRune)) {
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
	if strings.Trim(labels[len(labels)-1], "0123456789") == "" && !validIPv4(s) {
		return fmt.Errorf("the host is no IPv4 address")
	}
	return nil
}

func notHostRune(r rune) bool {
	return !isLetter(r) && !isDigit(r) && !strings.ContainsRune("-._", r)
}

// validIPv4 checks four numbers of 0 to 255 without leading zeros, which
// some would read as octal.
func validIPv4(s string) bool {
	parts := strings.Split(s, ".")
	for _, part := range parts {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil || strconv.FormatUint(n, 10) != part {
			return false
		}
	}
	return len(parts) == 4
}

// validIPv6 checks an address of RFC 4291, section 2.2: eight groups, or
// fewer with one "::", the last two perhaps written as an IPv4 address.
func validIPv6(s string) bool {
	head, tail, short := strings.Cut(s, "::")
	groups := 0
	for i, half := range []string{head, tail} {
		if half == "" {
			continue
		}
		parts := strings.Split(half, ":")
		last := i == 1 || !short
		for j, part := range parts {
			switch {
			case last && j == len(parts)-1 && strings.Contains(part, "."):
				if !validIPv4(part) {
					return false
				}
				groups++
			case len(part) < 1 || len(part) > 4 || strings.Trim(part, "0123456789abcdefABCDEF") != "":
				return false
			}
			groups++
		}
	}
	return short && groups < 8 || !short && groups == 8
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
