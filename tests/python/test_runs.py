#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The Python package: runs, comparisons, runtimes, the model of suspending, what they read."""
import json
import math
import os
import unittest

from pytrace import SECOND, START, Folder, Writer, _ffi, main, numpy, program, wakewatt

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
except ImportError:
    pyplot = None
try:
    import pandas
except ImportError:
    pandas = None

PLOT = unittest.skipUnless(pyplot, "matplotlib is not installed")
ROUNDS = 4


def write_runs(path, watts=(35.0, 31.0), rounds=ROUNDS, work=True, fail=None, serial=b"1"):
    """25 W while nothing runs; A and B run for 10 s each in turns, at these watts.

    A reading is the mean of the 100 ms before it. Run number `fail` ends with status 3.
    """
    power, marks, t = [], [], 0

    def last(tenths, level):
        nonlocal t
        # Every second reading a step more or less: a noise whose mean is nothing.
        power.extend(round(10 * level) + (-1) ** i for i in range(tenths))
        t += tenths

    def mark(kind, text=b""):
        marks.append((START + t * SECOND // 10, kind, text))

    def baseline():
        mark(b"baseline")
        last(50, 25)
        mark(b"baseline-end")

    baseline()
    n = 0
    for k in range(rounds):
        for v in (0, 1) if k % 2 == 0 else (1, 0):
            n += 1
            mark(b"run-start", b"run=%d round=%d place=%d variant=%s repeat=1 command=./%s -1" % (
                n, k + 1, v + 1, b"AB"[v:v + 1], b"ab"[v:v + 1]))
            last(100, watts[v] + 0.1 * (k % 2))
            mark(b"run-end", b"run=%d exit=%d cpu_s=9.5" % (n, 3 if n == fail else 0))
            if work:
                mark(b"run-work", b"run=%d amount=200 u=0 unit=frame" % n)
            last(10, 25)
            baseline()
    with Writer(path) as w:
        w.anchor(START, 1_700_000_000 * SECOND)
        m = w.source(_ffi.ww_source_kind.METER, "meter", serial=serial, driver=b"sim",
                     period_ns=SECOND // 10, window_ns=SECOND // 10)
        w.channel(m, b"power", b"power", b"W", _ffi.ww_semantics.AVERAGE, 0.1, 0.1)
        at = [START + (i + 1) * SECOND // 10 for i in range(len(power))]
        w.samples(m, at, at, power)
        for moment, kind, text in marks:
            w.mark(moment, kind, text)


class Case(Folder):
    def holds(self, q, truth):
        self.assertLessEqual(abs(q.value - truth), 2 * q.u + 1e-9, (q, truth))

    def readable(self, result):
        """What a notebook shows: tables, no missing numbers as such, every note."""
        page = result._repr_html_()
        self.assertIn("<table>", page)
        for word in ("nan", "NaN", "inf<", "None"):
            self.assertNotIn(word, page)
        self.assertEqual(page.count("<table>"), page.count("</table>"))
        self.assertIn("wakewatt." + type(result).__name__, repr(result))
        return page

    def drawn(self, axes):
        """Labels are there, all is drawn without a complaint."""
        axes.figure.canvas.draw()
        self.assertTrue(axes.get_xlabel() or axes.get_ylabel())
        texts = [t.get_text() for t in axes.texts]
        self.assertFalse([t for t in texts if "nan" in t])
        pyplot.close(axes.figure)
        return texts

    def mirrors(self, result, document, names):
        """Fields are the document's entries of the same names."""
        for name in names:
            have, want = getattr(result, name), document.get(name)
            if isinstance(have, wakewatt.Quantity):
                value = None if math.isnan(have.value) else have.value
                self.assertEqual((value, have.u), (want["value"], want["u"]), name)
            elif isinstance(have, float) and math.isnan(have):
                self.assertIsNone(want, name)
            elif isinstance(have, tuple):
                self.assertEqual(list(have), want, name)
            else:
                self.assertEqual(have, want, name)


class Runs(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.both = os.path.join(cls.dir.name, "both.wwt")
        write_runs(cls.both)
        cls.trace = wakewatt.open(cls.both)
        cls.addClassCleanup(cls.trace.close)
        cls.runs = cls.trace.runs()

    def test_energies_are_those_written(self):
        """10 s of 35.05 W on the mean, 10.05 W of them above 25 W, for 200 frames."""
        a, b = self.runs["A"], self.runs["B"]
        self.holds(a.energy_J, 350.5)
        self.holds(a.above_baseline_J, 100.5)
        self.holds(b.above_baseline_J, 60.5)
        self.holds(a.mean_W, 35.05)
        self.holds(a.energy_J_per_unit, 350.5 / 200)
        self.assertEqual((a.n, a.runs, a.failed, a.work.value), (ROUNDS, ROUNDS, 0, 200))
        self.assertEqual((a.energy_J.unit, a.work.unit, a.energy_J_per_unit.unit),
                         ("J", "frame", "J/frame"))
        self.assertEqual([r.variant for r in self.runs.runs], list("ABBAABBA"))
        self.assertEqual([r.round for r in self.runs.runs], [1, 1, 2, 2, 3, 3, 4, 4])
        first = self.runs.runs[0]
        self.assertAlmostEqual(first.start_s.mid, 5, 6)
        self.assertAlmostEqual(first.duration_s.value, 10, 6)
        self.assertEqual((first.command, first.exit, first.signal), ("./a -1", 0, None))
        with self.assertRaisesRegex(KeyError, "'A', 'B'"):
            self.runs["C"]

    def test_equal_the_command_line(self):
        want = json.loads(program("pwrlog", "run", "--from", self.both, "--json"))
        self.assertEqual(self.runs.document, want)
        self.assertEqual(str(self.runs),
                         program("pwrlog", "run", "--from", self.both).decode())
        self.assertEqual(self.runs.notes, tuple(want["notes"]))
        both = ("duration_s", "energy_J", "above_baseline_J", "mean_W", "peak_W", "work",
                "energy_J_per_unit", "above_baseline_J_per_unit", "time_s_per_unit", "variant",
                "command")
        for have, d in zip(self.runs.runs, want["runs"]):
            self.mirrors(have, d, both + (
                "run", "round", "repeat", "warmup", "used", "exit", "start_s", "end_s", "cpu_s",
                "baseline_before_W", "baseline_after_W", "coverage", "edges_J"))
        for have, d in zip(self.runs.variants, want["variants"]):
            self.mirrors(have, d, both + ("runs", "n", "failed", "no_energy", "duration_sd_s",
                                          "energy_sd_J", "above_baseline_sd_J"))
        self.mirrors(self.runs.meter, want["meter"], ("channel", "semantics", "period_s",
                                                      "window_s", "resolution_W", "gain_u",
                                                      "offset_u_W"))

    def test_failures_count_when_asked(self):
        path = self.path("failed.wwt")
        write_runs(path, fail=2, work=False)
        with wakewatt.open(path) as t:
            have, every = t.runs(), t.runs("meter.power", failed=True)
            self.assertEqual((have["B"].n, have["B"].failed, every["B"].n),
                             (ROUNDS - 1, 1, ROUNDS))
            run = have.runs[1]
            self.assertEqual((run.exit, run.used, run.work), (3, False, None))
            self.assertIn("exit status 3", self.readable(have))
            with self.assertRaisesRegex(OSError, "volts"):
                t.runs("meter.volts")
        with self.assertRaisesRegex(ValueError, "closed"):
            t.runs()

    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_frame(self):
        frame = self.runs.to_pandas()
        self.assertEqual(len(frame), 2 * ROUNDS)
        self.assertEqual(frame.index.name, "run")
        self.assertEqual(frame.loc[1, "energy_J"], self.runs.runs[0].energy_J.value)
        self.assertEqual(frame.loc[1, "energy_J_u"], self.runs.runs[0].energy_J.u)
        self.assertEqual(frame.attrs["units"]["energy_J_per_unit"], "J/frame")
        self.assertAlmostEqual(frame.groupby("variant")["above_baseline_J"].mean()["B"], 60.5, 1)

    def test_page(self):
        page = self.readable(self.runs)
        self.assertIn("<code>./a -1</code>", page)
        self.assertIn(" J/frame", page)
        for note in self.runs.notes:
            self.assertIn(note[:20], page)

    @PLOT
    def test_plot(self):
        axes = self.runs.plot()
        self.assertEqual(axes.get_ylabel(), "energy per unit of work (J/frame)")
        self.assertEqual([t.get_text() for t in axes.get_xticklabels()], ["A", "B"])
        points = sum(len(line.get_xdata()) for line in axes.lines if line.get_marker() == "o")
        self.assertEqual(points, 2 * ROUNDS)
        self.drawn(axes)
        self.assertEqual(self.runs.plot(what="above_baseline_J").get_ylabel(),
                         "energy above baseline (J)")
        pyplot.close("all")
        with self.assertRaisesRegex(ValueError, "energy_J, above"):
            self.runs.plot(what="energy")


class Compare(Case):
    A = (10.0, 10.2, 9.9, 10.1, 10.3, 9.8)
    B = (9.0, 9.3, 9.1, 8.9, 9.2, 9.05)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.runs = os.path.join(cls.dir.name, "runs.wwt")
        write_runs(cls.runs)
        cls.other = os.path.join(cls.dir.name, "other.wwt")
        write_runs(cls.other, (36.0, 30.0), work=False, serial=b"2")

    def file(self, name, text):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def same(self, have, *arguments):
        want = json.loads(program("pwrlog", "compare", "--json", *arguments))
        self.assertEqual(have.document, want)
        self.assertEqual(have.notes[-len(want["notes"]):], tuple(want["notes"]))
        self.assertEqual([r.sentence for r in have.rows],
                         [r["sentence"] for r in want["comparisons"]])

    def test_variants_of_one_trace(self):
        with wakewatt.open(self.runs) as t:
            have = wakewatt.compare(t)
        self.same(have, self.runs)
        self.assertEqual(str(have), program("pwrlog", "compare", self.runs).decode())
        row = have["energy"]
        self.assertEqual((row.a, row.b, row.pairs, row.verdict), ("A", "B", ROUNDS, "less"))
        self.assertAlmostEqual(row.ratio, 310.5 / 350.5, 3)
        self.assertLess(row.ratio_ci.lo, row.ratio)
        self.assertAlmostEqual(have["energy above baseline"].ratio, 60.5 / 100.5, 2)
        self.mirrors(row, json.loads(json.dumps(have.document))["comparisons"][0],
                     ("measure", "unit", "pairs", "method", "verdict", "ratio", "ratio_ci",
                      "u_runs", "u_meter", "df", "difference", "difference_ci", "p", "p_holm",
                      "cliffs_delta", "cohens_d"))
        self.assertEqual(row.needed, have.document["comparisons"][0]["runs_to_see_half"])
        self.assertEqual(row.detectable, have.document["comparisons"][0]["would_be_seen"])
        self.assertIn(row.sentence, self.readable(have))
        with self.assertRaisesRegex(KeyError, "mean power"):
            have["watts"]

    def test_two_traces(self):
        """Of two meters, with names, options and paths as well as traces."""
        with wakewatt.open(self.runs) as t:
            have = wakewatt.compare(t, self.other, names=("old", "new"), confidence="90%",
                                    gain_u="0.5%", paired=False, base="old: B")
        self.same(have, self.runs, self.other, "--names", "old,new", "--confidence", "90",
                  "--gain-u", "0.5", "--unpaired", "--base", "old: B")
        self.assertEqual(have.confidence, 0.9)
        self.assertGreater(len({(r.a, r.b) for r in have.rows}), 1)
        self.readable(have)
        with self.assertRaisesRegex(ValueError, "called 'runs'"):
            wakewatt.compare(self.runs, self.runs)
        self.same(wakewatt.compare([self.runs, self.other], meters="one"), self.runs, self.other,
                  "--meters", "one")

    def test_numbers(self):
        a = self.file("A.txt", "".join(f"{v}\n" for v in self.A))
        b = self.file("B.txt", "".join(f"{v}\n" for v in self.B) + "failed\n")
        arguments = (a, b, "--measure", "energy", "--unit", "J", "--offset-u", "0.01")
        more = {"measure": "energy", "unit": "J", "offset_u": 0.01}
        self.same(wakewatt.compare(self.A, (*self.B, None), **more), *arguments)
        self.same(wakewatt.compare(a, b, **more), *arguments)
        have = wakewatt.compare({"A": self.A, "B": self.B}, paired=True, resolution=0.05, **more)
        wide = self.file("w.csv", "A,B\n" + "".join(f"{x},{y}\n" for x, y in zip(self.A, self.B)))
        self.same(have, "--paired", "--resolution", "0.05", "--column", "A,B", "--measure",
                  "energy", "--unit", "J", "--offset-u", "0.01", wide)
        self.assertEqual(have["energy"].verdict, "less")
        if numpy:
            again = wakewatt.compare(numpy.array(self.A), numpy.array((*self.B, numpy.nan)),
                                     **more)
            self.same(again, *arguments)
        if pandas:
            frame = pandas.read_csv(wide)
            self.assertEqual(wakewatt.compare(frame, paired=True, resolution=0.05,
                                              **more).document, have.document)
            self.assertEqual(wakewatt.compare(frame["A"], frame["B"])["value"].b, "B")

    def test_files_of_other_programs(self):
        t = self.file("t.json", json.dumps({"results": [
            {"command": "./a", "times": list(self.A)}, {"command": "./b", "times": list(self.B)}]}))
        self.same(wakewatt.compare(t), t)
        table = self.file("table.csv", "kind;energy (J)\n" + "".join(
            f"{k};{v}\n" for k, v in zip("ab" * 4, self.A + self.B)))
        have = wakewatt.compare(table, label="kind", column="energy (J)")
        self.same(have, table, "--label", "kind", "--column", "energy (J)")
        self.assertEqual(have.rows[0].unit, "J")

    def test_wrong_use(self):
        for wrong, text in (((self.runs, self.A), "cannot be compared"), ((self.A,), "one set"),
                            (({"A": self.A},), "one set")):
            with self.assertRaisesRegex(ValueError, text):
                wakewatt.compare(*wrong)
        with self.assertRaises(TypeError):
            wakewatt.compare(3, 4)
        with self.assertRaisesRegex(OSError, "No such file"):
            wakewatt.compare(self.path("none"), self.path("neither"))
        with self.assertRaisesRegex(OSError, "no variant 'C'"):
            wakewatt.compare(self.A, self.B, base="C")
        for wrong in ({"confidence": 95}, {"power": 1}, {"meters": "three"}, {"gain_u": -1},
                      {"top": 3}):
            with self.assertRaises(ValueError):
                wakewatt.compare(self.A, self.B, **wrong)
        path = self.path("empty.wwt")
        with Writer(path) as w:
            m = w.source(_ffi.ww_source_kind.METER, "meter")
            w.channel(m, b"power", b"power", b"W", 0, 0.1)
            w.samples(m, [START], [START], [250])
        with self.assertRaisesRegex(OSError, "no runs of a command"):
            wakewatt.compare(path)

    @PLOT
    def test_plot(self):
        have = wakewatt.compare(self.runs)
        axes = have.plot()
        self.assertEqual([t.get_text() for t in axes.get_yticklabels()],
                         [r.measure for r in have.rows])
        self.assertIn("ratio B / A", axes.get_xlabel())
        lo, hi = axes.get_xlim()
        for r in have.rows:
            if r.ratio_ci and r.verdict == "less":
                self.assertLess(lo, r.ratio_ci.lo)
        self.assertTrue(any("less" in t for t in self.drawn(axes)))
        # One that says nothing at all stays within the picture.
        self.drawn(wakewatt.compare((1.0, -1.0, 0.5), (0.4, -2.0, 0.1)).plot())


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
