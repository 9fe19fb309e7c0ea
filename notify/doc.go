// Package notify is the datagram protocol of sd_notify(3): reading what a
// service says, and writing what its manager shall hear.
//
// It is pure; notify/socket sends and receives. Parse takes a datagram apart,
// Sort tells what it means to a wrapper between the service and its manager.
//
// Invariants: a parsed message keeps its fields and their order; Encode never
// writes more than MaxBytes, a NUL or a broken line; a key that the wrapper
// answers for itself never is in Said.Forward.
package notify
