package completion

import (
	_ "embed" // the templates
	"strings"
	"text/template"

	"github.com/svckit/svckit/internal/manual/cmdline"
)

var (
	//go:embed bash.tmpl
	bashText string
	//go:embed zsh.tmpl
	zshText string
	//go:embed fish.tmpl
	fishText string
)

// functions are those that the templates have beside Go's own.
var functions = template.FuncMap{
	"join":    strings.Join,
	"quote":   quote,
	"fish":    func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" },
	"bracket": func(s string) string { return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(s) },
	"colon":   func(s string) string { return strings.ReplaceAll(s, ":", `\:`) },
}

// quote quotes for bash and zsh.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Bash is a completion for /usr/share/bash-completion/completions.
func Bash(p cmdline.Program) (string, error) { return fill("bash", bashText, p) }

// Zsh is a completion for a directory of fpath; its file's name is _ and the
// program's.
func Zsh(p cmdline.Program) (string, error) { return fill("zsh", zshText, p) }

// Fish is a completion for /usr/share/fish/vendor_completions.d.
func Fish(p cmdline.Program) (string, error) { return fill("fish", fishText, p) }

func fill(name, text string, p cmdline.Program) (string, error) {
	t, err := template.New(name).Funcs(functions).Parse(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = t.Execute(&out, scriptOf(p))
	return out.String(), err
}
