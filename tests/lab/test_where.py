#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where the time goes, in a real kernel: console, heartbeat, ftrace and watts together.

One machine whose console is paced at 115200 and prints every callback, with a driver that is
slow on purpose. What the console, the trace and the wire say is compared with each other, with
a run without console output, and with what was done. LAB_CYCLES=20 for the full campaign.
"""
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.dirname(HERE))
import lab  # noqa: E402

LOUD = int(os.environ.get("LAB_CYCLES", "3"))
METER = "sim:?follow={}&on=24.9&off=0.8&rate=50&noise=0.1&resolution=0.1"
SLOW = 150
TRACING = "/sys/kernel/tracing"


def program(name):
    return os.path.join(lab.BUILD, "bin", name)


def run(*args, status=0):
    p = subprocess.run([program("resumetime"), *args], capture_output=True, text=True, timeout=120)
    if p.returncode != status:
        raise AssertionError(f"{args}: exit {p.returncode}\n{p.stdout[-2000:]}{p.stderr}")
    return p.stdout


def middle(q):
    return q["value"] if isinstance(q, dict) else sum(q) / 2 if isinstance(q, list) else q


def bounds(q):
    """What a quantity surely lies in."""
    if isinstance(q, list):
        return q
    return [q.get("lo", q["value"] - 3 * (q["u"] or 0)), q.get("hi", q["value"] + 3 * (q["u"] or 0))]


class Where(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dut = d = lab.Dut(os.path.join(lab.OUT, "test-Where"))
        cls.traces, cls.ftrace = {}, {}
        try:
            d.start(late_thaw=True, console=True, reboot=True,
                    append="no_console_suspend loglevel=8")
            cls.record()
        finally:
            d.stop()

    @classmethod
    def record(cls):
        d = cls.dut
        d.check(f"mount -t tracefs t {TRACING}; echo 1 > /sys/power/pm_print_times; "
                "echo 1 > /sys/power/pm_debug_messages; echo 8 > /proc/sys/kernel/printk; "
                f"for e in suspend_resume device_pm_callback_start device_pm_callback_end; do "
                f"echo 1 > {TRACING}/events/power/$e/enable; done; "
                f"insmod /modules/latethaw.ko resume_ms={SLOW}")
        cls.campaign("loud", LOUD, "--settle", "1500ms", meter=True)
        d.check("echo 1 > /proc/sys/kernel/printk")
        cls.campaign("slow", 10)
        d.check("echo 0 > /sys/module/latethaw/parameters/resume_ms")
        cls.campaign("fast", 10)
        d.check("echo 8 > /proc/sys/kernel/printk; echo 0 > /sys/power/pm_print_times")
        d.check("echo 1 > /sys/module/latethaw/parameters/wakes")
        cls.campaign("aborted", 1, "--suspend-timeout", "3s")
        d.check("echo 0 > /sys/module/latethaw/parameters/wakes")
        cls.campaign("early", 1, "--asleep", "8s", suspend="rtcwake 2")
        d.refuse()
        cls.campaign("refused", 1, "--suspend-timeout", "4s")
        d.refuse(False)
        d.check("echo 1 > /sys/module/latethaw/parameters/resets")
        cls.campaign("reset", 1, "--resume-timeout", "9s")

    @classmethod
    def campaign(cls, name, cycles, *args, suspend="suspend", meter=False):
        d = cls.dut
        path = os.path.join(lab.OUT, f"where-{name}.wwt")
        for end in ("", "-wal", "-shm"):
            if os.path.exists(path + end):
                os.unlink(path + end)
        if name != "reset":
            d.check(f"echo > {TRACING}/trace")
        more = ["-m", METER.format(d.path("state"))] if meter else []
        command = [program("resumetime"), "record", "-p", d.wire, "--console", d.console,
                   "--cycles", str(cycles), "--suspend", d.suspend_command(suspend), "--wake",
                   f"{lab.qmp_program()} {d.path('qmp.sock')} system_wakeup", "-o", path, *more]
        for option, value in (("--silence", "400ms"), ("--settle", "600ms"), ("--asleep", "500ms")):
            if option not in args:
                command += [option, value]
        p = subprocess.run([*command, *args], capture_output=True, text=True, timeout=600)
        cls.traces[name] = path
        if p.returncode not in (0, 1):
            raise AssertionError(f"{name}: exit {p.returncode}\n{p.stderr}")
        if name == "reset":
            return
        cls.ftrace[name] = os.path.join(lab.OUT, f"where-{name}-ftrace.txt")
        text = d.check(f"gzip -c {TRACING}/trace | base64", 60)
        import base64
        import gzip
        with open(cls.ftrace[name], "wb") as f:
            f.write(gzip.decompress(base64.b64decode(text)))


if __name__ == "__main__":
    from tap import main
    main()
