#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A bench that suspends and wakes a machine by its GPIO lines, in two virtual machines.

The bench has a chip of gpio-sim. What its lines are wired to is a program there
(gpio_wire), which tells each change to a hand out here: that puts the machine under test
to sleep, and wakes it by its management socket. The button's line is wired to a second
one, which the bench records beside the heartbeat.
"""
import json
import os
import re
import select
import socket
import statistics
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import guest  # noqa: E402
import image  # noqa: E402
import lab  # noqa: E402
from tap import main  # noqa: E402

MS = 10**6
CONFIG = "/sys/kernel/config/gpio-sim/lab"
NAMES = ("PWRBTN", "PWRBTN_SEEN", "SLPBTN")
CYCLES = 2


class Hand(threading.Thread):
    """Presses what the bench's lines are wired to, and knows when it did."""

    def __init__(self, dut, path):
        super().__init__(daemon=True)
        self.dut, self.presses, self.clocks = dut, [], []
        self.sock = lab.connect(path, 10)
        self.qmp = lab.Lines(dut.path("qmp.sock"))
        self.qmp.send('{"execute":"qmp_capabilities"}\n')
        self.over = threading.Event()
        self.start()

    def run(self):
        rest = b""
        while not self.over.is_set():
            if not select.select([self.sock], [], [], 0.05)[0]:
                continue
            got = self.sock.recv(4096)
            at = lab.boot_ns()
            if not got:
                return
            *lines, rest = (rest + got).split(b"\n")
            for line in lines:
                self.take(line.decode().split(), at)

    def take(self, words, at):
        if words[0] == "T":
            self.clocks.append((at, int(words[1])))
            return
        self.presses.append((words[0], int(words[1]), at))
        if words == ["PWRBTN", "0"]:
            self.qmp.send('{"execute":"system_wakeup"}\n')
        elif words == ["SLPBTN", "0"]:
            # As a machine's own daemon takes its sleep button.
            threading.Thread(target=self.dut.suspend, daemon=True).start()

    def offset(self):
        """Bench's clock less ours, as an interval: the narrowest of a few exchanges."""
        best = None
        for _ in range(60):
            n, before = len(self.clocks), lab.boot_ns()
            self.sock.sendall(b"T")
            end = time.monotonic() + 2
            while len(self.clocks) == n and time.monotonic() < end:
                time.sleep(0.0005)
            if len(self.clocks) == n:
                continue
            after, theirs = self.clocks[-1]
            found = (theirs - after, theirs - before)
            if best is None or found[1] - found[0] < best[1] - best[0]:
                best = found
        return best

    def stop(self):
        self.over.set()
        self.join()
        self.sock.close()
        self.qmp.close()


