package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/internal/verbs"
	"github.com/svckit/svckit/unitgen"
	"github.com/svckit/svckit/unitgen/unit"
)

// systemUnits is where an administrator's units belong (systemd.unit(5)).
const systemUnits = "/etc/systemd/system"

// generateCommand is the verb that turns a policy into units.
func (p program) generateCommand() *cli.Command {
	return &cli.Command{
		Name: "generate", Usage: generateUsage, UsageText: generateUsageText, Description: generateDescription,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: outputFlagUsage},
			&cli.StringFlag{Name: "target", Usage: targetFlagUsage},
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
	source := c.Args().First()
	policy, err := p.readPolicy(source)
	if err != nil {
		return err
	}
	target, err := p.target(c.String("target"), policy.Target)
	if err != nil {
		return err
	}
	result, err := unitgen.Generate(policy, target, unitgen.Options{Source: sourceName(source), Svcrun: c.String("svcrun")})
	if err != nil {
		return dataError(err)
	}
	p.tellWarnings(result.Warnings)
	report := report{policy: policy, target: target, result: result, source: source, dir: c.String("output")}
	if report.dir != "" {
		if report.states, err = writeUnits(report.dir, result.Files, c.Bool("force")); err != nil {
			return err
		}
	}
	if wantsJSON(c) {
		return p.printDocument(report)
	}
	return p.printText(report)
}

// checkGenerateFlags refuses a command line that makes no sense.
func checkGenerateFlags(c *cli.Context) error {
	switch {
	case c.NArg() != 1:
		return verbs.Usagef(oneFileText, c.NArg())
	case c.IsSet("output") && c.String("output") == "":
		return verbs.Usagef("--output: the name of the directory is empty")
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

// readPolicy reads a policy file; - is the standard input.
func (p program) readPolicy(source string) (unitgen.Policy, error) {
	name, in := source, p.stdin
	if source == "-" {
		name = "<stdin>"
	} else {
		file, err := os.Open(source)
		if err != nil {
			return unitgen.Policy{}, fmt.Errorf("cannot read the policy: %w", err)
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxPolicy))
	if err != nil {
		return unitgen.Policy{}, fmt.Errorf("cannot read the policy: %w", err)
	}
	policy, err := unitgen.Read(name, data)
	return policy, dataError(err)
}

// sourceName is the policy's name as the unit's header has it. The directory
// is left out: the same policy gives the same unit wherever it lies.
func sourceName(source string) string {
	if source == "-" {
		return ""
	}
	return filepath.Base(source)
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
