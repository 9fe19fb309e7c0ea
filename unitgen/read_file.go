package unitgen

import (
	"go.yaml.in/yaml/v3"
)

// Text is a file's text, with the name that it has in errors.
type Text struct {
	Name string
	Data []byte
}

// Read reads a policy file: a service from each of its documents. What a
// service does not say is taken, key by key, from a `defaults:` document at the
// file's start, then from the defaults files in their order. On error it
// returns Errors: all that is wrong, each with its place and its cure.
func Read(file string, data []byte, defaults ...Text) ([]Policy, error) {
	r := newReader(file)
	documents := r.parseDocuments(data)
	layers := r.defaultsDocument(&documents)
	for _, text := range defaults {
		layers = append(layers, r.defaultsFile(text)...)
	}
	if len(r.errs) > 0 {
		return nil, r.errs.sorted()
	}
	var policies []Policy
	for _, document := range documents {
		policies = append(policies, r.service(document, layers))
	}
	r.twins(policies)
	if len(documents) == 0 {
		r.fail(Position{Line: 1, Column: 1}, "the file has defaults only; write a service after them, below a line ---")
	}
	return policies, r.errs.sorted()
}

// layer is a mapping that says what those above it do not.
type layer struct {
	file string
	node *yaml.Node
}

// defaultsDocument takes the document of defaults from the others, if there is
// one: a mapping with the one key defaults.
func (r *reader) defaultsDocument(documents *[]*yaml.Node) []layer {
	var layers []layer
	var services []*yaml.Node
	for i, document := range *documents {
		key, values := lookupKey(document, "defaults")
		switch {
		case key == nil:
			services = append(services, document)
		case i > 0:
			r.errorf(key, "defaults come first: move this document to the file's start")
		case len(document.Content) > 2:
			r.errorf(key, "defaults are a document of their own; put a line --- between them and the service")
		case follow(values).Kind != yaml.MappingNode:
			r.wrongType(r.value(values, "defaults", r.file), "a mapping", "{user: www-data}")
		default:
			layers = append(layers, layer{r.file, follow(values)})
		}
	}
	*documents = services
	return layers
}

// defaultsFile reads a file of defaults: the keys of a service. An empty one
// says nothing.
func (r *reader) defaultsFile(text Text) []layer {
	foreign := newReader(text.Name)
	root, ok := foreign.parseDefaults(text.Data)
	r.errs = append(r.errs, foreign.errs...)
	if !ok {
		return nil
	}
	return []layer{{text.Name, root}}
}

// parseDefaults is the mapping of a file of defaults; false where there is none.
func (r *reader) parseDefaults(data []byte) (*yaml.Node, bool) {
	if isBlank(data) {
		return nil, false
	}
	documents := r.parseDocuments(data)
	if len(documents) == 0 || len(r.errs) > 0 {
		return nil, false
	}
	root := documents[0]
	key, _ := lookupKey(root, "defaults")
	switch {
	case len(documents) > 1:
		r.errorf(documents[1], "a file of defaults is one document; remove the others")
	case root.Kind != yaml.MappingNode:
		r.wrongType(value{Node: root}, "a mapping", "user: www-data")
	case key != nil:
		r.errorf(key, "a file of defaults has the keys of a service at its top; remove defaults: and the indentation below it")
	default:
		return root, true
	}
	return nil, false
}

// service reads one service.
func (r *reader) service(document *yaml.Node, layers []layer) Policy {
	p := defaults()
	r.secrets = nil
	r.at, r.inherited = map[string]Position{"": r.position(document)}, map[string]bool{}
	_, name := lookupKey(document, "name")
	r.template = name != nil && isTemplate(follow(name).Value)
	for _, l := range layers {
		if key, _ := lookupKey(l.node, "name"); key != nil {
			r.foreign(key, l.file)
			r.errorf(key, "each service has a name of its own; remove it from the defaults")
		}
	}
	r.earlier = len(r.errs)
	v := value{Node: document, file: r.file, under: layers}
	policySection.read(r, v, &p)
	r.required(v)
	if len(r.errs) == r.earlier {
		r.checkPolicy(&p)
	}
	p.at, p.inherited, p.secrets = r.at, r.inherited, r.secrets
	return p
}

// twins reports services of one name: the later would overwrite the first.
func (r *reader) twins(policies []Policy) {
	first := map[string]Position{}
	for _, p := range policies {
		at := p.at["name"]
		earlier, again := first[p.Name]
		switch {
		case p.Name == "":
		case again:
			r.fail(at, "name: another service is called %s, at %s; give one of the two another name", p.Name, earlier)
		default:
			first[p.Name] = at
		}
	}
}

// lookupKey finds a key of a mapping and its value; nil where it has none.
func lookupKey(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Kind == yaml.ScalarNode && n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// follow is what an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
