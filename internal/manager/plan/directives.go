package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/unitgen"
)

// setter takes up the value of one directive.
type setter func(r *reader, value string) error

// directives are those that mean something here, by section. What is in no
// section of these only systemd can honour. A nil setter is of a directive that
// changes nothing that could be seen.
var directives = map[string]map[string]setter{
	"Unit": {
		"Description": nil, "SourcePath": nil, "Documentation": nil,
		"After":     func(r *reader, v string) error { return r.units(v, &r.service.After) },
		"Wants":     func(r *reader, v string) error { return r.units(v, &r.service.Wants) },
		"Requires":  func(r *reader, v string) error { return r.units(v, &r.service.Requires) },
		"PartOf":    func(r *reader, v string) error { return r.units(v, &r.service.PartOf) },
		"OnFailure": func(r *reader, v string) error { return r.units(v, &r.service.OnFail) },

		"StartLimitBurst":       func(r *reader, v string) error { return count(v, &r.service.Restarts.Limit.Starts) },
		"StartLimitIntervalSec": func(r *reader, v string) error { return span(v, &r.service.Restarts.Limit.Within) },
	},
	"Service": {
		"Type":         func(r *reader, v string) error { return r.serviceType(v) },
		"NotifyAccess": only("main"), "KillMode": only("mixed"), "SendSIGKILL": only("yes"),
		"KillSignal":   func(r *reader, v string) error { return signal(v, &r.service.StopSignal) },
		"ReloadSignal": func(r *reader, v string) error { return signal(v, &r.reloadSignal) },

		"ExecCondition": (*reader).condition,
		"ExecStartPre":  (*reader).startPre,
		"ExecStart":     (*reader).start,
		"ExecStartPost": (*reader).startPost,
		"ExecReload":    (*reader).reload,
		"Sockets":       nil, // the sockets themselves say whose they are

		"Restart":                   (*reader).restart,
		"RestartMode":               (*reader).restartMode,
		"RestartSec":                func(r *reader, v string) error { return span(v, &r.service.Restarts.Ladder.Base) },
		"RestartSteps":              func(r *reader, v string) error { return count(v, &r.service.Restarts.Ladder.Steps) },
		"RestartMaxDelaySec":        func(r *reader, v string) error { return span(v, &r.service.Restarts.Ladder.Cap) },
		"RestartRandomizedDelaySec": func(r *reader, v string) error { return span(v, &r.service.Restarts.Randomized) },
		"RestartPreventExitStatus":  func(r *reader, v string) error { return statuses(v, &r.service.Restarts.Rules.Prevent) },
		"RestartForceExitStatus":    func(r *reader, v string) error { return statuses(v, &r.service.Restarts.Rules.Force) },
		"SuccessExitStatus":         func(r *reader, v string) error { return statuses(v, &r.service.Restarts.Rules.Success) },

		"TimeoutStartSec": func(r *reader, v string) error { return limit(v, &r.service.StartTimeout) },
		"TimeoutStopSec":  func(r *reader, v string) error { return limit(v, &r.service.StopTimeout) },
		"TimeoutAbortSec": func(r *reader, v string) error { return limit(v, &r.service.AbortTimeout) },
		"WatchdogSec":     func(r *reader, v string) error { return unlessForEver(v, &r.service.Watchdog) },
		"RuntimeMaxSec":   func(r *reader, v string) error { return unlessForEver(v, &r.service.RuntimeMax) },

		"User":             func(r *reader, v string) error { return r.text(v, &r.service.Surroundings.User) },
		"Group":            func(r *reader, v string) error { return r.text(v, &r.service.Surroundings.Group) },
		"WorkingDirectory": func(r *reader, v string) error { return r.text(v, &r.service.Surroundings.WorkingDir) },
		"SyslogIdentifier": nil, // lines are marked with the service's name
		"Environment":      (*reader).environment,
		"EnvironmentFile":  (*reader).environmentFile,
		"LoadCredential":   (*reader).credential,
		"LimitNOFILE":      (*reader).noFile,

		// Nets of svcgen's own, that nobody has asked for.
		"TasksMax":  unless("TasksMax", unitgen.DefaultTasksMax),
		"OOMPolicy": unless("OOMPolicy", "stop"),

		"RuntimeDirectory":         func(r *reader, v string) error { return r.dirs(v, r.names.system.Runtime, "RUNTIME_DIRECTORY") },
		"StateDirectory":           func(r *reader, v string) error { return r.dirs(v, r.names.system.State, "STATE_DIRECTORY") },
		"CacheDirectory":           func(r *reader, v string) error { return r.dirs(v, r.names.system.Cache, "CACHE_DIRECTORY") },
		"LogsDirectory":            func(r *reader, v string) error { return r.dirs(v, r.names.system.Logs, "LOGS_DIRECTORY") },
		"ConfigurationDirectory":   func(r *reader, v string) error { return r.dirs(v, r.names.system.Config, "CONFIGURATION_DIRECTORY") },
		"RuntimeDirectoryPreserve": only("restart"),
	},
	"Socket": {
		"ListenStream":           func(r *reader, v string) error { return r.listen(v, "stream") },
		"ListenDatagram":         func(r *reader, v string) error { return r.listen(v, "datagram") },
		"ListenSequentialPacket": func(r *reader, v string) error { return r.listen(v, "seqpacket") },
		"FileDescriptorName":     func(r *reader, v string) error { return r.text(v, &r.socket.Name) },
		"SocketMode":             (*reader).socketMode,
		"SocketUser":             func(r *reader, v string) error { return r.text(v, &r.socket.User) },
		"SocketGroup":            func(r *reader, v string) error { return r.text(v, &r.socket.Group) },
		"Service":                func(r *reader, v string) error { return r.text(v, &r.socketOf) },
	},
}

