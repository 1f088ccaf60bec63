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


class Gpio(unittest.TestCase):
    def test_edges_on_the_axis(self):
        drive = image.compile_c("gpio_drive.c", os.path.join(lab.OUT, "gpio_drive"), "-static")
        m = guest.Guest(os.path.join(lab.OUT, "gpio"), ("configfs", guest.gpio_sim_module()),
                        {"gpio_drive": drive, "rtcwake": image.need("rtcwake", "util-linux")})
        self.addCleanup(m.stop)
        m.start()
        m.check("rtcwake -m mem -s 2 > /dev/null", 30)
        m.check("mount -t configfs configfs /sys/kernel/config && "
                f"mkdir -p {CONFIG}/bank/line2 && echo 4 > {CONFIG}/bank/num_lines && "
                f"echo bench > {CONFIG}/bank/label && echo wake > {CONFIG}/bank/line2/name && "
                f"echo 1 > {CONFIG}/live")
        chip = m.check(f"cat {CONFIG}/bank/chip_name")
        found = json.loads(m.check("pwrlog list --json"))["found"]
        self.assertTrue(any(f["uri"].startswith("gpio:") and "bench" in json.dumps(f)
                            for f in found), found)
        m.record("edges", f"pwrlog record -m 'gpio:{chip}/2?role=wake'")
        m.wait_for("wwtrace info /tmp/edges.wwt 2>&1 | grep -q gpio", "source")
        m.check(f"gpio_drive /sys/devices/platform/gpio-sim.0/{chip}/sim_gpio2/pull {EDGES} "
                "/tmp/truth", 60)
        trace, said = m.end("edges")
        with open(m.fetch("/tmp/truth")) as f:
            truth = [[int(v) for v in line.split()] for line in f]
        got = [json.loads(line) for line in subprocess.run(
            [os.path.join(lab.BUILD, "bin", "wwtrace"), "export", trace, "--what", "events",
             "--format", "jsonl"],
            capture_output=True, text=True, check=True).stdout.splitlines()]
        self.assertEqual([g["level"] for g in got], [t[2] for t in truth], said)
        for g, (before, after, _) in zip(got, truth):
            self.assertLessEqual(g["t_lo_ns"], after)
            self.assertGreaterEqual(g["t_hi_ns"], before)
        widths = [g["t_hi_ns"] - g["t_lo_ns"] for g in got]
        print(f"# {len(got)} edges inside; width median {statistics.median(widths) / 1e3:.1f} us, "
              f"at most {max(widths) / 1e3:.1f} us")
        # The kernel's stamp is not a user's: it is no wider than the clocks' readings.
        self.assertLess(statistics.median(widths), 1e6)
        up, mono = m.check("cat /proc/uptime; cat /proc/timer_list | grep -m1 'now at'").split("\n")
        slept = float(up.split()[0]) * 1e9 - int(mono.split()[2])
        self.assertGreater(slept, 1e9, "the two clocks did not differ: nothing was shown")


main()
