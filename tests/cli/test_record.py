#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pwrlog record: what a user sees, and what must survive whatever happens."""
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import Case, Terminal, js, run, tool, wait_for  # noqa: E402

SIM = "sim:?watts=25&noise=0.2&rate=100&resolution=0.1"


class Usage(Case):
    def test_no_meter(self):
        code, out, err = run("pwrlog", "record")
        self.assertEqual((code, out), (2, ""))
        self.assertEqual(err, "pwrlog record: name a meter with -m URI; 'pwrlog list' tells "
                              "which are there\n'pwrlog record --help' tells how it is used.\n")

    def test_unknown_driver(self):
        code, out, err = run("pwrlog", "record", "-m", "nosuch:/dev/x", "-o", self.path("t.wwt"))
        self.assertEqual((code, out), (1, ""))
        self.assertIn("nosuch", err)
        self.assertFalse(os.path.exists(self.path("t.wwt")))

    def test_bad_duration(self):
        code, _, err = run("pwrlog", "record", "-m", SIM, "--for", "soon")
        self.assertEqual(code, 2)
        self.assertIn("'soon' is not a duration", err)

    def test_unknown_option(self):
        code, _, err = run("pwrlog", "record", "--colour")
        self.assertEqual(code, 2)
        self.assertIn("unknown option '--colour'", err)

    def test_unknown_source_option(self):
        code, _, err = run("pwrlog", "record", "-m", "sim:?wats=25", "-o", self.path("t.wwt"))
        self.assertEqual(code, 1)
        self.assertIn("wats", err)

    def test_existing_file_is_kept(self):
        with open(self.path("t.wwt"), "w", encoding="ascii") as f:
            f.write("precious")
        code, _, err = run("pwrlog", "record", "-m", SIM, "-o", self.path("t.wwt"))
        self.assertEqual(code, 1)
        self.assertIn("exists already", err)
        with open(self.path("t.wwt"), encoding="ascii") as f:
            self.assertEqual(f.read(), "precious")

    def test_help_of_everything(self):
        for p, subs in (("pwrlog", "list record stat"), ("resumetime", "beat record report"),
                        ("wwtrace", "info dump export")):
            for s in subs.split():
                code, out, err = run(p, s, "--help")
                self.assertEqual((code, err), (0, ""), (p, s))
                self.assertIn("usage: %s %s" % (p, s), out.replace("Usage", "usage"))


