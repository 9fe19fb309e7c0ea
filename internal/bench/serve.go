package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// serve is the service that is measured: after a while its endpoint comes up,
// and it prints when.
func serve(kind, where, delay string) {
	wait, err := time.ParseDuration(delay)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
		defer stop()
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		err = open(kind, where)
		if err == nil {
			fmt.Fprintln(os.Stdout, now().Nanoseconds())
			<-ctx.Done()
			return
		}
	}
	fmt.Fprintln(os.Stderr, "bench serve:", err)
}

// open brings the endpoint up.
func open(kind, where string) error {
	switch kind {
	case "file", "exec":
		return os.WriteFile(where, nil, 0o600)
	case "unix":
		_, err := net.Listen("unix", where)
		return err
	}
	l, err := net.Listen("tcp", where)
	if err == nil && kind == "http" {
		server := &http.Server{
			Handler:           http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) }),
			ReadHeaderTimeout: 10 * time.Second,
		}
		go func() { _ = server.Serve(l) }()
	}
	return err
}
