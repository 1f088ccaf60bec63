#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""resumetime kernlog as a user meets it: every form, live input, wrong use, full disks."""
import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import ROOT, Case, js, run, tool, wait_for  # noqa: E402

DATA = os.path.join(ROOT, "tests", "data", "kernlog")
OK, REFUSED = os.path.join(DATA, "ok.log"), os.path.join(DATA, "refused.log")
FTRACE = os.path.join(DATA, "ok-ftrace.txt")

REFUSED_TEXT = """kernel text, kernel stamps

cycle 1: s2idle, failed in suspend: kettle 0000:03:00.0 (async), kettle_suspend(), error
  -16 EBUSY
  from 812.750000 s to 812.813000 s, kernel's stamps

  phase                     ms
  sync             2.50 ± 0.50
  freeze                 2.300
  suspend_prepare        0.099
  suspend               44.900  failed
  resume                 8.700
  thaw                   1.100

  slowest of 1 callbacks of devices
      ms  critical  phase                     driver device
  40.200    40.200  suspend  error -16 EBUSY  kettle 0000:03:00.0

        ms  what is no device
    62.200  attempt without a sleep

- "usecs" of callbacks are microseconds here, as the stamps show
"""


def lines(path):
    with open(path, encoding="utf-8") as f:
        return f.read().splitlines()


def later(text, seconds):
    """A line of the kernel's, with its stamp moved."""
    stamp, rest = text[1:].split("]", 1)
    return "[%12.6f]%s" % (float(stamp) + seconds, rest)


