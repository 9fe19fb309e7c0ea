package probe

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The bounds of an answer, in bytes. A health page is small; a front page
// that serves as one may not be.
const (
	maxLine  = 8 << 10
	maxHead  = 64 << 10
	maxBody  = 1 << 20
	maxMatch = 64 << 10 // of the body, what a regular expression sees
)

// maxInterim bounds the 1xx answers before the final one.
const maxInterim = 16

// answer is an HTTP/1 response (RFC 9112) while it is read.
type answer struct {
	in   *bufio.Reader
	left int    // bytes that the current part may still have
	part string // what is being read: "headers" or "body"

	old     bool // HTTP/1.0, which has no Transfer-Encoding
	status  int
	length  int64 // of the body; -1 where the connection's end delimits it
	chunked bool
}

// readHead reads up to the end of the final answer's headers. in must buffer
// maxLine bytes.
func readHead(in *bufio.Reader, method string) (*answer, error) {
	a := &answer{in: in, left: maxHead, part: "headers"}
	for range maxInterim {
		if err := a.readStatus(); err != nil {
			return nil, err
		}
		if err := a.readHeaders(); err != nil {
			return nil, err
		}
		if a.status >= 200 || a.status == 101 {
			if method == "HEAD" || a.status == 101 || a.status == 204 || a.status == 304 {
				a.length, a.chunked = 0, false
			}
			return a, nil
		}
	}
	return nil, fmt.Errorf("more than %d interim answers", maxInterim)
}

// readStatus reads "HTTP/1.1 200 OK". Before it the connection may end
// without a byte, as that of a server that is being stopped does.
func (a *answer) readStatus() error {
	if _, err := a.in.Peek(1); err == io.EOF && a.status == 0 {
		return fmt.Errorf("closed without an answer")
	} else if err != nil {
		return a.early(err)
	}
	line, err := a.readLine()
	if err != nil {
		return err
	}
	version, rest, _ := strings.Cut(string(line), " ")
	code, _, _ := strings.Cut(rest, " ")
	if version != "HTTP/1.1" && version != "HTTP/1.0" || len(code) != 3 {
		return fmt.Errorf("not an http answer")
	}
	a.old = version == "HTTP/1.0"
	a.status, err = strconv.Atoi(code)
	if err != nil || a.status < 100 || a.status > 599 {
		return fmt.Errorf("not an http answer")
	}
	return nil
}

// readHeaders reads up to the empty line and keeps what frames the body.
func (a *answer) readHeaders() error {
	a.length, a.chunked = -1, false
	for {
		line, err := a.readLine()
		if err != nil || len(line) == 0 {
			return err
		}
		if line[0] == ' ' || line[0] == '\t' { // a folded line continues the one before
			continue
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return fmt.Errorf("a header line without a colon")
		}
		if err := a.keepHeader(string(name), string(bytes.Trim(value, " \t"))); err != nil {
			return err
		}
	}
}

// keepHeader takes the headers that frame the body.
func (a *answer) keepHeader(name, value string) error {
	switch {
	case strings.EqualFold(name, "Transfer-Encoding") && !a.old:
		coding := value[strings.LastIndexByte(value, ',')+1:]
		a.chunked = strings.EqualFold(strings.Trim(coding, " \t"), "chunked")
	case strings.EqualFold(name, "Content-Length"):
		n, err := strconv.ParseUint(value, 10, 63)
		if err != nil || a.length >= 0 && a.length != int64(n) {
			return fmt.Errorf("a bad content-length")
		}
		a.length = int64(n)
	}
	return nil
}

// readLine reads one line without its end. It is good until the next read.
func (a *answer) readLine() ([]byte, error) {
	line, err := a.in.ReadSlice('\n')
	a.left -= len(line)
	switch {
	case a.left < 0:
		return nil, a.tooLong()
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("a line of the %s is over %d KiB", a.part, maxLine>>10)
	case err != nil:
		return nil, a.early(err)
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// early names the part in which the connection ended.
func (a *answer) early(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("closed within the %s", a.part)
	}
	return err
}

// tooLong names the bound that the answer went over.
func (a *answer) tooLong() error {
	if a.part == "headers" {
		return fmt.Errorf("headers over %d KiB", maxHead>>10)
	}
	return fmt.Errorf("body over %d MiB", maxBody>>20)
}

// readBody reads the body to its end: an endpoint that hangs in it fails, and
// one that does not never sees its connection reset. It returns the first
// keep bytes.
func (a *answer) readBody(keep int) ([]byte, error) {
	a.left, a.part = maxBody, "body"
	kept := &prefix{limit: keep}
	var err error
	switch {
	case a.chunked:
		err = a.readChunks(kept)
	case a.length >= 0:
		err = a.take(kept, uint64(a.length))
	default:
		err = a.readRest(kept)
	}
	return kept.bytes, err
}

// readRest reads up to the end of the connection.
func (a *answer) readRest(kept *prefix) error {
	for {
		if _, err := a.in.Peek(1); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := a.take(kept, uint64(a.in.Buffered())); err != nil {
			return err
		}
	}
}

// readChunks reads a chunked body and its trailer (RFC 9112, section 7.1).
func (a *answer) readChunks(kept *prefix) error {
	for {
		line, err := a.readLine()
		if err != nil {
			return err
		}
		digits, _, _ := bytes.Cut(line, []byte(";"))
		size, err := strconv.ParseUint(string(bytes.TrimRight(digits, " \t")), 16, 64)
		if err != nil {
			return fmt.Errorf("a bad chunk")
		}
		if size == 0 {
			return a.readTrailer()
		}
		if err := a.take(kept, size); err != nil {
			return err
		}
		line, err = a.readLine()
		if err != nil {
			return err
		}
		if len(line) > 0 {
			return fmt.Errorf("a bad chunk")
		}
	}
}

// readTrailer reads the lines after the last chunk.
func (a *answer) readTrailer() error {
	for {
		if line, err := a.readLine(); err != nil || len(line) == 0 {
			return err
		}
	}
}

// take moves n bytes of the body to kept, through the reader's buffer only.
func (a *answer) take(kept *prefix, n uint64) error {
	if n > uint64(a.left) {
		return a.tooLong()
	}
	a.left -= int(n)
	for rest := int(n); rest > 0; {
		if _, err := a.in.Peek(1); err != nil {
			return a.early(err)
		}
		piece, _ := a.in.Peek(min(rest, a.in.Buffered())) // no error: it is buffered
		kept.add(piece)
		rest -= len(piece)
		_, _ = a.in.Discard(len(piece)) // the same
	}
	return nil
}

// prefix keeps the first limit bytes of what is added.
type prefix struct {
	bytes []byte
	limit int
}

func (p *prefix) add(b []byte) {
	p.bytes = append(p.bytes, b[:min(len(b), p.limit-len(p.bytes))]...)
}
