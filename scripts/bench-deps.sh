#!/bin/sh
# bench-deps.sh: installs what svcrun is measured beside and is not there yet,
# on Debian as root. The benchmark leaves out what it cannot find, and says so,
# so nothing here is a failure.
set -eu

# The packages, each with a program of it.
peers='tini:tini dumb-init:dumb-init catatonit:catatonit s6:s6-supervise systemd:systemd-notify curl:curl
	systemd-journal-remote:/lib/systemd/systemd-journal-remote'

missing=''
for peer in $peers; do
	command -v "${peer#*:}" >/dev/null || missing="$missing ${peer%%:*}"
done
[ -n "$missing" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0

echo "bench: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq || echo "bench: apt-get update failed; trying with the lists that are there"
# One by one: a package that cannot be had must not keep the others out. None is
# worth the upgrade of what the host has: that of systemd, for one.
for package in $missing; do
	if apt-get install -s --no-install-recommends "$package" 2>/dev/null | grep -q '^Inst [^ ]* \['; then
		echo "bench: not installing $package, which would upgrade other packages; install it by hand"
		continue
	fi
	apt-get install -y -qq --no-install-recommends "$package" >/dev/null || echo "bench: cannot install $package"
done
