// Package e2e keeps svcgen's promises on a real systemd: that the units which
// it writes are read without a word, and that services restart, give up and
// are forgotten as the policy says, and that policies become units at boot and
// at a reload, on each of the systemds of package lab.
// It has tests only.
package e2e
