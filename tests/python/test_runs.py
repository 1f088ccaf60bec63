#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The Python package: runs of commands, and comparisons."""
import json
import os
import subprocess
import sys
import unittest

from pyruns import PLOT, ROUNDS, Case, pyplot, write_runs
from pytrace import (START, Writer, _ffi, environment, main, numpy, program, wakewatt,
                     write_cycles)

try:
    import pandas
except ImportError:
    pandas = None


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

    def rows(self, have):
        for row, d in zip(have.rows, have.document["comparisons"]):
            self.mirrors(row, d, (
                "measure", "unit", "pairs", "method", "verdict", "ratio", "u_runs", "u_meter", "df",
                "difference", "p", "p_holm", "cliffs_delta", "cohens_d"))
            for name in ("ratio_ci", "difference_ci"):
                if None not in d[name]:
                    self.assertEqual(list(getattr(row, name)), d[name])
            self.assertEqual((row.a, row.b, row.n_a, row.failed_b),
                             (d["a"]["variant"], d["b"]["variant"], d["a"]["runs"],
                              d["b"]["failed"]))
            self.mirrors(row.mean_b, {**d["b"]["mean"], "unit": row.unit}, ("unit",))
            self.assertEqual(row.mean_b.value, d["b"]["mean"]["value"])

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
        self.rows(have)
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
        self.rows(have)
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
        three = wakewatt.compare({"A": self.A, "B": self.B,
                                  "C": (9.9, 10.4, 9.7, 9.8, 10.0, 9.6)})
        self.assertGreater(three["value", "C"].p_holm, 0.01)
        self.assertLess(three["value", "B"].p, three["value", "B"].p_holm)
        self.rows(three)
        with self.assertRaisesRegex(KeyError, "several"):
            three["value"]
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

    def test_cycles_become_a_shift(self):
        a, b = self.path("a.wwt"), self.path("b.wwt")
        write_cycles(a, 4)
        write_cycles(b, 5)
        with wakewatt.open(a) as old, wakewatt.open(b) as new:
            have = wakewatt.compare(old, new, top=3)
            self.assertEqual(wakewatt.compare(old.resume(), new, top=3).document, have.document)
        self.assertIsInstance(have, wakewatt.Shift)
        self.assertEqual(wakewatt.compare([a], [b]).document, wakewatt.compare(a, b).document)
        with self.assertRaisesRegex(ValueError, "fail_if"):
            wakewatt.compare(self.runs, top=3)

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


class Commands(Case):
    """Commands that Python runs while a meter is read."""
    METER = "sim:?watts=25&noise=0.2&rate=100&resolution=0.1"
    QUICK = {"baseline_s": 0.1, "settle_s": 0}

    def test_variants_in_turns(self):
        path, said = self.path("run.wwt"), []
        log = self.path("log")
        with wakewatt.run({"slow": "sleep 0.1; echo 100 frames", "two words": [
                "sh", "-c", "echo {W} frames; test $W = 30"]}, self.METER, path, n=2,
                vary={"W": (30, 40)}, per="([0-9]+) (frames)", log=log, progress=said.append,
                **self.QUICK) as trace:
            have = trace.runs()
            self.assertEqual([v.variant for v in have.variants],
                             ["slow W=30", "slow W=40", "two words W=30", "two words W=40"])
            order = [r.variant for r in have.runs]
            self.assertEqual(order, order[:4] + order[3::-1])
            self.assertEqual([r.exit for r in have.runs], [0, 0, 0, 1, 1, 0, 0, 0])
            self.assertEqual([r.work.value for r in have.runs][:4], [100, 100, 30, 40])
            self.assertEqual([r.round for r in have.runs], [1] * 4 + [2] * 4)
            for r in have.runs[:2]:
                self.assertGreaterEqual(r.duration_s.value, 0.1)
                self.assertLess(r.end_s.width, 0.05)
                self.holds(wakewatt.Quantity(r.energy_J.value, 2 * r.energy_J.u, "J"),
                           25 * r.duration_s.value)
                self.assertTrue(r.baseline_before_W and r.baseline_after_W)
            self.assertEqual(have["slow W=30"].n, 2)
        self.assertEqual(have.document,
                         json.loads(program("pwrlog", "run", "--from", path, "--json")))
        self.assertEqual((len(said), said[0]), (8, "run 1 of 8: slow W=30"))
        with open(log, encoding="ascii") as f:
            self.assertEqual(f.read().split("\n")[:4],
                             ["100 frames", "100 frames", "30 frames", "40 frames"])

    def test_repeat_and_warmup(self):
        with wakewatt.run(["sleep", "0.02"], self.METER, repeat=3, warmup=1, baseline_s=0,
                          settle_s=0) as trace:
            runs = trace.runs().runs
        self.assertEqual([r.warmup for r in runs], [True, False])
        self.assertEqual((runs[1].repeat, runs[1].variant, runs[1].command),
                         (3, "", "sleep 0.02"))
        self.assertGreaterEqual(runs[1].duration_s.value, 0.06)
        self.assertEqual((runs[1].work.value, runs[1].work.unit), (3, "repeat"))

    def test_interrupted(self):
        """Ctrl-C ends the command; what was measured is kept."""
        path = self.path("stopped.wwt")
        code = ("import wakewatt\n"
                f"wakewatt.run('kill -INT $PPID; sleep 60', {self.METER!r}, {path!r}, "
                "baseline_s=0.1, settle_s=0)\n")
        done = subprocess.run([sys.executable, "-c", code], env=environment(), timeout=30,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertIn("KeyboardInterrupt", done.stderr)
        with wakewatt.open(path) as t:
            self.assertEqual(t.state, "closed")
            run = t.runs().runs[0]
        self.assertEqual((run.signal, run.used), (15, False))
        self.assertLess(run.duration_s.value, 20)

    def test_wrong_use(self):
        path = self.path("none.wwt")
        for wrong, more, error, text in (
                ("true", {"n": 0}, ValueError, "n: 0"), (3, {}, TypeError, "command"),
                ("true", {"baseline_s": -1}, ValueError, "baseline_s"),
                ("true", {"vary": {"1W": [1]}}, ValueError, "1W"),
                ("true", {"vary": {"W": [1, 1]}}, ValueError, "twice"),
                ("true", {"per": "("}, OSError, "openssl"),
                (["no-such-command"], {}, OSError, "no such command"),
                ("true", {"channel": "volts", "baseline_s": 0}, ValueError, "meter.power")):
            with self.assertRaisesRegex(error, text):
                wakewatt.run(wrong, self.METER, None, **more)
        with self.assertRaises(OSError):
            wakewatt.run("true", "nothing:here", path)


if __name__ == "__main__":
    main()
