package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// owner tells the service's sockets from those of strangers, by the
// descriptors of its processes. It belongs to one check, whose probes never
// overlap.
type owner struct {
	service func() []int // the pids of the service's processes
	proc    string       // where proc(5) is mounted
	tables  [2]string    // of TCP, in the order in which they are read where either may do

	// ours and theirs remember which descriptor a socket was last found by. One
	// look at it saves a walk through the process table at every probe; a
	// descriptor that is of the same socket still is proof enough.
	ours, theirs map[uint64]holder
}

// holder is a process's descriptor of a socket.
type holder struct {
	pid  int
	link string // /proc/PID/fd/N
}

// newOwner prepares to attribute; it fails where the kernel shows no sockets.
func newOwner(service func() []int) (*owner, error) {
	if service == nil {
		return nil, fmt.Errorf("%w: the processes of the service are not known", ErrUnattributed)
	}
	o := &owner{service: service, proc: "/proc", tables: [2]string{"tcp", "tcp6"}, ours: map[uint64]holder{}, theirs: map[uint64]holder{}}
	for _, name := range []string{"/self/net/tcp", "/self/fd"} {
		file, err := os.Open(o.proc + name)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnattributed, err)
		}
		_ = file.Close()
	}
	return o, nil
}

// verify says whether what has accepted a connection is the service.
func (o *owner) verify(ctx context.Context, conn *connection) error {
	_, there := conn.names()
	if to := addrPort(there); to.IsValid() {
		sockets, err := o.listeners(ctx, to.Addr(), to.Port())
		if err != nil {
			return err
		}
		return o.own(sockets, "the port")
	}
	// The peer is who called listen(2). That is not the service where its
	// socket was handed to it, but its name is in the table then.
	peer := peerOf(conn)
	if slices.Contains(o.service(), peer) {
		return nil
	}
	name := ""
	if address, ok := there.(*unix.SockaddrUnix); ok {
		name = address.Name
	}
	sockets, err := unixListeners(ctx, o.proc+"/self/net", name)
	if err != nil {
		return err
	}
	if len(sockets) == 0 && peer > 0 {
		return o.stranger("the socket", peer)
	}
	return o.own(sockets, "the socket")
}

// listeners are the sockets that a connection to an address gets to. To read a
// table costs the kernel a walk through all connections of its family, some
// milliseconds: the second one is read only if it can change the answer.
func (o *owner) listeners(ctx context.Context, to netip.Addr, port uint16) ([]socket, error) {
	var all []socket
	for _, table := range []string{"tcp", "tcp6"} {
		if table == "tcp" && to.Is6() {
			continue
		}
		found, err := tcpListeners(ctx, o.proc+"/self/net/"+table, port)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
		if found, exact := reached(all, to); exact {
			return found, nil
		}
	}
	found, _ := reached(all, to)
	return found, nil
}

// own says whether all of the sockets are the service's.
func (o *owner) own(sockets []socket, what string) error {
	for _, s := range sockets {
		if err := o.one(s, what); err != nil {
			return err
		}
	}
	if len(sockets) == 0 {
		return fmt.Errorf("%s is not of this host's own, and cannot be the service's", what)
	}
	return nil
}

// one says whether a socket is the service's, and if not, whose.
func (o *owner) one(s socket, what string) error {
	if o.remembers(o.ours, s.inode) {
		return nil
	}
	h, hidden, found := o.find(s.inode, o.service())
	if found {
		remember(o.ours, s.inode, h)
		return nil
	}
	if hidden > 0 {
		return fmt.Errorf("%w: the descriptors of the service's process %d cannot be read (CAP_SYS_PTRACE is missing)", ErrUnattributed, hidden)
	}
	if !o.remembers(o.theirs, s.inode) {
		if h, _, found = o.find(s.inode, o.everyone()); !found {
			return o.nobody(s, what)
		}
		remember(o.theirs, s.inode, h)
	}
	return o.stranger(what, o.theirs[s.inode].pid)
}

// stranger names the process that has what the service is to have.
func (o *owner) stranger(what string, pid int) error {
	name, err := os.ReadFile(o.proc + "/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return fmt.Errorf("%s is held by process %d, not by this service", what, pid)
	}
	return fmt.Errorf("%s is held by process %d (%s), not by this service", what, pid, strings.TrimSpace(string(name)))
}

// nobody is for a socket whose process cannot be seen.
func (o *owner) nobody(s socket, what string) error {
	switch {
	case s.uid < 0:
		return fmt.Errorf("%s is held by another process, not by this service", what)
	case s.uid != os.Geteuid() && blind():
		return fmt.Errorf("%w: %s is held by a process of uid %d, which cannot be seen (CAP_SYS_PTRACE is missing)", ErrUnattributed, what, s.uid)
	}
	return fmt.Errorf("%s is held by a process of uid %d, not by this service", what, s.uid)
}

// blind says whether the service may become another user whom this process does
// not see then: ProtectProc=invisible hides such a child even from its parent,
// unless that is of group 0 (hidepid= in proc(5)).
func blind() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return true
	}
	has := func(capability int) bool { return sets[0].Effective&(1<<capability) != 0 }
	return has(unix.CAP_SETUID) && !has(unix.CAP_SYS_PTRACE)
}

// find looks for the descriptor of a socket among those of some processes.
// hidden is one of them whose descriptors may not be read, if any
// (proc_pid_fd(5)).
func (o *owner) find(inode uint64, pids []int) (h holder, hidden int, found bool) {
	for _, pid := range pids {
		dir := o.proc + "/" + strconv.Itoa(pid) + "/fd"
		names, err := readNames(dir)
		if errors.Is(err, fs.ErrPermission) {
			hidden = pid
		}
		for _, name := range names {
			h := holder{pid, dir + "/" + name}
			is, err := h.of(inode)
			if is {
				return h, 0, true
			}
			if errors.Is(err, fs.ErrPermission) {
				hidden = pid
				break
			}
		}
	}
	return holder{}, hidden, false
}

// of says whether the descriptor is of the socket.
func (h holder) of(inode uint64) (bool, error) {
	target, err := os.Readlink(h.link)
	return target == "socket:["+strconv.FormatUint(inode, 10)+"]", err
}

// remembers says whether the socket is still where it was found last.
func (o *owner) remembers(known map[uint64]holder, inode uint64) bool {
	h, ok := known[inode]
	if !ok {
		return false
	}
	is, _ := h.of(inode)
	if !is {
		delete(known, inode)
	}
	return is
}

// maxRemembered bounds what is remembered: a service that opens ever new
// sockets is forgotten from time to time.
const maxRemembered = 64

func remember(known map[uint64]holder, inode uint64, h holder) {
	if len(known) >= maxRemembered {
		clear(known)
	}
	known[inode] = h
}

// everyone is every process that can be seen.
func (o *owner) everyone() []int {
	var pids []int
	names, _ := readNames(o.proc) // what cannot be read, names no stranger
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// readNames is what is in a directory, in no order.
func readNames(path string) ([]string, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// peerOf is the process that a Unix connection's other side says it is of, 0
// for one that cannot be seen from here (SO_PEERCRED in unix(7)).
func peerOf(conn *connection) int {
	pid := 0
	_ = conn.raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	return pid
}
