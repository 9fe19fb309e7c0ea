package labtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/svckit/svckit/internal/lab"
)

// requireVar set to "require" makes a failure of a skip: a CI that was to try
// the real thing shall not be green without.
const requireVar = "SVCKIT_E2E"

// Boot boots a machine for one test. Where no lab can be, it skips the test and
// says what is missing.
func Boot(tb testing.TB, suite lab.Suite) *Machine {
	tb.Helper()
	return BootWith(tb, suite, "")
}

// BootWith is Boot of a machine that has the files below a directory of the
// host before its systemd starts.
func BootWith(tb testing.TB, suite lab.Suite, files string) *Machine {
	tb.Helper()
	m, err := lab.New().BootWith(tb.Context(), suite, files)
	check(tb, suite, err)
	tb.Cleanup(func() {
		if err := m.Close(); err != nil {
			tb.Errorf("lab %s: %v", suite, err)
		}
	})
	return &Machine{Machine: m, tb: tb}
}

// check skips or fails the test if there is no machine for it.
func check(tb testing.TB, suite lab.Suite, err error) {
	tb.Helper()
	var missing *lab.MissingError
	switch {
	case err == nil:
	case !errors.As(err, &missing):
		tb.Fatalf("lab %s: %v", suite, err)
	case os.Getenv(requireVar) == "require":
		tb.Fatalf("NOT TESTED on %s, and %s=require forbids to skip: %v", suite, requireVar, err)
	default:
		tb.Skipf("NOT TESTED on %s: %v", suite, err)
	}
}

// A Pool holds the machines that the tests of one package share, one for each
// suite, booted when the first test asks for it. The zero Pool is ready.
type Pool struct {
	mu       sync.Mutex
	machines map[lab.Suite]func() (*lab.Machine, error)

	installed sync.Map // of *sync.Once by place
}

// Main runs a package's tests, ends the machines that they shared and removes
// what was built for them:
//
//	var machines labtest.Pool
//
//	func TestMain(m *testing.M) { os.Exit(machines.Main(m)) }
func (p *Pool) Main(m interface{ Run() int }) int {
	code := m.Run()
	if err := errors.Join(p.Close(), removeScratch()); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		return max(code, 1)
	}
	return code
}

// Get returns the shared machine of a suite. Tests that use it may run in
// parallel; each takes its units' names from UnitName.
func (p *Pool) Get(tb testing.TB, suite lab.Suite) *Machine {
	tb.Helper()
	m, err := p.booted(suite)()
	check(tb, suite, err)
	return &Machine{Machine: m, tb: tb}
}

// booted returns the function that boots the suite's machine at its first call.
func (p *Pool) booted(suite lab.Suite) func() (*lab.Machine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.machines == nil {
		p.machines = map[lab.Suite]func() (*lab.Machine, error){}
	}
	if p.machines[suite] == nil {
		p.machines[suite] = sync.OnceValues(func() (*lab.Machine, error) {
			return lab.New().Boot(context.Background(), suite)
		})
	}
	return p.machines[suite]
}

// Close ends all machines of the pool.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, booted := range p.machines {
		if m, err := booted(); err == nil {
			errs = append(errs, m.Close())
		}
	}
	p.machines = nil
	return errors.Join(errs...)
}
