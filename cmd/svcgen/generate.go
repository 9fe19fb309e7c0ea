package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/internal/verbs"
	"github.com/svckit/svckit/unitgen"
	"github.com/svckit/svckit/unitgen/unit"
)

// generateCommand is the verb that turns a policy into units.
func (p program) generateCommand() *cli.Command {
	return &cli.Command{
		Name: "generate", Usage: generateUsage, UsageText: generateUsageText, Description: generateDescription,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: outputFlagUsage},
			&cli.StringFlag{Name: "target", Usage: targetFlagUsage},
			&cli.StringFlag{Name: "defaults", Usage: defaultsFlagUsage},
			&cli.StringFlag{Name: "svcrun", Value: unitgen.DefaultSvcrun, Usage: svcrunFlagUsage},
			&cli.BoolFlag{Name: "force", Usage: forceFlagUsage, DisableDefaultText: true},
			&cli.StringFlag{Name: "format", Value: "text", Usage: formatFlagUsage},
			&cli.BoolFlag{Name: "json", Usage: jsonFlagUsage, DisableDefaultText: true},
		},
		Action: p.generate,
	}
}

// generate reads the policy, makes the units, and writes or prints them.
// Nothing is written before all of it is known to be right.
func (p program) generate(c *cli.Context) error {
	if err := checkGenerateFlags(c); err != nil {
		return err
	}
	report, err := p.generateAll(c)
	if err != nil {
		return err
	}
	for _, s := range report.services {
		p.tellWarnings(s.result.Warnings)
	}
	if report.dir != "" {
		if report.states, err = writeFiles(report.paths(), report.files, c.Bool("force")); err != nil {
			return err
		}
	}
	if wantsJSON(c) {
		return p.printDocument(report)
	}
	return p.printText(report)
}

// generateAll makes the units of every service of the file.
func (p program) generateAll(c *cli.Context) (report, error) {
	report := report{source: c.Args().First(), dir: c.String("output")}
	policies, source, err := p.readServices(c)
	if err != nil {
		return report, err
	}
	target := func(policy unitgen.Policy) (unitgen.Target, error) {
		return p.target(c.String("target"), policy.Target)
	}
	services, err := generateEach(policies, target, unitgen.Options{Source: source, Svcrun: c.String("svcrun")})
	for _, s := range services {
		report.add(s)
	}
	return report, err
}

// readServices reads the policies of the file that a verb is given, over the
// defaults. source says what their units are made from.
func (p program) readServices(c *cli.Context) (policies []unitgen.Policy, source string, err error) {
	defaults, err := p.readDefaults(c.String("defaults"))
	if err != nil {
		return nil, "", err
	}
	file := c.Args().First()
	policies, err = p.readPolicies(file, defaults)
	return policies, sourceName(file, defaults), err
}

// generateEach makes the units of every service, each for its target.
func generateEach(policies []unitgen.Policy, target func(unitgen.Policy) (unitgen.Target, error), options unitgen.Options) ([]service, error) {
	var services []service
	var results []unitgen.Result
	for _, policy := range policies {
		its, err := target(policy)
		if err != nil {
			return nil, err
		}
		result, err := unitgen.Generate(policy, its, options)
		if err != nil {
			return nil, dataError(err)
		}
		services, results = append(services, service{policy, its, result}), append(results, result)
	}
	return services, dataError(unitgen.CheckFiles(policies, results))
}

// checkGenerateFlags refuses a command line that makes no sense.
func checkGenerateFlags(c *cli.Context) error {
	switch {
	case c.NArg() != 1:
		return verbs.Usagef(oneFileText, c.NArg())
	case c.IsSet("output") && c.String("output") == "":
		return verbs.Usagef("--output: the name of the directory is empty")
	case c.String("output") == "-":
		return verbs.Usagef("--output: - is not the standard output here; without -o the units are printed, and ./- is a directory of that name")
	case c.IsSet("defaults") && c.String("defaults") == "":
		return verbs.Usagef("--defaults: the name of the file is empty; write /dev/null for no defaults")
	case c.String("format") != "text" && c.String("format") != "json":
		return verbs.Usagef("--format: %q is not known; write text or json", c.String("format"))
	case c.IsSet("target"):
		if err := unitgen.CheckTarget(c.String("target")); err != nil {
			return verbs.Usagef("--target: %w", err)
		}
	}
	if _, err := unit.ExecPath(c.String("svcrun")); err != nil {
		return verbs.Usagef("--svcrun: %w; write it from / on", err)
	}
	return nil
}

func wantsJSON(c *cli.Context) bool { return c.Bool("json") || c.String("format") == "json" }

// maxPolicy is one byte more than unitgen reads, so that it can tell.
const maxPolicy = 1<<20 + 1

// readPolicies reads a policy file; - is the standard input.
func (p program) readPolicies(source string, defaults []unitgen.Text) ([]unitgen.Policy, error) {
	name, in := source, p.stdin
	if source == "-" {
		name = "<stdin>"
	} else {
		file, err := os.Open(source)
		if err != nil {
			return nil, fmt.Errorf(cannotReadText, err)
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxPolicy))
	if err != nil {
		return nil, fmt.Errorf(cannotReadText, err)
	}
	policies, err := unitgen.Read(name, data, defaults...)
	return policies, dataError(err)
}

// readDefaults reads the file of defaults that the flag names. Without the
// flag it is the machine's own, if there is one.
func (p program) readDefaults(flag string) ([]unitgen.Text, error) {
	name := flag
	if name == "" {
		name = p.host.defaults
	}
	file, err := os.Open(name)
	switch {
	case flag == "" && errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf(cannotReadDefaultsText, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPolicy))
	if err != nil {
		return nil, fmt.Errorf(cannotReadDefaultsText, err)
	}
	return []unitgen.Text{{Name: name, Data: data}}, nil
}

// sourceName is what the unit's header says that it was made from. The
// policy's directory is left out: the same policy gives the same unit wherever
// it lies.
func sourceName(source string, defaults []unitgen.Text) string {
	name := stdinText
	if source != "-" {
		name = filepath.Base(source)
	}
	for _, text := range defaults {
		name += " with the defaults of " + text.Name
	}
	return name
}

// dataError gives what is wrong with a policy its exit code.
func dataError(err error) error {
	if err == nil {
		return nil
	}
	return &verbs.Error{Code: exitData, Err: err}
}

// target is the profile to generate for: the flag's, else the policy's, else
// the one of this machine.
func (p program) target(flag, policy string) (unitgen.Target, error) {
	name := flag
	if name == "" {
		name = policy
	}
	if name == "" || name == unitgen.TargetHost {
		host, err := p.host.target()
		if err != nil {
			return unitgen.Target{}, verbs.Usagef("%w; "+nameTargetText, err)
		}
		return host, nil
	}
	target, err := unitgen.LookupTarget(name)
	return target, dataError(err)
}

// isPolicyError says whether an error has the form file:line:column already.
func isPolicyError(err error) bool {
	var errs unitgen.Errors
	return errors.As(err, &errs)
}
