#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real suspend-to-RAM of a virtual machine, recorded by the real programs.

What the reports state is compared with what they never saw: QEMU's trace of the
guest's UART, the wire's log, the SUSPEND and WAKEUP events.
"""
import json
import os
import shlex
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.dirname(HERE))
import lab  # noqa: E402

MS = 10**6
METER = "sim:?follow={}&on=24.9&off=0.8&rate=20&noise=0.1&resolution=0.1"


def program(name):
    return os.path.join(lab.BUILD, "bin", name)


class Recording:
    """One run of `resumetime record` and what `resumetime report` says of it."""

    def __init__(self, dut, name, *args, cycles=1, suspend="suspend", wake=None, meter=False,
                 mode=None):
        self.path = os.path.join(os.path.dirname(dut.folder), name + ".wwt")
        for end in ("", "-wal", "-shm"):
            if os.path.exists(self.path + end):
                os.unlink(self.path + end)
        command = [program("resumetime"), "record", "-p", dut.wire, "--cycles", str(cycles),
                   "--suspend", dut.suspend_command(suspend), "--silence", "500ms", "--settle",
                   "3s", "--asleep", "1s", "-o", self.path, *args]
        if wake:
            command += ["--wake", wake]
        if meter:
            command += ["-m", METER.format(dut.path("state"))]
        self.done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        self.command = " ".join(shlex.quote(c) for c in command)
        report = [program("resumetime"), "report", "--json", self.path]
        if mode:
            report += ["--mode", mode]
        p = subprocess.run(report, capture_output=True, text=True, timeout=60)
        if p.returncode:
            raise AssertionError(f"{self.command}\n{self.done.stderr}\n{p.stderr}")
        self.report = json.loads(p.stdout)
        self.text = p.stdout
        self.cycles = self.report["cycles"]
        marks = subprocess.run([program("wwtrace"), "export", "--what", "marks", "--format",
                                "jsonl", self.path], capture_output=True, text=True, check=True)
        self.marks = [json.loads(line) for line in marks.stdout.splitlines()]
        # Times of a report count from the trace's first record: shift them to the axis
        # by the first request, which both have.
        request = next(m["t_lo_ns"] for m in self.marks if m["kind"] == "request")
        self.zero = request - round(self.cycles[0]["events_s"]["request"][0] * 1e9)

    def event(self, cycle, name):
        """Interval of an event on CLOCK_BOOTTIME, ns; None if it was not observed."""
        i = cycle["events_s"].get(name)
        if i is None:
            return None
        return tuple(None if v is None else round(v * 1e9) + self.zero for v in i)


class Truth:
    """What really happened, from the DUT's logs; the DUT must have been stopped."""

    def __init__(self, dut):
        self.events = dut.events()
        self.wire = [b for b in dut.wire_bytes() if b.fate != lab.TO_DUT]
        self.uart = dut.uart_bytes()
        if len(self.uart) != len(self.wire):
            raise AssertionError(f"{len(self.uart)} bytes of the UART's trace match the wire's "
                                 f"{len(self.wire)}")

    def sleeps(self, lo, hi):
        """(SUSPEND, WAKEUP) pairs between two times; WAKEUP None if it never came."""
        out = []
        for e in self.events:
            if e.name == "SUSPEND" and lo <= e.ns <= hi:
                out.append([e.ns, None])
            elif e.name == "WAKEUP" and out and out[-1][1] is None:
                out[-1][1] = e.ns
        return out

    def around(self, suspend, wakeup):
        """Passages [UART, wire's end] of the last byte before and the first after a sleep.

        The last may still be in the UART's FIFO when the machine falls asleep.
        """
        last = max(i for i, u in enumerate(self.uart) if u[0] < suspend)
        first = next((i for i, u in enumerate(self.uart) if wakeup and u[0] > wakeup), None)
        if first not in (None, last + 1):
            raise AssertionError("a UART that was written to while it slept")
        return [(self.uart[i][0], self.wire[i].after_ns) if i is not None else None
                for i in (last, first)]

    def arrivals(self, suspend, wakeup):
        """When the same two bytes came out of the wire: [before, after] of that write."""
        last = max(i for i, u in enumerate(self.uart) if u[0] < suspend)
        return [(self.wire[i].before_ns, self.wire[i].after_ns) for i in (last, last + 1)]


