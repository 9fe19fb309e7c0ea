package main

import (
	"fmt"
	"slices"

	"github.com/svckit/svckit/watchdog"
)

// checkDescriptors says which fd check cannot be: one that would have to hold for
// as long as the service runs, or one that names a descriptor which the service
// has already, by socket activation or from whoever started svcrun.
func (o options) checkDescriptors() error {
	for _, c := range o.Machine.Live {
		if c.Kind.ReadyOnly() {
			return fmt.Errorf("--live=%s: a newline is written once, and tells of the start only; write --ready=%[1]s", c.Label())
		}
	}
	for _, c := range o.Machine.Ready {
		n, err := c.Descriptor()
		if c.Kind != watchdog.FD || err != nil || !slices.Contains(o.Inherited, n) {
			continue
		}
		free := n
		for slices.Contains(o.Inherited, free) {
			free++
		}
		return fmt.Errorf("--ready=fd:%d: descriptor %d is taken: svcrun was given it for the service; a free one is fd:%d", n, n, free)
	}
	return nil
}
