package probe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const tcpHeading = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

func TestListeningLinesOfTCPAreRead(t *testing.T) {
	for line, want := range map[string]socket{
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000    33        0 632 1 00000000d05e0a61 100 0 0 10 0": {
			netip.MustParseAddrPort("127.0.0.1:8080"), 632, 33},
		"  12: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4294967299 1 0": {
			netip.MustParseAddrPort("0.0.0.0:22"), 4294967299, 0},
		"   1: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  65534        0 77 1": {
			netip.MustParseAddrPort("[::1]:80"), 77, 65534},
		"   1: 0000000000000000FFFF00000100007F:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1 0 77 1": {
			netip.MustParseAddrPort("127.0.0.1:80"), 77, 1},
	} {
		got, listens := parseTCP([]byte(line))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(socket{}), cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" || !listens {
			t.Errorf("%s: listens is %v (-want +got):\n%s", line, listens, diff)
		}
	}
}

func TestOtherLinesOfTCPAreNoListeners(t *testing.T) {
	for _, line := range []string{
		"", "0A", tcpHeading,
		"   1: 0100007F:1F90 507100CB:01BB 01 00000000:00000000 00:00000000 00000000 0 0 632 3", // established
		"   1: 0100007:1F90 00000000:0000 0A 0 0 0 0 0 632 1",
		"   1: 0100007G:1F90 00000000:0000 0A 0 0 0 0 0 632 1",
		"   1: 0100007F:11F90 00000000:0000 0A 0 0 0 0 0 632 1",
		"   1: 0100007F 00000000:0000 0A 0 0 0 0 0 632 1",
		"   1: 0100007F:1F90 00000000:0000 0A 0 0 0 x 0 632 1",
		"   1: 0100007F:1F90 00000000:0000 0A 0 0 0 0 0 -1 1",
	} {
		if s, listens := parseTCP([]byte(line)); listens {
			t.Errorf("%q is read as %+v", line, s)
		}
	}
}

func TestLinesOfUnixAreRead(t *testing.T) {
	for line, want := range map[string]string{
		"0000000000000000: 00000002 00000000 00010000 0001 01 16163 /run/app.sock": "16163 /run/app.sock",
		"0000000000000000: 00000002 00000000 00010000 0005 01    63 /run/a b  c":   "63 /run/a b  c",
		"00000000d05e0a61: 00000002 00000000 00010000 0001 01 16163 @app":          "16163 @app",
		"0000000000000000: 00000002 00000000 00010000 0001 01 16163":               "", // no name
		"0000000000000000: 00000003 00000000 00000000 0001 03 16163 /run/app.sock": "", // connected
		"0000000000000000: 00000002 00000000 00010000 0001 01 x /run/app.sock":     "",
		"Num       RefCount Protocol Flags    Type St Inode Path":                  "",
		"": "",
	} {
		got := ""
		if s, path, listens := parseUnix([]byte(line)); listens {
			got = fmt.Sprint(s.inode, " ", path)
		}
		if got != want {
			t.Errorf("%q is read as %q, want %q", line, got, want)
		}
	}
}

func TestConnectionsReachTheMostSpecificListener(t *testing.T) {
	at := func(addresses ...string) (sockets []socket) {
		for _, a := range addresses {
			sockets = append(sockets, socket{address: netip.AddrPortFrom(netip.MustParseAddr(a), 80)})
		}
		return sockets
	}
	for _, tc := range []struct {
		to   string
		all  []socket
		want []socket
	}{
		{"127.0.0.1", at("0.0.0.0", "127.0.0.1", "::"), at("127.0.0.1")},
		{"127.0.0.1", at("0.0.0.0", "10.0.0.1", "::"), at("0.0.0.0")},
		{"127.0.0.1", at("10.0.0.1", "::"), at("::")},
		{"127.0.0.1", at("10.0.0.1", "::1"), nil},
		{"127.0.0.1", at("127.0.0.1", "127.0.0.1"), at("127.0.0.1", "127.0.0.1")}, // SO_REUSEPORT
		{"::1", at("0.0.0.0", "::"), at("::")},
		{"::1", at("0.0.0.0"), nil},
		{"fe80::1%eth0", at("fe80::1"), at("fe80::1")},
		{"0.0.0.0", at("127.0.0.1"), nil},
		{"0.0.0.0", at("::"), at("::")},
		{"", at("127.0.0.1", "::1"), at("127.0.0.1", "::1")},
	} {
		var to netip.Addr
		if tc.to != "" {
			to = netip.MustParseAddr(tc.to)
		}
		got, exact := reached(tc.all, to)
		if fmt.Sprint(got) != fmt.Sprint(tc.want) || exact != (len(got) > 0 && got[0].address.Addr() == to.WithZone("")) {
			t.Errorf("%s among %v reaches %v, exactly: %v; want %v", tc.to, tc.all, got, exact, tc.want)
		}
	}
}

