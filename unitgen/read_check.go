package unitgen

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/watchdog"
)

// readySection is the schema of ready:.
var readySection = section[Ready]{
	path: "ready", example: "{checks: [http://127.0.0.1:8080/ready]}",
	fields: map[string]field[Ready]{
		"checks":        readReadyChecks,
		"start_timeout": func(r *reader, v value, into *Ready) { r.duration(v, minStart, &into.StartTimeout) },
	},
}

// minStart is the least that svcrun takes.
const minStart = time.Millisecond

// liveSection is the schema of live:.
var liveSection = section[Live]{
	path: "live", example: "{checks: [http://127.0.0.1:8080/live]}",
	fields: map[string]field[Live]{
		"checks":       readLiveChecks,
		"on_unhealthy": readOnUnhealthy,
	},
}

func readReadyChecks(r *reader, v value, into *Ready) {
	into.Checks = r.checks(v)
	for _, check := range into.Checks {
		if check.OnUnhealthy != watchdog.Inherit {
			r.errorf(v.Node, "ready.checks: on_unhealthy belongs to live checks, as nothing is unhealthy before it is ready; remove it")
			return
		}
	}
}

func readLiveChecks(r *reader, v value, into *Live) {
	into.Checks = r.checks(v)
	for _, check := range into.Checks {
		if check.Kind.ReadyOnly() {
			r.errorf(v.Node, "live.checks: %s tells of the start only; move it to ready.checks", check.Label())
			return
		}
	}
}

func readOnUnhealthy(r *reader, v value, into *Live) {
	word := string(into.OnUnhealthy)
	r.word(v, []string{string(watchdog.Drain), string(watchdog.Abort), string(watchdog.Report)}, &word)
	into.OnUnhealthy = watchdog.OnUnhealthy(word)
}

// maxChecks bounds the checks of each kind: each is a probe in every interval.
const maxChecks = 32

// checks reads a list of checks, each a string as the flags take it or a
// mapping with the same options.
func (r *reader) checks(v value) []watchdog.Check {
	items := r.items(v, "[http://127.0.0.1:8080/ready]")
	if len(items) > maxChecks {
		r.errorf(v.Node, "%s has %d checks; at most %d are read", v.path, len(items), maxChecks)
		return nil
	}
	var checks []watchdog.Check
	for _, item := range items {
		if check, ok := r.check(item); ok && r.hideSecrets(item, &check) {
			checks = append(checks, check)
		}
	}
	return checks
}

func (r *reader) check(v value) (watchdog.Check, bool) {
	if v.Kind == yaml.MappingNode {
		return r.checkMapping(v)
	}
	text, ok := r.literal(v, "http://127.0.0.1:8080/ready or {http: http://127.0.0.1:8080/live, interval: 10s}")
	if !ok || strings.HasPrefix(text, "exec:") && !r.noShell(v, text) {
		return watchdog.Check{}, false
	}
	check, err := ofInstances(func(in instance) (watchdog.Check, error) { return watchdog.ParseCheck(in.text(text)) })
	if err != nil {
		r.errorf(v.Node, "%s: %w", v.path, err)
	}
	return check, err == nil
}

// checkKinds are the keys that say what a check asks.
var checkKinds = []string{
	"http", "http+unix", "tcp", "unix", "exec", "notify", "https", "listen", "grpc", "file", "memory", "fd",
}

// checkMapping reads {KIND: WHERE, option: value}.
func (r *reader) checkMapping(v value) (watchdog.Check, bool) {
	var kinds, options []pair
	for _, p := range r.pairs(v, "") {
		if slices.Contains(checkKinds, p.key.Value) {
			kinds = append(kinds, p)
		} else {
			options = append(options, p)
		}
	}
	switch {
	case len(kinds) > 1:
		r.errorf(kinds[1].key, "%s: one check asks one thing; make %s a check of its own", v.path, kinds[1].key.Value)
		return watchdog.Check{}, false
	case len(kinds) == 0:
		r.noKind(v, options)
		return watchdog.Check{}, false
	}
	kind := kinds[0]
	target, ok := r.checkTarget(kind)
	if !ok {
		return watchdog.Check{}, false
	}
	given, ok := r.checkOptions(options)
	if !ok {
		return watchdog.Check{}, false
	}
	return r.parseCheck(v, kind, target, given)
}

