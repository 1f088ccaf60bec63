#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pwrlog and an emulated Watts up? on a pseudo-terminal: killed, unplugged, mute, relayed."""
import csv
import io
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("WW_BUILD", os.path.join(ROOT, "build")))
sys.path.insert(0, os.path.dirname(HERE))

from tap import main  # noqa: E402


def until(holds, what, seconds=30.0):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError("waited in vain: " + what)
        time.sleep(0.02)


class Emulator:
    """The meter; told() is what it heard and answered."""

    def __init__(self, link, *args):
        self.link = link
        self.lines = []
        self.p = subprocess.Popen([os.path.join(BUILD, "tests", "emu", "wattsup_emu"), "--link",
                                   link, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True, bufsize=1)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        until(lambda: "ready" in self.lines, "emulator")

    def _read(self):
        for line in self.p.stdout:
            self.lines.append(line.strip())

    def order(self, text):
        self.p.stdin.write(text + "\n")
        self.p.stdin.flush()

    def heard(self):
        return [x[4:] for x in self.lines if x.startswith("got ")]

    def close(self):
        self.p.stdin.close()
        self.p.wait(10)
        self.reader.join(10)
        self.p.stdout.close()


class Wattsup(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.dir = tmp.name
        self.trace = os.path.join(self.dir, "t.wwt")

    def meter(self, *args):
        m = Emulator(os.path.join(self.dir, "meter"), *args)
        self.addCleanup(m.close)
        return m

    def record(self, uri, *args, trace=None):
        p = subprocess.Popen([os.path.join(BUILD, "bin", "pwrlog"), "record", "-m", uri, "-o",
                              trace or self.trace, *args], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        self.addCleanup(lambda: p.poll() is None and p.kill())
        return p

    def export(self, what, trace=None):
        out = subprocess.run([os.path.join(BUILD, "bin", "wwtrace"), "export", trace or self.trace,
                              "--what", what], capture_output=True, text=True, check=True,
                             timeout=30).stdout
        return list(csv.DictReader(io.StringIO(out)))

    def watts(self, trace=None):
        return [float(r["value"]) for r in self.export("samples", trace)
                if r["channel"].endswith("power") and r["unit"] == "W"]

    def end(self, p, how=signal.SIGINT):
        p.send_signal(how)
        out, err = p.communicate(timeout=20)
        return p.returncode, out, err

    def test_a_killed_program_leaves_it_streaming(self):
        m = self.meter("--watts", "42")
        p = self.record("wattsup:" + m.link)
        until(lambda: "#L,W,3,E,0,1;" in m.heard(), "stream")
        time.sleep(1.2)
        p.kill()
        p.wait(10)
        self.assertNotEqual(m.heard()[-1], "#L,R,0;")
        again = os.path.join(self.dir, "again.wwt")
        p = self.record("wattsup:" + m.link, "--for", "4s", trace=again)
        _, err = p.communicate(timeout=30)
        self.assertEqual(p.returncode, 0, err)
        self.assertEqual(m.heard()[4:], ["^X", "#L,R,0;", "#V,R,0;", "#L,W,3,E,0,1;", "#L,R,0;"])
        w = self.watts(again)
        self.assertGreaterEqual(len(w), 2)
        self.assertTrue(all(41.89 < x < 42.11 for x in w), w)

    def test_unplug_and_replug(self):
        m = self.meter()
        p = self.record("wattsup:" + m.link)
        until(lambda: "#L,W,3,E,0,1;" in m.heard(), "stream")
        time.sleep(2.5)
        m.order("unplug")
        time.sleep(1.5)
        m.order("watts 60")
        m.order("replug")
        until(lambda: m.heard().count("#L,W,3,E,0,1;") == 2, "stream again")
        time.sleep(2.5)
        code, _, err = self.end(p)
        self.assertEqual(code, 0, err)
        self.assertEqual(m.heard()[-1], "#L,R,0;")
        w = self.watts()
        self.assertTrue(24.8 < w[0] < 25.2 and 59.8 < w[-1] < 60.2, w)
        gaps = [g for g in self.export("gaps") if g["reason"] == "unplugged"]
        self.assertEqual(len(gaps), 1)
        self.assertGreater(int(gaps[0]["t_hi_ns"]) - int(gaps[0]["t_lo_ns"]), 1_500_000_000)
        kinds = [k["kind"] for k in self.export("marks")]
        self.assertEqual([k for k in kinds if "plug" in k], ["unplugged", "replugged"])

    def test_mute(self):
        m = self.meter("--deaf")
        p = self.record("wattsup:" + m.link, "--for", "3s")
        _, err = p.communicate(timeout=30)
        self.assertIn(f"wattsup:{m.link}: no reply to the version request in 2 s", err)
        self.assertIn("?baud=19200", err)

    def test_by_a_socket(self):
        m = self.meter("--watts", "7")
        path = os.path.join(self.dir, "sock")
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind(path)
        server.listen(1)
        p = self.record("wattsup:unix:" + path, "--for", "4s")
        conn = server.accept()[0]
        tty = os.open(m.link, os.O_RDWR | os.O_NOCTTY)
        end = time.monotonic() + 30
        while p.poll() is None and time.monotonic() < end:
            for f in select.select([conn, tty], [], [], 0.1)[0]:
                data = conn.recv(4096) if f is conn else os.read(tty, 4096)
                if data and f is conn:
                    os.write(tty, data)
                elif data:
                    conn.send(data)
        conn.close()
        os.close(tty)
        self.assertEqual(p.returncode, 0, p.stderr.read())
        w = self.watts()
        self.assertGreaterEqual(len(w), 2)
        self.assertTrue(all(6.89 < x < 7.11 for x in w), w)


if __name__ == "__main__":
    main()
