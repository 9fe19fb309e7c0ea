package unitgen

import (
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// reloadSection is the schema of reload:.
var reloadSection = section[Reload]{
	path: "reload", example: "{signal: HUP, timeout: 60s}",
	fields: map[string]field[Reload]{
		"signal":  readReloadSignal,
		"exec":    func(r *reader, v value, into *Reload) { into.Command = r.command(v) },
		"timeout": func(r *reader, v value, into *Reload) { r.duration(v, minReload, &into.Timeout) },
	},
	instead: [][]string{{"signal", "exec"}},
}

// minReload is the least that svcrun takes.
const minReload = time.Millisecond

// sigstop is SIGSTOP, of all architectures that there are.
const sigstop syntax.Signal = 19

func readReload(r *reader, v value, p *Policy) {
	reloadSection.read(r, v, &p.Reload)
	p.Reload.Wanted = true
	_, signal := r.at["reload.signal"]
	if _, exec := r.at["reload.exec"]; exec && signal {
		r.failAt([]string{"reload.exec"}, "reload.exec takes the place of reload.signal; remove one of them")
	}
}

func readReloadSignal(r *reader, v value, into *Reload) {
	text, ok := r.text(v, "HUP")
	if !ok {
		return
	}
	signal, err := syntax.ParseSignal(text)
	switch {
	case err != nil:
		r.errorf(v.Node, "%s: %w", v.path, err)
	case signal == syntax.SIGKILL || signal == sigstop:
		r.errorf(v.Node, "%s: no process can answer %s; write the signal that the service reloads at, such as HUP", v.path, signal)
	default:
		into.Signal = signal
	}
}
