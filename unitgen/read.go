package unitgen

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/svckit/svckit/unitgen/unit"
)

// Read reads a policy file, called file in errors and in the unit. On error it
// returns Errors: all that is wrong, each with its place and its cure.
func Read(file string, data []byte) (Policy, error) {
	r := &reader{file: file, at: map[string]Position{}}
	p := defaults()
	if root, ok := r.parseDocument(data); ok {
		v := r.value(root, "")
		r.at[""] = r.position(root)
		policySection.read(r, v, &p)
		r.required(v)
	}
	p.at = r.at
	return p, r.errs.sorted()
}

// policySection is the schema of a policy file.
var policySection = section[Policy]{
	example: "name: worker",
	fields: map[string]field[Policy]{
		"name":        readName,
		"description": func(r *reader, v value, p *Policy) { r.plain(v, "a word or two", &p.Description) },
		"exec":        func(r *reader, v value, p *Policy) { p.Exec = r.command(v) },
		"user":        func(r *reader, v value, p *Policy) { r.account(v, &p.User) },
		"group":       func(r *reader, v value, p *Policy) { r.account(v, &p.Group) },
		"working_dir": readWorkingDir,
		"env":         readEnv,
		"after":       func(r *reader, v value, p *Policy) { p.After = r.units(v, "[network-online.target]") },
		"ready":       func(r *reader, v value, p *Policy) { readySection.read(r, v, &p.Ready) },
		"live":        func(r *reader, v value, p *Policy) { liveSection.read(r, v, &p.Live) },
		"reload":      readReload,
		"restart":     readRestart,
		"success":     func(r *reader, v value, p *Policy) { r.success(v, &p.Success) },
		"drain":       readDrain,
		"early_exit":  readEarlyExit,
		"install":     func(r *reader, v value, p *Policy) { installSection.read(r, v, &p.WantedBy) },
		"target":      readTarget,
	},
	later: []string{
		"credentials", "defaults", "dirs", "env_files", "extra", "hardening", "on_each_failure", "on_give_up", "part_of",
		"requires", "resources", "runtime_max", "scope", "sockets", "start_pre", "wants", "watchdog",
	},
}

// installSection is where `systemctl enable` hangs the unit up.
var installSection = section[[]string]{
	path: "install", example: "{wanted_by: [multi-user.target]}",
	fields: map[string]field[[]string]{
		"wanted_by": func(r *reader, v value, into *[]string) { *into = r.units(v, "[multi-user.target]") },
	},
}

// required reports what no policy can do without.
func (r *reader) required(v value) {
	if v.Kind != yaml.MappingNode {
		return
	}
	for _, key := range []struct{ name, cure string }{
		{"name", "write name: and the unit's name without .service"},
		{"exec", "write exec: and the command, such as [/usr/bin/worker, --port, 8080]"},
	} {
		if _, given := r.at[key.name]; !given && !r.reported(key.name) {
			r.failAt([]string{""}, "the key %q is missing; %s", key.name, key.cure)
		}
	}
}

// reported says whether there is an error about the key already.
func (r *reader) reported(key string) bool {
	return slices.ContainsFunc(r.errs, func(e Error) bool {
		return strings.HasPrefix(e.Message, key+" ") || strings.HasSuffix(e.Message, "did you mean "+key)
	})
}

// unitSuffixes are the types of units (systemd.unit(5)).
var unitSuffixes = []string{
	".automount", ".device", ".mount", ".path", ".scope", ".service", ".slice", ".socket", ".swap", ".target", ".timer",
}

// maxUnitName is the longest name of a unit (systemd.unit(5)).
const maxUnitName = 255

