#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ttybeat on pseudo-terminals, with a decoder written from the format's description."""
import os
import pty
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import termios
import time
import tty
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("WW_BUILD", os.path.join(TOP, "build")))
BEAT = os.path.join(BUILD, "bin", "ttybeat")
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
DEADLINE = 20


def number(text):
    v = 0
    for c in text:
        v = v * 64 + DIGITS.index(c)
    return v


def crc(data):
    """CRC-16/CCITT-FALSE, by polynomial division over the whole message."""
    reg = 0xFFFF
    for byte in data:
        for bit in range(8):
            top = (reg >> 15) ^ (byte >> (7 - bit) & 1)
            reg = (reg << 1 & 0xFFFF) ^ (0x1021 if top else 0)
    return reg & 0xFFF


def decode(data):
    """-> (beats, info, other): beats are (seq, mono_us, sleep_us)."""
    beats, info, other = [], [], b""
    for m in re.finditer(rb"!([A-Za-z0-9+/]{21})\n|#([^*\n]*)\*([A-Za-z0-9+/]{2})\n|(.)", data,
                         re.S):
        if m[1]:
            body = m[1].decode()
            if number(body[19:]) == crc(m[1][:19]) & 0xFFF:
                beats.append((number(body[:4]), number(body[4:12]), number(body[12:19])))
                continue
        elif m[2] is not None and number(m[3].decode()) == crc(m[2]) & 0xFFF:
            key, value = m[2].split(b"=", 1)
            info.append((key.decode(), value.decode()))
            continue
        other += m[0]
    return beats, info, other


def joined(info):
    """Values as they were before they were cut into lines: a list of (key, value)."""
    out = []
    for key, value in info:
        assert len(value.encode()) <= 48, (key, value)
        if key.endswith("+"):
            assert out[-1][0] == key[:-1], "it goes on at once"
            out[-1] = (out[-1][0], out[-1][1] + value)
        else:
            out.append((key, value))
    return out


class Line:
    """ttybeat on the slave of a pty; we hold both ends."""

    def __init__(self, *args, keep=True, program=BEAT):
        self.master, self.slave = pty.openpty()
        tty.setraw(self.master)
        self.name = os.ttyname(self.slave)
        self.before = termios.tcgetattr(self.slave)
        self.err = tempfile.TemporaryFile()
        self.p = subprocess.Popen([program, "--tty", self.name, *args], stderr=self.err,
                                  stdout=self.err, stdin=subprocess.DEVNULL)
        self.data = b""
        if not keep:
            os.close(self.slave)
            self.slave = -1

    def read(self, enough):
        """Read until enough(data)."""
        end = time.monotonic() + DEADLINE
        while not enough(self.data):
            if time.monotonic() > end:
                raise AssertionError(f"not in {DEADLINE} s: {self.data[-200:]!r} {self.stderr()}")
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.data += os.read(self.master, 4096)
                except OSError:  # nobody has the slave open at the moment
                    time.sleep(0.001)
        return self.data

    def ended(self):
        end = time.monotonic() + DEADLINE
        while self.p.poll() is None:
            if time.monotonic() > end:
                self.p.kill()
                raise AssertionError("it did not end")
            if select.select([self.master], [], [], 0.01)[0]:
                try:
                    self.data += os.read(self.master, 4096)
                except OSError:
                    pass
        while select.select([self.master], [], [], 0)[0]:
            try:
                self.data += os.read(self.master, 4096)
            except OSError:
                break
        return self.p.returncode

    def stderr(self):
        self.err.seek(0)
        return self.err.read().decode()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.p.poll() is None:
            self.p.kill()
        self.p.wait()
        self.err.close()
        os.close(self.master)
        if self.slave >= 0:
            os.close(self.slave)


