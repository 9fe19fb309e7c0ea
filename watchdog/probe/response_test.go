package probe

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// read is the answer's status, and its body as far as keep.
func read(answer []byte, method string, keep int) (int, []byte, error) {
	a, err := readHead(bufio.NewReaderSize(bytes.NewReader(answer), maxLine), method)
	if err != nil {
		return 0, nil, err
	}
	body, err := a.readBody(keep)
	return a.status, body, err
}

// readByNetHTTP does the same with net/http.
func readByNetHTTP(answer []byte, method string, keep int) (int, []byte, error) {
	in := bufio.NewReader(bytes.NewReader(answer))
	for {
		r, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return 0, nil, err
		}
		if r.StatusCode < 200 && r.StatusCode != 101 {
			continue
		}
		body, err := io.ReadAll(r.Body)
		return r.StatusCode, body[:min(keep, len(body))], err
	}
}

// What both take, both read alike. The lengths of our bounds are beyond this.
func FuzzResponse(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.0 404 Not Found\n\nno",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2;x=y\r\nok\r\n0\r\nT: x\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
		"HTTP/1.1 200\r\nX: a\r\n b\r\n\r\n", "HTTP/2 200\r\n\r\n", "\x15\x03\x01\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
		"HTTP/1.1 101 Switching\r\nContent-Length: 5\r\n\r\n",
	} {
		f.Add([]byte(seed), false)
	}
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), true)
	f.Fuzz(func(t *testing.T, answer []byte, head bool) {
		method := "GET"
		if head {
			method = "HEAD"
		}
		status, body, err := read(answer, method, 10)
		if err != nil {
			if text := err.Error(); strings.Contains(text, "\n") || len(text) > 80 {
				t.Fatalf("%q", text)
			}
			return
		}
		if status < 101 || status > 599 || len(body) > 10 {
			t.Fatalf("status %d, a body of %d bytes", status, len(body))
		}
		wantStatus, wantBody, err := readByNetHTTP(answer, method, 10)
		if err != nil {
			return
		}
		if status != wantStatus || !bytes.Equal(body, wantBody) {
			t.Fatalf("status %d and body %q; net/http reads %d and %q", status, body, wantStatus, wantBody)
		}
	})
}
