package unitgen

import (
	"strings"
	"testing"
)

func TestReloadIsWhatTheTargetHas(t *testing.T) {
	const policy = "name: x\nexec: /bin/x\nready: {checks: ['tcp:127.0.0.1:80']}\n"
	for _, c := range []struct {
		reload, target         string
		kind, signal, command  string // Type=, ReloadSignal=, ExecReload=
		flag, comment, timeout string
	}{
		{"", "debian13", "notify", "", "", "", "", "2min 15s"},
		{"", "debian12", "notify", "", "", "", "", "3min 15s"},
		{"reload: {}", "debian13", "notify-reload", "SIGHUP", "", "", "svcrun passes HUP on. It is over when every ready check holds again, after 60s at the latest.", "2min 15s"},
		{"reload: {}", "debian12", "notify", "", "/usr/bin/svcrun reload --runtime-dir=%t/svckit/%N", "",
			"debian12 (systemd 252) has no Type=notify-reload: svcrun is asked, and answers when it is over.", "3min 15s"},
		{"reload: {signal: USR1, timeout: 30s}", "debian13", "notify-reload", "SIGHUP", "", "--reload-signal=USR1 \\\n    --reload-timeout=30s", "svcrun passes USR1 on. It is over when every ready check holds again, after 30s at the latest.", "2min 15s"},
		{"reload: {exec: [/bin/reload, a b]}", "debian13", "notify-reload", "SIGHUP", "", `"--reload-exec=/bin/reload \"a b\""`, "svcrun runs the policy's command.", "2min 15s"},
		{"reload: {timeout: 10min}", "debian12", "notify", "", "/usr/bin/svcrun reload --runtime-dir=%t/svckit/%N", "--reload-timeout=10min",
			"A reload, to which the same limit applies: 10min; and 5s to spare.", "10min 5s"},
	} {
		unit := generated(t, policy+c.reload+"\n", c.target)
		for name, want := range map[string]string{"Type": c.kind, "ReloadSignal": c.signal, "ExecReload": c.command, "TimeoutStartSec": c.timeout} {
			if got := directive(t, unit, name); got != want {
				t.Errorf("%s for %s: %s=%s; want %s", c.reload, c.target, name, got, want)
			}
		}
		exec := directive(t, unit, "ExecStart")
		if !strings.Contains(exec, c.flag) || c.flag == "" && strings.Contains(exec, "reload") || !strings.Contains(unit, c.comment) {
			t.Errorf("%s for %s: want the flag %s and the comment %s in\n%s", c.reload, c.target, c.flag, c.comment, unit)
		}
		if c.reload == "" && strings.Contains(unit, "eload") {
			t.Errorf("a reload that nobody asked for:\n%s", unit)
		}
	}
}

func TestReloadThatNobodyCanWaitForIsWarnedOf(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "reload: {}\n": 1, "reload: {exec: /bin/reload}\n": 0, "reload: {}\nready: {checks: [notify]}\n": 0,
	} {
		_, warnings, err := Derive(mustRead(t, "name: x\nexec: /bin/x\n"+text), profile(t, "debian13"))
		if err != nil || len(warnings) != want {
			t.Errorf("%q: %v, %v; want %d warnings", text, warnings, err, want)
		}
		for _, w := range warnings {
			if w.Position.Line != 3 {
				t.Errorf("%q: the warning stands at line %d; want 3", text, w.Position.Line)
			}
		}
	}
}

func TestWrongReloadIsRefusedWithItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"reload: HUP":                           `x.yaml:3:9: reload wants a mapping, such as {signal: HUP, timeout: 60s}; this is`,
		"reload: {signal: HUPP}":                `x.yaml:3:18: reload.signal: unknown signal "HUPP"; did you mean HUP`,
		"reload: {signal: KILL}":                `x.yaml:3:18: reload.signal: no process can answer SIGKILL; write the signal that the service reloads at, such as HUP`,
		"reload: {timeout: 0}":                  `x.yaml:3:19: reload.timeout: "0" is too short; the least is 1ms`,
		"reload: {exec: reload}":                `x.yaml:3:16: reload.exec: relative command path "reload"; write the absolute path`,
		"reload: {exec: /bin/a, signal: HUP}":   `x.yaml:3:16: reload.exec takes the place of reload.signal; remove one of them`,
		"reload: {command: /bin/a}":             `x.yaml:3:10: unknown key "command" in reload; known are exec, signal, timeout`,
		"reload: {exec: '/bin/kill -HUP $PID'}": `x.yaml:3:16: reload.exec: $ means something to a shell only`,
	} {
		_, err := Read("x.yaml", []byte("name: x\nexec: /bin/x\n"+text+"\n"))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}
