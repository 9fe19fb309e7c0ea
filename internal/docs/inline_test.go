package docs_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// This file is about what the docs name in the middle of a line: too short to be
// run, but it has to be there.

var (
	inlineCommand = regexp.MustCompile("`(svcgen|svcstat|svcrun)(?: ([a-z]+))?( [^`]*)?`")
	inlineFlag    = regexp.MustCompile(`--[a-z-]+`)
	inlineKey     = regexp.MustCompile("`((?:ready|live|restart|drain|reload|resources|install|dirs)\\.([a-z_]+))")
)

func TestVerbsAndFlagsOfTheDocsAreThoseOfThePrograms(t *testing.T) {
	bin, help := labtest.Programs(t), map[string]string{}
	for _, page := range pages(t) {
		for _, found := range inlineCommand.FindAllStringSubmatch(readFile(t, page.Name), -1) {
			program, verb := found[1], found[2]
			argv := strings.Fields(verb + " --help")
			if program == "svcrun" && verb != "reload" {
				argv = []string{"--help"}
			}
			command := program + " " + strings.Join(argv, " ")
			if help[command] == "" {
				out, err := exec.Command(filepath.Join(bin, program), argv...).Output()
				if err != nil {
					t.Errorf("%s: %s: %s: %v", page.Name, found[0], command, err)
					continue
				}
				help[command] = string(out)
			}
			for _, flag := range inlineFlag.FindAllString(found[0], -1) {
				if flag != "--help" && flag != "--version" && !strings.Contains(help[command], flag) {
					t.Errorf("%s: %s: %s does not tell of %s", page.Name, found[0], command, flag)
				}
			}
		}
	}
}

// docs/policy.md has every key, and no other; a test of unitgen's sees to that.
func TestKeysOfTheDocsAreThoseOfPolicies(t *testing.T) {
	keys := readFile(t, "docs/policy.md")
	for _, page := range pages(t) {
		for _, found := range inlineKey.FindAllStringSubmatch(readFile(t, page.Name), -1) {
			if !strings.Contains(keys, "`"+found[1]+"`") && !strings.Contains(keys, "`"+found[2]+"`") {
				t.Errorf("%s: %s is no key of docs/policy.md", page.Name, found[1])
			}
		}
	}
}
