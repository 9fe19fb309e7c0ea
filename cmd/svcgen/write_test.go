package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svckit/svckit/unitgen"
)

func TestOneFileThatMustStayStopsAll(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "b.service"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := []unitgen.File{{Name: "a.service", Text: []byte("a")}, {Name: "b.service", Text: []byte("b")}}
	paths := []string{filepath.Join(dir, "a.service"), filepath.Join(dir, "b.service")}
	if _, err := writeFiles(paths, files, false); err == nil || !strings.Contains(err.Error(), "was not written by svcgen") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "a.service")); !os.IsNotExist(err) {
		t.Errorf("a.service was written: %v", err)
	}
	states, err := writeFiles(paths, files, true)
	if err != nil || len(states) != 2 || states[0] != written || states[1] != written {
		t.Errorf("with force: %v, %v", states, err)
	}
}

// TestAFailedWriteLeavesNothingBehind makes the last step fail: a file cannot
// take the place of a directory.
func TestAFailedWriteLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a.service"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := replace(filepath.Join(dir, "a.service"), []byte("a"), 0o644); err == nil {
		t.Fatal("a directory was replaced")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d entries are left, want the directory only: %v", len(entries), err)
	}
	if err := replace(filepath.Join(dir, "nowhere", "a.service"), []byte("a"), 0o644); err == nil {
		t.Fatal("a file was written into no directory")
	}
}
