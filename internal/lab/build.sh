# Builds a root of a Debian suite in $LAB_TARGET. Runs in mount and pid
# namespaces of its own, so that whatever ends it leaves no process and no mount.
mount --make-rprivate /
mount -t proc proc /proc

# A bootstrap is thousands of small writes: in memory it takes a third of the
# time. Without the memory for it, the disk has to do.
available=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
if [ "${available:-0}" -gt 1500000 ]; then
	mount -t tmpfs -o mode=0755 svclab "$LAB_WORK"
	export TMPDIR="$LAB_WORK"
	root=$LAB_WORK/root
else
	root=$LAB_TARGET
fi

# Bookworm merges /usr only when told to, with all of perl for it or with this
# hook. Newer suites come merged.
set --
[ "$LAB_SUITE" != bookworm ] || set -- --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr

mmdebstrap --mode=root --variant=minbase --format=directory --include="$LAB_PACKAGES" \
	--aptopt='Acquire::Check-Valid-Until "false"' \
	--aptopt='Acquire::Check-Date "false"' \
	--aptopt='Acquire::Languages "none"' \
	--aptopt='Acquire::Retries "3"' \
	--dpkgopt=force-unsafe-io \
	--dpkgopt='path-exclude=/usr/share/man/*' \
	--dpkgopt='path-exclude=/usr/share/doc/*' \
	--dpkgopt='path-exclude=/usr/share/locale/*' \
	--customize-hook="$LAB_CUSTOMIZE" \
	"$@" "$LAB_SUITE" "$root" "$LAB_MIRROR" </dev/null

[ "$root" = "$LAB_TARGET" ] || cp -a "$root" "$LAB_TARGET"