// noKind reports a mapping that does not say what it asks.
func (r *reader) noKind(v value, options []pair) {
	for _, p := range options {
		if near, ok := syntax.Nearest(p.key.Value, checkKinds); ok {
			r.errorf(p.key, "%s: unknown kind of check %s; did you mean %s", v.path, quoted(p.key.Value), near)
			return
		}
	}
	r.errorf(v.Node, "%s does not say what it asks; write for example {http: http://127.0.0.1:8080/live, interval: 10s}", v.path)
}

// checkTarget reads what a check asks: a command may be a list as well.
func (r *reader) checkTarget(kind pair) (string, bool) {
	switch kind.key.Value {
	case "exec":
		argv := r.command(kind.value)
		return syntax.QuoteCommand(argv), argv != nil
	case "notify":
		if text, ok := r.text(kind.value, "true"); !ok || text != "true" {
			r.errorf(kind.value.Node, "%s takes no value; write notify: true", kind.value.path)
			return "", false
		}
		return "", true
	}
	return r.literal(kind.value, "http: http://127.0.0.1:8080/live")
}

// option is an option of a check, with the node to blame for it.
type option struct {
	watchdog.Option
	key *yaml.Node
}

// checkOptions reads the options of a mapping: those of the flag, with _ for -.
func (r *reader) checkOptions(pairs []pair) ([]option, bool) {
	var options []option
	for _, p := range pairs {
		name := p.key.Value
		values := []value{p.value}
		switch {
		case strings.Contains(name, "-"):
			r.errorf(p.key, "%s: in a policy write %s", p.value.path, strings.ReplaceAll(name, "-", "_"))
			return nil, false
		case name == "header" && p.value.Kind == yaml.SequenceNode:
			values = r.items(p.value, "")
		}
		for _, v := range values {
			text, ok := r.optionText(name, v)
			if !ok {
				return nil, false
			}
			options = append(options, option{watchdog.Option{Name: strings.ReplaceAll(name, "_", "-"), Value: text}, p.key})
		}
	}
	return options, true
}

// optionText reads the value of an option. Of a header file, %d/ is the
// directory of the service's credentials.
func (r *reader) optionText(name string, v value) (string, bool) {
	credential, is := strings.CutPrefix(v.Value, "%d/")
	if name != "header_file" || v.Kind != yaml.ScalarNode || !is {
		return r.literal(v, "10s")
	}
	meant := *v.Node
	meant.Value = credential
	v.Node = &meant
	credential, ok := r.text(v, "%d/token")
	return credentialPath + credential, ok
}

// inPolicy spells the names of options in errors as a policy does.
var inPolicy = strings.NewReplacer("on-unhealthy", "on_unhealthy", "header-file", "header_file", "max-age", "max_age")

// parseCheck makes a check of its parts. What is wrong with an option is
// reported at the option: it is the first whose adding brings the error.
func (r *reader) parseCheck(v value, kind pair, target string, options []option) (watchdog.Check, bool) {
	parse := func(options []option) (watchdog.Check, error) {
		return ofInstances(func(in instance) (watchdog.Check, error) {
			var plain []watchdog.Option
			for _, o := range options {
				plain = append(plain, watchdog.Option{Name: o.Name, Value: in.text(o.Value)})
			}
			return watchdog.ParseCheckOptions(watchdog.Kind(kind.key.Value), in.text(target), plain)
		})
	}
	check, err := parse(options)
	if err == nil {
		return check, true
	}
	blamed := kind.value.Node
	for i := range options {
		_, early := parse(options[:i])
		if early != nil && early.Error() == err.Error() {
			break
		}
		blamed = options[i].key
	}
	r.errorf(blamed, "%s: %s", v.path, inPolicy.Replace(err.Error()))
	return watchdog.Check{}, false
}
