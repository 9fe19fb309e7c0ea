package main

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/svckit/svckit/notify/socket"
)

// manager listens as systemd does at $NOTIFY_SOCKET, and keeps what it hears in
// its order, one line a datagram.
type manager struct {
	listener *socket.Listener
	mu       sync.Mutex
	heard    []string
	at       int           // of heard, what the script has asked for
	spoke    chan struct{} // closed and made anew when something was heard
}

// startManager listens: manager [@NAME]. Without a name it listens at a path.
func startManager(ts *testscript.TestScript, _ bool, args []string) {
	address := ts.MkAbs("manager")
	if len(args) > 0 {
		address = args[0]
	}
	l, err := socket.Listen(address)
	ts.Check(err)
	m := &manager{listener: l, spoke: make(chan struct{})}
	stageOf(ts).manager = m
	ts.Setenv("NOTIFY_SOCKET", address)
	go m.listen()
}

func (m *manager) listen() {
	for m.listener.Wait() == nil {
		for {
			d, ok := m.listener.Receive()
			if !ok {
				break
			}
			text := strings.ReplaceAll(string(d.Data), "\n", " ")
			if len(d.FDs) > 0 {
				text += " with a descriptor"
			}
			d.Close()
			m.mu.Lock()
			m.heard = append(m.heard, text)
			close(m.spoke)
			m.spoke = make(chan struct{})
			m.mu.Unlock()
		}
	}
}

func (m *manager) close() { _ = m.listener.Close() }

// heard waits until the manager has heard datagrams that match, in this order,
// and after what was asked for before; ! heard that it never heard any.
func heard(ts *testscript.TestScript, neg bool, args []string) {
	m := stageOf(ts).manager
	for _, arg := range args {
		pattern := regexp.MustCompile(arg)
		if neg {
			if text := m.said(); pattern.MatchString(text) {
				ts.Fatalf("the manager heard %s:\n%s", arg, text)
			}
			continue
		}
		if !m.until(pattern) {
			ts.Fatalf("the manager did not hear %s (in its turn):\n%s\n%s", arg, m.said(), stageOf(ts).logs())
		}
	}
}

// said is all that was heard.
func (m *manager) said() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.heard, "\n")
}

// until waits for a datagram that matches.
func (m *manager) until(pattern *regexp.Regexp) bool {
	late := time.After(patience)
	for {
		m.mu.Lock()
		spoke := m.spoke
		for m.at < len(m.heard) {
			m.at++
			if pattern.MatchString(m.heard[m.at-1]) {
				m.mu.Unlock()
				return true
			}
		}
		m.mu.Unlock()
		select {
		case <-spoke:
		case <-late:
			return false
		}
	}
}
