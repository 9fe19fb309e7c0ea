package watchdog

import (
	"strings"
	"testing"
	"time"
)

const options = `interval, timeout, failures, successes, on-unhealthy, method, status, header, header-file, host, body, insecure, owned, max-age, peak`

func TestBadChecksAreRefusedWithTheCure(t *testing.T) {
	for text, want := range map[string]string{
		// kinds
		"":                      `a check begins with its kind: http://…, https://…, http+unix:…, tcp:HOST:PORT, listen:PORT, unix:PATH, grpc:HOST:PORT, exec:COMMAND, file:PATH, memory:SIZE, notify or fd:N`,
		"script:/x":             `unknown kind of check "script"; here it is called exec`,
		"htpp://h/":             `unknown kind of check "htpp"; did you mean http`,
		"TCP:h:1":               `unknown kind of check "TCP"; did you mean tcp`,
		"/bin/true":             `a check begins with its kind; write exec:COMMAND or unix:PATH`,
		"localhost:80":          `a check begins with its kind; did you mean tcp:localhost:80`,
		"127.0.0.1:80":          `a check begins with its kind; did you mean tcp:127.0.0.1:80`,
		"tcp:h:1\xff":           `the check is not valid UTF-8`,
		"tcp:h:1,failures=\xff": `an option is not valid UTF-8`,
		// options
		"tcp:h:1,":                              `an option is empty; a comma within a value is written \,`,
		"tcp:h:1,timeout":                       `option timeout wants a value: write timeout=VALUE`,
		"tcp:h:1,timeout=":                      `option timeout: empty duration; write for example 90s or 1min 30s`,
		"tcp:h:1,interval=1M":                   `option interval: bad duration "1M": a month? write 1m or 30d`,
		"tcp:h:1,interval=9ms":                  `interval 9ms is out of range; it is at least 10ms and at most 24h`,
		"tcp:h:1,interval=2d":                   `interval 2d is out of range; it is at least 10ms and at most 24h`,
		"tcp:h:1,timeout=0":                     `timeout 0 is too short; it is at least 1ms`,
		"tcp:h:1,timeout=11s":                   `timeout 11s is longer than the interval 10s, and probes never overlap; raise the interval or lower the timeout`,
		"tcp:h:1,failures=0":                    `failures 0 is out of range; it is 1 to 1000`,
		"tcp:h:1,failures=1001":                 `failures 1001 is out of range; it is 1 to 1000`,
		"tcp:h:1,failures=x":                    `option failures: "x" is no whole number`,
		"tcp:h:1,successes=-1":                  `successes -1 is out of range; it is 1 to 1000`,
		"tcp:h:1,failures=1.5":                  `option failures: "1.5" is no whole number`,
		"tcp:h:1,failures=99999999999999999999": `option failures: "99999999999999999999" is no whole number`,
		"tcp:h:1,on-unhealthy=restart":          `option on-unhealthy: "restart" is not known; write drain, abort or report`,
		"tcp:h:1,on-unhealthy=":                 `option on-unhealthy: "" is not known; write drain, abort or report`,
		"tcp:h:1,failures=2,failures=2":         `option failures is given twice`,
		"tcp:h:1,status=200":                    `option status belongs to http checks, not to tcp`,
		"tcp:h:1,intervall=1s":                  `unknown option "intervall"; did you mean interval`,
		"tcp:h:1,on_unhealthy=drain":            `unknown option "on_unhealthy"; did you mean on-unhealthy`,
		"listen:1,owned":                        `option owned belongs to http, tcp and unix checks, not to listen`,
		"http://h/,insecure":                    `option insecure belongs to https checks, not to http`,
		"tcp:h:1,insecure":                      `option insecure belongs to http checks, not to tcp`,
		"tcp:h:1,owned=maybe":                   `option owned: "maybe" is neither yes nor no`,
		"tcp:h:1,max-age=5s":                    `option max-age belongs to file checks, not to tcp`,
		"file:/x,max-age":                       `option max-age wants a value: write max-age=VALUE`,
		"file:/x,max-age=infinity":              `option max-age: infinity is out of range; it is at most 365d`,
		"file:/x,maxAge=5s":                     `unknown option "maxAge"; here it is called max-age`,
		"https://h/,skip-verify":                `unknown option "skip-verify"; here it is called insecure`,
		"fd:3,interval=1s":                      `fd takes no options: nothing is probed, and one newline is the answer`,
		"fd:3,what=1s":                          `unknown option "what"; they are ` + options + `, and a comma within a value is written \,`,
		"tcp:h:1,b":                             `unknown option "b"; they are ` + options + `, and a comma within a value is written \,`,
		"http://h/,header=A: x,secret":          `an unknown option after header; a comma within a value is written \,`,
		// http
		"http:":                                 `an http check is written http://HOST[:PORT]/PATH`,
		"http:h/":                               `an http check is written http://HOST[:PORT]/PATH`,
		"http:http://h/":                        `an http check is written http://HOST[:PORT]/PATH`,
		"http://":                               `the host is missing; an http check is written http://HOST[:PORT]/PATH`,
		"http:///x":                             `the host is missing; an http check is written http://HOST[:PORT]/PATH`,
		"http://h:0/":                           `the port is not a number of 1 to 65535; an http check is written http://HOST[:PORT]/PATH`,
		"http://h:65536/":                       `the port is not a number of 1 to 65535; an http check is written http://HOST[:PORT]/PATH`,
		"http://h:/":                            `the port is not a number of 1 to 65535; an http check is written http://HOST[:PORT]/PATH`,
		"http://h:+80/":                         `the port is not a number of 1 to 65535; an http check is written http://HOST[:PORT]/PATH`,
		"http://h_x!/":                          `the host is no name and no address; an http check is written http://HOST[:PORT]/PATH`,
		"http://1.2.3.256/":                     `the host is no IPv4 address; an http check is written http://HOST[:PORT]/PATH`,
		"http://::1/":                           `an IPv6 address stands in brackets, as [::1]:8080; an http check is written http://HOST[:PORT]/PATH`,
		"http://[::1/":                          `the bracket [ is not closed; an http check is written http://HOST[:PORT]/PATH`,
		"http://[::1]8/":                        `after ] comes :PORT; an http check is written http://HOST[:PORT]/PATH`,
		"http://[h]/":                           `brackets are for IPv6 addresses only; an http check is written http://HOST[:PORT]/PATH`,
		"http://[::g]/":                         `the host is no IPv6 address; an http check is written http://HOST[:PORT]/PATH`,
		"http://@h/":                            `the URL's name and password are not percent-encoded rightly; an http check is written http://HOST[:PORT]/PATH`,
		"http://a%zz@h/":                        `the URL's name and password are not percent-encoded rightly; an http check is written http://HOST[:PORT]/PATH`,
		"http://h/#x":                           `a #fragment never reaches a server; drop it from the URL`,
		"http://h/a b":                          `the URL has a blank, a control or a non-ASCII character; percent-encode it`,
		"http://h/é":                            `the URL has a blank, a control or a non-ASCII character; percent-encode it`,
		"http://unix:s:/":                       `a socket is an absolute path, such as /run/app.sock, or @NAME`,
		"http+unix://%2Frun/x":                  `http over a socket is written http+unix:/run/app.sock:/PATH`,
		"http+unix:/s:x":                        `the path after the socket begins with /; write http+unix:/run/app.sock:/PATH`,
		"http://h/,method=get":                  `option method: methods are upper case; write GET`,
		"http://h/,method=":                     `option method: the value is empty; leave the option out`,
		"http://h/,method=A B":                  `option method: a method is a word such as GET or HEAD`,
		"http://h/,method=CONNECT":              `option method: CONNECT asks for a tunnel; use GET or HEAD`,
		"http://h/,status=100":                  `option status: "100" is no final status; write codes of 200 to 599 or classes, such as 2xx+304`,
		"http://h/,status=20x":                  `option status: "20x" is no final status; write codes of 200 to 599 or classes, such as 2xx+304`,
		"http://h/,status=200-299":              `option status: "200-299" is no final status; write codes of 200 to 599 or classes, such as 2xx+304`,
		"http://h/,status=2xx+":                 `option status: "" is no final status; write codes of 200 to 599 or classes, such as 2xx+304`,
		"http://h/,header=A":                    `option header: a header is written Name: value`,
		"http://h/,header=A B: x":               `option header: a header's name is letters, digits and -, directly before the colon`,
		"http://h/,header=: x":                  `option header: a header's name is letters, digits and -, directly before the colon`,
		"http://h/,header=A: x\r\nB:":           `option header: the value of header A has a control character`,
		"http://h/,header=Host: x":              `option header: write host=NAME for the Host header`,
		"http://h/,header=content-length: 5":    `option header: the header content-length is set by the check itself`,
		"http://u:p@h/,header=authorization: x": `option header: the URL's name and password make an Authorization header already; drop one of the two`,
		"http://h/,header-file=headers":         `option header-file: "headers" is no absolute path`,
		"http://h/,host=a b":                    `option host: the host is no name and no address`,
		"http://h/,host=[fe80::1%eth0]":         `option host: a Host header has no zone`,
		"http://h/,host=h:x":                    `option host: the port is not a number of 1 to 65535`,
		"http://h/,body=(":                      "option body: error parsing regexp: missing closing ): `(`",
		"http://h/,body=x,method=HEAD":          `option body: an answer to HEAD has no body; use GET`,
		// https, listen, grpc, file, memory, fd
		"https:":               `an https check is written https://HOST[:PORT]/PATH`,
		"https:///x":           `the host is missing; an https check is written https://HOST[:PORT]/PATH`,
		"https://h:x/":         `the port is not a number of 1 to 65535; an https check is written https://HOST[:PORT]/PATH`,
		"https://unix:/s:/":    `the port is not a number of 1 to 65535; an https check is written https://HOST[:PORT]/PATH`,
		"listen:":              `the port is not a number of 1 to 65535; write listen:PORT, listen:127.0.0.1:PORT or listen:[::1]:PORT`,
		"listen:0":             `the port is not a number of 1 to 65535; write listen:PORT, listen:127.0.0.1:PORT or listen:[::1]:PORT`,
		"listen::80":           `the host is missing; write listen:PORT, listen:127.0.0.1:PORT or listen:[::1]:PORT`,
		"listen:localhost:1":   `the host is no address, and the kernel's tables have no names; write listen:PORT, listen:127.0.0.1:PORT or listen:[::1]:PORT`,
		"listen:[::1]":         `the port is not a number of 1 to 65535; write listen:PORT, listen:127.0.0.1:PORT or listen:[::1]:PORT`,
		"listen:[fe80::1%e]:1": `the kernel's tables have no zones; leave the zone out`,
		"grpc:50051":           `the port is missing; write grpc:HOST:PORT[/SERVICE], for example grpc:127.0.0.1:50051`,
		"grpc://h:1/s":         `the host is missing; write grpc:HOST:PORT[/SERVICE], for example grpc:127.0.0.1:50051`,
		"grpc:h:1/a b":         `the service's name is one word of at most 256 letters; write grpc:HOST:PORT[/SERVICE], for example grpc:127.0.0.1:50051`,
		"grpcs:h:1":            `unknown kind of check "grpcs"; here it is called grpc`,
		"file:":                `a file is an absolute path, such as /run/app/alive`,
		"file:run/x":           `a file is an absolute path, such as /run/app/alive`,
		"file:/a\nb":           `the file's path has a control character, or more than 4095 bytes`,
		"memory:":              `empty size; write for example 512M; write memory:SIZE, for example memory:512M`,
		"memory:80%":           `bad size "80%": unknown unit "%"; use B, K, M, G, T, P or E; write memory:SIZE, for example memory:512M`,
		"memory:512":           `the size 512 is less than svcrun itself takes; write memory:SIZE, for example memory:512M`,
		"memory:1GB":           `bad size "1GB": unknown unit "GB"; systemd writes G; write memory:SIZE, for example memory:512M`,
		"fd":                   `a descriptor is a number of 3 to 1023; write fd:3`,
		"fd:1":                 `a descriptor is a number of 3 to 1023; write fd:3`,
		"fd:1024":              `a descriptor is a number of 3 to 1023; write fd:3`,
		"fd:+3":                `a descriptor is a number of 3 to 1023; write fd:3`,
		// tcp, unix, exec, notify
		"tcp":            `the host is missing; write tcp:HOST:PORT, for example tcp:127.0.0.1:8080`,
		"tcp:8080":       `the port is missing; write tcp:HOST:PORT, for example tcp:127.0.0.1:8080`,
		"tcp::8080":      `the host is missing; write tcp:HOST:PORT, for example tcp:127.0.0.1:8080`,
		"tcp:h:http":     `the port is not a number of 1 to 65535; write tcp:HOST:PORT, for example tcp:127.0.0.1:8080`,
		"tcp:::1:80":     `an IPv6 address stands in brackets, as [::1]:8080; write tcp:HOST:PORT, for example tcp:127.0.0.1:8080`,
		"tcp:a..b:80":    `the host is no name and no address; write tcp:HOST:PORT, for example tcp:127.0.0.1:8080`,
		"tcp:[::1%]:80":  `the host is no IPv6 address; write tcp:HOST:PORT, for example tcp:127.0.0.1:8080`,
		"unix:":          `a socket is an absolute path, such as /run/app.sock, or @NAME`,
		"unix:run/s":     `a socket is an absolute path, such as /run/app.sock, or @NAME`,
		"unix:@":         `a socket is an absolute path, such as /run/app.sock, or @NAME`,
		"unix:/a\nb":     `the socket's path has a control character`,
		"exec:":          `empty command; write the program's path and its arguments`,
		"exec:curl -f":   `the command "curl" is no absolute path; write exec:/usr/bin/curl or where it is`,
		"exec:./a/b":     `the command "./a/b" is no absolute path; write exec:/usr/bin/b or where it is`,
		"exec:/bin/x 'a": `the quote ' is not closed (at character 8)`,
		"notify:x":       `notify takes nothing after it; it is the service's own READY=1 or WATCHDOG=1`,
	} {
		c, err := ParseCheck(text)
		if err == nil || err.Error() != want {
			t.Errorf("ParseCheck(%q):\n got %v\nwant %s", text, err, want)
		}
		if c.Kind != "" {
			t.Errorf("ParseCheck(%q) returns a check beside its error", text)
		}
	}
}

