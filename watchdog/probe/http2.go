package probe

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"golang.org/x/net/http2/hpack"
)

// This file speaks as much HTTP/2 (RFC 9113) as one request on a connection of
// its own needs.

// The types of frames that mean something here.
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	frameReset        = 0x3
	frameSettings     = 0x4
	framePush         = 0x5
	framePing         = 0x6
	frameGoAway       = 0x7
	frameContinuation = 0x9
)

// The flags of frames.
const (
	flagEndStream  = 0x1 // of DATA and HEADERS
	flagAck        = 0x1 // of SETTINGS and PING
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

// The bounds of an answer. A health response has ten bytes or so.
const (
	maxFrame   = 16 << 10 // bytes; what the protocol lets a server send unasked
	maxFrames  = 256
	maxBlock   = 16 << 10 // bytes of one block of headers, as sent
	maxHeader  = 8 << 10  // bytes of one name or value
	maxMessage = 4 << 10  // bytes of the response
)

// stream is the number of the one stream.
const stream = 1

// preface is the client's; no server pushes, and their headers are short.
var preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + string(appendFrame(nil, frameSettings, 0, 0,
	[]byte{0, 2, 0, 0, 0, 0, 0, 6, 0, 0, maxBlock >> 8, 0})) // ENABLE_PUSH, MAX_HEADER_LIST_SIZE

// frame is one frame, whose payload is good until the next is read.
type frame struct {
	kind, flags byte
	stream      uint32
	payload     []byte
}

// exchange is one request and its answer.
type exchange struct {
	out io.Writer
	in  *bufio.Reader

	payload [maxFrame]byte
	headers *hpack.Decoder
	block   []byte // of headers, while CONTINUATION is wanted
	ends    bool   // the block's HEADERS has ended the stream
	answer  grpcAnswer
}

// send writes the whole request at once: it fits the windows that a server
// begins with.
func (x *exchange) send(headers [][2]string, body []byte) error {
	var block []byte
	for _, h := range headers { // each literal, never indexed (RFC 7541, section 6.2.3)
		block = append(block, 0x10)
		for _, text := range h {
			block = appendLength(block, len(text))
			block = append(block, text...)
		}
	}
	request := appendFrame([]byte(preface), frameHeaders, flagEndHeaders, stream, block)
	_, err := x.out.Write(appendFrame(request, frameData, flagEndStream, stream, body))
	return err
}

// appendLength writes the length of a string that is not Huffman coded
// (RFC 7541, section 5.1).
func appendLength(to []byte, n int) []byte {
	if n < 127 {
		return append(to, byte(n))
	}
	return binary.AppendUvarint(append(to, 127), uint64(n-127))
}

// appendFrame writes a frame.
func appendFrame(to []byte, kind, flags byte, id uint32, payload []byte) []byte {
	n := len(payload)
	to = append(to, byte(n>>16), byte(n>>8), byte(n), kind, flags)
	to = binary.BigEndian.AppendUint32(to, id)
	return append(to, payload...)
}

// receive reads frames up to the end of the answer.
func (x *exchange) receive() error {
	x.headers = hpack.NewDecoder(4<<10, func(f hpack.HeaderField) { x.answer.keep(f.Name, f.Value) })
	x.headers.SetMaxStringLength(maxHeader)
	for i := range maxFrames {
		f, err := x.read()
		if i == 0 && (errors.Is(err, errFrame) || err == nil && (f.kind != frameSettings || f.flags&flagAck != 0)) {
			return errNoHTTP2
		}
		if err != nil {
			return err
		}
		if done, err := x.take(f); done || err != nil {
			return err
		}
	}
	return fmt.Errorf("no answer within %d frames", maxFrames)
}

var (
	errNoHTTP2 = errors.New("the server does not speak HTTP/2 without TLS")
	errFrame   = errors.New("the server breaks HTTP/2's rules")
)

// read reads one frame.
func (x *exchange) read() (frame, error) {
	var head [9]byte
	if _, err := io.ReadFull(x.in, head[:]); err != nil {
		return frame{}, cut(err)
	}
	if string(head[:5]) == "HTTP/" {
		return frame{}, errNoHTTP2
	}
	n := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
	if n > maxFrame {
		return frame{}, errFrame
	}
	if _, err := io.ReadFull(x.in, x.payload[:n]); err != nil {
		return frame{}, cut(err)
	}
	id := binary.BigEndian.Uint32(head[5:]) &^ (1 << 31)
	return frame{head[3], head[4], id, x.payload[:n]}, nil
}

// cut says that a connection ended too early.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("closed without an answer")
	}
	return err
}

