package watchdog

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// defaults is a check of a kind and a target with no option given.
func defaults(kind Kind, target string) Check {
	return Check{
		Kind: kind, Target: target,
		Interval: 10 * time.Second, Timeout: 2 * time.Second, Failures: 3, Successes: 1,
	}
}

func TestChecksOfEveryKindAreRead(t *testing.T) {
	for text, want := range map[string]Check{
		"http://127.0.0.1:8080/live":         defaults(HTTP, "http://127.0.0.1:8080/live"),
		"http://localhost":                   defaults(HTTP, "http://localhost/"),
		"http://app.example:80?x=1":          defaults(HTTP, "http://app.example:80/?x=1"),
		"http://[::1]:8080/":                 defaults(HTTP, "http://[::1]:8080/"),
		`http://h/a\,b`:                      defaults(HTTP, "http://h/a,b"),
		"http://u:p%40w@h/":                  defaults(HTTP, "http://u:p%40w@h/"),
		"http+unix:/run/app.sock:/healthz":   defaults(HTTP, "http+unix:/run/app.sock:/healthz"),
		"http+unix:/run/app.sock":            defaults(HTTP, "http+unix:/run/app.sock:/"),
		"http+unix:@app:/healthz":            defaults(HTTP, "http+unix:@app:/healthz"),
		"http://unix:/run/app.sock:/healthz": defaults(HTTP, "http+unix:/run/app.sock:/healthz"),
		"tcp:127.0.0.1:6379":                 defaults(TCP, "127.0.0.1:6379"),
		"tcp:[::1]:6379":                     defaults(TCP, "[::1]:6379"),
		"tcp:[fe80::1%eth0]:80":              defaults(TCP, "[fe80::1%eth0]:80"),
		"tcp:redis_1:6379":                   defaults(TCP, "redis_1:6379"),
		"unix:/run/app.sock":                 defaults(Unix, "/run/app.sock"),
		"unix:@app":                          defaults(Unix, "@app"),
		`unix:/run/a\,b`:                     defaults(Unix, "/run/a,b"),
		"exec:/usr/bin/redis-cli ping":       defaults(Exec, "/usr/bin/redis-cli ping"),
		`exec:/bin/x  'a\,b' c\sd`:           defaults(Exec, `/bin/x a,b "c d"`),
		"notify":                             defaults(Notify, ""),
		"https://app.example":                defaults(HTTP, "https://app.example/"),
		"https://u:p@[::1]:8443/x?y":         defaults(HTTP, "https://u:p@[::1]:8443/x?y"),
		"listen:8080":                        defaults(Listen, "8080"),
		"listen:08080":                       defaults(Listen, "8080"),
		"listen:127.0.0.1:80":                defaults(Listen, "127.0.0.1:80"),
		"listen:[::1]:80":                    defaults(Listen, "[::1]:80"),
		"listen:[0:0::1]:80":                 defaults(Listen, "[::1]:80"),
		"listen:[::ffff:1.2.3.4]:80":         defaults(Listen, "1.2.3.4:80"),
		"grpc:h:50051":                       defaults(GRPC, "h:50051"),
		"grpc:h:50051/":                      defaults(GRPC, "h:50051"),
		"grpc:[::1]:50051/my.pkg.Service":    defaults(GRPC, "[::1]:50051/my.pkg.Service"),
		"grpc:h:1/a/":                        defaults(GRPC, "h:1/a/"),
		"file:/run/a b":                      defaults(File, "/run/a b"),
		"memory:1.5G":                        defaults(Memory, "1536M"),
		"memory:1G 512M":                     defaults(Memory, "1536M"),
		"fd:3":                               defaults(FD, "3"),
		"fd:0010":                            defaults(FD, "10"),
	} {
		got, err := ParseCheck(text)
		if err != nil {
			t.Errorf("ParseCheck(%q): %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ParseCheck(%q) (-want +got):\n%s", text, diff)
		}
	}
}

