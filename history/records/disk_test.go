package records

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// onTmpfs runs a test once more, in a mount namespace of its own with a small
// tmpfs, which is gone with it; there it returns that tmpfs.
func onTmpfs(t *testing.T) (dir string, inside bool) {
	t.Helper()
	const mounted = "SVCKIT_TEST_TMPFS"
	if dir := os.Getenv(mounted); dir != "" {
		if err := unix.Mount("svckit", dir, "tmpfs", 0, "size=64k,nr_inodes=64"); err != nil {
			t.Fatal(err)
		}
		return dir, true
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), mounted+"="+t.TempDir(), "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) {
		t.Skip("SKIPPED: a mount namespace needs root with CAP_SYS_ADMIN; a full and a read-only disk are not tried")
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return "", false
}

// fill fills a file system to the last byte.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for size := 4096; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
	}
}

func TestAFullDiskStopsNothingAndLeavesWhatWasThere(t *testing.T) {
	disk, inside := onTmpfs(t)
	if !inside {
		return
	}
	dir := filepath.Join(disk, "state")
	first := at(dir, 100)
	mustEnd(t, first, mustBegin(t, first))
	open := at(dir, 100)
	mustBegin(t, open)
	before := names(t, open.path)
	fill(t, filepath.Join(disk, "other"))

	var warned []error
	r := Open(dir, 100, func(err error) { warned = append(warned, err) })
	for range 5 {
		r.Note(begun())
	}
	if err := r.Close(ended(begun()), time.Minute); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("the end: %v", err)
	}
	if len(warned) > 1 {
		t.Errorf("warned more than once: %v", warned)
	}
	if err := open.write(ended(begun()), 2, true); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("a record cannot have been replaced: %v", err)
	}
	says(t, names(t, open.path), before...)
	if got := mustRead(t, dir); len(got) != 2 || !got[0].Closed() || got[1].Closed() {
		t.Errorf("%+v", got)
	}

	// Where the oldest make room, there is some.
	r = Open(dir, 1, unexpected(t))
	if err := r.Close(ended(begun()), time.Minute); err != nil {
		t.Error(err)
	}
	if got := mustRead(t, dir); len(got) != 1 || got[0].Run != 3 || !got[0].Closed() {
		t.Errorf("%+v", got)
	}
}

func TestAReadOnlyDiskStopsNothing(t *testing.T) {
	disk, inside := onTmpfs(t)
	if !inside {
		return
	}
	dir := filepath.Join(disk, "state")
	d := at(dir, 100)
	mustBegin(t, d)
	dead(t, d, 1)
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, filepath.Join(disk, "none")} {
		var warned []error
		r := Open(dir, 100, func(err error) { warned = append(warned, err) })
		for range 5 {
			r.Note(begun())
		}
		if err := r.Close(ended(begun()), time.Minute); !errors.Is(err, unix.EROFS) {
			t.Errorf("the end: %v", err)
		}
		if len(warned) > 1 {
			t.Errorf("warned more than once: %v", warned)
		}
	}
	if got := mustRead(t, dir); len(got) != 1 || got[0].Closed() {
		t.Errorf("%+v", got)
	}
}

func TestWhereNothingMayBeWrittenNothingIs(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	begins := make(chan error)
	go func() {
		// As nobody, if as root: never unlocked, the thread ends with this and
		// takes its uid along.
		runtime.LockOSThread()
		_ = unix.Setfsuid(65534)
		_, _, err := at(dir, 100).begin(begun())
		begins <- err
	}()
	if err := <-begins; !errors.Is(err, unix.EACCES) {
		t.Error(err)
	}
	says(t, names(t, dir))
}

func TestWhereAFileIsInTheWayNothingIsWritten(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "runs"), "text")
	put(t, filepath.Join(dir, "file"), "text")
	for _, dir := range []string{dir, filepath.Join(dir, "file")} {
		if _, _, err := at(dir, 100).begin(begun()); !errors.Is(err, unix.ENOTDIR) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