def holds(interval, lo, hi):
    """Does a stated interval touch the true one?"""
    return interval[0] <= hi and lo <= interval[1]


class Dut(unittest.TestCase):
    """A DUT for all tests of a class; what is recorded is recorded first."""
    late = False

    @classmethod
    def setUpClass(cls):
        cls.dut = lab.Dut(os.path.join(lab.OUT, "test-" + cls.__name__))
        try:
            cls.dut.start(late_thaw=cls.late, beat=None)
            cls.record()
        finally:
            cls.dut.stop()
        cls.truth = Truth(cls.dut)

    @classmethod
    def record(cls):
        raise NotImplementedError

    def check_cycle(self, r, c, sleep):
        suspend, wakeup = sleep
        last, first = self.truth.around(suspend, wakeup)
        stated_last, stated_first = r.event(c, "last_beat"), r.event(c, "first_beat")
        self.assertEqual(c["result"], "ok", c["reason"])
        self.assertTrue(holds(stated_last, *last), f"last byte {last}, stated {stated_last}")
        self.assertTrue(holds(stated_first, *first), f"first byte {first}, stated {stated_first}")
        # What the bench states is the arrival at its end of the wire.
        for stated, arrival in zip((stated_last, stated_first),
                                   self.truth.arrivals(suspend, wakeup)):
            self.assertTrue(holds(stated, *arrival), f"arrival {arrival}, stated {stated}")
        print(f"# cycle {c['n']} of {os.path.basename(r.path)}: last byte stated "
              f"+-{(stated_last[1] - stated_last[0]) / 2e6:.3f} ms, first "
              f"+-{(stated_first[1] - stated_first[0]) / 2e6:.3f} ms; UART to wire's end "
              f"{(last[1] - last[0]) / 1e6:.3f} and {(first[1] - first[0]) / 1e6:.3f} ms; "
              f"SUSPEND {(suspend - last[1]) / 1e6:.1f} ms after the last byte, WAKEUP "
              f"{(first[0] - wakeup) / 1e6:.1f} ms before the first")
        # The stated silence must hold the true one, whichever ends of the passages it is.
        lo, hi = (v * MS for v in c["latency_ms"]["silence"])
        self.assertTrue(lo <= first[1] - last[0] and first[0] - last[1] <= hi)
        # The sleep lies in the silence, but for what was in the UART's FIFO.
        self.assertLess(stated_last[0], suspend + 5 * MS)
        self.assertGreater(stated_first[1], wakeup)
        # A kernel that reads an RTC at the ends of the sleep errs by a second: this is stated.
        lo, hi = (v * MS for v in c["latency_ms"]["dut_asleep"])
        self.assertTrue(lo <= wakeup - suspend <= hi, f"{lo} {wakeup - suspend} {hi}")
        self.assertLess(hi - lo, 3.2e9)
        return suspend, wakeup, last, first


