package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// soon bounds what is to come at once, on a loaded machine too.
const soon = time.Minute

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
	if got := unresolved(fmt.Errorf("dial: %w", notFound)); got.Error() != "no such host app.example" {
		t.Error(got)
	}
	broken := &net.DNSError{Err: "server misbehaving", Name: "app.example", Server: "192.0.2.1:53"}
	if got := unresolved(broken); got.Error() != "cannot resolve app.example" {
		t.Error(got)
	}
	if err := errors.New("other"); !errors.Is(unresolved(err), err) || unresolved(nil) != nil {
		t.Error("another error is not left as it is")
	}
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

func TestAddressesAreWhatIsPrinted(t *testing.T) {
	code, said, complaint := program(t, "", "--resolve", "localhost")
	for word := range strings.FieldsSeq(said) {
		if address, err := netip.ParseAddr(word); err != nil || !address.IsLoopback() {
			t.Errorf("%q of localhost", word)
		}
	}
	if code != exitHolds || said == "" || complaint != "" {
		t.Errorf("exit status %d, %q, %q", code, said, complaint)
	}
	if code, said, _ := program(t, "", "--resolve", "no such host."); code != exitFails || !strings.Contains(said, "no such host") {
		t.Errorf("exit status %d, %q", code, said)
	}
}
