package manager

import (
	"strconv"
	"strings"

	"github.com/svckit/svckit/internal/manager/machine"
	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/notify"
)

// Every service finds these, as under systemd (environ(7), systemd.exec(5)):
// what the caller of svcgen has is not passed on.
const (
	defaultPath   = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"
	defaultLocale = "C.UTF-8"
)

// start is what the environment of one process is made of.
type start struct {
	role       machine.Role
	service    *plan.Service
	who        identity
	path       string
	runtimeDir string // of the user; "" for root
	invocation string
	notify     string // the address of the unit's socket
	mainPID    int    // 0 where there is none
	special    []string
	files      []string // of EnvironmentFile=
	given      []string // by the caller of svcgen
	creds      string   // "" without credentials
}

// placeholder stands for the pid of the process itself, which the shim fills in.
const placeholder = "0"

// environment is the environment of a process. What comes later has the last
// word (systemd: src/core/exec-invoke.c, exec_invoke).
func environment(s start) []string {
	env := []string{"PATH=" + s.path, "LANG=" + defaultLocale}
	if s.runtimeDir != "" {
		env = append(env, "XDG_RUNTIME_DIR="+s.runtimeDir)
	}
	env = append(env, s.special...)
	if s.who.login {
		env = append(env, "USER="+s.who.name, "LOGNAME="+s.who.name, "HOME="+s.who.home)
		if s.who.shell != "" {
			env = append(env, "SHELL="+s.who.shell)
		}
	}
	env = append(env, "INVOCATION_ID="+s.invocation, "SYSTEMD_EXEC_PID="+placeholder)
	env = append(env, directories(s.service.Surroundings.Dirs)...)
	if s.creds != "" {
		env = append(env, "CREDENTIALS_DIRECTORY="+s.creds)
	}
	if s.role == machine.Main {
		env = append(env, ofMain(s)...)
	} else if s.mainPID > 0 {
		env = append(env, "MAINPID="+strconv.Itoa(s.mainPID))
	}
	env = append(env, s.service.Surroundings.Env...)
	env = append(env, s.files...)
	return lastOfEach(append(env, s.given...))
}

// ofMain is what the main process alone finds.
func ofMain(s start) []string {
	env := []string{"NOTIFY_SOCKET=" + s.notify}
	if s.service.Watchdog > 0 {
		env = append(env, "WATCHDOG_PID="+placeholder, "WATCHDOG_USEC="+notify.Microseconds(s.service.Watchdog))
	}
	if sockets := s.service.Surroundings.Sockets; len(sockets) > 0 {
		var names []string
		for _, socket := range sockets {
			names = append(names, socket.Name)
		}
		env = append(env, "LISTEN_PID="+placeholder, "LISTEN_FDS="+strconv.Itoa(len(sockets)), "LISTEN_FDNAMES="+strings.Join(names, ":"))
	}
	return env
}

// directories are the variables that name the service's directories.
func directories(dirs []plan.Dir) []string {
	var names []string
	paths := map[string][]string{}
	for _, d := range dirs {
		if paths[d.Variable] == nil {
			names = append(names, d.Variable)
		}
		paths[d.Variable] = append(paths[d.Variable], d.Path)
	}
	var env []string
	for _, name := range names {
		env = append(env, name+"="+strings.Join(paths[name], ":"))
	}
	return env
}

// lastOfEach keeps of every variable the last entry, in the place of the first.
func lastOfEach(env []string) []string {
	at := map[string]int{}
	var kept []string
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if i, ok := at[name]; ok {
			kept[i] = entry
			continue
		}
		at[name] = len(kept)
		kept = append(kept, entry)
	}
	return kept
}
