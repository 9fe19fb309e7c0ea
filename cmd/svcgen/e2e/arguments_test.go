package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/unitgen/unit"
)

// pieces are what random texts are made of: what means something to a shell,
// to YAML, to systemd or to svcrun's own reader of commands and checks.
var pieces = []string{
	"\n", "\t", "\r", "\x01", "\x1b", "\x7f", "\u0085", "\u2028", "\ufeff", "ä", "€", "😀", "\U0010fffd", " ", "  ", `"`, `'`, `\`, `\\`, `\n`,
	`\x41`, `\u00e4`, "%", "%%", "%n", "%i", "%d", "%t", "$", "$$", "$HOME", "${HOME}", "${HOME:-x}", "$(date)", "`date`", ";", " ; ", "#", "&", "|",
	"<", ">", "*", "?", "~", "!", "{", "}", "[", "]", "-", "--", "@", "+", ":", "=", ",", `\,`, "a", "Z", "0", "/", ".",
}

// randomTexts are n texts without NUL, which no argument can hold.
func randomTexts(random *rand.Rand, n int) []string {
	texts := make([]string, n)
	for i := range texts {
		for range random.IntN(12) {
			if random.IntN(4) > 0 {
				texts[i] += pieces[random.IntN(len(pieces))]
			} else if r := rune(1 + random.IntN(utf8.MaxRune)); utf8.ValidRune(r) && !unit.IsNoncharacter(r) {
				texts[i] += string(r)
			}
		}
	}
	return texts
}

// yamlList writes texts as YAML has them, with escapes for all that is not
// plain ASCII.
func yamlList(texts ...string) string {
	var words []string
	for _, text := range texts {
		var out strings.Builder
		for _, r := range text {
			if r >= ' ' && r < 0x7f && r != '"' && r != '\\' {
				out.WriteRune(r)
			} else {
				fmt.Fprintf(&out, `\U%08x`, r)
			}
		}
		words = append(words, `"`+out.String()+`"`)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// dumper is a command that writes its arguments, and its environment, into
// files, then goes on with a shell command.
func dumper(file, then string, args []string) []string {
	return append([]string{"/bin/sh", "-c", "cat /proc/$$/environ >" + file + ".env; cat /proc/$$/cmdline >" + file + "; " + then}, args...)
}

// TestArgumentsAndVariablesArriveUnchanged sends random texts the whole way:
// YAML, policy, flag, unit, the manager, svcrun, the process.
func TestArgumentsAndVariablesArriveUnchanged(t *testing.T) {
	const arguments, variables = 120, 60
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		units := 2
		if os.Getenv("SVCKIT_FULL") != "" {
			units = 20
		}
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		for range units {
			name := strings.TrimSuffix(m.UnitName(), ".service")
			dir := "/run/" + name
			m.Run("mkdir", dir)
			wanted := map[string][]string{}
			command := func(file, then string) string {
				argv := dumper(dir+"/"+file, then, randomTexts(random, arguments))
				wanted[file] = argv
				return yamlList(argv...)
			}
			values := randomTexts(random, variables)
			var env []string
			for i, value := range values {
				env = append(env, fmt.Sprintf("V%d: %s", i, strings.Trim(yamlList(value), "[]")))
			}
			policy := fmt.Sprintf(`
name: %s
exec: %s
start_pre: [%s]
env: {%s}
ready: {checks: [{exec: %s}]}
reload: {exec: %s}
drain: {pre_stop: %s}
`, name, command("main", ": >"+dir+"/written; exec sleep 1000"), command("pre", ":"), strings.Join(env, ", "), command("check", ":"), command("reload", ":"), command("hook", ":"))
			s := &services{t: t, m: m}
			s.add(policy)
			s.load()
			m.Run("systemctl", "start", name+".service")
			m.WaitShell(`[ -e "$0" ]`, dir+"/written")
			m.Run("systemctl", "reload", name+".service")
			m.Run("systemctl", "stop", name+".service")
			for file, argv := range wanted {
				got := strings.Split(strings.TrimSuffix(m.Read(path.Join(dir, file)), "\x00"), "\x00")
				if !slices.Equal(got, argv) {
					t.Errorf("%s: the arguments of %s\nare    %q\nwanted %q", name, file, got, argv)
				}
			}
			got := strings.Split(m.Read(path.Join(dir, "main.env")), "\x00")
			for i, value := range values {
				if want := fmt.Sprintf("V%d=%s", i, value); !slices.Contains(got, want) {
					t.Errorf("%s: no variable %q in %q", name, want, got)
				}
			}
		}
	})
}
