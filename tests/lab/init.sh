#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# Init of the DUT: a reader of commands on its first serial port, and nothing
# that knows of a bench.
/bin/busybox mkdir -p /proc /sys /dev /tmp
/bin/busybox --install -s /bin
export PATH=/bin:/sbin HOME=/ LD_LIBRARY_PATH=/lib
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
hostname dut
# The console is for the commands; the kernel writes there only what is urgent.
echo 1 > /proc/sys/kernel/printk
exec < /dev/ttyS0 > /dev/ttyS0 2>&1
stty -echo -onlcr -icrnl
echo "dut: ready"
while IFS= read -r line; do
	sh -c "$line"
done
