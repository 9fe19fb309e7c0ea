package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/svckit/svckit/watchdog"
)

// door is where a check connects to.
type door struct {
	network, address string
	owner            *owner // nil where anyone may answer
}

// newDoor prepares to connect; owned, to nobody but the service.
func newDoor(network, address string, owned bool, service func() []int) (d door, err error) {
	d = door{network: network, address: address}
	if owned {
		d.owner, err = newOwner(service)
	}
	return d, err
}

// open connects. A stranger has seen nothing of the check by then.
func (d door) open(ctx context.Context) (net.Conn, error) {
	conn, err := dial(ctx, d.network, d.address)
	if err != nil || d.owner == nil {
		return conn, err
	}
	if err := d.owner.verify(ctx, conn); err != nil {
		_ = conn.Close() // nothing has been written to it
		return nil, err
	}
	return conn, nil
}

// newOpen holds when a connection opens.
func newOpen(network string, c watchdog.Check, service func() []int) (attempt, error) {
	door, err := newDoor(network, c.Target, c.Owned, service)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		conn, err := door.open(ctx)
		if err != nil {
			return err
		}
		return conn.Close()
	}, nil
}

// dial connects, by "tcp" to HOST:PORT, by "unix" to a stream or seqpacket
// socket. net.Dialer races the addresses of a name in goroutines that may
// outlive its answer; here they are tried one after the other.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{KeepAlive: -1}
	if network == "unix" {
		return dialUnix(ctx, &dialer, address)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return dialer.DialContext(ctx, "tcp", address)
	}
	addresses, err := lookup(ctx, host, (&net.Dialer{}).DialContext)
	if err != nil {
		return nil, err
	}
	return dialAny(ctx, &dialer, addresses, port)
}

// dialAny connects to the first address that lets it. Each has the part of
// the remaining time that is fair to those after it: one that drops packets
// must not cost the next its turn.
func dialAny(ctx context.Context, dialer *net.Dialer, addresses []netip.Addr, port string) (conn net.Conn, err error) {
	for i, address := range addresses {
		turn, cancel := ctx, context.CancelFunc(func() {})
		if deadline, ok := ctx.Deadline(); ok {
			turn, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(len(addresses)-i))
		}
		conn, err = dialer.DialContext(turn, "tcp", net.JoinHostPort(address.Unmap().String(), port))
		cancel()
		if err == nil {
			break
		}
	}
	return conn, err
}

// dialUnix connects to a stream socket, or else to a seqpacket socket. The
// kernel says EPROTOTYPE where a file is of the other type; in the abstract
// namespace each type has names of its own.
func dialUnix(ctx context.Context, dialer *net.Dialer, address string) (net.Conn, error) {
	conn, err := dialer.DialContext(ctx, "unix", address)
	abstract := address[0] == '@' && errors.Is(err, syscall.ECONNREFUSED)
	if abstract || errors.Is(err, syscall.EPROTOTYPE) {
		return dialer.DialContext(ctx, "unixpacket", address)
	}
	return conn, err
}

// lookup resolves a name. A query of Go's resolver outlives a lookup that
// was cancelled, by the five seconds of resolv.conf(5); so its connections
// to name servers, which dial opens, are closed with the lookup.
func lookup(ctx context.Context, host string, dial dialFunc) ([]netip.Addr, error) {
	ctx, cancel := context.WithCancel(ctx)
	queries := &queries{dial: dial, ended: ctx}
	resolver := net.Resolver{PreferGo: true, Dial: queries.open}
	addresses, err := resolver.LookupNetIP(ctx, "ip", host)
	cancel()
	queries.close()
	return addresses, err
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
