// Package story is the main job told on a real systemd, from a policy file to
// a supervised service and back to its history. The end-to-end test checks what
// each chapter returns; the demo prints the time line that it tells.
//
// Invariants: a chapter waits for events, never for a time to pass; what it
// returns was measured, not assumed; at the end of a chapter nothing of its
// service runs, unless the next one needs it.
//
// Open is the entry point.
package story
