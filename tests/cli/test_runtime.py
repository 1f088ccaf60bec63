#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pwrlog runtime: makers' tables, measured runtimes, batteries, traces; and wrong use."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import ROOT, Case, js, run, tool  # noqa: E402

TABLE = ("VA,420,650,1000,1400\n50,41,90,167,306\n75,27,64,125,236\n100,21,49,98,190\n"
         "150,14,29,64,133\n200,10,22,47,99\n250,7.5,17,35,74\n300,6.2,14,27,60\n")
HELP = "'pwrlog runtime --help' tells how it is used.\n"

BY_TABLE = """\
load 35.00 VA

model              runtime     between     n      1 h
420         59.2 ± 6.9 min   41-63 min  1.03           extrapolated
650      2 h 1 min ± 8 min  90-138 min  0.84  80.4 VA  extrapolated
1000   3 h 35 min ± 20 min   2.8-4.3 h  0.71   159 VA  extrapolated
1400   6 h 25 min ± 31 min   5.1-7.8 h  0.64   300 VA  extrapolated
n: around this load the runtime goes as 1/P^n

± is k = 2, about 95 %

- 1400: the heaviest load that is stated lasts the wanted runtime: what is
  heavier is not known
- lighter than the lightest load that is stated: extrapolated by the slope at
  that end. The loss of the UPS itself does not shrink with the load, so that it
  lasts rather less long than that
- between: no battery of such losses can do otherwise, with the Peukert exponent
  that is given or assumed
- interpolated in logarithms: the table's own points, each from its neighbours,
  come out 2.5 % off on average (linearly 8.3 %)
- a maker's table is for new batteries: with --ageing 0.8 it is that of old ones
- at 25 °C; in the cold a battery holds less: give --temperature
"""

MEASURED = """\
load 12.00 W

runtime           86 ± 20 min
between           78-116 min
from the battery  24.2 ± 9.0 W = 10.1 ± 9.3 W + load / 0.850 ± 0.080
its current       2.02 ± 0.75 A
delivered         17.3 ± 4.0 Wh, 32 % of volts times amp-hours

uncertainty of the runtime: Peukert exponent 19 min, efficiency 6.2 min
± is k = 2, about 95 %

- the measured runtime implies the watts from the battery, and these an own loss
  beside the efficiency; the bounds are those of all the loss fixed and all of
  it in proportion to the load. A runtime never grows as 1/P towards a lighter
  load
- assumed: battery of 12 V, Peukert's exponent 1.2 ± 0.1, capacity rated over 20
  h, depth of discharge 1
- at 25 °C; in the cold a battery holds less: give --temperature
"""

DAY = """\
load 25.00 W

for 24 h: 600 Wh, 50.0 Ah at 12 V without any loss; it takes 147 ± 14 Ah

± is k = 2, about 95 %

- assumed: battery of 12 V, Peukert's exponent 1.2 ± 0.1, capacity rated over 20
  h, efficiency of the inverter 0.85 ± 0.08; for what it takes, depth of
  discharge 0.5, capacity left at the end of its life 0.8
- the loss of the inverter without a load is taken as 0: at a light load it is
  most of what the battery gives; measure one runtime, or give --own
- at 25 °C; in the cold a battery holds less: give --temperature
"""


