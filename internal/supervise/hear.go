package supervise

import (
	"errors"

	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/notify/socket"
)

// errForeign is what the socket, open to every user, must be guarded from.
var errForeign = errors.New("a datagram of a process that is not the service's")

// hearOne takes one datagram apart and steps it; what is no message of the
// service's is dropped with one warning per kind.
func (l *loop) hearOne(d *socket.Datagram) {
	message, err := l.read(d)
	if err != nil {
		l.warnOnce("dropped " + err.Error() + " on the notify socket")
		return
	}
	l.current = d
	l.step(machine.Heard{Said: notify.Sort(message)})
	l.current = nil
}

// read checks a datagram and its sender.
func (l *loop) read(d *socket.Datagram) (notify.Message, error) {
	if d.Truncated {
		return nil, notify.ErrOversized
	}
	message, err := notify.Parse(d.Data)
	if err != nil {
		return nil, err
	}
	if !l.trusts(*d) {
		return nil, errForeign
	}
	return message, nil
}

// warnOnce logs a warning the first time.
func (l *loop) warnOnce(text string) {
	if !l.warned[text] {
		l.warned[text] = true
		l.log(machine.Warning, text)
	}
}
