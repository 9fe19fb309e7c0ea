// Package socket carries notify's datagrams: a Listener that the service
// speaks to, and a Sender to the manager's $NOTIFY_SOCKET.
//
// Invariants: Receive takes whatever has arrived without waiting, so that a
// message sent just before the service's end is read before the end is acted
// on; Send never blocks its caller, keeps the order of messages, and drops only
// when the manager has read nothing for a thousand messages; a received
// descriptor is closed by Datagram.Close, a sent one stays the caller's.
//
// Listen and Dial are the entry points; Reload and Answer are the two ends of
// svcrun's own request to reload.
package socket
