// Package vmtest gives tests a virtual machine of package vm. It is too slow for
// every go test, so that SVCKIT_VM=1 has to ask for it; without, the test is
// skipped with a line that says so.
//
// Invariant: the machine is gone when its test is over.
//
// Boot is the entry point.
package vmtest

import (
	"maps"
	"os"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/internal/lab/vm"
)

// askVar asks for the virtual machine.
const askVar = "SVCKIT_VM"

// Asked skips a test that needs a virtual machine where none is asked for.
func Asked(t *testing.T) {
	t.Helper()
	if os.Getenv(askVar) != "1" {
		t.Skipf("NOT TESTED: what needs a virtual machine; %s=1 asks for one (make test-vm)", askVar)
	}
}

// Boot boots a machine for one test, with files by their paths in it.
func Boot(t *testing.T, suite lab.Suite, files map[string]string) *vm.Machine {
	t.Helper()
	Asked(t)
	guest, err := labtest.Build("github.com/svckit/svckit/internal/lab/vm/guest")
	if err != nil {
		t.Fatal(err)
	}
	all := maps.Clone(files)
	all[vm.Guest] = guest
	m, err := vm.Boot(t.Context(), vm.Config{Lab: lab.New(), Suite: suite, Files: all})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}