func TestForeignNamesOfOptionsGetAHint(t *testing.T) {
	for foreign, want := range map[string]string{
		"period": "interval", "periodSeconds": "interval", "period_seconds": "interval", "every": "interval",
		"retries": "failures", "threshold": "failures", "failureThreshold": "failures",
		"successThreshold": "successes", "timeoutSeconds": "timeout", "on_fail": "on-unhealthy",
		"headers": "header", "httpHeaders": "header", "expected-status": "status",
	} {
		_, err := ParseCheck("http://h/," + foreign + "=5")
		if err == nil || !strings.HasSuffix(err.Error(), "here it is called "+want) {
			t.Errorf("%s: %v; want a hint at %s", foreign, err, want)
		}
	}
	for _, foreign := range []string{"start_period", "start-period", "initialDelaySeconds", "initial_delay"} {
		_, err := ParseCheck("http://h/," + foreign + "=5")
		if err == nil || !strings.Contains(err.Error(), "--start-timeout") {
			t.Errorf("%s: %v; want a hint at the start timeout", foreign, err)
		}
	}
}

func TestLongChecksAreRefused(t *testing.T) {
	if _, err := ParseCheck("http://h/" + strings.Repeat("a", maxCheck)); err == nil || err.Error() != "the check is longer than 8192 bytes" {
		t.Error(err)
	}
	if _, err := ParseCheckOptions(HTTP, "http://h/", []Option{{"body", strings.Repeat("a", maxCheck)}}); err == nil {
		t.Error("an option of 8 KiB is taken")
	}
	socket := "/" + strings.Repeat("s", maxSocket-1)
	if _, err := ParseCheck("unix:" + socket); err != nil {
		t.Errorf("a socket's path of %d bytes: %v", len(socket), err)
	}
	want := "the socket's path has 108 bytes, and 107 are the most that the kernel takes"
	if _, err := ParseCheck("unix:" + socket + "s"); err == nil || err.Error() != want {
		t.Errorf("a socket's path of 108 bytes: %v", err)
	}
}

