package watchdog

import (
	"fmt"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
)

// httpUnix is the scheme of HTTP over a Unix socket; such checks are of Kind HTTP.
const httpUnix = "http+unix"

// laterKinds are kinds that this version does not have, with what to use
// instead.
var laterKinds = map[Kind]string{
	"https":  "exec:/usr/bin/curl -fsS https://HOST/PATH",
	"listen": "tcp:127.0.0.1:PORT",
	"grpc":   "exec:/usr/bin/grpc_health_probe -addr=HOST:PORT",
	"file":   "exec:/usr/bin/test -e PATH",
	"memory": "MemoryMax= in the unit (resources.memory_max in a policy)",
	"fd":     "notify, or a tcp: or unix: check of what the service listens on",
}

// foreignKinds are other programs' names for kinds.
var foreignKinds = map[Kind]Kind{
	"cmd": Exec, "command": Exec, "script": Exec, "shell": Exec, "httpget": HTTP, "httpGet": HTTP,
	"tcpsocket": TCP, "tcpSocket": TCP, "port": TCP, "socket": Unix, "sd_notify": Notify, "sdnotify": Notify,
}

// unknownKind says what the user of a wrong kind most likely wants.
func unknownKind(kind Kind, target string) error {
	if instead, ok := laterKinds[kind]; ok {
		return fmt.Errorf("this version has no %s checks; use %s", kind, instead)
	}
	if meant, ok := foreignKinds[kind]; ok {
		return fmt.Errorf("unknown kind of check %q; here it is called %s", kind, meant)
	}
	if near, ok := syntax.Nearest(strings.ToLower(string(kind)), []string{"http", httpUnix, "tcp", "unix", "exec", "notify"}); ok {
		return fmt.Errorf("unknown kind of check %q; did you mean %s", kind, near)
	}
	switch {
	case strings.HasPrefix(string(kind), "/"):
		return fmt.Errorf("a check begins with its kind; write exec:COMMAND or unix:PATH")
	case validHost(string(kind)) == nil && validPort(target) == nil:
		return fmt.Errorf("a check begins with its kind; did you mean tcp:%s:%s", kind, target)
	}
	return fmt.Errorf("a check begins with its kind: http://…, http+unix:…, tcp:HOST:PORT, unix:PATH, exec:COMMAND or notify")
}