// optionCases has, for every option, a check that may have it, its text and
// what it sets.
var optionCases = map[string]struct {
	check string
	value string
	set   func(*Check)
}{
	"interval":     {"http://h/", "1min 30s", func(c *Check) { c.Interval = 90 * time.Second }},
	"timeout":      {"http://h/", "500ms", func(c *Check) { c.Timeout = 500 * time.Millisecond }},
	"failures":     {"http://h/", "5", func(c *Check) { c.Failures = 5 }},
	"successes":    {"http://h/", "2", func(c *Check) { c.Successes = 2 }},
	"on-unhealthy": {"http://h/", "report", func(c *Check) { c.OnUnhealthy = Report }},
	"method":       {"http://h/", "HEAD", func(c *Check) { c.HTTP.Method = "HEAD" }},
	"status":       {"http://h/", "2xx+304", func(c *Check) { c.HTTP.Status = "2xx+304" }},
	"header":       {"http://h/", `X-Token: a\,b=c`, func(c *Check) { c.HTTP.Headers = []string{"X-Token: a,b=c"} }},
	"header-file":  {"http://h/", "/etc/app/headers", func(c *Check) { c.HTTP.HeaderFile = "/etc/app/headers" }},
	"host":         {"http://h/", "app.example:8080", func(c *Check) { c.HTTP.Host = "app.example:8080" }},
	"body":         {"http://h/", `"ok":\s*true\,|^\d{1\,3}$`, func(c *Check) { c.HTTP.Body = `"ok":\s*true,|^\d{1,3}$` }},
	"insecure":     {"https://h/", "yes", func(c *Check) { c.HTTP.Insecure = true }},
	"owned":        {"http://h/", "yes", func(c *Check) { c.Owned = true }},
	"max-age":      {"file:/f", "5min", func(c *Check) { c.MaxAge = 5 * time.Minute }},
	"peak":         {"memory:1G", "yes", func(c *Check) { c.Peak = true }},
}

func TestEveryOptionSetsItsFieldAndNothingElse(t *testing.T) {
	for _, option := range checkOptions {
		tc, ok := optionCases[option.name]
		if !ok {
			t.Errorf("option %s has no case here", option.name)
			continue
		}
		want, err := ParseCheck(tc.check)
		if err != nil {
			t.Fatal(err)
		}
		tc.set(&want)
		texts := []string{tc.check + "," + option.name + "=" + tc.value}
		if option.flag {
			texts = append(texts, tc.check+","+option.name)
		}
		for _, text := range texts {
			got, err := ParseCheck(text)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", text, diff)
			}
		}
	}
	if len(optionCases) != len(checkOptions) {
		t.Errorf("%d cases for %d options", len(optionCases), len(checkOptions))
	}
}

func TestFlagsMayBeTurnedOff(t *testing.T) {
	for _, text := range []string{"tcp:h:1,owned=no", "https://h/,insecure=false", "memory:1G,peak=0"} {
		c, err := ParseCheck(text)
		if err != nil || c.Owned || c.HTTP.Insecure || c.Peak {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
}

func TestOptionsOfSomeKindsAreRefusedElsewhere(t *testing.T) {
	for _, option := range checkOptions {
		value := optionCases[option.name].value
		for _, check := range []string{
			"http://h/", "https://h/", "tcp:h:1", "listen:1", "unix:/s", "grpc:h:1", "exec:/bin/true", "file:/f", "memory:1G", "notify", "fd:3",
		} {
			c, err := ParseCheck(check)
			if err != nil {
				t.Fatal(err)
			}
			may := option.belongs(c.Kind) == nil && c.Kind != FD && (option.name != "insecure" || strings.HasPrefix(check, "https"))
			if _, err := ParseCheck(check + "," + option.name + "=" + value); (err == nil) != may {
				t.Errorf("%s with option %s: %v", check, option.name, err)
			}
			// A check that was not parsed but put together is held to the same.
			if optionCases[option.name].set(&c); (c.Validate() == nil) != may && c.Kind != FD {
				t.Errorf("%s put together with option %s: %v", check, option.name, c.Validate())
			}
		}
	}
}

func TestTimeoutFollowsAShortIntervalUnlessItIsGiven(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"tcp:h:1,interval=1s":                time.Second,
		"tcp:h:1,interval=2s":                2 * time.Second,
		"tcp:h:1,interval=1h":                2 * time.Second,
		"tcp:h:1,interval=1s,timeout=100ms":  100 * time.Millisecond,
		"tcp:h:1,timeout=1ms,interval=10ms":  time.Millisecond,
		"tcp:h:1,timeout=24h,interval=1d":    24 * time.Hour,
		"tcp:h:1,timeout=10s":                10 * time.Second,
		"tcp:h:1,timeout=20s,interval=20":    20 * time.Second,
		"tcp:h:1,interval=20s,failures=1000": 2 * time.Second,
	} {
		c, err := ParseCheck(text)
		if err != nil || c.Timeout != want {
			t.Errorf("%s: timeout %v, %v; want %v", text, c.Timeout, err, want)
		}
	}
}

func TestHeadersAreRepeatableAndTidied(t *testing.T) {
	c, err := ParseCheck(`http://h/,header=A:1,header=b: 2 ,header=X-Y:`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"A: 1", "b: 2", "X-Y: "}, c.HTTP.Headers); diff != "" {
		t.Error(diff)
	}
}

