package vm

import (
	"os/exec"
	"runtime"

	"github.com/svckit/svckit/internal/lab"
)

const qemu = "qemu-system-x86_64"

// missing is what a boot lacks on this machine, beside the root, whose lack
// [lab.Lab.Root] tells.
func missing() []lab.Need {
	var needs []lab.Need
	if runtime.GOARCH != "amd64" {
		needs = append(needs, lab.Need{What: "a processor of type amd64", Cure: "run it on one; others are not emulated yet"})
	}
	for _, p := range []struct{ program, pkg string }{
		{qemu, "qemu-system-x86"}, {"cpio", "cpio"}, {"apt-get", "apt"}, {"dpkg-deb", "dpkg"},
	} {
		if _, err := exec.LookPath(p.program); err != nil {
			needs = append(needs, lab.Need{What: "the program " + p.program, Cure: "apt-get install -y --no-install-recommends " + p.pkg})
		}
	}
	return needs
}
