# Runs at the end of a bootstrap; $1 is the new root.
set -eu

# The daemons are there for the tests to start, and nothing may run by the clock.
chroot "$1" systemctl disable redis-server.service nginx.service
chroot "$1" systemctl mask apt-daily.timer apt-daily-upgrade.timer \
	e2scrub_all.timer e2scrub_reap.service fstrim.timer dpkg-db-backup.timer

# Nothing is left to be updated at the first boot.
touch "$1/etc/.updated" "$1/var/.updated"

# Every line of every unit is kept, in memory.
mkdir -p "$1/etc/systemd/journald.conf.d"
cat >"$1/etc/systemd/journald.conf.d/lab.conf" <<'EOF'
[Journal]
Storage=volatile
RateLimitIntervalSec=0
RateLimitBurst=0
RuntimeMaxUse=256M
EOF

# mmdebstrap copies these from the host. The network has nothing but lo.
echo 'nameserver 127.0.0.1' >"$1/etc/resolv.conf"
echo svclab >"$1/etc/hostname"
printf '127.0.0.1 localhost svclab\n::1 localhost\n' >"$1/etc/hosts"
