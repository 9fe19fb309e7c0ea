package unitgen

import (
	"fmt"

	"github.com/svckit/svckit/unitgen/unit"
)

// serviceType writes Type=, and how the manager reloads the service.
func (w *writer) serviceType(s *unit.Section) {
	p := w.policy
	s.Comment("svcrun is the main process, and the only one that speaks to systemd.")
	if !p.Reload.Wanted || !w.target.Can(notifyReload) {
		s.Add("Type", "notify")
		s.Add("NotifyAccess", "main")
		return
	}
	s.Add("Type", "notify-reload")
	s.Add("NotifyAccess", "main")
	s.Comment(w.reloadText())
	s.Add("ReloadSignal", "SIGHUP")
}

// reload writes ExecReload= where there is no notify-reload.
func (w *writer) reload(s *unit.Section, svcrun string) {
	if !w.policy.Reload.Wanted || w.target.Can(notifyReload) {
		return
	}
	if len(w.policy.Name) > maxAskedName {
		w.refuse("name", "name: with %d bytes it is too long for a reload on %s, which asks svcrun by a socket of that name; shorten it to %d, or remove reload",
			len(w.policy.Name), w.target, maxAskedName)
	}
	program, err := unit.ExecPath(svcrun)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("svcrun: %w", err)
	}
	s.Comment(fmt.Sprintf("%s\n%s has no Type=notify-reload: svcrun is asked, and answers when it is over.",
		w.reloadText(), w.target))
	s.Add("ExecReload", program+" reload "+runtimeFlag)
}

// maxAskedName is the longest name with which the path of svcrun's socket,
// /run/svckit/NAME/notify, is one (unix(7)).
const maxAskedName = maxSocketPath - len("/run/svckit//notify")

// reloadText says what a reload does, and how long it may take.
func (w *writer) reloadText() string {
	r := w.policy.Reload
	how := "passes " + r.Signal.Name() + " on"
	if len(r.Command) > 0 {
		how = "runs the policy's command"
	}
	over := "when every ready check holds again"
	if len(w.policy.Ready.Checks) == 0 {
		over = "at once, as there is no ready check"
		if len(r.Command) > 0 {
			over = "when that has ended, as there is no ready check"
		}
	}
	return fmt.Sprintf("A reload: svcrun %s. It is over %s, after %s at the latest.", how, over, about(r.Timeout))
}

// reloadWarnings tell of a reload that nobody waits for.
func reloadWarnings(p Policy) []Warning {
	if !p.Reload.Wanted || len(p.Ready.Checks) > 0 || len(p.Reload.Command) > 0 {
		return nil
	}
	return []Warning{{Position: p.where("reload"), Message: "reload without ready.checks: systemctl reload returns when the signal is sent, not when the service has reloaded; add a ready check"}}
}
