package unitgen

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/svckit/svckit/unitgen/unit"
	"github.com/svckit/svckit/watchdog"
)

// secretWords are parts of the names of headers and of query parameters that
// carry secrets.
var secretWords = []string{"auth", "cookie", "key", "passw", "secret", "session", "token"}

func isSecretName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

// hideSecrets takes headers with secrets, and name and password of a URL, out
// of a check: the unit, which everybody can read, would tell them. They become
// a file that root alone reads, and the check is asked with that. No error
// repeats them.
func (r *reader) hideSecrets(v value, c *watchdog.Check) bool {
	if c.Kind != watchdog.HTTP {
		return true
	}
	if parameter, is := secretParameter(*c); is {
		r.errorf(v.Node, "%s: the URL's parameter %s carries a secret, and units are readable for all; have the service take it from a header", v.path, quoted(parameter))
		return false
	}
	secrets := cutHeaders(c)
	if header, is := cutUserInfo(c); is {
		secrets = append(secrets, header)
	}
	text := strings.Join(secrets, "\n")
	switch {
	case text == "":
		return true
	case c.HTTP.HeaderFile != "":
		r.errorf(v.Node, "%s: a secret beside a header_file: write it into that file, as a line Name: value", v.path)
	case strings.ContainsRune(text, unit.Instance):
		r.errorf(v.Node, "%s: a secret with the instance in it, but all instances share its file; write a file for each, and header_file: /PATH/%%i", v.path)
	default:
		name := ownCredentials + secretPlace.Replace(v.path)
		c.HTTP.HeaderFile = credentialSpecifier + name
		r.secrets = append(r.secrets, Secret{Credential: name, Text: []byte(text + "\n"), at: r.position(v.Node)})
		return true
	}
	return false
}

// secretPlace makes live-0 of live.checks[0].
var secretPlace = strings.NewReplacer(".checks[", "-", "]", "")

// secretParameter finds a parameter of the URL whose name says that it is a
// secret.
func secretParameter(c watchdog.Check) (name string, is bool) {
	_, query, _ := strings.Cut(c.Target, "?")
	for parameter := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(parameter, "="); isSecretName(name) {
			return name, true
		}
	}
	return "", false
}

// cutHeaders takes the headers with secrets out of a check.
func cutHeaders(c *watchdog.Check) []string {
	var secrets, others []string
	for _, header := range c.HTTP.Headers {
		if name, _, _ := strings.Cut(header, ":"); isSecretName(name) {
			secrets = append(secrets, header)
		} else {
			others = append(others, header)
		}
	}
	c.HTTP.Headers = others
	return secrets
}

// cutUserInfo takes name and password out of a check's URL, and makes the
// header of them that svcrun would have sent.
func cutUserInfo(c *watchdog.Check) (header string, is bool) {
	url, err := sampled(*c).URL()
	if err != nil || url.UserInfo == "" {
		return "", false
	}
	scheme, rest, _ := strings.Cut(c.Target, "://")
	end := strings.IndexByte(rest, '/')
	at := strings.LastIndexByte(rest[:end], '@')
	c.Target = scheme + "://" + rest[at+1:]
	if strings.ContainsRune(rest[:at], unit.Instance) {
		return string(unit.Instance), true // refused: what it stands for is not known yet
	}
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(url.UserInfo)), true
}
