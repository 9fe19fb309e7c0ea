// Package timeline is what svcgen run tells: one Event for everything that
// happens to a service, as a line for people and as JSON for programs.
//
// It is pure. The names of events are a promise to scripts: they are added to,
// and never renamed; docs/identifiers.json lists them.
//
// Writer is the entry point.
package timeline