class Runtime(Case):
    def table(self, text=TABLE):
        with open(self.path("ups.csv"), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path("ups.csv")

    def test_table(self):
        got = run("pwrlog", "runtime", "--table", self.table(), "--va", "35", "--for", "1h")
        self.assertEqual(got, (0, BY_TABLE, ""))

    def test_table_json(self):
        report = js("pwrlog", "runtime", "--table", self.table(), "--va", "35VA", "--model", "420",
                    "--json")
        self.assertEqual(list(report), ["schema", "load_W", "load_VA", "peak_W", "runtimes",
                                        "table", "need", "notes"])
        self.assertEqual(report["schema"], "wakewatt/runtime/1")
        self.assertIsNone(report["load_W"])
        self.assertIsNone(report["need"])
        case, = report["runtimes"]
        self.assertAlmostEqual(case["runtime_min"]["value"], 59.207, 3)
        self.assertEqual(case["extrapolated"], "below")
        self.assertAlmostEqual(case["exponent"], 1.03026, 5)
        self.assertAlmostEqual(report["table"]["leave_one_out_log"], 0.02478, 5)
        self.assertAlmostEqual(report["table"]["leave_one_out_linear"], 0.08309, 5)

    def test_va_from_pf_only(self):
        table = self.table()
        self.assertEqual(run("pwrlog", "runtime", "--table", table, "--load", "25W"),
                         (2, "", "pwrlog runtime: %s: its loads are in VA, which watts do not "
                                 "tell: give --va, or the power factor with --pf\n%s"
                          % (table, HELP)))
        report = js("pwrlog", "runtime", "--table", table, "--load", "70W", "--pf", "0.7", "--json")
        self.assertEqual(report["load_VA"]["value"], 100)
        self.assertEqual([r["runtime_min"]["value"] for r in report["runtimes"]],
                         [21, 49, 98, 190])

    def test_measured(self):
        got = run("pwrlog", "runtime", "--load", "12W", "--measured", "48min@25W", "--capacity",
                  "4.5Ah")
        self.assertEqual(got, (0, MEASURED, ""))

    def test_a_point_itself(self):
        """Digits are those of what is known, not of doubles."""
        out = run("pwrlog", "runtime", "--load", "25W", "--measured", "48min@25W", "--measured",
                  "110min@12W")[1]
        self.assertIn("measured   48 min  1.13\n", out)

    def test_no_load_lasts(self):
        out = run("pwrlog", "runtime", "--measured", "48min@25W", "--load", "25W", "--for", "24h",
                  "--capacity", "7")[1]
        self.assertIn("heaviest load     none lasts 24 h\n", out)

    def test_within_its_bounds(self):
        """Two points tell a slope that no battery has: what is known is what bounds it."""
        table = self.table("W,A\n50,41\n75,20\n")
        for load in ("25", "5", "0.83", "80", "500"):
            case, = js("pwrlog", "runtime", "--load", load, "--table", table,
                       "--json")["runtimes"]
            lo, hi = case["bounds_min"]
            q = case["runtime_min"]
            self.assertTrue(lo <= q["value"] <= hi, case)
            self.assertLessEqual(q["u"], (hi - lo) / 12 ** .5 + .01)
            if float(load) < 50:
                self.assertLessEqual(q["value"] + 2 * q["u"], hi + .02)
                self.assertGreaterEqual(q["value"] - 2 * q["u"], lo - .02)

    def test_runtime_that_grows_with_the_load(self):
        table = self.table("W,A,B\n50,41,100\n75,60,70\n")
        a, b = js("pwrlog", "runtime", "--load", "60", "--table", table, "--json")["runtimes"]
        self.assertIsNone(a["runtime_min"]["value"])
        self.assertIn("grows with the load", a["runtime_min"]["why"])
        self.assertGreater(b["runtime_min"]["value"], 70)

    def test_heaviest_is_the_end_of_the_table(self):
        out = run("pwrlog", "runtime", "--load", "60", "--for", "10min", "--table",
                  self.table("W,A\n50,41\n75,20\n"))[1]
        self.assertIn("75.0 W", out)
        self.assertIn("what is heavier is not known", out.replace("\n ", ""))

    def test_loads_twice(self):
        table = self.table("VA,W,420\n50,30,41\n75,45,27\n")
        code, out, err = run("pwrlog", "runtime", "--va", "60", "--table", table)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("'W' is a second column of loads, no model", err)

    def test_never_as_one_over_p(self):
        """Without a capacity there is no number for a lighter load, but two bounds."""
        case, = js("pwrlog", "runtime", "--load", "12.5W", "--measured", "48min@25W",
                   "--json")["runtimes"]
        self.assertEqual((case["runtime_min"]["value"], case["runtime_min"]["why"]),
                         (None, case["why"]))
        self.assertEqual(case["bounds_min"], [48, 110.28])
        self.assertIn("--capacity", case["why"])

    def test_day(self):
        got = run("pwrlog", "runtime", "--load", "25W", "--for", "24h")
        self.assertEqual(got, (0, DAY, ""))

        def ah(*more):
            return js("pwrlog", "runtime", "--load", "25W", "--for", "24h", "--json",
                      *more)["need"]

        self.assertEqual(ah()["ideal_Ah"], 50)
        self.assertAlmostEqual(ah()["Ah"]["value"], 147.06, 2)
        self.assertAlmostEqual(ah("--temperature", "0.9")["Ah"]["value"], 163.40, 2)
        self.assertAlmostEqual(ah("--dc", "--chemistry", "lifepo4")["Ah"]["value"], 84.92, 2)
        self.assertEqual(ah("--capacity", "40Ah")["strings"], 4)

    def test_uncertainty(self):
        """What is typed behind the sign is k = 2, what is printed k = 1."""
        report = js("pwrlog", "runtime", "--load", "25W\u00b10.6", "--capacity", "7Ah",
                    "--efficiency", "0.85+-1e-9", "--peukert", "1.2+-1e-9", "--json")
        self.assertEqual(report["load_W"], {"value": 25, "u": 0.3})
        case, = report["runtimes"]
        self.assertEqual(case["budget"][0]["input"], "load")
        self.assertAlmostEqual(case["runtime_min"]["u"] / case["runtime_min"]["value"],
                               1.2 * 0.3 / 25, 4)

    def test_trace(self):
        trace = self.path("load.wwt")
        code, _, err = run("pwrlog", "record", "-m", "sim:?watts=100&noise=0.5&rate=200&seed=5",
                           "--for", "1s", "-o", trace)
        self.assertEqual(code, 0, err)
        report = js("pwrlog", "runtime", "--table", self.table("W;A\n50;40\n100;20\n200;8\n"),
                    "--rating", "90W", "--json", trace)
        self.assertAlmostEqual(report["load_W"]["value"], 100, 0)
        self.assertGreater(report["peak_W"], 100.5)
        self.assertAlmostEqual(report["runtimes"][0]["runtime_min"]["value"], 20, 0)
        self.assertTrue(any(n.startswith("overload: ") for n in report["notes"]))
        self.assertEqual(run("pwrlog", "runtime", "--load", "25W", trace),
                         (2, "", "pwrlog runtime: --load and a trace exclude each other\n" + HELP))

    def test_example(self):
        p = subprocess.run([os.path.join(ROOT, "examples", "ups.sh")], capture_output=True,
                           check=True, text=True, env={**os.environ, "PWRLOG": tool("pwrlog")})
        self.assertEqual(p.stderr, "")
        for part in ("runtime           92 \u00b1 25 min\n", "between           81-129 min\n",
                     "600 \u00b1 14 Wh, 50.0 Ah at 12 V without any loss; it takes "
                     "163 \u00b1 16 Ah",
                     "it takes 84.9 \u00b1 4.2 Ah"):
            self.assertIn(part, p.stdout.replace("\n  ", " "))

    def test_refused(self):
        bad = self.table("VA,A\n50,abc\n")
        for args, text in (
                (("--va", "35", "--table", bad), bad + ":2: 'abc' is no runtime; minutes, as in "
                                                       "48, or 1h30m\n"),
                (("--va", "35", "--capacity", "7"),
                 "a battery gives watts, which VA do not tell: give --load in W, or --pf\n")):
            self.assertEqual(run("pwrlog", "runtime", *args), (1, "", "pwrlog runtime: " + text))

    def test_usage(self):
        for args, text in (
                (("--load", "25V"), "--load: '25V' is not in W\n"),
                (("--load", "-5W"), "--load: '-5W' is not above 0\n"),
                (("--load", "x"), "--load: 'x' is no quantity; write it as 25W or 25W\u00b10.6\n"),
                (("--measured", "48min"),
                 "--measured: '48min' is not a time at a load, as in 48min@25W\n"),
                (("--temperature", "10"),
                 "--temperature: '10': write degrees as 10C, a part as 0.9\n"),
                (("--depth", "50"), "--depth: '50' is more than the whole; 80% or 0.8\n"),
                (("--chemistry", "nicd"), "--chemistry: lead, lifepo4 or liion, not 'nicd'\n"),
                (("--series", "0"), "--series: '0' is not a number of batteries\n"),
                (("--load", "25W"), "nothing tells how long it lasts: give a maker's table, a "
                                    "measured runtime, a capacity, or the runtime that is "
                                    "wanted\n"),
                ((), "the load is not given: watts, as in 25W, or a trace\n"),
                (("--load", "25", "--capacity", "7", "--efficiency", "1.1"),
                 "efficiency: 1.1 is not above 0 and at most 1\n"),
                (("--load", "25", "--va", "35", "--pf", "1.2", "--capacity", "7"),
                 "power factor: 1.2 is not above 0 and at most 1\n"),
                (("--load", "25", "--va", "20", "--capacity", "7"),
                 "25 W of 20 VA: no load takes more watts than VA\n"),
                (("--load", "25", "--va", "35", "--pf", ".9", "--capacity", "7"),
                 "25 W are not 0.9 of 35 VA: give two of load, VA and power factor\n"),
                (("--load", "25", "--peak", "20", "--capacity", "7"),
                 "a peak of 20 W is less than the load of 25 W itself\n"),
                (("--load", "25", "--for", "24"), "--for: '24' has no unit: 24h or 24min?\n"),
                (("--wrong",), "unknown option '--wrong'\n")):
            self.assertEqual(run("pwrlog", "runtime", *args),
                             (2, "", "pwrlog runtime: " + text + HELP))
        code, out, err = run("pwrlog", "runtime", "--help")
        self.assertEqual((code, err), (0, ""))
        self.assertLessEqual(max(map(len, out.splitlines())), 90)


if __name__ == "__main__":
    main()