class Kernlog(Case):
    def many(self, n, name="many.log"):
        """n cycles, the third of which fails."""
        with open(self.path(name), "w", encoding="utf-8") as f:
            for i in range(n):
                src = lines(REFUSED if i == 2 else OK)
                base = -812.75 if i == 2 else -61.2
                for line in src:
                    if "Linux version" not in line:
                        f.write(later(line, base + 100 + 10 * i) + "\n")
        return self.path(name)

    # ---- text

    def test_refused(self):
        self.assertEqual(run("resumetime", "kernlog", REFUSED), (0, REFUSED_TEXT, ""))

    def test_ok(self):
        code, out, err = run("resumetime", "kernlog", OK)
        self.assertEqual((code, err), (0, ""))
        for want in ("cycle 1: mem, ok; kernel 6.17.3\n",
                     "  suspend  143.3 ± 1.3 ms\n", "  slept    7250.50 ± 0.50 ms\n",
                     "  resume   160.3 ± 1.3 ms\n",
                     " 150.000   150.000  resume   async                    kettle "
                     "0000:03:00.0\n",
                     "error -71 EPROTO  spout 4-1\n",
                     "  error: spout 4-1: PM: failed to resume async: error -71\n"):
            self.assertIn(want, out)
        self.assertLessEqual(max(map(len, out.splitlines())), 100)

    def test_pair_in_any_order(self):
        a = js("resumetime", "kernlog", "--json", OK, FTRACE)["cycles"][0]
        b = js("resumetime", "kernlog", "--json", FTRACE, OK)["cycles"][0]
        self.assertEqual(a, b)
        froms = {d["from"] for d in a["devices"]}
        self.assertEqual(froms, {"both"})
        self.assertAlmostEqual(a["suspend_ms"]["value"], 142.3, delta=0.01)

    def test_many_are_a_table(self):
        code, out, err = run("resumetime", "kernlog", self.many(6))
        self.assertEqual((code, err), (0, ""))
        rows = [x for x in out.splitlines() if re.match(r" *\d+  (mem|s2idle)", x)]
        self.assertEqual(len(rows), 6)
        self.assertIn("    3  s2idle   failed               -        -            -  suspend -16 EBUSY: "
                      "kettle 0000:03:00.0", rows)
        self.assertIn("\n6 cycles: 5 ok, 1 failed\n", out)
        self.assertIn("  1 x failed in suspend: kettle 0000:03:00.0 (async), kettle_suspend(), "
                      "error -16 EBUSY;\n      first cycle 3\n", out)
        self.assertIn("callbacks that took most time over all cycles", out)
        self.assertNotIn("slowest of", out)

    def test_how_much(self):
        log = self.many(6)
        out = run("resumetime", "kernlog", "--cycle", "3", log)[1]
        self.assertIn("cycle 3: s2idle, failed in suspend", out)
        self.assertNotIn("cycle 2", out)
        out = run("resumetime", "kernlog", "--all", "--top", "1", log)[1]
        self.assertEqual(out.count("slowest of 5 callbacks"), 5)
        self.assertNotIn("25.000", out)
        out = run("resumetime", "kernlog", "--brief", OK)[1]
        self.assertIn("    1  mem      ok         143.3 ± 1.3", out)
        self.assertNotIn("slowest of", out)
        code, out, err = run("resumetime", "kernlog", "--cycle", "9", log)
        self.assertEqual((code, out, err), (1, "", "resumetime kernlog: no cycle 9: there are "
                                                   "6\n"))

    def test_nothing_there(self):
        with open(self.path("x.log"), "w", encoding="utf-8") as f:
            f.write("[    1.000000] usb 1-1: new device\n" * 5)
        code, out, _ = run("resumetime", "kernlog", self.path("x.log"))
        self.assertEqual(code, 0)
        self.assertIn("no suspend was found\n", out)
        self.assertEqual(js("resumetime", "kernlog", "--json", self.path("x.log"))["cycles"], [])

    # ---- JSON

    def test_json(self):
        d = js("resumetime", "kernlog", "--json", OK)
        self.assertEqual(list(d), ["schema", "cycles", "inputs", "summary", "notes"])
        self.assertEqual(d["schema"], "wakewatt/kernlog/1")
        c = d["cycles"][0]
        for key in ("mode", "result", "reason", "suspend_ms", "resume_ms", "slept_ms", "phases",
                    "devices", "other", "errors", "contradictions", "console", "clock", "t_s"):
            self.assertIn(key, c)
        self.assertEqual((c["mode"], c["result"]), ("mem", "ok"))
        s = c["suspend_ms"]
        self.assertTrue(s["lo"] < s["value"] < s["hi"])
        self.assertAlmostEqual(s["u"], (s["hi"] - s["lo"]) / 2 / 3 ** .5, delta=0.01)
        self.assertEqual([p["name"] for p in c["phases"] if p["ms"]][:2], ["sync", "freeze"])
        slow = max(c["devices"], key=lambda x: x["ms"]["value"])
        self.assertEqual((slow["name"], slow["driver"], slow["phase"], slow["errno"]),
                         ("0000:03:00.0", "kettle", "resume", 0))
        self.assertIs(slow["async"], True)
        self.assertEqual([x["errno"] for x in c["devices"] if x["name"] == "4-1"], [-71])
        gap = [o for o in c["other"] if o["what"] == "silent gap"][0]
        self.assertAlmostEqual(gap["ms"]["value"], 130.1, delta=0.01)
        self.assertTrue(gap["before"] and gap["after"])
        why = js("resumetime", "kernlog", "-j", REFUSED)["cycles"][0]["reason"]
        self.assertEqual((why["step"], why["device"], why["driver"], why["errno"]),
                         ("suspend", "0000:03:00.0", "kettle", -16))

    def test_json_summary(self):
        s = js("resumetime", "kernlog", "--json", "--top", "2", self.many(6))["summary"]
        self.assertEqual((s["cycles"], s["results"]), (6, {"ok": 5, "failed": 1}))
        self.assertEqual([(x["name"], x["phase"]) for x in s["slowest"]],
                         [("0000:03:00.0", "resume"), ("0000:03:00.0", "suspend")])
        self.assertEqual(s["slowest"][0]["ms"]["n"], 5)
        self.assertEqual((s["reasons"][0]["n"], s["reasons"][0]["first_cycle"]), (1, 3))

    def test_any_bytes_are_json(self):
        """A log of whatever bytes gives a document all the same."""
        with open(OK, "rb") as f:
            text = f.read()
        text = text.replace(b"kettle", b"k\xff\xfe\x00\"\\t\x1b[31m").replace(b"7:0001", b"\xc3(")
        with open(self.path("raw"), "wb") as f:
            f.write(text)
        for args in ("--json",), ("--csv",), ():
            p = subprocess.run([tool("resumetime"), "kernlog", self.path("raw"), *args],
                               capture_output=True, check=True)
            out = p.stdout.decode("utf-8", "strict")
            self.assertNotIn("\x1b", out)
            if args == ("--json",):
                self.assertEqual(len(json.loads(out)["cycles"]), 1)

    # ---- CSV, trace events, page

    def test_csv(self):
        out = run("resumetime", "kernlog", "--csv", self.many(4))[1]
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertTrue(all(None not in r and None not in r.values() for r in rows))
        self.assertEqual(len(rows), 3 * 5 + 1)
        slow = max(rows, key=lambda r: float(r["ms"]))
        self.assertEqual((slow["driver"], slow["device"], slow["phase"]),
                         ("kettle", "0000:03:00.0", "resume"))
        self.assertEqual({r["errno"] for r in rows if r["device"] == "4-1"}, {"-71"})

    def test_trace_events(self):
        f = self.path("e.json")
        code, out, err = run("resumetime", "kernlog", "--trace-events", f, self.many(4))
        self.assertEqual((code, err), (0, ""))
        self.assertIn("4 cycles: 3 ok, 1 failed", out)
        with open(f, encoding="utf-8") as g:
            doc = json.load(g)
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in doc["traceEvents"]
                 if e["name"] == "thread_name"}
        ends = {}
        for e in doc["traceEvents"]:
            self.assertIn(e["ph"], "XMCi")
            if e["ph"] != "X":
                continue
            track = e["pid"], e["tid"]
            self.assertIn(track, names)
            # Slices of a thread follow each other or nest.
            open_ = [x for x in ends.get(track, []) if x > e["ts"] + 1e-6]
            self.assertTrue(all(e["ts"] + e["dur"] <= x + 1e-6 for x in open_), (e, open_))
            ends[track] = open_ + [e["ts"] + e["dur"]]
        devices = [e for e in doc["traceEvents"] if e.get("cat") == "device"]
        self.assertEqual(len(devices), 3 * 5 + 1)
        slow = max(devices, key=lambda e: e["dur"])
        self.assertEqual((slow["name"], slow["dur"]), ("kettle 0000:03:00.0", 150000))
        self.assertEqual(sum(e.get("cat") == "cycle" for e in doc["traceEvents"]), 4)

    def test_html(self):
        f = self.path("p.html")
        code, _, err = run("resumetime", "kernlog", "--html", f, OK)
        self.assertEqual((code, err), (0, ""))
        with open(f, encoding="utf-8") as g:
            page = g.read()
        self.assertIn("0000:03:00.0", page)
        self.assertTrue(page.lstrip().lower().startswith("<!doctype html>"))

    # ---- where it comes from, where it goes

    def test_packed_and_stdin(self):
        with open(OK, "rb") as f:
            text = f.read()
        with gzip.open(self.path("ok.log.gz"), "wb") as g:
            g.write(text)
        want = js("resumetime", "kernlog", "--json", OK)["cycles"]
        self.assertEqual(js("resumetime", "kernlog", "--json", self.path("ok.log.gz"))["cycles"],
                         want)
        p = subprocess.run([tool("resumetime"), "kernlog", "-", "--json"], input=text,
                           capture_output=True, check=True)
        self.assertEqual(json.loads(p.stdout)["cycles"], want)
        p = subprocess.run([tool("resumetime"), "kernlog", "-", "--html", self.path("p.html")],
                           input=text, capture_output=True, check=True)
        self.assertEqual(p.stdout, b"")
        self.assertTrue(os.path.getsize(self.path("p.html")) > 1000)

    def test_live(self):
        """What comes through a pipe is told as soon as a cycle is over."""
        with subprocess.Popen([tool("resumetime"), "kernlog", "-"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as p:
            os.set_blocking(p.stdout.fileno(), False)
            got = b""

            def more():
                nonlocal got
                got += p.stdout.read() or b""
                return got

            for i in range(2):
                for line in lines(OK)[1:]:
                    p.stdin.write((later(line, 30 * i) + "\n").encode())
                    p.stdin.flush()
                # Ten seconds later nothing more of it is to come: network, disks.
                p.stdin.write(b"[%12.6f] systemd[1]: woke\n" % (75 + 30 * i))
                p.stdin.flush()
                wait_for(lambda n=i + 1: b"cycle %d: mem, ok" % n in more(), 10)
            p.stdin.close()
            wait_for(lambda: p.poll() is not None)
            self.assertIn(b"2 cycles: 2 ok", more())

    def test_reader_goes_away(self):
        p = subprocess.Popen([tool("resumetime"), "kernlog", "--json", self.many(400)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        p.stdout.read(10)
        p.stdout.close()
        self.assertEqual(p.stderr.read().decode(),
                         "resumetime kernlog: standard output: its reader has gone away\n")
        p.stderr.close()
        self.assertEqual(p.wait(20), 1)

    def test_full(self):
        full = "No space left on device"
        for args in ([], ["--json"], ["--csv"]):
            with open("/dev/full", "wb") as f:
                p = subprocess.run([tool("resumetime"), "kernlog", OK, *args], stdout=f,
                                   stderr=subprocess.PIPE, check=False)
            self.assertEqual((p.returncode, p.stderr.decode()),
                             (1, f"resumetime kernlog: standard output: {full}\n"))
        code, _, err = run("resumetime", "kernlog", "--trace-events", "/dev/full", OK)
        self.assertEqual((code, err), (1, f"resumetime kernlog: /dev/full: {full}\n"))

    def test_what_was_there_stays(self):
        """A page that cannot be made does not take the place of another one."""
        f = self.path("p.html")
        with open(f, "w", encoding="utf-8") as g:
            g.write("old")
        code, _, _ = run("resumetime", "kernlog", "--html", f, self.path("none.log"))
        self.assertEqual(code, 1)
        with open(f, encoding="utf-8") as g:
            self.assertEqual(g.read(), "old")
        self.assertEqual(os.listdir(self.dir), ["p.html"])

    # ---- wrong use

    def test_one_output_takes_no_other_along(self):
        f = self.path("t.json")
        code, out, err = run("resumetime", "kernlog", "--html", self.path("no/p.html"),
                             "--trace-events", f, OK)
        self.assertEqual(code, 1)
        self.assertIn("cannot be written", err)
        self.assertIn("cycle 1", out)
        with open(f, encoding="utf-8") as t:
            self.assertIn("traceEvents", json.load(t))
        code, out, _ = run("resumetime", "kernlog", "--trace-events", "-", OK)
        self.assertEqual((code, list(json.loads(out))[1]), (0, "traceEvents"))

    def test_misuse(self):
        for args, want in (
                ([], "name a kernel log, ftrace, a recording, or - for standard input"),
                ([OK, FTRACE, REFUSED], "one file, or the pair of a kernel log and its ftrace, "
                                        f"not also '{REFUSED}'"),
                ([OK, OK], f"'{OK}' twice: the pair is a kernel log and its ftrace"),
                (["--baud", "fast", OK], "--baud fast: a rate such as 115200"),
                (["--cycle", "0", OK], "--cycle 0: the number of a cycle, from 1"),
                (["--top", "-3", OK], "--top -3: how many, from 1"),
                (["--gap", "0", OK], "--gap 0: longer than no time, such as 50ms"),
                (["--baud", "9600", "--no-console", OK], "--baud and --no-console: one of them"),
                (["--json", "--cycle", "1", OK], "--cycle, --all and --brief are of the text: "
                                                 "--json has all cycles"),
                (["--all", "--cycle", "1", OK], "--cycle, --all, --brief: one of them"),
                (["--html", OK, OK], f"'{OK}' is to be read: name another file to write"),
                (["--html", "x", "--trace-events", "./x", OK],
                 "--html and --trace-events name the same file: 'x'"),
                (["--html", "x", "--trace-events", "x", OK],
                 "--html and --trace-events name the same file: 'x'"),
                (["--html", "x", "--trace-events", "y", "-"],
                 "--html and --trace-events: standard input is read only once, so one of them"),
                (["--source", "console", OK], f"--source console: '{OK}' is no recording"),
                (["--pretty", OK], "unknown option '--pretty'")):
            code, out, err = run("resumetime", "kernlog", *args, cwd=self.dir)
            self.assertEqual((code, out), (2, ""), args)
            self.assertEqual(err, f"resumetime kernlog: {want}\n'resumetime kernlog --help' "
                                  "tells how it is used.\n")
        self.assertEqual(os.listdir(self.dir), [])

    def test_unreadable(self):
        code, out, err = run("resumetime", "kernlog", self.path("none.log"))
        self.assertEqual((code, out), (1, ""))
        self.assertIn("No such file or directory", err)
        code, out, err = run("resumetime", "kernlog", self.dir)
        self.assertEqual((code, out), (1, ""))
        self.assertIn(self.dir, err)

    def test_thousand(self):
        """A thousand cycles take little memory."""
        log = self.many(1000)
        p = subprocess.run(["/usr/bin/env", "bash", "-c",
                            f"ulimit -v 400000; '{tool('resumetime')}' kernlog --brief '{log}'"],
                           capture_output=True, check=False)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertIn(b"1000 cycles: 999 ok, 1 failed", p.stdout)


main()
