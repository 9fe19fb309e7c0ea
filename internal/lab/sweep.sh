# Removes the empty control groups of machines that have ended: of $LAB_ENDED,
# and of all whose owner is gone. Fails while $LAB_ENDED cannot be removed.
mount --make-rprivate /
mount -t cgroup2 svclab "$LAB_WORK"
cd "$LAB_WORK"
for group in "$LAB_PREFIX"*; do
	owner=${group#"$LAB_PREFIX"}
	owner=${owner%%-*}
	if [ "$group" = "$LAB_ENDED" ] || { [ -d "$group" ] && [ ! -d "/proc/$owner" ]; }; then
		find "$group" -depth -type d -exec rmdir {} + || true
	fi
done
[ -z "$LAB_ENDED" ] || [ ! -d "$LAB_ENDED" ]
