package wire

import (
	"encoding/binary"
	"fmt"
)

// Call is a method call. Its arguments are strings and lists of strings: nothing
// else is ever asked with.
type Call struct {
	Destination, Path, Interface, Member string
	Args                                 []any // string or []string
}

// The types of messages, and the codes of header fields that matter here: D-Bus
// specification, "Message Format".
const (
	typeCall  = 1
	typeReply = 2
	typeError = 3

	fieldPath        = 1
	fieldInterface   = 2
	fieldMember      = 3
	fieldErrorName   = 4
	fieldReplySerial = 5
	fieldDestination = 6
	fieldSignature   = 8
)

// encoder appends values in little endian, each aligned from the start of its
// message.
type encoder struct {
	buf   []byte
	start int // of the message in buf
}

func (e *encoder) align(n int) {
	for (len(e.buf)-e.start)%n != 0 {
		e.buf = append(e.buf, 0)
	}
}

func (e *encoder) uint32(n uint32) {
	e.align(4)
	e.buf = binary.LittleEndian.AppendUint32(e.buf, n)
}

// string appends a string or an object path.
func (e *encoder) string(s string) {
	e.uint32(uint32(len(s))) //nolint:gosec // append has seen that it fits
	e.buf = append(append(e.buf, s...), 0)
}

func (e *encoder) signature(s string) {
	e.buf = append(append(append(e.buf, byte(len(s))), s...), 0)
}

// field appends a header field: a struct of its code and a variant.
func (e *encoder) field(code byte, kind, value string) {
	e.align(8)
	e.buf = append(e.buf, code)
	e.signature(kind)
	if kind == "g" {
		e.signature(value)
	} else {
		e.string(value)
	}
}

// sized appends what write appends, with its length before it. What it begins
// with is aligned to 8 or less than that to 4, so no padding comes between.
func (e *encoder) sized(write func()) {
	e.uint32(0)
	begin := len(e.buf)
	write()
	binary.LittleEndian.PutUint32(e.buf[begin-4:], uint32(len(e.buf)-begin)) //nolint:gosec // append has seen that it fits
}

// append appends the call as a message.
func (c Call) append(buf []byte, serial uint32) ([]byte, error) {
	body, signature, err := c.body()
	if err != nil {
		return buf, err
	}
	e := encoder{buf: buf, start: len(buf)}
	e.buf = append(e.buf, 'l', typeCall, 0, 1)
	e.uint32(uint32(len(body))) //nolint:gosec // body has seen that it fits
	e.uint32(serial)
	e.sized(func() {
		e.field(fieldPath, "o", c.Path)
		e.field(fieldInterface, "s", c.Interface)
		e.field(fieldMember, "s", c.Member)
		e.field(fieldDestination, "s", c.Destination)
		if signature != "" {
			e.field(fieldSignature, "g", signature)
		}
	})
	e.align(8)
	return append(e.buf, body...), nil
}

// body are the arguments, and their types.
func (c Call) body() (body []byte, signature string, err error) {
	var e encoder
	for _, arg := range c.Args {
		switch v := arg.(type) {
		case string:
			signature += "s"
			e.string(v)
		case []string:
			signature += "as"
			e.sized(func() {
				for _, s := range v {
					e.string(s)
				}
			})
		default:
			return nil, "", fmt.Errorf("%s takes no argument of type %T", c.Member, arg)
		}
		if len(e.buf) > maxMessage/2 {
			return nil, "", fmt.Errorf("the arguments of %s have more than %d bytes", c.Member, maxMessage/2)
		}
	}
	return e.buf, signature, nil
}
