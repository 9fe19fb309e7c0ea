package probe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// socket is a listening socket as the kernel's tables have it (proc(5),
// /proc/net/tcp and /proc/net/unix).
type socket struct {
	address netip.AddrPort // of TCP
	inode   uint64         // by which a descriptor names it
	uid     int            // who made it; of TCP, else -1
}

// maxRow bounds one line of the kernel's tables, in bytes.
const maxRow = 1 << 10

// tcpListeners reads the sockets that listen on a port in this network
// namespace. table is /proc/self/net/tcp or tcp6.
func tcpListeners(ctx context.Context, table string, port uint16) ([]socket, error) {
	var found []socket
	err := eachRow(ctx, table, func(row []byte) bool {
		s, listens := parseTCP(row)
		if listens && s.address.Port() == port {
			found = append(found, s)
		}
		// The listening ones come first, and there may be a million others
		// (Linux: net/ipv4/tcp_ipv4.c, tcp_get_idx).
		return listens
	})
	return found, err
}

// unixListeners reads the sockets that listen by a name.
func unixListeners(ctx context.Context, dir, name string) ([]socket, error) {
	var found []socket
	err := eachRow(ctx, dir+"/unix", func(row []byte) bool {
		if s, path, listens := parseUnix(row); listens && path == name {
			found = append(found, s)
		}
		return true
	})
	return found, err
}

// eachRow reads a table line by line, without its heading, for as long as take
// says so.
func eachRow(ctx context.Context, path string, take func(row []byte) bool) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(path, "6") { // no IPv6
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnattributed, err)
	}
	defer file.Close()
	return rows(ctx, file, take)
}

// rows is eachRow of an open table.
func rows(ctx context.Context, table io.Reader, take func(row []byte) bool) error {
	in := bufio.NewReaderSize(table, 4*maxRow)
	for first := true; ctx.Err() == nil; first = false {
		row, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("%w: the kernel's table of sockets has a line that is too long", ErrUnattributed)
		}
		if len(row) == 0 || !first && !take(bytes.TrimSuffix(row, []byte("\n"))) {
			return nil
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("%w: %w", ErrUnattributed, err)
		}
	}
	return ctx.Err()
}

// tcpListen is TCP_LISTEN of the kernel's include/net/tcp_states.h.
const tcpListen = "0A"

// parseTCP reads a line of /proc/net/tcp or tcp6, and says whether it is of a
// socket that listens.
func parseTCP(row []byte) (socket, bool) {
	fields := bytes.Fields(row)
	if len(fields) < 10 || string(fields[3]) != tcpListen {
		return socket{}, false
	}
	address, ok := parseAddress(fields[1])
	uid, err := strconv.ParseUint(string(fields[7]), 10, 32)
	inode, err2 := strconv.ParseUint(string(fields[9]), 10, 64)
	if !ok || err != nil || err2 != nil {
		return socket{}, false
	}
	return socket{address, inode, int(uid)}, true
}

// parseAddress reads 0100007F:1F90: the address as words of 32 bits in the
// machine's order, the port as a number.
func parseAddress(text []byte) (netip.AddrPort, bool) {
	words, port, _ := bytes.Cut(text, []byte(":"))
	if len(words) != 8 && len(words) != 32 {
		return netip.AddrPort{}, false
	}
	var bytes16 [16]byte
	n, err := hex.Decode(bytes16[:], words)
	number, err2 := strconv.ParseUint(string(port), 16, 16)
	if err != nil || err2 != nil {
		return netip.AddrPort{}, false
	}
	for i := 0; i < n; i += 4 {
		binary.NativeEndian.PutUint32(bytes16[i:], binary.BigEndian.Uint32(bytes16[i:]))
	}
	address, _ := netip.AddrFromSlice(bytes16[:n]) // 4 or 16 bytes
	return netip.AddrPortFrom(address.Unmap(), uint16(number)), true
}

// acceptsConnections is __SO_ACCEPTCON of the kernel's include/linux/net.h.
const acceptsConnections = 1 << 16

// parseUnix reads a line of /proc/net/unix: the socket, its name, with @ where
// it is abstract, and whether it listens.
func parseUnix(row []byte) (socket, string, bool) {
	var fields [7][]byte
	rest := row
	for i := range fields {
		rest = bytes.TrimLeft(rest, " ")
		fields[i], rest, _ = bytes.Cut(rest, []byte(" "))
	}
	flags, err := strconv.ParseUint(string(fields[3]), 16, 64)
	inode, err2 := strconv.ParseUint(string(fields[6]), 10, 64)
	if err != nil || err2 != nil || flags&acceptsConnections == 0 || len(rest) == 0 {
		return socket{}, "", false
	}
	return socket{inode: inode, uid: -1}, string(rest), true
}

// reached are those of the sockets on a port that a connection to an address
// gets to: the kernel prefers the address itself to the wildcard of its family,
// and that to [::], which takes IPv4 too unless it was told not to. The zero
// address is any. exact says that no other socket can come before these.
func reached(sockets []socket, to netip.Addr) (found []socket, exact bool) {
	if !to.IsValid() {
		return sockets, false
	}
	own := netip.IPv6Unspecified()
	if to.Is4() {
		own = netip.IPv4Unspecified()
	}
	for i, address := range []netip.Addr{to.WithZone(""), own, netip.IPv6Unspecified()} {
		for _, s := range sockets {
			if s.address.Addr() == address {
				found = append(found, s)
			}
		}
		if found != nil {
			return found, i == 0
		}
	}
	return nil, false
}
