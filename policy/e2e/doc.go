// Package e2e holds package policy against real managers: every decision about
// a restart that can be had without a virtual machine, and the waits and start
// limits of services that fail, with svcrun's start delay and without.
package e2e
