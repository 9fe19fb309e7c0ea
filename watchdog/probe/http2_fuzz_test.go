package probe

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
)

// FuzzHTTP2 is any server: an answer ends in time, within the bounds, in a
// judgement or an error of a few words.
func FuzzHTTP2(f *testing.F) {
	headers := appendFrame(nil, frameHeaders, flagEndHeaders, stream, ok)
	data := appendFrame(nil, frameData, 0, stream, message(8, 1))
	trailers := appendFrame(nil, frameHeaders, flagEndHeaders|flagEndStream, stream, done)
	for _, seed := range []string{
		"", "HTTP/1.1 200 OK\r\n\r\n", frames(), frames(headers, data, trailers),
		frames(appendFrame(nil, frameHeaders, 0, stream, nil), appendFrame(nil, frameContinuation, flagEndHeaders, stream, ok)),
		frames(appendFrame(nil, frameGoAway, 0, 0, make([]byte, 8))), frames(appendFrame(nil, framePing, 0, 0, make([]byte, 8))),
		frames(appendFrame(nil, frameHeaders, flagEndHeaders|flagPadded|flagPriority, stream, []byte{1, 0, 0, 0, 0, 0, 0x88, 0})),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		var out bytes.Buffer
		x := &exchange{out: &out, in: bufio.NewReader(bytes.NewReader(answer))}
		err := x.receive()
		if err == nil {
			err = x.answer.judge("svc")
		}
		if err != nil && (err.Error() == "" || strings.Contains(err.Error(), "EOF")) {
			t.Fatalf("%v", err)
		}
		if len(x.answer.body) > maxMessage || len(x.block) > maxBlock || out.Len() > maxFrames*17 {
			t.Fatalf("%d bytes of body, %d of a block, %d sent", len(x.answer.body), len(x.block), out.Len())
		}
	})
}

// FuzzHealthResponse holds that nothing is read where there is nothing.
func FuzzHealthResponse(f *testing.F) {
	f.Add(message(8, 1))
	f.Add(message(26, 3, 'a', 'b', 'c', 8, 1))
	f.Add(message(33, 1, 2, 3, 4, 5, 6, 7, 8, 45, 1, 2, 3, 4))
	f.Add([]byte{1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, body []byte) {
		status, err := healthResponse(body)
		if err == nil && status != 0 && len(body) < 7 {
			t.Fatalf("%x has the status %d", body, status)
		}
	})
}

// What is sent is what RFC 9113 has, whatever the lengths.
func TestRequestsAreReadBackAsTheyWereSent(t *testing.T) {
	for _, n := range []int{0, 1, 126, 127, 128, 254, 255, 300, 5000} {
		value := strings.Repeat("v", n)
		var out bytes.Buffer
		x := &exchange{out: &out}
		if err := x.send([][2]string{{":status", "200"}, {"grpc-status", "0"}, {"grpc-message", value}}, message(8, 1)); err != nil {
			t.Fatal(err)
		}
		back, found := bytes.CutPrefix(out.Bytes(), []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
		if !found {
			t.Fatalf("no preface: %q", out.String())
		}
		y := &exchange{out: io.Discard, in: bufio.NewReader(bytes.NewReader(back))}
		if err := y.receive(); err != nil {
			t.Fatal(err)
		}
		if y.answer.message != value || y.answer.judge("") != nil {
			t.Errorf("%d bytes came back as %d; %v", n, len(y.answer.message), y.answer.judge(""))
		}
	}
}
