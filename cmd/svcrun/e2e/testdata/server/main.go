// Command server is a service with an endpoint of every kind that a check can
// ask, until SIGUSR1: then each of them fails.
//
//	server PORT DIR
//
// PORT answers http, the next two https and grpc.health.v1; DIR has app.sock,
// which answers http too, and alive, a file that is touched all the time.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

func main() {
	ill := make(chan os.Signal, 1)
	signal.Notify(ill, syscall.SIGUSR1)
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	dir := os.Args[2]
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	listeners := []net.Listener{
		listen("tcp", at(port)), listen("tcp", at(port+1)), listen("tcp", at(port+2)), listen("unix", filepath.Join(dir, "app.sock")),
	}
	serve(listeners[0], ok)
	serve(tls.NewListener(listeners[1], &tls.Config{Certificates: []tls.Certificate{certificate()}}), ok)
	serve(listeners[2], http.HandlerFunc(health))
	serve(listeners[3], ok)
	alive := filepath.Join(dir, "alive")
	for beat := time.NewTicker(20 * time.Millisecond); ; {
		if err := os.WriteFile(alive, nil, 0o644); err != nil {
			log.Fatal(err)
		}
		select {
		case <-beat.C:
		case <-ill:
			for _, l := range listeners {
				_ = l.Close()
			}
			_ = os.Remove(alive)
			select {}
		}
	}
}

func at(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

func listen(network, address string) net.Listener {
	l, err := net.Listen(network, address)
	if err != nil {
		log.Fatal(err)
	}
	return l
}

// serve answers each request on a connection of its own, so that none outlives
// its listener.
func serve(l net.Listener, handler http.Handler) {
	s := &http.Server{Handler: handler, Protocols: new(http.Protocols)}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = s.Serve(l) }()
}

// health is grpc.health.v1 by hand: SERVING.
func health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/grpc")
	_, _ = w.Write([]byte{0, 0, 0, 0, 2, 8, 1})
	w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
}

// certificate is one that nobody vouches for.
func certificate() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		log.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
