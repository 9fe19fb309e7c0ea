// Package e2e holds svcrun's promises against real managers: that a unit ends
// under svcrun as it would end without, that a watchdog's core is the
// service's, that a start which takes too long is told, and that nobody can
// mislead it through its notify socket.
package e2e
