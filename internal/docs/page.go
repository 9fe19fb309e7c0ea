package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Page is what is read of a Markdown file.
type Page struct {
	Name   string // its path, for messages
	Blocks []Block
	Links  []Link
	heads  []string
}

// Block is a fenced block.
type Block struct {
	Place string // of its fence: page:line
	Info  string // what the fence says that it is, as in console; "" for nothing
	Text  string
	Mark  string // the comment right before it, without its brackets; "" for none
}

// Link is a link's or an image's target.
type Link struct {
	Place  string
	Target string
}

const fence = "```"

var (
	comment = regexp.MustCompile(`^<!-- (.+) -->$`)
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code    = regexp.MustCompile("`[^`]*`")
	inHead  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// ParsePage reads a page's blocks, links and headings.
func ParsePage(name, text string) (Page, error) {
	page := Page{Name: name}
	var open *Block
	mark := ""
	for i, line := range strings.Split(text, "\n") {
		place := fmt.Sprintf("%s:%d", name, i+1)
		switch {
		case open != nil && line == fence:
			page.Blocks, open = append(page.Blocks, *open), nil
		case open != nil:
			open.Text += line + "\n"
		case strings.HasPrefix(line, fence):
			open = &Block{Place: place, Info: strings.TrimPrefix(line, fence), Mark: mark}
		default:
			page.readLine(place, line)
		}
		if read := comment.FindStringSubmatch(line); open == nil && read != nil {
			mark = read[1]
		} else if line != "" {
			mark = ""
		}
	}
	if open != nil {
		return page, fmt.Errorf("%s: the block is never closed", open.Place)
	}
	return page, nil
}

// readLine reads a line outside of all blocks.
func (p *Page) readLine(place, line string) {
	if strings.HasPrefix(line, "#") {
		p.heads = append(p.heads, anchor(strings.TrimLeft(line, "# ")))
	}
	for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
		p.Links = append(p.Links, Link{Place: place, Target: found[1]})
	}
}

// HasAnchor says whether a heading of the page has that anchor.
func (p Page) HasAnchor(name string) bool { return slices.Contains(p.heads, name) }

// anchor is what a heading is called in links, as Git's hosts make it.
func anchor(heading string) string {
	return strings.ReplaceAll(inHead.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// Splice puts text into the block of a page that a mark says is generated.
func Splice(page, name, text string) (string, error) {
	head := "<!-- generated: " + name + " -->\n" + fence
	before, rest, found := strings.Cut(page, head)
	if !found {
		return "", fmt.Errorf("the page has no block that is marked %q", "generated: "+name)
	}
	info, _, _ := strings.Cut(rest, "\n")
	_, after, closed := strings.Cut(rest, "\n"+fence+"\n")
	if !closed {
		return "", fmt.Errorf("the block of %s is never closed", name)
	}
	return before + head + info + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n" + after, nil
}
