#!/bin/sh
# preflight.sh: says in one go what this machine lacks for `make test` and
# `make demo`, each with what it is for and how to get it.
# preflight.sh --install: on Debian as root, installs what a package can mend
# first, and says what is left.
#
# Ends with 1 if something is missing that no test can do without, or that the
# lab needs while SVCKIT_E2E=require forbids its tests to skip.
set -eu
cd "$(dirname "$0")/.."

go=${GO:-go}
go_wanted=1.26

go_is_new_enough() {
	have=$("$go" env GOVERSION 2>/dev/null | sed 's/^go//')
	[ -n "$have" ] && [ "$(printf '%s\n' "$go_wanted" "$have" | sort -V | head -n 1)" = "$go_wanted" ]
}

has() { command -v "$1" >/dev/null; }

# lacks WHAT FOR CURE: takes down one thing that is missing.
lacks() {
	missing="$missing
  $1
      for: $2
      cure: $3"
}

# look_for_all finds what every test needs.
look_for_all() {
	go_is_new_enough || lacks "go $go_wanted or newer" "everything" "https://go.dev/dl/"
	has gcc || {
		lacks gcc "the race detector" "apt-get install -y gcc"
		packages="$packages gcc"
	}
	[ -e /usr/include/stdlib.h ] || {
		lacks "the C library's headers" "the race detector" "apt-get install -y libc6-dev"
		packages="$packages libc6-dev"
	}
}

# look_for_lab finds what the lab needs. What is missing, and what the kernel,
# the privileges and the network allow, the lab says itself, as it has to try.
look_for_lab() {
	has mmdebstrap || packages="$packages mmdebstrap"
	has unshare && has nsenter && has setpriv || packages="$packages util-linux"
	has mount || packages="$packages mount"
	[ -e /etc/ssl/certs/ca-certificates.crt ] || packages="$packages ca-certificates"
	if go_is_new_enough; then
		missing="$missing$("$go" run ./internal/preflight)"
	fi
}

# look_for_supervisors finds those that svcrun is tried under beside systemd; the
# tests skip aloud where they are missing.
look_for_supervisors() {
	has s6-supervise || packages="$packages s6"
	has runsv || packages="$packages runit"
}

# look_for_manual finds what the manual pages are held against, and the shells
# that have completions beside bash; the tests skip aloud where they are missing.
look_for_manual() {
	has mandoc || packages="$packages mandoc"
	has zsh || packages="$packages zsh"
	has fish || packages="$packages fish"
}

# look_for_packaging finds what the packages are checked with: the rpm is installed
# by rpm itself. The tests skip aloud where they are missing.
look_for_packaging() {
	has rpm || packages="$packages rpm"
	has rpmlint || packages="$packages rpmlint"
	has lintian || packages="$packages lintian"
}

# look_for_vm finds what make test-vm needs beside that; the test says it itself
# where it cannot be installed.
look_for_vm() {
	has qemu-system-x86_64 || packages="$packages qemu-system-x86"
	has cpio || packages="$packages cpio"
}

look() {
	missing='' packages=''
	look_for_all
	[ "${SVCKIT_VM-}" != 1 ] || look_for_vm
	needed_by_all=$missing
	look_for_lab
	look_for_supervisors
	look_for_manual
	look_for_packaging
}

install() {
	echo "preflight: installing$packages"
	apt update || echo "preflight: apt-get update failed; trying with the lists that are there"
	# shellcheck disable=SC2086 # a list of names
	apt install $packages || for package in $packages; do # one that cannot be had must not keep the others out
		apt install "$package" || echo "preflight: cannot install $package"
	done
	look
}

# apt VERB [PACKAGE...] waits for whoever else installs something, as a machine
# does that has just been booted.
apt() {
	verb=$1
	shift
	DEBIAN_FRONTEND=noninteractive apt-get "$verb" -y -qq --no-install-recommends \
		-o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 "$@" >/dev/null
}

look
if [ "${1-}" = --install ] && [ -n "$packages" ] && [ "$(id -u)" = 0 ] && has apt-get; then
	install
fi
if [ -z "$missing" ]; then
	echo "preflight: everything is there"
	exit 0
fi
echo "preflight: missing on this machine:$missing"
[ -z "$needed_by_all" ] && [ "${SVCKIT_E2E-}" != require ] || exit 1
echo "preflight: the tests in the lab will skip; all others run"
