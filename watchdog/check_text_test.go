package watchdog

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/svckit/svckit/internal/syntax"
)

func TestCheckPrintsItsCanonicalText(t *testing.T) {
	for text, want := range map[string]string{
		"http://h":                                "http://h/",
		"http://unix:/s":                          "http+unix:/s:/",
		"tcp:h:1,interval=10s,timeout=2s":         "tcp:h:1",
		"tcp:h:1,failures=3,successes=1":          "tcp:h:1",
		"tcp:h:1,interval=1s":                     "tcp:h:1,interval=1s",
		"tcp:h:1,timeout=500ms,interval=500ms":    "tcp:h:1,interval=500ms",
		"tcp:h:1,interval=1m30s":                  "tcp:h:1,interval=1min30s",
		"exec:/bin/x   'a'  \"b c\\\"\"":          `exec:/bin/x a "b c\""`,
		`http://h/,body=\d\,,header=A:1`:          `http://h/,header=A: 1,body=\d\,`,
		`http://h/,method=GET`:                    "http://h/",
		`http://h/,body=a\\\\,on-unhealthy=abort`: `http://h/,on-unhealthy=abort,body=a\\`,
		"notify,timeout=5s":                       "notify,timeout=5s",
		"https://h,insecure=1,owned,failures=2":   "https://h/,failures=2,insecure,owned",
		"memory:1048576,peak":                     "memory:1M,peak",
		"file:/f,max-age=300":                     "file:/f,max-age=5min",
	} {
		c, err := ParseCheck(text)
		if err != nil || c.String() != want {
			t.Errorf("%s prints as %s, %v; want %s", text, c, err, want)
		}
	}
}

func TestLabelsAreShortWordsWithoutSecrets(t *testing.T) {
	long := strings.Repeat("é", 100)
	for text, want := range map[string]string{
		"http://u:p@h:8080/live?token=x":    "http://h:8080/live",
		"http://[fe80::1%25eth0]/":          "http://[fe80::1]/",
		"http+unix:/run/a.sock:/x?y":        "http+unix:/run/a.sock:/x",
		"tcp:[::1]:80":                      "tcp:[::1]:80",
		"unix:@app":                         "unix:@app",
		"unix:/run/a b":                     "unix:/run/a?b",
		"exec:/usr/bin/true":                "exec:true",
		"exec:/usr/bin/redis-cli -a x ping": "exec:redis-cli+3",
		"exec:/opt/'a b' c":                 "exec:a?b+1",
		`exec:/opt/\xff`:                    "exec:?",
		"notify,failures=2":                 "notify",
		"https://u:p@h/live?token=x":        "https://h/live",
		"listen:[::1]:80":                   "listen:[::1]:80",
		"grpc:h:1/s":                        "grpc:h:1/s",
		"file:/run/a b,max-age=1s":          "file:/run/a?b",
		"memory:1024M,peak":                 "memory:1G",
		"fd:4":                              "fd:4",
		"exec:/" + long:                     "exec:" + strings.Repeat("é", 56) + "...",
	} {
		c, err := ParseCheck(text)
		if err != nil || c.Label() != want {
			t.Errorf("the label of %s is %s, %v; want %s", text, c.Label(), err, want)
		}
	}
}

