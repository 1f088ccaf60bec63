#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""resumetime loopback over a pseudo-terminal with a wire behind it."""
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import tty

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import Case, run, tool  # noqa: E402


class Wire:
    """What is sent comes back, as `through` makes it."""

    def __init__(self, through=lambda data: data):
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.name = os.ttyname(self.slave)
        self.through = through
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        try:
            while True:
                out = self.through(os.read(self.master, 4096))
                if out:
                    os.write(self.master, out)
        except OSError:
            pass


class Loopback(Case):
    def test_no_serial_port(self):
        for uri, name in (("sim:?watts=3", "sim"), ("sdm120:/dev/x", "sdm120")):
            code, out, err = run("resumetime", "loopback", "-p", uri)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(f"{uri}: {name} is no serial port: name one, such as /dev/ttyUSB0\n",
                          err)

    def test_wire(self):
        code, out, err = run("resumetime", "loopback", "-p", Wire().name, "--bytes", "40")
        self.assertEqual(code, 0, err)
        self.assertIn("40 bytes sent, 40 came back, 0 of them wrong", out)
        self.assertRegex(out, r"median +[0-9.]+ ms")
        self.assertIn("no line with a pace", " ".join(out.split()))
        self.assertIn("not stored", err)

    def test_json(self):
        code, out, err = run("resumetime", "loopback", "-p", Wire().name, "--bytes", "20", "--json",
                             "--echo")
        self.assertEqual((code, err), (0, ""))
        r = json.loads(out)
        self.assertEqual(r["schema"], "wakewatt/loopback/1")
        self.assertEqual((r["sent"], r["back"], r["wrong"]), (20, 20, 0))
        d = r["delay_s"]
        self.assertTrue(0 <= d["min"] <= d["median"] <= d["p99"] <= d["max"] < 1)
        self.assertIsNone(r["baud"]["value"])
        self.assertTrue(any("echo" in n for n in r["notes"]))

    def test_no_wire(self):
        code, out, err = run("resumetime", "loopback", "-p", Wire(lambda data: b"").name)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("connect TX with RX", err)

    def test_interrupted(self):
        came = threading.Event()

        def through(data):
            came.set()
            return data
        p = subprocess.Popen([tool("resumetime"), "loopback", "-p", Wire(through).name,
                              "--bytes", "100000"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        self.assertTrue(came.wait(20))
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=20)
        self.assertEqual((p.returncode, out, err),
                         (1, b"", b"resumetime loopback: interrupted\n"))

    def test_wrong_use(self):
        for args, says in (([], "-p PORT"), (["-p", "x", "--bytes", "0"], "1 to 100000"),
                           (["-p", "x", "y"], "one word too many")):
            code, _, err = run("resumetime", "loopback", *args)
            self.assertEqual(code, 2)
            self.assertIn(says, err)
        code, _, err = run("resumetime", "loopback", "-p", "/dev/no-such-port")
        self.assertEqual(code, 1)
        self.assertIn("/dev/no-such-port", err)


main()