class RealCycles(Dut):
    @classmethod
    def record(cls):
        d = cls.dut
        wake = d.wake_command()
        d.beat("--mode drain --format stamped")
        cls.qmp = Recording(d, "qmp", cycles=3, wake=wake, meter=True)
        cls.rtc = Recording(d, "rtcwake", cycles=2, suspend="rtcwake 2", meter=True)
        d.beat("--mode stream --format stamped")
        cls.stream = Recording(d, "stream", cycles=2, wake=wake)
        d.beat("--mode reopen --format stamped")
        cls.reopen = Recording(d, "reopen", cycles=2, wake=wake)
        d.beat("--mode drain --format stamped")
        d.refuse()
        cls.refused = Recording(d, "refused", "--suspend-timeout", "4s", cycles=1, wake=wake)
        d.refuse(False)
        # Never woken: the wake command is one that does nothing.
        cls.hung = Recording(d, "hung", "--resume-timeout", "3s", cycles=3, wake="true")
        cls.status = d.status()

    def check_all(self, r, woken):
        span = (r.marks[0]["t_lo_ns"], r.marks[-1]["t_hi_ns"])
        sleeps = self.truth.sleeps(*span)
        self.assertEqual(len(sleeps), len(r.cycles))
        for c, sleep in zip(r.cycles, sleeps):
            with self.subTest(cycle=c["n"]):
                suspend, wakeup, last, first = self.check_cycle(r, c, sleep)
                if "off" in c["events_s"]:
                    self.assertTrue(holds(r.event(c, "off"), suspend, suspend + 60 * MS))
                if not woken:
                    continue
                wake = r.event(c, "wake")
                self.assertTrue(wake[0] <= wakeup <= wake[1], f"{wakeup} not in {wake}")
                lo, hi = (v * MS for v in c["latency_ms"]["asleep"])
                self.assertTrue(lo <= wakeup - last[0] and wakeup - last[1] <= hi)
                lo, hi = (v * MS for v in c["latency_ms"]["resume_to_user"])
                self.assertTrue(lo <= first[1] - wakeup and first[0] - wakeup <= hi)

    def test_woken_by_the_bench(self):
        self.assertEqual(len(self.qmp.cycles), 3)
        self.check_all(self.qmp, woken=True)

    def test_woken_by_its_own_clock(self):
        self.assertEqual(len(self.rtc.cycles), 2)
        self.check_all(self.rtc, woken=False)
        for c in self.rtc.cycles:
            self.assertNotIn("wake", c["events_s"], "an alarm was not observed by the bench")
            self.assertNotIn("resume_to_user", c["latency_ms"])

    def test_stream_and_reopen(self):
        for r in (self.stream, self.reopen):
            self.assertEqual(len(r.cycles), 2)
            self.assertEqual(self.qmp.report["beat"]["format"], "stamped")
            span = (r.marks[0]["t_lo_ns"], r.marks[-1]["t_hi_ns"])
            for c, sleep in zip(r.cycles, self.truth.sleeps(*span)):
                with self.subTest(mode=r.report["beat"]["mode"], cycle=c["n"]):
                    self.assertEqual(c["result"], "ok")
                    last, first = self.truth.around(*sleep)
                    self.assertTrue(holds(r.event(c, "last_beat"), *last))
                    self.assertTrue(holds(r.event(c, "uart"), *first))
                    self.assertGreaterEqual(r.event(c, "first_beat")[1],
                                            r.event(c, "uart")[0])

    def test_modes_are_told(self):
        for r, mode in ((self.qmp, "drain"), (self.stream, "stream"), (self.reopen, "reopen")):
            self.assertEqual(r.report["beat"]["mode"], mode)
            self.assertEqual(r.report["dut"]["kernel"].split()[1], lab.kernel()[0])

    def test_refused(self):
        self.assertEqual([c["result"] for c in self.refused.cycles], ["refused"],
                         self.refused.text)
        self.assertEqual(self.truth.sleeps(self.refused.marks[0]["t_lo_ns"],
                                           self.refused.marks[-1]["t_hi_ns"]), [])
        self.assertIn("busy", self.refused.cycles[0]["reason"])

    def test_never_came_back(self):
        self.assertEqual(self.status, "suspended")
        self.assertEqual([c["result"] for c in self.hung.cycles], ["hung"], self.hung.text)
        self.assertEqual(self.hung.report["summary"]["resume_to_user_ms"]["failures"], 1)
        c = self.hung.cycles[0]
        self.assertNotIn("first_beat", c["events_s"])
        (suspend, wakeup), = self.truth.sleeps(self.hung.marks[0]["t_lo_ns"],
                                               self.hung.marks[-1]["t_hi_ns"])
        self.assertIsNone(wakeup)
        last, _ = self.truth.around(suspend, None)
        self.assertTrue(holds(self.hung.event(c, "last_beat"), *last))

    def test_the_wire_lost_nothing_while_it_was_recorded(self):
        for r in (self.qmp, self.rtc, self.stream, self.reopen):
            lo, hi = r.marks[0]["t_lo_ns"] + 500 * MS, r.marks[-1]["t_lo_ns"] - 100 * MS
            sent = bytes(b.value for b in self.truth.wire if lo < b.before_ns < hi)
            out = subprocess.run([program("wwtrace"), "export", "--what", "bytes", "--format",
                                  "csv", r.path], capture_output=True, text=True, check=True)
            got = bytes(int(line.split(",")[3], 16) for line in out.stdout.splitlines()[1:])
            self.assertIn(sent, got)

    def test_watts_follow_the_state(self):
        for c in self.qmp.cycles:
            self.assertLess(abs(c["asleep_W"]["value"] - 0.8), 0.3)


