#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every meter that a socket or a pseudo-terminal can carry, in one recording, beside a heartbeat.

The meters are models served by wwemu. One of them is unplugged for a while, some never
answer; the values, the heartbeat, and what comes of the raw bytes once more are checked.
"""
import csv
import fcntl
import io
import os
import pty
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tty
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)

from tap import main  # noqa: E402
from ww import BUILD, js, run, tool  # noqa: E402

EMU = os.path.join(BUILD, "tests", "emu", "wwemu")
WATTSUP = os.path.join(BUILD, "tests", "emu", "wattsup_emu")
BEAT_S = 0.02

# Model, how it is served, URI, volts, amperes.
METERS = (
    ("pzem004t", "--pty", "pzem004t:{}", 230, 0.50),
    ("sdm120", "--pty", "sdm120:{}", 231, 0.40),
    ("sdm230", "--tcp", "sdm230:tcp://127.0.0.1:{}?framing=rtu", 232, 0.30),
    ("um25c", "--pty", "um25c:{}", 5.1, 0.90),
    ("tc66c", "--pty", "tc66c:{}", 5.2, 0.80),
    ("kasa", "--tcp", "kasa:tcp://127.0.0.1:{}", 229, 0.20),
    ("tasmota", "--http", "tasmota:http://127.0.0.1:{}", 228, 0.25),
    ("shelly", "--http", "shelly:http://127.0.0.1:{}", 227, 0.15),
    ("wt310-serial", "--pty", "wt310:{}", 226, 0.35),
    ("gpm8310", "--tcp", "gpm8310:tcp://127.0.0.1:{}", 225, 0.45),
    ("wattsup", "--link", "wattsup:{}", 230, 0.1),
    ("ppk2", "--pty", "ppk2:{}?volts=3.3", 3.3, 0.010),
)


class Emulator:
    def __init__(self, model, how, place, *args):
        command = [EMU, model, how, place, *args]
        if how == "--link":
            command = [WATTSUP, how, place, "--watts", "23"]
        self.p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True, bufsize=1)
        self.place = place
        line = self.p.stdout.readline().split()
        if line[0] == "port":
            self.place = line[1]
            line = self.p.stdout.readline().split()
        assert line == ["ready"], line
        # What it hears is told by one of them, and nobody reads it.
        self.reader = None
        if how == "--link":
            self.reader = threading.Thread(target=self.p.stdout.read)
            self.reader.start()

    def order(self, text):
        self.p.stdin.write(text + "\n")
        assert self.p.stdout.readline() == "ok\n"

    def close(self):
        self.p.stdin.close()
        self.p.wait(10)
        if self.reader:
            self.reader.join()
        self.p.stdout.close()


class Heartbeat:
    """A character each 20 ms on a pseudo-terminal, numbered by the alphabet."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        fcntl.fcntl(self.master, fcntl.F_SETFL, os.O_NONBLOCK)
        self.place = os.ttyname(self.slave)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._beat)
        self.thread.start()

    def _beat(self):
        begin, n = time.monotonic(), 0
        while not self.over.is_set():
            try:
                os.write(self.master, bytes([97 + n % 26]))
            except BlockingIOError:
                pass
            n += 1
            self.over.wait(max(0, begin + n * BEAT_S - time.monotonic()))

    def close(self):
        self.over.set()
        self.thread.join()
        os.close(self.master)
        os.close(self.slave)


def available():
    known = {d["name"] for d in js("pwrlog", "list", "--json")["drivers"] if d["available"]}
    return [m for m in METERS if m[2].split(":")[0] in known]


def samples(path):
    """{(source, channel): [(lo, hi, value)]}"""
    code, out, err = run("wwtrace", "export", path)
    assert code == 0, err
    got = {}
    for row in csv.DictReader(io.StringIO(out)):
        got.setdefault((row["source"], row["channel"]), []).append(
            (int(row["t_lo_ns"]), int(row["t_hi_ns"]), row["value"]))
    return got


def heard(path, source):
    code, out, err = run("wwtrace", "export", "--what", "bytes", path)
    assert code == 0, err
    return [r for r in csv.DictReader(io.StringIO(out)) if r["source"] == source]


