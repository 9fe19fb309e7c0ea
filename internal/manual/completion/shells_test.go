package completion_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/manual/cmdline"
	"github.com/svckit/svckit/internal/manual/completion"
)

// The command lines of three programs, small ones of the same kinds as the
// real ones have.
var programs = []cmdline.Program{
	{
		Name:    "svcgen",
		Flags:   []cmdline.Flag{{Names: []string{"help", "h"}, Help: "show help"}, {Names: []string{"version", "v"}}},
		Choices: map[string][]string{"FORMAT": {"text", "json"}, "TARGET": {"debian11", "debian12", "v257"}},
		Verbs: []cmdline.Verb{
			{Name: "generate", Usage: "writes: [the units]", Arguments: []string{"FILE"}, Flags: []cmdline.Flag{
				{Names: []string{"output", "o"}, Value: "DIR", Help: "it's [there]"}, {Names: []string{"target"}, Value: "TARGET"},
				{Names: []string{"format"}, Value: "FORMAT"}, {Names: []string{"force"}},
			}},
			{Name: "generator", Arguments: []string{"NORMAL", "EARLY", "LATE"}},
		},
	},
	{
		Name: "svcstat", Choices: map[string][]string{"CAUSE": {"clean", "unhealthy", "unknown"}},
		Verbs: []cmdline.Verb{
			{Name: "list", Arguments: []string{"[PATTERN...]"}, Flags: []cmdline.Flag{{Names: []string{"all", "a"}}}},
			{Name: "history", Arguments: []string{"UNIT"}, Flags: []cmdline.Flag{
				{Names: []string{"n"}, Value: "N"}, {Names: []string{"cause"}, Value: "CAUSE", Again: true}, {Names: []string{"user"}},
			}},
		},
	},
	{
		Name: "svcrun", Wraps: true, Choices: map[string][]string{"SIG": {"HUP", "TERM"}, "CHECK": {"http", "tcp", "notify"}},
		Flags: []cmdline.Flag{
			{Names: []string{"ready"}, Value: "CHECK", Again: true}, {Names: []string{"stop"}, Value: "SIG@D[,main]", Again: true},
			{Names: []string{"on-unhealthy"}, Value: "drain|abort|report"}, {Names: []string{"runtime-dir"}, Value: "DIR"},
			{Names: []string{"help"}},
		},
		Verbs: []cmdline.Verb{{Name: "reload", Flags: []cmdline.Flag{{Names: []string{"runtime-dir"}, Value: "DIR"}}}},
	},
}

// offers are what a Tab behind a line has to offer, and what it must not. Fish
// offers short flags and other files, too, so that "not" is less for it.
var offers = []struct {
	line string
	want []string
	not  []string
}{
	{"svcgen gen", []string{"generate", "generator"}, nil},
	{"svcgen generate --t", []string{"--target"}, []string{"--output"}},
	{"svcgen generate --target d", []string{"debian11", "debian12"}, []string{"v257"}},
	{"svcgen generate --target=d", []string{"debian11", "debian12"}, []string{"v257"}},
	{"svcgen generate a.yaml --format ", []string{"text", "json"}, []string{"a.yaml"}},
	{"svcgen generate -o s", []string{"sub/"}, []string{"svckit.txt"}},
	{"svcgen generate a", []string{"a.yaml"}, []string{"sub/"}},
	{"svcgen generator s", []string{"sub/"}, []string{"svckit.txt"}},
	{"svcgen generator --f", nil, []string{"--force"}},
	{"svcstat history ", []string{"nginx.service", "worker@1.service"}, []string{"mine.service"}},
	{"svcstat history dev", []string{`dev\\x2dsda.service`}, nil},
	{"svcstat history worker@", []string{"worker@1.service"}, nil},
	{"svcstat history --user ", []string{"mine.service"}, []string{"nginx.service"}},
	{"svcstat history -n 5 ng", []string{"nginx.service"}, nil},
	{"svcstat history --cause un", []string{"unhealthy", "unknown"}, []string{"clean"}},
	{"svcstat list nginx.service wor", []string{"worker@1.service"}, nil},
	{"svcstat list --a", []string{"--all"}, []string{"--cause"}},
	{"svcrun --on-unhealthy=", []string{"drain", "abort", "report"}, nil},
	{"svcrun --stop T", []string{"TERM@"}, []string{"HUP@"}},
	{"svcrun --ready ", []string{"http://", "tcp:", "notify"}, nil},
	{"svcrun --ready=tcp:localhost:80 --on", []string{"--on-unhealthy"}, nil},
	{"svcrun rel", []string{"reload"}, nil},
	{"svcrun reload --", []string{"--runtime-dir"}, []string{"--ready"}},
	{"svcrun --ready notify -- svckit-tr", []string{"svckit-true"}, []string{"reload"}},
	{"svcrun --ready=notify svckit-tr", []string{"svckit-true"}, nil},
	{"svcrun -- svckit-true svck", []string{"svckit.txt"}, []string{"svckit-true"}},
	{"svcrun -- svckit-true --re", nil, []string{"--ready"}},
}

