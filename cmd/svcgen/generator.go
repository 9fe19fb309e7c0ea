package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/internal/verbs"
	"github.com/svckit/svckit/unitgen"
)

// generatorName is the name that svcgen has among the generators of systemd:
// /usr/lib/systemd/system-generators/svckit is a link to it.
const generatorName = "svckit"

// generatorBound is how long all of it may take. The manager waits for its
// generators, and does nothing else meanwhile, at boot as at a reload: but what
// has no unit by then is not started either, and a disk may be slow at boot.
const generatorBound = 10 * time.Second

// generatorMemory is from where on memory is collected all the same. Fifty
// policies need less than 10 MiB.
const generatorMemory = 64 << 20

// isGenerator says whether svcgen was started by its name as a generator.
func isGenerator(args []string) bool {
	return len(args) > 0 && filepath.Base(args[0]) == generatorName
}

// generator is one run as a systemd.generator(7): it makes units of all
// policies of a manager. Whatever it meets, the manager goes on: what is wrong
// with a policy is a line in the log, and the other policies are units still.
// It asks no process for anything, as all of them may wait for this one.
type generator struct {
	scope    unitgen.Scope // of the manager
	policies []policyDir   // a policy of the first comes before one of the same name in the second
	defaults string        // the file of defaults, which need not be there
	normal   string        // where the units go
	above    []string      // directories with units that come before those
	svcrun   string
	read     func(file string) ([]byte, error)
	target   func() (unitgen.Target, error)
	log      *generatorLog

	sources map[string]string // the policy of each unit that was written
}

// newGenerator is the generator of this machine's system, or of this user.
func newGenerator(scope unitgen.Scope, normal string, h host, log *generatorLog) *generator {
	g := &generator{
		scope: scope, policies: []policyDir{{path: systemPolicies}}, defaults: h.defaults,
		normal: normal, above: []string{"/etc/systemd/system", "/run/systemd/system"},
		svcrun: unitgen.DefaultSvcrun, read: readPlain, target: h.loadedTarget, log: log, sources: map[string]string{},
	}
	if scope != unitgen.ScopeUser {
		return g
	}
	g.above = []string{"/etc/systemd/user", "/run/systemd/user"}
	g.policies[0].foreign = true
	if config, err := os.UserConfigDir(); err == nil {
		g.above = append(g.above, filepath.Join(config, "systemd/user"))
		g.policies = append([]policyDir{{path: filepath.Join(config, "svckit/units")}}, g.policies...)
	}
	return g
}

// generatorCommand is the verb that does the same for one who tries it.
func (p program) generatorCommand() *cli.Command {
	return &cli.Command{
		Name: "generator", Usage: generatorUsage, UsageText: generatorUsageText, Description: generatorDescription,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "units", Usage: unitsFlagUsage},
			&cli.StringFlag{Name: "defaults", Usage: defaultsFlagUsage},
			&cli.BoolFlag{Name: "user", Usage: userFlagUsage, DisableDefaultText: true},
		},
		Action: p.generator,
	}
}

func (p program) generator(c *cli.Context) error {
	if c.NArg() != 3 {
		return verbs.Usagef(threeDirectoriesText, c.NArg())
	}
	scope := unitgen.ScopeSystem
	if c.Bool("user") {
		scope = unitgen.ScopeUser
	}
	g := newGenerator(scope, c.Args().First(), p.host, &generatorLog{sinks: []sink{writerLog(p.stderr)}, most: math.MaxInt})
	if dir := c.String("units"); dir != "" {
		absolute, err := filepath.Abs(dir) // as SourcePath= wants it
		if err != nil {
			return err
		}
		g.policies = []policyDir{{path: absolute}}
	}
	if c.IsSet("defaults") {
		g.defaults = c.String("defaults")
	}
	g.runWithin(generatorBound)
	return nil
}

// runAsGenerator is the program as systemd starts it. Its exit code says
// nothing, and what it prints nobody sees.
func (p program) runAsGenerator(args []string) int {
	if len(args) != 4 {
		fmt.Fprintf(p.stderr, generatorByNameText, args[0])
		return verbs.ExitUsage
	}
	// What is left in memory goes with the process: to collect it takes longer
	// than to make it.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(generatorMemory)
	log := &generatorLog{sinks: []sink{kernelLog, journalLog, writerLog(p.stderr)}, most: maxLogLines}
	newGenerator(generatorScope(args[0], os.Getenv), args[1], p.host, log).runWithin(generatorBound)
	return 0
}

// generatorScope is whose manager has started a generator. Managers before 251
// do not say so in the environment.
func generatorScope(path string, getenv func(string) string) unitgen.Scope {
	scope := getenv("SYSTEMD_SCOPE")
	if scope == "user" || scope == "" && filepath.Base(filepath.Dir(path)) == "user-generators" {
		return unitgen.ScopeUser
	}
	return unitgen.ScopeSystem
}

// runWithin runs, and gives up after a time: a policy may be a link into a file
// system that does not answer. Units that are written by then are whole.
func (g *generator) runWithin(bound time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	files := make(chan string)
	go func() {
		if g.run(ctx, files) {
			close(files)
		}
	}()
	at := g.policies[0].path
	for {
		select {
		case file, more := <-files:
			if !more {
				return
			}
			at = file
		case <-ctx.Done():
			g.log.say(gaveUpText, bound, at)
			return
		}
	}
}

// run makes the units, and says of each policy when it comes to it. False is
// for a run that was not finished in time.
func (g *generator) run(ctx context.Context, at chan<- string) bool {
	files := g.list()
	if len(files) == 0 {
		return true
	}
	defaults, err := g.readDefaults()
	if err != nil {
		g.log.say(noDefaultsText, err)
		return true
	}
	target, err := g.target()
	if err != nil {
		g.log.say(oldestTargetText, err, target.Name)
	}
	for _, file := range files {
		select {
		case at <- file.path:
		case <-ctx.Done():
			return false
		}
		g.generate(file, defaults, target)
	}
	if _, err := os.Stat(g.svcrun); err != nil && len(g.sources) > 0 {
		g.log.say(noSvcrunText, err)
	}
	return true
}

// readDefaults reads the file of defaults, if there is one. Without it a policy
// would mean something else, so that one which cannot be read is an error.
func (g *generator) readDefaults() ([]unitgen.Text, error) {
	data, err := g.read(g.defaults)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []unitgen.Text{{Name: g.defaults, Data: data}}, nil
}
