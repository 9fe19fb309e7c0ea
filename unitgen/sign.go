package unitgen

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/svckit/svckit/unitgen/unit"
)

// checksumMark begins the line by which svcgen knows its own units. The
// checksum is of all the text but that line.
const checksumMark = "# svckit-checksum: sha256:"

// heading is the comment at the top of a unit.
func heading(name string, o Options, t Target) string {
	source := o.Source
	if source == "" {
		source = "standard input"
	}
	author, again := "svcgen generate", "generate again"
	if o.SourcePath != "" {
		author, again = "svcgen, as systemd's generator,", "reload (systemctl daemon-reload)"
	}
	return fmt.Sprintf("%s, written by %s from %s for %s.\n"+
		"Change the policy and %s; what belongs to this machine only goes into a drop-in (systemctl edit %s).",
		name, author, source, t.Name, again, name)
}

// sign puts the heading and the checksum before a unit's text.
func sign(heading string, body []byte) []byte {
	var head unit.File
	head.Comment(heading)
	top, _ := head.Bytes() // comments alone cannot fail
	text := append(top, '\n')
	text = append(text, body...)
	line := checksumMark + sum(text) + "\n"
	return bytes.Join([][]byte{top, []byte(line), text[len(top):]}, nil)
}

func sum(text []byte) string {
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}

// Authorship is what a file's checksum says about it.
type Authorship int

// The answers.
const (
	// Foreign: svcgen did not write the file.
	Foreign Authorship = iota
	// Edited: svcgen wrote it, and it was changed since.
	Edited
	// Untouched: the file is as svcgen wrote it.
	Untouched
)

// AuthorOf says who wrote the text of a unit file. A first line that only says
// where the file is, as `systemctl cat` and `svcgen generate` print it, is not
// taken for a change.
func AuthorOf(text []byte) Authorship {
	if first, rest, ok := bytes.Cut(text, []byte("\n")); ok && isPathComment(string(first)) {
		text = rest
	}
	at := bytes.Index(text, []byte(checksumMark))
	if at < 0 || at > 0 && text[at-1] != '\n' {
		return Foreign
	}
	line, after, _ := bytes.Cut(text[at:], []byte("\n"))
	claimed := strings.TrimPrefix(string(line), checksumMark)
	if claimed != sum(append(bytes.Clone(text[:at]), after...)) {
		return Edited
	}
	return Untouched
}

// PathComment is the line that says where a file goes.
func PathComment(path string) string { return "# " + path }

func isPathComment(line string) bool {
	path, ok := strings.CutPrefix(line, "# /")
	return ok && !strings.Contains(path, " ")
}
