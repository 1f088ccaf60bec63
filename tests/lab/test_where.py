#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where the time goes, in a real kernel: console, heartbeat, ftrace and watts together.

One machine whose console is paced at 115200 and prints every callback, with a driver that is
slow on purpose. What the console, the trace and the wire say is compared with each other, with
a run without console output, and with what was done. LAB_CYCLES=20 for the full campaign.
"""
import base64
import gzip
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.dirname(HERE))
import lab  # noqa: E402

LOUD = int(os.environ.get("LAB_CYCLES", "2"))
EACH = 6 if LOUD < 10 else 10  # of the two that are compared
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
        d.check(f"mount -t tracefs t {TRACING}; echo 8192 > {TRACING}/buffer_size_kb; "
                "echo 1 > /sys/power/pm_print_times; "
                "echo 1 > /sys/power/pm_debug_messages; echo 8 > /proc/sys/kernel/printk; "
                f"for e in suspend_resume device_pm_callback_start device_pm_callback_end; do "
                f"echo 1 > {TRACING}/events/power/$e/enable; done; "
                f"insmod /modules/latethaw.ko resume_ms={SLOW}")
        cls.campaign("loud", LOUD, "--settle", "1500ms", meter=True)
        d.check("echo 1 > /proc/sys/kernel/printk")
        cls.campaign("slow", EACH)
        d.check("echo 0 > /sys/module/latethaw/parameters/resume_ms")
        cls.campaign("fast", EACH)
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
                   # Under load it may not be asleep yet: its console takes its time.
                   f"for i in $(seq 100); do {lab.qmp_program()} {d.path('qmp.sock')} "
                   "system_wakeup 2> /dev/null && exit 0; sleep 0.1; done; exit 1",
                   "-o", path, *more]
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
        text = d.check(f"gzip -c {TRACING}/trace | base64", 300)
        with open(cls.ftrace[name], "wb") as f:
            f.write(gzip.decompress(base64.b64decode(text)))

    # ----------------------------------------------------------------- checks

    def report(self, name, ftrace=True):
        more = ["--ftrace", self.ftrace[name]] if ftrace and name in self.ftrace else []
        return json.loads(run("report", "--json", self.traces[name], *more))

    def kernlog(self, *files):
        return json.loads(run("kernlog", "--json", *files))["cycles"]

    def zero(self, name, report):
        """CLOCK_BOOTTIME of the report's 0, ns, by the first request."""
        p = subprocess.run([program("wwtrace"), "export", "--what", "marks", "--format", "jsonl",
                            self.traces[name]], capture_output=True, text=True, check=True)
        request = next(m["t_lo_ns"] for m in map(json.loads, p.stdout.splitlines())
                       if m["kind"] == "request")
        return request - round(report["cycles"][0]["events_s"]["request"][0] * 1e9)

    def test_all_cycles_of_the_loud_campaign(self):
        r = self.report("loud")
        self.assertEqual([c["result"] for c in r["cycles"]], ["ok"] * LOUD)
        for c in r["cycles"]:
            self.assertEqual(c["kernel"]["result"], "ok")
            self.assertEqual(c["kernel"]["mode"], "mem")

    def test_the_kernels_stamps_stand_where_the_machine_really_slept(self):
        r = self.report("loud")
        zero = self.zero("loud", r)
        events = self.dut.events()
        for c in r["cycles"]:
            e = {k: [round(v * 1e9) + zero for v in i] for k, i in c["events_s"].items()}
            suspend = min((x.ns for x in events if x.name == "SUSPEND"
                           and x.ns > e["request"][0]))
            wakeup = min((x.ns for x in events if x.name == "WAKEUP" and x.ns > suspend))
            with self.subTest(cycle=c["n"]):
                # The last line before the sleep, the first after it: the sleep lies between.
                self.assertLessEqual(e["kernel_asleep"][0], suspend)
                self.assertLess(suspend - e["kernel_asleep"][1], 60e6)
                self.assertGreaterEqual(e["kernel_awake"][1], wakeup)
                self.assertLess(e["kernel_awake"][0] - wakeup, 60e6)
                # Tasks thaw, and the first of them to write is the heartbeat.
                self.assertLess(abs(e["first_beat"][0] - e["thawed"][1]), 60e6)
                self.assertLess(e["request"][0], e["kernel_entry"][1])
                self.assertLess(e["kernel_entry"][0], e["last_beat"][1])

    def test_console_and_ftrace_agree(self):
        lines = self.kernlog(self.traces["loud"])
        traced = self.kernlog(self.ftrace["loud"])
        self.assertEqual(len(lines), LOUD)
        self.assertEqual(len(traced), LOUD)
        for a, b in zip(lines, traced):
            phases = {p["name"]: p for p in b["phases"]}
            # A callback prints two lines; a phase has a line more at each end, or none.
            costs = sorted(middle(d["ms"]) for d in a["devices"])
            cost = costs[len(costs) // 2]
            for p in a["phases"]:
                if not p["name"].startswith(("suspend", "resume")) or p["name"] not in phases:
                    continue
                lo, hi = bounds(p["ms"])
                other = middle(phases[p["name"]]["ms"])
                # A line's stamp is taken before it is printed, the trace's after.
                self.assertLess(abs(middle(p["ms"]) - other), max(3 * cost, 5, hi - lo),
                                f"{p['name']}: console {p['ms']}, trace {other}")

    def test_what_the_console_cost(self):
        """Device times without the console's cost are those of a run that printed nothing."""
        quiet = {}
        for c in self.kernlog(self.ftrace["slow"]):
            for d in c["devices"]:
                key = (d["driver"], d["name"], d["phase"])
                quiet.setdefault(key, []).append(middle(d["ms"]))
        wrong, n, loudest = [], 0, 0
        for c in self.kernlog(self.traces["loud"]):
            for d in c["devices"]:
                key = (d["driver"], d["name"], d["phase"])
                if key not in quiet or d["corrected_ms"] is None:
                    continue
                n += 1
                loudest = max(loudest, middle(d["ms"]) if key[0] != "latethaw" else 0)
                lo, hi = bounds(d["corrected_ms"])
                true = sorted(quiet[key])[len(quiet[key]) // 2]
                if not lo - 4 <= true <= hi + 4:
                    wrong.append((key, d["ms"], d["corrected_ms"], true))
        self.assertGreater(n, 50 * LOUD)
        self.assertGreater(loudest, 9, "the console was to cost something")
        self.assertLess(len(wrong), n / 50, wrong)

    def test_the_slow_driver_tops_every_list(self):
        for files in ((self.traces["loud"],), (self.ftrace["loud"],), (self.ftrace["slow"],),
                      (self.traces["loud"], self.ftrace["loud"])):
            for c in self.kernlog(*files):
                worst = max(c["devices"], key=lambda d: middle(d["corrected_ms"] or d["ms"]))
                self.assertEqual((worst["name"], worst["phase"]), ("latethaw", "resume"))
                self.assertTrue(worst["critical"])
        text = run("report", self.traces["loud"], "--ftrace", self.ftrace["loud"])
        tables = text.split("  slowest of ")[1:]
        self.assertEqual(len(tables), LOUD)
        for t in tables:
            self.assertIn("latethaw", t.splitlines()[2])
        text = run("report", self.traces["slow"], "--ftrace", self.ftrace["slow"])
        table = text.split("callbacks that took most time over all cycles")[1]
        self.assertIn("latethaw", table.splitlines()[2])
        rows = run("kernlog", "--csv", self.ftrace["slow"]).splitlines()
        self.assertIn("latethaw", rows[0] + "".join(r for r in rows if "latethaw" in r))

    def test_compare_finds_it(self):
        doc = json.loads(run("compare", "--json", self.ftrace["fast"], self.ftrace["slow"]))
        device = next(r for r in doc["metrics"] if r["kind"] == "device"
                      and "latethaw" in r["name"] and "resume" in r["name"])
        self.assertEqual(device["verdict"], "slower")
        self.assertLess(abs(middle(device["shift"]) - SLOW), 20)
        run("compare", "--fail-if", "any device > 100 ms slower", self.ftrace["fast"],
            self.ftrace["slow"], status=1)
        run("compare", "--fail-if", "any device > 400 ms slower", self.ftrace["fast"],
            self.ftrace["slow"])

    def test_each_end_has_its_name(self):
        for name, word in (("aborted", "aborted"), ("early", "early"), ("refused", "refused"),
                           ("reset", "reset")):
            c, = self.report(name)["cycles"]
            self.assertEqual(c["result"], word, c)
        c, = self.kernlog(self.traces["refused"])
        self.assertEqual((c["result"], c["reason"]["errno"]), ("failed", -16))
        self.assertTrue(c["reason"]["device"].startswith("vhci_hcd"), c["reason"])
        c = self.kernlog(self.traces["reset"])[0]
        self.assertEqual(c["result"], "reset")
        c, = self.kernlog(self.traces["aborted"])
        self.assertEqual((c["result"], c["reason"]["step"]), ("aborted", "suspend"))

if __name__ == "__main__":
    from tap import main
    main()