// stage is a directory with the scripts, files to be found, and commands in
// PATH: a systemctl that knows four units.
type stage struct{ dir string }

func newStage(t *testing.T) stage {
	t.Helper()
	s := stage{t.TempDir()}
	for _, p := range programs {
		for name, make := range map[string]func(cmdline.Program) (string, error){
			"bash/" + p.Name: completion.Bash, "zsh/_" + p.Name: completion.Zsh, "fish/" + p.Name + ".fish": completion.Fish,
		} {
			text, err := make(p)
			if err != nil {
				t.Fatal(err)
			}
			s.write(t, name, text, 0o644)
		}
		s.write(t, "bin/"+p.Name, "#!/bin/sh\n", 0o755)
	}
	s.write(t, "bin/svckit-true", "#!/bin/sh\n", 0o755)
	s.write(t, "bin/systemctl", `#!/bin/sh
case " $* " in
*' --user '*) echo 'mine.service loaded active running Mine' ;;
*) echo 'nginx.service loaded active running Web'; echo 'worker@1.service loaded failed failed Work'
	echo 'dev\x2dsda.service loaded active exited Disk' ;;
esac
`, 0o755)
	for _, name := range []string{"here/a.yaml", "here/svckit.txt", "here/sub/b.yaml"} {
		s.write(t, name, "", 0o644)
	}
	return s
}