class Stamped(unittest.TestCase):
    def run_mode(self, *args, n=200):
        lo = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        with Line("--no-info", "--count", str(n), *args) as line:
            self.assertEqual(line.ended(), 0, line.stderr())
            hi = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
            beats, info, other = decode(line.data)
            self.assertEqual((info, other), ([], b""))
            self.assertEqual([b[0] for b in beats], list(range(n)), "every beat, once, in order")
            times = [b[1] for b in beats]
            self.assertEqual(times, sorted(times))
            self.assertTrue(lo <= times[0] and times[-1] <= hi, "stamps of this clock")
            boot = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            slept = (boot - time.clock_gettime_ns(time.CLOCK_MONOTONIC)) // 1000
            for b in beats:
                self.assertAlmostEqual(b[2], slept, delta=1000)
            return [b - a for a, b in zip(times, times[1:])]

    def test_drain(self):
        steps = self.run_mode("--mode", "drain", "--every", "5ms")
        # On a grid: the errors of the steps do not add up.
        self.assertAlmostEqual(statistics.median(steps), 5000, delta=300)
        total = sum(steps[16:]) / 5000
        self.assertGreater(total, len(steps[16:]) - 1)

    def test_drain_keeps_the_rate_of_the_line(self):
        steps = self.run_mode("--mode", "drain", "--baud", "9600")
        # 23 bytes last 23.96 ms, and a quarter more
        self.assertGreaterEqual(statistics.median(steps), 29000)

    def test_reopen(self):
        steps = self.run_mode("--mode", "reopen", "--every", "5ms")
        self.assertAlmostEqual(statistics.median(steps), 5000, delta=300)

    def test_stream_does_not_flood_a_line_without_a_pace(self):
        steps = self.run_mode("--mode", "stream")
        # 23 bytes at 115200 baud: 1.997 ms; a little less where nothing holds it back
        self.assertTrue(1700 <= statistics.median(steps) <= 2300, statistics.median(steps))

    def test_missed_beats_are_skipped(self):
        with Line("--no-info", "--every", "2ms", "--mode", "drain") as line:
            line.read(lambda d: d.count(b"\n") > 50)
            os.kill(line.p.pid, signal.SIGSTOP)
            time.sleep(0.3)
            os.kill(line.p.pid, signal.SIGCONT)
            have = line.data.count(b"\n")
            line.read(lambda d: d.count(b"\n") > have + 60)
            line.p.terminate()
            self.assertEqual(line.ended(), 0)
            beats, _, _ = decode(line.data)
            steps = [b[1] - a[1] for a, b in zip(beats, beats[1:])]
            i = steps.index(max(steps))
            self.assertGreater(steps[i], 250000)
            self.assertEqual(beats[i + 1][0] - beats[i][0], 1, "skipped beats have no number")
            after = steps[i + 1:i + 40]
            self.assertGreater(statistics.median(after), 1500, "no bunch of old beats")


class Plain(unittest.TestCase):
    def test_characters(self):
        with Line("--format", "plain", "--char", "x", "--no-info", "--count", "30") as line:
            self.assertEqual(line.ended(), 0)
            self.assertEqual(line.data, b"x" * 30)

    def test_stream_says_what_it_proves(self):
        with Line("--format", "plain", "--mode", "stream", "--no-info") as line:
            line.read(lambda d: len(d) > 500)
            line.p.terminate()
            self.assertEqual(line.ended(), 0)
            self.assertEqual(set(line.data), {ord(".")})
            self.assertIn("proves that the UART's driver runs, not user space", line.stderr())


