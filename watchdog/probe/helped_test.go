package probe

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestHTTPSIsAskedByTheHelperProgram(t *testing.T) {
	run := &runner{}
	host := Host{Run: run, Helper: "/opt/svckit-probe"}
	if err := askOn(t, `https://h/,body=a\,b,header=A: secret,insecure`, host); err != nil {
		t.Error(err)
	}
	if want := []string{"/opt/svckit-probe", `https://h/,timeout=10s,header=A: secret,body=a\,b,insecure`}; !slices.Equal(run.argv, want) {
		t.Errorf("ran %q, want %q", run.argv, want)
	}
}

func TestFailureOfTheHelperIsTheChecks(t *testing.T) {
	for want, run := range map[string]*runner{
		"status 503":                                                {result: Result{Code: 1, Output: "status 503\n"}},
		"svckit-probe: exit status 1":                               {result: Result{Code: 1}},
		"svckit-probe: exit status 2: goroutine 1":                  {result: Result{Code: 2, Output: "panic\n\ngoroutine 1\n"}},
		"svckit-probe: exit status 64: unknown option":              {result: Result{Code: 64, Output: "unknown option"}},
		"svckit-probe: killed by SIGKILL":                           {result: Result{Signal: 9}},
		"cannot run svckit-probe: resource temporarily unavailable": {err: syscall.EAGAIN},
	} {
		if err := askOn(t, "https://h/", Host{Run: run, Helper: "/x"}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	err := askOn(t, "https://h/,timeout=20ms", Host{Run: &runner{hangs: true}, Helper: "/x"})
	if err == nil || err.Error() != "timeout after 20ms" || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestMissingHelperIsNamedWithTheCure(t *testing.T) {
	empty, other := t.TempDir(), t.TempDir()
	_, err := findHelper("https is asked", empty, other)
	want := "https is asked by the program svckit-probe, which cannot be executed (" + empty +
		"/svckit-probe: no such file or directory, " + other + "/svckit-probe: no such file or directory); install it"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	path := filepath.Join(other, "svckit-probe")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := findHelper("https is asked", empty, other); err == nil || !strings.Contains(err.Error(), path+": permission denied") {
		t.Error(err)
	}
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := findHelper("https is asked", empty, other); err != nil || got != path {
		t.Error(got, err)
	}
	if _, err := New(check(t, "https://h/"), Host{Run: &runner{}}); err == nil {
		t.Error("a check that nobody can ask is taken")
	}
}

func TestNamesAreLookedUpByTheHelperProgram(t *testing.T) {
	listener := listen(t, "tcp", "127.0.0.1:0", func(net.Conn) {})
	text := "tcp:app.example:" + port(t, listener.address)
	run := &runner{result: Result{Output: "127.0.0.9\n127.0.0.1\n"}} // the first one refuses
	if err := askOn(t, text, Host{Run: run, Helper: "/x"}); err != nil {
		t.Error(err)
	}
	if want := []string{"/x", "--resolve", "app.example"}; !slices.Equal(run.argv, want) {
		t.Errorf("ran %q, want %q", run.argv, want)
	}
	for want, result := range map[string]Result{
		"no such host app.example":                          {Code: 1, Output: "no such host app.example\n"},
		"svckit-probe has found no address":                 {},
		"svckit-probe: exit status 64: one check is wanted": {Code: 64, Output: "one check is wanted"},
		"connection refused":                                {Output: "127.0.0.9\n"},
	} {
		if err := askOn(t, text, Host{Run: &runner{result: result}, Helper: "/x"}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := New(check(t, text), Host{Run: &runner{}}); err == nil || !strings.HasPrefix(err.Error(), "a host's name is looked up by the program svckit-probe") {
		t.Error(err)
	}
	if _, err := New(check(t, "tcp:localhost:1"), Host{}); err != nil {
		t.Error(err)
	}
}

func TestOwnedHTTPSAsksNoStranger(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ours := &runner{}
	for _, name := range []string{"127.0.0.1", "localhost"} {
		text := "https://" + name + ":" + port(t, l.Addr().String()) + "/,owned"
		if err := askOn(t, text, Host{Run: ours, Helper: "/x", Service: us}); err != nil || strings.Contains(ours.argv[1], "owned") {
			t.Errorf("%v, ran %q", err, ours.argv)
		}
		theirs := &runner{}
		err := askOn(t, text, Host{Run: theirs, Helper: "/x", Service: others})
		if err == nil || err.Error() != held(t, "the port") || theirs.argv != nil {
			t.Errorf("%v, ran %q", err, theirs.argv)
		}
	}
	nobodyCame(t, l.(*net.TCPListener))
	if err := askOn(t, "https://127.0.0.1:1/,owned", Host{Run: &runner{}, Helper: "/x", Service: us}); err == nil || err.Error() != "nothing listens there" {
		t.Error(err)
	}
}

func TestServerNamesHaveNoPortAndNoBrackets(t *testing.T) {
	for host, want := range map[string]string{"h": "h", "h:1": "h", "[::1]": "::1", "[::1]:1": "::1", "127.0.0.1:1": "127.0.0.1"} {
		if got := serverName(host); got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
}
