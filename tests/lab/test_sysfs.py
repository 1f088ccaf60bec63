#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of a real kernel: INA226s on an I2C bus by hwmon and by IIO, and a battery.

i2c-stub keeps the registers; what a program writes there is the truth that the kernel's
drivers, and then the recorder, have to show. A driver that is unbound is a chip unplugged.
"""
import json
import os
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

PARAMETERS = "/sys/module/test_power/parameters"
# Registers of an INA226: steps of 1.25 mV, and with the driver's 10 mOhm of 6.25 mW, 0.25 mA.
BUS, POWER, CURRENT, MASK = 2, 3, 4, 6


def built(name, path):
    """A module that Debian does not build, from the kernel's source."""
    source, = guest.kernel_sources(name, (path,))
    return image.build_module(os.path.basename(path)[:-2],
                              f"obj-m := {os.path.basename(path)[:-2]}.o\n", [source])


def exported(trace, what):
    out = subprocess.run([os.path.join(lab.BUILD, "bin", "wwtrace"), "export", trace, "--what",
                          what, "--format", "jsonl"], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


def readings(trace):
    """One dictionary a reading: its times, its source, its channels."""
    rows = {}
    for r in exported(trace, "samples"):
        row = rows.setdefault((r["source"], r["t_lo_ns"], r["t_hi_ns"]), {
            k: r[k] for k in ("source", "t_lo_ns", "t_hi_ns")})
        row[r["channel"]] = r["value"]
    return list(rows.values())


class Sysfs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        setter = image.compile_c("i2c_set.c", os.path.join(lab.OUT, "i2c_set"), "-static")
        cls.m = m = guest.Guest(os.path.join(lab.OUT, "sysfs"),
                                ("i2c-dev", "i2c-stub", "ina2xx-adc",
                                 built("test-power", "drivers/power/supply/test_power.c"),
                                 built("ina2xx-hwmon", "drivers/hwmon/ina2xx.c")),
                                {"i2c_set": setter})
        cls.addClassCleanup(m.stop)
        m.start()
        # Without addresses it did not load; then a chip for IIO and one for hwmon.
        m.check("insmod /modules/i2c-stub.ko chip_addr=0x40,0x41")
        cls.bus = m.check("grep -l stub /sys/bus/i2c/devices/i2c-*/name").split("/")[5]
        for address in ("0x40", "0x41"):
            cls.set(address, {BUS: 4800, POWER: 480, CURRENT: 2000, MASK: 8})
            m.check(f"echo ina226 {address} > /sys/bus/i2c/devices/{cls.bus}/new_device")
        cls.chip = [f"{cls.bus[4:]}-004{i}" for i in (0, 1)]
        cls.bind(0, "ina2xx_adc")
        cls.bind(1, "ina2xx")
        m.check(r"chmod 1777 /tmp; mkdir -p /etc; printf 'root:x:0:0::/:/bin/sh\nuser:x:1000:1000::/:/bin/sh\n' "
                "> /etc/passwd")

    @classmethod
    def unbind(cls, i):
        cls.m.check(f"d=/sys/bus/i2c/devices/{cls.chip[i]}/driver; "
                    f"[ ! -e $d ] || echo {cls.chip[i]} > $d/unbind")

    @classmethod
    def bind(cls, i, driver):
        cls.unbind(i)
        cls.m.check(f"echo {cls.chip[i]} > /sys/bus/i2c/drivers/{driver}/bind")

    @classmethod
    def set(cls, address, registers):
        """-> between which times, ns"""
        words = " ".join(f"{r} {v & 0xffff}" for r, v in registers.items())
        return [int(v) for v in cls.m.check(f"i2c_set /dev/{cls.bus} {address} {words}").split()]

    def test_0_hwmon(self):
        self.set("0x41", {BUS: 9600, POWER: 960, CURRENT: -2000})
        self.m.record("hwmon", "pwrlog record -m hwmon:ina226")
        self.m.wait_for("wwtrace info /tmp/hwmon.wwt 2>&1 | grep -q ina226", "source")
        self.m.check("usleep 500000")
        self.unbind(1)
        marks = "wwtrace export /tmp/hwmon.wwt --what marks | grep -q "
        self.m.wait_for(marks + ",unplugged,", "mark of the unplugged chip")
        self.set("0x41", {BUS: 4800, POWER: 480, CURRENT: 2000})
        back = int(float(self.m.check("cut -d' ' -f1 /proc/uptime")) * 1e9)
        self.bind(1, "ina2xx")
        self.m.wait_for(marks + ",replugged,", "mark of the replugged chip")
        self.m.check("usleep 500000")
        trace, said = self.m.end("hwmon")
        rows = readings(trace)
        before = [r for r in rows if r["voltage"] > 11]
        after = [r for r in rows if r["voltage"] < 7]
        self.assertEqual(len(before) + len(after), len(rows), said)
        self.assertGreater(min(len(before), len(after)), 5)
        for r in before:
            self.assertEqual((round(r["power"], 6), round(r["current"], 6),
                              round(r["voltage"], 6)), (6.0, -0.5, 12.0))
        for r in after:
            self.assertEqual((round(r["power"], 6), round(r["current"], 6)), (3.0, 0.5))
        gaps = exported(trace, "gaps")
        self.assertEqual(len(gaps), 1)
        # Recording goes on within 2 s of its return.
        self.assertLess(after[0]["t_lo_ns"] - back, 2e9)

    def scans(self, uri, name, options=""):
        """A step of the chip's values while it is recorded. -> rows, (before, after), text"""
        self.set("0x40", {BUS: 4800, POWER: 480, CURRENT: 2000})
        self.m.record(name, f"pwrlog record -m '{uri}' {options}")
        self.m.wait_for(f"wwtrace info /tmp/{name}.wwt 2>&1 | grep -q ina226", "source")
        self.m.check("usleep 500000")
        step = self.set("0x40", {POWER: 960})
        self.m.check("usleep 500000")
        trace, said = self.m.end(name)
        rows = readings(trace)
        self.assertGreater(len(rows), 20, said)
        for r in rows:
            self.assertAlmostEqual(r["voltage"], 6.0)
            self.assertAlmostEqual(r["current"], 0.5)
            self.assertIn(round(r["power"], 6), (3.0, 6.0))
        # No value before it was written, none after it was overwritten.
        for r in rows:
            if r["power"] > 4:
                self.assertGreaterEqual(r["t_hi_ns"], step[0])
            else:
                self.assertLessEqual(r["t_lo_ns"], step[1])
        self.assertEqual({round(r["power"]) for r in rows}, {3, 6})
        return rows, said

    def test_1_iio_polled(self):
        self.scans("iio:device0?buffer=0", "polled", "--every 20ms")

    def test_2_iio_buffer(self):
        d = "/sys/bus/iio/devices/iio:device0"
        files = f"cat {d}/buffer/length {d}/buffer/enable {d}/current_timestamp_clock " \
                f"{d}/scan_elements/*_en | tr '\\n' ' '"
        found = self.m.check(files)
        rows, said = self.scans("ina226:iio:device0?buffer=256", "buffer")
        # The kernel's own stamps, on our axis: of no width.
        self.assertEqual({r["t_hi_ns"] - r["t_lo_ns"] for r in rows}, {0}, said)
        ends = [r["t_hi_ns"] for r in rows]
        self.assertEqual(ends, sorted(ends))
        self.m.wait_for(f"[ \"$(echo $({files}))\" = \"{found.strip()}\" ]", "files as they were found")

    def test_3_killed_while_it_runs(self):
        d = "/sys/bus/iio/devices/iio:device0"
        self.m.record("killed", "pwrlog record -m 'iio:device0?buffer=256'")
        self.m.wait_for(f"grep -q 1 {d}/buffer/enable", "running buffer")
        self.m.check("kill -KILL $(cat /tmp/killed.pid)")
        self.m.wait_for(f"grep -q 0 {d}/buffer/enable && "
                        f"grep -q realtime {d}/current_timestamp_clock", "buffer at rest", 10)

    def test_4_battery(self):
        for name, value in (("battery_status", "discharging"), ("battery_voltage", 12000000),
                            ("battery_current", -500000)):
            self.m.check(f"echo {value} > {PARAMETERS}/{name}")
        self.m.record("battery", "pwrlog record -m battery:test_battery --every 200ms")
        self.m.wait_for("wwtrace info /tmp/battery.wwt 2>&1 | grep -q battery", "source")
        self.m.check("usleep 700000")
        self.m.check(f"echo charging > {PARAMETERS}/battery_status")
        self.m.check("usleep 700000")
        trace, said = self.m.end("battery")
        rows = readings(trace)
        # A change of sign by status, whatever the driver says, and once.
        power = [round(r["power"], 6) for r in rows]
        self.assertEqual([p for p, before in zip(power, [None] + power) if p != before],
                         [6.0, -6.0], said)
        self.assertIn("status Charging, was Discharging",
                      [m["text"] for m in exported(trace, "marks")])

    def test_5_ordinary_user(self):
        _, said = self.m.run("su user -c 'pwrlog record -m hwmon:ina226 -m iio:device0 "
                             "-m battery:test_battery -o /tmp/user.wwt --for 1s' 2>&1", 30)
        names = {r["source"] for r in readings(self.m.fetch("/tmp/user.wwt"))}
        self.assertEqual(len(names), 3, said)
        code, said = self.m.run("su user -c 'pwrlog record -m iio:device0?buffer=64 "
                                "-o /tmp/no.wwt --for 1s' 2>&1", 30)
        self.assertNotEqual(code, 0)
        self.assertIn("udev rule", said)


main()
