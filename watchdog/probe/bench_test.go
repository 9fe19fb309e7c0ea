package probe

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// BenchmarkHTTP asks an endpoint by this package's client and by net/http in
// turn, so that the machine's moods strike both, and prints how they compare.
func BenchmarkHTTP(b *testing.B) {
	s := listen(b, "tcp", "127.0.0.1:0", func(conn net.Conn) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
	})
	go func() {
		for range s.requests { // nobody looks at them
		}
	}()
	url := "http://" + s.address + "/live"
	p, err := New(check(b, url), Host{})
	if err != nil {
		b.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	client := &http.Client{Transport: transport}
	ours := func(ctx context.Context) error { return p.Probe(ctx) }
	theirs := func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		return closeBoth(err, answer.Body)
	}
	var spent [2]time.Duration
	for b.Loop() {
		for i, ask := range []func(context.Context) error{ours, theirs} {
			ctx, cancel := context.WithTimeout(b.Context(), soon)
			began := time.Now()
			if err := ask(ctx); err != nil {
				b.Fatal(err)
			}
			spent[i] += time.Since(began)
			cancel()
		}
	}
	b.ReportMetric(float64(spent[0].Microseconds())/float64(b.N), "µs/probe")
	b.ReportMetric(float64(spent[1].Microseconds())/float64(b.N), "µs/net-http")
	b.ReportMetric(float64(spent[0])/float64(spent[1]), "×net-http")
}

func closeBoth(err error, body io.Closer) error {
	if closeErr := body.Close(); err == nil {
		err = closeErr
	}
	return err
}

// BenchmarkHTTPAllocations shows what one probe leaves to the collector.
func BenchmarkHTTPAllocations(b *testing.B) {
	for _, kind := range []string{"probe", "net-http"} {
		b.Run(kind, func(b *testing.B) {
			answer := []byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if kind == "probe" {
					_, _, err = read(answer, "GET", 0)
				} else {
					_, _, err = readByNetHTTP(answer, "GET", 0)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkKinds asks one well endpoint by every kind that needs no process.
func BenchmarkKinds(b *testing.B) {
	s := listen(b, "tcp", "127.0.0.1:0", func(conn net.Conn) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
	})
	go func() {
		for range s.requests { // nobody looks at them
		}
	}()
	grpc := serveHealth(b, &health{code: "0", response: message(8, 1)})
	for _, text := range []string{
		"tcp:" + s.address, "tcp:" + s.address + ",owned", "listen:" + s.address, "listen:" + port(b, s.address), "http://" + s.address + "/",
		"http://" + s.address + "/,owned", "grpc:" + grpc, "file:/proc/self",
	} {
		kind, _, owned := strings.Cut(text, ",")
		name, _, _ := strings.Cut(kind, ":")
		if owned {
			name += ",owned"
		}
		b.Run(name, func(b *testing.B) {
			p, err := New(check(b, text), Host{Service: us})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				ctx, cancel := context.WithTimeout(b.Context(), soon)
				err := p.Probe(ctx)
				cancel()
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
