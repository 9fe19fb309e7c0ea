package main

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/unitgen"
)

// This file holds all text that a user sees of svcgen. Units and documents go
// to stdout and nothing else does. What is said about them goes to stderr, one
// line each, in lower case and without a full stop: errors as "svcgen: …", or
// as file:line:column where a policy is wrong; warnings and notes (of what is
// no loss) with that word; and what to type next as "next: …".

const (
	appAbout = `Turns policies into systemd units: readiness, watchdog, restarts and a bounded
stop, with every derived number explained beside it.`
	appExits = `0 done, 1 a file could not be read or written, 64 usage,
65 something is wrong with the policy; run ends as its services did`

	generateUsage       = "writes the units of a policy"
	generateUsageText   = "svcgen generate FILE [-o DIR] [--target TARGET]"
	generateDescription = `FILE is a policy, see svckit-policy(5); - is the standard input. Without -o each unit
is printed under a line that says where it goes. With -o the units are written
into DIR, each at once and whole; one that was edited by hand is left alone.

Exit status: 0 done, 1 a file could not be read or written, 64 usage,
65 something is wrong with the policy; nothing is written then.`

	outputFlagUsage   = "write the units into `DIR`, which is created"
	targetFlagUsage   = "generate for `TARGET`, one of svcgen targets, or host (the policy's, else host)"
	defaultsFlagUsage = "take what a service does not say from `FILE` (/etc/svckit/defaults.yaml, if it is there)"
	svcrunFlagUsage   = "where the target has svcrun: an absolute `PATH`"
	forceFlagUsage    = "overwrite units that were edited by hand, or that svcgen did not write"
	formatFlagUsage   = "print as `FORMAT`: text or json"
	jsonFlagUsage     = "the same as --format=json"

	stdinText              = "standard input"
	cannotReadText         = "cannot read the policy: %w"
	cannotReadDefaultsText = "cannot read the defaults: %w"
	secretText             = "%s holds secrets and is not printed; with -o it is written, readable for root alone"

	oneFileText = "generate wants one policy, not %d; write svcgen generate FILE, or - for the standard input"

	nameTargetText = "name the target, such as --target=debian13; svcgen targets lists them"

	targetsUsage       = "lists the targets, and what each lacks"
	targetsUsageText   = "svcgen targets"
	targetsDescription = `Lists the targets that units can be generated for, each with what its systemd
lacks and what svcgen does instead. A target is a distribution, whose systemd may
have parts of newer versions, or v and the number of any version from v239 on.

Exit status: 0 done, 64 usage`

	noArgumentText = "targets takes no argument, and %q is one; see --help"
	targetText     = "%-12s systemd %d\n"
	targetNoteText = "             (%s)\n"
	targetLackText = "             no %s (%s of %d): %s\n"
	targetHostText = "%-12s this machine: %s\n"

	generatorUsage       = "makes units of the policies in /etc/svckit/units, for systemd"
	generatorUsageText   = "svcgen generator NORMAL EARLY LATE"
	generatorDescription = `Does by hand what systemd has done when it starts svcgen as a generator, see
systemd.generator(7): makes units of all policies in /etc/svckit/units, for the
systemd that runs here, and writes them into the directory NORMAL, with the links
that enable them. What is wrong with a policy is one line; the others are units
all the same. An instance of a template is enabled by a link beside it that is
called worker@NAME.yaml and leads to worker@.yaml.

Exit status: 0 whatever the policies are like, 64 usage`

	unitsFlagUsage = "take the policies from `DIR`, whose names end in .yaml"
	userFlagUsage  = "make the units of a user's manager: policies with scope: user"

	// What a generator says: the start of each line says what it is about.
	generatorByNameText = "usage: %s NORMAL EARLY LATE\nThis is svcgen as a generator of systemd's, see svcgen generator --help.\n"

	threeDirectoriesText = "generator wants three directories, not %d; write svcgen generator NORMAL EARLY LATE, see systemd.generator(7)"
	gaveUpText           = "gave up after %v, at %s; what comes after it has no units"
	cannotListText       = "cannot read the directory with the policies: %v"
	otherNameText        = "%s is not read; call it %s.yaml"
	tooManyPoliciesText  = "%s and those after it are not read; there are more than %d policies"
	notPlainText         = "%s is no plain file"
	skippedText          = "a policy is skipped: %v"
	moreErrorsText       = "%v (and %d more; svcgen generate %s tells them)"
	noDefaultsText       = "%v (no policy has units before this is mended)"
	brokenText           = "%s is skipped, as svcgen has an error: %v"
	oldestTargetText     = "cannot tell which systemd runs: %v; the units are for the oldest, %s"
	otherTargetText      = "%s: target: %s is not this machine; the units are for %s"
	otherScopeText       = "%s: a user's manager runs services with scope: user only; say so, or move the policy to %s"
	noSvcrunText         = "the services cannot start without svcrun: %v"
	takenText            = "%s: %s is made of %s already; give one of the two another name"
	inlineSecretText     = "%s: a secret in a check needs svcgen generate, which keeps it in a file; here, write it into one and name that with header_file:"
	notWrittenText       = "%s: cannot write %s: %v"
	othersUnitText       = "%s is there, and was not written by svcgen"
	shadowedText         = "%s: %s has no effect, as %s comes before it; remove one of the two"
	notLinkedText        = "%s: %s=: %v"
	noUnitNameText       = "no link is made for %s, which is no name of a unit"
	moreLinesText        = "there is more to say; svcgen generator /tmp/a /tmp/b /tmp/c says all of it"

	isDirectoryText = "%s is a directory; remove it"
	noFileText      = "%s is no plain file but, most likely, a link to another unit or a mask; " +
		"remove it (systemctl disable or unmask), or overwrite it with --force"
	foreignText = "%s was not written by svcgen; move it away, or overwrite it with --force"
	editedText  = "%s was edited since svcgen wrote it; move the change to a drop-in (systemctl edit %s), then overwrite it with --force"
)

