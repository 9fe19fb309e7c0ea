# Runs as process 1 of fresh namespaces and becomes the machine's systemd.
# All that it mounts is private to it.
mount --make-rprivate /
mount -t tmpfs -o mode=0755,size=2g svclab "$LAB_WORK"
cd "$LAB_WORK"
mkdir cgroup upper work root

# Mounting cgroup2 anew works the same whether the host has it on
# /sys/fs/cgroup, beside version 1 on /sys/fs/cgroup/unified, or not at all.
mount -t cgroup2 svclab cgroup
mkdir "cgroup/$LAB_NAME"
echo 0 >"cgroup/$LAB_NAME/cgroup.procs"

# The cgroup namespace is entered last: its root is the group we are in.
exec unshare --cgroup -- /bin/sh -euc "$LAB_ENTER"
