package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/svckit/svckit/unitgen"
)

// write writes the units of a policy and enables them, unless one of them is
// another policy's already.
func (g *generator) write(policy policyFile, files []unitgen.File) {
	source := policy.path
	for _, file := range files {
		first, taken := g.sources[file.Name]
		switch {
		case taken:
			g.log.say(takenText, source, file.Name, first)
			return
		case file.Secret:
			g.log.say(inlineSecretText, source)
			return
		}
	}
	for _, file := range files {
		if err := g.writeUnit(file); err != nil {
			g.log.say(notWrittenText, source, file.Name, err)
			return
		}
		g.sources[file.Name] = source
		g.tellShadow(source, file.Name)
	}
	instances := append(defaultInstance(files), policy.instances...)
	for _, file := range files {
		switch {
		case file.Install == nil:
		case strings.Contains(file.Name, "@."):
			for _, instance := range instances {
				g.enable(source, file, instance)
			}
		default:
			g.enable(source, file, "")
		}
	}
}

// writeUnit writes a unit, but over none that another generator has written.
func (g *generator) writeUnit(file unitgen.File) error {
	path := filepath.Join(g.normal, file.Name)
	old, err := readPlain(path)
	switch {
	case err == nil && bytes.Equal(old, file.Text):
		return nil
	case err == nil && unitgen.AuthorOf(old) != unitgen.Untouched:
		return fmt.Errorf(othersUnitText, path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(g.normal, 0o755); err != nil {
		return err
	}
	return replace(path, file.Text, modeOf(file))
}

// tellShadow says that systemd takes another unit of that name. One that is
// masked there is meant to be.
func (g *generator) tellShadow(source, name string) {
	for _, dir := range g.above {
		path := filepath.Join(dir, name)
		link, _ := os.Readlink(path)
		if _, err := os.Lstat(path); err == nil && link != os.DevNull {
			g.log.say(shadowedText, source, name, path)
		}
	}
}

// defaultInstance is the instance as which a template is enabled, if it names one.
func defaultInstance(files []unitgen.File) (instances []string) {
	for _, file := range files {
		if file.Install != nil {
			instances = append(instances, words(file.Install.Lookup("DefaultInstance"))...)
		}
	}
	return instances
}

// enable does what `systemctl enable` does for other units, and refuses for
// those of generators: it links the unit to what wants it, a template as one of
// its instances.
func (g *generator) enable(source string, file unitgen.File, instance string) {
	name := strings.Replace(file.Name, "@.", "@"+instance+".", 1)
	for _, by := range []struct{ directive, dir string }{
		{"WantedBy", ".wants/"}, {"RequiredBy", ".requires/"}, {"UpheldBy", ".upholds/"},
	} {
		for _, other := range words(file.Install.Lookup(by.directive)) {
			g.tellLink(source, by.directive, g.link(other, instance, by.dir+name, "../"+file.Name))
		}
	}
	for _, alias := range words(file.Install.Lookup("Alias")) {
		g.tellLink(source, "Alias", g.link(alias, instance, "", file.Name))
	}
}

// words are the words of all values of a directive, down to an empty one that
// takes back those before it.
func words(values []string) []string {
	var all []string
	for _, value := range values {
		more := strings.Fields(value)
		if len(more) == 0 {
			all = nil
		}
		all = append(all, more...)
	}
	return all
}

// link makes a link that begins with the name of a unit.
func (g *generator) link(unit, instance, rest, to string) error {
	if instance != "" {
		unit = strings.ReplaceAll(unit, "%i", instance)
	}
	if strings.ContainsAny(unit+instance, "/%") || strings.HasPrefix(unit, ".") {
		return fmt.Errorf(noUnitNameText, unit+rest)
	}
	path := filepath.Join(g.normal, unit+rest)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	err := os.Symlink(to, path)
	if there, _ := os.Readlink(path); errors.Is(err, fs.ErrExist) && there == to {
		return nil
	}
	return err
}

func (g *generator) tellLink(source, directive string, err error) {
	if err != nil {
		g.log.say(notLinkedText, source, directive, err)
	}
}
