#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The Python package: channels, bytes, marks; every failure is an exception."""
import ctypes
import json
import math
import os
import subprocess
import sys
import unittest

from pytrace import (SECOND, START, Folder, Writer, _ffi, environment, lib, main, numpy, program,
                     wakewatt, write_cycles, write_mixed)


class Reading(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.file = os.path.join(cls.dir.name, "mixed.wwt")
        write_mixed(cls.file)

    def setUp(self):
        self.t = wakewatt.open(self.file)
        self.addCleanup(self.t.close)

    def test_what_it_is(self):
        t = self.t
        self.assertEqual(t.state, "closed")
        self.assertEqual(list(t), ["meter.power", "meter.voltage"])
        self.assertEqual(t.span.lo, START)
        self.assertAlmostEqual(t.duration_s, 9.9, places=3)
        self.assertEqual(t.meta["bench.kernel"], "Ünïx 6")
        self.assertEqual(t.sources["meter"].model, "model <5>")
        self.assertEqual(t.sources["meter"].period_ns, SECOND // 10)
        self.assertEqual(t.sources["port"].kind, "serial")
        self.assertEqual(t.wall(0).timestamp(), 1_700_000_000)

    def test_marks_and_gaps(self):
        mark, = self.t.marks
        self.assertEqual((mark.kind, mark.text, mark.source), ("label", "lamp on, 5 Ω", "meter"))
        self.assertEqual(mark.t_s, (2.0, 2.0))
        self.assertEqual(mark.t_ns.lo, START + 2 * SECOND)
        gap, = self.t.gaps
        self.assertEqual((gap.lost, gap.reason, gap.source), (7, "unplugged", "port"))
        self.assertEqual(gap.t_s.width, 1.0)

    def test_values(self):
        power = self.t["meter.power"]
        self.assertEqual((power.unit, power.semantics, power.resolution), ("W", "instant", 0.1))
        self.assertTrue(math.isnan(power.accuracy_rel))
        self.assertEqual(len(power), 100)
        values = power.tolist()
        self.assertTrue(math.isnan(values[50]))
        self.assertEqual(values[:3], [119.1, 119.2, 119.3])
        self.assertEqual(self.t["meter.voltage"].tolist()[99], 230.099)

    def test_values_equal_those_exported(self):
        rows = program("wwtrace", "export", self.file, "--format", "jsonl").decode()
        exported = [json.loads(r) for r in rows.splitlines()]
        for name in self.t:
            channel = self.t[name]
            want = [(r["t_lo_ns"], r["t_hi_ns"], r["value"]) for r in exported
                    if r["channel"] == name.split(".")[1] and r["value"] is not None]
            have = [(int(a), int(b), float(v)) for a, b, v in zip(*channel.read())
                    if not math.isnan(v)]
            self.assertEqual(have, want)

    def test_times(self):
        power = self.t["meter.power"]
        lo, hi = power.intervals()
        self.assertEqual((lo[1], hi[1]), (START + SECOND // 10, START + SECOND // 10 + 2000))
        self.assertAlmostEqual(power.times()[99], 9.900001, places=9)
        pairs = list(power)
        self.assertEqual(len(pairs), 100)
        self.assertAlmostEqual(pairs[1][0], 0.100001, places=9)
        self.assertEqual(pairs[1][1], 119.2)

    def test_a_stretch_in_seconds(self):
        part = self.t["meter.power"][2:3]
        self.assertEqual(len(part), 11)  # both ends belong to it
        self.assertEqual(int(part.intervals()[0][0]), START + 2 * SECOND)
        self.assertEqual(len(part[2.5:]), 6)
        self.assertEqual(len(self.t["meter.power"][100:]), 0)
        self.assertEqual(self.t["meter.power"][100:].tolist(), [])
        self.assertEqual(len(self.t["meter.power"][:]), 100)

    def test_a_number_is_no_index(self):
        with self.assertRaisesRegex(TypeError, "seconds"):
            self.t["meter.power"][3]

    def test_bytes(self):
        b = self.t.bytes("port")
        self.assertEqual(b.data, b"a\0b" * 5)
        self.assertEqual(len(b), 15)
        at = START + SECOND
        self.assertEqual((b.lo_ns[0], b.hi_ns[2]), (at, at + 500))
        self.assertAlmostEqual(b.times()[3], 1.00100025, places=9)
        self.assertEqual(len(self.t.bytes("port", from_=1.002, to=1.003)), 6)
        self.assertEqual(self.t.bytes("port", from_=5).data, b"")

    def test_unknown_names(self):
        with self.assertRaisesRegex(KeyError, "meter.power, meter.voltage"):
            self.t["meter.wat"]
        with self.assertRaisesRegex(KeyError, "meter, port"):
            self.t.bytes("prot")
        self.assertNotIn("meter.wat", self.t)

    def test_bytes_of_a_meter_are_an_error(self):
        with self.assertRaisesRegex(wakewatt.Error, "holds samples"):
            self.t.bytes("meter")

    def test_a_closed_handle(self):
        self.t.close()
        self.t.close()
        for use in (lambda: self.t.state, lambda: self.t.channels, lambda: self.t.stat()):
            self.assertRaises(ValueError, use)
        self.assertIn("closed handle", repr(self.t))

    def test_with_closes(self):
        with wakewatt.open(self.file) as t:
            self.assertEqual(len(t), 2)
        self.assertRaises(ValueError, t.refresh)

    @unittest.skipUnless(numpy, "no numpy")
    def test_numpy(self):
        a = self.t["meter.power"].to_numpy()
        self.assertEqual((a.dtype, a.shape), (numpy.float64, (100,)))
        self.assertEqual(numpy.isnan(a).sum(), 1)
        lo, _ = self.t["meter.power"].intervals()
        self.assertEqual(lo.dtype, numpy.int64)
        self.assertTrue((numpy.diff(lo) == SECOND // 10).all())
        self.assertEqual(numpy.asarray(self.t["meter.voltage"])[0], 230.0)
        self.assertEqual(self.t["meter.power"][100:].to_numpy().shape, (0,))

    def test_without_numpy(self):
        code = ("import sys; sys.modules['numpy'] = None\n"
                "import wakewatt; t = wakewatt.open(sys.argv[1]); c = t['meter.power']\n"
                "assert type(c.values()).__name__ == 'array', type(c.values())\n"
                "assert c.tolist()[:2] == [119.1, 119.2] and len(c[100:].values()) == 0\n"
                "assert abs(c.times()[99] - 9.900001) < 1e-9\n"
                "assert len(t.bytes('port').lo_ns) == 15 and len(list(c[1:2])) == 11\n"
                "try: c.to_numpy()\n"
                "except ImportError as e: print('said:', e)\n")
        p = subprocess.run([sys.executable, "-c", code, self.file], env=environment(), text=True,
                           capture_output=True, check=False, timeout=30)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertIn("said: to_numpy() needs numpy", p.stdout)


class Failures(Folder):
    """Every failure of the library is an Error with its sentence."""

    def fails(self, code, pattern, call, *args):
        with self.assertRaises(wakewatt.Error) as e:
            call(*args)
        self.assertIsInstance(e.exception, OSError)
        self.assertEqual(e.exception.errno, code, str(e.exception))
        self.assertRegex(str(e.exception), pattern)

    def test_no_such_file(self):
        self.fails(2, "missing.wwt", wakewatt.open, self.path("missing.wwt"))

    def test_another_kind_of_file(self):
        path = self.path("text.wwt")
        with open(path, "w", encoding="ascii") as f:
            f.write("It is a long way from here.\n" * 100)
        self.fails(22, "text.wwt", wakewatt.open, path)

    def test_a_directory(self):
        with self.assertRaises(wakewatt.Error):
            wakewatt.open(self.dir.name)

    def test_no_heartbeat(self):
        write = self.path("meter.wwt")
        with Writer(write) as w:
            w.source(_ffi.ww_source_kind.METER, "meter")
        with wakewatt.open(write) as t:
            self.assertIsNone(t.span)
            with self.assertRaisesRegex(wakewatt.Error, "serial"):
                t.resume()

    def test_a_bad_regular_expression(self):
        path = self.path("cycles.wwt")
        write_cycles(path, 1)
        with wakewatt.open(path) as t:
            self.fails(22, r"\(", lambda: t.resume(handoff="("))
            self.assertRaises(ValueError, lambda: t.resume(mode="fast"))
            with self.assertRaisesRegex(wakewatt.Error, "nobody"):
                t.resume(port="nobody")

    def test_options_without_size(self):
        write = self.path("size.wwt")
        write_mixed(write)
        with wakewatt.open(write) as t:
            for new, options in ((lib.ww_stat_new, _ffi.ww_stat_options()),
                                 (lib.ww_resume_new, _ffi.ww_resume_options())):
                self.fails(22, "size", new, t._h(), ctypes.byref(options),
                           ctypes.byref(ctypes.c_void_p()), _ffi.ww_error())

    def test_writer_never_overwrites(self):
        path = self.path("twice.wwt")
        Writer(path).close()
        self.fails(17, "twice.wwt", Writer, path)

    def test_no_wall_clock(self):
        path = self.path("nowall.wwt")
        with Writer(path) as w:
            w.mark(START, b"label", b"x")
        with wakewatt.open(path) as t:
            self.fails(61, "wall clock", t.wall, 0)


if __name__ == "__main__":
    main()
