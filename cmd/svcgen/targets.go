package main

import (
	"encoding/json"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/internal/verbs"
	"github.com/svckit/svckit/unitgen"
)

// targetsCommand is the verb that lists what units can be generated for.
func (p program) targetsCommand() *cli.Command {
	return &cli.Command{
		Name: "targets", Usage: targetsUsage, UsageText: targetsUsageText, Description: targetsDescription,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Value: "text", Usage: formatFlagUsage},
			&cli.BoolFlag{Name: "json", Usage: jsonFlagUsage, DisableDefaultText: true},
		},
		Action: p.targets,
	}
}

func (p program) targets(c *cli.Context) error {
	switch {
	case c.NArg() != 0:
		return verbs.Usagef(noArgumentText, c.Args().First())
	case c.String("format") != "text" && c.String("format") != "json":
		return verbs.Usagef("--format: %q is not known; write text or json", c.String("format"))
	}
	list := unitgen.Targets()
	host, err := p.host.target()
	if wantsJSON(c) {
		return p.printTargetsDocument(list, host, err)
	}
	return p.printTargets(list, host, err)
}

// targetsDocument is what targets prints with --json, as svcgen(1) describes
// it. Fields are added and never renamed.
type targetsDocument struct {
	Schema  int              `json:"schema"`
	Host    string           `json:"host,omitempty"` // the target of this machine
	Targets []targetDocument `json:"targets"`
}

type targetDocument struct {
	Name    string          `json:"name"`
	Systemd int             `json:"systemd"`
	Note    string          `json:"note,omitempty"`
	Lacks   []lacksDocument `json:"lacks"`
}

type lacksDocument struct {
	Name    string   `json:"name"`
	Needs   []string `json:"needs"`
	Since   int      `json:"since"`
	Instead string   `json:"instead"`
}

func (p program) printTargetsDocument(list []unitgen.Target, host unitgen.Target, noHost error) error {
	d := targetsDocument{Schema: 1}
	if noHost == nil {
		d.Host = host.Name
	}
	for _, t := range list {
		lacks := []lacksDocument{}
		for _, c := range t.Lacks() {
			lacks = append(lacks, lacksDocument{c.Name, c.Needs, c.Since(), c.Instead})
		}
		d.Targets = append(d.Targets, targetDocument{t.Name, t.Systemd, t.Note, lacks})
	}
	encoder := json.NewEncoder(p.stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(d)
}
