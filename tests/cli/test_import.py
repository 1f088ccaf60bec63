#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of other programs wherever a trace is read: output, complaints, exit status.

WAKEWATT_DATA names a folder of real recordings; what is not there is skipped.
"""
import glob
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main
from ww import js, run

CSV = "time;power (W);label\n2023-11-14 22:13:20;119,1;\n2023-11-14 22:13:21;0,9;on\n"
DATA = os.environ.get("WAKEWATT_DATA", "")

INFO = """\
trace      closed
span       1.000 s from 2023-11-14T22:13:20.000+01:00
marks      1: label 1
         1.000 s  on
gaps       0
sources    1
  meter (meter)
    driver     csv
    rows       2
    timing     period 1 s
    channel    power: power in W, instant, resolution 0.1
environment
  bench.utc_offset_s   3600
  import.format        csv
"""

EXPORT = """\
t_lo_ns,t_hi_ns,source,channel,value,unit
0,0,meter,power,119.1,W
1000000000,1000000000,meter,power,0.9,W
"""


class Import(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="wwtest.")
        self.file = os.path.join(self.dir, "meter.csv")
        self.write(CSV)

    def tearDown(self):
        shutil.rmtree(self.dir)

    def write(self, text):
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(text)

    def test_info(self):
        self.assertEqual(run("wwtrace", "info", "--zone", "+01:00", self.file), (0, INFO, ""))

    def test_notes(self):
        note = "the times tell no zone: taken as UTC (--zone +01:00 says otherwise)"
        code, out, err = run("wwtrace", "export", self.file)
        self.assertEqual((code, out, err), (0, EXPORT, f"wwtrace export: {self.file}: {note}\n"))
        self.assertIn(note, js("wwtrace", "info", "--json", self.file)["notes"])
        self.assertIn("import: " + note, js("pwrlog", "stat", "--json", self.file)["notes"])

    def test_standard_input(self):
        code, out, _ = run("wwtrace", "export", "--zone", "Z", "-", stdin=CSV.encode())
        self.assertEqual((code, out), (0, EXPORT))

    def test_stored(self):
        out = os.path.join(self.dir, "out.wwt")
        self.assertEqual(run("wwtrace", "import", "--zone", "+1", self.file, "-o", out),
                         (0, "", f"wwtrace import: {out}: 2 rows\n"))
        self.assertEqual(run("wwtrace", "export", out), (0, EXPORT, ""))
        self.assertIn("2023-11-14T22:13:20.000+01:00", run("wwtrace", "info", out)[1])
        code, text, err = run("wwtrace", "import", self.file, "-o", out)
        self.assertEqual((code, text), (1, ""))
        self.assertIn(f"{out} exists already and is not overwritten", err)

    def test_round_trip(self):
        for form in ("csv", "jsonl"):
            code, text, _ = run("wwtrace", "export", "--format", form, self.file)
            self.assertEqual(code, 0)
            self.assertEqual(run("wwtrace", "export", "-", stdin=text.encode())[:2], (0, EXPORT))

    def test_rate(self):
        self.write("p_W\n1.5\n2.5\n")
        code, out, err = run("pwrlog", "stat", self.file)
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, f"pwrlog stat: {self.file}:2: no column tells the time: say how many "
                              "rows a second there are (--rate 10), or which column it is "
                              "(--columns)\n")
        stat = js("pwrlog", "stat", "--rate", "4", "--json", self.file)
        self.assertEqual(stat["channels"][0]["duration_s"], 0.25)

    def test_wrong_use(self):
        for option, value, part in (("--rate", "fast", "rows a second"), ("--rate", "-1", "rows a"),
                                    ("--zone", "CET", "an offset from UTC"),
                                    ("--zone", "+99", "an offset from UTC"),
                                    ("--zone", "+1:", "an offset from UTC"),
                                    ("--zone", "+01:60", "an offset from UTC"),
                                    ("--zone", "+00100", "an offset from UTC"),
                                    ("--resolution", "0", "a step in W")):
            code, out, err = run("wwtrace", "info", option, value, self.file)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(f"{option} '{value}': {part}", err)
        code, _, err = run("wwtrace", "import", self.file)
        self.assertEqual(code, 2)
        self.assertIn("-o OUT.wwt", err)
        code, _, err = run("wwtrace", "info", "--format", "x", self.file)
        self.assertEqual(code, 1)
        self.assertIn("there is no format 'x'", err)

    def test_no_series(self):
        self.write('{"power": 12.5, "voltage": 230}\n')
        code, out, err = run("pwrlog", "stat", self.file)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("looks like JSON, what a plug or a program replies once", err)

    def test_cut_trace(self):
        """A trace that was cut short says so, and what helps."""
        self.write("t_s,power_W\n" + "".join(f"{i},{i % 7}.5\n" for i in range(3000)))
        out = os.path.join(self.dir, "out.wwt")
        self.assertEqual(run("wwtrace", "import", self.file, "-o", out)[0], 0)
        with open(out, "r+b") as f:
            f.truncate(3000)
        self.assertEqual(run("wwtrace", "info", out), (
            1, "", f"wwtrace info: {out}: damaged, or cut short as it was copied (database disk "
                   "image is malformed): copy it anew; 'sqlite3 FILE .recover' saves what is "
                   "left\n"))

    def test_typed_table(self):
        """A table for an attribution is no trace, and the message says whose it is."""
        self.write("all unplugged, 1\n+box, 13\n")
        code, out, err = run("pwrlog", "stat", self.file)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("'pwrlog attribute --table' reads it", err)

    def test_no_power(self):
        """Registers of energy are told as such, with what measures them."""
        self.write("Time,PACKAGE_ENERGY (J)\n1700000000000,36\n1700000000200,72\n"
                   "1700000000400,108\n")
        code, out, err = run("pwrlog", "steps", self.file)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("there is meter.package_energy (Wh); of a register of energy, 'pwrlog stat' "
                      "tells energy and mean power\n", err)

    def test_beyond(self):
        """A reading beyond any range is none: it is no number to reckon with."""
        for text in ("t_s,power_W\n0,5\n1,inf\n2,5\n3,-inf\n4,5\n",
                     "t_s,power_W\n0,5\n1,1e15\n2,5\n3,-1e18\n4,5\n"):
            self.write(text)
            c = js("pwrlog", "stat", "--json", self.file)["channels"][0]
            self.assertEqual((c["n"], c["min"], c["max"], c["mean"]["value"]), (3, 5, 5, 5))

    def test_list(self):
        code, out, err = run("wwtrace", "import", "--list")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("tracebase ", out)
        self.assertTrue(all(line.split()[0] in out for line in out.splitlines()))


@unittest.skipUnless(os.path.isdir(DATA), "WAKEWATT_DATA names no folder")
class Recordings(unittest.TestCase):
    """Real files: taken without options, and by the right format."""

    def one(self, pattern):
        found = sorted(glob.glob(os.path.join(DATA, pattern)))
        if not found:
            self.skipTest(f"no {pattern}")
        return found[0]

    def check(self, pattern, form, channel, rows, mean):
        info = js("wwtrace", "info", "--json", self.one(pattern))
        self.assertEqual(info["meta"]["import.format"], form)
        stat = js("pwrlog", "stat", "--json", self.one(pattern))
        got = [c for c in stat["channels"] if c["name"].endswith(channel)][0]
        self.assertEqual(got["n"], rows)
        self.assertAlmostEqual(got["mean"]["value"], mean, delta=0.02 * mean)

    def test_fridge(self):
        self.check("tracebase_Refrigerator*", "tracebase", ".power", 18714, 32.38)

    def test_washing_machine(self):
        self.check("tracebase_Washingmachine*", "tracebase", ".power", 14840, 15.37)

    def test_phone(self):
        self.check("tc66*", "tc66", ".power", 21219, 3.177)

    def test_card(self):
        self.check("pmt*", "pmt", "instant", 630, 48.9)

    def test_rapl(self):
        self.check("gmt_cpu*", "gmt", ".power", 199, 4.4998)

    def test_wattmeter(self):
        info = js("wwtrace", "info", "--json", self.one("gmt_psu*"))
        self.assertEqual(info["meta"]["import.format"], "gmt")

    def test_analyser(self):
        info = js("wwtrace", "info", "--json", self.one("ptd*"))
        self.assertEqual(info["meta"]["import.format"], "ptd")

    def test_no_series(self):
        for path in glob.glob(os.path.join(DATA, "*.json")) + glob.glob(os.path.join(DATA, "*.bin")):
            code, out, err = run("wwtrace", "info", path)
            self.assertEqual((code, out), (1, ""))
            self.assertIn("looks like", err)


if __name__ == "__main__":
    main()
