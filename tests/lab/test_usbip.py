#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An FT232R through the real USB stack, by libftdi and by the kernel's driver.

A guest plugs an emulated chip (usbip_ftdi.c) into its virtual host controller. When each
byte came into the chip's buffer is known by the clock that the recorder uses; what the
chip was told by the host is known as well.
"""
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import guest  # noqa: E402
import image  # noqa: E402
import lab  # noqa: E402
from tap import main  # noqa: E402

URI = "ftdi:?serial=WW000001"
DRIVER = "/sys/bus/usb/devices/1-1:1.0/driver"
BYTES = 1500


def wwtrace(*args):
    return subprocess.run([os.path.join(lab.BUILD, "bin", "wwtrace"), *args],
                          capture_output=True, text=True, check=True).stdout


def exported(trace, what):
    return [json.loads(line) for line in
            wwtrace("export", trace, "--what", what, "--format", "jsonl").splitlines()]


def pattern(n):
    return bytes(i * 7 % 251 for i in range(n))


class Chip:
    """The chip in the guest, and what it knows."""

    def __init__(self, machine, *options):
        self.m = machine
        self.asked = 0
        machine.check("rm -f /tmp/ctl /tmp/truth /tmp/state*; usbip_ftdi --control /tmp/ctl "
                      f"--log /tmp/truth --lines /tmp/lines {' '.join(options)} "
                      "> /tmp/chip.err 2>&1 &")
        machine.wait_for("[ -p /tmp/ctl ] && [ -e /dev/ttyUSB0 ]", "/dev/ttyUSB0")

    def order(self, text):
        self.m.check(f"echo '{text}' > /tmp/ctl")

    def state(self):
        self.asked += 1
        path = f"/tmp/state{self.asked}"
        self.order("tell " + path)
        self.m.wait_for(f"[ -e {path} ]", "answer of the chip")
        return {k: int(v) for k, v in re.findall(r"(\w+)=(-?\d+)", self.m.check("cat " + path))}

    def wait(self, **want):
        """Until the chip's state is as wanted. -> that state"""
        for _ in range(100):
            s = self.state()
            if all(s[k] == v for k, v in want.items()):
                return s
            self.m.check("usleep 100000")
        raise lab.LabError(f"the chip is not {want} but {s}")

    def feed(self, n):
        self.order(f"feed {n}")
        return self.wait(to_feed=0)

    def truth(self):
        """(before, after, byte, sent) of each byte that came into the chip's buffer."""
        self.state()
        with open(self.m.fetch("/tmp/truth"), "rb") as f:
            return [(t, t + took, b, sent) for t, took, b, fate, _, sent
                    in struct.iter_unpack("<qIBBHq", f.read()) if fate == 0]

    def blinks(self):
        """(before, after, level, sent) of each change of CTS and D3."""
        self.state()
        with open(self.m.fetch("/tmp/lines")) as f:
            return [tuple(map(int, line.split())) for line in f]

    def quit(self):
        self.order("quit")
        self.m.wait_for("[ ! -e /sys/bus/usb/devices/1-1 ] && ! pidof usbip_ftdi > /dev/null",
                        "end of the chip")