// tellError prints an error; what is wrong with a policy has its place before
// it, where an editor finds it.
func (p program) tellError(err error) {
	if isPolicyError(err) {
		fmt.Fprintln(p.stderr, err)
		return
	}
	fmt.Fprintln(p.stderr, "svcgen:", err)
}

func (p program) tellWarnings(warnings []unitgen.Warning) {
	for _, w := range warnings {
		place, word := "svcgen", "warning"
		if w.Line > 0 {
			place = w.Position.String()
		}
		if w.Replaced {
			word = "note"
		}
		fmt.Fprintf(p.stderr, "%s: %s: %s\n", place, word, w.Message)
	}
}

// printText prints the units, or says where they are, and what to do next.
func (p program) printText(r report) error {
	for i, file := range r.files {
		switch state := r.state(i); {
		case state == printed && file.Secret:
			fmt.Fprintf(p.stderr, "svcgen: "+secretText+"\n", r.path(i))
		case state == printed:
			if _, err := fmt.Fprintf(p.stdout, "%s\n%s", unitgen.PathComment(r.path(i)), file.Text); err != nil {
				return err
			}
		default:
			fmt.Fprintf(p.stderr, "svcgen: %s: %s\n", r.path(i), state)
		}
	}
	for _, command := range r.next() {
		fmt.Fprintf(p.stderr, "next: %s\n", command)
	}
	return nil
}

// next is what an administrator types to bring the units into effect.
func (r report) next() []string {
	var commands []string
	switch {
	case r.dir == "":
		first := r.services[0]
		commands = append(commands, fmt.Sprintf("svcgen generate %s --target=%s -o %s", shellWord(r.source), first.target.Name, r.files[0].Dir))
	case !slices.Contains(r.states, written):
		return nil
	default:
		commands = r.copies()
	}
	for _, scope := range []unitgen.Scope{unitgen.ScopeSystem, unitgen.ScopeUser} {
		starts := r.starts(scope)
		if len(starts) > 0 {
			commands = append(append(commands, systemctl(scope)+" daemon-reload"), starts...)
		}
	}
	return commands
}

// copies are the commands that bring files to where they belong.
func (r report) copies() []string {
	var commands []string
	for i, file := range r.files {
		switch {
		case isUnitDir(r.dir): // each is where it belongs
		case file.Secret:
			commands = append(commands, fmt.Sprintf("install -D -m 600 %s %s/%s", shellWord(r.path(i)), file.Dir, shellWord(file.Name)))
		default:
			commands = append(commands, fmt.Sprintf("cp %s %s/", shellWord(r.path(i)), file.Dir))
		}
	}
	return commands
}

// starts are the commands that start the services of a manager. They restart
// what runs already: enable --now would leave it as it was before.
func (r report) starts(scope unitgen.Scope) []string {
	var commands []string
	for _, s := range r.services {
		if s.policy.Scope != scope {
			continue
		}
		unit, enabled := startedUnit(s.policy)
		if enabled {
			commands = append(commands, systemctl(scope)+" enable "+unit)
		}
		commands = append(commands, systemctl(scope)+" restart "+unit)
	}
	return commands
}

// startedUnit is the unit that starts a service, and whether it can be enabled.
func startedUnit(p unitgen.Policy) (name string, enabled bool) {
	name = p.Unit()
	if len(p.WantedBy) == 0 && len(p.Sockets) > 0 {
		name = p.SocketUnits()[0]
	}
	return strings.Replace(name, "@", "@INSTANCE", 1), len(p.WantedBy) > 0 || len(p.Sockets) > 0
}

func systemctl(scope unitgen.Scope) string {
	if scope == unitgen.ScopeUser {
		return "systemctl --user"
	}
	return "systemctl"
}