class Record(Case):
    def test_for_a_second(self):
        t = self.path("t.wwt")
        code, out, err = run("pwrlog", "record", "-m", SIM, "--for", "1s", "-o", t)
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"meter.power +2[45]\.\d+ ± 0\.\d+ W")
        self.assertIn("samples", err)
        s = js("pwrlog", "stat", t, "--json")
        ch = s["channels"][0]
        self.assertEqual((ch["name"], ch["unit"]), ("meter.power", "W"))
        self.assertAlmostEqual(ch["mean"]["value"], 25, delta=0.2)
        self.assertTrue(80 <= ch["n"] <= 110, ch["n"])
        # Closed: one plain file.
        self.assertEqual(os.listdir(self.dir), ["t.wwt"])

    def test_two_meters_and_a_role(self):
        t = self.path("t.wwt")
        code, _, err = run("pwrlog", "record", "-m", SIM, "-m", "sim:?watts=7&role=monitor",
                           "--for", "1s", "-o", t)
        self.assertEqual(code, 0, err)
        names = [c["name"] for c in js("pwrlog", "stat", t, "--json")["channels"]]
        self.assertEqual(names, ["meter.power", "meter2.power"])

    def test_manual_from_a_pipe(self):
        t = self.path("t.wwt")
        code, _, err = run("pwrlog", "record", "-m", "manual:?resolution=0.1", "-o", t,
                           stdin=b"1 all unplugged\n+box, 13\n+monitor 40.5\nonly a label\n")
        self.assertEqual(code, 0, err)
        _, out, _ = run("wwtrace", "export", t, "--what", "samples")
        self.assertEqual([line.split(",")[4:] for line in out.splitlines()[1:]],
                         [["1.0", "W"], ["13.0", "W"], ["40.5", "W"]])
        _, out, _ = run("wwtrace", "export", t, "--what", "marks", "--format", "jsonl")
        labels = [m["text"] for m in map(json.loads, out.splitlines()) if m["kind"] == "label"]
        self.assertEqual(len(labels), 4)
        for want in ("all unplugged", "+box", "+monitor", "only a label"):
            self.assertTrue(any(want in x for x in labels), (want, labels))

    def test_terminal(self):
        t = self.path("t.wwt")
        term = Terminal("pwrlog", "record", "-m", SIM, "-o", t)
        self.addCleanup(term.kill)
        term.wait("meter 2")
        term.wait(" W")
        term.type("+monitor\n")
        term.wait("mark '+monitor'")
        term.type("\x03")
        self.assertEqual(term.end(), 0)
        self.assertIn("Ctrl-C ends it", term.text)
        _, out, _ = run("wwtrace", "export", t, "--what", "marks")
        self.assertIn(",label,+monitor\n", out)

    def test_signals_end_it_cleanly(self):
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            t = self.path("t%d.wwt" % sig)
            p = subprocess.Popen([tool("pwrlog"), "record", "-m", SIM, "-o", t],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
            wait_for(lambda t=t: os.path.exists(t))
            time.sleep(0.3)
            p.send_signal(sig)
            out, err = p.communicate(timeout=20)
            self.assertEqual(p.returncode, 0, err)
            self.assertIn(b"meter.power", out)
            self.assertFalse(os.path.exists(t + "-wal"))

    def test_stream_to_a_report(self):
        for form in ("jsonl", "binary"):
            rec = subprocess.run([tool("pwrlog"), "record", "-m", SIM, "--for", "1s", "-o", "-",
                                  "--stream", form], stdin=subprocess.DEVNULL,
                                 capture_output=True, timeout=30, check=True)
            code, out, err = run("pwrlog", "stat", "-", "--json", stdin=rec.stdout)
            self.assertEqual(code, 0, err)
            self.assertAlmostEqual(json.loads(out)["channels"][0]["mean"]["value"], 25, delta=0.2)

    def test_report_of_a_growing_trace(self):
        t = self.path("t.wwt")
        p = subprocess.Popen([tool("pwrlog"), "record", "-m", SIM, "-o", t],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        self.addCleanup(p.kill)

        def some():
            code, out, _ = run("pwrlog", "stat", t, "--json")
            return code == 0 and json.loads(out)["channels"] and \
                json.loads(out)["channels"][0]["n"] > 50
        wait_for(some)
        self.assertIsNone(p.poll())
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(20), 0)
        p.communicate()

    def test_unplugged_and_back(self):
        t = self.path("t.wwt")
        code, _, err = run("pwrlog", "record", "-m", SIM + "&unplug=1s:1s", "--for", "4s", "-o", t)
        self.assertEqual(code, 0, err)
        _, out, _ = run("wwtrace", "export", t, "--what", "gaps", "--format", "jsonl")
        gaps = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(len(gaps), 1)
        self.assertEqual(gaps[0]["reason"], "unplugged")
        self.assertAlmostEqual((gaps[0]["t_hi_ns"] - gaps[0]["t_lo_ns"]) / 1e9, 1.1, delta=0.4)
        ch = js("pwrlog", "stat", t, "--json")["channels"][0]
        self.assertLess(ch["coverage"], 0.9)
        self.assertGreaterEqual(ch["gaps"], 1)

    def test_standard_output_closed(self):
        p = subprocess.Popen([tool("pwrlog"), "record", "-m", SIM, "-o", "-"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        p.stdout.read(100)
        p.stdout.close()
        self.assertEqual(p.wait(20), 1)
        self.assertIn(b"pwrlog record: ", p.stderr.read())
        p.stderr.close()


class Survival(Case):
    def check(self, path, young=False):
        """The trace is whole; the time of its last sample, or None."""
        db = sqlite3.connect(path)
        self.assertEqual(db.execute("PRAGMA integrity_check").fetchone()[0], "ok")
        db.close()
        code, out, err = run("wwtrace", "export", path, "--what", "samples")
        if young and "an empty file" in err:
            return None  # before its tables were there
        self.assertEqual(code, 0, err)
        lines = out.splitlines()
        return int(lines[-1].split(",")[1]) / 1e9 if len(lines) > 1 else None

    def test_killed_at_any_moment(self):
        rng = random.Random(20260131)
        kills, together, checked = int(os.environ.get("WW_KILLS", "200")), 10, 0
        # Several at once: the machine is busy, which is when it matters.
        for batch in range(0, kills, together):
            running = []
            for i in range(batch, min(batch + together, kills)):
                t = self.path("k%d.wwt" % i)
                p = subprocess.Popen([tool("pwrlog"), "record", "-m", SIM, "-o", t,
                                      "--no-realtime"], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                now = time.monotonic()
                running.append((now + rng.uniform(0.02, 2.5), p, t, now + 2.0))
            for when, p, path, old in sorted(running, key=lambda r: r[0]):
                time.sleep(max(0.0, when - time.monotonic()))
                killed = time.clock_gettime(time.CLOCK_BOOTTIME)
                p.kill()
                young = time.monotonic() < old
                p.wait()
                if not os.path.exists(path) or os.path.getsize(path) == 0:
                    continue
                last = self.check(path, young)
                # At most the last second is lost.
                if last is not None:
                    self.assertGreater(last, killed - 1.0)
                    checked += 1
                os.unlink(path)
        self.assertGreater(checked, kills // 3)

    def test_disk_full(self):
        if os.geteuid() != 0:
            self.skipTest("needs root for a small file system")
        m = self.path("small")
        os.mkdir(m)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", m],
                          capture_output=True, check=False).returncode != 0:
            self.skipTest("no mount here")
        self.addCleanup(subprocess.run, ["umount", "-l", m], check=False)
        t = os.path.join(m, "t.wwt")
        code, _, err = run("pwrlog", "record", "-m", "sim:?watts=25&noise=5&rate=100000"
                           "&resolution=0.001", "-o", t, timeout=120)
        self.assertEqual(code, 1)
        self.assertIn(t, err)
        self.assertRegex(err, "full|space")
        self.assertIsNotNone(self.check(t))


main()
