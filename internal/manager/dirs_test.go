package manager

import (
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/svckit/svckit/internal/manager/plan"
)

// TestSeveralManagersMakeAndRemoveDirectoriesSideBySide has managers share the
// directory above those of their services, which each removes where it is empty.
func TestSeveralManagersMakeAndRemoveDirectoriesSideBySide(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "svckit")
	var managers sync.WaitGroup
	for n := range 4 {
		managers.Go(func() {
			dirs := []plan.Dir{{Path: filepath.Join(parent, strconv.Itoa(n)), Runtime: true}}
			for range 100 {
				if err := makeDir(dirs[0].Path, identity{}); err != nil {
					t.Error(err)
					return
				}
				removeDirs(dirs)
			}
		})
	}
	managers.Wait()
}
