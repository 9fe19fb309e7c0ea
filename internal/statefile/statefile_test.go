package statefile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// file makes a file.
func file(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// names are the names in a directory, separated by spaces.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return strings.Join(found, " ")
}

// foreign makes, by name, all that is no file of svckit's.
func foreign(t *testing.T, dir string) map[string]string {
	t.Helper()
	at := func(name string) string { return filepath.Join(dir, name) }
	file(t, at("target"), "text")
	file(t, at("large"), strings.Repeat("x", 101))
	for _, err := range []error{
		unix.Mkfifo(at("fifo"), 0o600), os.Mkdir(at("directory"), 0o700),
		os.Symlink("target", at("link")), os.Symlink("nowhere", at("dangling")), bindSocket(at("socket")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]string{}
	for _, name := range []string{"fifo", "directory", "link", "dangling", "socket", "large"} {
		found[name] = at(name)
	}
	if err := unix.Mknod(at("device"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5))); err != nil {
		t.Logf("no device is tried: %v", err)
	} else {
		found["device"] = at("device") // zero: it would never end
	}
	return found
}

// bindSocket makes a socket.
func bindSocket(path string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return unix.Bind(fd, &unix.SockaddrUnix{Name: path})
}

func TestWhatIsNoFileIsRefusedAndNeverWaitedFor(t *testing.T) {
	for name, path := range foreign(t, t.TempDir()) {
		read := make(chan error, 1)
		go func() {
			_, err := Read(path, 100)
			read <- err
		}()
		select {
		case err := <-read:
			if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v; want ErrForeign with its path", name, err)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s: it was waited for", name)
		}
	}
}

func TestAMissingFileIsToldFromOneThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(filepath.Join(dir, "none"), 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	file(t, filepath.Join(dir, "file"), "text")
	if _, err := Read(filepath.Join(dir, "file", "in-it"), 100); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("below a file: %v", err)
	}
}

func TestAFileIsReadUpToItsBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for size, ok := range map[int]bool{0: true, 1: true, 99: true, 100: true, 101: false, 5000: false} {
		file(t, path, strings.Repeat("x", size))
		data, err := Read(path, 100)
		if (err == nil) != ok || ok && len(data) != size {
			t.Errorf("%d bytes: %d were read, %v", size, len(data), err)
		}
	}
}

func TestAFileIsReplacedWholeAndForAllToRead(t *testing.T) {
	defer unix.Umask(unix.Umask(0o077))
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for i, text := range []string{"a long first text", "short", ""} {
		if err := Write(path, []byte(text), i == 1); err != nil {
			t.Fatal(err)
		}
		if data, err := Read(path, 100); err != nil || string(data) != text {
			t.Errorf("%q was written, %q read, %v", text, data, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o644 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
	if got := names(t, dir); got != "file" {
		t.Errorf("left behind: %s", got)
	}
}

func TestALinkIsReplacedAndNotFollowed(t *testing.T) {
	dir := t.TempDir()
	paths := foreign(t, dir)
	if err := Write(paths["link"], []byte("new"), false); err != nil {
		t.Fatal(err)
	}
	if data, err := Read(paths["link"], 100); err != nil || string(data) != "new" {
		t.Errorf("%q, %v", data, err)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "target")); string(data) != "text" {
		t.Errorf("the link's target was written: %q", data)
	}
}

func TestCreateReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	for name, path := range foreign(t, dir) {
		before := names(t, dir)
		if err := Create(path, []byte("new")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v; want ErrExist", name, err)
		}
		if after := names(t, dir); after != before {
			t.Errorf("%s: %s became %s", name, before, after)
		}
	}
	path := filepath.Join(dir, "new")
	if err := Create(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if data, err := Read(path, 100); err != nil || !bytes.Equal(data, []byte("new")) {
		t.Errorf("%q, %v", data, err)
	}
}

func TestAWriteThatFailsLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(taken, []byte("text"), true); err == nil {
		t.Error("a directory was replaced")
	}
	if got := names(t, dir); got != "taken" {
		t.Errorf("left behind: %s", got)
	}
	if err := Write(filepath.Join(dir, "none", "file"), nil, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

func TestSweepRemovesWhatKilledWritersLeftAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	abandoned, err := temporary(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = abandoned.Close() // as the kernel does it for one that was killed
	living, err := temporary(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = living.Close() }()
	others := []string{".file.tmp", "file.0123456789abcdef.tmp", ".file.0123456789abcdeg.tmp", ".file.0123456789abcdef.tmp2", "file"}
	for _, name := range others {
		file(t, filepath.Join(dir, name), "")
	}
	if err := os.Mkdir(filepath.Join(dir, ".dir.0123456789abcdef.tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	Sweep(dir)
	if _, err := os.Stat(abandoned.Name()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the abandoned one: %v", err)
	}
	for _, name := range append(others, ".dir.0123456789abcdef.tmp", filepath.Base(living.Name())) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	Sweep(filepath.Join(dir, "none"))
	Sweep(path)
}

func TestWhatIsSetAsideTakesThePlaceOfAnEarlierOne(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"first", "second"} {
		file(t, path, text)
		if err := SetAside(path); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(path + Corrupt); err != nil || string(data) != "second" {
		t.Errorf("%q, %v", data, err)
	}
	if got := names(t, dir); got != "file.corrupt" {
		t.Error(got)
	}
	if err := SetAside(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestADirectoryIsListedUpToABound(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		file(t, filepath.Join(dir, name), "")
	}
	for most, want := range map[int]int{0: 0, 2: 2, 3: 3, 4: 3} {
		seen := 0
		err := Names(dir, most, func(string) { seen++ })
		if seen != want || errors.Is(err, ErrTooMany) != (most < 3) || most >= 3 && err != nil {
			t.Errorf("at most %d: %d seen, %v", most, seen, err)
		}
	}
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Names(fifo, 3, func(string) {}); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("a fifo: %v", err)
	}
}