class LateThaw(Dut):
    """Tasks thaw 400 ms after the UART's driver."""
    late = True

    @classmethod
    def record(cls):
        d = cls.dut
        d.check("insmod /modules/latethaw.ko")
        cls.rec = {}
        for name, beat in (("plain", "--mode stream --format plain"),
                           ("stream", "--mode stream --format stamped"),
                           ("drain", "--mode drain --format stamped"),
                           ("reopen", "--mode reopen --format stamped")):
            d.beat(beat)
            cls.rec[name] = Recording(d, "late-" + name, cycles=2, wake=d.wake_command())

    def each(self, name):
        r = self.rec[name]
        sleeps = self.truth.sleeps(r.marks[0]["t_lo_ns"], r.marks[-1]["t_hi_ns"])
        self.assertEqual(len(sleeps), 2)
        self.assertEqual([c["result"] for c in r.cycles], ["ok", "ok"], f"{name}: {r.text}")
        return [(r, c, *sleep) for c, sleep in zip(r.cycles, sleeps)]

    def test_plain_stream_claims_no_user_space(self):
        for r, c, suspend, wakeup in self.each("plain"):
            self.assertNotIn("first_beat", c["events_s"])
            self.assertNotIn("resume_to_user", c["latency_ms"])
            _, first = self.truth.around(suspend, wakeup)
            self.assertTrue(holds(r.event(c, "uart"), *first))
            self.assertLess(first[0] - wakeup, 300 * MS, "the UART is back before the tasks")
        # Nor when it is called what it is not: the line shows a stream.
        p = subprocess.run([program("resumetime"), "report", "--json", "--mode", "drain",
                            self.rec["plain"].path], capture_output=True, text=True, check=True)
        for c in json.loads(p.stdout)["cycles"]:
            self.assertNotIn("first_beat", c["events_s"])

    def test_stamped_modes_find_the_400_ms(self):
        for name in ("stream", "drain", "reopen"):
            for r, c, suspend, wakeup in self.each(name):
                lo, hi = (v * MS for v in c["latency_ms"]["resume_to_user"])
                # No task ran before. Upper bound: a busy machine thaws late, but not by 1 s.
                self.assertGreater(lo, 390 * MS, f"{name}, cycle {c['n']}: {lo} {hi}")
                self.assertLess(hi, 1400 * MS, f"{name}, cycle {c['n']}: {lo} {hi}")

    def test_stamped_stream_tells_the_uart_from_user_space(self):
        for r, c, suspend, wakeup in self.each("stream"):
            _, first = self.truth.around(suspend, wakeup)
            self.assertTrue(holds(r.event(c, "uart"), *first))
            gap = r.event(c, "first_beat")[0] - r.event(c, "uart")[1]
            self.assertGreater(gap, 200 * MS)


if __name__ == "__main__":
    from tap import main
    main()
