// Package timeline is what svcgen run tells: one Event for everything that
// happens to a service, as a line for people and as JSON for programs.
//
// It is pure. The names of events are a promise to scripts: they are added to,
// and never renamed; docs/identifiers.json lists them.
//
// What a service prints is not trusted with the terminal: of its escape
// sequences only colours stay, and those only where there are colours at all;
// other control characters are shown, such as \x07. JSON has every line as it
// was, but for what is no UTF-8.
//
// Writer is the entry point.
package timeline
