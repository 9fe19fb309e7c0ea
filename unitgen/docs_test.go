package unitgen

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEveryKeyIsInTheDocs holds docs/policy.md to the schema, both ways: each
// key stands in its table, and what stands there in code is a key.
func TestEveryKeyIsInTheDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n| key |")
	keys := schema()
	for prefix, names := range keys {
		for _, name := range names {
			if _, inner := keys[prefix+name+"."]; inner {
				continue
			}
			if !regexp.MustCompile("[`{ ,]" + regexp.QuoteMeta(name) + "[`:},]|" + regexp.QuoteMeta(prefix+name)).MatchString(table) {
				t.Errorf("docs/policy.md does not tell of %s", prefix+name)
			}
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(table, -1) {
		for _, key := range regexp.MustCompile("`([a-z_.]+)`").FindAllStringSubmatch(row[1], -1) {
			prefix, name := "", key[1]
			if i := strings.LastIndexByte(name, '.'); i >= 0 {
				prefix, name = name[:i+1], name[i+1:]
			}
			if !slices.Contains(keys[prefix], name) {
				t.Errorf("docs/policy.md tells of %s, which is no key", key[1])
			}
		}
	}
}
