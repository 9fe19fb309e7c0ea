package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// health is a gRPC health server by hand, over net/http's HTTP/2.
type health struct {
	code, message string // grpc-status and grpc-message
	response      []byte
	early         bool // the status comes with the headers, as a trailers-only answer
	status        int  // of HTTP; 200 where 0
	asked         chan []byte
}

func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	ok := err == nil && r.ProtoMajor == 2 && r.Method == http.MethodPost && r.URL.Path == "/grpc.health.v1.Health/Check" &&
		r.Header.Get("Content-Type") == "application/grpc" && r.Header.Get("Te") == "trailers" && r.Header.Get("Grpc-Timeout") != ""
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	select {
	case h.asked <- body:
	default: // a benchmark does not look
	}
	w.Header().Set("Content-Type", "application/grpc")
	if h.status != 0 {
		w.WriteHeader(h.status)
		return
	}
	prefix := http.TrailerPrefix
	if h.early {
		prefix = ""
	}
	if h.code != "" {
		w.Header().Set(prefix+"Grpc-Status", h.code)
		w.Header().Set(prefix+"Grpc-Message", h.message)
	}
	if !h.early {
		_, _ = w.Write(h.response)
	}
}

// serveHealth serves until the test ends, and returns HOST:PORT.
func serveHealth(t testing.TB, h *health) string {
	t.Helper()
	h.asked = make(chan []byte, 1024)
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// message is a protobuf message with gRPC's prefix.
func message(fields ...byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(fields))), fields...)
}

func TestGRPCHoldsWhenTheServiceIsServing(t *testing.T) {
	for name, response := range map[string][]byte{
		"serving":               message(8, 1),
		"the last one counts":   message(8, 2, 8, 1),
		"with fields of others": message(16, 7, 26, 3, 'a', 'b', 'c', 33, 1, 2, 3, 4, 5, 6, 7, 8, 45, 1, 2, 3, 4, 8, 1),
		"in a long number":      message(8, 0x81, 0x80, 0x00),
	} {
		t.Run(name, func(t *testing.T) {
			h := &health{code: "0", response: response}
			address := serveHealth(t, h)
			expect(t, "grpc:"+address, "")
			if asked := <-h.asked; !bytes.Equal(asked, message()) {
				t.Errorf("asked %x", asked)
			}
		})
	}
}

func TestGRPCAsksForTheService(t *testing.T) {
	for _, service := range []string{"a", "my.pkg.Service", strings.Repeat("x", 256)} {
		h := &health{code: "0", response: message(8, 1)}
		expect(t, "grpc:"+serveHealth(t, h)+"/"+service, "")
		want := append(binary.AppendUvarint([]byte{10}, uint64(len(service))), service...)
		if asked := <-h.asked; !bytes.Equal(asked, message(want...)) {
			t.Errorf("asked %q", asked)
		}
	}
}

func TestGRPCFailuresAreNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		health health
		want   string
	}{
		"not serving":        {health{code: "0", response: message(8, 2)}, "NOT_SERVING"},
		"unknown":            {health{code: "0", response: message(8, 0)}, "UNKNOWN"},
		"says nothing":       {health{code: "0", response: message()}, "UNKNOWN"},
		"service unknown":    {health{code: "0", response: message(8, 3)}, "SERVICE_UNKNOWN"},
		"a new status":       {health{code: "0", response: message(8, 9)}, "health status 9, which grpc.health.v1 does not have"},
		"no such service":    {health{code: "5", early: true}, `the server does not know the service "svc"`},
		"no health":          {health{code: "12", early: true}, "the server does not have grpc.health.v1"},
		"unavailable":        {health{code: "14", message: "going away", early: true}, "grpc status 14 (unavailable): going away"},
		"odd code":           {health{code: "99", response: message(8, 1)}, "grpc status 99"},
		"no status":          {health{response: message(8, 1)}, "the answer has no grpc-status"},
		"no grpc":            {health{status: 404}, "status 404, from no gRPC server"},
		"no message":         {health{code: "0"}, "the answer is no health response"},
		"too short":          {health{code: "0", response: message(8, 1)[:6]}, "the answer is no health response"},
		"too long":           {health{code: "0", response: append(message(8, 1), 0)}, "the answer is no health response"},
		"a field cut off":    {health{code: "0", response: message(26, 9, 'a')}, "the answer is no health response"},
		"a number cut off":   {health{code: "0", response: message(8, 0x80)}, "the answer is no health response"},
		"a group":            {health{code: "0", response: message(11)}, "the answer is no health response"},
		"an endless number":  {health{code: "0", response: message(bytes.Repeat([]byte{0xff}, 20)...)}, "the answer is no health response"},
		"compressed":         {health{code: "0", response: append([]byte{1}, message(8, 1)[1:]...)}, "the answer is compressed, which was not asked for"},
		"a long answer":      {health{code: "0", response: make([]byte, 5000)}, "the answer is too long for a health response"},
		"a very long answer": {health{code: "0", response: make([]byte, 1<<20)}, "the answer is too long for a health response"},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, "grpc:"+serveHealth(t, &tc.health)+"/svc", tc.want)
		})
	}
}

