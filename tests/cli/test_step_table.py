#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The limits that pwrlog-steps(1) publishes are those that the generator measures."""
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import BUILD, ROOT  # noqa: E402

PAGE = os.path.join(ROOT, "tools/man/pwrlog-steps.1")
PROGRAM = os.path.join(BUILD, "tests/analysis/test_steps_rough")


def rows(text):
    """{name: [changes, found %, false a trace, covered %, in time %]}, None for a dash."""
    found = {}
    for line in text.splitlines():
        m = re.match(r"(\S.*?\S)\s{2,}(\d+)((?:\s+(?:[\d.]+%?|-)){4})$", line)
        if m:
            cells = [m.group(2)] + m.group(3).split()
            found[m.group(1)] = [None if c == "-" else float(c.rstrip("%")) for c in cells]
    return found


class Table(unittest.TestCase):
    def test_page(self):
        with open(PAGE, encoding="utf-8") as f:
            page = f.read()
        block = page.split('.\\" step-table\n')[1].split('.\\" end of step-table')[0]
        for line in block.splitlines():
            self.assertLessEqual(len(line), 72, line)
        run = subprocess.run([PROGRAM, "--table"], capture_output=True, text=True, check=True)
        published, measured = rows(block), rows(run.stdout)
        self.assertGreater(len(measured), 20)
        self.assertEqual(list(published), list(measured))
        for name, now in measured.items():
            # another compiler's last digit may turn one case
            for was, value, slack in zip(published[name], now, (0, 0.5, 0.05, 1, 1)):
                if value is None:
                    self.assertIsNone(was, name)
                else:
                    self.assertAlmostEqual(was, value, delta=slack,
                                           msg=f"{name}: `make step-table` prints it anew")


if __name__ == "__main__":
    main()
