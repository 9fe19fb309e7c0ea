package probe

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	conn, err := dialAny(ctx, &net.Dialer{}, addresses, port)
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

// nameServer answers every query for an IPv4 address with addresses, or,
// without any, answers nothing at all.
func nameServer(t *testing.T, addresses ...netip.Addr) dialFunc {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		buffer := make([]byte, 512)
		for {
			n, client, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if len(addresses) > 0 {
				_, _ = conn.WriteTo(dnsAnswer(buffer[:n], addresses), client)
			}
		}
	})
	t.Cleanup(func() {
		conn.Close()
		serving.Wait()
	})
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}
}

// dnsAnswer turns a query into its answer (RFC 1035, section 4).
func dnsAnswer(query []byte, addresses []netip.Addr) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5 // the root label, the type and the class
	answer := slices.Clone(query[:end])
	answer[2] |= 0x80                                // a response
	binary.BigEndian.PutUint32(answer[8:], 0)        // no authority, nothing additional
	if binary.BigEndian.Uint16(query[end-4:]) != 1 { // no A question
		return answer
	}
	binary.BigEndian.PutUint16(answer[6:], uint16(len(addresses)))
	for _, address := range addresses {
		answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4)
		answer = append(answer, address.AsSlice()...)
	}
	return answer
}

func TestNamesAreLookedUp(t *testing.T) {
	want := []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")}
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	got, err := lookup(ctx, "app.test.", nameServer(t, want...))
	for i := range got {
		got[i] = got[i].Unmap()
	}
	slices.SortFunc(got, netip.Addr.Compare)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestSilentNameServerLeavesNothingBehind(t *testing.T) {
	dial := nameServer(t)
	goroutines, open := runtime.NumGoroutine(), descriptors()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if addresses, err := lookup(ctx, "app.test.", dial); err == nil {
		t.Fatalf("%v", addresses)
	}
	if took := time.Since(began); took > soon {
		t.Errorf("it took %v", took)
	}
	settle(t, "descriptors", open, descriptors)
	settle(t, "goroutines", goroutines, runtime.NumGoroutine)
}

func TestUnknownNamesAreNamed(t *testing.T) {
	notFound := &net.DNSError{Err: "no such host", Name: "app.example", IsNotFound: true}
	if got := reason(fmt.Errorf("dial: %w", notFound)); got != "no such host app.example" {
		t.Error(got)
	}
	broken := &net.DNSError{Err: "server misbehaving", Name: "app.example", Server: "192.0.2.1:53"}
	if got := reason(broken); got != "cannot resolve app.example" {
		t.Error(got)
	}
}
