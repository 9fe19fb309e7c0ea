package main

import (
	"context"
	"slices"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/internal/verbs"
)

const (
	serviceSuffix = ".service"
	maxUnitName   = 255 // UNIT_NAME_MAX: systemd.unit(5)
)

// otherTypes are the suffixes of the units that are no services.
var otherTypes = []string{
	".socket", ".device", ".mount", ".automount", ".swap", ".target", ".path", ".timer", ".slice", ".scope",
}

// serviceName makes the full name of what the user wrote: "nginx" is nginx.service.
func serviceName(word string) (string, error) {
	if strings.ContainsAny(word, "*?[") {
		return "", verbs.Usagef("%q is a pattern; name one service", word)
	}
	name, err := servicePattern(word)
	if err == nil && strings.HasSuffix(name, "@"+serviceSuffix) {
		return "", verbs.Usagef("%s is a template and never runs; name an instance, such as %sNAME%s",
			name, strings.TrimSuffix(name, serviceSuffix), serviceSuffix)
	}
	return name, err
}

// servicePattern is serviceName for a glob.
func servicePattern(word string) (string, error) {
	for _, suffix := range otherTypes {
		if strings.HasSuffix(word, suffix) {
			return "", verbs.Usagef("%s is no service, and svcstat tells of services only; write systemctl status %s", word, word)
		}
	}
	name := strings.TrimSuffix(word, serviceSuffix) + serviceSuffix
	bad := strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(`:-_.\@*?[]!^`, r)
	})
	switch {
	case name == serviceSuffix:
		return "", verbs.Usagef("the name of a service is empty; write for example nginx")
	case bad >= 0:
		return "", verbs.Usagef("%q is no name of a unit: it has %q", word, []rune(name[bad:])[0])
	case len(name) > maxUnitName:
		return "", verbs.Usagef("%.40q… is no name of a unit: it has %d bytes, at most %d are allowed", name, len(name), maxUnitName)
	}
	return name, nil
}

// noSuchUnit is the error for a unit that is nowhere, with a hint at those
// that are.
func noSuchUnit(ctx context.Context, of managed, name string) error {
	ctx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	var near []string
	if conn, err := of.dial(ctx); err == nil {
		defer conn.Close()
		if names, err := conn.Names(ctx); err == nil {
			near = nearestNames(name, names)
		}
	}
	return &verbs.Error{Code: exitNoUnit, Err: unknownUnit(name, near)}
}

// nearestNames are the services that a mistyped name may have meant, the best
// first: those that a slip away, then those that have it as a part.
func nearestNames(name string, known []string) []string {
	const most = 3
	var near []string
	word := strings.TrimSuffix(name, serviceSuffix)
	var bare []string
	for _, k := range known {
		bare = append(bare, strings.TrimSuffix(k, serviceSuffix))
	}
	if best, ok := syntax.Nearest(word, bare); ok {
		near = append(near, best+serviceSuffix)
	}
	for _, k := range bare {
		if len(near) < most && len(word) > 2 && strings.Contains(k, word) && !slices.Contains(near, k+serviceSuffix) {
			near = append(near, k+serviceSuffix)
		}
	}
	return near
}
