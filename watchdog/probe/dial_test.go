package probe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestOpenPortsAndSocketsHold(t *testing.T) {
	port := listen(t, "tcp", "127.0.0.1:0", func(net.Conn) {}).address
	expect(t, "tcp:"+port, "")
	expect(t, "tcp:localhost:"+port[len("127.0.0.1:"):], "")
	expect(t, "tcp:"+listen(t, "tcp6", "[::1]:0", func(net.Conn) {}).address, "")
	dir := t.TempDir()
	for _, network := range []string{"unix", "unixpacket"} {
		path := filepath.Join(dir, network)
		listen(t, network, path, func(net.Conn) {})
		expect(t, "unix:"+path, "")
		name := fmt.Sprintf("@svckit-probe-test-%s-%d", network, os.Getpid())
		listen(t, network, name, func(net.Conn) {})
		expect(t, "unix:"+name, "")
	}
}

func TestClosedPortsAndSocketsFailWithTheReason(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	expect(t, "tcp:"+address, "connection refused")
	expect(t, "tcp:localhost:"+address[len("127.0.0.1:"):], "connection refused")

	dir := t.TempDir()
	expect(t, "unix:"+dir+"/none", "no such file or directory")
	expect(t, "unix:@svckit-probe-test-none", "connection refused")
	write(t, dir+"/file", "")
	expect(t, "unix:"+dir+"/file", "connection refused")
	datagrams, err := net.ListenPacket("unixgram", dir+"/datagrams")
	if err != nil {
		t.Fatal(err)
	}
	defer datagrams.Close()
	expect(t, "unix:"+dir+"/datagrams", "protocol wrong type for socket")
}

// deaf makes a listener that accepts nothing and whose queue is full.
func deaf(t *testing.T, family int, address syscall.Sockaddr) syscall.Sockaddr {
	t.Helper()
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, address); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		client, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { syscall.Close(client) })
		_ = syscall.Connect(client, bound) // EINPROGRESS, then EAGAIN
	}
	return bound
}

// A port that the kernel gives to clients may be given to the probe itself.
func TestConnectionToItselfIsNone(t *testing.T) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Connect(fd, bound); err != nil {
		t.Fatal(err)
	}
	c := &connection{file: os.NewFile(uintptr(fd), "socket")}
	defer c.Close()
	if c.raw, err = c.file.SyscallConn(); err != nil {
		t.Fatal(err)
	}
	if !c.toItself() {
		t.Error("it is taken for one")
	}
}

func TestZonesAreInterfaces(t *testing.T) {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		t.Skip(err)
	}
	for zone, want := range map[string]uint32{"": 0, "7": 7, "lo": uint32(lo.Index)} {
		if got, err := zoneNumber(zone); err != nil || got != want {
			t.Errorf("%q: %d, %v", zone, got, err)
		}
	}
	if _, err := zoneNumber("nosuch0"); err == nil {
		t.Error("an interface that is not there has a number")
	}
}

func TestListenersThatAcceptNothingFail(t *testing.T) {
	bound := deaf(t, syscall.AF_INET, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	port := strconv.Itoa(bound.(*syscall.SockaddrInet4).Port)
	expect(t, "tcp:127.0.0.1:"+port+",timeout=50ms", "timeout after 50ms")
	expect(t, "tcp:localhost:"+port+",timeout=50ms", "timeout after 50ms")
	path := filepath.Join(t.TempDir(), "s")
	deaf(t, syscall.AF_UNIX, &syscall.SockaddrUnix{Name: path})
	expect(t, "unix:"+path+",timeout=50ms", "the listener's queue is full")
}

func TestAddressThatDropsPacketsLeavesTheNextItsTurn(t *testing.T) {
	bound := deaf(t, syscall.AF_INET, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 2}})
	port := strconv.Itoa(bound.(*syscall.SockaddrInet4).Port)
	listen(t, "tcp", "127.0.0.1:"+port, func(net.Conn) {})
	ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
	defer cancel()
	addresses := []netip.Addr{netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.3"), netip.MustParseAddr("::ffff:127.0.0.1")}
	conn, err := dialAny(ctx, addresses, uint16(bound.(*syscall.SockaddrInet4).Port))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

// settle waits until count is at most what it was, and fails if it stays above.
func settle(t *testing.T, what string, before int, count func() int) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for end := time.After(soon); count() > before; <-again.C {
		select {
		case <-end:
			t.Fatalf("%d %s before, %d after", before, what, count())
		default:
		}
	}
}

func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

func TestHungProbesLeaveNothingBehind(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // the kernel connects; nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	url := "http://" + listener.Addr().String() + "/,timeout=100ms"
	expect(t, url, "timeout after 100ms") // starts what the runtime keeps
	goroutines, open := runtime.NumGoroutine(), descriptors()
	var probes sync.WaitGroup
	for range 200 {
		probes.Go(func() { expect(t, url, "timeout after 100ms") })
	}
	probes.Wait()
	if now := descriptors(); now > open {
		t.Errorf("%d descriptors before, %d after", open, now)
	}
	settle(t, "goroutines", goroutines, runtime.NumGoroutine)
}
