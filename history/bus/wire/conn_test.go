package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// peer is who is on the other end of a socket, for one connection.
type peer struct {
	net.Conn
	in *bufio.Reader
}

// serve has play be the other end of the socket at the path that it returns.
func serve(t *testing.T, greeting string, play func(p peer)) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "bus")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		socket, err := listener.Accept()
		if err != nil {
			return
		}
		defer func() { _ = socket.Close() }()
		p := peer{socket, bufio.NewReader(socket)}
		for range 2 { // AUTH, BEGIN
			if _, err := p.in.ReadString('\n'); err != nil {
				return
			}
		}
		if _, err := p.Write([]byte(greeting)); err != nil {
			return
		}
		play(p)
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	return path
}

const welcome = "OK 0123456789abcdef0123456789abcdef\r\n"

// call is the next call, as another implementation reads it; nil for the end.
func (p peer) call() *dbus.Message {
	m, err := dbus.DecodeMessage(p.in)
	if err != nil {
		return nil
	}
	return m
}

func connect(t *testing.T, path string) *Conn {
	t.Helper()
	c, err := DialPeer(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

var ping = Call{Destination: "a.b", Path: "/a/b", Interface: "a.b.C", Member: "Ping"}

func TestACallIsWhatAnotherImplementationReads(t *testing.T) {
	for _, args := range [][]any{nil, {"x"}, {"", []string{"one", "two", ""}}, {[]string{}, "long " + strings.Repeat("x", 300)}} {
		call := ping
		call.Args = args
		raw, err := call.append([]byte("odd"), 7)
		if err != nil {
			t.Fatal(err)
		}
		m, err := dbus.DecodeMessage(bytes.NewReader(raw[len("odd"):]))
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		if got, want := fmt.Sprintf("%q", m.Body), fmt.Sprintf("%q", args); m.Serial() != 7 || got != want && len(args) > 0 {
			t.Errorf("serial %d, arguments %s; want 7, %s", m.Serial(), got, want)
		}
		for field, want := range map[dbus.HeaderField]string{
			dbus.FieldDestination: `"a.b"`, dbus.FieldPath: `"/a/b"`, dbus.FieldInterface: `"a.b.C"`, dbus.FieldMember: `"Ping"`,
		} {
			if got := fmt.Sprintf("%q", m.Headers[field].Value()); got != want {
				t.Errorf("field %d is %s, want %s", field, got, want)
			}
		}
	}
	if _, err := (Call{Member: "Ping", Args: []any{7}}).append(nil, 1); err == nil {
		t.Error("a number was taken for an argument")
	}
}

// TestEachAnswerFindsItsCall, whatever order they come in, whatever comes between.
func TestEachAnswerFindsItsCall(t *testing.T) {
	const calls = 1000
	most := 0
	path := serve(t, welcome, func(p peer) {
		var waiting []uint32
		for taken := 0; taken < calls; {
			waiting, taken = append(waiting, p.call().Serial()), taken+1
			most = max(most, len(waiting))
			if len(waiting) < 50 && taken < calls {
				continue
			}
			var out []byte
			for len(waiting) > 0 {
				last := waiting[len(waiting)-1]
				waiting = waiting[:len(waiting)-1]
				out = append(out, replyOf(t, binary.LittleEndian, 5_000_000, "to nobody")...)
				out = append(out, replyOf(t, binary.BigEndian, last, fmt.Sprint(last))...)
			}
			if _, err := p.Write(out); err != nil {
				return
			}
		}
	})
	c := connect(t, path)
	seen := make([]bool, calls)
	err := c.CallAll(t.Context(), calls, func(int) Call { return ping }, func(i int, values []any, err error) error {
		if err != nil || values[0] != fmt.Sprint(i+1) || seen[i] {
			return fmt.Errorf("call %d: %v, %w", i, values, err)
		}
		seen[i] = true
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if most > Window {
		t.Errorf("%d calls were under way, at most %d may be", most, Window)
	}
}

func TestAnErrorIsTheAnswerOfItsCallOnly(t *testing.T) {
	path := serve(t, welcome, func(p peer) {
		serial := p.call().Serial()
		m := dbus.Message{Type: dbus.TypeError, Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldReplySerial: dbus.MakeVariant(serial), dbus.FieldErrorName: dbus.MakeVariant("a.b.No"),
			dbus.FieldSignature: dbus.MakeVariant(dbus.ParseSignatureMust("s")),
		}, Body: []any{"not today"}}
		var out bytes.Buffer
		_ = m.EncodeTo(&out, binary.LittleEndian)
		raw := out.Bytes()
		binary.LittleEndian.PutUint32(raw[8:], 1)
		_, _ = p.Write(raw)
		_, _ = p.Write(replyOf(t, binary.LittleEndian, p.call().Serial(), uint32(3)))
	})
	c := connect(t, path)
	var refused *Error
	if _, err := c.Call(t.Context(), ping); !errors.As(err, &refused) || refused.Name != "a.b.No" || err.Error() != "not today" {
		t.Errorf("error %v", err)
	}
	if values, err := c.Call(t.Context(), ping); err != nil || values[0] != uint32(3) {
		t.Errorf("%v, %v", values, err)
	}
}

func TestAConnectionThatBreaksIsAnError(t *testing.T) {
	for name, sent := range map[string]string{
		"at once":             "",
		"in a message":        "l\x02\x01\x01\x00\x00",
		"no message":          "HTTP/1.1 400 Bad Request\r\n\r\n",
		"too large a message": "l\x02\x01\x01\xff\xff\xff\x7f\x01\x00\x00\x00\x00\x00\x00\x00",
		"a header of rubbish": "l\x02\x01\x01\x00\x00\x00\x00\x01\x00\x00\x00\x08\x00\x00\x00\x05\x01z\x00\x00\x00\x00\x00",
	} {
		path := serve(t, welcome, func(p peer) {
			p.call()
			_, _ = p.Write([]byte(sent))
		})
		if _, err := connect(t, path).Call(t.Context(), ping); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAPeerThatIsSilentIsLeftWhenTheContextEnds(t *testing.T) {
	path := serve(t, welcome, func(p peer) {
		for p.call() != nil { // until the other end has gone
		}
	})
	c := connect(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, ping); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	_ = c.Close()
}

func TestWhoIsRefusedIsToldSo(t *testing.T) {
	path := serve(t, "REJECTED EXTERNAL\r\n", func(peer) {})
	if _, err := DialPeer(t.Context(), path); err == nil || !strings.Contains(err.Error(), "REJECTED") {
		t.Errorf("error %v", err)
	}
}

func TestABusIsGreetedAndThenAsked(t *testing.T) {
	path := serve(t, welcome, func(p peer) {
		for m := p.call(); m != nil; m = p.call() {
			_, _ = p.Write(replyOf(t, binary.LittleEndian, m.Serial(), m.Headers[dbus.FieldMember].Value()))
		}
	})
	c, err := DialBus(t.Context(), "tcp:host=x;unix:path=/nonexistent/bus;unix:path="+path+",guid=0123")
	if err != nil {
		t.Fatal(err)
	}
	if values, err := c.Call(t.Context(), ping); err != nil || values[0] != "Ping" || c.serial != 2 {
		t.Errorf("%v, %v, serial %d", values, err, c.serial)
	}
	_ = c.Close()
}

func TestAddressesAreThoseOfUnixSockets(t *testing.T) {
	for list, want := range map[string]string{
		"unix:path=/run/dbus/system_bus_socket":          "/run/dbus/system_bus_socket",
		"unix:guid=1,path=/a%20b;tcp:host=h;unix:path=c": "/a b c",
		"unix:abstract=/tmp/x,guid=1":                    "@/tmp/x",
		"tcp:host=h":                                     "",
		"unix:path=%zz;unix:;":                           "",
		"":                                               "",
	} {
		sockets, err := parseAddresses(list)
		var names []string
		for _, s := range sockets {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", list, got, err, want)
		}
	}
}
