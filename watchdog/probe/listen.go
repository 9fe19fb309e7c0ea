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
	return func(ctx context.Context) error {
		sockets, err := tcpListeners(ctx, o.proc+"/self/net", want.Port)
		if err != nil {
			return err
		}
		return o.any(reached(sockets, want.Address))
	}, nil
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
