#!/bin/sh
# preflight.sh: says in one go what this machine lacks for `make test` and
# `make demo`, each with what it is for and how to get it.
# preflight.sh --install: on Debian as root, installs what a package can mend
# first, and says what is left.
#
# Ends with 1 if something is missing that no test can do without, or that the
# lab needs while SVCKIT_E2E=require forbids its tests to skip.
set -eu

GO_WANTED=1.26
missing='' packages='' fatal=0

# lacks NEEDED-BY WHAT FOR CURE [PACKAGE]: takes one finding down.
lacks() {
	missing="$missing
  $2
      for: $3
      cure: $4"
	packages="$packages ${5-}"
	case $1 in
	all) fatal=1 ;;
	lab) [ "${SVCKIT_E2E-}" != require ] || fatal=1 ;;
	esac
}

# program NEEDED-BY NAME PACKAGE FOR: wants a program on PATH.
program() {
	command -v "$2" >/dev/null || lacks "$1" "$2" "$4" "apt-get install -y $3" "$3"
}

go_is_new_enough() {
	have=$(go env GOVERSION 2>/dev/null | sed 's/^go//')
	[ -n "$have" ] && [ "$(printf '%s\n' "$GO_WANTED" "$have" | sort -V | head -n 1)" = "$GO_WANTED" ]
}

can_make_namespaces() {
	unshare --mount --pid --uts --ipc --net --cgroup --fork true 2>/dev/null
}

can_mount_cgroup2() {
	unshare --mount sh -c 'mount -t cgroup2 none /mnt' 2>/dev/null
}

look() {
	missing='' packages='' fatal=0
	go_is_new_enough || lacks all "go $GO_WANTED or newer" "everything" "https://go.dev/dl/"
	program all git git "the version that is stamped in"
	program all gcc gcc "the race detector"
	[ -e /usr/include/stdlib.h ] || lacks all "the C library's headers" "the race detector" \
		"apt-get install -y libc6-dev" libc6-dev
	program lab mmdebstrap mmdebstrap "the lab: it makes the roots that systemd boots in"
	program lab unshare util-linux "the lab: namespaces"
	program lab nsenter util-linux "the lab: commands inside"
	[ -e /etc/ssl/certs/ca-certificates.crt ] || lacks lab "CA certificates" "the lab: a package mirror over https" \
		"apt-get install -y ca-certificates" ca-certificates
	if [ "$(id -u)" != 0 ]; then
		lacks lab root "the lab: systemd as PID 1 of its own namespaces" "sudo -E env PATH=\"\$PATH\" make test"
	elif command -v unshare >/dev/null; then
		can_make_namespaces || lacks lab "CAP_SYS_ADMIN" "the lab: namespaces" \
			"in a container: --privileged, or --cap-add SYS_ADMIN with seccomp and AppArmor unconfined"
		can_mount_cgroup2 || lacks lab "a mountable cgroup2" "the lab: systemd's cgroups" \
			"a kernel with cgroup2, and in a container --privileged"
	fi
}

install() {
	[ -n "$(echo $packages)" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
	echo "preflight: installing$packages"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq || echo "preflight: apt-get update failed; trying with the lists that are there"
	# shellcheck disable=SC2086 # a list of names
	apt-get install -y -qq --no-install-recommends $packages >/dev/null || echo "preflight: apt-get install failed"
	look
}

look
[ "${1-}" != --install ] || install
if [ -z "$missing" ]; then
	echo "preflight: everything is there"
	exit 0
fi
echo "preflight: missing on this machine:$missing"
[ "$fatal" = 1 ] || echo "preflight: the tests in the lab will skip; all others run"
exit "$fatal"
