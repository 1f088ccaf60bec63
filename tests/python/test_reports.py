#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The Python package: reports equal the programs', and a trace that still grows."""
import json
import math
import os
import sqlite3
import subprocess
import sys
import threading
import time
import unittest
from array import array

from pytrace import (BUILD, ROOT, SECOND, START, Folder, Writer, _ffi, environment, main, numpy,
                     program, wakewatt, write_cycles, write_mixed)


class Reports(Folder):
    """Figures are the programs' own, to the last digit."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sim = os.path.join(cls.dir.name, "sim.wwt")
        program("pwrlog", "record", "-m", "sim:?watts=25&noise=0.2&rate=100&resolution=0.1", "-o",
                cls.sim, "--for", "2s", "--no-realtime")
        cls.cycles = os.path.join(cls.dir.name, "cycles.wwt")
        write_cycles(cls.cycles)

    def same(self, mine, theirs, keys):
        for key in keys:
            have = getattr(mine, key)
            if isinstance(have, wakewatt.Quantity):
                have = {"value": have.value, "u": have.u}
                self.assertEqual(have, {k: theirs[key][k] for k in have}, key)
            else:
                self.assertEqual(have, theirs.get(key), key)

    def test_stat(self):
        with wakewatt.open(self.sim) as t:
            for more, cut in (([], {}), (["--from", "0.5", "--to", "1.25"],
                                         {"from_": 0.5, "to": 1.25})):
                want = json.loads(program("pwrlog", "stat", self.sim, "--json", *more))
                have = t.stat(**cut)
                self.assertEqual(have.document, want)
                self.assertEqual(have.notes, tuple(want["notes"]))
                self.assertEqual(len(have.channels), 1)
                self.same(have["meter.power"], want["channels"][0],
                          ("name", "unit", "n", "missing", "duration_s", "mean", "min", "max",
                           "resolution", "coverage", "gaps", "gap_s", "energy_J"))
                text = program("pwrlog", "stat", self.sim, *more).decode()
                self.assertEqual(str(have), text)
            power = t.stat()["meter.power"]
        self.assertAlmostEqual(float(power.mean), 25, delta=0.2)
        self.assertEqual((power.mean.unit, power.energy_J.unit), ("W", "J"))
        self.assertRegex(str(power.mean), r"^2[45]\.\d+ ± 0\.\d+ W$")

    def test_stat_between_marks(self):
        """10 W, from one label to the next 60 W, then 10 W again."""
        path = self.path("between.wwt")
        with Writer(path) as w:
            m = w.source(_ffi.ww_source_kind.METER, "meter")
            w.channel(m, b"power", b"power", b"W", 0, 0.1)
            at = [START + i * SECOND // 10 for i in range(301)]
            w.samples(m, at, at, [600 if 100 <= i <= 200 else 100 for i in range(301)])
            for s, text in ((10, b"on"), (20, b"off, at last"), (25, b"on")):
                w.mark(START + s * SECOND, b"label", text)
        with wakewatt.open(path) as t:
            have = t.stat(between=("on", "off, at last"))
            self.assertAlmostEqual(have["meter.power"].mean.value, 60, 6)
            self.assertEqual((have.from_s, have.to_s), (10, 20))
            self.assertEqual(have.document, json.loads(program(
                "pwrlog", "stat", "--json", "--between", "on,off, at last", path)))
            for wrong in (("off", "on"), ("on", "of")):
                with self.assertRaisesRegex(KeyError, "'off, at last'"):
                    t.stat(between=wrong)
            with self.assertRaisesRegex(KeyError, "after the first one"):
                t.stat(between=("off, at last", "off, at last"))
            for wrong in ({"between": ("on", "on"), "to": 3}, {"between": "on,off"},
                          {"between": ("on",)}, {"from_": math.nan}, {"to": math.inf},
                          {"from_": -math.inf}):
                with self.assertRaises(ValueError):
                    t.stat(**wrong)
            with self.assertRaises(ValueError):
                t["meter.power"][math.nan:3]
            with self.assertRaises(ValueError):
                t["meter.power"][math.inf:]
            self.assertEqual(len(t["meter.power"][-math.inf:1]), 11)

    def test_a_damaged_block_is_told(self):
        path = self.path("damaged.wwt")
        with Writer(path) as w:
            m = w.source(_ffi.ww_source_kind.METER, "meter")
            w.channel(m, b"power", b"power", b"W", 0, 0.1)
            at = [START + i * SECOND // 10 for i in range(20000)]
            w.samples(m, at, at, [250 + i % 7 for i in range(20000)])
        db = sqlite3.connect(path)
        db.execute("UPDATE block SET data = x'01' WHERE first = 8192")
        db.commit()
        db.close()
        with wakewatt.open(path) as t:
            self.assertEqual(len(t.warnings), 1)
            self.assertIn("8192 rows of meter from 819.1", t.warnings[0])
            self.assertEqual([(g.lost, g.reason) for g in t.gaps], [(8192, "damaged block")])
            self.assertEqual(len(t["meter.power"]), 20000 - 8192)
            self.assertEqual(len(t["meter.power"].values()), 20000 - 8192)
        with wakewatt.open(self.sim) as t:
            self.assertEqual(t.warnings, [])

    def test_few_cycles_say_what_they_can(self):
        """Three cycles have no 95 % interval of the median: the one that they have covers 75 %."""
        with wakewatt.open(self.cycles) as t:
            s = t.resume().summary["silence"]
        self.assertEqual(s.ci95, (-math.inf, math.inf))
        self.assertAlmostEqual(s.ci_actual_coverage, 0.75)
        self.assertEqual(s.ci_actual, (s.min, s.max))
        self.assertEqual(s.bounds, 0)
        self.assertGreaterEqual(s.median_hi, s.median)

    def test_bounds_are_no_medians(self):
        s = wakewatt.LatencySummary._of({"n": 3, "median": 5, "bounds": 2, "median_hi": 10,
                                         "ci_actual": {"coverage": 0, "lo": 5, "hi": 5}})
        self.assertEqual((s.bounds, s.median_hi, s.ci_actual), (2, 10, None))

    def test_stat_of_a_stretch_without_records(self):
        with wakewatt.open(self.sim) as t:
            with self.assertRaises((wakewatt.Error, KeyError)):
                t.stat(from_=100, to=200)["meter.wat"]

    def test_resume(self):
        want = json.loads(program("resumetime", "report", "--json", self.cycles))
        with wakewatt.open(self.cycles) as t:
            have = t.resume()
            self.assertEqual(str(have), program("resumetime", "report", self.cycles).decode())
            drain = t.resume(mode="drain")
        self.assertEqual(have.document, want)
        self.assertEqual(drain.document, json.loads(
            program("resumetime", "report", "--json", "--mode", "drain", self.cycles)))
        self.assertEqual([c.n for c in have.cycles], [1, 2, 3])
        self.assertEqual([c.result for c in have.cycles], ["ok"] * 3)
        self.assertEqual(have.results, {"ok": 3})
        for mine, theirs in zip(have.cycles, want["cycles"]):
            self.assertEqual({k: list(v) for k, v in mine.latency_ms.items()},
                             theirs["latency_ms"])
            self.assertEqual({k: list(v) for k, v in mine.events_s.items()}, theirs["events_s"])
        self.assertEqual({k + "_ms" for k in have.summary},
                         {k for k in want["summary"] if k.endswith("_ms")})

    def test_resume_holds_the_truth(self):
        with wakewatt.open(self.cycles) as t:
            for c in t.resume(mode="drain").cycles:
                silence = c.latency_ms["silence"]
                true = 4000 + 700 + 10 * c.n + 10
                self.assertLessEqual(silence.lo, true)
                self.assertGreaterEqual(silence.hi, true)

    def test_open_ends_are_infinite(self):
        doc = {"n": 1, "result": "hung", "reason": None, "events_s": {"steady": [1.5, None]},
               "latency_ms": {"asleep": [None, 2]}, "starvation": [], "energy_J": None,
               "asleep_W": {"value": 2.5, "u": None}}
        c = wakewatt.Cycle._of(doc)
        self.assertEqual(c.events_s["steady"], (1.5, math.inf))
        self.assertEqual(c.latency_ms["asleep"], (-math.inf, 2))
        self.assertIsNone(c.energy_J)
        self.assertEqual(str(c.asleep_W), "2.5 W")

    def test_html(self):
        with wakewatt.open(self.cycles) as t:
            html = t.resume()._repr_html_()
        self.assertRegex(html, r"<td[^>]*>ok\b")
        with wakewatt.open(self.sim) as t:
            html = t.stat()._repr_html_()
        self.assertIn(">meter.power</td>", html)
        self.assertEqual(html.count("<tr>"), html.count("</tr>"))
        self.assertNotIn("<5>", wakewatt._result.html_table(["a"], [["model <5>"]]))

    def test_example_of_marks(self):
        """10 s of 10 W, a label, 10 s of 60 W: the difference is told."""
        path = self.path("desk.wwt")
        with Writer(path) as w:
            m = w.source(_ffi.ww_source_kind.METER, "meter")
            w.channel(m, b"power", b"power", b"W", 0, 0.1)
            at = [START + i * SECOND // 10 for i in range(201)]
            w.samples(m, at, at, [100 if i <= 100 else 600 for i in range(201)])
            w.mark(START + 10 * SECOND + SECOND // 20, b"label", b"+lamp")
        p = subprocess.run([sys.executable, os.path.join(ROOT, "examples", "marks.py"), path],
                           env=environment(), capture_output=True, text=True, check=False,
                           timeout=30)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        first, second = p.stdout.splitlines()
        self.assertRegex(first, r"10\.[01] s +10(\.\d+)? .*\(start\)")
        self.assertRegex(second, r"\+(50\.00|49\.\d\d) W +\+lamp")

    def test_example_of_a_night(self):
        for path in (self.sim, self.cycles):
            p = subprocess.run([sys.executable, os.path.join(ROOT, "examples", "night.py"), path,
                                "0.5"], env=environment(), capture_output=True, text=True,
                               check=False, timeout=30)
            self.assertEqual((p.returncode, p.stderr), (0, ""))
            if path == self.sim:
                self.assertRegex(p.stdout, r"\nmeter\.power +2[45]\.\d+ ± 0\.\d+ W ")
                self.assertRegex(p.stdout, r"\n +0\.5 s to +1\.0 s +2[45]\.\d+")
            else:
                self.assertIn("3 cycles: {'ok': 3}\n", p.stdout)
                self.assertRegex(p.stdout, r"\nsilence +4730\.0 ms, n 3\n")

    def test_info(self):
        with wakewatt.open(self.sim) as t:
            self.assertEqual(t.info(), json.loads(program("wwtrace", "info", "--json", self.sim)))

    def test_quantity_rounds_by_its_uncertainty(self):
        q = wakewatt.Quantity
        self.assertEqual(str(q(24.9123, 0.0317, "W")), "24.912 ± 0.063 W")
        self.assertEqual(str(q(math.nan, None, "W", "too few")), "not known: too few")
        self.assertEqual(str(q(0.98, None, "1")), "0.98")
        self.assertFalse(q(math.nan, None, "W"))
        self.assertTrue(q(0.0, None, "W"))


class Growing(Folder):
    """A trace that is still written."""

    def test_refresh_sees_what_was_committed(self):
        path = self.path("grow.wwt")
        w = Writer(path)
        m = w.source(_ffi.ww_source_kind.METER, "meter")
        w.channel(m, b"power", b"power", b"W", 0, 0.5)
        w.samples(m, [START], [START + 10], [4])
        w.commit()
        with wakewatt.open(path) as t:
            power = t["meter.power"]
            self.assertEqual(power.tolist(), [2.0])
            w.samples(m, [START + SECOND], [START + SECOND + 10], [6])
            w.mark(START + SECOND, b"label", b"later")
            w.commit()
            self.assertTrue(t.refresh())
            self.assertEqual(power.tolist(), [2.0, 3.0])
            self.assertEqual([k.text for k in t.marks], ["later"])
            self.assertFalse(t.refresh())
            w.close()
            t.refresh()
            self.assertEqual(t.state, "closed")

    def test_follow_a_recording_to_its_end(self):
        path = self.path("live.wwt")
        p = subprocess.Popen([os.path.join(BUILD, "bin", "pwrlog"), "record", "-m",
                              "sim:?watts=25&rate=50", "-o", path, "--for", "3s",
                              "--no-realtime"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             stdin=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        deadline = time.monotonic() + 10
        while True:
            try:
                t = wakewatt.open(path)
                break
            except wakewatt.Error:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        seen = []
        with t:
            for now in t.follow(timeout=10):
                if "meter.power" in now:
                    seen.append(len(now["meter.power"]))
            self.assertEqual(t.state, "closed")
            self.assertEqual(len(t["meter.power"]), seen[-1])
        self.assertGreater(len(set(seen)), 2)
        self.assertEqual(seen, sorted(seen))
        with wakewatt.open(path) as t:
            self.assertEqual(len(t["meter.power"]), seen[-1])

    def test_a_stream_on_standard_input(self):
        code = ("import wakewatt\nt = wakewatt.open('-')\n"
                "for _ in t.follow(timeout=20): pass\n"
                "print(t.state, len(t['meter.power']))\n")
        for form in ("jsonl", "binary"):
            rec = subprocess.Popen([os.path.join(BUILD, "bin", "pwrlog"), "record", "-m",
                                    "sim:?watts=25&rate=50", "-o", "-", "--stream", form,
                                    "--for", "1s", "--no-realtime"], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            out = subprocess.run([sys.executable, "-c", code], stdin=rec.stdout, env=environment(),
                                 capture_output=True, text=True, check=False, timeout=40)
            rec.stdout.close()
            rec.wait()
            self.assertEqual((out.returncode, out.stderr), (0, ""), form)
            state, n = out.stdout.split()
            self.assertEqual(state, "closed")
            self.assertGreater(int(n), 30)

    def test_threads_have_handles_of_their_own(self):
        path = self.path("threads.wwt")
        write_mixed(path)
        sums, errors = [], []

        def work():
            try:
                for _ in range(20):
                    with wakewatt.open(path) as t:
                        sums.append(sum(v for v in t["meter.power"].tolist() if v == v))
            except Exception as e:  # noqa: BLE001 (shown below)
                errors.append(e)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for x in threads:
            x.start()
        for x in threads:
            x.join()
        self.assertEqual(errors, [])
        self.assertEqual(len(set(sums)), 1)

    def test_handles_are_not_leaked(self):
        path = self.path("leak.wwt")
        write_mixed(path)
        wakewatt.open(path).close()
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(50):
            wakewatt.open(path)  # dropped, not closed
            with self.assertRaises(wakewatt.Error):
                wakewatt.open(path + ".none")
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)


class Columns(unittest.TestCase):
    def test_middles_of_open_intervals(self):
        origin = START
        lo = [_ffi.TIME_MIN, origin + 1000, origin]
        hi = [origin + 1000, _ffi.TIME_MAX, origin + 2000]
        want = [1e-6, 1e-6, 1e-6]
        from wakewatt import _arrays
        kinds = [lambda v: array("q", v)]
        if numpy:
            kinds.append(lambda v: numpy.array(v, numpy.int64))
        for kind in kinds:
            got = list(_arrays.middles(kind(lo), kind(hi), origin))
            for a, b in zip(got, want):
                self.assertAlmostEqual(a, b, places=12)


if __name__ == "__main__":
    main()
