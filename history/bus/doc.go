// Package bus asks the systemd manager over D-Bus what its services do now.
// It only reads, which needs no privilege, but for Conn.ResetFailed.
//
// Dial is the entry point. It takes the system bus or, for root where no bus
// runs, the manager's private socket. Properties are asked for one by one but
// many at a time: GetAll makes the manager read the unit's cgroup files, and
// costs it milliseconds for each unit.
package bus
