package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// The cues of the demo's service.
const (
	cueHealth = "/health" // is it well?
	cueCrash  = "/crash"  // ends it at once
	cueHang   = "/hang"   // has it answer nobody any more, this request included
	cueSlow   = "/slow"   // takes slowAnswer
)

const (
	crashCode  = 3
	slowAnswer = time.Second

	slowLine    = "a request that takes its time"
	drainedLine = "drained"
)

// serve is the demo's own service, which knows nothing of systemd: it answers
// at an address, and does on cue what services do to those who run them.
func serve(at string) int {
	l, err := net.Listen("tcp", at)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	server := &http.Server{Handler: cues(), ReadHeaderTimeout: time.Second}
	drained := make(chan error, 1)
	go func() {
		<-ctx.Done()
		say("draining: no new requests, those in flight are answered")
		drained <- server.Shutdown(context.WithoutCancel(ctx))
	}()
	say("listening on %s", at)
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		say("%v", err)
		return 1
	}
	if err := <-drained; err != nil {
		say("%v", err)
		return 1
	}
	say(drainedLine)
	return 0
}

// cues answers requests. A service that hangs goes on to accept them.
func cues() http.Handler {
	hung := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc(cueHealth, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-hung:
			<-r.Context().Done()
		default:
			_, _ = w.Write([]byte("fine\n"))
		}
	})
	mux.HandleFunc(cueCrash, func(http.ResponseWriter, *http.Request) {
		say("fatal: the disk of the queue is full")
		os.Exit(crashCode) //nolint:forbidigo // it is what the cue is for
	})
	mux.HandleFunc(cueHang, func(http.ResponseWriter, *http.Request) {
		say("waiting for a lock that nobody gives back")
		close(hung)
	})
	mux.HandleFunc(cueSlow, func(w http.ResponseWriter, _ *http.Request) {
		say(slowLine)
		<-time.After(slowAnswer)
		_, _ = w.Write([]byte("an answer that took its time\n"))
	})
	return mux
}

// say prints a line of the service's.
func say(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }
