package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
)

// checkCommit refuses a release of what nobody else can build: of a tree that is
// no commit, or under the tag of another one. Sources without git are taken as
// they are.
func checkCommit(tag string) error {
	if _, err := os.Stat(".git"); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	changed, err := git("status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the tree differs from its commit; commit first:\n%s", changed)
	}
	head, err := git("rev-parse", "HEAD")
	if err != nil {
		return err
	}
	tagged, err := git("rev-parse", "--quiet", "--verify", tag+"^{commit}")
	if err == nil && tagged != head {
		return fmt.Errorf("%s is the tag of another commit, %s", tag, strings.TrimSpace(tagged))
	}
	return nil // a tag may still come
}

// git runs git, and returns what it says. Why it could not, it tells the user itself.
func git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}
