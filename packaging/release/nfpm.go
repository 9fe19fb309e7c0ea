package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	// maintainer and packageRelease stand in packaging/nfpm.yaml too, which a test
	// compares.
	maintainer     = "svckit maintainers <svckit@users.noreply.github.com>"
	packageRelease = "1"
)

// pack has nfpm make a package of a stage, and returns its name.
func (j job) pack(stage, arch, format string) (string, error) {
	name := map[string]string{
		"deb": fmt.Sprintf("svckit_%s-%s_%s.deb", j.number, packageRelease, arch),
		"rpm": fmt.Sprintf("svckit-%s-%s.%s.rpm", j.number, packageRelease, rpmArchitecture(arch)),
	}[format]
	target := filepath.Join(j.dist, name)
	nfpm := exec.Command("go", "tool", "-modfile=tools/nfpm/go.mod", "nfpm", "package",
		"--config="+packagingFile, "--packager="+format, "--target="+target)
	nfpm.Env = append(os.Environ(),
		"ARCH="+arch, "VERSION="+j.number, "STAGE="+filepath.ToSlash(stage),
		"SOURCE_DATE_EPOCH="+strconv.FormatInt(j.when.Unix(), 10))
	var said bytes.Buffer
	nfpm.Stdout, nfpm.Stderr = &said, &said
	if err := nfpm.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(nfpm.Args, " "), err, said.String())
	}
	_, err := fmt.Fprintln(j.told, target)
	return name, err
}

// rpmArchitecture is rpm's name of an architecture.
func rpmArchitecture(arch string) string {
	if name, ok := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]; ok {
		return name
	}
	return arch
}