// take takes one frame, and says whether the answer is complete.
func (x *exchange) take(f frame) (done bool, err error) {
	if (x.block != nil) != (f.kind == frameContinuation) {
		return false, errFrame // nothing may come in between
	}
	switch f.kind {
	case frameSettings, framePing:
		return false, x.acknowledge(f)
	case frameHeaders, frameData:
		if f.stream != stream {
			return false, errFrame
		}
		if f.payload, err = unpad(f); err != nil {
			return false, err
		}
		if f.kind == frameHeaders {
			return x.takeHeaders(f)
		}
		return x.takeData(f)
	case frameContinuation:
		return x.takeBlock(f)
	case frameReset, frameGoAway:
		return false, refused(f)
	case framePush:
		return false, errFrame
	}
	return false, nil // WINDOW_UPDATE, PRIORITY, and what was invented since
}

// acknowledge answers SETTINGS and PING.
func (x *exchange) acknowledge(f frame) error {
	if f.flags&flagAck != 0 {
		return nil
	}
	payload := f.payload
	if f.kind == frameSettings {
		payload = nil
	} else if len(payload) != 8 {
		return errFrame
	}
	_, err := x.out.Write(appendFrame(nil, f.kind, flagAck, 0, payload))
	return err
}

// unpad is a payload without its padding and, of HEADERS, its priority.
func unpad(f frame) ([]byte, error) {
	payload, padding := f.payload, 0
	if f.flags&flagPadded != 0 {
		if len(payload) == 0 {
			return nil, errFrame
		}
		padding, payload = int(payload[0]), payload[1:]
	}
	if f.kind == frameHeaders && f.flags&flagPriority != 0 {
		if len(payload) < 5 {
			return nil, errFrame
		}
		payload = payload[5:]
	}
	if padding > len(payload) {
		return nil, errFrame
	}
	return payload[:len(payload)-padding], nil
}

// takeHeaders begins a block of headers.
func (x *exchange) takeHeaders(f frame) (done bool, err error) {
	x.block, x.ends = []byte{}, f.flags&flagEndStream != 0
	return x.takeBlock(f)
}

// takeBlock takes a part of a block; its last one tells the headers.
func (x *exchange) takeBlock(f frame) (done bool, err error) {
	if f.stream != stream || len(x.block)+len(f.payload) > maxBlock {
		return false, errFrame
	}
	x.block = append(x.block, f.payload...)
	if f.flags&flagEndHeaders == 0 {
		return false, nil
	}
	block := x.block
	x.block = nil
	if _, err := x.headers.Write(block); err != nil {
		return false, errFrame
	}
	if err := x.headers.Close(); err != nil {
		return false, errFrame
	}
	return x.ends, nil
}

// takeData takes a part of the response.
func (x *exchange) takeData(f frame) (done bool, err error) {
	if len(x.answer.body)+len(f.payload) > maxMessage {
		return false, errors.New("the answer is too long for a health response")
	}
	x.answer.body = append(x.answer.body, f.payload...)
	return f.flags&flagEndStream != 0, nil
}

// refused reads RST_STREAM and GOAWAY.
func refused(f frame) error {
	if f.kind == frameReset {
		if len(f.payload) != 4 || f.stream != stream {
			return errFrame
		}
		return fmt.Errorf("the server broke the request off (HTTP/2 error %d)", binary.BigEndian.Uint32(f.payload))
	}
	if len(f.payload) < 8 {
		return errFrame
	}
	if last := binary.BigEndian.Uint32(f.payload) &^ (1 << 31); last >= stream {
		return nil // it lets this request end
	}
	return fmt.Errorf("the server takes no requests any more (HTTP/2 error %d)", binary.BigEndian.Uint32(f.payload[4:]))
}
