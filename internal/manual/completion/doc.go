// Package completion makes the completions of a program for bash, zsh and fish,
// of what the program tells of its command line: verbs, flags, the words that a
// flag takes, files, and the names of units where one is wanted. The scripts
// need no other but what the shells bring along.
//
// Bash, Zsh and Fish are the entry points.
package completion
