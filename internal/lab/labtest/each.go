package labtest

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/svckit/svckit/internal/lab"
)

// Each runs a test on the systemd of every suite, side by side, with programs
// of svckit's in /usr/bin.
func (p *Pool) Each(t *testing.T, programs []string, test func(t *testing.T, m *Machine)) {
	t.Parallel()
	for _, suite := range lab.Suites() {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			m := p.Get(t, suite)
			for _, program := range programs {
				p.Program(m, program)
			}
			test(t, m)
		})
	}
}

// EachAlone runs a test on the systemd of every suite, side by side, on machines of
// its own, with programs of svckit's in /usr/bin.
func EachAlone(t *testing.T, programs []string, test func(t *testing.T, m *Machine)) {
	t.Helper()
	built := Programs(t)
	for _, suite := range lab.Suites() {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			m := Boot(t, suite)
			for _, program := range programs {
				m.Install(filepath.Join(built, program), "/usr/bin/"+program, 0o755)
			}
			test(t, m)
		})
	}
}

// Program installs a program of svckit's in /usr/bin, once.
func (p *Pool) Program(m *Machine, program string) {
	p.Install(m, filepath.Join(Programs(m.tb), program), "/usr/bin/"+program)
}

// place is a path in a machine.
type place struct {
	machine *lab.Machine
	path    string
}

// Install installs a program once in the life of a shared machine: one that is
// written anew while another test has it executed is busy (ETXTBSY in
// execve(2)).
func (p *Pool) Install(m *Machine, hostPath, guestPath string) {
	once, _ := p.installed.LoadOrStore(place{m.Machine, guestPath}, &sync.Once{})
	if once, ok := once.(*sync.Once); ok {
		once.Do(func() { m.Install(hostPath, guestPath, 0o755) })
	}
}
