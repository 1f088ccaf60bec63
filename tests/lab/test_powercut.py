#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The power of the recording machine fails.

A virtual machine records onto its own disk (ext4 on a virtual drive) and is killed at
a random moment: its memory is gone, what it had made durable is on the drive. Then the
drive's journal is replayed, as the next boot would, and the trace must be whole and
reach to less than a second before the cut.
"""
import os
import random
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import guest  # noqa: E402
import lab  # noqa: E402
from tap import main  # noqa: E402

CUTS = int(os.environ.get("WW_CUTS", "4"))
MODULES = ("virtio_blk", "virtio_pci", "ext4", "crc32c_generic")

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /data
/bin/busybox --install -s /bin
export PATH=/bin:/sbin LD_LIBRARY_PATH=/lib HOME=/
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
for m in $(cat /modules/order); do insmod /modules/$m 2>/dev/null; done
exec < /dev/ttyS0 > /dev/ttyS0 2>&1
mount -t ext4 /dev/vda /data || echo "NO DISK"
pwrlog record -m 'sim:?watts=25&noise=0.2&rate=200&resolution=0.1' -o /data/t.wwt \\
    < /dev/null > /tmp/out 2>&1 &
while :; do
	[ -d /proc/$! ] || { cat /tmp/out; echo ENDED; }
	read up rest < /proc/uptime; echo "UP $up"; usleep 100000
done
"""


class Machine:
    def __init__(self, work, image, disk):
        release, folder = lab.kernel()
        path = os.path.join(work, "con.sock")
        if os.path.exists(path):
            os.unlink(path)
        self.p = subprocess.Popen(
            [lab.need("qemu-system-x86_64", "qemu-system-x86"), "-machine", "pc", "-accel",
             os.environ.get("LAB_ACCEL", "tcg"), "-cpu", "max", "-m", "256", "-nodefaults",
             "-no-user-config", "-display", "none", "-no-reboot", "-kernel",
             os.path.join(folder, "boot", "vmlinuz-" + release), "-initrd", image, "-append",
             "console=ttyS0,115200 quiet panic=-1", "-chardev",
             f"socket,id=con,path={path},server=on,wait=off", "-serial", "chardev:con", "-drive",
             f"file={disk},format=raw,if=virtio,cache=writeback"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.con = lab.connect(path, 20)
        self.text = ""

    def uptime(self, seconds):
        """Read the console for so long; the newest uptime it told."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.con.settimeout(max(0.01, end - time.monotonic()))
            try:
                got = self.con.recv(65536)
            except socket.timeout:
                break
            if not got:
                break
            self.text += got.decode(errors="replace")
        ups = re.findall(r"UP (\d+\.\d+)\r?\n", self.text)
        return float(ups[-1]) if ups else None

    def cut(self):
        self.p.kill()
        self.p.wait()
        self.con.close()


class PowerCut(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="ww-cut-")
        self.addCleanup(shutil.rmtree, self.work, True)

    def rescue(self, disk):
        """What the next boot would do: replay the file system's journal, and look."""
        env = dict(os.environ, PATH=os.environ["PATH"] + ":/sbin:/usr/sbin")
        fsck = subprocess.run(["e2fsck", "-fy", disk], capture_output=True, env=env, check=False)
        self.assertIn(fsck.returncode, (0, 1), fsck.stdout)
        for name in ("t.wwt", "t.wwt-wal", "t.wwt-shm"):
            target = os.path.join(self.work, name)
            if os.path.exists(target):
                os.unlink(target)
            subprocess.run(["debugfs", "-R", f"dump /{name} {target}", disk], env=env,
                           capture_output=True, check=True)
            if os.path.exists(target) and os.path.getsize(target) == 0:
                os.unlink(target)
        return os.path.join(self.work, "t.wwt")

    def test_at_random_moments(self):
        rng = random.Random(7)
        image = os.path.join(self.work, "bench.cpio")
        guest.make_image(image, INIT, MODULES,
                         {"pwrlog": os.path.join(lab.BUILD, "bin", "pwrlog")})
        disk = os.path.join(self.work, "disk.img")
        env = dict(os.environ, PATH=os.environ["PATH"] + ":/sbin:/usr/sbin")
        for cut in range(CUTS):
            with open(disk, "wb") as f:
                f.truncate(64 << 20)
            subprocess.run(["mkfs.ext4", "-q", "-F", disk], check=True, env=env,
                           capture_output=True)
            m = Machine(self.work, image, disk)
            self.addCleanup(m.cut)
            begin = time.monotonic()
            while m.uptime(0.2) is None:
                self.assertLess(time.monotonic() - begin, 90, m.text)
            up = m.uptime(4.0 + rng.uniform(0, 2))
            m.cut()
            self.assertNotIn("ENDED", m.text)
            self.assertNotIn("NO DISK", m.text)
            trace = self.rescue(disk)
            db = sqlite3.connect(trace)
            self.assertEqual(db.execute("PRAGMA integrity_check").fetchone()[0], "ok")
            db.close()
            out = subprocess.run([os.path.join(lab.BUILD, "bin", "wwtrace"), "export", trace],
                                 capture_output=True, text=True, check=False)
            self.assertEqual(out.returncode, 0, out.stderr)
            last = int(out.stdout.splitlines()[-1].split(",")[1]) / 1e9
            print(f"# cut {cut + 1}: uptime {up:.2f} s, trace reaches to {last:.2f} s")
            # The axis of the trace is BOOTTIME, which is what uptime tells.
            self.assertGreater(last, up - 1.0)


main()
