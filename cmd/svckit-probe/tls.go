package main

import (
	"crypto/tls"
	"net"
)

// handshake is probe.Handshake: by the host's own certificate authorities,
// TLS 1.2 or newer.
func handshake(conn net.Conn, name string, insecure bool) (net.Conn, error) {
	secure := tls.Client(conn, &tls.Config{
		ServerName:         name,
		InsecureSkipVerify: insecure, // asked for by name
		NextProtos:         []string{"http/1.1"},
		MinVersion:         tls.VersionTLS12,
	})
	return secure, secure.Handshake()
}
