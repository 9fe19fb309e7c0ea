package watchdog

import (
	"fmt"
	"strconv"
	"strings"
)

// URL is where an HTTP check asks, taken apart.
type URL struct {
	TLS      bool   // https
	Network  string // tcp or unix
	Address  string // HOST:PORT, with an IPv6 address in brackets, or a socket's path
	Host     string // what the Host header says unless the check has a host option
	Target   string // the request's target: path and query
	UserInfo string // NAME:PASSWORD of basic authentication; a secret
	text     string // the URL in its canonical form
}

// TLS says whether the check asks by https.
func (c Check) TLS() bool { return c.Kind == HTTP && strings.HasPrefix(c.Target, https+":") }

// URL takes the target of an HTTP check apart.
func (c Check) URL() (URL, error) { return parseURL(c.Target) }

// parseURL reads http://HOST[:PORT]/PATH, the same with https, and
// http+unix:SOCKET:/PATH or nginx's http://unix:SOCKET:/PATH.
func parseURL(s string) (URL, error) {
	if rest, ok := strings.CutPrefix(s, "http://unix:"); ok {
		return parseUnixURL(rest)
	}
	if rest, ok := strings.CutPrefix(s, httpUnix+":"); ok {
		return parseUnixURL(rest)
	}
	scheme, port := "http", "80"
	if strings.HasPrefix(s, https+":") {
		scheme, port = https, "443"
	}
	rest, ok := strings.CutPrefix(s, scheme+"://")
	if !ok {
		return URL{}, errURLForm(scheme)
	}
	authority, target := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, target = rest[:i], rest[i:]
	}
	url, err := parseAuthority(authority, port)
	if err != nil {
		return URL{}, fmt.Errorf("%w; %w", err, errURLForm(scheme))
	}
	if url.Target, err = requestTarget(target); err != nil {
		return URL{}, err
	}
	url.TLS = scheme == https
	url.text = scheme + "://" + authority + url.Target
	return url, nil
}

// errURLForm says how a URL is written.
func errURLForm(scheme string) error {
	return fmt.Errorf("an %s check is written %s://HOST[:PORT]/PATH", scheme, scheme)
}

// parseUnixURL reads SOCKET[:/PATH], as nginx does: the first colon ends the
// socket's name.
func parseUnixURL(s string) (URL, error) {
	if strings.HasPrefix(s, "//") {
		return URL{}, fmt.Errorf("http over a socket is written http+unix:/run/app.sock:/PATH")
	}
	socket, target, _ := strings.Cut(s, ":")
	if err := validSocket(socket); err != nil {
		return URL{}, err
	}
	if target != "" && target[0] != '/' {
		return URL{}, fmt.Errorf("the path after the socket begins with /; write http+unix:/run/app.sock:/PATH")
	}
	target, err := requestTarget(target)
	if err != nil {
		return URL{}, err
	}
	return URL{
		Network: "unix", Address: socket, Host: "localhost", Target: target,
		text: httpUnix + ":" + socket + ":" + target,
	}, nil
}

// requestTarget checks what follows the host, and begins it with a slash.
func requestTarget(s string) (string, error) {
	if i := strings.IndexByte(s, '#'); i >= 0 {
		return "", fmt.Errorf("a #fragment never reaches a server; drop it from the URL")
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return "", fmt.Errorf("the URL has a blank, a control or a non-ASCII character; percent-encode it")
	}
	if !strings.HasPrefix(s, "/") {
		s = "/" + s
	}
	return s, nil
}

// parseAuthority reads [NAME:PASSWORD@]HOST[:PORT].
func parseAuthority(s, defaultPort string) (URL, error) {
	url := URL{Network: "tcp"}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		user, password, _ := strings.Cut(s[:i], ":")
		name, err := percentDecode(user)
		secret, err2 := percentDecode(password)
		if err != nil || err2 != nil || name == "" || strings.Contains(name, ":") {
			return URL{}, fmt.Errorf("the URL's name and password are not percent-encoded rightly")
		}
		url.UserInfo, s = name+":"+secret, s[i+1:]
	}
	host, port, err := splitHostPort(s)
	if err != nil {
		return URL{}, err
	}
	host = strings.Replace(host, "%25", "%", 1) // the zone of RFC 6874
	if err := validHost(host); err != nil {
		return URL{}, err
	}
	url.Host, _, _ = strings.Cut(host, "%") // a zone means something here only
	if strings.Contains(host, ":") {
		host, url.Host = "["+host+"]", "["+url.Host+"]"
	}
	if port == "" {
		port = defaultPort
	} else {
		url.Host += ":" + port
	}
	url.Address = host + ":" + port
	return url, nil
}

// percentDecode undoes %XX.
func percentDecode(s string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out.WriteByte(s[i])
			continue
		}
		if i+3 > len(s) {
			return "", fmt.Errorf("a lone %%")
		}
		value, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("a lone %%")
		}
		out.WriteByte(byte(value))
		i += 2
	}
	return out.String(), nil
}
