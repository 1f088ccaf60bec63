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
import termios
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
        self.assertEqual((code, out), (2, ""))
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
        self.assertEqual(code, 2)
        self.assertIn("wats", err)

    def test_existing_file_is_kept(self):
        with open(self.path("t.wwt"), "w", encoding="ascii") as f:
            f.write("precious")
        code, _, err = run("pwrlog", "record", "-m", SIM, "-o", self.path("t.wwt"))
        self.assertEqual(code, 1)
        self.assertIn("exists already", err)
        with open(self.path("t.wwt"), encoding="ascii") as f:
            self.assertEqual(f.read(), "precious")

    def test_what_does_not_go_together(self):
        for args, want in (
                (["-m", SIM, "--for", "0"], "--for: a duration longer than nothing"),
                (["-m", SIM, "--every", "0"], "--every: a duration longer than nothing"),
                (["-m", SIM, "--stream", "jsonl"], "it needs '-o -'"),
                (["-m", SIM, "--stream", "binary", "-o", self.path("s.wwt")], "not a file"),
                (["-m", SIM, "-g", "sim:"], "-g takes a GPIO line")):
            code, out, err = run("pwrlog", "record", *args)
            self.assertEqual((code, out), (2, ""), args)
            self.assertIn(want, err)
        for args in (["--stream", "jsonl"], ["-g", "sim:"], ["--for", "0s"]):
            self.assertEqual(run("resumetime", "record", "-p", "/dev/null", *args)[0], 2, args)
        self.assertEqual(os.listdir(self.dir), [])

    def test_sources_that_are_none(self):
        with open(self.path("x.wwt"), "w", encoding="ascii") as f:
            f.write("x")
        for uri, want in (("sim:foo", "at no place"), ("manual:kaw", "label=kaw"),
                          ("sim:?watts=1&watts=2", "given twice: watts=1 and watts=2"),
                          (self.path("x.wwt"), "replay:" + self.path("x.wwt")),
                          ("no.wwt", "replay:no.wwt")):
            code, out, err = run("pwrlog", "record", "-m", uri, "-o", self.path("t.wwt"))
            self.assertEqual((code, out), (2, ""), uri)
            self.assertIn(want, err)
            self.assertEqual(err.count("\n"), 1, err)

    def test_start_that_fails_says_only_why(self):
        code, out, err = run("pwrlog", "record", "-m", SIM, "-o", "/nosuch/t.wwt")
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, "pwrlog record: /nosuch/t.wwt: cannot be created: No such file or "
                              "directory\n")

    def test_full_standard_output(self):
        for args in (["pwrlog", "--help"], ["pwrlog", "record", "--help"], ["pwrlog", "--version"],
                     ["resumetime", "report", "--help"], ["wwtrace", "export", "--help"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                p = subprocess.run([tool(args[0]), *args[1:]], stdout=full, stderr=subprocess.PIPE,
                                   check=False)
            self.assertEqual(p.returncode, 1, args)
            self.assertIn(b"standard output: No space left on device", p.stderr)

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

    def typed(self, *lines, meters=("manual:",)):
        """What is said and stored of typed lines: (messages, values, labels)."""
        t = self.path("typed.wwt")
        args = [a for m in meters for a in ("-m", m)]
        _, _, err = run("pwrlog", "record", *args, "-o", t,
                        stdin="".join(x + "\n" for x in lines).encode())
        _, out, _ = run("wwtrace", "export", t)
        values = [float(line.split(",")[4]) for line in out.splitlines()[1:]]
        _, out, _ = run("wwtrace", "export", t, "--what", "marks", "--format", "jsonl")
        labels = [m["text"] for m in map(json.loads, out.splitlines()) if m["kind"] == "label"]
        os.unlink(t)
        return [x.split(": ", 1)[1] for x in err.splitlines()], values, labels

    def test_readings_as_they_are_typed(self):
        for line, value, label in (
                ("40,5", 40.5, ""), ("40.5", 40.5, ""), (".5", 0.5, ""), ("-3,2", -3.2, ""),
                ("13W", 13, ""), ("13 W", 13, ""), ("13,5 w", 13.5, ""), ("0,234", 0.234, ""),
                ("+monitor, 40.5", 40.5, "+monitor"), ("+monitor 40,5", 40.5, "+monitor"),
                ("+x  12,75", 12.75, "+x"), ("40.5 +monitor", 40.5, "+monitor"),
                ("40,+monitor", 40, "+monitor"), ("+box,13", 13, "+box"),
                ("=all 13 W", 13, "=all"), ("router, 2", 2, "router"),
                ("router 2; 3", 3, "router 2"),
                ("40 2 monitors", 40, "2 monitors"), ("12345.67", 12345.67, ""),
                ("Büro, 7", 7, "Büro")):
            said, values, labels = self.typed(line)
            self.assertEqual((values, labels), ([value], [label] if label else []), line)
            self.assertEqual(said[0], "reading %.15g W%s" %
                             (value, ", label '%s'" % label if label else ""))

    def test_labels_as_they_are_typed(self):
        for line, label in (("router 2", "router 2"), ("only a label", "only a label"),
                            (":2nd monitor", "2nd monitor"), (": 12:30", "12:30"),
                            ("inf", "inf"), ("-monitor", "-monitor"),
                            ("monitor 230V", "monitor 230V")):
            said, values, labels = self.typed(line)
            self.assertEqual((values, labels), ([], [label]), line)
            self.assertTrue(said[0].startswith("mark '%s'" % label), said)

    def test_what_is_in_doubt_is_not_taken(self):
        for line in ("0x10", "1e3", "1,234", "1,234.5", "1.234,5", "13V", "13 V", "1.2kW", "+5",
                     "5 10", "40.5, 41", "+box, 0x10", "+box 2nd", "router 2,13", "+box2,13",
                     "- 40", "12:30 lunch", "2nd monitor", "40.5+monitor"):
            said, values, labels = self.typed(line)
            self.assertEqual((values, labels), ([], []), line)
            self.assertTrue(said[0].startswith("not taken: '"), said)

    def test_two_typed_meters(self):
        said, values, labels = self.typed("5", "meter2: 6 +b", "meter2: only",
                                          meters=("manual:", "manual:?unit=V"))
        self.assertIn("'meter2: 40.5' is a reading of meter2", said[0])
        self.assertEqual(said[1:4], ["meter: reading 5 W", "meter2: reading 6 V, label '+b'",
                                     "mark 'only'"])
        self.assertEqual((sorted(values), labels), ([5, 6], ["+b", "only"]))

    def test_long_line_is_cut_between_characters(self):
        said, _, labels = self.typed("x" * 4094 + "é" * 9, meters=("manual:",))
        self.assertEqual(labels, ["x" * 4094])
        self.assertIn("the line was cut after 4094 bytes", said[0])

    def test_nothing_recorded(self):
        code, _, err = run("pwrlog", "record", "-m", "sim:?end=0", "-o", self.path("a.wwt"))
        self.assertEqual(code, 1)
        self.assertIn("meter: no reading came", err)
        self.assertIn("nothing was recorded", err)
        # One of two: said, but what the other gave is a recording.
        code, _, err = run("pwrlog", "record", "-m", SIM, "-m", "sim:?end=0", "--for", "300ms",
                           "-o", self.path("b.wwt"))
        self.assertEqual(code, 0, err)
        self.assertIn("meter2: no reading came", err)

    def test_asked_for_more_than_the_meter_gives(self):
        _, _, err = run("pwrlog", "record", "-m", "sim:?rate=10", "--every", "1ms", "--for",
                        "300ms", "-o", self.path("t.wwt"))
        self.assertIn("asked for a reading every 0.001 s, but the meter gives one every 0.1 s", err)

    def test_names_of_the_same_second(self):
        p = [subprocess.Popen([tool("pwrlog"), "record", "-m", SIM, "--for", "300ms"], cwd=self.dir,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) for _ in range(6)]
        for q in p:
            _, err = q.communicate(timeout=30)
            self.assertEqual(q.returncode, 0, err)
        self.assertEqual(len(os.listdir(self.dir)), 6)

    def test_stopped_for_a_while(self):
        t = self.path("t.wwt")
        p = subprocess.Popen([tool("pwrlog"), "record", "-m", SIM, "-o", t],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
        self.addCleanup(p.kill)
        wait_for(lambda: run("wwtrace", "export", t)[1].count("\n") > 5)
        p.send_signal(signal.SIGSTOP)
        time.sleep(0.7)
        p.send_signal(signal.SIGCONT)
        wait_for(lambda: "stood still" in run("wwtrace", "export", t, "--what", "marks")[1])
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=20)
        self.assertEqual(p.returncode, 0, err)
        db = sqlite3.connect(t)
        meta = dict(db.execute("SELECT key, value FROM meta"))
        db.close()
        worst = int(meta["recorder.late_max_ns"])
        self.assertGreater(worst, 550000000)
        self.assertGreaterEqual(worst, int(meta["recorder.late_p99_ns"]))
        self.assertRegex(err.decode(), r"the recorder itself stood still for 0\.[5-9]\d* s")

    def redraws(self, text):
        return [x.split("\r")[-1] for x in text.split("\033[K")[:-1]]

    def test_live_line_fits(self):
        for columns in (80, 40):
            t = self.path("t%d.wwt" % columns)
            term = Terminal("pwrlog", "record", *["-m", "sim:?volts=230&rate=10"] * 3, "-o", t,
                            columns=columns)
            self.addCleanup(term.kill)
            term.wait(" s  meter")
            term.type("a long label " * 10)
            wait_for(lambda term=term: "a long label" in self.redraws(term.read())[-1])
            n = len(self.redraws(term.read()))
            wait_for(lambda term=term, n=n: len(self.redraws(term.read())) > n + 1)
            lines = [x for x in self.redraws(term.read()) if x]
            for line in lines:
                self.assertLess(len(line), columns)
                self.assertNotIn("\n", line)
            self.assertTrue(lines[-1].endswith("a long label "), lines[-1])
            term.type("\x03")
            self.assertEqual(term.end(), 0, term.text)
            self.assertTrue(term.restored)

    def test_typing_survives_the_live_line(self):
        t = self.path("t.wwt")
        term = Terminal("pwrlog", "record", "-m", SIM, "-o", t, columns=80)
        self.addCleanup(term.kill)
        term.wait(" W")
        term.type("wrong\x15+moxé\x7f\x7fni")
        for _ in range(3):  # redrawn again and again with what is typed
            n = len(self.redraws(term.read()))
            wait_for(lambda n=n: len(self.redraws(term.read())) > n + 1)
            self.assertTrue(self.redraws(term.text)[-1].endswith(" W > +moni"), term.text)
        term.type("tor\x1b[A\n")
        term.wait("mark '+monitor'")
        term.p.send_signal(signal.SIGTERM)
        self.assertEqual(term.end(), 0)
        self.assertTrue(term.restored)
        _, out, _ = run("wwtrace", "export", t, "--what", "marks")
        self.assertIn(",label,+monitor\n", out)

    def test_terminal_is_given_back(self):
        def mode(term):
            return termios.tcgetattr(term.master)
        for how in (signal.SIGHUP, signal.SIGQUIT, "error"):
            t = self.path("t%s.wwt" % how)
            term = Terminal("pwrlog", "record", "-m", SIM, "-o", t)
            self.addCleanup(term.kill)
            term.wait(" W")
            self.assertNotEqual(mode(term), term.mode)
            if how == "error":
                # Its trace is taken away under it.
                db = sqlite3.connect(t)
                db.execute("DROP TABLE block")
                db.close()
            else:
                term.p.send_signal(how)
            self.assertEqual(term.end(), 1 if how == "error" else 0, term.text)
            self.assertTrue(term.restored)

    def test_stopped_and_in_front_again(self):
        t = self.path("t.wwt")
        term = Terminal("/bin/sh", "-mc", "'%s' record -m '%s' -o '%s'; stty -a; echo back; fg" %
                        (tool("pwrlog"), SIM, t))
        self.addCleanup(term.kill)
        term.wait(" W")
        term.type("\x1a")
        term.wait("back\r\n")
        self.assertIn(" icanon", term.text)
        self.assertIn(" echo ", term.text)
        n = len(term.text)
        wait_for(lambda: " W" in term.read()[n:])
        term.type("+monitor\n")
        term.wait("mark '+monitor'")
        term.type("\x03")
        self.assertEqual(term.end(), 0, term.text)
        self.assertTrue(term.restored)

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

    def test_stream_that_breaks_off(self):
        rec = subprocess.run([tool("pwrlog"), "record", "-m", SIM, "--for", "1s", "-o", "-"],
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=True)
        lines = rec.stdout.splitlines(True)
        code, out, err = run("pwrlog", "stat", "-",
                             stdin=b"".join(lines[:-2]) + b"{broken\n" + lines[-1])
        self.assertEqual(code, 1)
        self.assertIn("meter.power", out)
        self.assertIn("line %d" % (len(lines) - 1), err)
        # Nothing of it is a trace: an error, no crash.
        for junk in (b"", b"hello\n", os.urandom(5000)):
            code, out, err = run("pwrlog", "stat", "-", stdin=junk)
            self.assertEqual((code, out), (1, ""), err)

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
    def check(self, path):
        """The trace is whole; the time of its last sample, or None."""
        db = sqlite3.connect(path)
        self.assertEqual(db.execute("PRAGMA integrity_check").fetchone()[0], "ok")
        db.close()
        code, out, err = run("wwtrace", "export", path, "--what", "samples")
        self.assertEqual(code, 0, err)
        lines = out.splitlines()
        return int(lines[-1].split(",")[1]) / 1e9 if len(lines) > 1 else None

    def test_killed_at_any_moment(self):
        rng = random.Random(20260131)
        kills, together, checked, early = int(os.environ.get("WW_KILLS", "200")), 10, 0, 0
        # Several at once: the machine is busy, which is when it matters.
        for batch in range(0, kills, together):
            running = []
            for i in range(batch, min(batch + together, kills)):
                t = self.path("k%d.wwt" % i)
                p = subprocess.Popen([tool("pwrlog"), "record", "-m", SIM, "-o", t,
                                      "--no-realtime"], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                now = time.monotonic()
                running.append((now + rng.uniform(0.02, 2.5), p, t))
            for when, p, path in sorted(running, key=lambda r: r[0]):
                time.sleep(max(0.0, when - time.monotonic()))
                killed = time.clock_gettime(time.CLOCK_BOOTTIME)
                p.kill()
                p.wait()
                if not os.path.exists(path):
                    continue  # not even begun
                last = self.check(path)
                early += last is None
                # At most the last second is lost.
                if last is not None:
                    self.assertGreater(last, killed - 1.0)
                    checked += 1
                os.unlink(path)
        # A trace without a sample is one whose meters had not been started.
        print("# of %d: %d killed before their first commit of samples" % (kills, early))
        self.assertGreater(checked, kills * 2 // 3)

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
        # What is said to be there is there, and the trace knows why it ends.
        db = sqlite3.connect(t)
        rows = db.execute("SELECT sum(n) FROM block").fetchone()[0]
        why = db.execute("SELECT value FROM meta WHERE key = 'recorder.error'").fetchone()[0]
        db.close()
        self.assertIn("%d samples" % rows, err)
        self.assertIn("disk full", why)


main()