func TestServersThatSpeakNoHTTP2AreTold(t *testing.T) {
	for name, answer := range map[string]string{
		"http/1.1": "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
		"TLS":      "\x15\x03\x01\x00\x02\x02\x46" + strings.Repeat("x", 9),
		"redis":    "-ERR unknown command 'PRI'\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, "grpc:"+serve(t, answer).address, "the server does not speak HTTP/2 without TLS")
		})
	}
	expect(t, "grpc:"+serve(t, "").address, "closed without an answer")
}

// frames is a server's bytes: the frames of an answer after its SETTINGS.
func frames(rest ...[]byte) string {
	return string(appendFrame(nil, frameSettings, 0, 0, nil)) + string(bytes.Join(rest, nil))
}

// ok is a block of headers with :status 200, and done one with grpc-status 0.
var (
	ok   = []byte{0x88}
	done = append([]byte{0x00, 11}, "grpc-status\x010"...)
)

func TestOddAnswersOfHTTP2AreUnderstood(t *testing.T) {
	headers := appendFrame(nil, frameHeaders, flagEndHeaders, stream, ok)
	data := appendFrame(nil, frameData, 0, stream, message(8, 1))
	trailers := appendFrame(nil, frameHeaders, flagEndHeaders|flagEndStream, stream, done)
	for name, answer := range map[string]string{
		"plain":          frames(headers, data, trailers),
		"padded":         frames(appendFrame(nil, frameHeaders, flagEndHeaders|flagPadded, stream, []byte{2, 0x88, 0, 0}), data, trailers),
		"with priority":  frames(appendFrame(nil, frameHeaders, flagEndHeaders|flagPriority, stream, []byte{0, 0, 0, 0, 9, 0x88}), data, trailers),
		"interim":        frames(appendFrame(nil, frameHeaders, flagEndHeaders, stream, []byte("\x08\x03100")), headers, data, trailers),
		"pinged":         frames(appendFrame(nil, framePing, 0, 0, make([]byte, 8)), headers, data, trailers),
		"new settings":   frames(headers, appendFrame(nil, frameSettings, 0, 0, make([]byte, 6)), data, trailers),
		"windows":        frames(appendFrame(nil, 0x8, 0, 0, []byte{0, 0, 1, 0}), headers, data, trailers),
		"a new type":     frames(headers, appendFrame(nil, 0xbb, 0xff, 7, []byte("what is this")), data, trailers),
		"a late goaway":  frames(headers, appendFrame(nil, frameGoAway, 0, 0, []byte{0, 0, 0, 1, 0, 0, 0, 0}), data, trailers),
		"data in pieces": frames(headers, appendFrame(nil, frameData, 0, stream, message(8, 1)[:3]), appendFrame(nil, frameData, flagPadded, stream, append([]byte{1}, append(message(8, 1)[3:], 0)...)), trailers),
		"continued": frames(appendFrame(nil, frameHeaders, 0, stream, nil), appendFrame(nil, frameContinuation, flagEndHeaders, stream, ok), data,
			appendFrame(nil, frameHeaders, flagEndStream, stream, done[:5]), appendFrame(nil, frameContinuation, flagEndHeaders, stream, done[5:])),
	} {
		t.Run(name, func(t *testing.T) {
			s := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) { _, _ = io.WriteString(conn, answer); hang(conn) })
			expect(t, "grpc:"+s.address, "")
		})
	}
}

