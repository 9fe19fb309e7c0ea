// Package lab boots a real systemd for tests and for the demo: that of any
// Debian suite, as process 1 of namespaces of its own, without a virtual
// machine. It takes half a second once the suite's root is there.
//
// A root is bootstrapped by mmdebstrap from the machine's own Debian mirror
// (or SVCKIT_MIRROR) at the first use and cached outside of the checkout, in
// /var/cache/svckit/lab (or SVCKIT_LAB_CACHE). It holds systemd, dbus and
// polkit, curl, and redis-server and nginx, which do not start by themselves.
//
// The entry point is [New], and its [Lab.Boot]:
//
//	l := lab.New()
//	if needs := l.Missing(ctx, lab.Trixie); len(needs) > 0 {
//		return fmt.Errorf("no lab here: %v", needs) // each with its cure
//	}
//	m, err := l.Boot(ctx, lab.Trixie)
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	unit := m.UnitName("demo") // "demo-1.service"
//	err = m.InstallUnit(ctx, unit, "[Service]\nExecStart=/bin/sleep 1000\n")
//	...
//	out, err := m.Output(ctx, "systemctl", "start", unit)
//	err = m.WaitFor(ctx, unit, "ActiveState=active", "SubState=running")
//	show, err := m.Show(ctx, unit, "MainPID", "NRestarts") // map[string]string
//
// Tests use package [github.com/svckit/svckit/internal/lab/labtest], which
// turns errors into failures and a missing lab into a loud skip.
//
// Invariants: a machine runs on a copy-on-write layer in memory, so nothing
// that it does reaches the root or another machine. It lives no longer than the
// process that booted it, even if that is killed. After Close no process, mount
// or control group of it is left; what a killed process could not take away
// (an empty control group) the next boot does.
//
// Limits: root with CAP_SYS_ADMIN. The machine has those cgroup controllers
// that the host's version 2 hierarchy grants, on a host with version 1 beside it
// often none: no memory and no pids limit. Its network is lo. The kernel is
// shared: no modules, no clock, no sysctl.
package lab
