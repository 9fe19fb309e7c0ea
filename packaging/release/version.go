package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

var (
	// releaseTag is a version by semver.org, as a tag of git.
	releaseTag = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$`)
	// laterTag is what git describe says of a commit after a tag, and commit of
	// one before all tags.
	laterTag = regexp.MustCompile(`^(v[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.]+)??)-([0-9]+)-g([0-9a-f]+)(-dirty)?$`)
	commit   = regexp.MustCompile(`^([0-9a-f]{4,40})(-dirty)?$`)
)

// packageVersion is a version in the terms that dpkg and rpm both order as git
// does: a candidate before its release (~), a later commit after it (+), a
// commit before all releases by its date. deb-version(7), rpm-version(7)
func packageVersion(tag string, when time.Time) (string, error) {
	if releaseTag.MatchString(tag) && !laterTag.MatchString(tag) {
		return numberOf(tag), nil
	}
	if m := laterTag.FindStringSubmatch(tag); m != nil {
		return numberOf(m[1]) + "+" + m[2] + ".g" + m[3] + dirty(m[4]), nil
	}
	if m := commit.FindStringSubmatch(tag); m != nil {
		return "0~" + when.UTC().Format("20060102150405") + ".g" + m[1] + dirty(m[2]), nil
	}
	return "", fmt.Errorf("version %q is neither a release, as v1.2.3, nor what git describe --tags --always says", tag)
}

// numberOf is a tag without the v, and with a ~ before what makes it a candidate.
func numberOf(tag string) string {
	return strings.Replace(strings.TrimPrefix(tag, "v"), "-", "~", 1)
}

// dirty marks a package of a tree that is no commit.
func dirty(suffix string) string {
	if suffix == "" {
		return ""
	}
	return ".dirty"
}
