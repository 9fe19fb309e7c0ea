package bus

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
)

// fakeBus is a message bus with one service on it, the manager, on a socket
// of its own. answer gives the body of a reply, or an error with a D-Bus name.
type fakeBus struct {
	answer func(msg *dbus.Message) ([]any, error)
	mu     sync.Mutex
	calls  []string
}

// serve starts the bus and makes it the system bus of the test.
func (b *fakeBus) serve(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bus")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+path)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			b.converse(conn)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
}

// converse speaks with one client until it goes.
func (b *fakeBus) converse(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	if !handshake(in, conn) {
		return
	}
	for {
		msg, err := dbus.DecodeMessage(in)
		if err != nil {
			return
		}
		reply := b.reply(msg)
		if reply == nil {
			continue
		}
		if err := reply.EncodeTo(conn, binary.LittleEndian); err != nil {
			return
		}
	}
}

// handshake is the server's side of SASL EXTERNAL.
func handshake(in *bufio.Reader, conn net.Conn) bool {
	if zero, err := in.ReadByte(); err != nil || zero != 0 {
		return false
	}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return false
		}
		answer := "ERROR"
		switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case word == "BEGIN":
			return true
		case strings.HasPrefix(line, "AUTH EXTERNAL"):
			answer = "OK 0123456789abcdef0123456789abcdef"
		case word == "AUTH":
			answer = "REJECTED EXTERNAL"
		}
		if _, err := fmt.Fprintf(conn, "%s\r\n", answer); err != nil {
			return false
		}
	}
}

// reply answers a method call; nil stays silent.
func (b *fakeBus) reply(msg *dbus.Message) *dbus.Message {
	member, _ := msg.Headers[dbus.FieldMember].Value().(string)
	b.mu.Lock()
	ofTheBus := member == "Hello" || member == "AddMatch"
	if !ofTheBus {
		b.calls = append(b.calls, member)
	}
	b.mu.Unlock()
	body, err := []any{":1.1"}, error(nil)
	if !ofTheBus {
		if body, err = b.answer(msg); body == nil && err == nil {
			return nil
		}
	}
	reply := &dbus.Message{
		Type:    dbus.TypeMethodReply,
		Headers: map[dbus.HeaderField]dbus.Variant{dbus.FieldReplySerial: dbus.MakeVariant(msg.Serial())},
	}
	if err != nil {
		reply.Type = dbus.TypeError
		reply.Headers[dbus.FieldErrorName] = dbus.MakeVariant(err.Error())
		body = []any{"no"}
	}
	reply.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(body...))
	reply.Body = body
	return reply
}
