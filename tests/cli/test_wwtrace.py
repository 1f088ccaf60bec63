#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wwtrace: whole output, whole complaint, exit status."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main
from ww import BUILD, run, tool

# A trace in its stream form; every kind of record is in it.
STREAM = """\
{"type":"wakewatt","format":1}
{"type":"meta","key":"bench.host","value":"labhost"}
{"type":"meta","key":"bench.clocksource","value":"acpi_pm"}
{"type":"meta","key":"bench.utc_offset_s","value":"3600"}
{"type":"anchor","boot_ns":1000000000,"mono_ns":1,"real_ns":1700000000000000000,"width_ns":100}
{"type":"source","id":1,"kind":0,"name":"meter","uri":"wattsup:/dev/ttyUSB0","driver":"wattsup",\
"model":"PRO","serial":"A7005IDU","period_ns":1000000000,"window_ns":1000000000,\
"delay_max_ns":50000000,"transport":"uart","transport_delay_max_ns":1000000,\
"transport_char_ns":86806,"transport_settings":"baud=115200"}
{"type":"source","id":2,"kind":1,"name":"port","role":"heartbeat"}
{"type":"source","id":3,"kind":2,"name":"led"}
{"type":"channel","id":1,"source":1,"name":"power","quantity":"power","unit":"W","semantics":1,\
"scale":0.1,"resolution":0.1,"acc_abs":0.3,"acc_rel":0.015}
{"type":"channel","id":2,"source":1,"name":"pf","quantity":"power_factor","unit":"1","scale":0.01}
{"type":"channel","id":3,"source":3,"name":"level","quantity":"level","unit":"1","semantics":4}
{"type":"sample","source":1,"t":[999000000,1000000000],"codes":[249,99]}
{"type":"sample","source":1,"t":[1999000000,2000000000],"codes":[-5,null]}
{"type":"bytes","source":2,"t":[1500000000,1500020000],"hex":"2e41"}
{"type":"sample","source":3,"t":[1700000000,1700000000],"codes":[1]}
{"type":"mark","t":[1600000000,1600000000],"kind":"label","text":"+monitor, A7005IDU on labhost"}
{"type":"mark","t":[1550000000,1560000000],"source":2,"kind":"request","text":"ssh root@dut"}
{"type":"gap","source":1,"t":[2100000000,null],"lost":3,"reason":"unplugged"}
{"type":"end"}
"""

INFO = """\
trace      closed
span       1.101 s from 2023-11-14T23:13:19.999+01:00
marks      2: label 1, request 1
         0.601 s  +monitor, A7005IDU on labhost
gaps       1, 3 items lost
sources    3
  meter (meter)
    uri        wattsup:/dev/ttyUSB0
    driver     wattsup
    model      PRO
    serial     A7005IDU
    rows       2
    timing     period 1 s, window 1 s, delay 0 ns to 50 ms
    transport  uart, delay 0 ns to 1 ms, a character takes 86.806 µs, baud=115200
    channel    power: power in W, average, resolution 0.1, accuracy ±1.5 % ±0.3
    channel    pf: power_factor in 1, instant
  port (serial)
    role       heartbeat
    bytes      2
  led (line)
    rows       1
    channel    level: level in 1, edge
environment
  bench.clocksource    acpi_pm
  bench.host           labhost
  bench.utc_offset_s   3600
warning: bench.clocksource is acpi_pm: times are doubtful, it is slow to read and was chosen \
because the TSC was found unstable
"""

DUMP = """\
     0.001000000       1000 us  meter       power 24.9 W, pf 0.99
     0.501020000         20 us  port        byte 2e .
     0.501020000         20 us  port        byte 41 A
     0.561000000      10000 us  port        mark request: ssh root@dut
     0.601000000          0 us  -           mark label: +monitor, A7005IDU on labhost
     0.701000000          0 us  led         level 1
     1.001000000       1000 us  meter       power -0.5 W, pf missing
     1.101000000          open  meter       gap, 3 lost: unplugged
"""

EXPORTS = {
    (): """\
t_lo_ns,t_hi_ns,source,channel,value,unit
999000000,1000000000,meter,power,24.9,W
999000000,1000000000,meter,pf,0.99,1
1999000000,2000000000,meter,power,-0.5,W
1999000000,2000000000,meter,pf,,1
""",
    ("--what", "bytes"): """\
t_lo_ns,t_hi_ns,source,hex
1500000000,1500020000,port,2e
1500000000,1500020000,port,41
""",
    ("--what", "events", "--format", "jsonl"): """\
{"t_lo_ns":1700000000,"t_hi_ns":1700000000,"source":"led","level":1}
""",
    ("--what", "marks"): """\
t_lo_ns,t_hi_ns,source,kind,text
1550000000,1560000000,port,request,ssh root@dut
1600000000,1600000000,,label,"+monitor, A7005IDU on labhost"
""",
    ("--what", "marks", "--redact"): """\
t_lo_ns,t_hi_ns,source,kind,text
1550000000,1560000000,port,request,
1600000000,1600000000,,label,"+monitor, (redacted) on (redacted)"
""",
    ("--what", "gaps", "--format", "jsonl"): """\
{"t_lo_ns":2100000000,"t_hi_ns":null,"source":"meter","lost":3,"reason":"unplugged"}
""",
    ("--source", "port", "--what", "marks"): """\
t_lo_ns,t_hi_ns,source,kind,text
1550000000,1560000000,port,request,ssh root@dut
""",
}