// notUnitRune says whether r cannot stand in the name of a unit.
func notUnitRune(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && !strings.ContainsRune(`:-_.\`, r)
}

// readName reads the name that the unit gets. It names directories as well,
// so that it begins with a letter, a digit or _.
func readName(r *reader, v value, p *Policy) {
	name, ok := r.text(v, "worker")
	if !ok {
		return
	}
	bare := strings.TrimSuffix(name, ".service")
	switch {
	case name == "":
		r.errorf(v.Node, "name is empty; write the unit's name without .service, such as worker")
	case bare != name:
		r.errorf(v.Node, "name: %s ends in .service, which is added by itself; write %s", quoted(name), bare)
	case strings.Contains(name, "@"):
		r.errorf(v.Node, "name: %s is a template or an instance, which this version of svckit does not have; leave out the @", quoted(name))
	case strings.ContainsFunc(name, notUnitRune):
		r.errorf(v.Node, "name: %s cannot name a unit; use letters, digits and : - _ . only", quoted(name))
	case strings.ContainsAny(name[:1], `:-.\`):
		r.errorf(v.Node, "name: %s begins with %q; begin with a letter, a digit or _", quoted(name), name[:1])
	case len(name)+len(".service") > maxUnitName:
		r.errorf(v.Node, "name: with .service the name is longer than %d bytes; shorten it", maxUnitName)
	default:
		p.Name = name
	}
}

// units reads a list of names of units.
func (r *reader) units(v value, example string) []string {
	var names []string
	for _, item := range r.items(v, example) {
		name, ok := r.text(item, example)
		if !ok {
			continue
		}
		prefix, instance, _ := strings.Cut(name, "@")
		suffixed := slices.ContainsFunc(unitSuffixes, func(s string) bool { return strings.HasSuffix(name, s) && name != s })
		switch {
		case strings.ContainsFunc(prefix+instance, notUnitRune) || prefix == "" || len(name) > maxUnitName:
			r.errorf(item.Node, "%s: %s is no name of a unit; write names such as network-online.target, each an item of the list", item.path, quoted(name))
		case !suffixed:
			r.errorf(item.Node, "%s: %s has no type at its end; write %s.service, %s.target or what else it is", item.path, quoted(name), name, name)
		default:
			names = append(names, name)
		}
	}
	return names
}

// plain reads a text that stands in the unit as it is.
func (r *reader) plain(v value, example string, into *string) {
	text, ok := r.text(v, example)
	if !ok {
		return
	}
	if _, err := unit.Plain(text); err != nil {
		r.errorf(v.Node, "%s: %w", v.path, err)
		return
	}
	*into = text
}

// account reads the name or number of a user or group.
func (r *reader) account(v value, into *string) {
	name, ok := r.text(v, "www-data")
	if !ok {
		return
	}
	bad := strings.ContainsFunc(name, func(c rune) bool {
		return notUnitRune(c) || c == ':' || c == '\\'
	})
	if name == "" || bad || strings.ContainsAny(name[:1], "-.") || len(name) > 255 {
		r.errorf(v.Node, "%s: %s is no name of an account; use letters, digits and - _ .", v.path, quoted(name))
		return
	}
	*into = name
}

func readWorkingDir(r *reader, v value, p *Policy) {
	var dir string
	r.plain(v, "/opt/worker", &dir)
	if dir != "" && !strings.HasPrefix(dir, "/") {
		r.errorf(v.Node, "working_dir: %s is no absolute path; write it from / on", quoted(dir))
		return
	}
	p.WorkingDir = dir
}

// readEnv reads the variables. No error repeats a value: it may be a secret.
func readEnv(r *reader, v value, p *Policy) {
	for _, pair := range r.pairs(v, "{LANG: C.UTF-8}") {
		name := pair.key.Value
		switch {
		case !unit.IsVariable(name):
			r.errorf(pair.key, "env: %s is no name of a variable; use letters, digits and _, and no digit first", quoted(name))
		case pair.value.Tag == "!!null":
			r.errorf(pair.value.Node, `env.%s is empty; write "" for a variable without text, or remove it`, name)
		default:
			if text, ok := r.text(pair.value, "a text"); ok {
				p.Env = append(p.Env, Variable{name, text})
			}
		}
	}
}

func readEarlyExit(r *reader, v value, p *Policy) {
	word := string(p.EarlyExit)
	r.word(v, []string{string(EarlyExitFail), string(EarlyExitSuccess)}, &word)
	p.EarlyExit = EarlyExit(word)
}

func readTarget(r *reader, v value, p *Policy) {
	name, ok := r.text(v, "debian13")
	if !ok {
		return
	}
	if err := CheckTarget(name); err != nil {
		r.errorf(v.Node, "target: %w", err)
		return
	}
	p.Target = name
}
