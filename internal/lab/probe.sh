# Tries what a boot will do and prints a line "KEY<tab>reason" for each thing
# that cannot be done. Runs in the namespaces that a machine has.
try() {
	key=$1
	shift
	reason=$("$@" 2>&1) || printf '%s\t%s\n' "$key" "$(echo "$reason" | head -n 1)"
}
mount --make-rprivate /
try mount mount -t tmpfs svclab "$LAB_WORK"
cd "$LAB_WORK"
mkdir cgroup upper work root proc
try overlay mount -t overlay -o lowerdir=/usr,upperdir=upper,workdir=work svclab root
try mount mount -t proc proc proc
try cgroup mount -t cgroup2 svclab cgroup
try cgroup mkdir "cgroup/$LAB_NAME"
try cgroup rmdir "cgroup/$LAB_NAME"
