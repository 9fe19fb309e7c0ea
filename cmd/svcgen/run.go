package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/internal/manager"
	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/verbs"
	"github.com/svckit/svckit/unitgen"
	"github.com/svckit/svckit/unitgen/unit"
)

// runCommand is the verb that runs a policy where there is no systemd.
func (p program) runCommand() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: runUsage, UsageText: runUsageText, Description: runDescription,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "target", Usage: runTargetFlagUsage},
			&cli.StringFlag{Name: "defaults", Usage: defaultsFlagUsage},
			&cli.StringFlag{Name: "svcrun", Usage: runSvcrunFlagUsage},
			&cli.StringSliceFlag{Name: "instance", Usage: instanceFlagUsage},
			&cli.StringSliceFlag{Name: "env", Usage: envFlagUsage},
			&cli.BoolFlag{Name: "as-me", Usage: asMeFlagUsage, DisableDefaultText: true},
			&cli.BoolFlag{Name: "utc", Usage: utcFlagUsage, DisableDefaultText: true},
			&cli.StringFlag{Name: "format", Value: "text", Usage: formatFlagUsage},
			&cli.BoolFlag{Name: "json", Usage: jsonFlagUsage, DisableDefaultText: true},
		},
		Action: p.runServices,
	}
}

// errTold is the error of services that did not end well: the time line has
// said all there is to say.
var errTold = errors.New("the services did not end well")

// runServices makes the units of the policy, and runs them instead of writing
// them.
func (p program) runServices(c *cli.Context) error {
	if err := checkRunFlags(c); err != nil {
		return err
	}
	env, err := givenEnv(c.StringSlice("env"))
	if err != nil {
		return err
	}
	made, err := p.generateForRun(c)
	if err != nil {
		return err
	}
	host := p.host.places()
	defer host.Close()
	services, err := plan.Read(made.files, made.target, host.System(), c.StringSlice("instance")...)
	if err != nil {
		return dataError(err)
	}
	p.tellWarnings(made.warnings)
	p.tellIgnored(services)
	if c.Bool("as-me") {
		p.tellAsMe(services)
	}
	code, err := manager.Run(manager.Options{
		Services: services, Host: host, Env: env, Secrets: secretsOf(made.files), AsMe: c.Bool("as-me"), Out: p.stdout,
		Style: timeline.Style{JSON: wantsJSON(c), UTC: c.Bool("utc"), Colours: verbs.HasColours(p.stdout, os.Getenv)},
	})
	return runError(code, err)
}

// runError is what run exits with.
func runError(code int, err error) error {
	var refused *manager.RefusedError
	switch {
	case errors.As(err, &refused) && refused.Reason == nil:
		return dataError(fmt.Errorf(needsRootText, err))
	case errors.As(err, &refused):
		return dataError(fmt.Errorf(noUserText, err))
	case err != nil:
		return err
	case code != 0:
		return &verbs.Error{Code: code, Err: errTold}
	}
	return nil
}

// runnable is what is to be run: the units that would be written for a target.
type runnable struct {
	target   unitgen.Target
	files    []unitgen.File
	warnings []unitgen.Warning
}

// generateForRun makes the units for the systemd that is played.
func (p program) generateForRun(c *cli.Context) (runnable, error) {
	svcrun, err := findSvcrun(c.String("svcrun"))
	if err != nil {
		return runnable{}, err
	}
	policies, source, err := p.readServices(c)
	if err != nil {
		return runnable{}, err
	}
	if err := checkInstances(c.StringSlice("instance"), c.Args().First(), policies); err != nil {
		return runnable{}, err
	}
	var made runnable
	if made.target, err = runTarget(c.String("target"), policies); err != nil {
		return runnable{}, err
	}
	played := func(unitgen.Policy) (unitgen.Target, error) { return made.target, nil }
	services, err := generateEach(policies, played, unitgen.Options{Source: source, Svcrun: svcrun})
	for _, s := range services {
		made.files, made.warnings = append(made.files, s.result.Files...), append(made.warnings, s.result.Warnings...)
	}
	return made, err
}

