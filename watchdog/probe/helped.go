package probe

import (
	"context"
	"errors"
	"fmt"
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
	path, err := host.helper("https is asked")
	if err != nil {
		return nil, err
	}
	mine, err := newMine(c, host)
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

// ResolveFlag has the helper program print the addresses of a name, one a line,
// instead of asking a check.
const ResolveFlag = "--resolve"

// newHelpedResolver has the helper program find the addresses of names.
func newHelpedResolver(host Host) (Resolver, error) {
	if host.Run == nil {
		return nil, errors.New("a check of a host by its name needs a runner")
	}
	path, err := host.helper("a host's name is looked up")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, name string) ([]netip.Addr, error) {
		result, err := host.Run.Run(ctx, []string{path, ResolveFlag, name})
		if err != nil {
			return nil, fmt.Errorf("cannot run %s: %w", helperName, bare(err))
		}
		if err := result.helped(); err != nil {
			return nil, err
		}
		return parseAddresses(result.Output)
	}, nil
}

// parseAddresses reads one address a line.
func parseAddresses(text string) (addresses []netip.Addr, err error) {
	for word := range strings.FieldsSeq(text) {
		address, err := netip.ParseAddr(word)
		if err != nil {
			return nil, fmt.Errorf("%s has found no address", helperName)
		}
		addresses = append(addresses, address)
	}
	if addresses == nil {
		return nil, fmt.Errorf("%s has found no address", helperName)
	}
	return addresses, nil
}

// helper is where the helper program is: beside this program, or else in its own
// place. what is what it is to do.
func (h Host) helper(what string) (string, error) {
	if h.Helper != "" {
		return h.Helper, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find %s: %w", helperName, err)
	}
	return findHelper(what, filepath.Dir(self), helperDir)
}

func findHelper(what string, dirs ...string) (string, error) {
	var tried []string
	for _, dir := range dirs {
		path := filepath.Join(dir, helperName)
		err := unix.Access(path, unix.X_OK)
		if err == nil {
			return path, nil
		}
		tried = append(tried, fmt.Sprintf("%s: %v", path, err))
	}
	return "", fmt.Errorf("%s by the program %s, which cannot be executed (%s); install it", what, helperName, strings.Join(tried, ", "))
}

// newMine holds when the service's own processes listen where the check's
// connection will get to. It connects to nothing: a server would log every
// connection without a greeting.
func newMine(c watchdog.Check, host Host) (attempt, error) {
	if !c.Owned {
		return func(context.Context) error { return nil }, nil
	}
	url, err := c.URL()
	if err != nil {
		return nil, err
	}
	name, port, err := splitPort(url.Address)
	if err != nil {
		return nil, err
	}
	resolve, err := host.resolver(url.Address)
	if err != nil {
		return nil, err
	}
	o, err := newOwner(host.Service)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		addresses, err := resolve(ctx, name)
		if err != nil {
			return err
		}
		for _, to := range addresses { // in the order in which they are dialled
			found, err := o.listeners(ctx, to.Unmap(), port)
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
