package unitgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/unitgen/unit"
)

// serviceSection writes [Service], one subject after the other.
func (w *writer) serviceSection(s *unit.Section) {
	w.serviceType(s)
	w.exec(s)
	w.reload(s, w.options.Svcrun)
	w.context(s)
	for _, part := range []func(*unit.Section){
		w.restarts, w.limits, w.stop, w.surroundings, w.hardening,
	} {
		before := len(s.Lines)
		s.Blank()
		if part(s); len(s.Lines) == before+1 {
			s.Lines = s.Lines[:before]
		}
	}
	w.extra(s)
}

// restarts writes when the service is started again, and how that looks.
func (w *writer) restarts(s *unit.Section) {
	w.restart(s)
	w.restartMode(s)
}

// limits writes the manager's bounds in time.
func (w *writer) limits(s *unit.Section) {
	w.timeouts(s)
	w.runtimeMax(s)
}

// exec writes what is executed at a start.
func (w *writer) exec(s *unit.Section) {
	if len(w.policy.StartPre) > 0 {
		s.Comment("start_pre: one after the other; TimeoutStartSec= applies to each of them.")
	}
	for _, argv := range w.policy.StartPre {
		s.Add("ExecStartPre", w.command(argv))
	}
	s.Add("ExecStart", w.execStart()...)
}

// context writes as whom the service runs, where, and with what.
func (w *writer) context(s *unit.Section) {
	p := w.policy
	w.plain(s, "User", p.User)
	w.plain(s, "Group", p.Group)
	w.plain(s, "WorkingDirectory", p.WorkingDir)
	for _, v := range p.Env {
		assignment, err := unit.Assignment(v.Name, v.Value)
		if err != nil {
			w.fail(fmt.Errorf("env.%s: %w", v.Name, err))
		}
		s.Add("Environment", assignment)
	}
	if len(p.EnvFiles) > 0 {
		s.Comment("Read at each start. They have the last word over Environment=.")
	}
	for _, file := range p.EnvFiles {
		w.plain(s, "EnvironmentFile", file)
	}
	w.credentials(s)
	if units := p.SocketUnits(); len(units) > 1 {
		if p.IsTemplate() {
			units = ofInstance(units)
		}
		s.Comment("The sockets of all these, whichever of them started the service.")
		s.Add("Sockets", names(units))
	}
}

// credentialStore is where an administrator keeps credentials (systemd.exec(5)).
const credentialStore = "/etc/credstore"

// credentials writes the files that the manager hands over: the policy's, and
// those that svcgen makes of secrets in checks.
func (w *writer) credentials(s *unit.Section) {
	p := w.policy
	if len(p.Credentials) > 0 {
		if !w.target.Can(credentials) {
			w.refuse("credentials", "credentials: %s has none, they came with systemd %d; name the file in env: instead, readable for the service alone",
				w.target, credentials.Since())
		}
		s.Comment("In the directory that the service finds in $CREDENTIALS_DIRECTORY, for its eyes only.")
	}
	for _, c := range p.Credentials {
		w.plain(s, "LoadCredential", c.Name+":"+c.Path)
	}
	if len(p.secrets) > 0 {
		s.Comment("Secrets of the checks, which stand in files that root alone reads.")
	}
	for _, secret := range p.secrets {
		if !w.target.Can(credentials) {
			w.errs = append(w.errs, Error{secret.at, fmt.Sprintf("a secret in a check, and %s has no credentials: units are readable for all, "+
				"so write the header into a file, as header_file: PATH names it", w.target)})
		}
		name := strings.Replace(secret.Credential, ownCredentials, ownCredentials+p.Name+".", 1)
		w.plain(s, "LoadCredential", secret.Credential+":"+credentialStore+"/"+name)
		w.secrets = append(w.secrets, File{Name: name, Dir: credentialStore, Secret: true, Text: secret.Text})
	}
}

// credentialsSpecifier is the version of systemd that is known to have %d.
const credentialsSpecifier = 252

// execStart is the command: svcrun with a flag to a line, then the service's
// own command on the last one.
func (w *writer) execStart() []unit.Value {
	program, err := unit.ExecPath(w.options.Svcrun)
	w.fail(err)
	parts := []unit.Value{program, runtimeFlag, stateFlag}
	for _, flag := range flags(w.policy, w.derived.Restarts) {
		if w.target.Systemd < credentialsSpecifier {
			flag = strings.ReplaceAll(flag, string(unit.Credentials), string(unit.CredentialsVariable))
		}
		quoted, err := unit.ExecArg(flag)
		w.fail(err)
		parts = append(parts, quoted)
	}
	last := unit.Value("--")
	for _, arg := range w.policy.Exec {
		quoted, err := unit.ExecArg(arg)
		w.fail(err)
		last += " " + quoted
	}
	return append(parts, last)
}

// hardening writes what the service is kept from. What extra says of the same
// stands in its place.
func (w *writer) hardening(s *unit.Section) {
	if w.policy.Hardening == HardeningOff {
		return
	}
	s.Comment("hardening: " + string(w.policy.Hardening) + ".")
	for _, r := range restrictions(w.policy, w.options.Svcrun) {
		if _, overruled := lookup(w.policy.Extra["Service"], r.directive); overruled {
			s.Comment(r.directive + "= is extra's.")
			continue
		}
		w.add(s, r.directive, r.value, r.why)
	}
}

// runtimeMax writes how long the service may run.
func (w *writer) runtimeMax(s *unit.Section) {
	p := w.policy
	if p.RuntimeMax == 0 {
		return
	}
	after := "and started again"
	if slices.Contains([]string{never, "on-success", "on-abort", "on-watchdog"}, p.Restart.When) {
		after = "and stays down, as restart.when is " + p.Restart.When
		w.warnings = append(w.warnings, Warning{Position: p.where("runtime_max"), Message: fmt.Sprintf(
			"runtime_max: after %s the service is stopped, and restart.when %s does not start it again; on-failure and always do",
			syntax.FormatDuration(p.RuntimeMax), p.Restart.When)})
	}
	s.Comment("runtime_max: after that the service is stopped in its own time, " + after + ".")
	s.Add("RuntimeMaxSec", exact(p.RuntimeMax))
}
