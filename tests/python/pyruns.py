# SPDX-License-Identifier: MIT
"""What the tests of runs and runtimes share: traces of runs, and what every result must be."""
import math
import unittest

from pytrace import SECOND, START, Folder, Writer, _ffi, wakewatt

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
except ImportError:
    pyplot = None

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
