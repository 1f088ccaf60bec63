#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""resumetime record left alone: what goes wrong in a campaign, and a bench that is killed."""
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import Case, Terminal, run, tool, wait_for  # noqa: E402

QUICK = ["--silence", "120ms", "--settle", "120ms", "--asleep", "120ms", "--suspend-timeout",
         "500ms", "--resume-timeout", "700ms", "--mode", "drain", "--no-realtime"]


class Dut(threading.Thread):
    """A machine behind a console server: a character every 5 ms, unless the file `asleep` is
    there; with a file `unplug` the server is gone for a while."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.over = folder, threading.Event()
        self.place = os.path.join(folder, "port")
        self.flag = os.path.join(folder, "asleep")
        self.unplug = os.path.join(folder, "unplug")
        self.peer = None
        self.listen()
        self.start()

    def listen(self):
        if os.path.exists(self.place):
            os.unlink(self.place)
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(self.place)
        self.server.listen(1)
        self.server.settimeout(0.005)

    def gone(self):
        if self.peer:
            self.peer.close()
        self.peer = None

    def run(self):
        while not self.over.wait(0.005):
            if os.path.exists(self.unplug):
                os.unlink(self.unplug)
                self.gone()
                self.server.close()
                time.sleep(0.5)
                self.listen()
            try:
                if not self.peer:
                    self.peer = self.server.accept()[0]
                if not os.path.exists(self.flag):
                    self.peer.send(b"a")
            except socket.timeout:
                pass
            except OSError:
                self.gone()

    def stop(self):
        self.over.set()
        self.join()
        self.gone()
        self.server.close()


class Campaigns(Case):
    def setUp(self):
        super().setUp()
        self.dut = Dut(self.dir)
        self.addCleanup(self.dut.stop)
        self.trace = self.path("t.wwt")
        self.suspend, self.wake = "touch " + self.dut.flag, "rm " + self.dut.flag

    def in_cycle(self, name, usual, **other):
        """A command that does something else in the cycles c1, c2 ..."""
        script, count = self.path(name), self.path(name + ".n")
        with open(script, "w") as f:
            f.write("n=$(($(cat %s 2>/dev/null || echo 0) + 1)); echo $n > %s\ncase c$n in\n" %
                    (count, count))
            for cycle, command in other.items():
                f.write("%s) %s ;;\n" % (cycle, command))
            f.write("*) %s ;;\nesac\n" % usual)
        return "sh " + script

    def command(self, *args, port=True):
        where = ["-p", "unix:" + self.dut.place] if port else []
        return ["resumetime", "record", *where, "-o", self.trace, *QUICK, *args]

    def marks(self, kind, trace=None):
        with sqlite3.connect("file:%s?mode=ro" % (trace or self.trace), uri=True) as db:
            return db.execute("SELECT text, lo, hi, cycle FROM mark WHERE kind = ? ORDER BY id",
                              (kind,)).fetchall()

    def ends(self):
        return [m[0] for m in self.marks("cycle-end")]

    def report(self):
        code, out, err = run("resumetime", "report", "--json", self.trace)
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def test_all_are_accounted_for(self):
        """One refused, one hung and reset, one with its adapter unplugged; it ends by itself."""
        suspend = self.in_cycle("suspend", self.suspend, c2="echo busy >&2; exit 16",
                                c4="touch %s %s" % (self.dut.flag, self.dut.unplug))
        wake = self.in_cycle("wake", self.wake, c2="true")
        code, out, err = run(*self.command("--cycles", "5", "--suspend", suspend, "--wake", wake,
                                           "--reset", self.wake, "--resume-timeout", "1300ms"))
        self.assertEqual(code, 0, err)
        self.assertEqual(self.ends(), ["ok", "no silence", "timeout", "unplugged", "ok"])
        self.assertEqual(len(self.marks("reset")), 1)
        self.assertEqual([len(self.marks(k)) for k in ("unplugged", "replugged")], [1, 1])
        results = [c["result"] for c in self.report()["cycles"]]
        self.assertEqual(results, ["ok", "refused", "hung", "unknown", "ok"])
        # Nothing was done while nobody could see the machine.
        back, = self.marks("replugged")
        wakes = self.marks("wake")
        self.assertEqual([w[3] for w in wakes], [1, 3, 4, 5])
        self.assertGreater(wakes[2][1], back[1])
        self.assertIn("5 cycles: 2 ok, 1 refused, 1 hung, 1 unknown", out)

    def test_it_goes_on_after_a_kill(self):
        args = self.command("--cycles", "3", "--suspend", self.suspend, "--wake",
                            self.in_cycle("wake", self.wake, c2="sleep 9"))
        with subprocess.Popen([tool(args[0]), *args[1:]], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
            wait_for(lambda: os.path.exists(self.path("wake.n")) and
                     open(self.path("wake.n")).read().strip() == "2")
            time.sleep(0.5)  # longer than a commit takes
            p.send_signal(signal.SIGKILL)
        self.assertTrue(os.path.exists(self.dut.flag))  # it sleeps on
        # The same command again touches nothing.
        code, _, err = run(*args)
        self.assertEqual(code, 1)
        self.assertIn("exists already", err)
        # As if the bench had been started anew meanwhile: the axis goes on by the wall clock.
        with sqlite3.connect(self.trace) as db:
            db.execute("UPDATE meta SET value = 'another' WHERE key = 'recorder.boot_id'")
        code, out, err = run("resumetime", "record", "--continue", self.trace)
        self.assertEqual(code, 0, err)
        self.assertIn("warning: after cycle 2: no heartbeat in ", err)
        self.assertIn(": the wake action is given, then waiting up to ", err)
        self.assertEqual(self.ends(), ["ok", "stopped: the recording was cut off", "ok", "ok"])
        self.assertEqual([m[3] for m in self.marks("wake")], [1, 2, 0, 3, 4])
        (text, lo, hi, _), = self.marks("continued")
        self.assertRegex(text, r"^the bench was started anew: times go on by its wall clock, "
                               r"[\d.]+ s after the last record, ")
        cycles = self.report()["cycles"]
        self.assertEqual([c["result"] for c in cycles], ["ok", "unknown", "ok", "ok"])
        self.assertEqual(cycles[1]["reason"], "the recording was cut off")
        self.assertEqual([m[3] for m in self.marks("request")], [1, 2, 3, 4])
        self.assertGreaterEqual(self.marks("request")[2][1], hi)
        self.assertLess(self.marks("wake")[1][1], lo + 1)
        with sqlite3.connect(self.trace) as db:
            gap = db.execute("SELECT lo, hi FROM gap WHERE reason = 'nothing was recorded'")
            (a, b), = gap.fetchall()
            self.assertLessEqual(b - hi, 0)
            first, last = db.execute("SELECT min(boot_ns), max(boot_ns) FROM clock").fetchone()
            self.assertTrue(first < a < b < last)
        self.assertIn("4 cycles: 3 ok, 1 unknown", out)
        # And once more: there is nothing left to be done.
        size = os.path.getsize(self.trace)
        code, _, err = run("resumetime", "record", "--continue", self.trace)
        self.assertEqual((code, err), (0, "resumetime record: %s: all 3 cycles are there; "
                                       "--cycles asks for more\n" % self.trace))
        self.assertEqual(os.path.getsize(self.trace), size)

    def test_a_silent_dut_is_woken_and_reset(self):
        with open(self.dut.flag, "w"):
            pass
        code, out, err = run(*self.command(
            "--cycles", "1", "--suspend", self.suspend, "--wake",
            self.in_cycle("wake", self.wake, c1="true"), "--reset", self.wake))
        self.assertEqual(code, 0, err)
        self.assertEqual(self.ends(), ["ok"])
        self.assertEqual([m[3] for m in self.marks("wake")], [0, 1])
        self.assertEqual([m[3] for m in self.marks("reset")], [0])
        self.assertRegex(err, r"warning: before the first cycle: no heartbeat in [\d.]+ s: the "
                              r"wake action is given, then waiting up to 0.7 s, then it is reset\n")
        self.assertRegex(err, r"warning: before the first cycle: no heartbeat in [\d.]+ s, also "
                              r"not after the wake action: the reset action is given\n")
        self.assertIn("1 cycle: 1 ok", out)

    def test_a_trace_that_is_removed(self):
        code, _, err = run(*self.command("--cycles", "9", "--suspend", "%s; rm %s" %
                                         (self.suspend, self.trace), "--wake", self.wake))
        self.assertEqual(code, 1)
        self.assertIn("%s is gone: somebody removed or moved it" % self.trace, err)

    def test_drawn_sleeps_and_warm_ups(self):
        t = Terminal(*self.command("--cycles", "2", "--warmup", "1", "--suspend", self.suspend,
                                   "--wake", self.wake, "--asleep", "50ms..250ms", "--seed", "7"),
                     columns=200)
        self.addCleanup(t.kill)
        self.assertEqual(t.end(), 0, t.text)
        # A function of the seed and the cycle: the same on every machine.
        self.assertEqual([m[0] for m in self.marks("asleep")], ["68 ms", "197 ms", "236 ms"])
        self.assertEqual([m[3] for m in self.marks("warmup")], [1])
        with sqlite3.connect(self.trace) as db:
            self.assertEqual(db.execute("SELECT value FROM meta WHERE key = 'campaign.seed'")
                             .fetchall(), [("7",)])
        d = self.report()
        self.assertEqual([c.get("warmup") for c in d["cycles"]], [True, None, None])
        self.assertIn("2 cycles: 2 ok; not ok 0.0 % (95 %: 0.0–84.2 %); 1 warm-up before, in no "
                      "figure", t.text)
        self.assertEqual(d["summary"]["resume_to_user_ms"]["n"], 2)
        self.assertRegex(t.text, r"cycle 3 of 3: \w+, ok [01], median [\d.]+ ms.*left")

    def test_until_a_failure(self):
        code, _, err = run(*self.command("--until-failure", "--suspend", self.in_cycle(
            "suspend", self.suspend, c3="exit 1"), "--wake", self.wake))
        self.assertEqual(code, 0, err)
        self.assertEqual(self.ends(), ["ok", "ok", "no silence"])
        self.assertIn("resumetime record: cycle 3 failed\n", err)
        self.assertEqual([m[0] for m in self.marks("campaign-end")],
                         ["3 cycles run: cycle 3 failed"])

    def control(self, alive, *more, silence):
        args = self.command("--control", "--alive", alive, *more, port=False)
        args[args.index("--silence") + 1] = silence
        code, out, err = run(*args)
        self.assertEqual(code, 0, err)
        self.assertIn("note: a control without a heartbeat: that it lives was seen by '%s'" %
                      alive, out.replace("\n  ", " "))
        d = self.report()
        for c in d["cycles"]:
            self.assertEqual(c["result"], "ok", c)
            self.assertLessEqual({"request", "wake", "alive"}, set(c["events_s"]))
            self.assertNotIn("resume_to_user", c["latency_ms"])
        return d

    def test_control_by_a_command(self):
        """Without a heartbeat: the same marks, by what shows that it lives."""
        alive = "test ! -e " + self.dut.flag
        d = self.control(alive, "--cycles", "2", "--suspend", self.suspend, "--wake", self.wake,
                         "-m", "sim:?watts=5", silence="450ms")
        self.assertEqual(self.ends(), ["ok", "ok"])
        self.assertEqual(len(self.marks("silent")), 2)
        for wake, back in zip(self.marks("wake"), self.marks("alive")):
            self.assertEqual(back[0], alive)
            self.assertTrue(wake[1] <= back[2] and back[2] - back[1] < 1e9)
        self.assertEqual(d["summary"]["resume_to_alive_ms"]["n"], 2)

    def test_control_by_power(self):
        power = self.path("power")
        with open(power, "w") as f:
            f.write("on")
        d = self.control("meter>8W", "--cycles", "1", "--suspend", "echo off > " + power,
                         "--wake", "sleep 0.1; echo on > " + power, "-m",
                         "sim:?follow=%s&on=25&off=0.5&rate=100" % power, "--settle", "1300ms",
                         "--asleep", "600ms", silence="200ms")
        c, = d["cycles"]
        # A tenth of a second passed until it was woken; its power was back at once.
        for name in ("resume_to_alive", "resume_to_settled"):
            lo, hi = c["latency_ms"][name]
            self.assertTrue(lo <= 105 and 95 <= hi <= 200, (name, lo, hi))
        self.assertIn("off", c["events_s"])
        self.assertAlmostEqual(c["asleep_W"]["value"], 0.5, delta=0.05)

    def test_wrong_use(self):
        port = ["-p", "/dev/x"]
        cycles = ["--cycles", "2", "--suspend", "true"]
        for args, says in (
                ([*cycles, "--control"], "--control needs --alive SIGN"),
                ([*cycles, "--control", "--alive", "true", *port],
                 "--control is without the heartbeat"),
                ([*cycles, *port, "--alive", "true"], "--alive stands for a heartbeat"),
                (["--control", "--alive", "true"], "--control needs --cycles N"),
                ([*cycles, *port, "--asleep", "9s..2s"], "the shortest sleep first"),
                ([*cycles, *port, "--warmup", "x"], "--warmup: a whole number from 1 to 1000"),
                (["--continue", "x.wwt", "-o", "y.wwt"], "goes without -o")):
            with self.subTest(args=args):
                code, out, err = run("resumetime", "record", *args)
                self.assertEqual((code, out), (2, ""), err)
                self.assertIn(says, err)
        code, _, err = run("resumetime", "record", "--continue", self.path("nix.wwt"))
        self.assertEqual(code, 1)
        self.assertIn("No such file", err)


if __name__ == "__main__":
    main()
