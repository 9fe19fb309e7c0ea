package journal

import (
	"bytes"
	"encoding/json"
)

// picker keeps the unit's ordinary output, which may be a million lines, from the
// decoder. What it lets through is not trusted for that.
type picker struct {
	unit  []byte // its name, as it stands in a line
	after bool   // a line that tells of a run, and since then none of the unit's own
}

func newPicker(unit string) *picker {
	name, _ := json.Marshal(unit) // a string always can be
	return &picker{unit: name}
}

// wants says whether a line is worth decoding. So is the first of the unit's own
// after each that tells of a run: under which invocation ID the journal has it.
func (p *picker) wants(line []byte) bool {
	if tells(line) {
		p.after = true
		return true
	}
	first := p.after && bytes.Contains(line, []byte(`"_SYSTEMD_INVOCATION_ID"`)) && bytes.Contains(line, p.unit)
	p.after = p.after && !first
	return first
}

// tells says whether a line may tell of a run.
func tells(line []byte) bool {
	return bytes.Contains(line, []byte(`"UNIT"`)) || bytes.Contains(line, []byte(`"USER_UNIT"`)) ||
		bytes.Contains(line, []byte("svcrun: end "))
}
