// Package e2e proves the packages by building and installing them.
//
// They are built as anybody would, by make, in a copy of the tree that has its
// own version; a second copy elsewhere has to give the same bytes. The deb goes
// through its whole life in booted machines of every suite, with a service
// running under svcrun meanwhile: installed, upgraded, removed, purged. The rpm
// does so in a machine's root, by rpm --root.
//
// What Debian and Fedora expect of packages is checked by lintian and rpmlint.
package e2e
