// Package socket carries notify's datagrams: a Listener that the service
// speaks to, and a Sender to the manager's $NOTIFY_SOCKET.
//
// Invariants: Receive never hands out a descriptor that nobody closes; Send
// never blocks its caller, keeps the order of messages, and drops only when
// the manager has read nothing for a thousand messages.
//
// Listen and Dial are the entry points.
package socket
