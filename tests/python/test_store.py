#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Traces written, stored, exported and decoded again; drivers, devices, actions, a serial path."""
import errno
import json
import os
import pty
import sqlite3
import threading
import tty
import unittest

from pytrace import SECOND, START, Folder, main, numpy, program, wakewatt, write_mixed


def converted(path, column=list):
    """As a converter writes it: a meter with two channels, a port, everything else once."""
    times = [START + i * SECOND // 10 for i in range(20)]
    with wakewatt.Writer(path, command="convert x") as w:
        w.anchor(START, 1_700_000_000 * SECOND)
        w.meta("bench.note", "Ünïx")
        meter = w.source("meter", "meter", period_ns=SECOND // 10, model="a <b>")
        w.channel(meter, "power", "power", "W", scale=0.1, resolution=0.1)
        w.channel(meter, "voltage", "voltage", "V", "instant", scale=0.01)
        port = w.source("serial", "port")
        codes = [[100 + i for i in range(20)], [23000 - i for i in range(20)]]
        codes[0][3] = wakewatt.MISSING
        w.samples(meter, column(times), column([t + 1000 for t in times]),
                  [column(c) for c in codes])
        w.bytes(port, times[2], times[2] + 5, b"a\0b")
        w.mark(times[5], "+lamp")
        w.mark(times[6], "suspend", "request", hi_ns=times[7], source=port, cycle=4)
        w.gap(times[8], times[9], port, "unplugged", 7)


class Writers(Folder):
    def test_what_was_written_is_read(self):
        path = self.path("a.wwt")
        converted(path)
        with wakewatt.open(path) as t:
            power, volts = list(t["meter.power"]), list(t["meter.voltage"])
            self.assertEqual(len(power), 20)
            self.assertTrue(power[3][1] != power[3][1])
            self.assertEqual(power[4][1], 10.4)
            self.assertEqual([v for _, v in volts], [(23000 - i) / 100 for i in range(20)])
            self.assertEqual(t["meter.voltage"].unit, "V")
            self.assertEqual(t.bytes("port").data, b"a\0b")
            self.assertEqual(t.meta["bench.note"], "Ünïx")
            lamp, asked = (m for m in t.marks)
            self.assertEqual((lamp.kind, lamp.text, lamp.cycle), ("label", "+lamp", 0))
            self.assertEqual((asked.kind, asked.source, asked.cycle), ("request", "port", 4))
            self.assertEqual(asked.t_ns.width, SECOND // 10)
            gap, = (g for g in t.gaps if g.reason == "unplugged")
            self.assertEqual((gap.source, gap.lost), ("port", 7))

    @unittest.skipIf(numpy is None, "needs numpy")
    def test_arrays_are_as_good_as_lists(self):
        a, b = self.path("l.wwt"), self.path("n.wwt")
        converted(a)
        converted(b, lambda values: numpy.array(values, dtype="int64"))
        for what in ("samples", "marks"):
            self.assertEqual(program("wwtrace", "export", "--what", what, a),
                             program("wwtrace", "export", "--what", what, b))

    def test_what_is_wrong(self):
        path = self.path("w.wwt")
        with wakewatt.Writer(path) as w:
            meter = w.source("meter", "meter")
            w.channel(meter, "power", "power", "W")
            for codes in ([], [[1], [2]], [[1, 2]]):
                with self.assertRaisesRegex(ValueError, "1 channels"):
                    w.samples(meter, [START], [START], codes)
            with self.assertRaisesRegex(ValueError, "meter, serial, line"):
                w.source("metre", "other")
            with self.assertRaisesRegex(TypeError, "uri, driver"):
                w.source("meter", "other", maker="x")
        w.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            w.commit()
        with self.assertRaises(wakewatt.Error) as e:
            wakewatt.Writer(path)
        self.assertEqual(e.exception.errno, errno.EEXIST)

    def test_a_commit_is_seen_by_who_follows(self):
        path = self.path("f.wwt")
        with wakewatt.Writer(path) as w:
            meter = w.source("meter", "meter")
            w.channel(meter, "power", "power", "W")
            w.samples(meter, [START], [START], [[5]])
            w.commit()
            with wakewatt.open(path) as t:
                arriving = t["meter.power"].follow(timeout=5)
                self.assertEqual(next(arriving), (0.0, 5.0))
                w.samples(meter, [START + SECOND], [START + SECOND], [[6]])
                w.commit()
                self.assertEqual(next(arriving), (1.0, 6.0))


class Stored(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = os.path.join(cls.dir.name, "mixed.wwt")
        write_mixed(cls.trace)

    def test_exports_are_those_of_the_program(self):
        with wakewatt.open(self.trace) as t:
            for what in ("samples", "bytes", "marks", "gaps"):
                out = self.path(what)
                n = t.export(out, what)
                with open(out, "rb") as f:
                    said = f.read()
                self.assertEqual(said, program("wwtrace", "export", "--what", what, self.trace))
                self.assertEqual(n, said.count(b"\n") - 1, what)
            with open(self.path("m.jsonl"), "w+b") as f:
                f.write(b"first\n")
                t.export(f, source="meter", format="jsonl")
                f.seek(0)
                self.assertEqual(f.read(), b"first\n" + program(
                    "wwtrace", "export", "--source", "meter", "--format", "jsonl", self.trace))

    def test_exports_that_cannot_be(self):
        with wakewatt.open(self.trace) as t:
            out = self.path("none")
            with self.assertRaisesRegex(ValueError, "csv"):
                t.export(out, format="xml")
            with self.assertRaisesRegex(ValueError, "samples, "):
                t.export(out, "everything")
            with self.assertRaisesRegex(wakewatt.Error, "nobody"):
                t.export(out, source="nobody")
            self.assertFalse(os.path.exists(out))
            with self.assertRaises(wakewatt.Error) as e:
                t.export(self.trace)
            self.assertEqual(e.exception.errno, errno.EEXIST)

    def test_damaged_rows_are_told_after_the_rest_was_written(self):
        path, out = self.path("damaged.wwt"), self.path("damaged.csv")
        write_mixed(path)
        with sqlite3.connect(path) as db:
            table, = (n for n, in db.execute("SELECT name FROM sqlite_master WHERE type='table'")
                      if n in ("block", "blocks"))
            column, = (r[1] for r in db.execute(f"PRAGMA table_info({table})")
                       if r[1] in ("data", "body", "payload"))
            db.execute(f"UPDATE {table} SET {column} = zeroblob(length({column})) "
                       f"WHERE rowid = (SELECT min(rowid) FROM {table})")
        with wakewatt.open(path) as t:
            with self.assertRaises(wakewatt.Error) as e:
                t.export(out)
        self.assertEqual(e.exception.errno, errno.EBADMSG)
        self.assertTrue(os.path.exists(out))

    def test_stored_in_a_file_of_its_own(self):
        csv, out = self.path("log.csv"), self.path("log.wwt")
        with open(csv, "w") as f:
            f.write("time_s,power_W\n" + "".join(f"{i},{5 + i % 2}\n" for i in range(10)))
        self.assertIn("csv", wakewatt.formats())
        with wakewatt.open(csv) as t:
            self.assertEqual(t.format, "csv")
            self.assertEqual(t.store(out), 10)
            with self.assertRaises(wakewatt.Error) as e:
                t.store(out)
            self.assertEqual(e.exception.errno, errno.EEXIST)
            with wakewatt.open(out) as stored:
                self.assertEqual([list(c) for c in stored.channels.values()],
                                 [list(c) for c in t.channels.values()])

    def test_nothing_to_decode_again_leaves_nothing(self):
        out = self.path("again.wwt")
        with wakewatt.open(self.trace) as t:
            with self.assertRaises(wakewatt.Error):
                t.redecode(out)
            self.assertFalse(os.path.exists(out))
            with self.assertRaises(wakewatt.Error):
                t.redecode(self.trace)
        self.assertTrue(os.path.exists(self.trace))


class Wire:
    """A pseudo-terminal from which comes what is sent to it."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.name = os.ttyname(self.slave)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        try:
            while True:
                os.write(self.master, os.read(self.master, 4096))
        except OSError:
            pass

    def close(self):
        os.close(self.slave)
        self.thread.join(5)
        os.close(self.master)


class Bench(Folder):
    def test_drivers(self):
        found = {m.name: m for m in wakewatt.meters()}
        self.assertTrue(found["sim"].available)
        self.assertTrue(found["wattsup"].example.startswith("wattsup:"))
        self.assertIn("<td", wakewatt.meters()._repr_html_())

    def test_devices_are_those_of_the_program(self):
        found = wakewatt.devices()
        self.assertEqual(found.document, json.loads(program("pwrlog", "list", "--json")))
        self.assertIn("<table>", found._repr_html_())

    def test_an_action(self):
        flag = self.path("flag")
        with wakewatt.Action(f"sleep 0.05; touch {flag}; exit 3") as a:
            self.assertIsNone(a.start().when)
            self.assertEqual(a.how, "")
            self.assertFalse(a.wait(0))
            self.assertTrue(a.wait(20))
            self.assertEqual(a.how, "exit 3")
            self.assertTrue(os.path.exists(flag))
            self.assertLessEqual(a.when.lo, a.when.hi)
            self.assertIn("exit 3", json.dumps(a.report()))
        with self.assertRaises(wakewatt.Error):
            wakewatt.Action("gpio:")

    def test_a_serial_path(self):
        wire = Wire()
        self.addCleanup(wire.close)
        r = wakewatt.loopback(wire.name, n=20, echo=True)
        self.assertEqual((r.sent, r.back, r.wrong, r.stored), (20, 20, 0, ""))
        self.assertTrue(0 <= r.median_s <= r.p99_s <= r.max_s < 1)
        self.assertEqual(r.document["delay_s"]["median"], r.median_s)
        self.assertTrue(any("echo" in n for n in r.notes))
        with self.assertRaises(TimeoutError):
            wakewatt.loopback(wire.name, n=100000, timeout=0.05)


if __name__ == "__main__":
    main()
