#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Meters of every USB bus on the real USB stack: bulk endpoints, HID, USBTMC, FTDI.

A guest plugs models of meters (usbip_meter.c, usbip_ftdi.c) into its virtual host controller,
and an ordinary user records from them: systemd's own udevd applies the rules that are
installed, for a user of whom logind would say that he sits there.
"""
import glob
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
import udev  # noqa: E402
from tap import main  # noqa: E402

MODELS = "../emu/models"
# Label, its URI, the program that is the device, the controller's port, and that of the replug.
METERS = (
    ("bulk", "km003c:", "usbip_meter --model km003c --volts 5 --amps 1", 0, 5),
    ("hid", "fnb58:", "usbip_meter --model fnb58 --volts 9 --amps 2", 1, 4),
    ("tmc", "wt310:", "usbip_meter --model wt310 --volts 230 --amps 0.5", 2, 7),
    ("ftdi", "wattsup:ftdi:?serial=WW000001", "usbip_ftdi --wire /tmp/meter", 3, 6),
)
NAMES = [m[0] for m in METERS]
WATTS = {"bulk": 5, "hid": 18, "tmc": 115, "ftdi": 42}
# The kernel's driver of each, by the interface that we take from it; HID keeps its own.
DRIVERS = {"hid": (3, "usbhid"), "tmc": (0, "usbtmc"), "ftdi": (0, "ftdi_sio")}
UPTIME = "cut -d' ' -f1 /proc/uptime"


def exported(trace, what):
    out = subprocess.run([os.path.join(lab.BUILD, "bin", "wwtrace"), "export", trace, "--what",
                          what, "--format", "jsonl"], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


def name_of(source, names=NAMES):
    """Sources are called meter, meter2, meter3 in the order of the command."""
    return names[int(source[len("meter"):] or 1) - 1]


def meter_program():
    models = sorted(glob.glob(os.path.join(HERE, MODELS, "*.[ch]")))
    nettle = subprocess.run(["pkg-config", "--exists", "nettle"]).returncode == 0
    return image.compile_c(
        "usbip_meter.c", os.path.join(lab.OUT, "usbip_meter"), "-Wextra", "-Wl,--no-as-needed",
        *(("-DWW_WITH_NETTLE=1", "-lnettle") if nettle else ()), "-lm",
        more=("usbip.c", "usbip.h", "../emu/emu.h", *models))


class Usb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ftdi = image.compile_c("usbip_ftdi.c", os.path.join(lab.OUT, "usbip_ftdi"), "-static",
                               "-Wextra", more=("usbip_chip.c", "usbip.c", "usbip_ftdi.h",
                                                "usbip.h"))
        emu = image.compile_c("../emu/wattsup_emu.c", os.path.join(lab.OUT, "wattsup_emu"),
                              "-static")
        files = udev.files()
        cls.m = guest.Guest(os.path.join(lab.OUT, "usb"),
                            ("vhci-hcd", "ftdi_sio", "usbhid", "hid-generic", "usbtmc"),
                            {"usbip_meter": meter_program(), "usbip_ftdi": ftdi,
                             "wattsup_emu": emu, "udevadm": files.pop("bin/udevadm")},
                            more=files)
        cls.addClassCleanup(cls.m.stop)
        cls.m.start()
        cls.m.check(udev.START + "; chmod 1777 /tmp; chmod 666 /dev/null", 60)
        cls.m.check("wattsup_emu --link /tmp/meter --watts 42 < /dev/zero > /tmp/emu.out 2>&1 &"
                    "i=0; until [ -e /tmp/meter ] || [ $i = 50 ]; do usleep 100000; i=$((i+1)); "
                    "done")
        cls.port = {name: port for name, *_, port, _ in METERS}
        for name, _, program, port, _ in METERS:
            cls.m.check(f"{program} --control /tmp/{name}.ctl --port {port} "
                        f"> /tmp/{name}.err 2>&1 &")
        for *_, port, _ in METERS:
            cls.here(port)
        cls.m.check("udevadm settle --timeout=20", 30)

    @classmethod
    def here(cls, port):
        """Until it is there. -> the guest's clock when it came, s"""
        cls.m.wait_for(f"[ -e /sys/bus/usb/devices/1-{port + 1}/1-{port + 1}:1.0 ]",
                       f"device at port {port}")
        return float(cls.m.check(UPTIME))

    @classmethod
    def order(cls, name, text):
        cls.m.check(f"echo '{text}' > /tmp/{name}.ctl")

    def record(self, name, names=NAMES, options=""):
        """By the ordinary user."""
        meters = " ".join(f'-m "{m[1]}"' for m in METERS if m[0] in names)
        self.m.check(f"rm -f /tmp/{name}.*; su -s /bin/sh user -c 'LD_LIBRARY_PATH=/lib exec "
                     f"pwrlog record {meters} --every 200ms {options} -o /tmp/{name}.wwt' "
                     f"< /dev/null > /tmp/{name}.out 2>&1 & echo $! > /tmp/{name}.pid")

    def gives(self, name, names=NAMES, since=0.0):
        """Until each has given a reading after so many seconds of the guest's clock."""
        seen = set()
        for _ in range(40):
            _, rows = self.m.run(f"wwtrace export /tmp/{name}.wwt --what samples --format jsonl "
                                 "2> /dev/null | grep '\"power\"' | tail -n 60")
            for line in rows.splitlines():
                if line.startswith("{") and line.endswith("}"):
                    r = json.loads(line)
                    if r["t_lo_ns"] >= since * 1e9:
                        seen.add(name_of(r["source"], names))
            if seen >= set(names):
                return
            if self.m.run(f"usleep 300000; [ -d /proc/$(cat /tmp/{name}.pid) ]")[0]:
                break
        raise lab.LabError(f"{name}: no readings of {set(names) - seen} since {since}: "
                           + self.m.check(f"tail -n 20 /tmp/{name}.out"))

    def finish(self, name):
        """-> (path of its trace here, what it printed)"""
        self.m.check(f"kill -INT $(cat /tmp/{name}.pid) 2> /dev/null; true")
        self.m.wait_for(f"[ ! -d /proc/$(cat /tmp/{name}.pid) ]", f"end of {name}", 20)
        return self.m.fetch(f"/tmp/{name}.wwt"), self.m.check(f"cat /tmp/{name}.out")

    def drivers_back(self):
        for name, (interface, driver) in DRIVERS.items():
            n = self.port[name] + 1
            self.m.wait_for(f"readlink /sys/bus/usb/devices/1-{n}:1.{interface}/driver "
                            f"| grep -q /{driver}$", f"{driver} on {name}", 5)

    def right(self, trace, names=NAMES):
        """Every power that was recorded is the one that the model has. -> readings of each"""
        n = dict.fromkeys(names, 0)
        for r in exported(trace, "samples"):
            if r["channel"] == "power":
                name = name_of(r["source"], names)
                self.assertAlmostEqual(r["value"], WATTS[name],
                                       delta=0.005 * WATTS[name] + 0.11, msg=r)
                n[name] += 1
        return n

    def stood_still(self, trace, since, until):
        """Seconds in which the recorder got no time from a machine that had none."""
        return sum(max(0, min(m["t_hi_ns"] / 1e9, until) - max(m["t_lo_ns"] / 1e9, since))
                   for m in exported(trace, "marks") if "stood still" in m["text"])

    def test_1_all_at_once(self):
        """An ordinary user, four buses, devices that the machine would like to put to sleep."""
        for name in NAMES:
            power = f"/sys/bus/usb/devices/1-{self.port[name] + 1}/power"
            self.m.check(f"echo 0 > {power}/autosuspend_delay_ms; echo auto > {power}/control")
        self.record("all")
        self.gives("all")
        since = float(self.m.check(UPTIME))
        asleep = self.m.check("cat /sys/bus/usb/devices/1-[1-4]/power/runtime_status").split()
        self.gives("all", since=since + 1)
        trace, out = self.finish("all")
        self.assertEqual(asleep, ["active"] * 4)
        n = self.right(trace)
        print(f"# readings {n}; gaps {len(exported(trace, 'gaps'))}")
        self.assertTrue(all(n.values()), out)
        info = subprocess.run([os.path.join(lab.BUILD, "bin", "wwtrace"), "info", trace],
                              capture_output=True, text=True, check=True).stdout
        self.assertEqual(info.count("power=on(while open)"), 4, info)
        self.assertIn("detached=usbtmc", info)
        self.drivers_back()
        # The kernel's serial port and GPIO chip of the FTDI chip are his as well.
        self.m.check("su -s /bin/sh user -c 'LD_LIBRARY_PATH=/lib pwrlog record -m "
                     "wattsup:/dev/ttyUSB0 --for 3s -o /tmp/tty.wwt' < /dev/null > /tmp/tty.out "
                     "2>&1; cat /tmp/tty.out", 40)
        self.assertTrue([r for r in exported(self.m.fetch("/tmp/tty.wwt"), "samples")
                         if r["channel"] == "power"])
        self.assertIn("ftdi-cbus, 4 lines", self.m.check(
            "su -s /bin/sh user -c 'LD_LIBRARY_PATH=/lib pwrlog list'"))

    def test_2_replug_elsewhere(self):
        """Unplugged at any moment and plugged in at another port, behind another hidraw."""
        self.record("plug")
        self.gives("plug")
        for name in NAMES:
            self.order(name, "unplug")
        self.m.wait_for("! ls -d /sys/bus/usb/devices/1-[1-4] > /dev/null 2>&1", "unplug")
        self.m.check("usbip_meter --model fnb48 --control /tmp/other.ctl --port 0 "
                     "> /tmp/other.err 2>&1 &")
        self.here(0)
        back = {}
        for name, *_, port in reversed(METERS):
            self.port[name] = port
            self.order(name, f"plug {port}")
            back[name] = self.here(port)
        self.gives("plug", since=max(back.values()))
        trace, out = self.finish("plug")
        self.order("other", "quit")
        self.right(trace)
        gaps = exported(trace, "gaps")
        for name in NAMES:
            mine = [g for g in gaps if name_of(g["source"]) == name and "unplugged" in json.dumps(g)]
            self.assertEqual(len(mine), 1, out)
            end = mine[0]["t_hi_ns"] / 1e9
            still = self.stood_still(trace, back[name], end)
            late = end - back[name] - still
            print(f"# {name}: goes on {late:.2f} s after its return, and {still:.2f} s in which "
                  "the guest gave the recorder no time")
            self.assertLess(late, 2 + (1 if name == "ftdi" else 0))  # it reads once a second
        self.drivers_back()

    def test_3_faults(self):
        """One that does not answer, refuses, or answers nonsense does not disturb another."""
        self.record("bad")
        self.gives("bad")
        for order in ("nak", "go", "stall 3", "nonsense", "go"):
            for name in ("bulk", "hid", "tmc"):
                self.order(name, order)
            self.m.check("usleep 1500000")
        since = float(self.m.check(UPTIME))
        self.gives("bad", since=since)
        trace, out = self.finish("bad")
        self.right(trace)
        gaps = exported(trace, "gaps")
        self.assertEqual([g for g in gaps if name_of(g["source"]) == "ftdi"], [], out)
        self.assertTrue([g for g in gaps if name_of(g["source"]) == "bulk"], "what was missed is told")
        marks = json.dumps(exported(trace, "marks"))
        self.assertIn("STALL", marks)
        self.drivers_back()

    def test_4_killed_and_held(self):
        self.record("killed")
        self.gives("killed")
        self.m.check("kill -9 $(cat /tmp/killed.pid)")
        self.record("next")
        self.gives("next")
        trace, _ = self.finish("next")
        self.right(trace)
        self.drivers_back()
        self.m.check("su -s /bin/sh user -c 'exec sleep 60' < $(ls /dev/usbtmc*) & "
                     "echo $! > /tmp/holder")
        try:
            self.record("held", ["tmc"], "--for 1s")
            self.m.wait_for("[ ! -d /proc/$(cat /tmp/held.pid) ]", "end")
            self.assertRegex(self.m.check("cat /tmp/held.out"),
                             r"/dev/usbtmc\d+ is in use by process \d+ \(sleep\)")
        finally:
            self.m.check("kill $(cat /tmp/holder)")
        self.m.check("chmod 600 /dev/bus/usb/001/* /dev/hidraw*")
        for name, what in (("bulk", "/dev/bus/usb/"), ("hid", "/dev/hidraw"),
                           ("ftdi", "/dev/bus/usb/")):
            self.record("denied", [name], "--for 1s")
            self.m.wait_for("[ ! -d /proc/$(cat /tmp/denied.pid) ]", "end")
            self.assertRegex(self.m.check("cat /tmp/denied.out"),
                             f"permission denied for {what}.*udev rules")


main()