class Redecode(unittest.TestCase):
    def test_no_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, "notes.txt"), os.path.join(folder, "o.wwt")
            with open(path, "w", encoding="ascii") as f:
                f.write("time_s,W\n0,1\n1,2\n")
            self.assertEqual(run("wwtrace", "redecode", path, "-o", out),
                             (1, "", f"wwtrace redecode: {path}: not a trace but a text file\n"))
            self.assertFalse(os.path.exists(out))


class Wwtrace(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        self.path = os.path.join(self.dir, "t.jsonl")
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(STREAM)

    def test_info(self):
        self.assertEqual(run("wwtrace", "info", self.path), (0, INFO, ""))
        self.assertEqual(run("wwtrace", "info", "-", stdin=STREAM.encode()), (0, INFO, ""))

    def test_info_json(self):
        code, out, err = run("wwtrace", "info", "--json", self.path)
        doc = json.loads(out)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(list(doc)[0], "schema")
        self.assertEqual(list(doc)[-1], "notes")
        self.assertEqual(doc["schema"], "wakewatt/info/1")
        self.assertEqual([s["name"] for s in doc["sources"]], ["meter", "port", "led"])
        self.assertEqual(doc["sources"][0]["channels"][0]["acc_rel"], 0.015)
        self.assertEqual(doc["marks"], {"label": 1, "request": 1})
        self.assertEqual(doc["labels"], [{"t_s": [0.601, 0.601],
                                          "text": "+monitor, A7005IDU on labhost"}])

    def test_dump(self):
        self.assertEqual(run("wwtrace", "dump", self.path), (0, DUMP, ""))

    def test_export(self):
        for args, text in EXPORTS.items():
            with self.subTest(args=args):
                self.assertEqual(run("wwtrace", "export", *args, self.path), (0, text, ""))

    def test_redacted_ids(self):
        text = STREAM[:STREAM.index('{"type":"channel"')] + ''.join(
            '{"type":"source","id":%d,"kind":%d,"name":"%s","uri":"%s","role":"%s"}\n' % row
            for row in ((4, 0, "plug", "kasa:tcp://plug.lan:9999", ""),
                        (5, 1, "plug.raw", "kasa:tcp://plug.lan:9999", "raw"),
                        (6, 1, "plug.turns", "kasa:tcp://plug.lan:9999", "turns"),
                        (7, 1, "a", "ftdi:?serial=A50285BI", ""),
                        (8, 1, "b", "tty:/dev/serial/by-id/usb-FTDI_X_A9-if00?baud=9600", ""))) + (
            '{"type":"bytes","source":5,"t":[1,2],"hex":"41"}\n'
            '{"type":"bytes","source":6,"t":[1,2],"hex":"530100"}\n'
            '{"type":"bytes","source":2,"t":[3,4],"hex":"42"}\n'
            '{"type":"mark","t":[5,6],"kind":"device","text":"kasa:tcp://plug.lan:9999: gone, '
            'A50285BI, /dev/serial/by-id/usb-FTDI_X_A9-if00: gone"}\n{"type":"end"}\n')
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(text)
        self.assertEqual(run("wwtrace", "export", "--what", "marks", "--redact", self.path)[1],
                         't_lo_ns,t_hi_ns,source,kind,text\n5,6,,device,"kasa:tcp://(redacted):9999:'
                         ' gone, (redacted), (redacted): gone"\n')
        self.assertEqual(run("wwtrace", "export", "--what", "bytes", "--redact", self.path),
                         (0, "t_lo_ns,t_hi_ns,source,hex\n3,4,port,42\n", ""))
        code, _, err = run("wwtrace", "export", "--what", "bytes", "--redact", "--source",
                           "plug.raw", self.path)
        self.assertEqual(code, 1)
        self.assertIn("not with --redact", err)
        # Calls of a driver are for redecode alone.
        out = run("wwtrace", "dump", self.path)[1]
        self.assertIn("plug.raw    byte 41 A", out)
        self.assertNotIn("plug.turns", out)

    def test_unclosed(self):
        code, out, err = run("wwtrace", "info", "-", stdin=STREAM[:-15].encode())
        self.assertEqual((code, err), (0, ""))
        self.assertIn("trace      unclosed\n", out)

    def test_broken_stream(self):
        bad = STREAM.replace('"codes":[-5,null]', '"codes":[-5]')
        code, out, err = run("wwtrace", "export", "-", stdin=bad.encode())
        self.assertIn("wwtrace export: -: line 13: a sample of 1 codes does not fit source 1\n", err)
        self.assertIn("meter,power,24.9,W", out)

    def test_labels_by_time(self):
        more = ('{"type":"mark","t":[1100000000,1100000000],"kind":"label","text":"a\\tb"}\n'
                '{"type":"end"}\n')
        out = run("wwtrace", "info", "-", stdin=STREAM.replace('{"type":"end"}\n', more).encode())[1]
        self.assertIn("         0.101 s  a b\n         0.601 s  +monitor", out)

    def test_digits_of_typed_readings(self):
        """Codes are finer than what was typed: no zeros that nobody typed."""
        typed = STREAM.replace('"scale":0.1,"resolution":0.1', '"scale":0.0001,"resolution":0.5')
        typed = typed.replace("[249,99]", "[135000,99]").replace("[-5,null]", "[137500,null]")
        out = run("wwtrace", "dump", "-", stdin=typed.encode())[1]
        self.assertIn("power 13.5 W,", out)
        self.assertIn("power 13.75 W,", out)

    def test_damaged_block(self):
        """The rest is written, then it is said what is missing, and it counts as failed."""
        path = os.path.join(self.dir, "d.wwt")
        self.assertEqual(run("pwrlog", "record", "-m", "sim:?watts=25&rate=20000&noise=1", "--for",
                             "1s", "-o", path)[0], 0)
        db = sqlite3.connect(path)
        rows, lost = [r for r in db.execute("SELECT sum(n), max(n) FROM block")][0]
        db.execute("UPDATE block SET data = substr(data, 1, 50) || x'00ff' || substr(data, 53)"
                   " WHERE first = 8192")
        db.commit()
        db.close()
        code, out, err = run("wwtrace", "export", path)
        self.assertEqual(code, 1)
        self.assertEqual(len(out.splitlines()), 1 + rows - lost)
        self.assertEqual(err, "wwtrace export: %s: %d rows of meter cannot be read, everything "
                              "else was written; wwtrace info says more\n" % (path, lost))
        self.assertEqual(run("wwtrace", "export", "--what", "marks", path)[0], 0)
        code, out, err = run("wwtrace", "export", "--what", "gaps", path)
        self.assertRegex(out, r"\n\d+,\d+,meter,%d,damaged block\n" % lost)
        code, out, err = run("wwtrace", "info", path)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"\nwarning: %d rows of meter from 0\.\d+ s to 0\.\d+ s "
                              r"cannot be read: block \d+: damaged block: " % lost)
        code, out, err = run("wwtrace", "dump", path)
        self.assertEqual(code, 1)
        self.assertIn("gap, %d lost: damaged block\n" % lost, out)
        self.assertIn(" s cannot be read: block ", err)
        code, out, err = run("pwrlog", "stat", "--json", path)
        channel = json.loads(out)["channels"][0]
        self.assertEqual((code, channel["n"], channel["gaps"]), (0, rows - lost, 1))
        self.assertIn("rows of meter from ", " ".join(json.loads(out)["notes"]))
        self.assertLess(abs(channel["gap_s"] - lost / 20000), 0.02)

    def test_wrong_use(self):
        tail = "'wwtrace export --help' tells how it is used.\n"
        for args, words in (((), "name a trace, or - for standard input"),
                            (("--what", "x", "f"), "--what x: samples, bytes, events, marks or gaps"),
                            (("--format", "x", "f"), "--format x: csv or jsonl"),
                            (("--nope", "f"), "unknown option '--nope'"),
                            (("--what",), "option '--what' needs a value"),
                            (("f", "g"), "one trace at a time, not also 'g'")):
            with self.subTest(args=args):
                self.assertEqual(run("wwtrace", "export", *args),
                                 (2, "", "wwtrace export: %s\n%s" % (words, tail)))
        self.assertEqual(run("wwtrace", "nope")[0], 2)
        self.assertEqual(run("wwtrace")[0], 2)

    def test_failures(self):
        self.assertEqual(run("wwtrace", "info", "/nonexistent"),
                         (1, "", "wwtrace info: /nonexistent: No such file or directory\n"))
        self.assertEqual(run("wwtrace", "export", "--source", "x", self.path),
                         (1, "", "wwtrace export: %s: there is no source named x; there is meter, "
                          "port, led\n" % self.path))
        with open("/dev/full", "w", encoding="ascii") as full:
            for command in ("info", "dump", "export"):
                p = subprocess.run([tool("wwtrace"), command, self.path], stdout=full,
                                   stderr=subprocess.PIPE, check=False)
                self.assertEqual(p.returncode, 1)
                self.assertTrue(p.stderr)

    def test_help(self):
        for command in ("info", "dump", "export"):
            code, out, err = run("wwtrace", command, "--help")
            self.assertEqual((code, err), (0, ""))
            self.assertTrue(out.startswith("Usage: wwtrace %s" % command))

    @unittest.skipUnless(shutil.which("sqlite3"), "sqlite3 is not installed")
    def test_sqlite_shell(self):
        lib = os.path.join(BUILD, "lib", "libwakewatt.so")
        p = subprocess.run(["sqlite3", ":memory:", ".load " + lib, "SELECT * FROM ww_samples('x')"],
                           capture_output=True, text=True, check=False)
        self.assertIn("ww_samples: this is no trace", p.stderr)


if __name__ == "__main__":
    main()
