#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""resumetime kernlog on real logs, where they are: each must give the values stated for it.

The folder holds logs, expected.json and check.py; WAKEWATT_KERNEL_LOGS names it, else
../shared/kernel-logs beside the checkout is looked for.
"""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import tool  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOGS = os.environ.get("WAKEWATT_KERNEL_LOGS") or os.path.join(TOP, "..", "shared", "kernel-logs")
CHECK = os.path.join(LOGS, "check.py")


@unittest.skipUnless(os.path.exists(CHECK), "no folder of real logs")
class RealLogs(unittest.TestCase):
    def test_expected_values(self):
        p = subprocess.run([sys.executable, CHECK, tool("resumetime"), LOGS],
                           capture_output=True, text=True, timeout=120)
        bad = [line for line in p.stdout.splitlines() if line.startswith("BAD")]
        self.assertEqual(bad, [])
        self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
        self.assertRegex(p.stdout.splitlines()[-1], r"^[1-9]\d* of ")


if __name__ == "__main__":
    main()
