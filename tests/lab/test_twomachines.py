#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two machines and an adapter between them: the DUT's UART ends at a USB serial chip
(QEMU's, an FT232B) of a bench that is a virtual machine too, with ftdi_sio.

That chip's latency timer starts at 0, and when idle it is silent where a real one sends
status each period: neither may disturb. When the DUT slept is known from outside.
"""
import json
import os
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import guest  # noqa: E402
import lab  # noqa: E402
from tap import main  # noqa: E402

TIMER = "/sys/bus/usb-serial/devices/ttyUSB0/latency_timer"


class TwoMachines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dut = lab.Dut(os.path.join(lab.OUT, "two-dut"))
        cls.addClassCleanup(cls.dut.stop)
        line = os.path.join(lab.OUT, "two.sock")
        cls.dut.start(listen=line)
        cls.bench = guest.Guest(
            os.path.join(lab.OUT, "two-bench"), ("uhci-hcd", "ftdi_sio"), {})
        cls.addClassCleanup(cls.bench.stop)
        cls.bench.start(
            devices=("-device", "piix3-usb-uhci", "-chardev", f"socket,id=line,path={line}",
                     "-device", "usb-serial,chardev=line"))
        cls.bench.wait_for("[ -e /dev/ttyUSB0 ]", "/dev/ttyUSB0")

    def test_suspend(self):
        m, dut = self.bench, self.dut
        before = m.check("cat " + TIMER)
        m.record("two", "resumetime record -p /dev/ttyUSB0")
        m.wait_for("wwtrace export /tmp/two.wwt --what bytes 2> /dev/null | tail -n 5 | "
                   "grep -q port", "heartbeat")
        self.assertEqual(m.check("cat " + TIMER), "1")
        time.sleep(2)
        dut.suspend()
        time.sleep(2)
        dut.wake()
        dut.wait_event("WAKEUP", 1, 20)
        time.sleep(3)
        trace, out = m.end("two")
        self.assertEqual(m.check("cat " + TIMER), before, "left as it was found")
        slept = dut.events("WAKEUP")[0].ns - dut.events("SUSPEND")[0].ns
        p = subprocess.run([os.path.join(lab.BUILD, "bin", "resumetime"), "report", "--json",
                            trace], capture_output=True, text=True, check=True)
        cycles = json.loads(p.stdout)["cycles"]
        self.assertEqual(len(cycles), 1, out)
        events = cycles[0]["events_s"]
        last, first = events["last_beat"], events["first_beat"]
        print(f"# asleep {slept / 1e9:.3f} s; silent {first[0] - last[1]:.3f} to "
              f"{first[1] - last[0]:.3f} s")
        # The DUT is silent from before its suspend to after its resume.
        self.assertGreater((first[1] - last[0]) * 1e9, slept)
        self.assertLess((first[0] - last[1]) * 1e9, slept + 1.5e9)
        info = subprocess.run([os.path.join(lab.BUILD, "bin", "wwtrace"), "info", trace],
                              capture_output=True, text=True, check=True).stdout
        self.assertIn("latency_timer=1(in force)", info)
        self.assertIn("gaps       0", info)


main()
