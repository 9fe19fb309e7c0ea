package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestEndpointsThatAnswerWellHold(t *testing.T) {
	for name, tc := range map[string]struct{ answer, options string }{
		"plain":                    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", ""},
		"no reason":                {"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", ""},
		"line feeds only":          {"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", ",body=ok"},
		"close delimits":           {"HTTP/1.0 200 OK\r\n\r\nok", ",body=^ok$"},
		"chunks":                   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x=y\r\nk\r\n0\r\nT: x\r\n\r\n", ",body=^ok$"},
		"chunks beat a length":     {"HTTP/1.1 200 OK\r\nContent-Length: 99\r\ntransfer-encoding: gzip, Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", ",body=^ok$"},
		"redirect":                 {"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n", ""},
		"no content":               {"HTTP/1.1 204 No Content\r\n\r\n", ""},
		"not modified, length":     {"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", ",status=304"},
		"own status":               {"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", ",status=2xx+503"},
		"interim answers":          {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""},
		"folded header":            {"HTTP/1.1 200 OK\r\nX: a\r\n  b: c\r\nContent-Length: 0\r\n\r\n", ""},
		"equal lengths":            {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", ",body=ok"},
		"HEAD":                     {"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", ",method=HEAD"},
		"body of 1 MiB":            {"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 1<<20), ",body=^x+$"},
		"match within 64 KiB":      {"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 64<<10-1) + "yz", ",body=y$"},
		"headers of nearly 64 KiB": {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("x", 8000)+"\r\n", 8) + "\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, "http://"+serve(t, tc.answer).address+"/"+tc.options, "")
		})
	}
}

func TestEndpointsThatAnswerBadlyFailAtOnce(t *testing.T) {
	for name, tc := range map[string]struct{ answer, options, want string }{
		"status":              {"HTTP/1.1 503 Service Unavailable\r\n\r\n", "", "status 503"},
		"redirect not wanted": {"HTTP/1.1 301 Moved\r\n\r\n", ",status=2xx", "status 301"},
		"switching protocols": {"HTTP/1.1 101 Switching\r\n\r\n", "", "status 101"},
		"nothing":             {"", "", "closed without an answer"},
		"half a status":       {"HTTP/1.1 20", "", "closed within the headers"},
		"half the headers":    {"HTTP/1.1 200 OK\r\nX: y\r\n", "", "closed within the headers"},
		"only an interim":     {"HTTP/1.1 100 Continue\r\n\r\n", "", "closed within the headers"},
		"half a body":         {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", "", "closed within the body"},
		"half a chunk":        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", "", "closed within the body"},
		"no last chunk":       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", "", "closed within the body"},
		"no end of trailer":   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "", "closed within the body"},
		"chunk size":          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", "", "a bad chunk"},
		"chunk end":           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokok\r\n", "", "a bad chunk"},
		"huge chunk":          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", "", "body over 1 MiB"},
		"chunk overflow":      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1ffffffffffffffff\r\n", "", "a bad chunk"},
		"huge length":         {"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n", "", "body over 1 MiB"},
		"bad length":          {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "", "a bad content-length"},
		"unequal lengths":     {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "", "a bad content-length"},
		"no colon":            {"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "", "a header line without a colon"},
		"another protocol":    {"SSH-2.0-OpenSSH_9.2\r\n", "", "not an http answer"},
		"another version":     {"HTTP/2 200\r\n\r\n", "", "not an http answer"},
		"a status of letters": {"HTTP/1.1 abc\r\n\r\n", "", "not an http answer"},
		"a status of 99":      {"HTTP/1.1 099\r\n\r\n", "", "not an http answer"},
		"a status of 600":     {"HTTP/1.1 600\r\n\r\n", "", "not an http answer"},
		"TLS":                 {"\x15\x03\x01\x00\x02\x02\x46\n", "", "not an http answer"},
		"a long line":         {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 8<<10) + "\r\n\r\n", "", "a line of the headers is over 8 KiB"},
		"a long status line":  {"HTTP/1.1 200 " + strings.Repeat("x", 8<<10) + "\r\n\r\n", "", "a line of the headers is over 8 KiB"},
		"a long chunk line":   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("x", 8<<10), "", "a line of the body is over 8 KiB"},
		"another body":        {"HTTP/1.1 200 OK\r\n\r\nno", ",body=yes", "the body does not match"},
		"match beyond 64 KiB": {"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 64<<10) + "y", ",body=y", "the body does not match"},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, "http://"+serve(t, tc.answer).address+"/"+tc.options, tc.want)
		})
	}
}

// repeat sends a piece until the probe has closed.
func repeat(start, piece string) func(net.Conn) {
	pieces := bytes.Repeat([]byte(piece), max(1, 32<<10/len(piece)))
	return func(conn net.Conn) {
		for _, err := io.WriteString(conn, start); err == nil; {
			_, err = conn.Write(pieces)
		}
	}
}