// only is a directive with the one value that svcgen gives it.
func only(want string) setter {
	return func(_ *reader, value string) error {
		if value != want {
			return fmt.Errorf("%q is not what svcgen run does; that is %s", value, want)
		}
		return nil
	}
}

// unless is a directive that only systemd can honour, but that is no loss where
// it has the value that svcgen gives it by itself.
func unless(directive, own string) setter {
	return func(r *reader, value string) error {
		if value != own {
			r.ignore(directive)
		}
		return nil
	}
}

func (r *reader) serviceType(value string) error {
	switch value {
	case "notify":
	case "notify-reload":
		r.notifyReload = true
	default:
		return fmt.Errorf("svcgen run knows Type=notify and Type=notify-reload, and not %q", value)
	}
	return nil
}

func (r *reader) restart(value string) (err error) {
	r.service.Restarts.Rules.Restart, err = policy.ParseRestart(value)
	return err
}

func (r *reader) restartMode(value string) error {
	switch value {
	case "normal":
	case "direct":
		r.service.Direct = true
	default:
		return fmt.Errorf("%q is neither normal nor direct", value)
	}
	return nil
}

// signal reads the name of a signal.
func signal(value string, into *syntax.Signal) (err error) {
	*into, err = syntax.ParseSignal(value)
	return err
}

// span reads a time span that is what it says.
func span(value string, into *time.Duration) (err error) {
	*into, err = syntax.ParseDuration(value)
	return err
}

// limit reads a time limit, where 0 is none (systemd.service(5)).
func limit(value string, into *time.Duration) error {
	if err := span(value, into); err != nil {
		return err
	}
	if *into == 0 {
		*into = syntax.Infinity
	}
	return nil
}

// unlessForEver reads a time span that is 0 where there is none.
func unlessForEver(value string, into *time.Duration) error {
	if err := span(value, into); err != nil {
		return err
	}
	if *into == syntax.Infinity {
		*into = 0
	}
	return nil
}

func count(value string, into *int) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is no whole number", value)
	}
	*into = n
	return nil
}

// statuses reads a list of exit codes and signals: a number is a code, never a
// signal.
func statuses(value string, into *policy.Statuses) error {
	for word := range strings.FieldsSeq(value) {
		code, err := strconv.Atoi(word)
		switch {
		case err == nil && code >= 0 && code <= 255:
			into.Codes = append(into.Codes, code)
		case err == nil:
			return fmt.Errorf("%d is no exit code", code)
		default:
			s, err := syntax.ParseSignal(word)
			if err != nil {
				return err
			}
			into.Signals = append(into.Signals, s)
		}
	}
	return nil
}

// text reads a value that is taken as it is, but for specifiers.
func (r *reader) text(value string, into *string) (err error) {
	*into, err = r.names.resolve(value)
	return err
}

// units reads names of units.
func (r *reader) units(value string, into *[]string) error {
	for word := range strings.FieldsSeq(value) {
		name, err := r.names.resolve(word)
		if err != nil {
			return err
		}
		if !slices.Contains(*into, name) {
			*into = append(*into, name)
		}
	}
	return nil
}
