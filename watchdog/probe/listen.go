package probe

import (
	"context"
	"errors"

	"github.com/svckit/svckit/watchdog"
)

// newListen holds when a socket of the service listens. It connects to nothing:
// there is no line in the service's log, and no queue that it could fill.
func newListen(c watchdog.Check, service func() []int) (attempt, error) {
	want, err := c.Listener()
	if err != nil {
		return nil, err
	}
	o, err := newOwner(service)
	if err != nil {
		return nil, err
	}
	if !want.Address.IsValid() {
		return func(ctx context.Context) error { return o.anywhere(ctx, want.Port) }, nil
	}
	return func(ctx context.Context) error {
		sockets, err := o.listeners(ctx, want.Address, want.Port)
		if err != nil {
			return err
		}
		return o.any(sockets)
	}, nil
}

// anywhere says whether the service listens on a port of any address. The table
// that had the answer the last time is read first.
func (o *owner) anywhere(ctx context.Context, port uint16) error {
	var all []socket
	for i := range o.tables {
		found, err := tcpListeners(ctx, o.proc+"/self/net/"+o.tables[i], port)
		if err != nil {
			return err
		}
		if len(found) > 0 && o.any(found) == nil {
			o.tables[0], o.tables[i] = o.tables[i], o.tables[0]
			return nil
		}
		all = append(all, found...)
	}
	return o.any(all)
}

// any says whether one of the sockets is the service's: others may listen at
// the same port of other addresses.
func (o *owner) any(sockets []socket) error {
	err := errors.New("nothing listens there")
	for _, s := range sockets {
		if err = o.one(s, "the port"); err == nil {
			return nil
		}
	}
	return err
}