func (s stage) write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// run runs a shell there, with a home of its own.
func (s stage) run(t *testing.T, argv ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = filepath.Join(s.dir, "here")
	cmd.Env = []string{"PATH=" + filepath.Join(s.dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + s.dir, "TERM=dumb", "LC_ALL=C.UTF-8"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if stderr.Len() > 0 {
		t.Errorf("%s said %s (%v)", argv[0], stderr.Bytes(), err)
	}
	return string(out)
}

// check has a shell complete all lines; complete is how.
func check(t *testing.T, shell string, complete func(stage, string) []string) {
	if _, err := exec.LookPath(shell); err != nil {
		if os.Getenv("SVCKIT_E2E") == "require" {
			t.Fatalf("%s is not there; make preflight says how to get it", shell)
		}
		t.Skipf("SKIPPED: %s is not there, so that its completions are not tried; apt-get install -y %s", shell, shell)
	}
	s := newStage(t)
	for _, o := range offers {
		got := complete(s, o.line)
		for _, want := range o.want {
			if !slices.Contains(got, want) {
				t.Errorf("%q offers %q, and not %s", o.line, got, want)
			}
		}
		for _, not := range o.not {
			if slices.Contains(got, not) {
				t.Errorf("%q offers %s, too: %q", o.line, not, got)
			}
		}
	}
}

// bash has the function of a program answer for a line, after some more of a
// script, with what readline would give it.
func (s stage) bash(t *testing.T, more, line string) (answers, cut string) {
	t.Helper()
	words := readlineWords(line)
	cut = words[len(words)-1]
	if strings.Trim(cut, "=:@") == "" {
		cut = ""
	}
	script := more + `
		source "$1"; line=$2 cut=$3 name=$4; shift 4; COMP_LINE=$line COMP_POINT=${#line} COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_$name "$name" "$cut"; printf '%s\n' "${COMPREPLY[@]}"`
	argv := []string{"bash", "--norc", "-c", script, "bash", filepath.Join(s.dir, "bash", words[0]), line, cut, words[0]}
	return s.run(t, append(argv, words...)...), cut
}

// TestBashLeavesTheCommandToBashCompletion has its _command_offset called with
// the place of the command among readline's words.
func TestBashLeavesTheCommandToBashCompletion(t *testing.T) {
	const stub = `_command_offset() { COMPREPLY=("${COMP_WORDS[$1]}"); }`
	s := newStage(t)
	for _, line := range []string{"svcrun -- git sta", "svcrun --ready=http://[::1]:80/,owned -- git -C x sta", "svcrun --ready notify git sta"} {
		if got, _ := s.bash(t, stub, line); got != "git\n" {
			t.Errorf("%q: the command is taken to be %q", line, got)
		}
	}
}

func TestBashCompletes(t *testing.T) {
	check(t, "bash", func(s stage, line string) []string {
		answers, cut := s.bash(t, "", line)
		lead := strings.TrimSuffix(line[strings.LastIndexByte(line, ' ')+1:], cut) // that readline has cut off
		if strings.HasPrefix(lead, "-") {
			lead = ""
		}
		var got []string
		for answer := range strings.Lines(answers) {
			answer = lead + strings.TrimSuffix(strings.TrimSpace(answer), "=")
			if info, err := os.Stat(filepath.Join(s.dir, "here", answer)); err == nil && info.IsDir() && answer != "" {
				answer += "/" // as readline adds it
			}
			got = append(got, answer)
		}
		return got
	})
}

// readlineWords are the words of COMP_WORDS.
func readlineWords(line string) []string {
	words := []string{""}
	for _, r := range line {
		at := len(words) - 1
		isBreak := strings.ContainsRune("=:@", r)
		switch wasBreak := words[at] != "" && strings.Trim(words[at], "=:@") == ""; {
		case r == ' ' && words[at] != "":
			words = append(words, "")
		case r == ' ':
		case words[at] != "" && isBreak != wasBreak:
			words = append(words, string(r))
		default:
			words[at] += string(r)
		}
	}
	return words
}

func TestZshCompletes(t *testing.T) {
	driver, err := filepath.Abs("testdata/complete.zsh")
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string][]string{} // of all lines, as a zsh takes long to begin
	check(t, "zsh", func(s stage, line string) []string {
		if len(answers) == 0 {
			argv := []string{"zsh", "-f", driver, filepath.Join(s.dir, "zsh")}
			for _, o := range offers {
				argv = append(argv, o.line)
			}
			for i, answer := range strings.SplitN(s.run(t, argv...), "\nEND\n", len(offers)) {
				answers[offers[i].line] = matches(answer, filepath.Join(s.dir, "here"))
			}
		}
		return answers[line]
	})
}

// matches are those that zsh has told, in a directory.
func matches(answer, dir string) []string {
	var got []string
	for line := range strings.Lines(answer) {
		if match, ok := strings.CutPrefix(strings.TrimSpace(line), "MATCH "); ok {
			match = strings.TrimSuffix(match, "=")
			if info, err := os.Stat(filepath.Join(dir, match)); err == nil && info.IsDir() {
				match += "/"
			}
			got = append(got, match)
		}
	}
	return got
}

func TestFishCompletes(t *testing.T) {
	check(t, "fish", func(s stage, line string) []string {
		name, _, _ := strings.Cut(line, " ")
		var got []string
		for answer := range strings.Lines(s.run(t, "fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", filepath.Join(s.dir, "fish", name+".fish"), line)) {
			word, _, _ := strings.Cut(strings.TrimSpace(answer), "\t")
			if flag, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(flag, "--") {
				word = value
			}
			got = append(got, strings.ReplaceAll(word, `\`, `\\`)) // as fish writes it into the line
		}
		return got
	})
}