// runTarget is the systemd that is played: the flag's, else the one that the
// policies name, else the newest, in which the manager does most of the work.
// That of this machine is not asked, as there need be none.
func runTarget(flag string, policies []unitgen.Policy) (unitgen.Target, error) {
	name := flag
	for _, policy := range policies {
		switch wanted := policy.Target; {
		case flag != "" || wanted == "" || wanted == unitgen.TargetHost || wanted == name:
		case name == "":
			name = wanted
		default:
			return unitgen.Target{}, verbs.Usagef(twoTargetsText, name, wanted)
		}
	}
	if name == "" {
		return slices.MaxFunc(unitgen.Targets(), func(a, b unitgen.Target) int { return a.Systemd - b.Systemd }), nil
	}
	target, err := unitgen.LookupTarget(name)
	return target, dataError(err)
}

// checkRunFlags refuses a command line that makes no sense.
func checkRunFlags(c *cli.Context) error {
	switch {
	case c.NArg() != 1:
		return verbs.Usagef(oneRunFileText, c.NArg())
	case c.IsSet("defaults") && c.String("defaults") == "":
		return verbs.Usagef("--defaults: the name of the file is empty; write /dev/null for no defaults")
	case c.String("format") != "text" && c.String("format") != "json":
		return verbs.Usagef("--format: %q is not known; write text or json", c.String("format"))
	case c.String("target") == unitgen.TargetHost:
		return verbs.Usagef(noHostTargetText)
	case c.IsSet("target"):
		if err := unitgen.CheckTarget(c.String("target")); err != nil {
			return verbs.Usagef("--target: %w", err)
		}
	}
	return nil
}

// checkInstances sees to it that a template is given instances, unless another
// service names one of its, and nothing else is.
func checkInstances(instances []string, source string, policies []unitgen.Policy) error {
	lacking := slices.IndexFunc(policies, func(p unitgen.Policy) bool { return p.IsTemplate() && !isNamed(p, policies) })
	switch {
	case len(instances) > 0 && !slices.ContainsFunc(policies, unitgen.Policy.IsTemplate):
		return verbs.Usagef(noTemplateText, source)
	case len(instances) == 0 && lacking >= 0:
		return verbs.Usagef(templateText, policies[lacking].Name, shellWord(source))
	}
	return nil
}

// isNamed says whether a service starts an instance of a template by itself.
func isNamed(template unitgen.Policy, policies []unitgen.Policy) bool {
	return slices.ContainsFunc(policies, func(p unitgen.Policy) bool {
		started := slices.Concat(p.OnGiveUp, p.OnEachFailure, p.Requires, p.Wants)
		return p.Name != template.Name && slices.ContainsFunc(started, func(unit string) bool {
			return strings.HasPrefix(unit, template.Name)
		})
	})
}

// givenEnv reads --env: NAME=VALUE, or NAME for the caller's own value, if there
// is one.
func givenEnv(flags []string) ([]string, error) {
	var env []string
	for _, flag := range flags {
		name, _, hasValue := strings.Cut(flag, "=")
		if name == "" || strings.ContainsAny(name, " \t") {
			return nil, verbs.Usagef("--env: %q has no name; write NAME=VALUE, or NAME for the value that it has here", flag)
		}
		if hasValue {
			env = append(env, flag)
		} else if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env, nil
}

// findSvcrun finds the program that every service is started by: beside this
// one, if it is not named, as both are installed together.
func findSvcrun(flag string) (string, error) {
	if flag != "" {
		path, err := filepath.Abs(flag)
		if err == nil {
			_, err = unit.ExecPath(path)
		}
		if err == nil {
			err = executable(path)
		}
		if err != nil {
			return "", verbs.Usagef("--svcrun: %s: %w", flag, err)
		}
		return path, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf(noProcText, err)
	}
	candidates := []string{filepath.Join(filepath.Dir(self), "svcrun")}
	if path, err := exec.LookPath("svcrun"); err == nil {
		candidates = append(candidates, path)
	}
	for _, path := range append(candidates, unitgen.DefaultSvcrun) {
		if executable(path) == nil {
			return filepath.Abs(path)
		}
	}
	return "", errors.New(noSvcrunHereText)
}

// executable says what keeps a file from being a program.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return errors.Unwrap(err) // its path is known
	case !info.Mode().IsRegular():
		return errors.New("it is no file")
	case info.Mode()&0o111 == 0:
		return errors.New("it is not executable")
	}
	return nil
}

// secretsOf are the files that no unit has the text of, by their paths.
func secretsOf(files []unitgen.File) map[string][]byte {
	secrets := map[string][]byte{}
	for _, file := range files {
		if file.Secret {
			secrets[filepath.Join(file.Dir, file.Name)] = file.Text
		}
	}
	return secrets
}
