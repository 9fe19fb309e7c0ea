package watchdog

import (
	"fmt"
	"strings"
)

// SplitHeader reads one "Name: value" line of a request. The headers that
// frame the request are refused: they belong to the client. The error never
// repeats the value.
func SplitHeader(line string) (name, value string, err error) {
	name, value, found := strings.Cut(line, ":")
	value = strings.Trim(value, " \t")
	switch {
	case !found:
		return "", "", fmt.Errorf("a header is written Name: value")
	case name == "" || strings.ContainsFunc(name, notToken):
		return "", "", fmt.Errorf("a header's name is letters, digits and -, directly before the colon")
	case strings.ContainsFunc(value, func(r rune) bool { return isControl(r) && r != '\t' }):
		return "", "", fmt.Errorf("the value of header %s has a control character", name)
	}
	switch strings.ToLower(name) {
	case "host":
		return "", "", fmt.Errorf("write host=NAME for the Host header")
	case "connection", "content-length", "transfer-encoding", "upgrade", "te", "expect", "keep-alive", "trailer":
		return "", "", fmt.Errorf("the header %s is set by the check itself", name)
	}
	return name, value, nil
}

// notToken says whether r may not stand in a token (RFC 9110, section 5.6.2).
func notToken(r rune) bool {
	return !isLetter(r) && !isDigit(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
func isDigit(r rune) bool  { return r >= '0' && r <= '9' }

// validMethod checks a request method; empty is GET.
func validMethod(method string) error {
	upper := strings.ToUpper(method)
	switch {
	case len(method) > 32 || strings.ContainsFunc(method, notToken):
		return fmt.Errorf("a method is a word such as GET or HEAD")
	case method != upper:
		return fmt.Errorf("methods are upper case; write %s", upper)
	case method == "CONNECT":
		return fmt.Errorf("CONNECT asks for a tunnel; use GET or HEAD")
	}
	return nil
}

// StatusSet is a set of HTTP status codes.
type StatusSet struct {
	member [600]bool
}

// Has says whether the code is in the set.
func (s *StatusSet) Has(code int) bool {
	return code >= 0 && code < len(s.member) && s.member[code]
}

// ParseStatus reads codes and classes joined by +, such as 2xx+304. Empty is
// 2xx+3xx: redirects are not followed, and a server that redirects answers.
func ParseStatus(s string) (*StatusSet, error) {
	if s == "" {
		s = "2xx+3xx"
	}
	set := &StatusSet{}
	for _, item := range strings.Split(s, "+") {
		if len(item) != 3 || item[0] < '2' || item[0] > '5' {
			return nil, fmt.Errorf("%q is no final status; write codes of 200 to 599 or classes, such as 2xx+304", item)
		}
		first := 100 * int(item[0]-'0')
		switch {
		case item[1:] == "xx":
			for code := first; code < first+100; code++ {
				set.member[code] = true
			}
		case isDigit(rune(item[1])) && isDigit(rune(item[2])):
			set.member[first+10*int(item[1]-'0')+int(item[2]-'0')] = true
		default:
			return nil, fmt.Errorf("%q is no final status; write codes of 200 to 599 or classes, such as 2xx+304", item)
		}
	}
	return set, nil
}
