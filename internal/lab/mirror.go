package lab

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// debianSuites are the names under which a mirror's main archive is listed.
// Its -updates and -security archives lack the packages of a whole system.
var debianSuites = [...]string{
	"bullseye", "bookworm", "trixie", "forky", "sid",
	"oldoldstable", "oldstable", "stable", "testing", "unstable",
}

// maxSources bounds what is read of one apt source file.
const maxSources = 1 << 20

// aptMirror is the first Debian mirror that the apt sources under etcApt name,
// so that roots come from where this machine's own packages come from. It is
// empty if they name none: the machine may run another distribution.
func aptMirror(etcApt fs.FS) string {
	files := []string{"sources.list"}
	entries, _ := fs.ReadDir(etcApt, "sources.list.d")
	for _, e := range entries {
		files = append(files, path.Join("sources.list.d", e.Name()))
	}
	for _, file := range files {
		text, err := fs.ReadFile(etcApt, file)
		if err != nil || len(text) > maxSources {
			continue
		}
		mirror := ""
		switch path.Ext(file) {
		case ".list":
			mirror = mirrorOfList(string(text))
		case ".sources":
			mirror = mirrorOfDeb822(string(text))
		}
		if mirror != "" {
			return mirror
		}
	}
	return ""
}

// mirrorOfList reads apt's one-line format: deb [options] URI suite component...
func mirrorOfList(text string) string {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "deb" {
			continue
		}
		words = words[1:]
		if len(words) > 0 && strings.HasPrefix(words[0], "[") {
			end := slices.IndexFunc(words, func(w string) bool { return strings.HasSuffix(w, "]") })
			words = words[end+1:]
		}
		if len(words) >= 3 && isMainArchive(words[1:2], words[2:]) {
			return words[0]
		}
	}
	return ""
}

// mirrorOfDeb822 reads apt's stanza format, see sources.list(5).
func mirrorOfDeb822(text string) string {
	for stanza := range strings.SplitSeq(text, "\n\n") {
		fields := deb822(stanza)
		disabled := slices.Contains(fields["enabled"], "no")
		if !disabled && slices.Contains(fields["types"], "deb") && len(fields["uris"]) > 0 &&
			isMainArchive(fields["suites"], fields["components"]) {
			return fields["uris"][0]
		}
	}
	return ""
}

// deb822 splits a stanza into its fields' words, by lower-case name.
func deb822(stanza string) map[string][]string {
	fields, name := map[string][]string{}, ""
	for line := range strings.Lines(stanza) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		value := line
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
			name, value, _ = strings.Cut(line, ":")
			name = strings.ToLower(strings.TrimSpace(name))
		}
		fields[name] = append(fields[name], strings.Fields(value)...)
	}
	return fields
}

func isMainArchive(suites, components []string) bool {
	return slices.Contains(components, "main") && slices.ContainsFunc(suites, func(s string) bool {
		return slices.Contains(debianSuites[:], s)
	})
}
