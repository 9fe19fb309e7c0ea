# The second half of boot.sh, in the machine's cgroup namespace.
mount -t overlay -o "lowerdir=$LAB_ROOT,upperdir=upper,workdir=work" svclab root
cd root
[ -z "$LAB_FILES" ] || cp -dR "$LAB_FILES"/. .

mount -t proc -o nosuid,nodev,noexec proc proc
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs sys
mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=0755,nosuid,nodev tmpfs run
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs tmp
mount -t tmpfs -o mode=0755,nosuid tmpfs dev
for node in null zero full random urandom tty; do
	: >"dev/$node"
	mount --bind "/dev/$node" "dev/$node"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs dev/shm

# These are the host's: systemd-sysctl would write its settings there.
for node in sys sysrq-trigger; do
	[ -e "proc/$node" ] || continue
	mount --bind "proc/$node" "proc/$node"
	mount -o remount,bind,ro "proc/$node"
done

: >run/lab.notify
mount --bind "$LAB_NOTIFY" run/lab.notify
echo "$LAB_MACHINE_ID" >etc/machine-id

# A group for the commands that come in from outside, out of every unit's.
mkdir sys/fs/cgroup/lab

mkdir run/host
pivot_root . run/host
umount -l run/host
rmdir run/host

# Without CAP_SYS_MODULE systemd does not even try to load modules.
exec setpriv --bounding-set=-sys_module,-sys_time,-sys_rawio -- \
	env -i container=svclab PATH="$LAB_PATH" NOTIFY_SOCKET=/run/lab.notify \
	/lib/systemd/systemd --unit=multi-user.target
