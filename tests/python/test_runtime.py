#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The Python package: runtimes, the model of suspending, and texts that people write."""
import json
import math

from pyruns import PLOT, Case
from pytrace import SECOND, START, Writer, _ffi, main, numpy, program, wakewatt


class Runtime(Case):
    def same(self, have, *arguments):
        self.assertEqual(have.document,
                         json.loads(program("pwrlog", "runtime", "--json", *arguments)))

    def test_battery_and_measurement(self):
        have = wakewatt.runtime("25 W ± 0.6", capacity="7Ah", measured=["48min@25W"],
                                for_h="24h", ageing="80%", temperature="10C", rating="400VA",
                                pf=0.9, series=2, own="3±1W")
        words = ("--capacity", "7Ah", "--measured", "48min@25W", "--for", "24h", "--ageing", "0.8",
                 "--temperature", "10C", "--rating", "400VA", "--pf", "0.9", "--series", "2",
                 "--own", "3±1W")
        self.same(have, "--load", "25W±0.6", *words)
        self.assertEqual((have.load_W.value, have.load_W.u), (25, 0.3))
        self.assertEqual(have["measured"].runtime_min.value, 48)
        self.assertEqual(have.need.hours.value, 24)
        self.assertGreater(have.need.strings, 1)
        self.readable(have)
        for same in ((25, 0.3), wakewatt.Quantity(25, 0.3, "W"), "25 W +- 0.6",
                     wakewatt.Quantity(.025, 3e-4, "kW")):
            again = wakewatt.runtime(same, capacity=7, measured=(48, 25), for_h=24, ageing=0.8,
                                     temperature="10 °C", rating="400VA", pf="90%", series=2,
                                     own=(3, 0.5))
            self.assertEqual(again.document, have.document, same)

    def test_table(self):
        path = self.path("table.csv")
        with open(path, "w", encoding="ascii") as f:
            f.write("W,A,B\n100,60,70\n200,25,30\n400,9,12\n")
        have = wakewatt.runtime(250, table=path)
        self.same(have, "--load", "250", "--table", path)
        d = have.document["runtimes"][1]
        self.mirrors(have["B"], d, ("method", "load", "unit", "runtime_min", "exponent", "points",
                                    "leave_one_out_log", "delivered_Wh", "extrapolated"))
        self.assertEqual(have["B"].budget[0][0], d["budget"][0]["input"])
        self.assertIsNone(have["B"].battery_W)
        self.assertEqual(len(wakewatt.runtime(250, table=path, model="A").runtimes), 1)
        self.readable(have)
        with self.assertRaisesRegex(OSError, "No such file"):
            wakewatt.runtime(250, table=self.path("none"))
        with self.assertRaisesRegex(KeyError, "'A', 'B'"):
            have["C"]

    def test_load_of_a_trace(self):
        path = self.path("load.wwt")
        with Writer(path) as w:
            m = w.source(_ffi.ww_source_kind.METER, "meter")
            w.channel(m, b"power", b"power", b"W", 0, 0.1)
            at = [START + i * SECOND // 10 for i in range(201)]
            w.samples(m, at, at, [600 if i > 100 else 100 + i % 2 for i in range(201)])
        with wakewatt.open(path) as t:
            have = wakewatt.runtime(t, capacity=7)
            self.same(have, path, "--capacity", "7")
            self.assertEqual(have.peak_W, 60)
            first = wakewatt.runtime(t["meter.power"][0:9], capacity=7)
            self.same(first, path, "--capacity", "7", "--from", "0s", "--to", "9s")
            cut = wakewatt.runtime(t[11:], capacity=7)
            self.same(cut, path, "--capacity", "7", "--from", "11s")
            with self.assertRaisesRegex(ValueError, "'volts'"):
                wakewatt.runtime(t, capacity=7, channel="volts")

    def test_wrong_use(self):
        for wrong, text in (({"load": "25V"}, "load: 25 V is not in W"),
                            ({"load": -3}, "load"), ({"load": math.nan}, "load"),
                            ({"load": "much"}, "load: 'much'"),
                            ({"load": 5, "depth": 80}, "depth.*80%"),
                            ({"load": 5, "for_h": "24"}, "'24h'"),
                            ({"load": 5, "temperature": 10}, "'10C'"),
                            ({"load": 5, "temperature": "300C"}, "no battery works"),
                            ({"load": 5, "measured": ["48min"]}, "48min@25W"),
                            ({"load": 5, "chemistry": "coal"}, "lifepo4"),
                            ({"load": 5, "series": 0}, "series"),
                            ({"load": 5, "table": __file__, "table_unit": "J"}, "table_unit")):
            with self.assertRaisesRegex(ValueError, text):
                wakewatt.runtime(**wrong)
        for wrong in ([1, 2, 3], True, b"25W"):
            with self.assertRaises(TypeError):
                wakewatt.runtime(wrong, capacity=7)
        with self.assertRaises(wakewatt.Error):
            wakewatt.runtime(capacity=7)

    @PLOT
    def test_plot(self):
        have = wakewatt.runtime(25, capacity=7, measured="48min@30W")
        axes = have.plot()
        self.assertIn("runtime at 25", axes.get_xlabel())
        self.drawn(axes)
        with self.assertRaisesRegex(ValueError, "no runtime"):
            wakewatt.runtime(25, for_h=24).plot()


class Suspend(Case):
    #: a laptop that was measured, in both ways to say it
    WORDS = ("--idle", "2.75+-0.02", "--suspended", "1", "--transition", "3", "--suspend-time",
             ".25", "--resume-time", ".40")
    LAPTOP = {"idle": "2.75 ± 0.02", "suspended": 1, "transition": "3W", "suspend_time": "250ms",
              "resume_time": 0.4}

    def same(self, have, *arguments, words=WORDS):
        self.assertEqual(have.document, json.loads(program("pwrlog", "suspend-model", "--json",
                                                           *words, *arguments)))

    def test_laws(self):
        """Etr = (3 - 1)(0.25 + 0.4) J; Tbe = Etr/(2.75 - 1)."""
        have = wakewatt.suspend_model(**self.LAPTOP, gaps=("exponential", 5), battery_Wh=20,
                                      generated_W=7, efficiency="80%", ratio=8, timeout_s=10,
                                      visible_cost_J=2, visible_delay_s=0.2)
        self.same(have, "--gaps", "exponential:5", "--battery", "20", "--generated", "7",
                  "--efficiency", "0.8", "--ratio", "8", "--timeout", "10", "--visible-cost", "2",
                  "--visible-delay", "0.2")
        self.assertAlmostEqual(have.transition_J.value, 1.3, 9)
        self.assertAlmostEqual(have.break_even_s.value, 1.3 / 1.75, 5)
        self.assertAlmostEqual(have["never"].watts.value, 2.75, 9)
        self.assertIsNone(have["never"].timeout_s)
        self.mirrors(have["break-even"], have.document["policies"][3],
                     ("policy", "timeout_s", "watts", "life_factor", "cost_W", "competitive",
                      "wakes_per_hour", "gaps_part", "delay_mean_s", "delay_p95_s",
                      "suspended_part", "battery_h", "generated_to_used"))
        self.assertEqual(have.needed_W, have.document["generated"]["needed_W"])
        self.readable(have)
        pareto = wakewatt.suspend_model(**self.LAPTOP, gaps=("pareto", 0.1, 0.9, 3600))
        self.same(pareto, "--gaps", "pareto:0.1,0.9,3600")
        self.assertEqual(wakewatt.suspend_model(**self.LAPTOP,
                                                gaps="pareto:0.1,0.9,3600").document,
                         pareto.document)

    def test_recorded_gaps(self):
        gaps = [0.2, 0.9, 5, 1.5, 30, 0.4, 7, 2.2, 12, 3]
        path = self.path("gaps.csv")
        with open(path, "w", encoding="ascii") as f:
            f.write("n;gap\n" + "".join(f"{i};{g}\n" for i, g in enumerate(gaps)))
        have = wakewatt.suspend_model(**self.LAPTOP, gaps=path)
        self.same(have, "--gaps", path)
        self.assertEqual(wakewatt.suspend_model(**self.LAPTOP, gaps=gaps).document, have.document)
        self.assertEqual(have["never"].energy_J, have.document["policies"][0]["energy_J"])
        self.assertAlmostEqual(have["never"].energy_J, 2.75 * sum(gaps), 6)
        self.readable(have)
        if numpy:
            self.assertEqual(wakewatt.suspend_model(**self.LAPTOP,
                                                    gaps=numpy.array(gaps)).document,
                             have.document)

    def test_break_even_alone(self):
        have = wakewatt.suspend_model(**self.LAPTOP)
        self.same(have)
        self.assertEqual(have.policies, ())
        self.readable(have)
        # What is not told apart says so.
        near = wakewatt.suspend_model(idle="2.75+-0.5", suspended="2.7+-0.5", suspend_time=.25,
                                      resume_time=.4)
        self.assertIn("not told apart", near.break_even_s.why)
        self.assertIn("not told apart", self.readable(near))
        with self.assertRaisesRegex(ValueError, "without gaps"):
            have.plot()

    def test_a_trace(self):
        """Six times 30 s of 8.05 W and 20 s of 1.05 W, read as they are."""
        path = self.path("cycles.wwt")
        self.write_cycles(path)
        with wakewatt.open(path) as t:
            fit = t.suspend_fit(suspend_time=0.5, resume_time=0.5, transition=8)
            self.assertEqual((fit.cycles, fit.from_beats), (6, False))
            self.holds(fit.idle_W, 8.05)
            self.assertAlmostEqual(fit.suspended_W.value, 1.05, 1)
            self.assertIn("cycles, by power alone", fit._repr_html_())
            have = wakewatt.suspend_model(t, suspend_time=0.5, resume_time=0.5, transition=8,
                                          gaps=("fixed", 30))
            self.same(have, "--suspend-time", ".5", "--resume-time", ".5", "--transition", "8",
                      "--gaps", "fixed:30", path, words=())
            self.assertEqual(have.fit.cycles, 6)
            with self.assertRaisesRegex(ValueError, "does not tell what transitions cost"):
                wakewatt.suspend_model(t, gaps=("fixed", 30))
            with self.assertRaisesRegex(OSError, "volts"):
                t.suspend_fit("volts")

    @staticmethod
    def write_cycles(path):
        power = []
        for _ in range(6):
            power += [80 + i % 2 for i in range(300)] + [10 + i % 2 for i in range(200)]
        power += [80 + i % 2 for i in range(300)]
        with Writer(path) as w:
            m = w.source(_ffi.ww_source_kind.METER, "meter", period_ns=SECOND // 10,
                         window_ns=SECOND // 10)
            w.channel(m, b"power", b"power", b"W", _ffi.ww_semantics.AVERAGE, 0.1, 0.1)
            at = [START + i * SECOND // 10 for i in range(len(power))]
            w.samples(m, at, at, power)

    def test_wrong_use(self):
        for wrong, text in (({"idle": 3}, "idle and suspended"),
                            ({"idle": -1, "suspended": 1}, "idle"),
                            ({"idle": "3V", "suspended": 1}, "idle: 3 V is not in W"),
                            ({**self.LAPTOP, "gaps": ("exponential",)}, "exponential"),
                            ({**self.LAPTOP, "gaps": ("poisson", 3)}, "exponential"),
                            ({**self.LAPTOP, "gaps": ("fixed", "long")}, "numbers"),
                            ({**self.LAPTOP, "battery_Wh": "20±1Wh"}, "no uncertainty"),
                            ({**self.LAPTOP, "timeout_s": 0}, "timeout_s")):
            with self.assertRaisesRegex(ValueError, text):
                wakewatt.suspend_model(**wrong)
        with self.assertRaises(TypeError):
            wakewatt.suspend_model(**self.LAPTOP, gaps=5)
        for wrong in ({"gaps": [1.0, -2.0]}, {"gaps": self.path("none")},
                      {"gaps": ("pareto", 0.1, 0.9)}):
            with self.assertRaises(wakewatt.Error):
                wakewatt.suspend_model(**self.LAPTOP, **wrong)

    @PLOT
    def test_plot(self):
        have = wakewatt.suspend_model(**self.LAPTOP, gaps=("exponential", 5))
        axes = have.plot()
        self.assertEqual([t.get_text() for t in axes.get_yticklabels()][:2], ["never", "at once"])
        self.assertEqual([bar.get_width() for bar in axes.patches][:7],
                         [p.watts.value for p in have.policies])
        self.drawn(axes)


class Texts(Case):
    def test_quantities(self):
        for text, want in (("25 W ± 0.6", (25, 0.3, "W")), ("25+-2%", (25, 0.25, "")),
                           ("48min", (48, 0, "min")), ("-5 C", (-5, 0, "C"))):
            q = wakewatt.parse_quantity(text)
            self.assertEqual((q.value, q.u, q.unit), want, text)
        self.assertEqual(wakewatt.parse_quantity("3", "W").unit, "W")
        self.assertEqual(str(wakewatt.parse_quantity("25 W ± 0.6")), "25.00 ± 0.60 W")
        for wrong in ("", "watts", "25 ± x"):
            with self.assertRaises(ValueError):
                wakewatt.parse_quantity(wrong)

    def test_a_quantity_is_rounded_to_its_uncertainty(self):
        for q, text in (((302.03, 0.49795, "ms"), "302.0 ± 1.0 ms"),
                        ((-142, 382, "µJ"), "-140 ± 760 µJ"), ((75.2, 159, "W"), "80 ± 320 W"),
                        ((7.549, 0.01585, "J"), "7.549 ± 0.032 J")):
            self.assertEqual(str(wakewatt.Quantity(*q)), text)

    def test_durations_and_gaps(self):
        self.assertEqual(wakewatt.parse_duration("1m30s"), 90)
        self.assertEqual(wakewatt.parse_duration("500ms"), 0.5)
        self.assertEqual(list(wakewatt.parse_gaps("n,gap_ms\n1,100\n2,2000\n")), [0.1, 2])
        for wrong in ("", "soon"):
            with self.assertRaises(ValueError):
                wakewatt.parse_duration(wrong)
            with self.assertRaises(wakewatt.Error):
                wakewatt.parse_gaps(wrong, "the log")

    def test_work(self):
        """Pieces may be cut anywhere; amounts add up, a throughput is a mean."""
        work = wakewatt.Work("([0-9]+) (frames)")
        self.assertEqual((work.found().kind, work.found().amount), ("none", None))
        self.assertTrue(work.found().why)
        for piece in (b"12 fra", b"mes\n", "30 frames\n"):
            work.feed(piece)
        found = work.found()
        self.assertEqual((found.kind, found.amount.value, found.amount.unit, found.lines),
                         ("amount", 42, "frame", 2))
        work.reset()
        self.assertEqual(work.found().kind, "none")
        rate = wakewatt.Work("([0-9]+) MB/s").feed("50 MB/s\n70 MB/s\n").found()
        self.assertEqual((rate.kind, rate.amount.value, rate.amount.unit), ("rate", 6e7, "B/s"))
        dd = wakewatt.Work("dd").feed("100+0 records in\n100+0 records out\n6553600 bytes "
                                      "(6.6 MB, 6.2 MiB) copied, 0.01 s, 655 MB/s\n").found()
        self.assertEqual((dd.amount.value, dd.amount.unit), (6553600, "B"))
        with self.assertRaisesRegex(OSError, "openssl"):
            wakewatt.Work("(")


if __name__ == "__main__":
    main()