// shellWord quotes a file's name for a shell, where it needs quotes.
func shellWord(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+@:,=", r)
	})
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// isUnitDir says whether systemd looks for units in a directory: a system's or
// a user's (systemd.unit(5)).
func isUnitDir(dir string) bool {
	dir = path.Clean(dir)
	for _, end := range []string{"/systemd/system", "/systemd/user"} {
		for _, start := range []string{"/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"} {
			if dir == start+end {
				return true
			}
		}
	}
	return strings.HasSuffix(dir, "/.config/systemd/user")
}

// printTargets prints a block for each target, and which of them the machine is.
func (p program) printTargets(list []unitgen.Target, host unitgen.Target, noHost error) error {
	var text strings.Builder
	for _, t := range list {
		fmt.Fprintf(&text, targetText, t.Name, t.Systemd)
		if t.Note != "" {
			fmt.Fprintf(&text, targetNoteText, t.Note)
		}
		for _, c := range t.Lacks() {
			fmt.Fprintf(&text, targetLackText, c.Name, strings.Join(c.Needs, ", "), c.Since(), c.Instead)
		}
	}
	machine := host.String()
	if noHost != nil {
		machine = noHost.Error()
	}
	fmt.Fprintf(&text, targetHostText, unitgen.TargetHost, machine)
	_, err := io.WriteString(p.stdout, text.String())
	return err
}

// What svcgen run says beside the time line, which package timeline words.
const (
	runUsage       = "runs a policy here, where there is no systemd"
	runUsageText   = "svcgen run FILE [--svcrun PATH] [--env NAME=VALUE]..."
	runDescription = `Does in the foreground what systemd would do with the units that svcgen generate
writes: the same starts, time limits, restarts and stops, on a laptop, in a
container or in CI. No root is needed, and no unit is written. Services find the
environment that systemd gives them, not the caller's; --env adds to it. As root,
their directories are where systemd has them; otherwise they are those of a user's
manager (XDG_RUNTIME_DIR and so on).

Ctrl-C or SIGTERM stops all services as their policies say; the second one goes
on to the next step of each stop, and the third kills. SIGHUP reloads. A lone
service is passed SIGUSR1 and SIGUSR2. It may be process 1 of a container.

Exit status: of one service what it ended with last, 128 and the number for a
signal, 0 after a stop that went well; of several 0, or 1 if one did not end
well. 1 also where nothing could be run, 64 usage, 65 something is wrong with
the policy, or it asks for what only root can give.`

	runTargetFlagUsage = "behave as the systemd of `TARGET`, one of svcgen targets (the policy's, else the newest)"
	runSvcrunFlagUsage = "`PATH` of svcrun (beside svcgen, else in PATH, else " + unitgen.DefaultSvcrun + ")"
	instanceFlagUsage  = "run the instance `NAME` of a template; may be given several times"
	envFlagUsage       = "give services `NAME=VALUE`, over all else, or NAME for the value that it has here"
	asMeFlagUsage      = "run services as the caller, whatever user and group they name"
	utcFlagUsage       = "the time of day in UTC, in the place of the time since the start"

	oneRunFileText   = "run wants one policy, not %d; write svcgen run FILE, or - for the standard input"
	noHostTargetText = "--target: run asks no systemd; name one, such as v262, or leave it out for the newest"
	twoTargetsText   = "the services name the targets %s and %s, and one manager runs them all; name one with --target"
	noTemplateText   = "--instance: there is no template in %s"
	templateText     = "%s is a template; name an instance: svcgen run %s --instance NAME"
	noProcText       = "cannot tell where svcgen is: %w; services are started with the help of /proc, which has to be mounted"
	noSvcrunHereText = "there is no svcrun beside svcgen, in PATH or at " + unitgen.DefaultSvcrun + "; name it with --svcrun PATH"
	needsRootText    = "%w; run svcgen as root, or have it run as yourself with --as-me"
	noUserText       = "%w; create it, or have the service run as yourself with --as-me"
	ignoredText      = "svcgen: warning: only systemd can do what these ask for, and they are left out: %s\n"
	asMeText         = "svcgen: warning: --as-me: %s runs as you, not as %s\n"
)

// tellIgnored names, in one line, what the services go without.
func (p program) tellIgnored(services []plan.Service) {
	var names []string
	for _, s := range services {
		for _, name := range s.Ignored {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(p.stderr, ignoredText, strings.Join(names, ", "))
	}
}

// tellAsMe names the services that would run as somebody else.
func (p program) tellAsMe(services []plan.Service) {
	for _, s := range services {
		if who := s.Surroundings.User + ":" + s.Surroundings.Group; who != ":" {
			fmt.Fprintf(p.stderr, asMeText, s.Name, strings.Trim(who, ":"))
		}
	}
}
