package unitgen

import (
	"slices"
	"strings"
)

// ownDirectives are those that svcgen writes, by section, with what to write
// in a policy instead. Beside them stand those that would undo what svcrun
// does. What hardening: writes is not among them: there extra has the last word.
var ownDirectives = map[string]map[string]string{
	"Unit": {
		"Description": "write description:", "After": "write after:", "Wants": "write wants:", "Requires": "write requires:",
		"PartOf": "write part_of:", "OnFailure": "write on_give_up: or on_each_failure:",
		"StartLimitBurst": giveUpCure, "StartLimitIntervalSec": giveUpCure, "StartLimitInterval": giveUpCure,
	},
	"Service": {
		"ExecStart": "write exec:", "ExecStartPre": "write start_pre:", "ExecReload": "write reload:", "ExecStop": "write drain: {pre_stop: ...}",
		"User": "write user:", "Group": "write group:", "WorkingDirectory": "write working_dir:", "Environment": "write env:",
		"EnvironmentFile": "write env_files:", "LoadCredential": "write credentials:", "Sockets": "write sockets:",

		"Restart": "write restart: {when: ...}", "RestartSec": ladderCure, "RestartSteps": ladderCure, "RestartMaxDelaySec": ladderCure,
		"RestartRandomizedDelaySec": "write restart: {jitter: ...}", "RestartPreventExitStatus": "write restart: {never_on: ...}",
		"RestartForceExitStatus": svcrunCure, "RestartMode": "write on_give_up: or on_each_failure:", "SuccessExitStatus": "write success:",
		"StartLimitBurst": giveUpCure, "StartLimitInterval": giveUpCure, "StartLimitIntervalSec": giveUpCure,

		"TimeoutStartSec": "write ready: {start_timeout: ...}", "TimeoutStopSec": "write drain:", "TimeoutSec": "write ready: and drain:",
		"TimeoutAbortSec": svcrunCure, "WatchdogSec": "write live:", "RuntimeMaxSec": "write runtime_max:",

		"Type": svcrunCure, "NotifyAccess": svcrunCure, "ReloadSignal": "write reload:", "KillMode": svcrunCure, "KillSignal": svcrunCure,
		"SendSIGKILL": svcrunCure, "SendSIGHUP": svcrunCure, "FinalKillSignal": svcrunCure, "WatchdogSignal": svcrunCure, "OOMPolicy": svcrunCure,
		"PIDFile": svcrunCure, "GuessMainPID": svcrunCure, "RemainAfterExit": svcrunCure, "BusName": svcrunCure,
		"SyslogIdentifier": "the journal shows the program's name",

		"RuntimeDirectory": "write dirs: {runtime: [...]}", "StateDirectory": "write dirs: {state: [...]}", "CacheDirectory": "write dirs: {cache: [...]}",
		"LogsDirectory": "write dirs: {logs: [...]}", "ConfigurationDirectory": "write dirs: {config: [...]}", "RuntimeDirectoryPreserve": svcrunCure,

		"MemoryMax": resourcesCure, "MemoryHigh": resourcesCure, "MemorySwapMax": resourcesCure, "TasksMax": resourcesCure,
		"CPUQuota": resourcesCure, "CPUWeight": resourcesCure, "IOWeight": resourcesCure, "LimitNOFILE": resourcesCure,

		"RootDirectory": rootCure, "RootImage": rootCure, "RootMStack": rootCure,
	},
	"Install": {"WantedBy": "write install: {wanted_by: [...]}", "Also": "sockets: writes it"},
}

// What to write instead, where it is the same for several.
const (
	giveUpCure    = "write restart: {give_up: ...}"
	ladderCure    = "write restart: {base: ..., cap: ...}"
	resourcesCure = "write resources:"
	svcrunCure    = "svcrun depends on it, so leave it out"
	rootCure      = "svcrun is not in there; leave it out, and write hardening: strict"
)

// directiveSection are the names of all directives of each section that extra
// knows.
var directiveSection = sectionsOf(directiveTable)

func sectionsOf(table string) map[string][]string {
	names := map[string][]string{}
	for line := range strings.Lines(table) {
		section, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if _, words, _ := strings.Cut(rest, "\t"); slices.Contains(extraSections, section) {
			names[section] = append(names[section], strings.Fields(words)...)
		}
	}
	return names
}