def exported(trace, what, *more):
    out = subprocess.run([os.path.join(lab.BUILD, "bin", "wwtrace"), "export", trace, "--what",
                          what, "--format", "jsonl", *more], capture_output=True, text=True,
                         check=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


class GpioWake(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = os.path.join(lab.OUT, "gpio-wake")
        wire = os.path.join(lab.OUT, "gpio-wake.sock")
        tool = image.compile_c("gpio_wire.c", os.path.join(lab.OUT, "gpio_wire"), "-static")
        cls.dut = dut = lab.Dut(folder + "-dut")
        cls.m = m = guest.Guest(folder, ("configfs", guest.gpio_sim_module()),
                                {"gpio_wire": tool})
        cls.addClassCleanup(dut.stop)
        cls.addClassCleanup(m.stop)
        dut.start(listen=wire)
        m.start(serials=(f"path={wire}", f"path={m.path('hand.sock')},server=on,wait=off"))
        lines = "".join(f"mkdir -p {CONFIG}/bank/line{i}; echo {n} > {CONFIG}/bank/line{i}/name; "
                        for i, n in enumerate(NAMES))
        m.check(f"mount -t configfs configfs /sys/kernel/config; mkdir -p {CONFIG}/bank; {lines}"
                f"echo 4 > {CONFIG}/bank/num_lines; echo bench > {CONFIG}/bank/label; "
                f"echo 1 > {CONFIG}/live")
        cls.sim = m.check("echo /sys/devices/platform/gpio-sim.0/gpiochip*") + "/sim_gpio%d/%s"
        m.check("".join(f"echo pull-up > {cls.sim % (i, 'pull')}; " for i in range(len(NAMES)))
                + "sleep 0.1")
        m.check(f"gpio_wire /dev/ttyS2 /tmp/wire.log PWRBTN={cls.sim % (0, 'value')}:"
                f"{cls.sim % (1, 'pull')} SLPBTN={cls.sim % (2, 'value')} < /dev/null "
                "> /tmp/wire.err 2>&1 & sleep 0.2; pidof gpio_wire || cat /tmp/wire.err")
        cls.hand = Hand(dut, m.path("hand.sock"))
        cls.addClassCleanup(cls.hand.stop)
        cls.before = cls.hand.offset()
        cls.campaign()
        cls.after = cls.hand.offset()
        cls.kill()
        dut.stop()

    @classmethod
    def command(cls, wake, cycles):
        return ("resumetime record -p /dev/ttyS1 -g 'gpio:bench/PWRBTN_SEEN?role=wake' "
                f"--suspend gpio:bench/SLPBTN=low,50ms --wake 'gpio:bench/PWRBTN={wake}' "
                f"--cycles {cycles} --asleep 700ms --silence 500ms --settle 1500ms "
                "--no-realtime")

    @classmethod
    def campaign(cls):
        cls.m.record("wake", cls.command("low,100ms", CYCLES))
        cls.m.wait_for("[ ! -d /proc/$(cat /tmp/wake.pid) ]", "end of the cycles", 60)
        cls.trace, cls.said = cls.m.end("wake")
        cls.report = json.loads(cls.m.check("resumetime report --json /tmp/wake.wwt", 30))

    @classmethod
    def kill(cls):
        """The recorder dies in the middle of a press, and so does one press by hand."""
        cls.killed = []
        cls.m.record("killed", cls.command("low,2.5s", 1))
        cls.kill_one("killed")
        for i in range(3):
            cls.m.check("resumetime act gpio:bench/PWRBTN=low,20s,hold < /dev/null "
                        f"> /tmp/hand{i}.out 2>&1 & echo $! > /tmp/hand{i}.pid")
            cls.kill_one(f"hand{i}")
        time.sleep(0.1)
        with open(cls.m.fetch("/tmp/wire.log")) as f:
            cls.log = [(n, int(a), int(b), int(v)) for n, a, b, v in map(str.split, f)]

    @classmethod
    def kill_one(cls, name):
        cls.m.wait_for(f"grep -q 0 {cls.sim % (0, 'value')}", "press", 60)
        cls.killed.append(int(cls.m.check(f"gpio_wire kill $(cat /tmp/{name}.pid)")))
        cls.m.wait_for(f"grep -q 1 {cls.sim % (0, 'value')}", "line to be put back", 5)

    def of(self, name):
        return [e[1:] for e in self.log if e[0] == name]

    def marks(self, kind):
        return [m for m in exported(self.trace, "marks") if m["kind"] == kind]

    def test_every_cycle_was_by_the_lines(self):
        self.assertEqual([c["result"] for c in self.report["cycles"]], ["ok"] * CYCLES,
                         self.said)
        self.assertEqual(len([p for p in self.hand.presses if p[:2] == ("SLPBTN", 0)]), CYCLES + 1)
        # As long as the wire's own log has it; a busy machine may make it too long, and says so.
        log = self.of("PWRBTN")
        falls = [i for i, e in enumerate(log) if e[2] == 0][:CYCLES]
        for m, i in zip(self.marks("wake-end"), falls):
            said = re.match(r"(too long: )?pulse of (\d+\.\d) ms", m["text"])
            self.assertTrue(said, m["text"])
            ms = float(said[2])
            self.assertGreaterEqual(ms, 100)
            self.assertEqual(bool(said[1]), ms > 155, m["text"])
            self.assertGreater(ms, (log[i + 1][0] - log[i][1]) / MS - 50)
            self.assertLess(ms, (log[i + 1][1] - log[i][0]) / MS + 50)

    def test_marks_hold_the_moments_the_lines_moved(self):
        for name, kind in (("SLPBTN", "request"), ("PWRBTN", "wake")):
            falls = [e for e in self.of(name) if e[2] == 0][:CYCLES]
            marks = self.marks(kind)
            self.assertEqual(len(marks), CYCLES)
            for (before, after, _), m in zip(falls, marks):
                self.assertLessEqual(m["t_lo_ns"], after)
                self.assertGreaterEqual(m["t_hi_ns"], before)
            self.assertLess(min(m["t_hi_ns"] - m["t_lo_ns"] for m in marks), 50 * MS)

    def test_edges_of_the_kernel_on_the_same_axis(self):
        pulls = self.of("PWRBTN.pull")[:2 * CYCLES]
        edges = exported(self.trace, "events")
        self.assertEqual([e["level"] for e in edges], [0, 1] * CYCLES)
        for (before, after, _), e in zip(pulls, edges):
            self.assertLessEqual(e["t_lo_ns"], after)
            self.assertGreaterEqual(e["t_hi_ns"], before)
        print("# edges are as wide as "
              f"{statistics.median(e['t_hi_ns'] - e['t_lo_ns'] for e in edges) / 1e3:.1f} us")

    def test_the_heartbeat_on_the_same_axis(self):
        """First bytes after each wake against the wire's own log, by the clocks' offset."""
        lo, hi = min(self.before[0], self.after[0]), max(self.before[1], self.after[1])
        print(f"# offset of the two clocks known to {(hi - lo) / 1e6:.2f} ms")
        got = exported(self.trace, "bytes", "--source", "port")
        wire = [b for b in self.dut.wire_bytes() if b.fate == lab.TO_BENCH]
        late = []
        for c in self.report["cycles"]:
            wake = [m["t_lo_ns"] for m in self.marks("wake")][c["n"] - 1]
            first = next(b for b in got if b["t_hi_ns"] > wake)
            sent = next(b for b in wire if b.before_ns + hi > wake)
            self.assertEqual(int(first["hex"], 16), sent.value)
            # Not before it left; and found soon after, as soon as QEMU hands it over.
            self.assertGreaterEqual(first["t_hi_ns"], sent.before_ns + lo)
            self.assertLessEqual(first["t_lo_ns"], sent.after_ns + hi + 250 * MS)
            late.append(first["t_hi_ns"] - sent.before_ns - (lo + hi) / 2)
        print(f"# first bytes end {', '.join(f'{v / 1e6:.1f}' for v in late)} ms after they left")

    def test_the_wake_lies_between_the_edge_and_the_first_byte(self):
        lo, hi = min(self.before[0], self.after[0]), max(self.before[1], self.after[1])
        wakeups = [e.ns for e in self.dut.events("WAKEUP")][:CYCLES]
        edges = [e for e in exported(self.trace, "events") if e["level"] == 0]
        for w, e, c in zip(wakeups, edges, self.report["cycles"]):
            self.assertLess(e["t_lo_ns"], w + hi)
            resume = c["latency_ms"]["resume_to_user"]
            self.assertGreater(resume[1], 0)
            took = (w + (lo + hi) / 2 - e["t_lo_ns"]) / 1e6
            print(f"# cycle {c['n']}: the machine woke {took:.1f} ms after the edge; "
                  f"resume_to_user {resume[0]:.1f} to {resume[1]:.1f} ms")

    def test_killed_in_mid_press(self):
        rises = [e[1] for e in self.of("PWRBTN") if e[2] == 1][CYCLES:]
        self.assertEqual(len(rises), len(self.killed))
        took = [after - at for after, at in zip(rises, self.killed)]
        print(f"# put back {', '.join(f'{t / 1e6:.1f}' for t in took)} ms after the kill")
        # Long before the press was over; and at once, where the machine has time to run it.
        self.assertGreater(min(took), 0)
        self.assertLess(max(took), 1000 * MS)
        self.assertLess(min(took), 100 * MS)


main()
