#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""10 000 bytes at known times, recorded by the program on a busy machine.

Once through the paced relay, whose log tells when it began and ended each byte's write,
once through a bare pseudo-terminal that this test writes itself. In the trace every byte
must be there, in order, and its interval must hold a moment of its write.
"""
import os
import pty
import random
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import tty
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import lab  # noqa: E402
from tap import main  # noqa: E402

BYTES = 10000
HELLO = 0xff  # sent until the recorder is seen to listen; not among the data
DATA = bytes(i * 7 % 251 for i in range(BYTES))
SPIN = "import os\nwhile os.getppid() != 1: pass"


def program(name):
    return os.path.join(lab.BUILD, "bin", name)


def exported(trace):
    """(lo, hi, byte) for each byte of a trace, finished or growing."""
    p = subprocess.run([program("wwtrace"), "export", trace, "--what", "bytes"],
                       capture_output=True, text=True, check=False)
    rows = [line.split(",") for line in p.stdout.splitlines()[1:]]
    return [(int(r[0]), int(r[1]), int(r[3], 16)) for r in rows]


class Bytes(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="ww-bytes-")
        self.addCleanup(shutil.rmtree, self.work, True)
        self.trace = os.path.join(self.work, "t.wwt")
        for _ in range(2):
            busy = subprocess.Popen([sys.executable, "-c", SPIN])
            self.addCleanup(busy.wait)
            self.addCleanup(busy.kill)

    def record(self, port, send):
        """Start the recorder; return once a byte that send() sent is in the trace."""
        with open(os.path.join(self.work, "record.err"), "wb") as err:
            self.p = subprocess.Popen([program("resumetime"), "record", "-p", port, "-o",
                                       self.trace], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=err)
        self.addCleanup(self.p.kill)
        end = time.monotonic() + 15
        while not (os.path.exists(self.trace) and exported(self.trace)):
            self.assertIsNone(self.p.poll(), "the recorder ended")
            self.assertLess(time.monotonic(), end, "nothing is recorded")
            send(HELLO)
            time.sleep(0.1)

    def send_all(self, send):
        """Bursts and gaps, the same each time."""
        rng = random.Random(1)
        burst = 0
        for b in DATA:
            if not burst:
                burst = rng.choice((1, 1, 2, 5, 16, 60))
                time.sleep(rng.choice((0, 0.001, 0.002, 0.01, 0.02)))
            burst -= 1
            send(b)

    def judge(self, name, truth):
        """truth: (before, after, byte), without the HELLOs."""
        end = time.monotonic() + 10
        while len(self.data()) < BYTES and time.monotonic() < end:
            time.sleep(0.2)
        self.p.send_signal(signal.SIGINT)
        self.assertEqual(self.p.wait(20), 0)
        got = self.data()
        self.assertEqual(bytes(b for _, _, b in got), DATA, "every byte, in order")
        self.assertEqual(bytes(b for _, _, b in truth), DATA)
        inside = sum(lo <= after and hi >= before
                     for (lo, hi, _), (before, after, _) in zip(got, truth))
        widths = sorted(hi - lo for lo, hi, _ in got)
        print(f"# {name}: {inside} of {BYTES} inside; width median "
              f"{statistics.median(widths) / 1e3:.0f} us, 99 % under "
              f"{widths[BYTES * 99 // 100] / 1e3:.0f} us")
        self.assertGreaterEqual(inside, BYTES - BYTES // 1000)
        # An interval of a second would hold the truth, and say nothing.
        self.assertLess(statistics.median(widths), 20e6)

    def data(self):
        return [row for row in exported(self.trace) if row[2] != HELLO]

    def test_paced_relay(self):
        log, wire = os.path.join(self.work, "log"), os.path.join(self.work, "wire")
        ours, theirs = socket.socketpair()
        for s in (ours, theirs):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        relay = subprocess.Popen([lab.relay_program(), "--fd", str(theirs.fileno()), "--pty",
                                  wire, "--log", log], pass_fds=[theirs.fileno()])
        theirs.close()
        self.addCleanup(ours.close)
        self.addCleanup(relay.kill)
        end = time.monotonic() + 10
        while not os.path.lexists(wire) and time.monotonic() < end:
            time.sleep(0.01)
        self.record(wire, lambda b: ours.send(bytes([b])))
        self.send_all(lambda b: ours.send(bytes([b])))

        def log_records():
            with open(log, "rb") as f:
                data = f.read()
            return [(t, t + took, b) for t, took, b, fate, _ in
                    struct.iter_unpack("<qIBBH", data[:len(data) // 16 * 16])
                    if fate == lab.TO_BENCH and b != HELLO]
        end = time.monotonic() + 10
        while len(log_records()) < BYTES and time.monotonic() < end:
            time.sleep(0.1)
        self.judge("paced relay", log_records())
        relay.terminate()
        self.assertEqual(relay.wait(10), 0)

    def test_bare_pty(self):
        master, slave = pty.openpty()
        tty.setraw(slave)
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        truth = []

        def send(b):
            before = lab.boot_ns()
            os.write(master, bytes([b]))
            truth.append((before, lab.boot_ns(), b))
        self.record(os.ttyname(slave), send)
        self.send_all(send)
        self.judge("bare pseudo-terminal", [t for t in truth if t[2] != HELLO])


main()
