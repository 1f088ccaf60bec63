#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The Python package: steps, attribution, calibration, plans, standby."""
import json
import math
import os

from pyruns import PLOT, Case
from pytrace import ROOT, SECOND, START, main, numpy, program, wakewatt

THIN = os.path.join(ROOT, "examples", "data", "thinclient.txt")
BEFORE = os.path.join(ROOT, "examples", "data", "thinclient-before.txt")
PAIRS = [("all unplugged", 1.0), ("+supply", 3.0), ("+box", 12.4), ("+flat screen", 26.0),
         ("-box", 16.6), ("all unplugged", 1.0)]


def pwrlog(*arguments):
    return json.loads(program("pwrlog", *arguments))


class Power(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = os.path.join(cls.dir.name, "power.wwt")
        cls.write(cls.trace, [(1.0, "all unplugged"), (10.4, "+box"), (37.9, "+monitor"),
                              (28.5, "-box")])

    @staticmethod
    def write(path, levels):
        with wakewatt.Writer(path) as w:
            w.anchor(START, 1_700_000_000 * SECOND)
            meter = w.source("meter", "meter", period_ns=SECOND, window_ns=SECOND)
            w.channel(meter, "power", "power", "W", scale=0.1, resolution=0.1)
            for n, (watts, mark) in enumerate(levels):
                begin = START + n * 300 * SECOND
                if mark:
                    w.mark(begin, mark)
                at = [begin + (k + 1) * SECOND for k in range(300)]
                w.samples(meter, at, at, [[round(10 * watts) + (k * 7 % 3 == 0)
                                           for k in range(300)]])

    def test_steps(self):
        with wakewatt.open(self.trace) as t:
            have, part = t.steps(), t["+box":"-box"].steps()
            self.assertEqual(have.document, pwrlog("steps", "--json", self.trace))
            self.assertEqual([round(s.delta.value, 1) for s in have.steps], [9.4, 27.5, -9.4])
            self.assertEqual([s.label for s in have.steps], ["+box", "+monitor", "-box"])
            self.assertEqual([round(s.delta.value, 1) for s in part.steps], [27.5])
            self.assertIn("<svg", have.svg())
            self.assertIn("<html", have.html())
            self.readable(have)

    def test_stretches_equal_the_program(self):
        with wakewatt.open(self.trace) as t:
            between = t["+box":"+monitor"]
            self.assertEqual(between.stat().document,
                             pwrlog("stat", "--json", "--between", "+box,+monitor", self.trace))
            self.assertEqual(between.energy().value,
                             between.stat()["meter.power"].energy_J.value)
            # 10.4 W and a third of a tenth, for 299 s or 300 s.
            self.assertLess(abs(between.energy().value / 299.5 - 10.43), 0.05)
            wh = t.energy("meter.power").to("Wh")
            self.assertAlmostEqual(wh.value * 3600, t.energy().value)
            self.assertAlmostEqual(wh.u * 3600, t.energy().u)
            with self.assertRaises(ValueError):
                wh.to("W")
            with self.assertRaisesRegex(KeyError, "meter.power"):
                t.energy("meter.current")

    def test_attribution_of_a_trace(self):
        with wakewatt.open(self.trace) as t:
            have = t.attribute()
            self.assertEqual(have.document, pwrlog("attribute", "--json", self.trace))
            self.assertEqual(wakewatt.attribute(traces=self.trace).document, have.document)
            self.assertLess(abs(have["box"].watts.value - 9.4), 0.05)
            self.assertLess(abs(have["monitor"].watts.value - 27.5), 0.05)
            self.readable(have)

    def test_thin_client(self):
        """13.0 - 3.0 ... the worked case: supply 2.0, box 9.4, screen 13.6 W; 37 W saved."""
        have = wakewatt.attribute(THIN, against=BEFORE, spec="0.2%", price="$0.0702",
                                  cost="$180", order="box,supply")
        self.assertEqual(have.document, pwrlog(
            "attribute", "--json", "--table", THIN, "--against", BEFORE, "--spec", "0.2%",
            "--price", "$0.0702", "--cost", "$180", "--order", "box,supply"))
        self.assertEqual([round(d.watts.value, 3) for d in have.devices], [2.0, 9.4, 13.6])
        self.assertEqual(round(have.offset.value, 3), 1.0)
        self.assertEqual(round(have.saving.watts.value, 3), 37.0)
        self.assertEqual(round(have.saving.kwh_per_year.value), 324)
        self.assertEqual((have.saving.currency, have.order[0].synthetic), ("$", True))
        self.readable(have)

    def test_tables_in_every_form(self):
        with open(THIN, encoding="utf-8") as f:
            text = f.read()
        want = wakewatt.attribute(THIN).document
        for table in (text, PAIRS):
            self.assertEqual(wakewatt.attribute(table).document["devices"], want["devices"])
        if numpy is not None:
            import pandas
            frame = pandas.DataFrame({"a": [0, 1, 1, 0], "b": [0, 0, 1, 1],
                                      "W": [1.0, 3.0, 6.4, 4.4]})
            have = wakewatt.attribute(frame)
            self.assertEqual([round(d.watts.value, 1) for d in have.devices], [2.0, 3.4])

    def test_inseparable_and_next(self):
        have = wakewatt.attribute([("all unplugged", 1), ("+a +b", 6.5)])
        self.assertEqual(have.inseparable[0].devices, ("a", "b"))
        self.assertAlmostEqual(have.inseparable[0].sum.value, 5.5, places=1)
        self.assertFalse(have["a"].estimable)
        self.assertTrue(have.next)
        self.readable(have)

    def test_a_base_level_is_no_offset(self):
        """Nothing was read unplugged: what was on all the time is in it."""
        path = self.path("base.wwt")
        self.write(path, [(10.0, ""), (30.0, "+lamp"), (10.0, "-lamp")])
        have = wakewatt.attribute(traces=path)
        self.assertTrue(have.offset_is_base)
        self.assertIn("base level", str(have))
        self.assertIn("base level", have._repr_html_())
        self.assertFalse(wakewatt.attribute(PAIRS).offset_is_base)

    def test_options_that_cannot_be(self):
        for options in ({"spec": "2"}, {"price": "much"}, {"cost": "1 EUR $"}, {"spike_s": -1}):
            with self.assertRaisesRegex(ValueError, next(iter(options))):
                wakewatt.attribute(PAIRS, **options)
        with self.assertRaisesRegex(ValueError, "no readings"):
            wakewatt.attribute()
        with self.assertRaisesRegex(wakewatt.Error, ":2: .many."):
            wakewatt.attribute("all unplugged, 1\n+box, many\n")
        with self.assertRaises(wakewatt.Error):
            wakewatt.attribute(self.path("none.txt"))

    def test_calibration(self):
        loads = [(0, 0.3), (25, 25.6), (60, 61.0)]
        table = self.path("loads.txt")
        with open(table, "w", encoding="ascii") as f:
            f.writelines(f"{a}; {b}\n" for a, b in loads)
        have = wakewatt.calibrate(loads)
        self.assertEqual(have.document["gain"], pwrlog("calibrate", "--json", table)["gain"])
        self.assertAlmostEqual(have.correct(25.6).value, 25.0, delta=0.1)
        kept = self.path("meter.json")
        have.save(kept)
        again = wakewatt.calibrate(kept)
        self.assertEqual(again.correct(40.0).value, have.correct(40.0).value)
        by = wakewatt.attribute(THIN, calibration=again).document
        self.assertEqual(by, pwrlog("attribute", "--json", "--table", THIN, "--calibration", kept))
        self.readable(have)
        with self.assertRaises(wakewatt.Error):
            wakewatt.calibrate([(1, 1)])

    def test_plan(self):
        have = wakewatt.plan(["a", "b", "c"])
        self.assertEqual(have.document, pwrlog("attribute", "--json", "--plan", "a,b,c"))
        self.assertEqual((len(have.states), have.devices), (4, ("a", "b", "c")))
        # No plan of four readings does better than 2 u/sqrt 4.
        self.assertAlmostEqual(have.u_W, 1.0)
        self.assertEqual(wakewatt.plan(["odd, name", "b"]).devices, ("odd, name", "b"))

    def test_standby(self):
        with wakewatt.open(self.trace) as t:
            have = t.standby(limit_W=1.0, accuracy="0.1%+0.005W")
            self.assertEqual(have.document, pwrlog(
                "standby", "--json", "--limit", "1", "--accuracy", "0.1%+0.005W", self.trace))
            self.assertEqual(t.standby("edition1").document,
                             pwrlog("standby", "--json", "--edition", "1", self.trace))
            self.assertIn("stability", [c.name for c in have.clauses])
            self.readable(have)
            with self.assertRaisesRegex(ValueError, "sampling"):
                t.standby("edition 7")

    def test_closed(self):
        t = wakewatt.open(self.trace)
        t.close()
        for call in (t.steps, t.energy, t.standby, t.attribute):
            with self.assertRaisesRegex(ValueError, "closed"):
                call()

    @PLOT
    def test_plots(self):
        from matplotlib import pyplot
        with wakewatt.open(self.trace) as t:
            ax = t.steps().plot()  # 20 minutes: the axis is in minutes, and so are the levels
            self.assertIn("(min)", ax.get_xlabel())
            levels = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2]
            self.assertLess(max(max(x) for x in levels), 20.5)
            self.assertGreater(max(max(x) for x in levels), 19)
        have = wakewatt.attribute(THIN)
        ax = have.plot()
        self.assertEqual([x.get_text() for x in ax.get_yticklabels()],
                         ["supply", "box", "flat screen"])
        self.assertIn("W", ax.get_xlabel())
        self.assertIn("W", have.plot_levels().get_ylabel())
        self.assertTrue(all(math.isfinite(p.get_width()) for p in ax.patches))
        pyplot.close("all")


if __name__ == "__main__":
    main()