// secret is what no error and no label may repeat.
const secret = "hunter2"

func TestErrorsAndLabelsKeepSecrets(t *testing.T) {
	for _, text := range []string{
		"http://u:" + secret + "@h/", "http://u:" + secret + "@h:x/", "http://u:" + secret + "@[::1/",
		"http://u:%z" + secret + "@h/", "http://h/?token=" + secret, "http://h/?t=" + secret + "#x",
		"http://h/ ?" + secret, "http://h/,header=Authorization: Bearer " + secret,
		"http://h/,header=Authorization " + secret, "http://h/,header=A: \x01" + secret,
		"http://h/,header=A: x," + secret, "http://u:" + secret + "@h/,header=Authorization: " + secret,
		"exec:/bin/x --password=" + secret, "exec:/bin/x '" + secret, "exec:x " + secret,
		"http+unix:/s:/?token=" + secret, "http+unix:/s:x" + secret,
	} {
		c, err := ParseCheck(text)
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%q: the error has the secret: %v", text, err)
		}
		if strings.Contains(c.Label(), secret) {
			t.Errorf("%q: the label has the secret: %s", text, c.Label())
		}
	}
}

func TestChecksMadeByHandAreValidated(t *testing.T) {
	for want, change := range map[string]func(*Check){
		"": func(*Check) {},
		`a check begins with its kind: http://…, https://…, http+unix:…, tcp:HOST:PORT, listen:PORT, unix:PATH, grpc:HOST:PORT, exec:COMMAND, file:PATH, memory:SIZE, notify or fd:N`: func(c *Check) { c.Kind = "" },
		"the options of http checks do not belong to tcp":                        func(c *Check) { c.HTTP.Headers = []string{"A: b"} },
		"interval 0 is out of range; it is at least 10ms and at most 24h":        func(c *Check) { c.Interval = -time.Second },
		`option on-unhealthy: "burn" is not known; write drain, abort or report`: func(c *Check) { c.OnUnhealthy = "burn" },
		"an http check is written http://HOST[:PORT]/PATH":                       func(c *Check) { c.Kind = HTTP },
	} {
		c := defaults(TCP, "h:1")
		change(&c)
		got := ""
		if err := c.Validate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
