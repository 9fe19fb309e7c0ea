package main

import (
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asMain has the test binary be the program.
const asMain = "SVCKIT_PROBE_AS_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// program runs the program in a process of its own, which trusts the
// certificates of a file.
func program(t *testing.T, trusted string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err strings.Builder
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asMain+"=1", "SSL_CERT_FILE="+trusted, "SSL_CERT_DIR=/nonexistent")
	cmd.Stdout, cmd.Stderr = &out, &err
	if e := cmd.Run(); e != nil && cmd.ProcessState == nil {
		t.Fatal(e)
	}
	return cmd.ProcessState.ExitCode(), strings.TrimSpace(out.String()), strings.TrimSpace(err.String())
}

// secure serves by https, and returns a file with its certificate, which is
// for example.com and 127.0.0.1.
func secure(t testing.TB, handler http.HandlerFunc) (s *httptest.Server, certificate string) {
	t.Helper()
	s = httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	certificate = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(certificate, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return s, certificate
}

func TestHTTPSHoldsByATrustedCertificateOfTheName(t *testing.T) {
	s, certificate := secure(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "example.com" || r.Header.Get("Authorization") == "Bearer abc" {
			_, _ = io.WriteString(w, "all is well")
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	headers := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(headers, []byte("Authorization: Bearer abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ trusted, options, want string }{
		{certificate, ",host=example.com", ""},
		{certificate, ",host=example.com,body=well$", ""},
		{certificate, ",host=example.com,body=ill", "the body does not match"},
		{certificate, ",header-file=" + headers, ""},
		{certificate, "", "status 503"},
		{certificate, ",status=503", ""},
		{certificate, ",host=example.org", "x509: certificate is valid for example.com, *.example.com, not example.org"},
		{"/nonexistent", ",host=example.com", "x509: certificate signed by unknown authority"},
		{"/nonexistent", ",host=example.com,insecure", ""},
		{"/nonexistent", ",host=example.org,insecure", "status 503"},
	} {
		code, said, complaint := program(t, tc.trusted, s.URL+"/,timeout=10s"+tc.options)
		if want := map[bool]int{true: 0, false: 1}[tc.want == ""]; code != want || !strings.Contains(said, tc.want) || complaint != "" {
			t.Errorf("%s: exit status %d, %q, %q; want %q", tc.options, code, said, complaint, tc.want)
		}
	}
}

func TestServersThatAreNoneFailInTime(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for text, want := range map[string]string{
		"https" + strings.TrimPrefix(plain.URL, "http") + "/,timeout=10s": "tls: first record does not look like a TLS handshake",
		"https://" + silent.Addr().String() + "/,timeout=50ms":            "timeout after 50ms",
		"https://127.0.0.1:1/": "connection refused",
		"http" + strings.TrimPrefix(plain.URL, "http") + "/,timeout=10s": "status 404",
		"tcp:127.0.0.1:1":   "connection refused",
		"file:/nonexistent": "no such file or directory",
	} {
		code, said, _ := program(t, "", text)
		if code != exitFails || said != want {
			t.Errorf("%s: exit status %d, %q; want 1, %q", text, code, said, want)
		}
	}
}

func TestWrongUseExits64AndRepeatsNoSecret(t *testing.T) {
	for want, args := range map[string][]string{
		"svckit-probe: one check is wanted; write svckit-probe CHECK":                                              {},
		"svckit-probe: the port is not a number of 1 to 65535; an https check is written https://HOST[:PORT]/PATH": {"https://u:secret@h:x/"},
		"svckit-probe: a check of kind exec needs a runner":                                                        {"exec:/bin/x secret"},
		"svckit-probe: a check of kind notify cannot be probed":                                                    {"notify"},
		"svckit-probe: cannot attribute: the processes of the service are not known":                               {"listen:80"},
	} {
		code, said, complaint := program(t, "", args...)
		if code != exitUsage || said != "" || complaint != want {
			t.Errorf("%q: exit status %d, %q, %q; want 64, %q", args, code, said, complaint, want)
		}
	}
	for arg, want := range map[string]string{"--version": "svckit-probe development", "--help": "usage: svckit-probe CHECK"} {
		if code, said, _ := program(t, "", arg); code != 0 || !strings.HasPrefix(said, want) {
			t.Errorf("%s: exit status %d, %q", arg, code, said)
		}
	}
}
