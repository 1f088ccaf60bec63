#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A campaign of the lab's machine, for examples/kernels.ipynb: record_kernels.py NAME [CYCLES]

Records NAME.wwt (heartbeat and a simulated wattmeter that follows the machine's state) and
NAME-ftrace.txt.gz beside it. The kernel is the newest one in the lab's cache, which
XDG_CACHE_HOME moves; the cache holds unpacked linux-image packages of Debian.
"""
import base64
import gzip
import os
import sqlite3
import subprocess
import sys

import image as lab_image
import lab

TRACING = "/sys/kernel/tracing"
METER = "sim:?follow={}&on=24.9&off=0.8&rate=50&noise=0.1&resolution=0.1"


def tidy(path):
    """Without what only this bench is concerned with: its name, boot and folders."""
    db = sqlite3.connect(path)
    db.execute("DELETE FROM meta WHERE key IN ('bench.host', 'bench.cmdline', 'bench.boot_id', "
               "'bench.kernel') "
               "OR key LIKE 'recorder.%'")
    for table, column in (("meta", "value"), ("source", "uri"), ("mark", "text")):
        db.execute(f"UPDATE {table} SET {column} = replace({column}, ?, '')",
                   (lab_image.TOP + "/",))
    db.commit()
    db.execute("VACUUM")
    db.close()


def main():
    name, cycles = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    d = lab.Dut(os.path.join(lab.OUT, "kernels"))
    try:
        d.start(console=True)
        d.check(f"mount -t tracefs t {TRACING}; echo 16384 > {TRACING}/buffer_size_kb; "
                "echo 1 > /proc/sys/kernel/printk; "
                "for e in suspend_resume device_pm_callback_start device_pm_callback_end; do "
                f"echo 1 > {TRACING}/events/power/$e/enable; done; echo > {TRACING}/trace")
        subprocess.run(
            [os.path.join(lab_image.BUILD, "bin", "resumetime"), "record", "-p", d.wire,
             "-m", METER.format(d.path("state")), "--cycles", str(cycles), "--warmup", "1",
             "--asleep", "800ms", "--settle", "800ms", "--silence", "400ms",
             "--suspend", d.suspend_command("suspend"), "--wake",
             f"{lab.qmp_program()} {d.path('qmp.sock')} system_wakeup", "-o", name + ".wwt"],
            check=True, stdout=subprocess.DEVNULL, timeout=900)
        text = d.check(f"gzip -c {TRACING}/trace | base64", 300)
    finally:
        d.stop()
    tidy(name + ".wwt")
    with open(name + "-ftrace.txt.gz", "wb") as f:
        f.write(gzip.compress(gzip.decompress(base64.b64decode(text)), 9, mtime=0))


if __name__ == "__main__":
    main()
