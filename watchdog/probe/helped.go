package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/watchdog"
)

// The helper program asks what only few services want asked, and what would
// weigh on all of them if this process could do it itself.
const (
	helperName = "svckit-probe"
	helperDir  = "/usr/lib/svckit"
)

// The helper's exit status where the check holds is 0, and where it fails:
const exitFails = 1

// newHelped holds when the helper program says so. The check goes to it as its
// one argument. That shows no more than svcrun's own command line, where the
// check stands too; what has to stay secret is in a header file, which the
// helper reads.
func newHelped(c watchdog.Check, host Host) (attempt, error) {
	if host.Run == nil {
		return nil, errors.New("an https check needs a runner")
	}
	path := host.Helper
	if path == "" {
		var err error
		if path, err = HelperPath(); err != nil {
			return nil, err
		}
	}
	mine, err := newMine(c, host.Service)
	if err != nil {
		return nil, err
	}
	c.Owned = false // asked here
	argv := []string{path, c.String()}
	return func(ctx context.Context) error {
		if err := mine(ctx); err != nil {
			return err
		}
		result, err := host.Run.Run(ctx, argv)
		if err != nil {
			return fmt.Errorf("cannot run %s: %w", helperName, bare(err))
		}
		return result.helped()
	}, nil
}

// helped is what the helper's end says of the check.
func (r Result) helped() error {
	if said := lastLine(r.Output); r.Signal == 0 && r.Code == exitFails && said != "" {
		return errors.New(said)
	}
	if err := r.failure(); err != nil {
		return fmt.Errorf("%s: %w", helperName, err)
	}
	return nil
}

// HelperPath is where the helper program is: beside this program, or else in
// its own place.
func HelperPath() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find %s: %w", helperName, err)
	}
	return findHelper(filepath.Dir(self), helperDir)
}

func findHelper(dirs ...string) (string, error) {
	var tried []string
	for _, dir := range dirs {
		path := filepath.Join(dir, helperName)
		err := unix.Access(path, unix.X_OK)
		if err == nil {
			return path, nil
		}
		tried = append(tried, fmt.Sprintf("%s: %v", path, err))
	}
	return "", fmt.Errorf("https is asked by the program %s, which cannot be executed (%s); install it", helperName, strings.Join(tried, ", "))
}

// newMine holds when the service's own processes listen where the check's
// connection will get to. It connects to nothing: a server would log every
// connection without a greeting.
func newMine(c watchdog.Check, service func() []int) (attempt, error) {
	if !c.Owned {
		return func(context.Context) error { return nil }, nil
	}
	url, err := c.URL()
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(url.Address)
	if err != nil {
		return nil, err
	}
	number, err := net.LookupPort("tcp", port) // a number already
	if err != nil {
		return nil, err
	}
	o, err := newOwner(service)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		addresses, err := resolve(ctx, host)
		if err != nil {
			return err
		}
		for _, to := range addresses { // in the order in which they are dialled
			found, err := o.listeners(ctx, to.Unmap(), uint16(number))
			if err != nil {
				return err
			}
			if found != nil {
				return o.own(found, "the port")
			}
		}
		return errors.New("nothing listens there")
	}, nil
}

// resolve is the addresses of a name, or of an address itself.
func resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if address, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{address}, nil
	}
	return lookup(ctx, host, (&net.Dialer{}).DialContext)
}
