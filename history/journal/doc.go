// Package journal reads what the systemd journal has on a unit, by running
// journalctl: no cgo, and no second reader of the journal's file format.
//
// Reader.Read is the entry point. It streams: memory does not grow with the
// journal. Whatever stands in an entry was written by somebody else: a line
// over 1 MiB and a field over 4 KiB are dropped, a malformed line is counted
// and skipped, and none of them ends the reading.
package journal
