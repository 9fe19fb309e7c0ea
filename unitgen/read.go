package unitgen

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/svckit/svckit/unitgen/unit"
)

// policySection is the schema of a service.
var policySection = section[Policy]{
	example: "name: worker",
	fields: map[string]field[Policy]{
		"name":        readName,
		"description": func(r *reader, v value, p *Policy) { r.plain(v, "a word or two", &p.Description) },
		"scope":       func(r *reader, v value, p *Policy) { readWord(r, v, &p.Scope, ScopeSystem, ScopeUser) },
		"target":      readTarget,

		"exec":        func(r *reader, v value, p *Policy) { p.Exec = r.command(v) },
		"start_pre":   func(r *reader, v value, p *Policy) { p.StartPre = r.commands(v) },
		"user":        func(r *reader, v value, p *Policy) { r.account(v, &p.User) },
		"group":       func(r *reader, v value, p *Policy) { r.account(v, &p.Group) },
		"working_dir": func(r *reader, v value, p *Policy) { r.path(v, "/opt/worker", &p.WorkingDir) },
		"env":         readEnv,
		"env_files":   readEnvFiles,
		"credentials": readCredentials,

		"after":           func(r *reader, v value, p *Policy) { p.After = r.units(v, "[network-online.target]") },
		"wants":           func(r *reader, v value, p *Policy) { p.Wants = r.units(v, "[redis.service]") },
		"requires":        func(r *reader, v value, p *Policy) { p.Requires = r.units(v, "[postgresql.service]") },
		"part_of":         func(r *reader, v value, p *Policy) { p.PartOf = r.units(v, "[app.target]") },
		"on_give_up":      func(r *reader, v value, p *Policy) { p.OnGiveUp = r.units(v, "[alert@%N.service]") },
		"on_each_failure": func(r *reader, v value, p *Policy) { p.OnEachFailure = r.units(v, "[alert@%N.service]") },
		"install":         func(r *reader, v value, p *Policy) { installSection.read(r, v, &p.WantedBy) },

		"ready":      func(r *reader, v value, p *Policy) { readySection.read(r, v, &p.Ready) },
		"live":       func(r *reader, v value, p *Policy) { liveSection.read(r, v, &p.Live) },
		"watchdog":   func(r *reader, v value, p *Policy) { readWord(r, v, &p.Watchdog, WatchdogChecks, WatchdogWrapper) },
		"reload":     readReload,
		"restart":    readRestart,
		"success":    func(r *reader, v value, p *Policy) { r.success(v, &p.Success) },
		"drain":      readDrain,
		"early_exit": func(r *reader, v value, p *Policy) { readWord(r, v, &p.EarlyExit, EarlyExitFail, EarlyExitSuccess) },

		"runtime_max": readRuntimeMax,
		"sockets":     readSockets,
		"dirs":        func(r *reader, v value, p *Policy) { dirsSection.read(r, v, &p.Dirs) },
		"resources":   func(r *reader, v value, p *Policy) { resourcesSection.read(r, v, &p.Resources) },
		"hardening": func(r *reader, v value, p *Policy) {
			readWord(r, v, &p.Hardening, HardeningOff, HardeningBaseline, HardeningStrict)
		},
		"extra": readExtra,
	},
	instead: [][]string{{"on_give_up", "on_each_failure"}},
}

// installSection is where `systemctl enable` hangs the unit up.
var installSection = section[[]string]{
	path: "install", example: "{wanted_by: [multi-user.target]}",
	fields: map[string]field[[]string]{
		"wanted_by": func(r *reader, v value, into *[]string) { *into = r.units(v, "[multi-user.target]") },
	},
}

// readWord reads one of the words of a type.
func readWord[T ~string](r *reader, v value, into *T, words ...T) {
	var known []string
	for _, word := range words {
		known = append(known, string(word))
	}
	word := string(*into)
	r.word(v, known, &word)
	*into = T(word)
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
	return slices.ContainsFunc(r.errs[r.earlier:], func(e Error) bool {
		return strings.HasPrefix(e.Message, key+" ") || strings.HasSuffix(e.Message, "did you mean "+key)
	})
}

// plain reads a text that stands in the unit as it is.
func (r *reader) plain(v value, example string, into *string) {
	text, ok := r.literal(v, example)
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
	name, ok := r.literal(v, "www-data")
	if !ok {
		return
	}
	bad := strings.ContainsFunc(name, func(c rune) bool {
		return c != unit.Instance && notUnitRune(c) || c == ':' || c == '\\'
	})
	if name == "" || bad || strings.ContainsAny(name[:1], "-.") || len(name) > 255 {
		r.errorf(v.Node, "%s: %s is no name of an account; use letters, digits and - _ .", v.path, quoted(name))
		return
	}
	*into = name
}

// path reads an absolute path that stands in the unit as it is.
func (r *reader) path(v value, example string, into *string) {
	var path string
	r.plain(v, example, &path)
	if path != "" && !strings.HasPrefix(path, "/") {
		r.errorf(v.Node, "%s: %s is no absolute path; write it from / on", v.path, quoted(path))
		return
	}
	*into = path
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
			if text, ok := r.literal(pair.value, "a text"); ok {
				p.Env = append(p.Env, Variable{name, text})
			}
		}
	}
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