func TestLabelOfANonsenseCheckIsItsKind(t *testing.T) {
	for want, c := range map[string]Check{"http": {Kind: HTTP, Target: "://"}, "exec": {Kind: Exec, Target: "'"}} {
		if got := c.Label(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// anyCheck draws a valid check with any of its options.
func anyCheck(t *rapid.T) Check {
	value := rapid.StringMatching(`[a-z,\\= ]{1,6}[a-z,\\]`)
	c := defaults(TCP, "h:1")
	c.Interval = time.Duration(rapid.Int64Range(10_000, 3_600_000_000).Draw(t, "interval")) * time.Microsecond
	c.Timeout = min(2*time.Second, c.Interval)
	if rapid.Bool().Draw(t, "own timeout") {
		c.Timeout = time.Duration(rapid.Int64Range(1_000, c.Interval.Microseconds()).Draw(t, "timeout")) * time.Microsecond
	}
	c.Failures = rapid.IntRange(1, 1000).Draw(t, "failures")
	c.Successes = rapid.IntRange(1, 1000).Draw(t, "successes")
	c.OnUnhealthy = rapid.SampledFrom([]OnUnhealthy{Inherit, Drain, Abort, Report}).Draw(t, "on-unhealthy")
	switch rapid.IntRange(0, 8).Draw(t, "kind") {
	case 0:
		c.Kind, c.Target = Exec, syntax.QuoteCommand([]string{"/bin/x", value.Draw(t, "arg"), `\`})
	case 1:
		c.Kind, c.Target = Unix, "/"+value.Draw(t, "socket")
	case 2:
		c.Kind, c.Target = HTTP, "http://h/"+rapid.StringMatching(`[a-z,\\=%?]{0,6}`).Draw(t, "path")
		c.HTTP = anyHTTP(t, value)
		if rapid.Bool().Draw(t, "TLS") {
			c.Target = "https" + strings.TrimPrefix(c.Target, "http")
			c.HTTP.Insecure = rapid.Bool().Draw(t, "insecure")
		}
	case 3:
		c.Kind, c.Target = Listen, rapid.SampledFrom([]string{"1", "65535", "127.0.0.1:80", "[::]:80"}).Draw(t, "listener")
	case 4:
		c.Kind, c.Target = GRPC, rapid.SampledFrom([]string{"h:1", "[::1]:1/a,b", `h:1/\`}).Draw(t, "server")
	case 5:
		c.Kind, c.Target = File, "/"+value.Draw(t, "file")
		c.MaxAge = time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "max-age")) * time.Microsecond
	case 6:
		c.Kind, c.Target = Memory, syntax.FormatSize(rapid.Int64Range(1<<20, 1<<62).Draw(t, "size"))
		c.Peak = rapid.Bool().Draw(t, "peak")
	case 7:
		return defaults(FD, "7")
	}
	if c.Kind == HTTP || c.Kind == TCP || c.Kind == Unix {
		c.Owned = rapid.Bool().Draw(t, "owned")
	}
	return c
}

func anyHTTP(t *rapid.T, value *rapid.Generator[string]) HTTPOptions {
	var h HTTPOptions
	for i := range rapid.IntRange(0, 3).Draw(t, "headers") {
		h.Headers = append(h.Headers, fmt.Sprintf("X-%d: %s", i, strings.TrimSpace(value.Draw(t, "header"))))
	}
	h.Method = rapid.SampledFrom([]string{"", "POST", "OPTIONS"}).Draw(t, "method")
	h.Status = rapid.SampledFrom([]string{"", "200", "2xx+304", "5xx"}).Draw(t, "status")
	h.Host = rapid.SampledFrom([]string{"", "app.example", "[::1]:8080"}).Draw(t, "host")
	h.Body = rapid.SampledFrom([]string{"", `\d{1,3}`, `a,b\\`, `,`, `\\,\,`}).Draw(t, "body")
	if rapid.Bool().Draw(t, "header file") {
		h.HeaderFile = "/" + value.Draw(t, "header file")
	}
	return h
}

func TestEveryCheckIsReadBackFromItsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCheck(t)
		if err := c.Validate(); err != nil {
			t.Fatalf("%+q: %v", c, err)
		}
		got, err := ParseCheck(c.String())
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		if diff := cmp.Diff(c, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", c, diff)
		}
	})
}

func FuzzParseCheck(f *testing.F) {
	for _, seed := range []string{
		"http://u:p@127.0.0.1:8080/live?x=1,interval=10s,timeout=2s,failures=3,status=2xx+304,header=A: b,body=\\d\\,",
		"http+unix:/run/app.sock:/healthz,host=h,method=HEAD", "http://unix:@app:/", "http://[fe80::1%25eth0]:80/",
		"tcp:[::1]:6379,successes=2", "unix:@app,on-unhealthy=report", `exec:/bin/x "a\,b" \\,timeout=1s`, "notify",
		"tcp:h:1,period=3", "https://h/,insecure,owned=0", "listen:[::1]:80", "grpc:h:1/a/", "file:/f,max-age=1", "memory:1.5G,peak", "fd:3",
		"http://h/,header-file=/x,header=A:1,header=B:2", `exec:/\xff`, "localhost:80",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCheck(text)
		if err != nil {
			if message := err.Error(); message == "" || len(message) > len(text)+512 {
				t.Fatalf("%q: the error has %d bytes", text, len(message))
			}
			return
		}
		again, err := ParseCheck(c.String())
		if err != nil {
			t.Fatalf("%q prints as %q, which is refused: %v", text, c, err)
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Fatalf("%q prints as %q, which is another check (-want +got):\n%s", text, c, diff)
		}
		checkLabel(t, c)
	})
}

func checkLabel(t *testing.T, c Check) {
	t.Helper()
	label := c.Label()
	printable := !strings.ContainsFunc(label, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
	if label == "" || len(label) > 120 || !utf8.ValidString(label) || !printable {
		t.Fatalf("%s has the label %q", c, label)
	}
}
