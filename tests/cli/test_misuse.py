#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What was meant otherwise: the way out is told, and nothing is left behind."""
import os
import pty
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import Case, js, run  # noqa: E402


class Misuse(Case):
    def test_meter_without_its_name(self):
        for uri, want in (
                ("/dev/ttyUSB0", "which meter is it? Its name comes first, such as "
                                 "wattsup:/dev/ttyUSB0; 'pwrlog list' knows the names, 'pwrlog "
                                 "list --probe' asks the meter (a serial line is recorded by "
                                 "'resumetime record -p /dev/ttyUSB0')"),
                ("./port", "which meter is it?"),
                ("pzem004t", "no colon behind the name. Did you mean pzem004t:PLACE? Example: "
                             "pzem004t:/dev/ttyUSB0"),
                ("sim?watts=3", "no colon behind the name. Did you mean sim:PLACE?")):
            code, out, err = run("pwrlog", "record", "-m", uri, "-o", self.path("t.wwt"))
            self.assertEqual((code, out), (2, ""), uri)
            self.assertIn(f"pwrlog record: {uri}: {want}", err)
            self.assertFalse(os.path.exists(self.path("t.wwt")))
        _, _, err = run("pwrlog", "record", "-m", "pzem004t:", "-o", self.path("t.wwt"))
        self.assertIn("pzem004t:: where is the meter? Example: pzem004t:/dev/ttyUSB0\n", err)

    def test_probe_with_nothing_to_ask(self):
        found = js("pwrlog", "list", "--json")["found"]
        if any("serial port" in f["what"] and "(uart)" not in f["what"] for f in found):
            self.skipTest("there are serial ports here, which are not for a test to ask")
        code, out, err = run("pwrlog", "list", "--probe")
        self.assertEqual(code, 0)
        self.assertIn("drivers", out)
        self.assertIn("pwrlog list: --probe: there is nothing to ask: no serial port here", err)

    def test_nothing_came(self):
        """An empty trace is not in the way of the next try, but what was typed is kept."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        t, uri = self.path("t.wwt"), "um25c:" + os.ttyname(slave)
        for _ in range(2):
            code, out, err = run("pwrlog", "record", "-m", uri, "-o", t, "--for", "300ms")
            self.assertEqual((code, out), (1, ""), err)
            self.assertIn(f"{t}: 0 samples, 0 gaps; ", err)
            self.assertIn("nothing was recorded\n", err)
            self.assertIn(f"{t}: nothing came, so it was removed again\n", err)
            self.assertFalse(os.path.exists(t))
        code, _, err = run("pwrlog", "record", "-m", uri, "-o", t, "--for", "300ms",
                           stdin=b"lid closed\n")
        self.assertEqual(code, 1)
        self.assertNotIn("removed", err)
        self.assertTrue(os.path.exists(t))


if __name__ == "__main__":
    main()
