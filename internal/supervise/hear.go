package supervise

import (
	"errors"

	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/notify/socket"
)

const (
	// turn is how many datagrams are heard before the loop looks at anything
	// else: the socket stays readable, and is come back to.
	turn = 32

	// backlog is more than the kernel keeps for one socket (systemd raises
	// net.unix.max_dgram_qlen to 512): nothing said before an end is missed.
	backlog = 1024

	// maxWaiting bounds who is kept waiting for a reload.
	maxWaiting = 16
)

// The datagrams that are no message of the service's.
var (
	errForeign     = errors.New("a datagram of a process that is not the service's")
	errLost        = errors.New("a datagram whose descriptors have not all arrived")
	errDescriptors = errors.New("descriptors of a datagram that is not about them")
	errAlone       = errors.New("a datagram that wants one descriptor and has another number of them")
)

// hear takes what has arrived, up to most datagrams: a child that speaks without
// a pause must not keep the loop from its signals, nor from the heartbeat.
func (l *loop) hear(most int) {
	for range most {
		d, ok := l.receive()
		if !ok {
			return
		}
		l.hearOne(&d)
		d.Close()
	}
}

// hearOne takes one datagram apart and steps it; what is no message of the
// service's is dropped with one warning per kind.
func (l *loop) hearOne(d *socket.Datagram) {
	said, err := l.read(d)
	if err != nil {
		l.drop(err)
		return
	}
	if len(d.FDs) > 0 && !said.TakesDescriptors() {
		l.drop(errDescriptors) // but what is said counts
		d.Close()
	}
	l.current = d
	l.step(machine.Heard{Said: said})
	l.current = nil
}

// hearNotices takes what was written to descriptors of checks.
func (l *loop) hearNotices() {
	for _, read := range l.noticed() {
		l.step(read)
	}
}

// read checks a datagram and its sender.
func (l *loop) read(d *socket.Datagram) (notify.Said, error) {
	switch {
	case d.Truncated:
		return notify.Said{}, notify.ErrOversized
	case d.Lost:
		return notify.Said{}, errLost
	}
	message, err := notify.Parse(d.Data)
	if err != nil {
		return notify.Said{}, err
	}
	if !l.trusts(*d) {
		return notify.Said{}, errForeign
	}
	said := notify.Sort(message)
	if (said.Barrier || said.Reload) && len(d.FDs) != 1 {
		return notify.Said{}, errAlone
	}
	return said, nil
}

// drop warns of what is dropped the first time.
func (l *loop) drop(what error) {
	text := "dropped " + what.Error() + " on the notify socket"
	if !l.warned[text] {
		l.warned[text] = true
		l.log(machine.Warning, text)
	}
}

// await keeps the descriptor of somebody who waits for a reload. Of too many
// the one that has waited longest is sent away.
func (l *loop) await() {
	if l.current == nil {
		return
	}
	l.waiting = append(l.waiting, l.current.FDs...)
	l.current.FDs = nil
	for len(l.waiting) > maxWaiting {
		l.answer(l.waiting[0], "too many wait for a reload")
		l.waiting = l.waiting[1:]
	}
}

// answerAll tells all who wait how the reload ended.
func (l *loop) answerAll(failure string) {
	for _, fd := range l.waiting {
		l.answer(fd, failure)
	}
	l.waiting = nil
}
