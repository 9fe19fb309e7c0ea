package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

const (
	journalSocket = "/run/systemd/journal/socket"

	// alertMessageID marks alerts in the journal: journalctl MESSAGE_ID=…
	alertMessageID = "81bf2621a89e4fd2a2c097aff3f67e30"

	priorityAlert = 1 // somebody has to do something: syslog(3)

	// journalBound is how long a journal that hangs may take.
	journalBound = 5 * time.Second
	// mostLineChars of a service's line are shown, so that an alert stays one
	// datagram.
	mostLineChars = 1000
	mostTextBytes = 64 << 10
)

// alertLog is where an alert is written down.
type alertLog struct {
	socket   string // of the journal
	getenv   func(string) string
	fallback io.Writer
}

// alert writes one entry, which journalctl shows under the service's unit as well
// as under that of the alert. Whoever runs svcstat by hand, and so outside of the
// journal, gets the text on standard output.
func (l alertLog) alert(about subject, text string) error {
	if l.getenv("JOURNAL_STREAM") == "" {
		_, err := io.WriteString(l.fallback, text)
		return err
	}
	object := "OBJECT_SYSTEMD_UNIT"
	if about.of.user {
		object = "OBJECT_SYSTEMD_USER_UNIT"
	}
	err := l.send([][2]string{
		{"MESSAGE", strings.TrimSuffix(text, "\n")},
		{"MESSAGE_ID", alertMessageID},
		{"PRIORITY", strconv.Itoa(priorityAlert)},
		{"SYSLOG_IDENTIFIER", "svckit"},
		{object, about.unit},
	})
	if err != nil {
		_, _ = io.WriteString(l.fallback, text)
		return fmt.Errorf("cannot write the alert to the journal: %w", err)
	}
	return nil
}

// send sends an entry by the journal's own protocol, which takes fields and more
// than one line.
func (l alertLog) send(fields [][2]string) error {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: l.socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetWriteDeadline(time.Now().Add(journalBound)); err != nil {
		return err
	}
	var entry []byte
	for _, field := range fields {
		value := field[1]
		if len(value) > mostTextBytes {
			value = strings.ToValidUTF8(value[:mostTextBytes], "")
		}
		entry = append(entry, field[0]+"\n"...)
		entry = binary.LittleEndian.AppendUint64(entry, uint64(len(value)))
		entry = append(entry, value+"\n"...)
	}
	_, err = conn.Write(entry)
	return err
}
