#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Smart plugs over the network: recorded beside each other, away and back, passwords kept."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)

from tap import main  # noqa: E402
from ww import BUILD, run, tool, wait_for  # noqa: E402


class Plug:
    """A model of one, behind a socket."""

    def __init__(self, model, wire, *args):
        self.p = subprocess.Popen([os.path.join(BUILD, "tests", "emu", "wwemu"), model, wire, "0",
                                   *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True, bufsize=1)
        self.port = int(self.p.stdout.readline().split()[1])
        assert self.p.stdout.readline() == "ready\n"

    def order(self, text):
        self.p.stdin.write(text + "\n")
        assert self.p.stdout.readline() == "ok\n", text

    def close(self):
        self.p.kill()
        self.p.communicate()


class Plugs(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.trace = os.path.join(self.tmp.name, "plugs.wwt")
        load = ("--volts", "230", "--amps", "0.2", "--amps-per-s", "0.00002")
        self.tasmota = Plug("tasmota", "--http", "--fault", "password+fine", *load)
        self.kasa = Plug("kasa", "--tcp", "--fault", "close", *load)

    def tearDown(self):
        self.tasmota.close()
        self.kasa.close()
        self.tmp.cleanup()

    def rows(self):
        """Lines that the dump has of each source."""
        out = run("wwtrace", "info", self.trace)[1]
        found, name = {}, ""
        for line in out.splitlines():
            if line.startswith("  ") and line[2] != " " and line.endswith("(meter)"):
                name = line.split()[0]
            if line.startswith("    rows"):
                found[name] = int(line.split()[1])
        return found

    def test_away_and_back(self):
        p = subprocess.Popen([tool("pwrlog"), "record", "-o", self.trace, "--raw", "-m",
                              "tasmota:http://localhost:%d?password=secret&timeout=500ms"
                              % self.tasmota.port, "-m",
                              "kasa:tcp://localhost:%d" % self.kasa.port],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        try:
            wait_for(lambda: os.path.exists(self.trace) and self.rows().get("meter", 0) >= 3 and
                     self.rows().get("meter2", 0) >= 2)
            self.tasmota.order("unplug")
            wait_for(lambda: "silent" in run("wwtrace", "dump", self.trace)[1])
            before = self.rows()
            self.tasmota.order("replug")
            wait_for(lambda: self.rows()["meter"] > before["meter"] and
                     self.rows()["meter2"] > before["meter2"])
        finally:
            p.send_signal(2)
            out, err = p.communicate(timeout=20)
        self.assertEqual(p.returncode, 0, err)
        with open(self.trace, "rb") as f:
            self.assertNotIn(b"secret", f.read())
        self.assertNotIn("secret", out + err)
        info = run("wwtrace", "info", self.trace)[1]
        self.assertIn("password=***", info)
        self.assertIn("HS110(EU)", info)
        self.assertNotIn("disconnected", info)

    def test_sentences(self):
        """What is wrong is said with the way out, without the password."""
        for uri, says in (
                ("tasmota:http://127.0.0.1:%d?password=wrongword" % self.tasmota.port,
                 "it wants a login"),
                ("tasmota:http://me:wrongword@127.0.0.1", "?user=NAME&password=WORD")):
            code, out, err = run("pwrlog", "record", "-o", self.trace, "--for", "2", "-m", uri)
            if os.path.exists(self.trace):
                os.remove(self.trace)
            self.assertIn(says, out + err)
            self.assertNotIn("wrongword", out + err)
            self.assertNotEqual(code, 0)


if __name__ == "__main__":
    main()
