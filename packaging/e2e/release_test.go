package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestReleaseIsWholeAndItsSumsHold(t *testing.T) {
	t.Parallel()
	dir := built(t, oldAgain)
	var names []string
	for _, entry := range entriesOf(t, dir) {
		names = append(names, entry.Name())
	}
	want := []string{
		"SHA256SUMS", "svckit-1.0.0-1.aarch64.rpm", "svckit-1.0.0-1.x86_64.rpm", "svckit_1.0.0-1_amd64.deb", "svckit_1.0.0-1_arm64.deb",
		"svckit_1.0.0.cdx.json", "svckit_1.0.0_linux_amd64.tar.gz", "svckit_1.0.0_linux_arm64.tar.gz",
	}
	if !slices.Equal(names, want) {
		t.Errorf("the release is %q, not %q", names, want)
	}
	check := exec.Command("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
	check.Dir = dir
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("sha256sum --check: %v %s", err, out)
	}
	if sums := strings.Count(string(read(t, dir, "SHA256SUMS")), "\n"); sums != len(want)-1 {
		t.Errorf("SHA256SUMS has %d lines, not one for each other file", sums)
	}
}

func entriesOf(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestTarballHasAllAndItsProgramsSayTheirVersion(t *testing.T) {
	t.Parallel()
	dir := built(t, oldRelease)
	into := t.TempDir()
	names := unpack(t, filepath.Join(dir, "svckit_1.0.0_linux_"+host()+".tar.gz"), into)
	top := "svckit_1.0.0_linux_" + host() + "/"
	for _, name := range []string{
		"bin/svcrun", "bin/svcgen", "bin/svcstat", "bin/svckit-probe", "man/svcrun.1", "man/svckit-policy.5",
		"completions/bash/svcrun", "completions/zsh/_svcgen", "completions/fish/svcstat.fish", "examples/nginx.yaml",
		"systemd/system/svckit-alert@.service", "README.md", "CHANGELOG.md", "LICENSE", "THIRD-PARTY-LICENSES",
	} {
		if !slices.Contains(names, top+name) {
			t.Errorf("it lacks %s", name)
		}
	}
	for _, program := range []string{"svcrun", "svcgen", "svcstat", "svckit-probe"} {
		out, err := exec.Command(filepath.Join(into, top, "bin", program), "--version").CombinedOutput()
		if err != nil || !strings.HasSuffix(string(out), " v1.0.0\n") {
			t.Errorf("%s --version: %v %q", program, err, out)
		}
	}
}

// TestReadmeLeadsToWhatIsShipped follows the README's links to files where a user
// of a package or a tarball has them.
func TestReadmeLeadsToWhatIsShipped(t *testing.T) {
	t.Parallel()
	dir := built(t, oldRelease)
	contents, err := exec.Command(tool(t, "dpkg-deb"), "--contents", filepath.Join(dir, deb(oldVersion))).Output()
	if err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(filepath.Dir(dir), "build/stage", host(), "tree")
	links := regexp.MustCompile(`\]\(((?:docs|examples)/[^)#]*)`).FindAllStringSubmatch(string(read(t, tree, "README.md")), -1)
	for _, link := range links {
		if _, err := os.Stat(filepath.Join(tree, link[1])); err != nil {
			t.Errorf("the tarball lacks %s", link[1])
		}
		if !strings.Contains(string(contents), " ./usr/share/doc/svckit/"+link[1]) {
			t.Errorf("the package lacks %s", link[1])
		}
	}
	if len(links) == 0 {
		t.Error("the README has no link to any page")
	}
}

// unpack unpacks the files of a tarball and returns their names.
func unpack(t *testing.T, tarball, into string) []string {
	t.Helper()
	packed, err := gzip.NewReader(bytes.NewReader(read(t, filepath.Dir(tarball), filepath.Base(tarball))))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for files := tar.NewReader(packed); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(into, header.Name)
		if header.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		names = append(names, header.Name)
		text, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, header.FileInfo().Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBillNamesWhatIsLinked holds the bill against what the go command reads out
// of the programs.
func TestBillNamesWhatIsLinked(t *testing.T) {
	t.Parallel()
	dir := built(t, oldRelease)
	var bill struct {
		Format     string `json:"bomFormat"`
		Components []struct{ Type, PURL string }
	}
	if err := json.Unmarshal(read(t, dir, "svckit_1.0.0.cdx.json"), &bill); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, c := range bill.Components {
		if c.Type == "library" && !strings.Contains(c.PURL, "/stdlib@") {
			said = append(said, c.PURL)
		}
	}
	out, err := exec.Command("go", "version", "-m", filepath.Join(filepath.Dir(dir), "build", host())).Output()
	if err != nil {
		t.Fatal(err)
	}
	var linked []string
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "dep" {
			linked = append(linked, "pkg:golang/"+fields[1]+"@"+fields[2])
		}
	}
	slices.Sort(said)
	slices.Sort(linked)
	if linked = slices.Compact(linked); !slices.Equal(said, linked) || len(said) == 0 {
		t.Errorf("the bill names %q, and linked are %q", said, linked)
	}
}

func TestVersionWithoutItsChangesIsNotReleased(t *testing.T) {
	t.Parallel()
	tree := filepath.Dir(built(t, oldRelease))
	out, err := runMake(tree, "1.0.1", "release DIST="+t.TempDir(), host())
	if err == nil || !strings.Contains(out, "CHANGELOG.md: the newest version is not 1.0.1") {
		t.Errorf("make release VERSION=v1.0.1: %v\n%s", err, out)
	}
}