class Usbip(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        chip = image.compile_c("usbip_ftdi.c", os.path.join(lab.OUT, "usbip_ftdi"), "-static",
                               "-Wextra", more=("usbip_chip.c", "usbip.c", "usbip_ftdi.h", "usbip.h"))
        emu = image.compile_c("../emu/wattsup_emu.c", os.path.join(lab.OUT, "wattsup_emu"),
                              "-static")
        cls.m = guest.Guest(os.path.join(lab.OUT, "usbip"), ("vhci-hcd", "ftdi_sio"),
                            {"usbip_ftdi": chip, "wattsup_emu": emu},
                            # The chip keeps its line's pace, unlike the UART of a virtual
                            # machine: let the recorder count on it.
                            cpu="max,hypervisor=off")
        cls.addClassCleanup(cls.m.stop)
        cls.m.start()

    def plugged(self, *options):
        chip = Chip(self.m, *options)
        self.addCleanup(chip.quit)
        return chip

    def listens(self, name, chip, **want):
        """The recorder has described its source, and the chip is set up."""
        self.m.wait_for(f"wwtrace info /tmp/{name}.wwt 2>&1 | grep -q latency_timer", "source")
        return chip.wait(**want)

    def judge(self, name, trace, truth, latency_ms=1):
        got = [(r["t_lo_ns"], r["t_hi_ns"], int(r["hex"], 16)) for r in exported(trace, "bytes")]
        self.assertEqual(bytes(b for *_, b in got), bytes(t[2] for t in truth),
                         "every byte, in order")
        inside = [lo <= after and hi >= before
                  for (lo, hi, _), (before, after, _, _) in zip(got, truth)]
        # An emulated chip in a machine that was stopped for a while breaks the promise of
        # its own timer: then it is no chip, and proves nothing either way.
        fair = [sent - after < (latency_ms + 1) * 10**6 for _, after, _, sent in truth]
        good = sum(i for i, f in zip(inside, fair) if f)
        widths = sorted(hi - lo for lo, hi, _ in got)
        # The best single value is the middle; how far it is from the truth.
        error = statistics.median(abs((lo + hi) / 2 - (before + after) / 2) for (lo, hi, _),
                                  (before, after, _, _), f in zip(got, truth, fair) if f)
        print(f"# {name}: {sum(inside)} of {len(truth)} inside, {good} of the {sum(fair)} that "
              f"the chip sent in time; width median {statistics.median(widths) / 1e6:.2f} ms, "
              f"99 % under {widths[len(widths) * 99 // 100] / 1e6:.2f} ms; median error of the "
              f"middle {error / 1e6:.2f} ms")
        self.assertGreaterEqual(sum(fair), len(truth) * 0.5)
        self.assertGreaterEqual(good, sum(fair) - len(truth) // 1000)
        self.assertLess(statistics.median(widths), (latency_ms + 50) * 1e6)
        return error

    def near(self, name, uri, chip, error):
        """The settings bring the median error under 1.5 ms. What a busy machine adds comes and
        goes, so the best of three counts; the chip's own 16 ms would be there each time."""
        for i in range(2):
            if error < 1.5e6:
                break
            again, skip = f"{name}{i}", len(chip.truth())
            self.m.wait_for("[ -e /dev/ttyUSB0 ]", "/dev/ttyUSB0")
            self.m.record(again, f"resumetime record -p '{uri}'")
            self.listens(again, chip, latency=1)
            chip.feed(BYTES // 5)
            chip.wait(waiting=0)
            trace, _ = self.m.end(again)
            error = min(error, self.judge(again, trace, chip.truth()[skip:]))
        busy = os.getloadavg()[0] > 1.5 * os.cpu_count()
        self.assertLess(error, 4e6 if busy else 1.5e6)

    def busy(self):
        """Every core of the guest has other things to do."""
        self.m.check("for i in 1 2; do (while :; do :; done) & echo $! >> /tmp/busy; done")
        self.addCleanup(self.m.run, "kill $(cat /tmp/busy); rm -f /tmp/busy")

    def judge_edges(self, name, trace, source, truth):
        got = [(r["t_lo_ns"], r["t_hi_ns"], r["level"])
               for r in exported(trace, "events") if r["source"] == source]
        self.assertEqual([level for *_, level in got], [level for *_, level, _ in truth],
                         "every edge, in order")
        inside = [lo <= after and hi >= before
                  for (lo, hi, _), (before, after, *_) in zip(got, truth)]
        fair = [sent - after < 2 * 10**6 for _, after, _, sent in truth]
        good = sum(i for i, f in zip(inside, fair) if f)
        error = statistics.median(abs((lo + hi) / 2 - (before + after) / 2)
                                  for (lo, hi, _), (before, after, *_) in zip(got, truth))
        print(f"# {name}: {sum(inside)} of {len(truth)} edges inside, {good} of the {sum(fair)} "
              f"that the chip told in time; median error of the middle {error / 1e6:.2f} ms")
        self.assertEqual(good, sum(fair))

    def test_modem_lines(self):
        chip = self.plugged()
        for name, uri, source in (
                ("lines", URI + "&cts=wake&dsr=!off", "port.cts"),
                ("ttylines", "/dev/ttyUSB0?cts=wake", "port.cts"),
                ("alone", "modem:" + URI + "&line=cts&role=wake", "line"),
                ("pin", "ftdipin:?serial=WW000001&pin=D3&role=off", "line")):
            skip = len(chip.blinks())
            command = "pwrlog record -g" if source == "line" else "resumetime record -p"
            self.m.wait_for("[ -e /dev/ttyUSB0 ]", "/dev/ttyUSB0")
            self.m.record(name, f"{command} '{uri}'")
            self.m.wait_for(f"wwtrace info /tmp/{name}.wwt 2>&1 | grep -qE '(cts|level)='", "source")
            self.m.check("usleep 200000")
            chip.order("blink 25")
            chip.wait(to_blink=0)
            self.m.check("usleep 200000")
            trace, out = self.m.end(name)
            self.judge_edges(name, trace, source, chip.blinks()[skip:])
            info = wwtrace("info", trace)
            self.assertRegex(info, r"role +(wake|off)")

    def test_under_load(self):
        chip = self.plugged()
        self.busy()
        for name, uri in (("libload", URI), ("ttyload", "/dev/ttyUSB0")):
            skip = len(chip.truth())
            self.m.wait_for("[ -e /dev/ttyUSB0 ]", "/dev/ttyUSB0")
            self.m.record(name, f"resumetime record -p '{uri}'")
            self.listens(name, chip, latency=1)
            chip.feed(BYTES // 5)
            chip.wait(waiting=0)
            trace, _ = self.m.end(name)
            self.judge(name, trace, chip.truth()[skip:])

    def test_loopback(self):
        chip = self.plugged()
        chip.order("loop 1")
        for uri, driver in (("/dev/ttyUSB0", "ftdi_sio"), (URI, "ftdi")):
            self.m.wait_for("[ -e /dev/ttyUSB0 ]", "/dev/ttyUSB0")
            code, said = self.m.run(f"WAKEWATT_STATE=/tmp/state.d resumetime loopback -p '{uri}' "
                                    "--bytes 200 --json 2> /tmp/loop.err")
            self.assertEqual(code, 0, said + self.m.run("cat /tmp/loop.err")[1])
            r = json.loads(said)
            self.assertEqual((r["wrong"], r["back"]), (0, r["sent"]), said)
            d = r["delay_s"]
            print(f"# loopback by {driver}: least {d['min'] * 1e3:.2f}, median "
                  f"{d['median'] * 1e3:.2f}, greatest {d['max'] * 1e3:.2f} ms, known to "
                  f"{d['resolution'] * 1e3:.2f} ms; {r['inside'] * 100:.1f} % inside; rate "
                  f"{r['baud']['value']:.0f} ± {2 * r['baud']['u']:.0f}")
            self.assertEqual(r["latency_timer_s"], 0.001)
            self.assertGreater(r["inside"], 0.97)
            # By libftdi a packet may wait for a machine that is busy: slower, with its ±.
            self.assertAlmostEqual(r["baud"]["value"], 115200,
                                   delta=0.05 * 115200 + 4 * r["baud"]["u"])
            self.assertIn(driver, self.m.check("ls /tmp/state.d"))
        # A recording at the same settings uses it, one at others does not.
        for baud, used in ((115200, True), (57600, False)):
            self.m.wait_for("[ -e /dev/ttyUSB0 ]", "/dev/ttyUSB0")
            self.m.check(f"WAKEWATT_STATE=/tmp/state.d resumetime record -p "
                         f"'/dev/ttyUSB0?baud={baud}' --for 1s -o /tmp/used{baud}.wwt "
                         "> /tmp/used.out 2>&1; true")
            info = wwtrace("info", self.m.fetch(f"/tmp/used{baud}.wwt"))
            self.assertEqual("loopback=measured(20" in info, used, info)
        self.m.check("for f in /tmp/state.d/*; do echo nonsense > $f; done; "
                     "WAKEWATT_STATE=/tmp/state.d resumetime record -p /dev/ttyUSB0 "
                     "--for 1s -o /tmp/bad.wwt > /tmp/bad.out 2>&1; true")
        marks = exported(self.m.fetch("/tmp/bad.wwt"), "marks")
        self.assertTrue(any("damaged: not used" in r["text"] for r in marks), marks)

    def uptime_ns(self):
        """CLOCK_BOOTTIME of the guest, to a hundredth of a second."""
        return int(float(self.m.check("cut -d' ' -f1 /proc/uptime")) * 1e9)

    def test_libftdi(self):
        chip = self.plugged()
        self.assertIn("/ftdi_sio", self.m.check("readlink " + DRIVER))
        self.assertEqual(chip.state()["latency"], 16, "as the chip wakes up")
        self.m.record("lib", f"resumetime record -p '{URI}&baud=115200&dtr=1'")
        s = self.listens("lib", chip, latency=1, dtr=1)
        self.assertEqual((s["latency"], s["frame"], s["event"]), (1, 8, -1))
        self.assertAlmostEqual(s["baud"], 115200, delta=115200 * 0.005)
        self.assertIn("/usbfs", self.m.check("readlink " + DRIVER))
        _, said = self.m.run(f"resumetime record -p '{URI}' --for 1s -o /tmp/second.wwt")
        self.assertIn("in use", said)
        self.assertEqual(chip.feed(BYTES)["lost"], 0)
        chip.wait(waiting=0)
        trace, out = self.m.end("lib")
        self.assertEqual(bytes(t[2] for t in chip.truth()), pattern(BYTES))
        error = self.judge("libftdi", trace, chip.truth())
        self.assertIn("a character takes 82", wwtrace("info", trace))
        self.assertEqual(exported(trace, "gaps"), [], out)
        self.m.wait_for(f"[ -e /dev/ttyUSB0 ] && readlink {DRIVER} | grep -q /ftdi_sio",
                        "ftdi_sio on its chip again")
        self.near("lib", URI, chip, error)

    def test_replug(self):
        chip = self.plugged()
        self.m.record("plug", f"resumetime record -p '{URI}'")
        self.listens("plug", chip, latency=1)
        chip.feed(100)
        chip.wait(waiting=0)
        off = self.uptime_ns()
        chip.order("unplug")
        self.m.wait_for("[ ! -e /sys/bus/usb/devices/1-1 ]", "unplug")
        self.m.check("sleep 2")
        chip.order("plug")
        chip.wait(plugged=1, latency=1)
        self.m.wait_for("wwtrace export /tmp/plug.wwt --what marks | grep -q replugged", "mark")
        chip.feed(100)
        chip.wait(waiting=0)
        trace, out = self.m.end("plug")
        truth = chip.truth()
        self.judge("replugged", trace, truth)
        gaps = exported(trace, "gaps")
        self.assertEqual(len(gaps), 1, out)
        self.assertIn("unplugged", json.dumps(gaps[0]))
        # From the last byte to the first one again, and the absence is within.
        self.assertGreaterEqual(gaps[0]["t_lo_ns"], truth[99][0])
        self.assertLessEqual(gaps[0]["t_hi_ns"], truth[100][1])
        self.assertLess(gaps[0]["t_lo_ns"], off + 10**7)
        self.assertGreater(gaps[0]["t_hi_ns"], off + 2 * 10**9)

    def test_after_a_killed_recorder(self):
        chip = self.plugged()
        self.m.record("killed", f"resumetime record -p '{URI}'")
        self.listens("killed", chip, latency=1)
        chip.feed(50)
        self.m.check("kill -9 $(cat /tmp/killed.pid)")
        self.m.wait_for("[ ! -d /proc/$(cat /tmp/killed.pid) ]", "end of the recorder")
        chip.wait(queued=0)  # the kernel takes back what the dead one asked for
        skip = len(chip.truth())
        self.m.record("next", f"resumetime record -p '{URI}'")
        self.listens("next", chip, latency=1)
        chip.feed(BYTES // 5)
        chip.wait(waiting=0)
        trace, _ = self.m.end("next")
        self.judge("after a killed recorder", trace, chip.truth()[skip:])
        self.m.wait_for(f"[ -e /dev/ttyUSB0 ] && readlink {DRIVER} | grep -q /ftdi_sio",
                        "ftdi_sio on its chip again")

    def test_event_character(self):
        chip = self.plugged()
        self.m.record("ev", f"resumetime record -p '{URI}&latency=200&event_char=10'")
        self.listens("ev", chip, latency=200, event=10)
        chip.feed(BYTES // 2)
        chip.wait(waiting=0)
        trace, _ = self.m.end("ev")
        self.judge("latency 200 ms, event character", trace, chip.truth(), 200)
        lines = [r for r in exported(trace, "bytes") if r["hex"] == "0a"]
        truth = [t for t in chip.truth() if t[2] == 10]
        self.assertEqual(len(lines), len(truth))
        # Had it waited for the timer, half of them would be 100 ms late.
        late = [r["t_hi_ns"] - t[1] for r, t in zip(lines, truth)]
        self.assertLess(statistics.median(late), 20e6)

    def test_kernel_driver(self):
        chip = self.plugged()
        path = "/sys/bus/usb-serial/devices/ttyUSB0/latency_timer"
        self.assertEqual(self.m.check("cat " + path), "16")
        self.m.record("tty", "resumetime record -p /dev/ttyUSB0")
        self.listens("tty", chip, latency=1)
        self.assertEqual(self.m.check("cat " + path), "1")
        self.assertEqual(chip.feed(BYTES)["lost"], 0)
        chip.wait(waiting=0)
        trace, _ = self.m.end("tty")
        error = self.judge("ftdi_sio", trace, chip.truth())
        info = wwtrace("info", trace)
        self.assertIn("latency_timer=1(in force)", info)
        self.assertIn("a character takes 82", info)
        self.assertIn("ftdi_sio", info)
        self.assertEqual(self.m.check("cat " + path), "16", "left as it was found")
        self.near("tty", "/dev/ttyUSB0", chip, error)

    def test_held_by_another_program(self):
        self.plugged()
        self.m.check("sleep 60 < /dev/ttyUSB0 & echo $! > /tmp/holder")
        try:
            code, said = self.m.run(f"resumetime record -p '{URI}' --for 1s -o /tmp/held.wwt")
            self.assertEqual(code, 1, said)
            self.assertRegex(said, r"/dev/ttyUSB0 is in use by process \d+ \(sleep\)")
            self.assertIn("/ftdi_sio", self.m.check("readlink " + DRIVER), "left to its holder")
        finally:
            self.m.check("kill $(cat /tmp/holder)")

    def test_dtr_is_a_button(self):
        """Pressed beside the kernel's driver, beside our own recorder, and killed."""
        chip = self.plugged()
        press = "ftdi:?dtr=pulse,1500ms"
        self.m.check(f"resumetime act --json '{press}' > /tmp/act.json 2> /tmp/act.err &")
        chip.wait(dtr=1)
        chip.wait(dtr=0)
        self.m.wait_for("grep -q pulse_ms /tmp/act.json", "end of the press")
        act = json.loads(self.m.check("cat /tmp/act.json"))
        self.assertGreaterEqual(act["pulse_ms"][1], 1500)
        self.assertIn("/ftdi_sio", self.m.check("readlink " + DRIVER), "left where it was")
        # Killed in the middle: its guard puts it back long before its time.
        self.m.check("resumetime act 'ftdi:?dtr=pulse,50s,hold' > /dev/null 2>&1 & "
                     "echo $! > /tmp/act.pid")
        chip.wait(dtr=1)
        self.m.check("kill -9 $(cat /tmp/act.pid)")
        chip.wait(dtr=0)
        # The port that records is the one that presses, by either driver.
        for port in ("ftdi:?dtr=0", "/dev/ttyUSB0?dtr=0"):
            self.m.check(f"rm -f /tmp/off.*; resumetime record -p '{port}' --cycles 1 --suspend "
                         f"true --resume-timeout 1s --off '{press}' -o /tmp/off.wwt < /dev/null "
                         "> /tmp/off.out 2>&1; true", 60)
            marks = [r for r in exported(self.m.fetch("/tmp/off.wwt"), "marks")
                     if r["kind"] in ("off", "off-end")]
            self.assertEqual([r["kind"] for r in marks], ["off", "off-end"],
                             self.m.check("cat /tmp/off.out"))
            self.assertRegex(marks[1]["text"], r"^pulse of 1[56]\d\d\.\d ms$")
            chip.wait(dtr=0)
        self.m.check("sleep 60 < /dev/ttyUSB0 & echo $! > /tmp/holder; usleep 200000")
        try:
            code, said = self.m.run(f"resumetime act '{press}'")
            self.assertEqual(code, 1, said)
            self.assertRegex(said, r"/dev/ttyUSB0 is in use by process \d+ \(sleep\)")
        finally:
            self.m.check("kill $(cat /tmp/holder)")

    def test_wattsup(self):
        self.m.check("wattsup_emu --link /tmp/meter --watts 42 < /dev/zero > /tmp/emu.out 2>&1 "
                     "& i=0; until [ -e /tmp/meter ] || [ $i = 50 ]; do usleep 100000; "
                     "i=$((i+1)); done")
        self.addCleanup(self.m.run, "killall wattsup_emu")
        chip = self.plugged("--wire", "/tmp/meter")
        self.m.record("watts", f"pwrlog record -m 'wattsup:{URI}' --for 5s")
        self.m.wait_for("[ ! -d /proc/$(cat /tmp/watts.pid) ]", "end of the recording", 30)
        trace, out = self.m.end("watts")
        watts = [r for r in exported(trace, "samples") if r["channel"] == "power"]
        self.assertGreaterEqual(len(watts), 3, out)
        for r in watts:
            self.assertAlmostEqual(r["value"], 42.0, delta=0.11)
        self.assertEqual(exported(trace, "gaps"), [], out)
        self.assertEqual(chip.state()["lost"], 0)
        print(f"# wattsup: {len(watts)} readings, the last {watts[-1]['value']} W")

    def test_list(self):
        self.plugged()
        found = json.loads(self.m.check("pwrlog list --json"))["found"]
        uris = [f["uri"] for f in found]
        self.assertIn(URI, uris)
        self.assertIn("/dev/ttyUSB0", uris)
        self.assertIn("FT232R", next(f["detail"] for f in found if f["uri"] == URI))


main()