func TestEndlessAnswersFailAtOnceWithFlatMemory(t *testing.T) {
	const ok, chunked = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, tc := range map[string]struct {
		start, piece, want string
	}{
		"garbage":        {"", "x", "a line of the headers is over 8 KiB"},
		"zeros":          {"", "\x00", "a line of the headers is over 8 KiB"},
		"line feeds":     {"", "\n", "not an http answer"},
		"headers":        {ok, "X: y\r\n", "headers over 64 KiB"},
		"folded headers": {ok, " x\r\n", "headers over 64 KiB"},
		"a header":       {ok + "X: ", "y", "a line of the headers is over 8 KiB"},
		"interims":       {"", "HTTP/1.1 100 Continue\r\n\r\n", "more than 16 interim answers"},
		"long interims":  {"", "HTTP/1.1 100 Continue\r\nX: " + strings.Repeat("x", 8000) + "\r\n\r\n", "headers over 64 KiB"},
		"a body":         {ok + "\r\n", "x", "body over 1 MiB"},
		"chunks":         {chunked, "5\r\nhello\r\n", "body over 1 MiB"},
		"extensions":     {chunked, "1;" + strings.Repeat("x", 8000) + "\r\nx\r\n", "body over 1 MiB"},
		"a trailer":      {chunked + "0\r\n", "X: y\r\n", "body over 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			s := listen(t, "tcp", "127.0.0.1:0", repeat(tc.start, tc.piece))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			expect(t, "http://"+s.address+"/,body=hello", tc.want)
			runtime.ReadMemStats(&after)
			// All that was ever allocated, also what was freed at once.
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
				t.Errorf("the probe allocated %d KiB", grown>>10)
			}
		})
	}
}

func TestAnswerInSingleBytesHolds(t *testing.T) {
	s := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
		for _, b := range []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n") {
			_, _ = conn.Write([]byte{b})
		}
	})
	expect(t, "http://"+s.address+"/,body=^ok$", "")
}

// hangs are all the places in which an endpoint can hang.
var hangs = map[string]string{
	"before the answer":   "",
	"in the status line":  "HTTP/1.1 2",
	"in the headers":      "HTTP/1.1 200 OK\r\nX: ",
	"after an interim":    "HTTP/1.1 100 Continue\r\n\r\n",
	"in the body":         "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nok",
	"in a chunk":          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nok",
	"before the end":      "HTTP/1.1 200 OK\r\n\r\nok",
	"between two chunks":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
	"in the last trailer": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n",
}

func TestHangingEndpointFailsAtItsTimeout(t *testing.T) {
	for name, start := range hangs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
				_, _ = io.WriteString(conn, start)
				hang(conn)
			})
			began := time.Now()
			err := ask(t, "http://"+s.address+"/,timeout=50ms")
			if err == nil || err.Error() != "timeout after 50ms" || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			if took := time.Since(began); took < 50*time.Millisecond || took > soon {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestTricklingEndpointFailsAtItsTimeout(t *testing.T) {
	for name, start := range hangs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
				if _, err := io.WriteString(conn, start); err != nil {
					return
				}
				for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
					if _, err := conn.Write([]byte("1")); err != nil {
						return
					}
				}
			})
			err := ask(t, "http://"+s.address+"/,timeout=50ms")
			switch {
			case err == nil:
				t.Error("the check holds")
			case name == "in a chunk":
				// The chunk comes to its end, and a bad one.
			case err.Error() != "timeout after 50ms":
				t.Error(err)
			}
		})
	}
}

func TestCancelledProbeEndsAtOnce(t *testing.T) {
	s := listen(t, "tcp", "127.0.0.1:0", hang)
	p, err := New(check(t, "http://"+s.address+"/"), Host{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Probe(ctx) }()
	<-s.requests
	cancel()
	select {
	case err := <-ended:
		if err == nil || err.Error() != "cancelled" || !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(soon):
		t.Fatal("the probe goes on")
	}
}

func TestRefusedAndUnreachableEndpointsFailWithTheReason(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	listener.Close()
	missing := filepath.Join(t.TempDir(), "s")
	expect(t, "http://"+closed+"/", "connection refused")
	expect(t, "http+unix:"+missing+":/", "no such file or directory")
	expect(t, "http://255.255.255.255/", "network is unreachable")
}

func TestResetIsNamed(t *testing.T) {
	s := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
		_ = conn.(*net.TCPConn).SetLinger(0) // RST at close
	})
	expect(t, "http://"+s.address+"/", "connection reset by peer")
}

func TestHTTPOverUnixSocketsAndIPv6(t *testing.T) {
	answer := func(conn net.Conn) { _, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n") }
	path := filepath.Join(t.TempDir(), "app.sock")
	listen(t, "unix", path, answer)
	expect(t, "http+unix:"+path+":/healthz", "")
	expect(t, "http://unix:"+path+":/healthz", "")
	name := fmt.Sprintf("@svckit-probe-test-%d", time.Now().UnixNano())
	listen(t, "unix", name, answer)
	expect(t, "http+unix:"+name+":/", "")
	expect(t, "http://"+listen(t, "tcp6", "[::1]:0", answer).address+"/", "")
}
