package watchdog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
)

// The schemes of checks of Kind HTTP beside http itself.
const (
	httpUnix = "http+unix" // over a Unix socket
	https    = "https"
)

// kindForms are the kinds as a user writes them.
const kindForms = "http://…, https://…, http+unix:…, tcp:HOST:PORT, listen:PORT, unix:PATH, grpc:HOST:PORT, " +
	"exec:COMMAND, file:PATH, memory:SIZE, notify or fd:N"

// kindWords are the words before the colon.
var kindWords = []string{
	string(HTTP), https, httpUnix, string(TCP), string(Listen), string(Unix), string(GRPC),
	string(Exec), string(File), string(Memory), string(Notify), string(FD),
}

// KindWords are the words that a check begins with, of which a kind may have
// more than one.
func KindWords() []string { return slices.Clone(kindWords) }

// foreignKinds are other programs' names for kinds.
var foreignKinds = map[Kind]Kind{
	"cmd": Exec, "command": Exec, "script": Exec, "shell": Exec, "httpget": HTTP, "httpGet": HTTP,
	"tcpsocket": TCP, "tcpSocket": TCP, "port": TCP, "socket": Unix, "sd_notify": Notify, "sdnotify": Notify,
	"grpcs": GRPC, "path": File, "listening": Listen, "notification-fd": FD,
}

// unknownKind says what the user of a wrong kind most likely wants.
func unknownKind(kind Kind, target string) error {
	if meant, ok := foreignKinds[kind]; ok {
		return fmt.Errorf("unknown kind of check %q; here it is called %s", kind, meant)
	}
	if near, ok := syntax.Nearest(strings.ToLower(string(kind)), kindWords); ok {
		return fmt.Errorf("unknown kind of check %q; did you mean %s", kind, near)
	}
	switch {
	case strings.HasPrefix(string(kind), "/"):
		return fmt.Errorf("a check begins with its kind; write exec:COMMAND or unix:PATH")
	case validHost(string(kind)) == nil && validPort(target) == nil:
		return fmt.Errorf("a check begins with its kind; did you mean tcp:%s:%s", kind, target)
	}
	return fmt.Errorf("a check begins with its kind: " + kindForms)
}
