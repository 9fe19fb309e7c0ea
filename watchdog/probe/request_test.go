package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

func TestRequestsAreExactlyThese(t *testing.T) {
	s := serve(t, okAnswer)
	file := filepath.Join(t.TempDir(), "headers")
	write(t, file, "X-Token: secret\r\n\nuser-agent: own\n")
	for options, want := range map[string][]string{
		"http://ADDR/live?x=1": {"GET /live?x=1 HTTP/1.1", "Host: ADDR", "Connection: close", "User-Agent: svcrun", "Accept: */*"},
		"http://ADDR/,host=app.example,method=HEAD": {"HEAD / HTTP/1.1", "Host: app.example", "Connection: close",
			"User-Agent: svcrun", "Accept: */*"},
		"http://ADDR/,method=POST": {"POST / HTTP/1.1", "Host: ADDR", "Connection: close", "Content-Length: 0",
			"User-Agent: svcrun", "Accept: */*"},
		`http://ADDR/,header=accept: text/plain\,x,header=A: 1,header=A: 2`: {"GET / HTTP/1.1", "Host: ADDR", "Connection: close",
			"User-Agent: svcrun", "accept: text/plain,x", "A: 1", "A: 2"},
		"http://me:p%3Aw@ADDR/": {"GET / HTTP/1.1", "Host: ADDR", "Connection: close", "User-Agent: svcrun", "Accept: */*",
			"Authorization: Basic bWU6cDp3"},
		"http://ADDR/,header=A: 1,header-file=" + file: {"GET / HTTP/1.1", "Host: ADDR", "Connection: close", "Accept: */*",
			"A: 1", "X-Token: secret", "user-agent: own"},
	} {
		expect(t, strings.ReplaceAll(options, "ADDR", s.address), "")
		text := strings.Join(want, "\r\n") + "\r\n\r\n"
		if diff := cmp.Diff(strings.ReplaceAll(text, "ADDR", s.address), <-s.requests); diff != "" {
			t.Errorf("%s (-want +got):\n%s", options, diff)
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestHeaderFileIsReadAtEachProbe(t *testing.T) {
	s := serve(t, okAnswer)
	file := filepath.Join(t.TempDir(), "headers")
	for i := range 3 {
		write(t, file, fmt.Sprintf("X-Token: %d\n", i))
		expect(t, "http://"+s.address+"/,header-file="+file, "")
		if request := <-s.requests; !strings.Contains(request, fmt.Sprintf("\r\nX-Token: %d\r\n", i)) {
			t.Errorf("probe %d sends %q", i, request)
		}
	}
}

func TestBadHeaderFilesFailTheCheckWithoutTheirContent(t *testing.T) {
	s := serve(t, okAnswer)
	file := filepath.Join(t.TempDir(), "headers")
	ask := func(want string) {
		t.Helper()
		expect(t, "http://"+s.address+"/,header-file="+file, want)
	}
	ask("header file: no such file or directory")
	write(t, file, "A: b\n\nhunter2\n")
	ask("header file: line 3: a header is written Name: value")
	write(t, file, "A: hunter2\x01\n")
	ask("header file: line 1: the value of header A has a control character")
	write(t, file, "Host: x\n")
	ask("header file: line 1: write host=NAME for the Host header")
	write(t, file, strings.Repeat("A: b\n", 64<<10/5+1))
	ask("header file: over 64 KiB")
	write(t, file, "")
	ask("")
	file = t.TempDir()
	ask("header file: not a regular file")
	file = filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	ask("header file: not a regular file")
}
