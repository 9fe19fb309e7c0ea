package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

const (
	changelogFile = "CHANGELOG.md"
	unreleased    = "Unreleased"
	dateLayout    = "2006-01-02"
)

// section is a heading of CHANGELOG.md, by keepachangelog.com: [1.2.3] - 2026-01-31.
type section struct {
	version string // "Unreleased" for what is to come
	date    string // "" for none
	empty   bool   // nothing stands under it
}

var sectionHeading = regexp.MustCompile(`^## \[?([^\]\s]+)\]?(?: - (\S+))?\s*$`)

// parseChangelog reads the headings, the newest first as they stand.
func parseChangelog(text string) []section {
	var sections []section
	for line := range strings.Lines(text) {
		if m := sectionHeading.FindStringSubmatch(line); m != nil {
			sections = append(sections, section{version: m[1], date: m[2], empty: true})
		} else if len(sections) > 0 && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			sections[len(sections)-1].empty = false
		}
	}
	return sections
}

// checkChangelog refuses to release a version whose changes are not told under a
// heading of its own, with its date, above all others.
func checkChangelog(sections []section, version string, when time.Time) error {
	wanted := fmt.Sprintf("## [%s] - %s", version, when.Format(dateLayout))
	if len(sections) > 0 && sections[0].version == unreleased {
		if !sections[0].empty {
			return fmt.Errorf("%s: what stands under [%s] would be released unsaid; put %q between that heading and it", changelogFile, unreleased, wanted)
		}
		sections = sections[1:]
	}
	switch {
	case len(sections) == 0 || sections[0].version != version:
		return fmt.Errorf("%s: the newest version is not %s; say what it brings under %q", changelogFile, version, wanted)
	case sections[0].empty:
		return fmt.Errorf("%s: nothing stands under [%s]; say what it brings", changelogFile, version)
	}
	if _, err := time.Parse(dateLayout, sections[0].date); err != nil {
		return fmt.Errorf("%s: [%s] has no date; write %q", changelogFile, version, wanted)
	}
	return nil
}

// packageChange is an entry of a package's own changelog as nfpm reads it. YAML
// holds JSON, and names without a tag are lower case there.
type packageChange struct {
	Semver   string      `json:"semver"`
	Date     time.Time   `json:"date"`
	Packager string      `json:"packager"`
	Deb      debChange   `json:"deb"`
	Changes  []debChange `json:"changes"`
}

// debChange is what only Debian has of it, or a line.
type debChange struct {
	Urgency       string   `json:"urgency,omitempty"`
	Distributions []string `json:"distributions,omitempty"`
	Note          string   `json:"note,omitempty"`
}

// packageChangelog is the changelog of the packages: each release, for whose
// changes it points to svckit's own, which is packed beside it.
func packageChangelog(sections []section, j job) ([]byte, error) {
	entry := func(number string, date time.Time, note string) packageChange {
		return packageChange{
			Semver: number + "-" + packageRelease, Date: date, Packager: maintainer,
			Deb:     debChange{Urgency: "medium", Distributions: []string{"stable"}},
			Changes: []debChange{{Note: note}},
		}
	}
	var entries []packageChange
	for _, s := range sections {
		date, err := time.Parse(dateLayout, s.date)
		if s.version == unreleased || err != nil {
			continue
		}
		entries = append(entries, entry(numberOf(s.version), date, "Release; its changes stand in the changelog beside this one."))
	}
	if len(entries) == 0 || entries[0].Semver != j.number+"-"+packageRelease {
		entries = append([]packageChange{entry(j.number, j.when, "A build of a commit; for its changes see the changelog beside this one.")}, entries...)
	}
	return json.MarshalIndent(entries, "", "  ")
}