func TestBrokenAnswersOfHTTP2FailAtOnce(t *testing.T) {
	const rules = "the server breaks HTTP/2's rules"
	headers := appendFrame(nil, frameHeaders, flagEndHeaders, stream, ok)
	for name, tc := range map[string]struct{ answer, want string }{
		"another stream":        {frames(appendFrame(nil, frameHeaders, flagEndHeaders, 3, ok)), rules},
		"a push":                {frames(appendFrame(nil, framePush, flagEndHeaders, stream, []byte{0, 0, 0, 2})), rules},
		"a bad block":           {frames(appendFrame(nil, frameHeaders, flagEndHeaders, stream, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff})), rules},
		"half a block":          {frames(appendFrame(nil, frameHeaders, flagEndHeaders, stream, []byte{0x08, 9, '1'})), rules},
		"a frame in a block":    {frames(appendFrame(nil, frameHeaders, 0, stream, ok), appendFrame(nil, framePing, 0, 0, make([]byte, 8))), rules},
		"a lone continuation":   {frames(appendFrame(nil, frameContinuation, flagEndHeaders, stream, ok)), rules},
		"another's continued":   {frames(appendFrame(nil, frameHeaders, 0, stream, nil), appendFrame(nil, frameContinuation, flagEndHeaders, 3, ok)), rules},
		"only padding":          {frames(appendFrame(nil, frameHeaders, flagEndHeaders|flagPadded, stream, nil)), rules},
		"too much padding":      {frames(appendFrame(nil, frameHeaders, flagEndHeaders|flagPadded, stream, []byte{9, 0x88})), rules},
		"a cut priority":        {frames(appendFrame(nil, frameHeaders, flagEndHeaders|flagPriority, stream, []byte{0})), rules},
		"a short ping":          {frames(appendFrame(nil, framePing, 0, 0, []byte{1})), rules},
		"a short reset":         {frames(appendFrame(nil, frameReset, 0, stream, []byte{1})), rules},
		"a short goaway":        {frames(appendFrame(nil, frameGoAway, 0, 0, []byte{1})), rules},
		"a frame over 16 KiB":   {frames([]byte{0, 0x40, 1, frameData, 0, 0, 0, 0, 1}), rules},
		"a block over 16 KiB":   {frames(appendFrame(nil, frameHeaders, 0, stream, make([]byte, 10<<10)), appendFrame(nil, frameContinuation, 0, stream, make([]byte, 10<<10))), rules},
		"reset":                 {frames(appendFrame(nil, frameReset, 0, stream, []byte{0, 0, 0, 7})), "the server broke the request off (HTTP/2 error 7)"},
		"goaway":                {frames(appendFrame(nil, frameGoAway, 0, 0, []byte{0, 0, 0, 0, 0, 0, 0, 11})), "the server takes no requests any more (HTTP/2 error 11)"},
		"cut in a head":         {frames([]byte{0, 0, 1}), "closed without an answer"},
		"cut in a payload":      {frames([]byte{0, 0, 9, frameData, 0, 0, 0, 0, 1, 'x'}), "closed without an answer"},
		"cut after the headers": {frames(headers), "closed without an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			s := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
				_, _ = io.WriteString(conn, tc.answer)
				_ = conn.(*net.TCPConn).CloseWrite()
				hang(conn)
			})
			expect(t, "grpc:"+s.address, tc.want)
		})
	}
}

func TestEndlessFramesFailAtOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		piece []byte
		want  string
	}{
		"settings":  {appendFrame(nil, frameSettings, 0, 0, nil), "no answer within 256 frames"},
		"pings":     {appendFrame(nil, framePing, flagAck, 0, make([]byte, 8)), "no answer within 256 frames"},
		"big ones":  {appendFrame(nil, 0x99, 0, 0, make([]byte, maxFrame)), "no answer within 256 frames"},
		"headers":   {appendFrame(nil, frameHeaders, flagEndHeaders, stream, ok), "no answer within 256 frames"},
		"no data":   {appendFrame(nil, frameData, 0, stream, nil), "no answer within 256 frames"},
		"some data": {appendFrame(nil, frameData, 0, stream, make([]byte, 100)), "the answer is too long for a health response"},
	} {
		t.Run(name, func(t *testing.T) {
			s := listen(t, "tcp", "127.0.0.1:0", repeat(frames(), string(tc.piece)))
			expect(t, "grpc:"+s.address, tc.want)
		})
	}
}

func TestHangingGRPCServerFailsAtItsTimeout(t *testing.T) {
	for name, start := range map[string]string{
		"before its settings": "",
		"in a frame":          frames([]byte{0, 0, 9, frameData}),
		"after its headers":   frames(appendFrame(nil, frameHeaders, flagEndHeaders, stream, ok)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := listen(t, "tcp", "127.0.0.1:0", func(conn net.Conn) { _, _ = io.WriteString(conn, start); hang(conn) })
			began := time.Now()
			err := ask(t, "grpc:"+s.address+",timeout=50ms")
			if err == nil || err.Error() != "timeout after 50ms" || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > soon {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		})
	}
}
