package unitgen

import (
	"go.yaml.in/yaml/v3"

	"github.com/svckit/svckit/unitgen/unit"
)

// extraSections are the sections that take directives of the policy's author.
var extraSections = []string{"Unit", "Service", "Install"}

// readExtra reads directives that go into the unit as they are.
func readExtra(r *reader, v value, p *Policy) {
	p.Extra = map[string][]Setting{}
	for _, section := range r.pairs(v, "{Service: {Nice: 5}}") {
		name := section.key.Value
		if _, known := directiveSection[name]; !known {
			r.unknownKey(section.key, "extra", extraSections, nil)
			continue
		}
		for _, pair := range r.pairs(section.value, "{Nice: 5}") {
			p.Extra[name] = append(p.Extra[name], r.extra(name, pair)...)
		}
	}
}

// extra reads a directive with its value, or its values: systemd takes a list
// as a line for each.
func (r *reader) extra(section string, p pair) []Setting {
	name := p.key.Value
	if !unit.IsName(name) {
		r.errorf(p.key, "extra.%s: %s is no name of a directive", section, quoted(name))
		return nil
	}
	if key, own := ownDirectives[section][name]; own {
		r.errorf(p.key, "extra.%s: svcgen writes %s= by itself; %s", section, name, key)
		return nil
	}
	values := []value{p.value}
	if p.value.Kind == yaml.SequenceNode {
		values = r.items(p.value, "")
	}
	var settings []Setting
	for _, v := range values {
		text, ok := r.text(v, "a value as systemd reads it")
		if !ok {
			continue
		}
		verbatim, err := unit.Verbatim(text)
		if err != nil {
			r.errorf(v.Node, "%s: %w", v.path, err)
			continue
		}
		settings = append(settings, Setting{name, verbatim, r.position(v.Node)})
	}
	return settings
}
