package watchdog

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestURLsAreTakenApart(t *testing.T) {
	for text, want := range map[string]URL{
		"http://h":                       {Network: "tcp", Address: "h:80", Host: "h", Target: "/"},
		"http://h:8080/a?b=c":            {Network: "tcp", Address: "h:8080", Host: "h:8080", Target: "/a?b=c"},
		"http://h?b":                     {Network: "tcp", Address: "h:80", Host: "h", Target: "/?b"},
		"http://[::1]":                   {Network: "tcp", Address: "[::1]:80", Host: "[::1]", Target: "/"},
		"http://[::1]:8080":              {Network: "tcp", Address: "[::1]:8080", Host: "[::1]:8080", Target: "/"},
		"http://[fe80::1%25eth0]:8080/x": {Network: "tcp", Address: "[fe80::1%eth0]:8080", Host: "[fe80::1]:8080", Target: "/x"},
		"http://me:p%3Aw@h/":             {Network: "tcp", Address: "h:80", Host: "h", Target: "/", UserInfo: "me:p:w"},
		"http://me@h/":                   {Network: "tcp", Address: "h:80", Host: "h", Target: "/", UserInfo: "me:"},
		"http+unix:/run/s:/a?b":          {Network: "unix", Address: "/run/s", Host: "localhost", Target: "/a?b"},
		"http+unix:/run/s:":              {Network: "unix", Address: "/run/s", Host: "localhost", Target: "/"},
		"http://unix:@s:/a:b":            {Network: "unix", Address: "@s", Host: "localhost", Target: "/a:b"},
	} {
		c, err := ParseCheck(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got, err := c.URL()
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(URL{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// What is taken as a URL is what net/url takes it for.
func TestURLsAreReadAsTheStandardLibraryReadsThem(t *testing.T) {
	text := rapid.StringMatching(`http://([a-z]{1,3}(:([a-z]|%4[0-9])*)?@)?([a-z0-9.-]{1,8}|\[[0-9a-f:]{2,9}\])(:[0-9]{1,5})?([/?][a-z0-9/?=,;:@]*)?`)
	rapid.Check(t, func(t *rapid.T) {
		text := text.Draw(t, "url")
		got, err := parseURL(text)
		if err != nil {
			t.Skip("refused")
		}
		want, err := url.Parse(text)
		if err != nil {
			t.Fatalf("%s is taken, but %v", text, err)
		}
		password, _ := want.User.Password()
		user := ""
		if want.User != nil {
			user = want.User.Username() + ":" + password
		}
		if got.Host != want.Host || got.UserInfo != user {
			t.Fatalf("%s is read as %+v; net/url says %q, %q", text, got, want.Host, user)
		}
		path := want.EscapedPath()
		if path == "" {
			path = "/"
		}
		target, query, _ := strings.Cut(got.Target, "?")
		if target != path || query != want.RawQuery {
			t.Fatalf("%s asks for %s; net/url says %s?%s", text, got.Target, path, want.RawQuery)
		}
	})
}

func TestHostsAreNamesOrAddresses(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "redis_1": true, "a.b-c.example.": true, "1and1.example": true, "h1": true,
		strings.Repeat("a", 63): true, strings.Repeat("a", 64): false, strings.Repeat("a.", 127): false,
		"": false, ".": false, "a..b": false, ".a": false, "a b": false, "é": false, "a/b": false, "a%b": false,
		"127.0.0.1": true, "0.0.0.0": true, "127.1": false, "1": false, "256.0.0.1": false, "01.2.3.4": false, "a.1": false, "1.2.3.4.": false,
		"::1": true, "::": true, "fe80::1%eth0": true, "::ffff:1.2.3.4": true,
		":": false, "1::2::3": false, "fe80::1%": false, "fe80::1%a b": false, "fe80::1%a/b": false, "h:80": false,
	} {
		if err := validHost(host); (err == nil) != want {
			t.Errorf("validHost(%q): %v", host, err)
		}
	}
}

func TestStatusSetsHaveExactlyTheirCodes(t *testing.T) {
	for text, has := range map[string]func(code int) bool{
		"":            func(c int) bool { return c >= 200 && c <= 399 },
		"2xx+304":     func(c int) bool { return c >= 200 && c <= 299 || c == 304 },
		"200":         func(c int) bool { return c == 200 },
		"599+5xx+204": func(c int) bool { return c >= 500 && c <= 599 || c == 204 },
	} {
		set, err := ParseStatus(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		for code := -1; code <= 1000; code++ {
			if set.Has(code) != has(code) {
				t.Errorf("%q has %d: %v", text, code, set.Has(code))
			}
		}
	}
}
