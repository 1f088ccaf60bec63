#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Cycles of suspend by Python: figures are the programs' own, failures and reasons are told."""
import copy
import json
import math
import os
import threading
import unittest

from pytrace import (ROOT, SECOND, START, Folder, Writer, _ffi, main, program, wakewatt)

try:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
except ImportError:
    pyplot = None

DATA = os.path.join(ROOT, "tests", "data", "kernlog")
LOG, FTRACE, REFUSED = (os.path.join(DATA, n) for n in ("ok.log", "ok-ftrace.txt", "refused.log"))
MS = 1_000_000
SLOWER = "resume_to_uart > 5% slower"


def write(path, base_ms, cycles=6, hung=()):
    """Plain beats every 10 ms; the first beat comes base_ms + 10 n ms after the wake, or never."""
    with Writer(path) as w:
        w.anchor(START, 1_700_000_000 * SECOND)
        p = w.source(_ffi.ww_source_kind.SERIAL, "port", role=b"heartbeat")
        t = START

        def beats(until):
            nonlocal t
            while t < until:
                w.bytes(p, t - 100_000, t, b".")
                t += 10 * MS

        beats(START + 3 * SECOND)
        for n in range(1, cycles + 1):
            w.mark(t, b"request", b"suspend", p, n)
            beats(t + SECOND // 2)
            wake = t + 4 * SECOND
            w.mark(wake, b"wake", b"wake", p, n)
            w.mark(wake + MS, b"wake-end", b"exit 0", p, n)
            t = wake + (base_ms + 10 * n) * MS
            if n in hung:  # the last one
                w.mark(t + 20 * SECOND, b"cycle-end", b"timeout", p, n)
                return
            beats(t + 4 * SECOND)
            w.mark(t, b"cycle-end", b"ok", p, n)


def cli(*args):
    return json.loads(program("resumetime", *args))


class Cycles(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.slow, cls.fast, cls.hung = (os.path.join(cls.dir.name, n + ".wwt")
                                        for n in ("slow", "fast", "hung"))
        write(cls.slow, 1200)
        write(cls.fast, 700)
        write(cls.hung, 700, hung=(6,))

    def test_report(self):
        with wakewatt.open(self.hung) as t:
            r = t.resume(mode="drain")
            self.assertEqual(r.document, cli("report", "--json", "-m", "drain", self.hung))
            self.assertEqual(str(r), program("resumetime", "report", "-m", "drain",
                                             self.hung).decode())
            self.assertEqual([c.n for c in t.cycles()], [1, 2, 3, 4, 5, 6])
        bad = [c for c in r.cycles if c.result != "ok"]
        self.assertEqual([c.n for c in bad], [6])
        self.assertEqual(sum(r.results.values()), len(r.cycles))
        self.assertTrue(all(not c.warmup and c.kernel is None for c in r.cycles))
        self.assertLess(r.failure_rate.lo, 1 / 6)
        self.assertGreater(r.failure_rate.hi, 1 / 6)
        for c in r.cycles:
            if c.result == "ok":  # the truth lies in the interval that is sure
                lo, hi = c.latency_ms["resume_to_uart"]
                self.assertLessEqual(lo, 700 + 10 * c.n + 1)
                self.assertGreaterEqual(hi, 700 + 10 * c.n - 1)

    def test_tables_tell_what_failed(self):
        with wakewatt.open(self.hung) as t:
            r = t.resume()
        html = r._repr_html_()
        self.assertNotIn("nan", html.lower())
        bad = next(c for c in r.cycles if c.result != "ok")
        self.assertIn(bad.result, html)
        self.assertIn(bad.reason.split("'")[0][:20], html)
        one = r.cycles[0]._repr_html_()
        self.assertNotIn("nan", one.lower())
        self.assertIn("no meter was recorded", one)

    def test_pages(self):
        page, events = self.path("page.html"), self.path("page.json")
        with wakewatt.open(self.fast) as t:
            r = t.resume()
            html = r.html(page)
            self.assertEqual(r.trace_events(events).encode(), open(events, "rb").read())
            with self.assertRaisesRegex(wakewatt.Error, "page.html"):
                r.html(page)
            theirs = self.path("theirs.html")
            program("resumetime", "report", "--html", theirs, self.fast)
            with open(theirs, encoding="utf-8") as f:
                self.assertEqual(html, f.read())
        json.loads(open(events, encoding="utf-8").read())
        with self.assertRaises(ValueError):
            r.html()  # the trace has been closed

    def test_wrong_use(self):
        with wakewatt.open(self.fast) as t:
            for wrong in ({"mode": "slow"}, {"period_s": -1}, {"baud": 9600, "no_console": True}):
                with self.assertRaises(ValueError):
                    t.resume(**wrong)
            for wrong in ({"port": "none"}, {"handoff": "("}, {"ftrace": self.path("none.txt")}):
                with self.assertRaises(wakewatt.Error) as e:
                    t.resume(**wrong)
                self.assertGreater(len(str(e.exception)), 10)
        for wrong in (3.5, []):
            with self.assertRaises((TypeError, ValueError)):
                wakewatt.shift(wrong, self.fast)
        with self.assertRaisesRegex(ValueError, "what is bad"):
            wakewatt.bisect(self.fast)
        with self.assertRaises(ValueError):
            wakewatt.vet()
        with self.assertRaises(wakewatt.Error):
            wakewatt.shift(self.slow, self.fast, fail_if="resume > much")

    def test_shift(self):
        """Half a second faster, in each of six cycles."""
        s = wakewatt.shift(self.slow, self.fast, fail_if=[SLOWER, "failures > 0"])
        self.assertEqual(s.document, cli("compare", "--json", "-f",
                                         SLOWER + ",failures > 0", self.slow, self.fast))
        self.assertEqual((s.a, s.b, s.cycles, s.result), ("slow", "fast", (6, 6), "passed"))
        row = s["resume_to_uart"]
        self.assertAlmostEqual(row.shift, -500, delta=1)
        self.assertEqual((row.verdict, row.moved), ("faster", True))
        self.assertLess(row.ci95.hi, 0)
        with self.assertRaisesRegex(KeyError, "resume_to_uart"):
            s["resume"]
        with wakewatt.open(self.slow) as a, wakewatt.open(self.fast) as b:
            self.assertEqual(wakewatt.compare(a, b).document,
                             cli("compare", "--json", self.slow, self.fast))
            back = wakewatt.shift(b.resume(), a, fail_if=SLOWER, names=("B", "A"))
        self.assertTrue(back.failed)
        self.assertTrue(back.markdown.strip())
        self.assertIn("<testcase", back.junit)
        for x in (s, back):
            self.assertNotIn(">nan", x._repr_html_())
        self.assertIn("faster", s._repr_html_())

    def test_medians_that_never_were(self):
        with_all = self.path("all.wwt")
        write(with_all, 700, cycles=1, hung=(1,))
        s = wakewatt.shift(self.fast, with_all)
        row = s["resume_to_uart"]
        self.assertEqual(row.median[1], math.inf)
        self.assertEqual(row.shift, math.inf)
        self.assertIn("never", s._repr_html_())

    def test_bisect(self):
        for now, want, code in ((self.slow, "bad", 1), (self.fast, "good", 0)):
            v = wakewatt.bisect(now, threshold_ms=1000, certainty=0.9,
                                metric="resume_to_uart")
            self.assertEqual((v.verdict, v.exit_status), (want, code))
        self.assertEqual(v.document, cli("bisect-step", "--json", "-m", "resume_to_uart", "-t",
                                         "1s", "--certainty", "0.9", self.fast))
        self.assertIn("good", v._repr_html_())
        v = wakewatt.bisect(self.fast, self.fast, self.slow, certainty=0.9, metric="resume_to_uart")
        self.assertAlmostEqual(v.threshold_ms, (735 + 1235) / 2, delta=10)  # a beat

    @unittest.skipUnless(pyplot, "matplotlib is not there")
    def test_plots(self):
        with wakewatt.open(self.hung) as t:
            r = t.resume(mode="drain")
        ax = r.plot()
        self.assertIn("ms after the wake", ax.get_xlabel())
        self.assertIn(r.cycles[5].result, [x.get_text() for x in ax.texts])
        widths = {round(p.get_width()) for p in ax.patches}
        self.assertTrue(any(abs(w - 710) < 12 for w in widths), widths)
        ax = r.plot_distribution("resume_to_user")
        self.assertIn("1 failed", " ".join(x.get_text() for x in ax.get_legend().get_texts()))
        ax = wakewatt.shift(self.slow, self.fast).plot()
        self.assertIn("fast − slow", ax.get_xlabel())
        self.assertIs(r.plot(ax), ax)
        with self.assertRaises(KeyError):
            r.plot_distribution("resume_to_tea")
        pyplot.close("all")


class KernelLogs(Folder):
    def test_a_pair(self):
        k = wakewatt.kernlog([LOG, FTRACE])
        self.assertEqual(k.document, cli("kernlog", "--json", LOG, FTRACE))
        self.assertEqual(str(k), program("resumetime", "kernlog", LOG, FTRACE).decode())
        self.assertEqual(k.report("csv"), program("resumetime", "kernlog", "--csv", LOG,
                                                  FTRACE).decode())
        c = k[0]
        self.assertEqual((c.mode, c.result), ("mem", "ok"))
        d = c.slowest(1)[0]
        self.assertEqual(d.ms.mid, max(x["ms"]["value"] for x in c.document["devices"]))
        for x in (k, c):
            self.assertNotIn(">nan", x._repr_html_())
        self.assertIn(d.name, c._repr_html_())
        json.loads(k.trace_events())
        self.assertEqual(copy.deepcopy(c), c)

    def test_why_it_was_refused(self):
        k = wakewatt.kernlog(REFUSED)
        self.assertEqual(k.document, cli("kernlog", "--json", REFUSED))
        c = k.cycles[-1]
        self.assertEqual(c.result, "failed")
        html = k._repr_html_()
        self.assertIn(f"error {c.reason['errno']}", html)
        self.assertIn(c.reason["device"], html)

    def test_cycles_one_by_one(self):
        self.assertEqual(list(wakewatt.kernlog_cycles(LOG)), list(wakewatt.kernlog(LOG)))
        left = wakewatt.kernlog_cycles(LOG)  # it may be left at any time
        next(left)
        left.close()
        self.assertFalse([t for t in threading.enumerate() if t.name == "wakewatt report"])

    def test_console_of_a_recording(self):
        path = self.path("console.wwt")
        with open(LOG, "rb") as f:
            lines = f.read().splitlines(keepends=True)
        with Writer(path) as w:
            s = w.source(_ffi.ww_source_kind.SERIAL, "console")
            for i, line in enumerate(lines):
                w.bytes(s, START + i * MS, START + i * MS + 1000, line)
        want = cli("kernlog", "--json", path)
        with wakewatt.open(path) as t:
            self.assertEqual(t.kernlog().document, want)
            with self.assertRaises(wakewatt.Error):
                t.kernlog("port")
        self.assertEqual(wakewatt.kernlog(path).document, want)

    def test_sets_of_logs(self):
        k = wakewatt.kernlog([LOG, FTRACE])
        joined = f"{LOG}+{FTRACE}"
        self.assertEqual(len(wakewatt.CycleSet([k, joined, LOG])), 3)
        v = wakewatt.vet(k, joined, min_ms=1, min_cycles=1)
        self.assertEqual(v.document["callbacks"], cli(
            "vet", "--json", "--min", "1ms", "--cycles", "1", joined, joined)["callbacks"])
        self.assertNotIn(">nan", v._repr_html_())

    def test_wrong_use(self):
        with self.assertRaisesRegex(wakewatt.Error, "none.log"):
            wakewatt.kernlog(self.path("none.log"))
        for wrong in ({"gap_s": 0}, {"baud": -1}, {"baud": 9600, "no_console": True}):
            with self.assertRaises(ValueError):
                wakewatt.kernlog(LOG, **wrong)
        for wrong in ([], "-"):
            with self.assertRaises(ValueError):
                wakewatt.kernlog(wrong)
        with self.assertRaisesRegex(ValueError, "no cycle 7"):
            wakewatt.kernlog(LOG).plot(cycle=7)

    @unittest.skipUnless(pyplot, "matplotlib is not there")
    def test_plot(self):
        k = wakewatt.kernlog([LOG, FTRACE])
        ax = k.plot()
        names = [t.get_text() for t in ax.get_yticklabels()]
        self.assertTrue(any(k[0].slowest(1)[0].name in n for n in names), names)
        self.assertIn("ms", ax.get_xlabel())
        # The clock may count the sleep: the picture does not.
        whole = k[0].suspend_ms.hi + k[0].resume_ms.hi
        self.assertLess(ax.get_xlim()[1], 1.5 * whole)
        pyplot.close("all")


class Pictures(unittest.TestCase):
    def test_firmware_that_was_seen_is_no_sleep(self):
        """The composed recording knows wake and hand-over: 280 to 400 ms lie between them."""
        with wakewatt.open(os.path.join(ROOT, "examples", "data", "olpc.wwt")) as t:
            cycle = t.resume(console="console", handoff="jumping to Linux").cycles[0]
        parts = {name: b - a for name, a, b, _ in wakewatt._resumeplot._parts(cycle)}
        self.assertNotIn("asleep or firmware", parts)
        self.assertTrue(0.28 <= parts["firmware"] <= 0.4, parts)
        self.assertTrue(0.008 <= parts["kernel"] <= 0.013, parts)


if __name__ == "__main__":
    main()
