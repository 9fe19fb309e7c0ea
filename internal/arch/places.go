package arch

import (
	"bytes"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// PrivatePlaces are the paths that mean something on the makers' machines
// only. They are put together here so that this file does not name them.
var PrivatePlaces = []string{".." + "/shared", "/work" + "/shared", "/work" + "/main"}

// Mentions finds the files of a tree that name a private place. A test may,
// if it skips aloud where the place is not.
func Mentions(tree fs.FS, places []string) ([]Finding, error) {
	var found []Finding
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "bin", "build", "dist"}, path):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		text, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		if !skipsAloud(path, text) {
			found = append(found, mentions(path, text, places)...)
		}
		return nil
	})
	return found, err
}

// mentions finds the lines of one file that name one of places.
func mentions(path string, text []byte, places []string) []Finding {
	var found []Finding
	for i, line := range bytes.Split(text, []byte("\n")) {
		for _, place := range places {
			if bytes.Contains(line, []byte(place)) {
				found = append(found, Finding{
					Pos:  token.Position{Filename: filepath.FromSlash(path), Line: i + 1},
					Text: "names " + place + ", which a reader of this repository does not have; cite a public source, or say it here",
				})
			}
		}
	}
	return found
}

// skipsAloud says whether a file is a test that can skip.
func skipsAloud(path string, text []byte) bool {
	return strings.HasSuffix(path, "_test.go") && bytes.Contains(text, []byte(".Skip"))
}
