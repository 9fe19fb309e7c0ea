//go:build svckit_manual

package timeline

// Document is an event as JSON, for who tells of its fields.
func Document() any { return object{} }

// Events are the names of the events, with what each means.
func Events() (names []string, meanings map[string]string) {
	meanings = map[string]string{}
	for _, e := range events {
		names = append(names, e.Name)
		meanings[e.Name] = e.Meaning
	}
	return names, meanings
}
