#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Samples as pandas, xarray and Arrow's consumers hold them; streams that nobody takes."""
import ctypes
import datetime
import gc
import importlib
import math
import os
import subprocess
import sys
import unittest

from pytrace import (SECOND, START, Folder, Writer, _ffi, environment, main, numpy, wakewatt,
                     write_mixed)
from wakewatt._arrow import ArrowArrayStream

UTC = datetime.timezone.utc
FIRST = datetime.datetime(2023, 11, 14, 22, 13, 20, 1, UTC)  # the middle of 2 us


def library(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


pandas, xarray, pyarrow, polars, duckdb, matplotlib = map(
    library, ("pandas", "xarray", "pyarrow", "polars", "duckdb", "matplotlib"))


def needs(**modules):
    missing = [name for name, module in modules.items() if module is None]
    return unittest.skipIf(missing, f"no {', '.join(missing)}")


def write_no_wall(path):
    """Average power of two meters, no reading of the wall clock."""
    with Writer(path) as w:
        for name in ("a", "b"):
            m = w.source(_ffi.ww_source_kind.METER, name)
            w.channel(m, b"power", b"power", b"W", 1, 0.1)
            at = [START + i * SECOND for i in range(10)]
            w.samples(m, at, [t + 500_000_000 for t in at], list(range(10)))
        w.source(_ffi.ww_source_kind.SERIAL, "port")


class Mixed(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.file, cls.other = (os.path.join(cls.dir.name, n) for n in ("mixed.wwt", "nowall.wwt"))
        write_mixed(cls.file)
        write_no_wall(cls.other)

    def setUp(self):
        self.t, self.n = wakewatt.open(self.file), wakewatt.open(self.other)
        self.addCleanup(self.t.close)
        self.addCleanup(self.n.close)


class Tables(Mixed):
    def test_table(self):
        table = self.t.table("meter")
        self.assertEqual((len(table), list(table.channels)), (100, ["power", "voltage"]))
        lo, hi, columns = table.read()
        self.assertEqual(columns["voltage"].tolist(), self.t["meter.voltage"].tolist())
        self.assertEqual(lo[99], START + 99 * SECOND // 10)
        self.assertEqual(len(self.t[1:2].table()), 11)
        self.assertIn("voltage [V]", repr(table))
        self.assertEqual(list(self.t["meter.power"].samples())[3], (0.300001, 119.1))

    @needs(numpy=numpy)
    def test_as_an_array(self):
        volts = self.t["meter.voltage"]
        self.assertEqual(numpy.asarray(volts, numpy.float32).dtype, numpy.float32)
        self.assertEqual(numpy.max(volts), 230.099)
        with self.assertRaisesRegex(ValueError, "no array to share"):
            volts.__array__(copy=False)

    def test_which_table(self):
        with self.assertRaisesRegex(ValueError, r'table\("a"\), table\("b"\)'):
            self.n.table()
        with self.assertRaisesRegex(ValueError, r'table\("a"\)'):
            self.n.__arrow_c_stream__()
        with self.assertRaisesRegex(ValueError, "no channels"):
            self.n.table("port")
        with self.assertRaisesRegex(KeyError, "a, b, port"):
            self.n.table("c")

    @needs(pandas=pandas)
    def test_pandas(self):
        s = self.t["meter.power"].to_pandas()
        self.assertEqual((s.name, str(s.dtype), len(s)), ("meter.power", "float64", 100))
        self.assertEqual(str(s.index.dtype), "datetime64[ns, UTC]")
        self.assertEqual((s.index[0], s.index.name), (FIRST, "time"))
        self.assertEqual(s.index[1].value - s.index[0].value, SECOND // 10)
        self.assertTrue(math.isnan(s.iloc[50]) and s.isna().sum() == 1)
        self.assertEqual(s[FIRST + datetime.timedelta(seconds=1):].iloc[0], 119.2)
        about = s.attrs
        self.assertEqual([about[k] for k in ("unit", "quantity", "semantics", "source",
                                             "resolution", "start")],
                         ["W", "power", "instant", "meter", 0.1, "2023-11-14T22:13:20.000Z"])
        self.assertIn("at most 1e-06 s off", about["time"])
        self.assertNotIn("accuracy_rel", about)
        self.assertAlmostEqual(s.resample("1s").mean().iloc[0], s.iloc[:10].mean(), 9)
        self.assertEqual(len(self.t["meter.power"][100:].to_pandas()), 0)

    @needs(pandas=pandas)
    def test_pandas_without_wall_clock(self):
        s = self.n["a.power"].to_pandas()
        self.assertEqual(str(s.index.dtype), "timedelta64[ns]")
        self.assertEqual(s.index[3].total_seconds(), 3.25)
        self.assertIn("since the trace's first record", s.attrs["time"])
        self.assertIn("at most 0.25 s off", s.attrs["time"])
        self.assertNotIn("start", s.attrs)

    @needs(pandas=pandas)
    def test_data_frame(self):
        f = self.t.table().to_pandas()
        self.assertEqual((list(f.columns), f.shape), (["power", "voltage"], (100, 2)))
        self.assertEqual(f.attrs["channels"]["voltage"]["unit"], "V")
        self.assertEqual(f["voltage"].iloc[99], 230.099)
        self.assertTrue(f.index.equals(self.t["meter.power"].to_pandas().index))

    @needs(xarray=xarray)
    def test_xarray(self):
        a = self.t["meter.power"].to_xarray()
        self.assertEqual((a.dims, a.shape, a.name), (("time",), (100,), "meter.power"))
        self.assertEqual((a.attrs["units"], a.attrs["cell_methods"]), ("W", "time: point"))
        self.assertEqual(a.attrs["long_name"], "power of meter")
        self.assertEqual(str(a.time.dtype), "datetime64[ns]")
        self.assertEqual(int(a.time[0].astype("int64")), round(FIRST.timestamp() * 1e6) * 1000)
        self.assertEqual(int(a.hi_ns[1] - a.lo_ns[0]), SECOND // 10 + 2000)
        n = self.n["a.power"].to_xarray()
        self.assertEqual((str(n.time.dtype), n.attrs["cell_methods"]),
                         ("timedelta64[ns]", "time: mean"))
        d = self.t.table().to_xarray()
        self.assertEqual(list(d), ["power", "voltage"])
        self.assertEqual(float(d.voltage.isel(time=99)), 230.099)
        self.assertEqual(int(d.lo_ns[0]), START)

    def test_what_is_missing_is_named(self):
        code = ("import sys; sys.modules.update(pandas=None, xarray=None, matplotlib=None)\n"
                "import wakewatt; c = wakewatt.open(sys.argv[1])['meter.power']\n"
                "for f in (c.to_pandas, c.to_xarray, c.plot):\n"
                "    try: f()\n"
                "    except ImportError as e: print(e)\n")
        p = subprocess.run([sys.executable, "-c", code, self.file], env=environment(), text=True,
                           capture_output=True, check=True, timeout=30)
        self.assertIn("to_pandas() needs pandas (apt install python3-pandas", p.stdout)
        self.assertEqual(p.stdout.count("pip install"), 3)


@needs(matplotlib=matplotlib)
class Pictures(Mixed):
    def setUp(self):
        super().setUp()
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        self.addCleanup(plt.close, "all")

    def test_channel(self):
        ax = self.t["meter.power"].plot()
        self.assertEqual((ax.get_ylabel(), ax.get_xlabel()),
                         ("power (W)", "time since the first record (s)"))
        self.assertEqual([t.get_text() for t in ax.texts], ["lamp on, 5 Ω"])
        line, = ax.lines
        self.assertEqual(numpy.isnan(line.get_ydata()).sum(), 1)
        self.assertEqual(len(ax.patches), 0)  # the gap is another source's
        self.assertIs(self.t["meter.power"][1:2].plot(ax, marks=False), ax)
        with self.assertRaisesRegex(ValueError, "not h"):
            self.t.plot(ax, unit="h")
        with self.assertRaisesRegex(ValueError, "unit is one of"):
            self.t.plot(unit="d")

    def test_a_gap_is_no_line(self):
        path = self.path("gap.wwt")
        with Writer(path) as w:
            m = w.source(_ffi.ww_source_kind.METER, "m")
            w.channel(m, b"power", b"power", b"W", 0, 1.0)
            at = [START + i * SECOND for i in (0, 1, 2, 7, 8)]
            w.samples(m, at, at, [1, 2, 3, 4, 5])
            w.gap(at[2], at[3], m, 4, b"unplugged")
        with wakewatt.open(path) as t:
            ax = t.plot()
            self.assertEqual(str(ax.lines[0].get_ydata()), "[ 1.  2.  3. nan  4.  5.]")
            self.assertEqual(len(ax.patches), 1)

    def test_two_meters_and_hours(self):
        ax = self.n.plot(unit="h")
        self.assertEqual([t.get_text() for t in ax.get_legend().get_texts()],
                         ["a.power", "b.power"])
        self.assertAlmostEqual(ax.lines[0].get_xdata()[-1], 9.25 / 3600)
        self.assertEqual(ax.lines[0].get_drawstyle(), "steps-pre")  # a mean ends at its stamp

    def test_many_samples_keep_their_peaks(self):
        from wakewatt._draw import envelope

        y = numpy.zeros(200_000)
        y[77_777], y[123_456] = 9, -4
        y[5] = math.nan
        ex, ey = envelope(numpy, numpy.arange(200_000.0), y, 500)
        self.assertEqual((len(ex), len(ey), ey.max(), ey.min()), (1000, 1000, 9, -4))
        self.assertTrue((numpy.diff(ex) >= 0).all())
        self.assertLess(abs(ex[ey.argmax()] - 77_777), 400)

    def test_labels_do_not_overlap(self):
        path = self.path("labels.wwt")
        with Writer(path) as w:
            m = w.source(_ffi.ww_source_kind.METER, "m")
            w.channel(m, b"power", b"power", b"W", 0, 1.0)
            at = [START + i * SECOND for i in range(100)]
            w.samples(m, at, at, list(range(100)))
            for i in range(90):
                w.mark(at[i], b"label", f"label number {i}".encode())
        with wakewatt.open(path) as t:
            ax = t.plot()
            ax.figure.canvas.draw()
            boxes = [x.get_window_extent() for x in ax.texts]
            self.assertGreater(len(boxes), 6)
            self.assertEqual([(i, k) for i, a in enumerate(boxes) for k, b in enumerate(boxes[:i])
                              if a.overlaps(b)], [])


class Capsules(Mixed):
    def test_capsule(self):
        self.assertIn('"arrow_array_stream"', repr(self.t["meter.power"].__arrow_c_stream__()))
        self.assertIn("arrow_array_stream", repr(self.t.__arrow_c_stream__(object())))
        with self.assertRaises(ValueError):
            channel = self.t["meter.power"]
            self.t.close()
            channel.__arrow_c_stream__()

    def test_streams_that_nobody_takes(self):
        """A thousand of 100 KiB each: all of it would be seen."""
        path = self.path("long.wwt")
        with Writer(path) as w:
            m = w.source(_ffi.ww_source_kind.METER, "m")
            w.channel(m, b"power", b"power", b"W", 0, 1.0)
            at = list(range(START, START + 4000))
            w.samples(m, at, at, at)

        def size():
            gc.collect()
            with open("/proc/self/statm", encoding="ascii") as f:
                return int(f.read().split()[1]) * 4

        with wakewatt.open(path) as t:
            for n in (50, 1000):
                before = size()
                for _ in range(n):
                    t.__arrow_c_stream__()
            self.assertLess(size() - before, 4000, "KiB")
        self.assertFalse([o for o in gc.get_objects() if isinstance(o, ArrowArrayStream)])

    def test_taken_and_half_taken(self):
        """As a consumer in C does it: moved out, one batch, released."""
        class Array(ctypes.Structure):
            _fields_ = [("n", ctypes.c_int64 * 5), ("buffers", ctypes.c_void_p * 3),
                        ("release", ctypes.c_void_p), ("private", ctypes.c_void_p)]

        pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
            ("PyCapsule_GetPointer", ctypes.pythonapi))
        for half in (True, False):
            capsule = self.t.__arrow_c_stream__()
            theirs = ArrowArrayStream.from_address(pointer(capsule, b"arrow_array_stream"))
            stream = ArrowArrayStream()
            ctypes.memmove(ctypes.byref(stream), ctypes.byref(theirs), ctypes.sizeof(stream))
            ctypes.memset(ctypes.byref(theirs), 0, ctypes.sizeof(theirs))
            del theirs, capsule  # empty: it must not release what was moved
            batch = Array()
            take = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(stream.get_next)
            if not half:
                self.assertEqual(take(ctypes.addressof(stream), ctypes.addressof(batch)), 0)
                self.assertEqual((batch.n[0], batch.n[4]), (100, 6))
                ctypes.CFUNCTYPE(None, ctypes.c_void_p)(batch.release)(ctypes.addressof(batch))
                self.assertIsNone(batch.release)
            stream.release(ctypes.byref(stream))
            self.assertFalse(stream.release)

    def test_the_interpreter_ends_with_a_stream_in_hand(self):
        code = ("import sys, builtins, wakewatt\n"
                "t = wakewatt.open(sys.argv[1]); builtins.kept = t.__arrow_c_stream__()\n"
                "sys.kept = [t['meter.power'].__arrow_c_stream__()]; sys.kept.append(sys.kept)\n"
                "class Late:\n"
                "    def __del__(self, t=t): self.c\n"
                "late = Late(); late.c = t.__arrow_c_stream__(); late.me = late\n")
        p = subprocess.run([sys.executable, "-X", "faulthandler", "-c", code, self.file], text=True,
                           env=environment(), capture_output=True, check=False, timeout=30)
        self.assertEqual((p.returncode, p.stderr), (0, ""))


class Consumers(Mixed):
    @needs(pyarrow=pyarrow)
    def test_pyarrow(self):
        table = pyarrow.table(self.t["meter.power"])
        self.assertEqual(table.column_names, ["time", "t_s", "lo_ns", "hi_ns", "power"])
        self.assertEqual(str(table.schema.field("time").type), "timestamp[ns, tz=UTC]")
        self.assertEqual(table["power"].null_count, 1)
        self.assertEqual(table["power"][1].as_py(), 119.2)
        self.assertIsNone(table["power"][50].as_py())
        self.assertEqual(table.schema.field("power").metadata, {
            b"unit": b"W", b"quantity": b"power", b"semantics": b"instant", b"resolution": b"0.1"})
        table.validate(full=True)
        both = pyarrow.table(self.t.table())
        self.assertEqual(both["voltage"][99].as_py(), 230.099)
        self.assertEqual(both.num_columns, 6)
        self.assertEqual(pyarrow.table(self.t[1:2]).num_rows, 11)
        self.assertEqual(pyarrow.table(self.t[100:]).num_rows, 0)
        self.assertEqual(pyarrow.table(self.n["b.power"]).column_names[0], "t_s")

    @needs(pyarrow=pyarrow, numpy=numpy)
    def test_pyarrow_equals_numpy(self):
        channel = self.t["meter.power"]
        table = pyarrow.table(channel)
        self.assertTrue(numpy.array_equal(table["power"].to_numpy(), channel.to_numpy(),
                                          equal_nan=True))
        self.assertTrue(numpy.array_equal(table["t_s"].to_numpy(), channel.times()))
        lo, hi = channel.intervals()
        self.assertEqual(table["lo_ns"].to_pylist(), lo.tolist())
        self.assertEqual(table["hi_ns"].to_pylist(), hi.tolist())

    @needs(pyarrow=pyarrow)
    def test_a_batch_outlives_its_trace(self):
        reader = pyarrow.RecordBatchReader.from_stream(self.t)
        self.t.close()
        batch = reader.read_next_batch()
        reader.close()
        column = batch.column(4)
        del reader, batch
        gc.collect()
        self.assertEqual(column[2].as_py(), 119.3)

    @needs(pyarrow=pyarrow)
    def test_asked_for_another_schema(self):
        schema = pyarrow.schema([("t_s", pyarrow.float32())])
        capsule = self.t.__arrow_c_stream__(schema.__arrow_c_schema__())
        self.assertIn("arrow_array_stream", repr(capsule))

    @needs(polars=polars)
    def test_polars(self):
        frame = polars.DataFrame(self.t.table())
        self.assertEqual(frame.columns, ["time", "t_s", "lo_ns", "hi_ns", "power", "voltage"])
        self.assertEqual((frame.height, frame["power"].null_count()), (100, 1))
        self.assertEqual(frame["time"][0], FIRST)
        self.assertAlmostEqual(frame["power"].mean(), numpy.nanmean(
            self.t["meter.power"].to_numpy()), 9)

    @needs(duckdb=duckdb)
    def test_duckdb(self):
        trace, channel = self.t, self.t["meter.power"]  # noqa: F841 (names in the statements)
        row, = duckdb.sql("select avg(power), count(power), count(*), max(voltage), min(time) "
                          "from trace").fetchall()
        self.assertAlmostEqual(row[0], numpy.nanmean(channel.to_numpy()), 9)
        self.assertEqual(row[1:4], (99, 100, 230.099))
        self.assertEqual(row[4].astimezone(UTC), FIRST)
        counted = duckdb.sql("select count(*) from channel where t_s between 1 and 2").fetchall()
        self.assertEqual(counted, [(10,)])


if __name__ == "__main__":
    main()
