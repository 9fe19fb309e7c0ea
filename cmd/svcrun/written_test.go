package main

import (
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// written waits until a file that is replaced as a whole matches a pattern:
//
//	written FILE PATTERN
func written(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: written FILE PATTERN")
	}
	path, pattern := ts.MkAbs(args[0]), regexp.MustCompile(args[1])
	renames, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	ts.Check(err)
	defer func() { _ = unix.Close(renames) }()
	_, err = unix.InotifyAddWatch(renames, filepath.Dir(path), unix.IN_MOVED_TO|unix.IN_CREATE)
	ts.Check(err)
	for end := time.Now().Add(patience); time.Now().Before(end); {
		data, err := os.ReadFile(path)
		if err == nil && pattern.Match(data) {
			return
		}
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(renames), Events: unix.POLLIN}}, int(time.Until(end).Milliseconds()))
		_, _ = unix.Read(renames, make([]byte, 4096))
	}
	data, err := os.ReadFile(path)
	ts.Fatalf("%s does not match %s: %v\n%s", path, args[1], err, data)
}
