package main

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// endpoint is a health endpoint outside of the service, so that a script can
// have it go bad in every way.
type endpoint struct {
	listener net.Listener
	stage    *stage
	name     string

	mu    sync.Mutex
	mode  string
	conns map[net.Conn]bool
}

// startEndpoint serves: endpoint NAME tcp|unix MODE. $NAME becomes its address.
// Each request is told to the script as NAME.
func startEndpoint(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: endpoint NAME tcp|unix MODE")
	}
	address := "127.0.0.1:0"
	if args[1] == "unix" {
		address = ts.MkAbs(args[0] + ".sock")
	}
	l, err := net.Listen(args[1], address)
	ts.Check(err)
	e := &endpoint{listener: l, stage: stageOf(ts), name: args[0], mode: args[2], conns: map[net.Conn]bool{}}
	e.stage.endpoints[e.name] = e
	ts.Setenv(e.name, l.Addr().String())
	go e.serve()
}

// setMode has an endpoint answer in another way: mode NAME MODE.
func setMode(ts *testscript.TestScript, _ bool, args []string) {
	e := stageOf(ts).endpoints[args[0]]
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mode = args[1]
}

func (e *endpoint) serve() {
	for {
		conn, err := e.listener.Accept()
		if err != nil {
			return
		}
		e.mu.Lock()
		mode := e.mode
		e.conns[conn] = true
		e.mu.Unlock()
		go e.answer(conn, mode)
	}
}

// answer answers one request. What a bad endpoint sends, it sends until the
// other side has had enough.
func (e *endpoint) answer(conn net.Conn, mode string) {
	defer func() {
		_ = conn.Close()
		e.mu.Lock()
		delete(e.conns, conn)
		e.mu.Unlock()
	}()
	e.tell()
	if mode == "close" {
		return
	}
	in := bufio.NewReader(conn)
	for line := ""; line != "\r\n"; {
		var err error
		if line, err = in.ReadString('\n'); err != nil {
			return
		}
	}
	switch mode {
	case "hang":
		_, _ = in.ReadByte()
	case "hang-in-body":
		_, _ = fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok")
		_, _ = in.ReadByte()
	case "cut":
		_, _ = fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok")
	case "trickle":
		trickle(conn)
	case "flood":
		flood(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
	case "flood-headers":
		flood(conn, "HTTP/1.1 200 OK\r\nX: ")
	default:
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s Status\r\nContent-Length: 3\r\n\r\nok\n", mode)
	}
}

// tell tells the script of a request.
func (e *endpoint) tell() {
	e.stage.mu.Lock()
	defer e.stage.mu.Unlock()
	e.stage.told[e.name]++
	e.stage.changed.Broadcast()
}

// trickle sends a byte every millisecond: always a little, never the end.
func trickle(conn net.Conn) {
	for range time.Tick(time.Millisecond) {
		if _, err := conn.Write([]byte("H")); err != nil {
			return
		}
	}
}

// flood sends without end.
func flood(conn net.Conn, head string) {
	_, err := fmt.Fprint(conn, head)
	for chunk := []byte(strings.Repeat("x", 64<<10)); err == nil; {
		_, err = conn.Write(chunk)
	}
}

func (e *endpoint) close() {
	_ = e.listener.Close()
	e.mu.Lock()
	defer e.mu.Unlock()
	for conn := range e.conns {
		_ = conn.Close()
	}
}
