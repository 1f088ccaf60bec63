#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the DUT says of itself is in the trace's environment."""
import json
import os
import pty
import signal
import subprocess
import sys
import tty

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import Case, run, tool, wait_for  # noqa: E402


def check(text):
    """The 12 bits of text/beat.h, written from its comment."""
    crc = 0xFFFF
    for b in text.encode():
        crc ^= b << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return digits[crc >> 6 & 63] + digits[crc & 63]


def line(text):
    return ("#%s*%s\n" % (text, check(text))).encode()


class DutInfo(Case):
    def test_environment(self):
        m, s = pty.openpty()
        self.addCleanup(os.close, m)
        self.addCleanup(os.close, s)
        tty.setraw(s)
        t = self.path("t.wwt")
        p = subprocess.Popen([tool("resumetime"), "record", "-p", os.ttyname(s), "-o", t],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        self.addCleanup(p.kill)
        wait_for(lambda: os.path.exists(t))

        def meta():
            code, out, _ = run("wwtrace", "info", t, "--json")
            return json.dumps(json.loads(out)) if code == 0 else ""

        def said():
            # Written until the recorder has it: it may open the port a little later.
            for text in ("info=start", "clocksource=acpi_pm", "cmdline=ro quiet ",
                         "cmdline+=mem_sleep_default=deep", "kernel=Linux 6.1%2a"):
                os.write(m, line(text))
            os.write(m, b"#clocksource=forged*AA\njunk\n")
            return '"dut.cmdline": "ro quiet mem_sleep_default=deep"' in meta()
        wait_for(said)
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(20), 0)
        text = meta()
        self.assertIn('"dut.clocksource": "acpi_pm"', text)
        self.assertIn('"dut.kernel": "Linux 6.1*"', text)
        self.assertNotIn("forged", text)
        self.assertNotIn("dut.info", text)
        code, out, err = run("resumetime", "report", t, "--json")
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["dut"]["cmdline"], "ro quiet mem_sleep_default=deep")


main()
