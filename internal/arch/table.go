package arch

// Rule is what one package may do.
type Rule struct {
	// Pure packages decide: same input, same output. They have no clock, no
	// goroutine, no descriptor, and import only pure packages of the module.
	Pure bool
	// Imports are the packages of the module that it may import.
	Imports []string
	// Modules are the third-party modules that it may import.
	Modules []string
}

// The third-party modules of the programs.
const (
	goSystemd = "github.com/coreos/go-systemd/v22"
	goDBus    = "github.com/godbus/dbus/v5"
	cli       = "github.com/urfave/cli/v2"
	yaml      = "go.yaml.in/yaml/v3"
	hpack     = "golang.org/x/net"
	sys       = "golang.org/x/sys"
)

// Table is the architecture: every package of the module with what it may
// import, from the programs down to the leaves. Tests are free of it, but for
// what the compiler holds. A new package gets a line here in the commit that
// brings it; a new arrow is a decision, so it is made here and not in passing.
var Table = map[string]Rule{
	// The programs: flags in, one call, text out.
	"cmd/svcrun": {
		Imports: []string{
			"drain", "history", "history/records", "internal/proc", "internal/restarts", "internal/supervise", "internal/supervise/machine",
			"internal/syntax",
			"notify", "notify/socket", "policy", "watchdog", "watchdog/probe",
		},
		Modules: []string{sys},
	},
	// It asks what svcrun must not link, and starts for every such probe.
	"cmd/svckit-probe": {Imports: []string{"watchdog", "watchdog/probe"}},
	"cmd/svcgen": {
		Imports: []string{
			"drain", "internal/manager", "internal/manager/plan", "internal/manager/timeline", "internal/syntax", "internal/verbs",
			"policy", "unitgen", "unitgen/unit", "watchdog",
		},
		Modules: []string{cli},
	},
	"cmd/svcstat": {
		Imports: []string{
			"history", "history/bus", "history/journal", "history/records", "history/why", "internal/restarts",
			"internal/syntax", "internal/verbs", "policy",
		},
		Modules: []string{cli, sys},
	},
	"internal/verbs": {Imports: []string{"internal/syntax"}, Modules: []string{cli, sys}},

	// What touches the world.
	"internal/supervise": {
		Imports: []string{
			"drain", "history", "history/records", "internal/proc", "internal/restarts", "internal/supervise/machine",
			"internal/syntax",
			"notify", "notify/socket", "policy", "watchdog", "watchdog/probe",
		},
		Modules: []string{sys},
	},
	// It reports how processes ended in the terms of the machine that decides on it.
	"internal/proc":          {Imports: []string{"internal/supervise/machine", "internal/syntax"}, Modules: []string{sys}},
	"internal/proc/proctest": {Modules: []string{sys}},
	"notify/socket":          {Imports: []string{"notify"}, Modules: []string{sys}},
	"watchdog/probe":         {Imports: []string{"internal/syntax", "watchdog"}, Modules: []string{hpack, sys}},
	"history/records":        {Imports: []string{"history", "internal/statefile"}},
	"internal/restarts":      {Imports: []string{"internal/statefile", "policy"}, Modules: []string{sys}},
	"internal/statefile":     {Modules: []string{sys}},
	"history/bus":            {Imports: []string{"history", "history/why", "internal/syntax", "policy"}, Modules: []string{goDBus, goSystemd}},
	"history/journal":        {Imports: []string{"history"}},

	// svcgen run: the manager where there is no systemd.
	"internal/manager": {
		Imports: []string{
			"history", "internal/manager/machine", "internal/manager/plan", "internal/manager/timeline", "internal/proc",
			"internal/supervise/machine", "internal/syntax", "notify", "notify/socket", "policy",
		},
		Modules: []string{sys},
	},

	// What decides.
	"internal/manager/machine": {
		Pure:    true,
		Imports: []string{"history", "internal/manager/plan", "internal/manager/timeline", "internal/syntax", "notify", "policy"},
	},
	"internal/manager/plan":     {Pure: true, Imports: []string{"internal/syntax", "policy", "unitgen", "unitgen/unit"}},
	"internal/manager/timeline": {Pure: true, Imports: []string{"history", "internal/syntax", "policy"}},
	"internal/supervise/machine": {
		Pure: true,
		// history for the causes and the end line, which svcstat reads back; policy for
		// what the manager takes for a clean end.
		Imports: []string{"drain", "history", "internal/syntax", "notify", "policy", "watchdog"},
	},
	"unitgen": {
		Pure:    true,
		Imports: []string{"drain", "internal/syntax", "policy", "unitgen/unit", "watchdog"},
		Modules: []string{yaml},
	},
	"unitgen/unit":    {Pure: true},
	"policy":          {Pure: true, Imports: []string{"internal/syntax"}},
	"drain":           {Pure: true, Imports: []string{"internal/syntax"}},
	"watchdog":        {Pure: true, Imports: []string{"internal/syntax"}},
	"notify":          {Pure: true},
	"history":         {Pure: true, Imports: []string{"internal/syntax"}},
	"history/why":     {Pure: true, Imports: []string{"history", "internal/syntax", "policy"}},
	"internal/syntax": {Pure: true},

	// What shows and proves the rest.
	"internal/arch":        {},
	"internal/docs":        {},
	"internal/lab":         {Modules: []string{sys}},
	"internal/lab/labtest": {Imports: []string{"internal/lab"}},
	// A second way to boot a root, for what needs limits that namespaces lack.
	"internal/lab/vm":        {Imports: []string{"internal/lab"}, Modules: []string{sys}},
	"internal/lab/vm/vmtest": {Imports: []string{"internal/lab", "internal/lab/labtest", "internal/lab/vm"}},
	"internal/lab/vm/guest":  {Imports: []string{"internal/lab/vm"}, Modules: []string{sys}},
	"packaging/release":      {},
	"packaging/e2e":          {},
	"internal/preflight":     {Imports: []string{"internal/lab"}},
	"internal/story":         {Imports: []string{"internal/lab"}},
	"internal/bench":         {Imports: []string{"internal/lab"}, Modules: []string{sys}},
	"internal/demo":          {Imports: []string{"internal/lab", "internal/story"}, Modules: []string{sys}},
	"policy/e2e":             {},
	"cmd/svcrun/e2e":         {},
	"cmd/svcrun/e2e/limits":  {},
	"cmd/svcgen/e2e":         {},
	"cmd/svcstat/e2e":        {},
	"internal/manager/e2e":   {},

	// What the programs tell of themselves, in a build of their own, and what is made of it.
	"internal/manual":            {Imports: []string{"internal/manual/cmdline", "internal/manual/completion", "internal/manual/page"}},
	"internal/manual/cmdline":    {Modules: []string{cli}},
	"internal/manual/completion": {Imports: []string{"internal/manual/cmdline"}},
	"internal/manual/page":       {Imports: []string{"internal/manual/cmdline"}},
}

// Links says of a program what it must not link, however far down.
var Links = map[string][]string{
	// svcrun stands in every service's path: it starts in a millisecond or
	// two and stays small, which none of these lets it.
	"cmd/svcrun": {
		goDBus, goSystemd, cli, "go.yaml.in/yaml", "gopkg.in/yaml.v2", "gopkg.in/yaml.v3", "sigs.k8s.io/yaml",
		"net/http", "crypto/tls",
	},
	"cmd/svckit-probe": {goDBus, goSystemd, cli, "go.yaml.in/yaml", "net/http"},
}

// LongFunctions are the functions that may be longer than Limits says, each
// with its reason. The one good reason is a switch over events whose every
// case is a line or two: cut up, it reads worse.
var LongFunctions = map[string]string{}
