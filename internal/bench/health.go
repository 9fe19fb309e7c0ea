package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// health is the endpoint that the checks of this run ask.
type health struct {
	listener net.Listener
	probes   atomic.Int64
	guard    sync.Mutex
	paths    map[string]bool // that have been asked for
	news     chan struct{}   // one of them is new
}

func newHealth() (*health, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &health{listener: l, paths: map[string]bool{}, news: make(chan struct{}, 1)}
	server := &http.Server{Handler: e, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }()
	return e, nil
}

// url is the endpoint's address of one of many services.
func (e *health) url(nth int) string {
	return fmt.Sprintf("http://%s/live/%d", e.listener.Addr(), nth)
}

// ServeHTTP answers a probe.
func (e *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.probes.Add(1)
	e.guard.Lock()
	e.paths[r.URL.Path] = true
	e.guard.Unlock()
	select {
	case e.news <- struct{}{}:
	default:
	}
	_, _ = w.Write([]byte("ok\n"))
}

// allProbed waits until n services have been asked for.
func (e *health) allProbed(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		e.guard.Lock()
		asked := len(e.paths)
		e.guard.Unlock()
		if asked == n {
			return nil
		}
		select {
		case <-e.news:
		case <-ctx.Done():
			return fmt.Errorf("only %d of %d have been probed: %w", asked, n, ctx.Err())
		}
	}
}

func (e *health) close() { _ = e.listener.Close() }
