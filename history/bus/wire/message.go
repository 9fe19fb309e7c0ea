package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxMessage bounds a message: an eighth of what the specification allows, and
// the list of some 50,000 units.
const maxMessage = 16 << 20

// Error is what a peer answers instead of a reply.
type Error struct {
	Name    string // org.freedesktop.DBus.Error.AccessDenied
	Message string
}

func (e *Error) Error() string {
	if e.Message == "" {
		return e.Name
	}
	return e.Message
}

// message is one that has come, with what is needed of its header.
type message struct {
	kind      byte
	answers   uint32 // the serial of the call that it is about
	errorName string
	signature string
	body      decoder
}

// fixedHeader is how long the part of a header is that always has the same form,
// with the length of the fields behind it.
const fixedHeader = 16

// reader reads messages.
type reader struct {
	in     *bufio.Reader
	buffer []byte // of the last message
}

// next is the next message. Its body is good until the one after it is read.
func (r *reader) next() (message, error) {
	head, err := r.in.Peek(fixedHeader)
	if err != nil {
		return message{}, cutOff(err)
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch head[0] {
	case 'l':
	case 'B':
		order = binary.BigEndian
	default:
		return message{}, fmt.Errorf("a message begins with %q, which is no byte order", head[0])
	}
	body, fields := uint64(order.Uint32(head[4:])), uint64(order.Uint32(head[12:]))
	begin := (fixedHeader + fields + 7) &^ 7
	size := begin + body
	if size > maxMessage {
		return message{}, fmt.Errorf("a message of %d bytes is too large", size)
	}
	if uint64(cap(r.buffer)) < size {
		r.buffer = make([]byte, size)
	}
	raw := r.buffer[:size]
	if _, err := io.ReadFull(r.in, raw); err != nil {
		return message{}, cutOff(err)
	}
	m := message{kind: raw[1], body: decoder{data: raw[begin:], order: order}}
	return m, m.readFields(&decoder{data: raw[:fixedHeader+fields], at: fixedHeader, order: order})
}

// readFields reads the fields of the header.
func (m *message) readFields(d *decoder) error {
	for d.at < len(d.data) {
		d.align(8)
		code := d.byte()
		value := d.variant(0)
		if d.err != nil {
			return fmt.Errorf("the header of a message: %w", d.err)
		}
		switch text, _ := value.(string); code {
		case fieldReplySerial:
			m.answers, _ = value.(uint32)
		case fieldErrorName:
			m.errorName = text
		case fieldSignature:
			m.signature = text
		}
	}
	return nil
}

// values are those of the body, or the error that the message is.
func (m *message) values() ([]any, error) {
	values, err := m.body.values(m.signature)
	if err != nil {
		return nil, fmt.Errorf("the body of a message: %w", err)
	}
	if m.kind != typeError {
		return values, nil
	}
	failed := &Error{Name: m.errorName}
	if len(values) > 0 {
		failed.Message, _ = values[0].(string)
	}
	return nil, failed
}

// cutOff names the end of a connection.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the connection was closed")
	}
	return err
}
