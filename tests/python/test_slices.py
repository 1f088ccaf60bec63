#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Stretches of a trace: by seconds, times of day and marks; what is in them and what it means."""
import datetime
import gc
import json
import os

from pytrace import (SECOND, START, Folder, Writer, _ffi, main, program, wakewatt)

UTC = datetime.timezone.utc
BEGIN = 1_700_000_000  # wall clock of the first record


def write_marks(path):
    """10 W, 60 W from +lamp to -lamp (10 s to 20 s), twice; the wall clock is set forward by an
    hour at 25 s, and back by two at 35 s."""
    with Writer(path) as w:
        for s, step in ((0, 0), (25, 3600), (35, -3600)):
            w.anchor(START + s * SECOND, (BEGIN + s + step) * SECOND)
        m = w.source(_ffi.ww_source_kind.METER, "meter")
        w.channel(m, b"power", b"power", b"W", 0, 0.1, 0.1)
        at = [START + i * SECOND // 10 for i in range(501)]
        w.samples(m, at, at, [600 if 100 <= i % 200 and i < 400 else 100 for i in range(501)])
        for s, kind, text in ((10, b"label", b"+lamp"), (20, b"label", b"-lamp"),
                              (22, b"request", b"mem"), (30, b"label", b"+lamp"),
                              (40, b"label", b"-lamp"), (44, b"wake", b"")):
            w.mark(START + s * SECOND, kind, text, m)
        w.gap(START + 23 * SECOND, START + 24 * SECOND, m, 3, b"overrun")


class Slices(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.file = os.path.join(cls.dir.name, "marks.wwt")
        write_marks(cls.file)

    def setUp(self):
        self.t = wakewatt.open(self.file)
        self.addCleanup(self.t.close)

    def ends(self, start=None, stop=None, of=None):
        """Seconds of the first and the last sample."""
        times = (of or self.t)[start:stop]["meter.power"].times()
        return (round(float(times[0]), 3), round(float(times[-1]), 3)) if len(times) else None

    def test_seconds(self):
        self.assertEqual(self.ends(10, 20), (10, 20))
        self.assertEqual(self.ends(10.05, 20.04), (10.1, 20))
        self.assertEqual(self.ends(), (0, 50))
        self.assertEqual(self.ends(-5, 1), (0, 1))
        self.assertEqual(self.ends(49), (49, 50))
        self.assertIsNone(self.ends(60))
        self.assertIsNone(self.ends(20, 10))

    def test_marks(self):
        self.assertEqual(self.ends("+lamp", "-lamp"), (10, 20))  # the first pair
        self.assertEqual(self.ends("mem", "-lamp"), (22, 40))  # the first one after
        self.assertEqual(self.ends("request", "wake"), (22, 44))  # by their kinds
        self.assertEqual(self.ends(None, "-lamp"), (0, 20))
        self.assertEqual(self.ends("wake"), (44, 50))

    def test_mixed(self):
        self.assertEqual(self.ends(25, "-lamp"), (25, 40))
        self.assertEqual(self.ends("+lamp", 12), (10, 12))
        self.assertEqual(self.ends("-lamp", "+lamp"), (20, 30))
        marks = self.t.marks
        self.assertEqual(self.ends(marks[3], marks[4]), (30, 40))
        self.assertEqual(self.ends(marks[3], "-lamp"), (30, 40))

    def test_stretch_of_a_stretch(self):
        part = self.t[15:42]
        self.assertEqual(self.ends(5, 30, part), (15, 30))  # seconds of the trace
        self.assertEqual(self.ends("+lamp", "-lamp", part), (30, 40))  # the first within
        self.assertEqual(len(self.t["meter.power"][15:42]["+lamp":][:31]), 11)
        self.assertEqual(len(part["meter.power"][:15.5]), 6)

    def test_wall_clock(self):
        def wall(s):
            return datetime.datetime.fromtimestamp(BEGIN + s, UTC)

        self.assertEqual(self.ends(wall(5), wall(7.5)), (5, 7.5))
        # 27 s is an hour later by the wall, in any zone; what was left out is where it was set.
        zone = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
        self.assertEqual(self.ends(wall(3627).astimezone(zone), 28), (27, 28))
        self.assertEqual(self.ends(wall(1800), wall(3626)), (25, 26))
        self.assertEqual(self.ends(wall(-100), wall(1)), (0, 1))
        # Shown twice after the clock went back: the first time counts.
        self.assertEqual(self.ends(wall(12), "-lamp"), (12, 20))
        self.assertIsNone(self.ends(wall(99999)))
        with self.assertRaisesRegex(ValueError, "no zone"):
            self.t[datetime.datetime(2023, 11, 14):]
        for s in (0, 5.25, 24.9, 27):
            first = self.t[self.t.wall(s):]["meter.power"].times()[0]
            self.assertAlmostEqual(first, round(s + .04, 1), 9)

    def test_what_is_within(self):
        part = self.t["+lamp":"-lamp"]
        self.assertEqual(part.duration_s, 10)
        self.assertEqual([m.text for m in part.marks], ["+lamp", "-lamp"])
        self.assertEqual((part.gaps, len(self.t[20:].gaps), self.t[50.5:].duration_s), ([], 1, 0))
        self.assertEqual(list(part.channels), ["meter.power"])
        self.assertIn("meter.power", part)
        self.assertEqual(len(part.channels["meter.power"]), 101)
        self.assertIn("10 s to 20 s", repr(part))
        self.assertIn("empty", repr(self.t[90:]))

    def test_notebooks_see_what_it_holds(self):
        html = self.t._repr_html_()
        for says in ("marks.wwt: closed, 50 s long, first record 2023-11-14 22:13:20 UTC",
                     ">meter.power<", ">0.1 W<", ">501<", "+lamp (10 s), -lamp (20 s), request (22",
                     "gaps: 1"):
            self.assertIn(says, html)
        html = self.t[12:20]._repr_html_()
        self.assertIn("12 s to 20 s, 8 s long<", html)
        self.assertIn(">81<", html)
        self.assertNotIn("gaps", html)
        self.assertIn("empty", self.t[90:]._repr_html_())
        self.t.close()
        self.assertIn("closed handle", self.t._repr_html_())

    def test_analyses_equal_the_command_lines(self):
        for options, part in ((["--between", "+lamp,-lamp"], self.t["+lamp":"-lamp"]),
                              (["--from", "12", "--to", "31"], self.t[12:31])):
            want = json.loads(program("pwrlog", "stat", "--json", *options, self.file))
            self.assertEqual(part.stat().document, want)
        self.assertAlmostEqual(self.t["+lamp":"-lamp"].stat(11, 30)["meter.power"].n, 91)

    def test_a_stretch_that_ends_where_the_axis_begins(self):
        path = self.path("axis.csv")
        with open(path, "w", encoding="ascii") as f:
            f.write("time_s,power_W\n" + "".join(f"{i},{i}.5\n" for i in range(100)))
        with wakewatt.open(path) as t:
            self.assertEqual(t[:0][list(t)[0]].tolist(), [0.5])
            self.assertEqual(t[:0].stat().channels[0].n, 1)
            self.assertEqual(t[:10].stat().channels[0].n, 11)
            self.assertEqual(t.format, "csv")
        self.assertIsNone(self.t.format)

    def test_files_of_other_programs(self):
        path = self.path("other.csv")
        with open(path, "w", encoding="ascii") as f:
            f.write("".join(f"2012-06-10 00:00:{i:02};{i}\n" for i in range(60)))
        with wakewatt.open(path, columns="time,power_W", utc_offset_s=7200) as t:
            self.assertEqual(t.wall(0).isoformat(), "2012-06-09T22:00:00+00:00")
            east = datetime.timezone(datetime.timedelta(hours=2))
            part = t[datetime.datetime(2012, 6, 10, 0, 0, 58, tzinfo=east):]
            self.assertEqual(part[list(t)[0]].tolist(), [58, 59])
            self.assertFalse(any("UTC" in note for note in t.import_notes))
        with wakewatt.open(path, columns="time,power_W") as t:
            self.assertTrue(any("UTC" in note for note in t.import_notes), t.import_notes)
        with self.assertRaisesRegex(wakewatt.Error, "nosuch"):
            wakewatt.open(path, format="nosuch")

    def test_wrong_use(self):
        t, power = self.t, self.t["meter.power"]
        for what, says in ((slice("nope", None), r"'nope'; its marks are '\+lamp', '-lamp'"),
                           (slice("wake", "mem"), "after the first one; marks there are none"),
                           (slice(45, "mem"), "after the beginning")):
            for of in (t, power):
                with self.assertRaisesRegex(KeyError, says):
                    of[what]
        for key in (3, slice(1, 2, 3), slice(b"x", None), slice(True, None), slice(None, [1]),
                    1.5, None):
            for of in (t, power):
                with self.assertRaises(TypeError):
                    of[key]
        for key in (slice(float("nan"), None), slice(float("inf"), None)):
            with self.assertRaises(ValueError):
                t[key]

    def test_no_wall_clock(self):
        path = self.path("none.wwt")
        with Writer(path) as w:
            w.mark(START, b"label", b"x")
        with wakewatt.open(path) as t:
            with self.assertRaisesRegex(wakewatt.Error, "seconds or marks"):
                t[datetime.datetime.now(UTC):]

    def test_a_stretch_keeps_the_trace_open_until_it_is_closed(self):
        part = wakewatt.open(self.file)[1:2]
        gc.collect()
        self.assertEqual(len(part["meter.power"]), 11)
        channel = self.t[1:2]["meter.power"]
        self.t.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            channel.values()
        self.assertIn("closed", repr(self.t))


class Leaks(Folder):
    def test_ten_thousand_opens(self):
        """Closed by with, by close(), and by nobody: neither descriptors nor memory stay."""
        path = self.path("open.wwt")
        write_marks(path)

        def use(n):
            for i in range(n):
                t = wakewatt.open(path)
                if i % 500 == 0:
                    t[1:2]["meter.power"].values()
                if i % 2:
                    t.close()

        def size():
            gc.collect()
            with open("/proc/self/statm", encoding="ascii") as f:
                return int(f.read().split()[1]) * 4, len(os.listdir("/proc/self/fd"))

        use(300)
        before, files = size()
        use(10_000)
        after, files_after = size()
        self.assertEqual(files_after, files)
        self.assertLess(after - before, 1000, "KiB")

    def test_a_trace_that_nobody_holds_is_closed_at_once(self):
        path = self.path("gone.wwt")
        write_marks(path)
        gc.disable()
        self.addCleanup(gc.enable)
        files = os.listdir("/proc/self/fd")
        t = wakewatt.open(path)
        list(t.channels.values()), t.marks, t[1:2].marks
        core = t._core
        self.assertFalse(core.handle.closed)
        finalizer = core.handle._finalizer
        del t, core
        self.assertFalse(finalizer.alive)
        self.assertEqual(os.listdir("/proc/self/fd"), files)


if __name__ == "__main__":
    main()
