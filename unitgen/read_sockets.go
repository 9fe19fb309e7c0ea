package unitgen

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/svckit/svckit/unitgen/unit"
)

// The kinds of sockets.
const (
	kindStream    = "stream"
	kindDatagram  = "datagram"
	kindSeqpacket = "seqpacket"
)

const socketExample = "{listen: 127.0.0.1:8080, name: http}"

// socketSection is the schema of each socket.
var socketSection = section[Socket]{
	path: "sockets", example: socketExample,
	fields: map[string]field[Socket]{
		"listen": readListen,
		"kind": func(r *reader, v value, into *Socket) {
			r.word(v, []string{kindStream, kindDatagram, kindSeqpacket}, &into.Kind)
		},
		"name":  readSocketName,
		"mode":  readMode,
		"user":  func(r *reader, v value, into *Socket) { r.account(v, &into.User) },
		"group": func(r *reader, v value, into *Socket) { r.account(v, &into.Group) },
	},
}

// readSockets reads the sockets: each a mapping, or its address alone.
func readSockets(r *reader, v value, p *Policy) {
	p.Sockets = nil
	for _, item := range r.items(v, "["+socketExample+"]") {
		before := len(r.errs)
		socket := Socket{Kind: kindStream}
		if text, ok := scalar(item); ok && text != "" {
			readListen(r, item, &socket)
		} else {
			socketSection.read(r, item, &socket)
		}
		if len(r.errs) == before {
			r.checkSocket(item, socket)
			p.Sockets = append(p.Sockets, socket)
		}
	}
}

// checkSocket reports what the keys of a socket say against each other.
func (r *reader) checkSocket(v value, s Socket) {
	isPath := strings.HasPrefix(s.Listen, "/")
	switch {
	case s.Listen == "":
		r.errorf(v.Node, "%s does not say where it listens; write for example %s", v.path, socketExample)
	case !isPath && (s.Mode != "" || s.User != "" || s.Group != ""):
		r.errorf(v.Node, "%s: mode, user and group are those of a socket's file, and %s is none; remove them", v.path, quoted(s.Listen))
	case s.Kind == kindSeqpacket && !isPath && !strings.HasPrefix(s.Listen, "@"):
		r.errorf(v.Node, "%s: seqpacket is a kind of Unix sockets, and %s is none; write kind: stream", v.path, quoted(s.Listen))
	}
}

// readListen reads an address of systemd.socket(5): a path, an abstract name,
// a port, or an address and a port.
func readListen(r *reader, v value, into *Socket) {
	text, ok := r.literal(v, "127.0.0.1:8080")
	if !ok {
		return
	}
	if _, err := unit.Plain(text); err != nil {
		r.errorf(v.Node, "%s: %w", v.path, err)
		return
	}
	if wrong := wrongListen(samples[0].text(text)); wrong != "" {
		r.errorf(v.Node, "%s: %s %s", v.path, quoted(text), wrong)
		return
	}
	into.Listen = text
}

// maxSocketPath is the longest path of a socket (unix(7)).
const maxSocketPath = 107

// wrongListen says what is wrong with an address, if anything.
func wrongListen(s string) string {
	host, port, hasHost := cutPort(s)
	switch {
	case strings.HasPrefix(s, "/") || strings.HasPrefix(s, "@"):
		if len(s) > maxSocketPath || len(s) < 2 {
			return "is no address of a Unix socket, which has 2 to " + strconv.Itoa(maxSocketPath) + " bytes"
		}
		return ""
	case !isPort(port):
		return "has no port from 1 to 65535; write 127.0.0.1:8080, [::1]:8080, 8080 for all addresses, or the path of a Unix socket"
	case hasHost && host == "":
		return "has no address; write " + port + " alone for all addresses"
	case hasHost && !isAddress(host):
		return "has a name where systemd wants an address; write 127.0.0.1:" + port + " or [::1]:" + port
	}
	return ""
}

// cutPort takes an address and its port apart; a port may stand alone.
func cutPort(s string) (host, port string, hasHost bool) {
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return "", s, false
}

func isPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 1 && n <= 65535 && s[0] != '+' && s[0] != '0'
}

// isAddress says whether systemd reads s as an address before a port.
func isAddress(s string) bool {
	bare, bracketed := strings.CutPrefix(s, "[")
	bare = strings.TrimSuffix(bare, "]")
	address, err := netip.ParseAddr(bare)
	return err == nil && bracketed == address.Is6() && bracketed == strings.HasSuffix(s, "]")
}

// readSocketName reads the name that the service finds in LISTEN_FDNAMES
// (sd_listen_fds_with_names(3)). It names a unit as well.
func readSocketName(r *reader, v value, into *Socket) {
	name, ok := r.text(v, "http")
	if !ok {
		return
	}
	if !isFileName(name) {
		r.errorf(v.Node, "%s: %s is no name of a socket; use letters, digits and - _ .", v.path, quoted(name))
		return
	}
	into.Name = name
}

var fileMode = regexp.MustCompile(`^0?[0-7]{3}$`)

// readMode reads the access mode of a file.
func readMode(r *reader, v value, into *Socket) {
	mode, ok := r.text(v, `"0660"`)
	if !ok {
		return
	}
	if !fileMode.MatchString(mode) {
		r.errorf(v.Node, "%s: %s is no access mode; write it in octal, such as 0660", v.path, quoted(mode))
		return
	}
	into.Mode = mode
}
