// Package page makes manual pages: of prose that is written by hand in a small
// part of Markdown, and of what a program tells of its command line, it makes
// roff with the macros of man(7).
//
// The prose has directives, a line each, that what the program tells is put in
// place of: @synopsis, @verb, @verbs, @common, @flags, @words, @list, @object
// and @table. Definitions behind one say more of its flags, words and fields.
// What they name and the program does not have is an error, so that no page
// tells of what is gone; a word, a field or a verb of which the page says
// nothing is a Gap.
//
// Make is the entry point.
package page
