package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

var aDay = time.Date(2026, time.December, 1, 4, 5, 6, 0, time.UTC)

func TestPackageVersionIsInThePackagesTerms(t *testing.T) {
	for tag, want := range map[string]string{
		"v1.2.3":                       "1.2.3",
		"v1.2.3-rc.1":                  "1.2.3~rc.1",
		"v1.2.3-4-gabcdef0":            "1.2.3+4.gabcdef0",
		"v1.2.3-rc.1-4-gabcdef0":       "1.2.3~rc.1+4.gabcdef0",
		"v1.2.3-4-gabcdef0-dirty":      "1.2.3+4.gabcdef0.dirty",
		"2c7c22d":                      "0~20261201040506.g2c7c22d",
		"2c7c22d-dirty":                "0~20261201040506.g2c7c22d.dirty",
		"v1.2.3-dirty":                 "1.2.3~dirty",
		"1.2.3":                        "",
		"v1.2":                         "",
		"devel":                        "",
		"":                             "",
		"v1.2.3;rm -rf":                "",
		"v1.2.3-4-gabcdef0\nArch: all": "",
	} {
		if got, err := packageVersion(tag, aDay); got != want || (err == nil) != (want != "") {
			t.Errorf("packageVersion(%q) = %q, %v, not %q", tag, got, err, want)
		}
	}
}

// TestVersionsAreOrderedAsTheirCommits has dpkg compare what a history of git
// gives.
func TestVersionsAreOrderedAsTheirCommits(t *testing.T) {
	dpkg, err := exec.LookPath("dpkg")
	if err != nil {
		t.Skip("SKIP: no dpkg here to compare versions")
	}
	var versions []string
	for i, tag := range []string{
		"2c7c22d", "1b7c22d", "v0.1.0-rc.1", "v0.1.0-rc.1-3-gabcdef0", "v0.1.0-rc.2", "v0.1.0", "v0.1.0-2-gffff", "v0.1.0-10-g0000", "v0.1.1", "v0.2.0", "v0.10.0",
	} {
		version, err := packageVersion(tag, aDay.Add(time.Duration(i)*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, version)
	}
	for i := range versions[1:] {
		if err := exec.Command(dpkg, "--compare-versions", versions[i]+"-1", "lt", versions[i+1]+"-1").Run(); err != nil {
			t.Errorf("dpkg does not take %s for older than %s", versions[i], versions[i+1])
		}
	}
}

func TestReleaseWantsItsChangesTold(t *testing.T) {
	const head = "# Changelog\n\nAll that a user notices.\n\n"
	for name, test := range map[string]struct{ text, want string }{
		"told":               {head + "## [Unreleased]\n\n## [1.2.3] - 2026-11-30\n\n### Added\n\n- This.\n", ""},
		"no unreleased":      {head + "## [1.2.3] - 2026-11-30\n\n- This.\n\n## [1.2.2] - 2026-01-01\n- That.\n", ""},
		"without brackets":   {head + "## Unreleased\n\n## 1.2.3 - 2026-11-30\n\n- This.\n", ""},
		"still unreleased":   {head + "## [Unreleased]\n\n### Added\n\n- This.\n", `what stands under [Unreleased] would be released unsaid; put "## [1.2.3] - 2026-12-01" between`},
		"more than told":     {head + "## [Unreleased]\n- More.\n## [1.2.3] - 2026-11-30\n- This.\n", "what stands under [Unreleased]"},
		"another is newer":   {head + "## [1.3.0] - 2026-11-30\n- That.\n## [1.2.3] - 2026-11-29\n- This.\n", "the newest version is not 1.2.3"},
		"none":               {head, "the newest version is not 1.2.3"},
		"nothing under it":   {head + "## [1.2.3] - 2026-11-30\n\n### Added\n\n## [1.2.2] - 2026-01-01\n- That.\n", "nothing stands under [1.2.3]"},
		"no date":            {head + "## [1.2.3]\n- This.\n", "[1.2.3] has no date"},
		"a date that is not": {head + "## [1.2.3] - soon\n- This.\n", "[1.2.3] has no date"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkChangelog(parseChangelog(test.text), "1.2.3", aDay)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, not %q", err, test.want)
			}
		})
	}
}

func TestPackagesChangelogBeginsWithWhatIsPacked(t *testing.T) {
	sections := parseChangelog("## [Unreleased]\n- More.\n## [1.2.3] - 2026-11-30\n- This.\n## [1.2.2] - 2026-01-01\n- That.\n")
	for number, want := range map[string][]string{
		"1.2.3":            {"1.2.3-1", "1.2.2-1"},
		"1.2.3+4.gabcdef0": {"1.2.3+4.gabcdef0-1", "1.2.3-1", "1.2.2-1"},
	} {
		text, err := packageChangelog(sections, job{number: number, when: aDay})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(string(text)) {
			if name, value, _ := strings.Cut(strings.Trim(line, " ,\n"), ": "); name == `"semver"` {
				got = append(got, strings.Trim(value, `"`))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("for %s it has %q, not %q", number, got, want)
		}
	}
}