func TestGETIsTheZeroMethod(t *testing.T) {
	c, err := ParseCheck("http://h/,method=GET")
	if err != nil || c.HTTP.Method != "" {
		t.Errorf("method %q, %v", c.HTTP.Method, err)
	}
}

// Backslashes double before a comma only.
func TestCommasAndBackslashesAreKeptApart(t *testing.T) {
	for text, want := range map[string][]string{
		``:           {``},
		`a`:          {`a`},
		`a,b`:        {`a`, `b`},
		`,`:          {``, ``},
		`a\,b,c`:     {`a,b`, `c`},
		`a\\,b`:      {`a\`, `b`},
		`a\\\,b`:     {`a\,b`},
		`a\\\\,b`:    {`a\\`, `b`},
		`\d\\\w\\`:   {`\d\\\w\\`},
		`\,\,`:       {`,,`},
		`a\`:         {`a\`},
		`\\,\\`:      {`\`, `\\`},
		`x\,\\\,,\,`: {`x,\,`, `,`},
	} {
		var got []string
		rest, more := text, true
		for more {
			var part string
			part, rest, more = cutPart(rest)
			got = append(got, part)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		for i, part := range got {
			got[i] = escapePart(part, i == len(got)-1)
		}
		if back := strings.Join(got, ","); back != text {
			t.Errorf("%s is written back as %s", text, back)
		}
	}
}

func TestAPolicysMappingIsReadAsTheFlagIs(t *testing.T) {
	for text, in := range map[string]struct {
		kind    Kind
		target  string
		options []Option
	}{
		"http://h:1/live,failures=5":           {HTTP, "http://h:1/live", []Option{{"failures", "5"}}},
		"http+unix:/s:/p":                      {HTTP, "http+unix:/s:/p", nil},
		"http+unix:/s:/q":                      {"http+unix", "/s:/q", nil},
		"http+unix:/s:/r":                      {HTTP, "http://unix:/s:/r", nil},
		`exec:/bin/x a\,b,on-unhealthy=drain`:  {Exec, "/bin/x a,b", []Option{{"on-unhealthy", "drain"}}},
		"tcp:h:1,interval=1s,timeout=5ms":      {TCP, "h:1", []Option{{"timeout", "5ms"}, {"interval", "1s"}}},
		"notify":                               {Notify, "", nil},
		`http://h/,header=A: 1\,2,header=B: 3`: {HTTP, "http://h/", []Option{{"header", "A: 1,2"}, {"header", "B: 3"}}},
	} {
		want, err := ParseCheck(text)
		if err != nil {
			t.Errorf("ParseCheck(%q): %v", text, err)
			continue
		}
		got, err := ParseCheckOptions(in.kind, in.target, in.options)
		if err != nil {
			t.Errorf("ParseCheckOptions(%+v): %v", in, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
