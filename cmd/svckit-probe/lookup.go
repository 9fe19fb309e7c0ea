package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// lookup finds the addresses of a name, and says in a few words why it does not.
// A query of Go's resolver outlives a lookup that was cancelled, by the five
// seconds of resolv.conf(5); so its connections to name servers, which dial opens,
// are closed with the lookup.
func lookup(ctx context.Context, host string, dial dialFunc) ([]netip.Addr, error) {
	ctx, cancel := context.WithCancel(ctx)
	queries := &queries{dial: dial, ended: ctx}
	resolver := net.Resolver{PreferGo: true, Dial: queries.open}
	addresses, err := resolver.LookupNetIP(ctx, "ip", host)
	cancel()
	queries.close()
	return addresses, unresolved(err)
}

// resolve is probe.Resolver.
func resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	return lookup(ctx, host, (&net.Dialer{}).DialContext)
}

// unresolved has of a resolver's error what a person wants to know.
func unresolved(err error) error {
	var dns *net.DNSError
	switch {
	case !errors.As(err, &dns):
		return err
	case dns.IsNotFound:
		return fmt.Errorf("no such host %s", dns.Name)
	}
	return fmt.Errorf("cannot resolve %s", dns.Name)
}

// dialFunc is net.Dialer's DialContext.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// queries are the connections of one lookup to its name servers.
type queries struct {
	dial  dialFunc
	ended context.Context // of the lookup; the resolver's own outlives it

	mu    sync.Mutex // the resolver asks for IPv4 and IPv6 at the same time
	conns []net.Conn
}

// open connects to a name server, while the lookup lasts.
func (q *queries) open(_ context.Context, network, address string) (net.Conn, error) {
	conn, err := q.dial(q.ended, network, address)
	if err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.ended.Err(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	q.conns = append(q.conns, conn)
	return conn, nil
}

// close closes what the resolver left open. The lookup has ended before, so
// that no other connection follows.
func (q *queries) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, conn := range q.conns {
		_ = conn.Close() // the resolver has closed most of them
	}
}
