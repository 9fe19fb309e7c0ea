package unitgen

import (
	"fmt"
	"strings"

	"github.com/svckit/svckit/unitgen/unit"
	"github.com/svckit/svckit/watchdog"
)

// instance is a sample for the instance of a template, one character long: it
// may be a part of a port.
type instance byte

// samples are two of them. What a check of one says otherwise than that of the
// other is where the instance stands.
var samples = [2]instance{'1', '2'}

// text is a text as that instance would have it.
func (i instance) text(s string) string {
	return strings.ReplaceAll(s, string(unit.Instance), string(rune(i)))
}

// ofInstances parses a check that may name the instance, which the parser of
// checks knows nothing of: as two instances would have it.
func ofInstances(parse func(instance) (watchdog.Check, error)) (watchdog.Check, error) {
	check, err := parse(samples[0])
	if err != nil {
		return watchdog.Check{}, err
	}
	other, err := parse(samples[1])
	if err != nil {
		return watchdog.Check{}, err
	}
	texts, others := checkTexts(&check), checkTexts(&other)
	for i := range texts {
		*texts[i] = common(*texts[i], *others[i])
		*others[i] = *texts[i]
	}
	if check.String() != other.String() {
		return watchdog.Check{}, fmt.Errorf("%%i is the instance in what a check asks, and cannot be a number or a word of an option")
	}
	check.HTTP.HeaderFile = strings.Replace(check.HTTP.HeaderFile, credentialPath, credentialSpecifier, 1)
	return check, nil
}

// checkTexts are the texts of a check in which the instance may stand.
func checkTexts(c *watchdog.Check) []*string {
	texts := []*string{&c.Target, &c.HTTP.Host, &c.HTTP.Body, &c.HTTP.HeaderFile}
	for i := range c.HTTP.Headers {
		texts = append(texts, &c.HTTP.Headers[i])
	}
	return texts
}

// common is what two texts of one length share, with the instance where they
// differ.
func common(a, b string) string {
	if len(a) != len(b) {
		return a
	}
	var out strings.Builder
	for i := range len(a) {
		if a[i] == b[i] {
			out.WriteByte(a[i])
		} else {
			out.WriteRune(unit.Instance)
		}
	}
	return out.String()
}

// sampled is a check as one instance would have it.
func sampled(c watchdog.Check) watchdog.Check {
	c.HTTP.Headers = append([]string(nil), c.HTTP.Headers...)
	for _, text := range checkTexts(&c) {
		*text = samples[0].text(*text)
	}
	return c
}

// A credential in a check: the manager's specifier, and the absolute path that
// stands for it while a check is parsed.
const (
	credentialSpecifier = string(unit.Credentials) + "/"
	credentialPath      = "/" + credentialSpecifier
)
