package wire

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// parseAddresses reads a list of addresses, as DBUS_SYSTEM_BUS_ADDRESS has one:
// "unix:path=/run/dbus/system_bus_socket;unix:abstract=x,guid=y". Those that are
// no unix sockets are left out.
func parseAddresses(list string) ([]*net.UnixAddr, error) {
	var sockets []*net.UnixAddr
	for address := range strings.SplitSeq(list, ";") {
		keys, isUnix := strings.CutPrefix(address, "unix:")
		if !isUnix {
			continue
		}
		for pair := range strings.SplitSeq(keys, ",") {
			key, escaped, _ := strings.Cut(pair, "=")
			value, err := url.PathUnescape(escaped)
			switch {
			case err != nil || value == "":
			case key == "path":
				sockets = append(sockets, &net.UnixAddr{Name: value, Net: "unix"})
			case key == "abstract":
				sockets = append(sockets, &net.UnixAddr{Name: "@" + value, Net: "unix"})
			}
		}
	}
	if len(sockets) == 0 {
		return nil, fmt.Errorf("%q names no unix socket", list)
	}
	return sockets, nil
}