// tables writes a directory as /proc/self/net is.
func tables(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTableIsReadUpToItsLastListenerOnly(t *testing.T) {
	const listener = "   0: 0100007F:0050 00000000:0000 0A 0:0 0:0 0 0 0 %d 1\n"
	const other = "   0: 0100007F:0050 0100007F:1111 01 0:0 0:0 0 0 0 9 1\n"
	dir := tables(t, map[string]string{"tcp": tcpHeading + fmt.Sprintf(listener, 1) + fmt.Sprintf(listener, 2) + other + fmt.Sprintf(listener, 3)})
	got, err := tcpListeners(context.Background(), dir+"/tcp", 80)
	if err != nil || len(got) != 2 || got[1].inode != 2 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := tcpListeners(context.Background(), dir+"/tcp", 81); err != nil || got != nil {
		t.Errorf("of another port: %v, %v", got, err)
	}
	if got, err := tcpListeners(context.Background(), dir+"/tcp6", 80); err != nil || got != nil {
		t.Errorf("without IPv6: %v, %v", got, err)
	}
}

func TestTablesThatCannotBeReadAttributeNothing(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tc := range []struct {
		ctx  context.Context
		dir  string
		want string
	}{
		{context.Background(), "/nonexistent", "cannot attribute: open /nonexistent/tcp: no such file or directory"},
		{context.Background(), tables(t, map[string]string{"tcp": strings.Repeat("x", 5000)}), "cannot attribute: the kernel's table of sockets has a line that is too long"},
		{ended, tables(t, map[string]string{"tcp": tcpHeading}), "context canceled"},
	} {
		if _, err := tcpListeners(tc.ctx, tc.dir+"/tcp", 80); err == nil || err.Error() != tc.want {
			t.Errorf("%v, want %s", err, tc.want)
		}
	}
}

// The kernel's own tables, with sockets of every kind.
func TestSocketsOfThisProcessAreInTheKernelsTables(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", ":0"} {
		l, err := net.Listen("tcp", address) // MPTCP, where the kernel has it
		if err != nil {
			t.Logf("not tested on %s: %v", address, err)
			continue
		}
		defer l.Close()
		want := l.Addr().(*net.TCPAddr).AddrPort()
		table := "/proc/self/net/tcp"
		if want.Addr().Is6() {
			table += "6"
		}
		got, err := tcpListeners(context.Background(), table, want.Port())
		if err != nil || len(got) != 1 || got[0].address != want || got[0].uid != os.Getuid() {
			t.Errorf("%v is %+v, %v", want, got, err)
		}
	}
	path := filepath.Join(t.TempDir(), "a b")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got, err := unixListeners(context.Background(), "/proc/self/net", path); err != nil || len(got) != 1 {
		t.Errorf("%s is %+v, %v", path, got, err)
	}
}

// FuzzTables reads any table: no line makes it fail otherwise than it should,
// and what it finds is in the text.
func FuzzTables(f *testing.F) {
	f.Add([]byte(tcpHeading + "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 33 0 632 1 0\n"))
	f.Add([]byte(tcpHeading + "   0: 00000000000000000000000001000000:0050 0:0 0A 0 0 0 0 0 1\n"))
	f.Add([]byte("Num\n0000000000000000: 00000002 00000000 00010000 0001 01 16163 /run/app.sock\n"))
	f.Add([]byte("\n\n\n"))
	f.Fuzz(func(t *testing.T, table []byte) {
		lines := 0
		err := rows(context.Background(), strings.NewReader(string(table)), func(row []byte) bool {
			lines++
			if s, listens := parseTCP(row); listens && (!s.address.IsValid() || !strings.Contains(string(row), fmt.Sprint(s.uid))) {
				if !strings.Contains(string(row), "0") { // a number may have leading zeros
					t.Fatalf("%q is read as %+v", row, s)
				}
			}
			if _, path, listens := parseUnix(row); listens && (path == "" || !strings.HasSuffix(string(row), path)) {
				t.Fatalf("%q has the name %q", row, path)
			}
			return true
		})
		if err == nil && lines > 1+strings.Count(string(table), "\n") {
			t.Fatalf("%d rows of %q", lines, table)
		}
	})
}
