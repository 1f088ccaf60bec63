#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Edges of a GPIO line through the real kernel, against the writes that caused them.

A guest that has been suspended before, so that CLOCK_BOOTTIME and CLOCK_MONOTONIC differ,
has a chip of gpio-sim. A program there pulls its line up and down and logs the time
before and after each write.
"""
import json
import os
import statistics
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import guest  # noqa: E402
import image  # noqa: E402
import lab  # noqa: E402
from tap import main  # noqa: E402

EDGES = 300
CONFIG = "/sys/kernel/config/gpio-sim/lab"
PULL = "/sys/devices/platform/gpio-sim.0/gpiochip*/sim_gpio2/pull"


def exported(trace, what):
    out = subprocess.run([os.path.join(lab.BUILD, "bin", "wwtrace"), "export", trace, "--what",
                          what, "--format", "jsonl"], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


class Gpio(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        drive = image.compile_c("gpio_drive.c", os.path.join(lab.OUT, "gpio_drive"), "-static")
        cls.m = m = guest.Guest(os.path.join(lab.OUT, "gpio"),
                                ("configfs", guest.gpio_sim_module()),
                                {"gpio_drive": drive,
                                 "rtcwake": image.need("rtcwake", "util-linux")})
        cls.addClassCleanup(m.stop)
        m.start()
        m.check("rtcwake -m mem -s 2 > /dev/null", 30)
        m.check("mount -t configfs configfs /sys/kernel/config && "
                f"mkdir -p {CONFIG}/bank/line2 && echo 4 > {CONFIG}/bank/num_lines && "
                f"echo bench > {CONFIG}/bank/label && echo wake > {CONFIG}/bank/line2/name && "
                f"echo 1 > {CONFIG}/live")

    def record(self, name, uri):
        self.m.record(name, f"pwrlog record -m '{uri}'")
        self.m.wait_for(f"wwtrace info /tmp/{name}.wwt 2>&1 | grep -q gpio", "source")

    def drive(self, n, apart_ms=1):
        self.m.check(f"gpio_drive {PULL} {n} /tmp/truth {apart_ms}", 60)
        with open(self.m.fetch("/tmp/truth")) as f:
            return [[int(v) for v in line.split()] for line in f]

    def judge(self, got, truth):
        self.assertEqual([g["level"] for g in got], [t[2] for t in truth])
        for g, (before, after, _) in zip(got, truth):
            self.assertLessEqual(g["t_lo_ns"], after)
            self.assertGreaterEqual(g["t_hi_ns"], before)

    def test_edges_on_the_axis(self):
        chip = self.m.check(f"cat {CONFIG}/bank/chip_name")
        found = json.loads(self.m.check("pwrlog list --json"))["found"]
        self.assertIn("bench", " ".join(f["detail"] for f in found
                                        if f["uri"].startswith(f"gpio:{chip}/")))
        self.record("edges", f"gpio:{chip}/2?role=wake")
        truth = self.drive(EDGES)
        trace, _ = self.m.end("edges")
        got = exported(trace, "events")
        self.judge(got, truth)
        widths = [g["t_hi_ns"] - g["t_lo_ns"] for g in got]
        print(f"# {len(got)} edges inside; width median {statistics.median(widths) / 1e3:.1f} us, "
              f"at most {max(widths) / 1e3:.1f} us")
        # The kernel's stamp is not a program's: it is as wide as the reading of two clocks.
        self.assertLess(statistics.median(widths), 1e6)
        up, mono = self.m.check("cat /proc/uptime; grep -m1 'now at' /proc/timer_list").split("\n")
        slept = float(up.split()[0]) * 1e9 - int(mono.split()[2])
        self.assertGreater(slept, 1e9, "the two clocks did not differ: nothing was shown")

    def test_options(self):
        # As the kernel applies them. A debounced edge is stamped once the line was quiet, by a
        # timer that counts in jiffies.
        for i, options in enumerate(("active_low=1", "active_low=1&bias=pull-down",
                                     "active_low=1&debounce=200us")):
            uri = "gpio:bench/2?" + options
            _, said = self.m.run(f"rm -f /tmp/o.wwt; pwrlog record -m '{uri}' "
                                 "-o /tmp/o.wwt --for 1ms")
            debounced = "debounce" in options
            if debounced and "libgpiod 2" in said:
                continue
            self.record(f"option{i}", uri)
            truth = [(before, after, 1 - level)
                     for before, after, level in self.drive(20, 50 if debounced else 1)]
            got = exported(self.m.end(f"option{i}")[0], "events")
            self.judge(got, truth)

    def test_pulses(self):
        """A pulse meter: what stat integrates is the energy of the pulses."""
        self.record("pulses", "s0:gpio:bench/2?imp_per_kwh=10000&max_watts=1000000")
        truth = [(before, after) for before, after, level in self.drive(42, 20) if level]
        self.m.check("sleep 1")
        trace, out = self.m.end("pulses")
        rows = [r for r in exported(trace, "samples")
                if r["channel"] == "power" and r["value"] is not None]
        self.assertEqual(len(rows), len(truth) - 1, out)
        for r, a, b in zip(rows, truth, truth[1:]):
            # Each edge lies within its write, however long that took.
            self.assertGreater(r["value"], 360e9 / (b[1] - a[0]) * 0.99)
            self.assertLess(r["value"], 360e9 / (b[0] - a[1]) * 1.01)
        stat = json.loads(subprocess.run([os.path.join(lab.BUILD, "bin", "pwrlog"), "stat",
                                          "--json", trace], capture_output=True, text=True,
                                         check=True).stdout)
        power = next(c for c in stat["channels"] if c["name"].endswith(".power"))
        self.assertAlmostEqual(power["energy_J"]["value"], 360 * len(rows), delta=0.1)
        self.assertEqual(power["gaps"], 0)

    def test_chip_goes_and_comes_back(self):
        self.record("away", "gpio:bench/wake")
        truth = self.drive(6)
        self.m.check(f"echo 0 > {CONFIG}/live")
        marks = "wwtrace export /tmp/away.wwt --what marks | grep -q "
        self.m.wait_for(marks + ",unplugged,", "mark of the unplugged chip")
        self.m.check(f"echo 1 > {CONFIG}/live")
        self.m.wait_for(marks + ",replugged,", "mark of the replugged chip")
        truth += self.drive(6)
        trace, _ = self.m.end("away")
        self.judge(exported(trace, "events"), truth)
        gaps = exported(trace, "gaps")
        self.assertEqual(len(gaps), 1)
        self.assertGreaterEqual(gaps[0]["t_lo_ns"], truth[5][0])
        self.assertLessEqual(gaps[0]["t_hi_ns"], truth[6][1])


main()
