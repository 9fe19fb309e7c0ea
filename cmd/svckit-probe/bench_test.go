package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/svckit/svckit/watchdog"
	"github.com/svckit/svckit/watchdog/probe"
)

// BenchmarkHTTPS asks an endpoint by the program in a process of its own, as
// svcrun does, and by the same code within this process in turn, so that the
// machine's moods strike both. The endpoint's share is in both.
func BenchmarkHTTPS(b *testing.B) {
	s, certificate := secure(b, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	b.Setenv(asMain, "1")
	b.Setenv("SSL_CERT_FILE", certificate)
	c, err := watchdog.ParseCheck(s.URL + "/,host=example.com,timeout=10s")
	if err != nil {
		b.Fatal(err)
	}
	p, err := probe.New(c, probe.Host{TLS: handshake})
	if err != nil {
		b.Fatal(err)
	}
	within := func(ctx context.Context) error { return p.Probe(ctx) }
	apart := func(ctx context.Context) error { return exec.CommandContext(ctx, os.Args[0], c.String()).Run() }
	var spent [2]time.Duration
	for b.Loop() {
		for i, ask := range []func(context.Context) error{apart, within} {
			began := time.Now()
			if err := ask(b.Context()); err != nil {
				b.Fatal(err)
			}
			spent[i] += time.Since(began)
		}
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
		b.Fatal(err)
	}
	cpu := time.Duration(used.Utime.Nano() + used.Stime.Nano())
	b.ReportMetric(float64(spent[0].Microseconds())/float64(b.N), "µs/apart")
	b.ReportMetric(float64(spent[1].Microseconds())/float64(b.N), "µs/within")
	b.ReportMetric(float64(spent[0])/float64(spent[1]), "×within")
	b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "µs-cpu/apart")
}
