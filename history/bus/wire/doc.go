// Package wire speaks D-Bus over a unix socket, as far as asking a manager takes:
// method calls and their replies, many of them under way at a time. A list of 500
// services is a thousand questions, and a thread for each would cost more than
// the manager's answers do.
//
// Invariants: one goroutine, which fills a window of calls before it waits for
// the oldest; no message is larger than maxMessage, and no value is nested
// deeper than the specification lets it; whatever a peer sends, decoding ends
// with a value or an error. Signals and calls of others are passed over.
//
// Dial is the entry point: DialBus greets a bus, DialPeer needs no greeting.
package wire
