// Package e2e holds svcrun's promises against real managers: that a unit ends
// under svcrun as it would end without, and restarts as it would, that a stop is
// over in the derived time however stubborn the service, and leaves nobody, that a
// watchdog's core is the service's, that a start which takes too long is told, that
// a reload is over when it is, that each message of a service does what it says,
// and that nobody can mislead it through its notify socket.
package e2e