class Info(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)

    def put(self, path, text):
        path = os.path.join(self.root, path.lstrip("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def test_lines(self):
        self.put("/proc/cmdline", "root=/dev/sda1 a*b 100% \u00fc" + "x" * 300 + "\n")
        self.put("/sys/power/mem_sleep", "s2idle [deep]\n")
        self.put("/sys/power/suspend_stats/success", "7\n")
        self.put("/sys/power/suspend_stats/fail", "1\n")
        self.put("/sys/power/suspend_stats/failed_freeze", "0\n")
        self.put("/sys/power/suspend_stats/failed_suspend", "1\n")
        self.put("/sys/power/suspend_stats/last_failed_dev", "vhci_hcd.0\n")
        self.put("/sys/class/dmi/id/sys_vendor", "QUANTA\n")
        self.put("/sys/class/dmi/id/product_name", "OLPC\n")
        self.put("/sys/class/wakeup/wakeup3/name", "LNX PWRBN\n")
        self.put("/sys/class/wakeup/wakeup3/event_count", "2\n")
        self.put("/sys/class/wakeup/wakeup4/name", "quiet\n")
        self.put("/sys/class/wakeup/wakeup4/event_count", "0\n")
        self.put("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n")
        self.put("/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1\n")
        self.put("/sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1\n")
        with Line("--root", self.root, "--every", "2ms") as line:
            line.read(lambda d: b"#cpuidle=" in d and d.endswith(b"\n"))
            line.p.terminate()
            self.assertEqual(line.ended(), 0)
            beats, info, other = decode(line.data[:line.data.rindex(b"\n") + 1])
            self.assertEqual(other, b"")
            self.assertEqual([b[0] for b in beats], list(range(len(beats))))
        info = joined(info)
        got = dict(info)
        self.assertEqual(info[0], ("info", "start"))
        self.assertEqual(info[1], ("beat", "1"))
        self.assertEqual(got["mode"], "drain")
        self.assertEqual(got["format"], "stamped")
        self.assertEqual(got["period_us"], "2000")
        self.assertEqual(got["baud"], "115200")
        self.assertEqual(got["host"], os.uname().nodename)
        self.assertIn(os.uname().release, got["kernel"])
        self.assertEqual(got["mem_sleep"], "s2idle [deep]")
        self.assertEqual(got["suspend_stats"],
                         "success:7 fail:1 failed_suspend:1 last_failed_dev:vhci_hcd.0")
        self.assertEqual(got["board"], "QUANTA OLPC")
        self.assertEqual(got["wakeup_sources"], "LNX_PWRBN:2")
        self.assertEqual(got["cpuidle"], "POLL C1(off)")
        self.assertEqual(got["cmdline"], "root=/dev/sda1 a%2Ab 100%25 \u00fc" + "x" * 300)
        for absent in ("governor", "aspm", "wakeup_irq", "boot_id", "s2idle_residency_us"):
            self.assertNotIn(absent, got, "a file that is not there is not told")

    def test_one_line_every_ten_beats(self):
        self.put("/proc/cmdline", "quiet\n")
        with Line("--root", self.root, "--every", "2ms") as line:
            line.read(lambda d: d.count(b"\n#") > 4)
            line.p.terminate()
            line.ended()
            kinds = "".join(chr(c) for c in re.findall(rb"^([!#])", line.data, re.M)
                            for c in c)
            for beats in kinds.split("#")[1:-1]:
                self.assertGreaterEqual(len(beats), 10)

    def test_warns_of_a_console_and_of_others(self):
        with Line("--root", self.root, "--no-info") as line:
            line.read(lambda d: b"\n" in d)
            self.assertEqual(line.stderr(), "")
        master, slave = pty.openpty()
        name = os.ttyname(slave)
        self.put("/proc/consoles", f"{name[5:]}   -W- (EC  a)  136:1\n")
        self.put("/proc/4711/comm", "agetty\n")
        os.makedirs(os.path.join(self.root, "proc/4711/fd"))
        os.symlink(name, os.path.join(self.root, "proc/4711/fd/0"))
        p = subprocess.run([BEAT, "-t", name, "-m", "reopen", "-n", "3", "--root", self.root],
                           stderr=subprocess.PIPE, text=True, timeout=DEADLINE)
        os.close(master)
        os.close(slave)
        self.assertEqual(
            p.stderr,
            f"ttybeat: warning: {name} is a console of the kernel: its messages mix with the "
            "beats, and mode reopen never really closes it\n"
            f"ttybeat: warning: agetty (process 4711) has {name} open: what it writes mixes "
            "with the beats, and mode reopen never really closes it\n")
        self.put("/proc/consoles", "")
        self.put("/proc/cmdline", "console=tty0 console=ttyS1,115200n8 quiet")
        self.assertEqual(p.returncode, 0)


class Port(unittest.TestCase):
    def test_termios_are_restored_and_were_raw(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            with Line("--no-info", "--root", "/nonexistent") as line:
                line.read(lambda d: d.count(b"\n") > 3)
                during = termios.tcgetattr(line.slave)
                self.assertEqual(during[1] & termios.OPOST, 0)
                self.assertEqual(during[3] & (termios.ECHO | termios.ICANON | termios.ISIG), 0)
                self.assertEqual(during[2] & termios.HUPCL, 0)
                self.assertEqual(during[4:6], [termios.B115200] * 2)
                line.p.send_signal(how)
                self.assertEqual(line.ended(), 0)
                self.assertEqual(termios.tcgetattr(line.slave), line.before)
                self.assertEqual(line.stderr(), "")

    def test_hang_up_and_back(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        link = os.path.join(folder, "tty")
        m1, s1 = pty.openpty()
        tty.setraw(m1)
        os.symlink(os.ttyname(s1), link)
        err = tempfile.TemporaryFile()
        p = subprocess.Popen([BEAT, "-t", link, "--no-info", "--root", "/nonexistent"], stderr=err)
        try:
            first = b""
            while first.count(b"\n") < 20:
                first += os.read(m1, 4096)
            os.close(s1)
            os.close(m1)  # the tty hangs up
            os.unlink(link)
            end = time.monotonic() + DEADLINE
            while os.fstat(err.fileno()).st_size == 0 and time.monotonic() < end:
                time.sleep(0.01)
            m2, s2 = pty.openpty()
            tty.setraw(m2)
            os.symlink(os.ttyname(s2), link)
            second = b""
            while second.count(b"\n") < 20 and time.monotonic() < end:
                if select.select([m2], [], [], 0.1)[0]:
                    second += os.read(m2, 4096)
            self.assertIsNone(p.poll())
        finally:
            p.terminate()
            self.assertEqual(p.wait(DEADLINE), 0)
        a, _, _ = decode(first[:first.rindex(b"\n") + 1])
        b, _, other = decode(second[:second.rindex(b"\n") + 1])
        self.assertEqual(other, b"")
        self.assertGreater(b[0][0], a[-1][0], "the sequence goes on")
        err.seek(0)
        text = err.read().decode()
        self.assertRegex(text, rf"^ttybeat: {link}: .*; waiting for it to come back\n"
                               rf"ttybeat: {link}: is back\n$")
        err.close()
        os.close(m2)
        os.close(s2)


class Usage(unittest.TestCase):
    CASES = {
        (): "no tty: give --tty DEV",
        ("--tty",): "--tty: a value is missing",
        ("--tty", "x", "--mode", "fast"): "--mode fast: give stream, reopen or drain",
        ("--tty", "x", "--format", "hex"): "--format hex: give plain or stamped",
        ("--tty", "x", "--every", "soon"): "--every soon: give 100us to 3600s",
        ("--tty", "x", "--every", "1us"): "--every 1us: give 100us to 3600s",
        ("--tty", "x", "--baud", "12345"): "--baud 12345: not a rate that a tty knows by name",
        ("--tty", "x", "--baud", ""): "--baud : not a rate that a tty knows by name",
        ("--tty", "x", "--char", "!"):
            "--char !: give one printable ASCII character, not ! or #",
        ("--tty", "x", "--char", "ab"):
            "--char ab: give one printable ASCII character, not ! or #",
        ("--tty", "x", "--count", "0"): "--count 0: give 1 or more",
        ("--tty", "x", "--fast"): "--fast: no such option",
        ("--tty", "x", "y"): "y: no argument is expected here",
    }

    def test_wrong_use(self):
        for args, text in self.CASES.items():
            with self.subTest(args=args):
                p = subprocess.run([BEAT, *args], capture_output=True, text=True, timeout=5)
                self.assertEqual((p.returncode, p.stdout, p.stderr),
                                 (2, "", f"ttybeat: {text}\nTry 'ttybeat --help'.\n"))

    def test_no_such_tty(self):
        for path, why in (("/nonexistent", "No such file or directory"),
                          ("/dev/null", "is not a tty")):
            p = subprocess.run([BEAT, "-t", path], capture_output=True, text=True, timeout=5)
            self.assertEqual((p.returncode, p.stdout, p.stderr), (1, "", f"ttybeat: {path}: {why}\n"))

    def test_help_and_version(self):
        p = subprocess.run([BEAT, "--help"], capture_output=True, text=True, timeout=5)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        for word in ("--tty", "--mode", "--format", "--every", "--baud", "--char", "--no-info"):
            self.assertIn(word, p.stdout)
        p = subprocess.run([BEAT, "--version"], capture_output=True, text=True, timeout=5)
        self.assertRegex(p.stdout, r"^ttybeat \(wakewatt\) \d+\.\d+\.\d+\n$")


class Static(unittest.TestCase):
    def test_small_and_static(self):
        path = os.path.join(BUILD, "static", "ttybeat-x86_64")
        if not os.path.exists(path):
            self.skipTest("not built: make build/static/ttybeat-x86_64")
        self.assertLess(os.path.getsize(path), 100000)
        with Line("--no-info", "--count", "20", program=path) as line:
            self.assertEqual(line.ended(), 0)
            self.assertEqual(len(decode(line.data)[0]), 20)


if __name__ == "__main__":
    from tap import main
    main()
