// Package e2e holds package policy against real managers: each decision about
// a restart that can be had without a virtual machine.
package e2e
