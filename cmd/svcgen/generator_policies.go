package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/svckit/svckit/unitgen"
)

// systemPolicies is where an administrator's policies are.
const systemPolicies = "/etc/svckit/units"

// The bounds of what a generator reads. They are far above what a machine has.
const (
	maxPolicies = 1000
	maxEntries  = 10 * maxPolicies // of a directory
)

// policyDir is a directory with policies.
type policyDir struct {
	path string

	// foreign: it is the system's, whose own generator says what is wrong
	// there. A user's takes from it what is for users.
	foreign bool
}

// policyFile is a file with policies.
type policyFile struct {
	path    string
	foreign bool

	// instances are those of a template that are enabled: a link beside it that
	// is called worker@NAME.yaml and leads to worker@.yaml enables one.
	instances []string
}

// list finds the policies, in the order in which they come.
func (g *generator) list() []policyFile {
	var files []policyFile
	for _, dir := range g.policies {
		names, err := listNames(dir.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			g.log.say(cannotListText, err)
		}
		names, instances := takeInstances(dir.path, names)
		for _, name := range names {
			path := filepath.Join(dir.path, name)
			switch filepath.Ext(name) {
			case ".yaml":
				files = append(files, policyFile{path, dir.foreign, instances[name]})
			case ".yml":
				g.log.say(otherNameText, path, strings.TrimSuffix(name, ".yml"))
			}
		}
	}
	if len(files) > maxPolicies {
		g.log.say(tooManyPoliciesText, files[maxPolicies].path, maxPolicies)
		files = files[:maxPolicies]
	}
	return files
}

// takeInstances takes the links to templates out of the names, which are in
// order, and returns the instances by the templates' names.
func takeInstances(dir string, names []string) (others []string, instances map[string][]string) {
	instances = map[string][]string{}
	for _, name := range names {
		base, after, _ := strings.Cut(name, "@")
		instance, isPolicy := strings.CutSuffix(after, ".yaml")
		template := base + "@.yaml"
		if _, there := slices.BinarySearch(names, template); there && isPolicy && instance != "" {
			if to, err := os.Readlink(filepath.Join(dir, name)); err == nil && to == template {
				instances[template] = append(instances[template], instance)
				continue
			}
		}
		others = append(others, name)
	}
	return others, instances
}

// listNames are the names in a directory but for the hidden ones, in order.
// Whatever stands there instead of a directory, it does not block.
func listNames(path string) ([]string, error) {
	dir, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxEntries)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") })
	slices.Sort(names)
	return names, err
}

// readPlain reads a plain file. What is none is not opened: a FIFO would block,
// and a device might do anything.
func readPlain(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf(notPlainText, path)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxPolicy))
}

// generate makes the units of a file's policies, of all of them or of none.
func (g *generator) generate(file policyFile, defaults []unitgen.Text, target unitgen.Target) {
	defer func() {
		if wrong := recover(); wrong != nil { // no policy may keep the others from their units
			g.log.say(brokenText, file.path, wrong)
		}
	}()
	policies, err := g.readPolicies(file, defaults)
	var results []unitgen.Result
	for i := 0; i < len(policies) && err == nil; i++ {
		var result unitgen.Result
		options := unitgen.Options{Source: file.path, Svcrun: g.svcrun, SourcePath: file.path}
		result, err = unitgen.Generate(policies[i], target, options)
		results = append(results, result)
	}
	if err == nil {
		err = unitgen.CheckFiles(policies, results)
	}
	if err != nil {
		g.tellPolicyError(file, err)
		return
	}
	for i, policy := range policies {
		g.tellOtherTarget(file, policy, target)
		g.write(file, results[i].Files)
	}
}

// readPolicies reads the policies of a file that are for this manager.
func (g *generator) readPolicies(file policyFile, defaults []unitgen.Text) ([]unitgen.Policy, error) {
	data, err := g.read(file.path)
	if err != nil {
		return nil, err
	}
	policies, err := unitgen.Read(file.path, data, defaults...)
	if err != nil {
		return nil, err
	}
	isOthers := func(p unitgen.Policy) bool { return p.Scope != g.scope }
	if g.scope == unitgen.ScopeUser && !file.foreign && slices.ContainsFunc(policies, isOthers) {
		g.log.say(otherScopeText, file.path, systemPolicies)
	}
	return slices.DeleteFunc(policies, isOthers), nil
}

// tellPolicyError says in one line what is wrong with a policy.
func (g *generator) tellPolicyError(file policyFile, err error) {
	if file.foreign {
		return
	}
	var errs unitgen.Errors
	switch {
	case !errors.As(err, &errs):
		g.log.say(skippedText, err)
	case errs[0].File == g.defaults:
		g.log.say(noDefaultsText, errs[0])
	case len(errs) == 1:
		g.log.say("%v", errs[0])
	default:
		g.log.say(moreErrorsText, errs[0], len(errs)-1, file.path)
	}
}

// tellOtherTarget says that a policy's target is not this machine, which its
// units are for all the same.
func (g *generator) tellOtherTarget(file policyFile, policy unitgen.Policy, target unitgen.Target) {
	if policy.Target == "" || policy.Target == unitgen.TargetHost {
		return
	}
	if named, err := unitgen.LookupTarget(policy.Target); err == nil && named.Systemd != target.Systemd {
		g.log.say(otherTargetText, file.path, policy.Target, target)
	}
}
