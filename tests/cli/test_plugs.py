#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Smart plugs over the network: recorded beside each other, away and back, passwords kept."""
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)

from tap import main  # noqa: E402
from ww import BUILD, js, run, tool, wait_for  # noqa: E402


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


# In a network of its own: the only name server takes questions and answers none.
MUTE_SERVER = r"""
import fcntl, socket, struct, subprocess, sys, threading
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH14s", b"lo", 0x41, b""))
subprocess.run(["mount", "--bind", sys.argv[1], "/etc/resolv.conf"], check=True)
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
code = subprocess.run(sys.argv[2:]).returncode
server.setblocking(False)
print("asked" if server.recv(999) else "")
sys.exit(code)
"""


def left_out():
    """Drivers of plugs that this build lacks."""
    return [d["name"] for d in js("pwrlog", "list", "--json")["drivers"]
            if d["name"] in ("tasmota", "kasa") and not d["available"]]


@unittest.skipIf(left_out(), "built without libcurl or jansson")
class NameServer(unittest.TestCase):
    def test_mute_name_server(self):
        if subprocess.run(["unshare", "-rmn", "true"], capture_output=True,
                          check=False).returncode:
            self.skipTest("no namespaces here")
        with tempfile.TemporaryDirectory() as tmp:
            conf = os.path.join(tmp, "resolv.conf")
            with open(conf, "w", encoding="ascii") as f:
                f.write("nameserver 127.0.0.1\n")
            begun = time.monotonic()
            p = subprocess.run(["unshare", "-rmn", sys.executable, "-c", MUTE_SERVER, conf,
                                tool("pwrlog"), "record", "-o", os.path.join(tmp, "t.wwt"),
                                "--for", "4", "-m", "sim:?rate=50", "-m",
                                "tasmota:http://plug.example.net?timeout=1s", "-m",
                                "kasa:tcp://strip.example.net:9999"],
                               capture_output=True, text=True, timeout=60, check=False)
            took = time.monotonic() - begun
        self.assertIn("asked", p.stdout, p.stderr)
        # Neither at the start nor at the end does anybody wait for its answer.
        self.assertLess(took, 8)
        late = re.search(r"99 % under ([0-9.]+) ms, at most ([0-9.]+) ms", p.stderr)
        self.assertTrue(late, p.stderr)
        print("# name server: lateness 99 % under", late[1], "ms, at most", late[2], "ms")
        self.assertLess(float(late[1]), 100)


@unittest.skipIf(left_out(), "built without libcurl or jansson")
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
        # What its digits showed, also when it is decoded again.
        self.assertIn("power: power in W, average, resolution 0.001", info)
        again = os.path.join(self.tmp.name, "again.wwt")
        code, out, err = run("wwtrace", "redecode", self.trace, "-o", again)
        self.assertEqual(code, 0, out + err)

        def channels(text):
            return [x for x in text.splitlines() if x.startswith(("    channel", "    rows"))]
        self.assertEqual(channels(run("wwtrace", "info", again)[1]), channels(info))

    def test_never_there(self):
        """Nobody at an address: told, tried again, and no end for the other meters."""
        gone = ("wt310:tcp://127.0.0.1:1", "sdm230:tcp://127.0.0.1:1")
        args = ["record", "-o", self.trace, "--for", "2"]
        for uri in gone:
            args += ["-m", uri]
        code, out, err = run("pwrlog", *args, "-m", "sim:?watts=25&rate=10")
        self.assertEqual(code, 0, out + err)
        self.assertEqual(err.count("Connection refused"), 2, err)
        self.assertEqual(err.count("nothing came from it yet"), 2, err)
        self.assertEqual(self.rows()["meter3"], 20)
        dump = run("wwtrace", "dump", self.trace)[1]
        self.assertEqual(dump.count("mark unplugged"), 2, dump)
        self.assertNotIn("replugged", dump)
        os.remove(self.trace)
        code, out, err = run("pwrlog", *args)
        self.assertNotEqual(code, 0)
        self.assertIn("sdm230:tcp://127.0.0.1:1: no connection: Connection refused", err)
        self.assertIn("nothing came, so it was removed again", err)
        self.assertFalse(os.path.exists(self.trace))
        # Nobody waits a night for a word that is wrong.
        code, out, err = run("pwrlog", "record", "-o", self.trace, "--for", "60", "-m",
                             "tasmota:http://127.0.0.1:%d?password=no" % self.tasmota.port)
        self.assertNotEqual(code, 0)
        self.assertIn("it wants a login", err)

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
