package probe

import (
	"encoding/base64"
	"strings"

	"github.com/svckit/svckit/watchdog"
)

// request is what a check sends, but for its header file.
type request struct {
	method, target string
	headers        []string // "Name: value", the user's own
	defaults       []string // the same; one of the user's of the same name replaces it
	frame          []string // the same; nothing replaces it
}

// newRequest takes the request from a validated check.
func newRequest(h watchdog.HTTPOptions, url watchdog.URL) request {
	r := request{method: h.Method, target: url.Target, headers: h.Headers}
	if r.method == "" {
		r.method = "GET"
	}
	host := h.Host
	if host == "" {
		host = url.Host
	}
	r.frame = []string{"Host: " + host, "Connection: close"}
	switch r.method {
	case "POST", "PUT", "PATCH":
		r.frame = append(r.frame, "Content-Length: 0") // else 411 from some servers
	}
	r.defaults = []string{"User-Agent: svcrun", "Accept: */*"}
	if url.UserInfo != "" {
		secret := base64.StdEncoding.EncodeToString([]byte(url.UserInfo))
		r.defaults = append(r.defaults, "Authorization: Basic "+secret)
	}
	return r
}

// text is the whole request with further headers of the user's.
func (r request) text(more []string) string {
	own := append(r.headers[:len(r.headers):len(r.headers)], more...)
	lines := append([]string{r.method + " " + r.target + " HTTP/1.1"}, r.frame...)
	for _, header := range r.defaults {
		if !hasName(own, header) {
			lines = append(lines, header)
		}
	}
	lines = append(lines, own...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// hasName says whether one of headers has the name of header.
func hasName(headers []string, header string) bool {
	name, _, _ := strings.Cut(header, ":")
	for _, other := range headers {
		if otherName, _, _ := strings.Cut(other, ":"); strings.EqualFold(name, otherName) {
			return true
		}
	}
	return false
}
