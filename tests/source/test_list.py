#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pwrlog list` beside an FTDI chip that umockdev puts on the USB bus."""
import json
import os
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tap import main  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("WW_BUILD", os.path.join(ROOT, "build")))
PWRLOG = os.path.join(BUILD, "bin", "pwrlog")
BED = os.path.join(ROOT, "tests", "data", "ftdi.umockdev")
KERNEL = os.path.join(ROOT, "tests", "data", "kernel-meters.umockdev")


def listed(*args, bed=BED):
    mock = ["umockdev-run", "-d", bed, "--"] if bed else []
    p = subprocess.run(mock + [PWRLOG, "list", *args], capture_output=True, timeout=30, check=True)
    return p.stdout.decode()


@unittest.skipUnless(shutil.which("umockdev-run"), "umockdev is not installed")
class List(unittest.TestCase):
    def setUp(self):
        # The library of this build: an overridden LD_PRELOAD and a sanitizer do not mix.
        if "asan" in BUILD:
            self.skipTest("umockdev's preload and the sanitizers exclude each other")

    def test_both_ways_to_the_chip(self):
        found = {f["uri"]: f for f in json.loads(listed("--json"))["found"]}
        tty = found["/dev/ttyUSB0"]
        self.assertEqual(tty["what"], "serial port (ftdi_sio)")
        self.assertEqual(tty["detail"], "FTDI FT232R USB UART, serial A7005IDU")
        self.assertEqual(tty["hint"], "")
        chip = found["ftdi:?serial=A7005IDU"]
        self.assertEqual(chip["what"], "FTDI chip 0403:6001")

    def test_hubs_are_not_listed(self):
        self.assertNotIn("1d6b:0002", listed())

    def test_meters_that_the_kernel_has(self):
        found = {f["uri"]: f["what"] for f in json.loads(listed("--json", bed=KERNEL))["found"]}
        self.assertEqual(found["hwmon:hwmon4"], "hwmon (ina226)")
        self.assertEqual(found["battery:BAT0"], "battery")
        self.assertEqual(found["rapl:intel-rapl:0"], "energy counter of the processor")
        # Neither temperatures nor the mains adapter are meters.
        self.assertNotIn("hwmon:hwmon5", found)
        self.assertNotIn("battery:AC", found)

    def test_text_names_what_json_names(self):
        text = listed()
        for f in json.loads(listed("--json"))["found"]:
            self.assertIn(f["what"], text)

    def test_fits_a_terminal(self):
        for bed in (None, BED, KERNEL):
            for line in listed(bed=bed).splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_document(self):
        doc = json.loads(listed("--json", bed=None))
        self.assertEqual(list(doc)[0], "schema")
        self.assertEqual(doc["schema"], "wakewatt/list/1")
        self.assertEqual(list(doc)[-1], "notes")
        names = [d["name"] for d in doc["drivers"]]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual({"tty", "unix", "tcp", "ftdi", "gpio", "wattsup"}, set(names))


main()