def redecoded(path):
    again = path.replace(".wwt", "-again.wwt")
    code, _, err = run("wwtrace", "redecode", path, "-o", again)
    assert code == 0, err
    return again, err


class Bench(unittest.TestCase):
    """All meters of this build, and how they are named in a recording."""

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.dir.cleanup)
        cls.meters, cls.emu, cls.args = available(), {}, []
        for model, how, uri, volts, amps in cls.meters:
            place = os.path.join(cls.dir.name, model) if how in ("--pty", "--link") else "0"
            e = Emulator(model, how, place, "--volts", str(volts), "--amps", str(amps))
            cls.addClassCleanup(e.close)
            cls.emu[model] = e
            cls.args += ["-m", uri.format(e.place)]
        cls.beat = Heartbeat()
        cls.addClassCleanup(cls.beat.close)

    @classmethod
    def record(cls, name, *args):
        path = os.path.join(cls.dir.name, name)
        # The heartbeat first: it is then "port", and the meters count from "meter".
        return path, subprocess.Popen(
            [tool("pwrlog"), "record", "-m", "tty:" + cls.beat.place, *cls.args, "--raw", "-o",
             path, *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)

    def name(self, i):
        return "meter" if i == 0 else "meter%d" % (i + 1)


class Everything(Bench):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path, p = cls.record("all.wwt", "--for", "7s")
        time.sleep(3)
        cls.emu["pzem004t"].order("unplug")
        time.sleep(0.5)
        cls.emu["pzem004t"].order("replug")
        cls.err = p.communicate(timeout=60)[1]
        assert p.returncode == 0, cls.err
        cls.got = samples(cls.path)

    def test_summary_counts_raw_bytes_apart(self):
        self.assertRegex(self.err, r": \d{5,} samples, \d{2,} bytes of serial data, \d{4,} raw "
                                   r"bytes of meters, \d+ gaps?; ")

    def test_values(self):
        for i, (model, _, _, volts, amps) in enumerate(self.meters):
            with self.subTest(model):
                power = [float(v) for _, _, v in self.got[(self.name(i), "power")] if v]
                self.assertGreaterEqual(len(power), 3)
                # Some tell whole watts; a PPK2's converter has its own steps.
                self.assertAlmostEqual(power[-1], volts * amps,
                                       delta=0.51 if volts > 9 else 0.01 * volts * amps)
                voltage = [float(v) for _, _, v in self.got.get((self.name(i), "voltage"), [])
                           if v]
                if voltage:
                    self.assertAlmostEqual(voltage[-1], volts, delta=0.51 if volts > 9 else 0.01)

    def test_heartbeat(self):
        beats = heard(self.path, "port")
        self.assertGreater(len(beats), 0.8 * 7 / BEAT_S)
        letters = [int(b["hex"], 16) for b in beats]
        for a, b in zip(letters, letters[1:]):
            self.assertEqual(b, 97 + (a - 97 + 1) % 26)

    def test_unplugged_alone(self):
        code, out, _ = run("wwtrace", "export", "--what", "marks", self.path)
        self.assertEqual(code, 0)
        kinds = [(r["source"], r["kind"]) for r in csv.DictReader(io.StringIO(out))]
        self.assertEqual(kinds.count(("meter", "unplugged")), 1)
        self.assertEqual(kinds.count(("meter", "replugged")), 1)
        self.assertEqual([k for k in kinds if k[1] == "unplugged"], [("meter", "unplugged")])

    def test_raw_decoded_again(self):
        again, err = redecoded(self.path)
        self.assertEqual(err, "wwtrace redecode: %s: %d meters decoded again\n"
                         % (again, len(self.meters)))
        # Every record of every kind, its times and its values.
        for what in ("samples", "bytes", "marks", "gaps"):
            first = run("wwtrace", "export", "--what", what, self.path)[1]
            self.assertTrue(first)
            self.assertEqual(run("wwtrace", "export", "--what", what, again)[1], first)

    def test_one_decoded_again(self):
        again = os.path.join(self.dir.name, "one.wwt")
        self.assertEqual(run("wwtrace", "redecode", "--source", "meter2", self.path, "-o",
                             again)[0], 0)
        self.assertEqual(samples(again), self.got)

    def test_what_cannot_be(self):
        out = os.path.join(self.dir.name, "no.wwt")
        for source, why in (("port", "port is no meter"), ("nobody", "no source 'nobody'")):
            code, _, err = run("wwtrace", "redecode", "--source", source, self.path, "-o", out)
            self.assertEqual(code, 1)
            self.assertIn(why, err)
            self.assertFalse(os.path.exists(out))
        plain = os.path.join(self.dir.name, "plain.wwt")
        self.assertEqual(run("pwrlog", "record", "-m", "sim:?seed=1", "--for", "300ms", "-o",
                             plain)[0], 0)
        code, _, err = run("wwtrace", "redecode", plain, "-o", out)
        self.assertEqual(code, 1)
        self.assertIn("meter cannot be decoded again: this version has no driver 'sim'", err)


class Fresh(unittest.TestCase):
    def test_register_that_begins(self):
        """A meter asked while its registers of energy hold next to nothing; and too often."""
        with tempfile.TemporaryDirectory() as folder:
            e = Emulator("sdm230", "--pty", os.path.join(folder, "sdm"), "--volts", "230",
                         "--amps", "0.1")
            self.addCleanup(e.close)
            code, _, err = run("pwrlog", "record", "-m", "sdm230:%s?baud=9600" % e.place, "--raw",
                               "--every", "10ms", "--for", "900ms", "-o",
                               os.path.join(folder, "t.wwt"))
        self.assertEqual(code, 0, err)
        self.assertNotIn("floating", err)
        self.assertIn("warning: meter: asked for a reading every 0.01 s, but the meter is asked "
                      "every 0.2 s at most\n", err)
        self.assertRegex(err, r": \d+ samples?, \d{2,} raw bytes of meters, 0 gaps; ")


class Killed(Bench):
    def test_killed(self):
        path, p = self.record("killed.wwt")
        time.sleep(4)
        p.send_signal(signal.SIGKILL)
        p.communicate(timeout=20)
        first = samples(path)
        self.assertGreaterEqual({s for s, _ in first},
                                {self.name(i) for i in range(len(self.meters))})
        again = samples(redecoded(path)[0])
        for key, rows in first.items():
            # What came last may lie in the raw bytes and not yet in the samples.
            self.assertEqual(again[key][:len(rows)], rows)
            self.assertLessEqual(len(again[key]) - len(rows), 2 + len(rows) // 4)


class BlackHoles(Bench):
    """Who never answers holds nobody up."""

    def test_black_holes(self):
        hole = socket.socket()  # takes connections in its queue, and says nothing
        self.addCleanup(hole.close)
        hole.bind(("127.0.0.1", 0))
        hole.listen(16)
        port = hole.getsockname()[1]
        late = []
        for holes in ((), ("sdm230:tcp://127.0.0.1:%d" % port,
                           "tasmota:http://127.0.0.1:%d" % port,
                           "kasa:tcp://127.0.0.1:%d" % port)):
            path = os.path.join(self.dir.name, "hole%d.wwt" % len(holes))
            args = ["-m", "tty:" + self.beat.place]
            known = [m[2].split(":")[0] for m in self.meters]
            for uri in holes:
                if uri.split(":")[0] in known:
                    args += ["-m", uri]
            run("pwrlog", "record", *args, "--for", "4s", "-o", path)
            beats = [int(b["t_hi_ns"]) for b in heard(path, "port")]
            self.assertGreater(len(beats), 0.7 * 4 / BEAT_S)
            late.append(sorted(b - a for a, b in zip(beats, beats[1:])))
        alone, beside = (d[len(d) * 95 // 100] for d in late)
        # The beats' own thread is not exact: a loop that waits would add seconds.
        self.assertLess(beside, alone + 10e6)
        self.assertLess(late[1][-1], 400e6)


if __name__ == "__main__":
    main()
