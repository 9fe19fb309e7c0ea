package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// opens holds when a connection to address opens.
func opens(network, address string) attempt {
	return func(ctx context.Context) error {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// dial connects, by "tcp" to HOST:PORT, by "unix" to a stream or seqpacket
// socket. net.Dialer races the addresses of a name in goroutines that may
// outlive its answer; here they are tried one after the other.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{KeepAlive: -1}
	if network == "unix" {
		conn, err := dialer.DialContext(ctx, "unix", address)
		if errors.Is(err, syscall.EPROTOTYPE) {
			conn, err = dialer.DialContext(ctx, "unixpacket", address)
		}
		return conn, err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return dialer.DialContext(ctx, "tcp", address)
	}
	addresses, err := lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	for i, address := range addresses {
		var conn net.Conn
		conn, err = dialShare(ctx, &dialer, net.JoinHostPort(address.Unmap().String(), port), len(addresses)-i)
		if err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// dialShare connects within the part of the remaining time that is fair to
// the other addresses: one that drops packets must not cost the next its turn.
func dialShare(ctx context.Context, dialer *net.Dialer, address string, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	return dialer.DialContext(ctx, "tcp", address)
}

// lookup resolves a name. A query of Go's resolver outlives a lookup that
// was cancelled, by the five seconds of resolv.conf(5); so its sockets are
// made here, and are closed with ctx.
func lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	ctx, cancel := context.WithCancel(ctx)
	queries := &queries{ctx: ctx}
	resolver := net.Resolver{PreferGo: true, Dial: queries.dial}
	addresses, err := resolver.LookupNetIP(ctx, "ip", host)
	cancel()
	queries.close()
	return addresses, err
}

// queries are the sockets of one lookup. Its fields are guarded by mu: the
// resolver asks for IPv4 and IPv6 at the same time.
type queries struct {
	ctx  context.Context
	mu   sync.Mutex
	open []net.Conn
}

func (q *queries) dial(_ context.Context, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(q.ctx, network, address)
	if err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.ctx.Err(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	q.open = append(q.open, conn)
	return conn, nil
}

// close closes what the resolver left open; its context has ended before, so
// that no other socket follows.
func (q *queries) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, conn := range q.open {
		_ = conn.Close() // most were closed by the resolver
	}
}
