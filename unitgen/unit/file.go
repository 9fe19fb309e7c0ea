package unit

// File is a unit file. The order of everything in it is the order of the text.
type File struct {
	Head     []Line // comments and blanks before the first section
	Sections []*Section
}

// Section is a [Name] and its lines. A file may have several of one name.
type Section struct {
	Name  string
	Lines []Line
}

// Line is one logical line: a Directive, a Comment or a Blank.
type Line interface {
	write(*writer)
}

// Directive is Name=Value. The parts of the value stand on physical lines of
// their own, joined by continuations, which systemd reads as one blank each.
type Directive struct {
	Name  string
	Parts []Value
}

// Comment is a line that systemd skips.
type Comment struct {
	Text string // without the # before it
}

// Blank is an empty line.
type Blank struct{}

// Value is text as it stands in a unit file, quoted for its place. Convert a
// string to it only where it is a constant, or has a specifier that is meant.
type Value string

// Section returns the first section of that name, which it adds at the end if
// there is none.
func (f *File) Section(name string) *Section {
	for _, s := range f.Sections {
		if s.Name == name {
			return s
		}
	}
	s := &Section{Name: name}
	f.Sections = append(f.Sections, s)
	return s
}

// Comment adds a comment before the first section.
func (f *File) Comment(text string) { f.Head = append(f.Head, Comment{text}) }

// Add adds a directive.
func (s *Section) Add(name string, parts ...Value) {
	s.Lines = append(s.Lines, Directive{Name: name, Parts: parts})
}

// Comment adds a comment.
func (s *Section) Comment(text string) { s.Lines = append(s.Lines, Comment{text}) }

// Blank adds an empty line.
func (s *Section) Blank() { s.Lines = append(s.Lines, Blank{}) }

// Lookup returns the values of all directives of that name, in their order,
// the parts of each joined as systemd joins them.
func (s *Section) Lookup(name string) []string {
	var values []string
	for _, line := range s.Lines {
		if d, ok := line.(Directive); ok && d.Name == name {
			values = append(values, d.Value())
		}
	}
	return values
}

// Value is the directive's value, its parts joined as systemd joins them.
func (d Directive) Value() string { return d.joined(" ") }
