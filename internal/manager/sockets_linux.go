package manager

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/manager/plan"
)

// sockets are what a unit listens on: open from before its first start until it
// is down for good, so that who connects between two runs waits for the next.
type sockets struct {
	files []*os.File
	paths []string // to be removed
}

// listen opens the sockets of a service.
func listen(all []plan.Socket, root bool) (*sockets, error) {
	s := &sockets{}
	for _, socket := range all {
		if err := s.open(socket, root); err != nil {
			s.close()
			return nil, fmt.Errorf("cannot listen on %s: %w", socket.Address, err)
		}
	}
	return s, nil
}

// close closes the sockets, and removes their paths.
func (s *sockets) close() {
	for _, f := range s.files {
		_ = f.Close()
	}
	for _, path := range s.paths {
		_ = os.Remove(path)
	}
	*s = sockets{}
}

// byNumber are the descriptors as the service finds them (sd_listen_fds(3)).
func (s *sockets) byNumber() map[int]*os.File {
	const first = 3
	numbers := map[int]*os.File{}
	for i, f := range s.files {
		numbers[first+i] = f
	}
	return numbers
}

// open opens one.
func (s *sockets) open(socket plan.Socket, root bool) error {
	network, address, err := networkOf(socket)
	if err != nil {
		return err
	}
	path := ""
	if filepath.IsAbs(address) {
		path = address
		if err := clearPath(network, path); err != nil {
			return err
		}
		// Nobody may connect before mode and owner are what they shall be.
		defer unix.Umask(unix.Umask(0o777))
	}
	file, err := bind(network, address)
	if err != nil {
		return err
	}
	s.files = append(s.files, file)
	if path == "" {
		return nil
	}
	s.paths = append(s.paths, path)
	return s.give(socket, path, root)
}

// give has a path belong to whom it shall. Whoever is not root keeps it.
func (s *sockets) give(socket plan.Socket, path string, root bool) error {
	if root && (socket.User != "" || socket.Group != "") {
		who, err := lookUp(socket.User, socket.Group)
		if err != nil {
			return err
		}
		if err := os.Lchown(path, int(who.credential.Uid), int(who.credential.Gid)); err != nil {
			return err
		}
	}
	return os.Chmod(path, fs.FileMode(socket.Mode))
}

// networkOf is an address in the terms of package net: as ListenStream= has it,
// a path, @ and an abstract name, a port, or an address with one.
func networkOf(socket plan.Socket) (network, address string, err error) {
	unixKinds := map[string]string{"stream": "unix", "datagram": "unixgram", "seqpacket": "unixpacket"}
	kinds := map[string]string{"stream": "tcp", "datagram": "udp"}
	address = socket.Address
	switch {
	case strings.HasPrefix(address, "/") || strings.HasPrefix(address, "@"):
		network = unixKinds[socket.Kind]
	default:
		network = kinds[socket.Kind]
		if _, err := strconv.ParseUint(address, 10, 16); err == nil {
			address = ":" + address
		}
	}
	if network == "" {
		return "", "", fmt.Errorf("a %s socket cannot be there", socket.Kind)
	}
	return network, address, nil
}

// clearPath makes room for a socket: what a killed run has left behind goes,
// and that is what refuses a connection. What somebody listens on stays, though
// it be busy, of another kind, or not for this user.
func clearPath(network, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("there is something else")
	}
	conn, err := net.Dial(network, path)
	if err == nil {
		_ = conn.Close()
	}
	if !errors.Is(err, unix.ECONNREFUSED) {
		return unix.EADDRINUSE
	}
	return os.Remove(path)
}

// bind opens a socket, as a file that blocks, as programs expect it.
func bind(network, address string) (*os.File, error) {
	type filer interface{ File() (*os.File, error) }
	var config net.ListenConfig
	var opened interface{ Close() error }
	var err error
	switch network {
	case "udp", "unixgram":
		opened, err = config.ListenPacket(context.Background(), network, address)
	default:
		opened, err = config.Listen(context.Background(), network, address)
	}
	if err != nil {
		if errno := syscall.Errno(0); errors.As(err, &errno) {
			return nil, errno
		}
		return nil, err
	}
	defer func() { _ = opened.Close() }()
	if l, ok := opened.(*net.UnixListener); ok {
		l.SetUnlinkOnClose(false)
	}
	return opened.(filer).File()
}
