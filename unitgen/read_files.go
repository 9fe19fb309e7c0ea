package unitgen

import (
	"slices"
	"strings"

	"github.com/svckit/svckit/unitgen/unit"
)

// readEnvFiles reads files of variables; a - before one says that it may be
// missing (systemd.exec(5), EnvironmentFile=).
func readEnvFiles(r *reader, v value, p *Policy) {
	p.EnvFiles = nil
	for _, item := range r.items(v, "[/etc/worker.env, -/etc/worker.local.env]") {
		var file string
		r.plain(item, "/etc/worker.env", &file)
		switch {
		case file == "":
		case !strings.HasPrefix(strings.TrimPrefix(file, "-"), "/"):
			r.errorf(item.Node, "%s: %s is no absolute path; write it from / on, with a - before it if it may be missing", item.path, quoted(file))
		default:
			p.EnvFiles = append(p.EnvFiles, file)
		}
	}
}

// readCredentials reads the files that the manager hands to the service.
func readCredentials(r *reader, v value, p *Policy) {
	for _, pair := range r.pairs(v, "{api-token: /etc/credstore/api-token}") {
		name := pair.key.Value
		var path string
		r.path(pair.value, "/etc/credstore/api-token", &path)
		switch {
		case path == "":
		case !isFileName(name):
			r.errorf(pair.key, "credentials: %s is no name of a credential; use letters, digits and - _ .", quoted(name))
		case strings.HasPrefix(name, ownCredentials):
			r.errorf(pair.key, "credentials: names that begin with %s are svckit's own; take another", ownCredentials)
		default:
			r.at["credentials."+name] = r.position(pair.value.Node)
			p.Credentials = append(p.Credentials, Credential{name, path})
		}
	}
}

// ownCredentials begin the names of credentials that svcgen adds by itself.
const ownCredentials = "svckit."

// isFileName says whether a name can be that of a file, without being hidden.
func isFileName(name string) bool {
	return name != "" && len(name) <= 255 && name[0] != '.' && name[0] != '-' && !strings.ContainsFunc(name, func(c rune) bool {
		return notUnitRune(c) || c == ':' || c == '\\'
	})
}

// dirsSection is the schema of dirs:.
var dirsSection = section[Dirs]{
	path: "dirs", example: "{state: [worker], logs: [worker]}",
	fields: map[string]field[Dirs]{
		"state":   func(r *reader, v value, into *Dirs) { into.State = r.directories(v) },
		"cache":   func(r *reader, v value, into *Dirs) { into.Cache = r.directories(v) },
		"logs":    func(r *reader, v value, into *Dirs) { into.Logs = r.directories(v) },
		"runtime": func(r *reader, v value, into *Dirs) { into.Runtime = r.directories(v) },
		"config":  func(r *reader, v value, into *Dirs) { into.Config = r.directories(v) },
	},
}

// directories reads relative paths; no word of theirs needs quotes.
func (r *reader) directories(v value) []string {
	var dirs []string
	for _, item := range r.items(v, "[worker]") {
		dir, ok := r.literal(item, "worker")
		if !ok {
			continue
		}
		parts := strings.Split(dir, "/")
		bad := slices.ContainsFunc(parts, func(part string) bool {
			return !isFileName(strings.ReplaceAll(part, string(unit.Instance), "x"))
		})
		switch {
		case strings.HasPrefix(dir, "/"):
			r.errorf(item.Node, "%s: %s is absolute; write the path below /var/lib, /var/cache, /var/log, /run or /etc", item.path, quoted(dir))
		case bad:
			r.errorf(item.Node, "%s: %s is no name of a directory; use letters, digits and - _ . and / between them", item.path, quoted(dir))
		case parts[0] == "svckit":
			r.errorf(item.Node, "%s: svckit is where svcrun has its own directories; take another name", item.path)
		case slices.Contains(dirs, dir):
			r.errorf(item.Node, "%s: %s stands twice; remove one of the two", item.path, quoted(dir))
		default:
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
