# Writes the initial RAM disk to $VM_IMAGE: the root, and the files in $VM_ADDED
# over it. The kernel unpacks one archive after the other.
for tree in "$VM_ROOT" "$VM_ADDED"; do
	cd "$tree"
	find . -xdev -print0 | cpio --null --create --format=newc --quiet
done >"$VM_IMAGE"
