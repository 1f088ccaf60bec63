#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The lab's wire: its pace, its log, and that it lives longer than who uses it."""
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import tty
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.dirname(HERE))
import lab  # noqa: E402

DEADLINE = 20


class Relay(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.log = os.path.join(self.folder, "log")
        self.end = os.path.join(self.folder, "end")

    def begin(self, *args, baud=115200):
        self.dut, theirs = socket.socketpair()
        for s in (self.dut, theirs):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        self.p = subprocess.Popen([lab.relay_program(), "--fd", str(theirs.fileno()), "--log",
                                   self.log, "--baud", str(baud), *args],
                                  pass_fds=[theirs.fileno()])
        theirs.close()
        self.addCleanup(self.finish)
        end = time.monotonic() + DEADLINE
        while not os.path.lexists(self.end) and time.monotonic() < end:
            time.sleep(0.01)

    def finish(self):
        self.p.terminate()
        self.assertEqual(self.p.wait(DEADLINE), 0)
        self.dut.close()

    def records(self):
        self.finish()
        with open(self.log, "rb") as f:
            return [lab.Byte(t, t + took, v, fate)
                    for t, took, v, fate, _ in struct.iter_unpack("<qIBBH", f.read())]

    def exchange(self, fd, data):
        """Send data into the UART's end, collect what comes out at fd."""
        got, sent, end = b"", 0, time.monotonic() + DEADLINE
        self.dut.setblocking(False)
        while len(got) < len(data) and time.monotonic() < end:
            try:
                if sent < len(data):
                    sent += self.dut.send(data[sent:sent + 1])
            except BlockingIOError:
                pass
            if select.select([fd], [], [], 0 if sent < len(data) else 0.05)[0]:
                got += os.read(fd, 4096)
        return got

    def open_end(self):
        fd = os.open(self.end, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(fd)
        return fd

    def test_pace_and_log(self):
        self.begin("--pty", self.end)
        fd = self.open_end()
        data = bytes(i * 7 % 256 for i in range(1000))
        before = lab.boot_ns()
        self.assertEqual(self.exchange(fd, data), data)
        after = lab.boot_ns()
        os.close(fd)
        log = self.records()
        self.assertEqual(bytes(b.value for b in log), data)
        self.assertEqual({b.fate for b in log}, {lab.TO_BENCH})
        self.assertTrue(all(before <= b.before_ns <= b.after_ns <= after for b in log))
        # Never faster than ten bits a byte, however many wait.
        self.assertGreaterEqual(log[-1].before_ns - log[0].before_ns, 999 * lab.CHAR_NS)

    def test_holds_the_sender_back(self):
        self.begin("--pty", self.end, baud=300)
        fd = self.open_end()
        self.dut.setblocking(False)
        sent = 0
        try:
            while sent < 1000:
                sent += self.dut.send(b"x")
        except BlockingIOError:
            pass
        self.assertLess(sent, 50, "what has not left must wait in the UART, as on a real line")
        os.close(fd)

    def test_lost_while_nobody_listens(self):
        self.begin("--pty", self.end)
        self.dut.sendall(b"nobody")
        time.sleep(0.1)
        for text in (b"first", b"second"):
            fd = self.open_end()
            self.assertEqual(self.exchange(fd, text), text, "nothing stale, and it reconnects")
            os.close(fd)
        log = self.records()
        self.assertEqual(bytes(b.value for b in log if b.fate == lab.LOST), b"nobody")
        self.assertEqual(bytes(b.value for b in log if b.fate == lab.TO_BENCH), b"firstsecond")

    def test_socket_both_ways_and_again(self):
        self.begin("--listen", self.end)
        for text in (b"one", b"two"):
            s = lab.connect(self.end, DEADLINE)
            s.sendall(text.upper())
            self.dut.setblocking(True)
            self.dut.settimeout(DEADLINE)
            got = b""
            while len(got) < 3:
                got += self.dut.recv(16)
            self.assertEqual(got, text.upper())
            self.assertEqual(self.exchange(s.fileno(), text), text)
            s.close()
        log = self.records()
        self.assertEqual(bytes(b.value for b in log if b.fate == lab.TO_DUT), b"ONETWO")
        self.assertEqual(bytes(b.value for b in log if b.fate == lab.TO_BENCH), b"onetwo")


if __name__ == "__main__":
    from tap import main
    main()
