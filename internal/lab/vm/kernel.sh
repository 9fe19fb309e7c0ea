# Downloads Debian's newest kernel for clouds and leaves it as $VM_TARGET. Runs
# in a directory of its own. Nothing is installed.
newest() {
	apt-cache depends "linux-image-cloud-$VM_ARCH" | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1
}
package=$(newest)
if [ -z "$package" ]; then
	apt-get update -qq
	package=$(newest)
fi
[ -n "$package" ] || { echo "apt knows no package linux-image-cloud-$VM_ARCH"; exit 1; }
apt-get download -qq -o APT::Sandbox::User=root "$package"
dpkg-deb --fsys-tarfile ./*.deb | tar -x --wildcards './boot/vmlinuz-*'
mv boot/vmlinuz-* "$VM_TARGET"
