package main

import (
	"crypto/tls"
	"net"
	"time"

	"github.com/svckit/svckit/watchdog/probe"
)

// handshake is probe.Handshake: by the host's own certificate authorities,
// TLS 1.2 or newer.
func handshake(conn probe.Conn, name string, insecure bool) (probe.Conn, error) {
	secure := tls.Client(netConn{conn}, &tls.Config{
		ServerName:         name,
		InsecureSkipVerify: insecure, // asked for by name
		NextProtos:         []string{"http/1.1"},
		MinVersion:         tls.VersionTLS12,
	})
	return secure, secure.Handshake()
}

// netConn is a connection as crypto/tls wants it. Its ends are nobody's concern.
type netConn struct{ probe.Conn }

func (netConn) LocalAddr() net.Addr                  { return nil }
func (netConn) RemoteAddr() net.Addr                 { return nil }
func (c netConn) SetReadDeadline(t time.Time) error  { return c.SetDeadline(t) }
func (c netConn) SetWriteDeadline(t time.Time) error { return c.SetDeadline(t) }
