#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pwrlog run: commands whose cost is known, and those that go wrong."""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import Case, Terminal, js, run, tool, wait_for  # noqa: E402

QUICK = ["--baseline", "300ms", "--settle", "100ms"]


class Meter(Case):
    """A simulated meter that follows a file, and a command that writes it."""

    def setUp(self):
        super().setUp()
        self.load = self.path("load")
        with open(self.load, "w", encoding="ascii") as f:
            f.write("25\n")
        self.meter = "sim:?watts=25&noise=0.2&rate=100&resolution=0.1&follow=" + self.load

    def burn(self, watts=35, seconds=1.0, then="true"):
        return "echo %s > %s; sleep %s; echo 25 > %s; %s" % (watts, self.load, seconds,
                                                             self.load, then)

    def pwrlog(self, *args, meter=None, **kw):
        return run("pwrlog", "run", "-m", meter or self.meter, *QUICK, *args, **kw)

    def js(self, *args, **kw):
        return js("pwrlog", "run", "-m", self.meter, *QUICK, "--json", *args, **kw)

    def assertHolds(self, q, truth, more=0.0, k=4):
        self.assertLessEqual(abs(q["value"] - truth), k * q["u"] + more, (q, truth))


class Truth(Meter):
    def test_ten_watts_for_a_second_are_ten_joules(self):
        d = self.js("--", "sh", "-c", self.burn())
        self.assertEqual(d["schema"], "wakewatt/run/1")
        self.assertEqual(list(d)[-1], "notes")
        r = d["runs"][0]
        # The load is up from the first command of the script to the last but one.
        self.assertHolds(r["above_baseline_J"], 10, 0.2)
        self.assertLess(r["above_baseline_J"]["u"], 0.5)
        self.assertHolds(r["energy_J"], 25 * r["duration_s"]["value"] + 10, 0.2)
        self.assertHolds(r["baseline_before_W"], 25)
        self.assertHolds(r["baseline_after_W"], 25)
        self.assertGreaterEqual(r["duration_s"]["value"], 1.0)
        self.assertLess(r["duration_s"]["value"], 1.5)
        self.assertEqual((r["exit"], r["used"], r["why"], r["coverage"]), (0, True, None, 1))
        self.assertGreater(r["peak_W"], 35)
        self.assertLess(r["end_s"][1] - r["end_s"][0], 0.05)

    def test_a_slow_meter(self):
        meter = self.meter.replace("rate=100", "rate=4")
        code, out, err = self.pwrlog("--baseline", "2s", "--settle", "500ms", "--json", "--", "sh",
                                     "-c", self.burn(45, 1.1), meter=meter)
        self.assertEqual((code, err), (0, ""))
        r = json.loads(out)["runs"][0]
        self.assertHolds(r["above_baseline_J"], 22, 0.4)

    def test_interleaved(self):
        d = self.js("-n", "2", "--interleave", self.burn(45, 0.2), "--", "sh", "-c",
                    self.burn(35, 0.2))
        self.assertEqual([r["variant"] for r in d["runs"]], ["A", "B", "B", "A"])
        self.assertEqual([r["round"] for r in d["runs"]], [1, 1, 2, 2])
        a, b = d["variants"]
        self.assertEqual((a["n"], b["n"]), (2, 2))
        self.assertEqual(b["command"], self.burn(45, 0.2))
        self.assertHolds(a["above_baseline_J"], 2, 0.1)
        self.assertHolds(b["above_baseline_J"], 4, 0.1)

    def test_varied(self):
        d = self.js("--vary", "W=30,40", "--vary", "SLEEP=0.2", "--", "sh", "-c",
                    "echo $W > %s; sleep {SLEEP}; echo 25 > %s" % (self.load, self.load))
        self.assertEqual([v["variant"] for v in d["variants"]],
                         ["W=30,SLEEP=0.2", "W=40,SLEEP=0.2"])
        self.assertHolds(d["variants"][0]["above_baseline_J"], 1, 0.1)
        self.assertHolds(d["variants"][1]["above_baseline_J"], 3, 0.1)
        self.assertIn("sleep 0.2", d["variants"][0]["command"])

    def test_repeated(self):
        d = self.js("--repeat", "4", "--", "sh", "-c", self.burn(35, 0.1))
        r = d["runs"][0]
        self.assertEqual(r["work"], {"value": 4, "u": 0, "unit": "repeat"})
        self.assertHolds(r["above_baseline_J_per_unit"], 1, 0.1)
        self.assertGreater(r["duration_s"]["value"], 0.4)

    def test_work(self):
        d = self.js("--per", "([0-9]+) frames", "--", "sh", "-c",
                    self.burn(35, 0.2, "echo done 100 frames >&2"))
        r = d["runs"][0]
        self.assertEqual(r["work"], {"value": 100, "u": 0, "unit": "frame"})
        q = r["above_baseline_J_per_unit"]
        self.assertAlmostEqual(q["value"], r["above_baseline_J"]["value"] / 100, 6)
        self.assertAlmostEqual(q["u"] / q["value"],
                               r["above_baseline_J"]["u"] / r["above_baseline_J"]["value"], 3)

    def test_dd_and_a_rate(self):
        d = self.js("--per", "dd", "--", "dd", "if=/dev/zero", "of=/dev/null", "bs=64k",
                    "count=100")
        self.assertEqual(d["runs"][0]["work"], {"value": 6553600, "u": 0, "unit": "B"})
        d = self.js("--per", "([0-9]+) MB/s", "--", "sh", "-c", "sleep 0.2; echo 50 MB/s")
        w = d["runs"][0]["work"]
        self.assertAlmostEqual(w["value"], 5e7 * d["runs"][0]["duration_s"]["value"], delta=1e3)
        self.assertTrue(any("a throughput was read" in n for n in d["notes"]))

    def test_the_trace_tells_the_same_later(self):
        trace = self.path("t.wwt")
        code, out, err = self.pwrlog("-n", "2", "-o", trace, "--", "sh", "-c", self.burn(35, 0.2))
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(run("pwrlog", "run", "--from", trace), (0, out, ""))
        kinds = run("wwtrace", "export", "--what", "marks", trace)[1]
        for kind in ("baseline", "baseline-end", "run-start", "run-end"):
            self.assertIn(kind, kinds)

    def test_shuffled_alike_with_the_same_seed(self):
        order = []
        for seed in ("7", "7", "8"):
            d = self.js("--shuffle", "--seed", seed, "-n", "3", "--baseline", "0", "--settle", "0",
                        "--vary", "X=a,b,c,d", "--", "true")
            order.append([r["variant"] for r in d["runs"]])
        self.assertEqual(order[0], order[1])
        self.assertNotEqual(order[0], order[2])
        self.assertEqual(sorted(order[0][:4]), ["X=a", "X=b", "X=c", "X=d"])

    def test_variants_in_the_order_they_were_given(self):
        trace = self.path("t.wwt")
        for seed in range(1, 5):
            code, _, _ = self.pwrlog("--shuffle", "--seed", str(seed), "--baseline", "0",
                                     "--settle", "0", "--vary", "X=a,b,c,d", "-n", "2", "-o",
                                     trace, "--", "true")
            d = js("pwrlog", "run", "--from", trace, "--json")
            self.assertEqual([v["variant"] for v in d["variants"]],
                             ["X=a", "X=b", "X=c", "X=d"])
            for r in d["runs"]:
                self.assertIn(r["variant"], ("X=a", "X=b", "X=c", "X=d"))
            os.unlink(trace)

    def test_a_slow_meter_keeps_the_last_baseline(self):
        """Its last reading ends before the baseline does: that is no gap."""
        d = js("pwrlog", "run", "-m", "sim:?watts=25&rate=2&noise=0.1", "--baseline", "2500ms",
               "--settle", "500ms", "--json", "--", "sleep", "1.6")
        r = d["runs"][0]
        self.assertIsNotNone(r["baseline_after_W"])
        self.assertHolds(r["baseline_after_W"], 25)
        self.assertFalse([n for n in d["notes"] if "left out" in n], d["notes"])

    def test_a_command_that_steers_the_terminal(self):
        code, out, _ = self.pwrlog("--baseline", "0", "--", "printf", "\033[31mred\nnext")
        self.assertEqual(code, 0)
        self.assertNotIn("\033", out)
        self.assertIn("printf '\\x1b[31mred\\x0anext'", out)

    def test_without_a_baseline(self):
        d = self.js("--baseline", "0", "--", "sleep", "0.3")
        r = d["runs"][0]
        self.assertEqual(r["above_baseline_J"], {"value": None, "u": None, "why": "no baseline"})
        self.assertHolds(r["energy_J"], 25 * r["duration_s"]["value"])

    def test_warmups_do_not_count(self):
        d = self.js("--warmup", "2", "--", "sleep", "0.1")
        self.assertEqual([r["warmup"] for r in d["runs"]], [True, True, False])
        self.assertEqual(d["variants"][0]["n"], 1)


class GoesWrong(Meter):
    def test_failing(self):
        code, out, err = self.pwrlog("-n", "2", "--json", "--", "sh", "-c", "sleep 0.1; exit 3")
        self.assertEqual((code, err), (1, ""))
        d = json.loads(out)
        self.assertEqual([r["exit"] for r in d["runs"]], [3, 3])
        self.assertEqual(d["runs"][0]["why"], "failed with exit status 3: does not count")
        self.assertGreater(d["runs"][0]["energy_J"]["value"], 2)
        self.assertEqual((d["variants"][0]["n"], d["variants"][0]["failed"]), (0, 2))
        code, out, _ = self.pwrlog("--ignore-failure", "--json", "--", "sh", "-c",
                                   "sleep 0.1; exit 3")
        self.assertEqual((code, json.loads(out)["variants"][0]["n"]), (0, 1))

    def test_missing(self):
        t0 = time.monotonic()
        self.assertEqual(run("pwrlog", "run", "-m", self.meter, "--", "no-such-command"),
                         (1, "", "pwrlog run: no-such-command: no such command\n"))
        code, _, err = run("pwrlog", "run", "-m", self.meter, "--", self.load)
        self.assertEqual((code, err), (1, "pwrlog run: %s: Permission denied\n" % self.load))
        self.assertLess(time.monotonic() - t0, 8)

    def test_which_channel(self):
        """Known before anything is run for it, not after."""
        ran = self.path("ran")
        two = ["-m", "sim:?watts=25&rate=100", "-m", "sim:?watts=5&rate=100"]
        for args, want in ((two, "several channels of power: meter.power, meter2.power"),
                           (two[:2] + ["--channel", "nope"],
                            "no channel 'nope' of power: meter.power")):
            code, out, err = run("pwrlog", "run", *args, *QUICK, "--", "touch", ran)
            self.assertEqual((code, out), (2, ""), err)
            self.assertIn(want, err)
            self.assertFalse(os.path.exists(ran))
        code, out, err = run("pwrlog", "run", *two, "--channel", "meter2", *QUICK, "--", "sleep",
                             ".2")
        self.assertEqual((code, err), (0, ""))

    def test_nothing_measured_is_lost(self):
        """Where the report fails, the trace is kept."""
        tmp = self.path("tmp")
        os.mkdir(tmp)
        with open("/dev/full", "wb") as full:
            p = subprocess.run([tool("pwrlog"), "run", "-m", self.meter, *QUICK, "--", "true"],
                               stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                               env=dict(os.environ, TMPDIR=tmp), check=False)
        self.assertEqual(p.returncode, 1)
        kept = os.path.join(tmp, os.listdir(tmp)[0], "run.wwt")
        self.assertIn("--from %s'" % kept, p.stderr.decode())
        self.assertEqual(run("pwrlog", "run", "--from", kept)[0], 0)

    def test_a_directory(self):
        self.assertEqual(run("pwrlog", "run", "-m", self.meter, "--", self.dir),
                         (1, "", "pwrlog run: %s: Is a directory\n" % self.dir))

    def test_no_program_after_all(self):
        script = self.path("script")
        with open(script, "w", encoding="ascii") as f:
            f.write("#!/no/such/interpreter\n")
        os.chmod(script, 0o755)
        code, out, err = self.pwrlog("--", script)
        self.assertEqual((code, out, err),
                         (1, "", "pwrlog run: %s: No such file or directory\n" % script))

    def test_killed(self):
        code, out, _ = self.pwrlog("--json", "--", "sh", "-c", "sleep 0.1; kill -9 $$")
        r = json.loads(out)["runs"][0]
        self.assertEqual((code, r["exit"], r["signal"]), (1, None, 9))

    def test_unplugged_in_a_run(self):
        code, out, err = self.pwrlog("--json", "--", "sleep", "1",
                                     meter=self.meter + "&unplug=600ms:300ms")
        r = json.loads(out)["runs"][0]
        self.assertEqual((code, r["energy_J"]["value"], r["used"]), (1, None, False))
        self.assertEqual(r["why"], "the meter was away during the run")
        self.assertIn("the energy of no run is known", err)

    def test_meter_ends(self):
        code, out, err = self.pwrlog("-n", "3", "--", "sleep", "0.5",
                                     meter=self.meter + "&end=700ms")
        self.assertEqual(code, 1)
        self.assertIn("the meter ended before the last run", err)
        self.assertIn("run 1: the meter gave no readings for", out)

    def test_hostile_output(self):
        d = self.js("--log", self.path("log"), "--per", "([0-9]+) ok", "--", "sh", "-c",
                    "head -c 3000000 /dev/urandom | tr 0-9 x; printf '\\n\\0\\n41 ok\\n1 ok'")
        self.assertEqual(d["runs"][0]["work"]["value"], 42)
        self.assertGreater(os.path.getsize(self.path("log")), 3000000)

    def test_output_that_is_left_open(self):
        t0 = time.monotonic()
        code, out, err = self.pwrlog("--per", "([0-9]+) ok", "--json", "--", "sh", "-c",
                                     "sleep 20 & echo 5 ok")
        self.assertEqual((code, err), (0, "5 ok\n"))
        self.assertEqual(json.loads(out)["runs"][0]["work"]["value"], 5)
        self.assertLess(time.monotonic() - t0, 15)

    def test_nothing_read(self):
        code, out, _ = self.pwrlog("--per", "([0-9]+) ok", "--json", "--", "echo", "hello")
        r = json.loads(out)["runs"][0]
        self.assertEqual((code, r["work"], r["work_why"]),
                         (0, None, "no line of the output matches"))

    def test_what_is_not_a_trace_of_runs(self):
        trace = self.path("t.wwt")
        run("pwrlog", "record", "-m", self.meter, "-o", trace, "--for", "300ms")
        code, out, err = run("pwrlog", "run", "--from", trace)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("no runs of a command in this trace", err)


class Surroundings(Meter):
    """What the command sees of being measured, and what the user sees of it."""

    def test_output_and_report_are_apart(self):
        code, out, err = self.pwrlog("--json", "--", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual((code, err), (0, "out\nerr\n"))
        json.loads(out)

    def test_log(self):
        log = self.path("log")
        for _ in range(2):
            code, _, err = self.pwrlog("--log", log, "--per", "(out)", "--", "echo", "out")
            self.assertEqual((code, err), (0, ""))
        with open(log, encoding="ascii") as f:
            self.assertEqual(f.read(), "out\nout\n")

    def test_standard_input_is_its_own(self):
        code, _, err = self.pwrlog("--", "cat", stdin=b"hello\n")
        self.assertEqual((code, err), (0, "hello\n"))

    def test_signals_are_as_they_were(self):
        script = "cut -d' ' -f1- /proc/self/status | grep -E 'Sig(Blk|Ign)'"
        want = subprocess.run(["sh", "-c", script], capture_output=True, check=True).stdout
        _, _, err = self.pwrlog("--", "sh", "-c", script)
        self.assertIn("SigBlk:\t0000000000000000", err)
        self.assertEqual(err.count("SigIgn"), want.decode().count("SigIgn"))
        # A pipe that is closed ends it as elsewhere.
        self.assertNotRegex(err, r"SigIgn:\s+[0-9a-f]{12}1")

    def test_no_file_is_left(self):
        tmp = self.path("tmp")
        os.mkdir(tmp)
        code, _, _ = self.pwrlog("--", "true", env=dict(os.environ, TMPDIR=tmp))
        self.assertEqual((code, os.listdir(tmp)), (0, []))

    def test_interrupted(self):
        p = subprocess.Popen([tool("pwrlog"), "run", "-m", self.meter, *QUICK, "-n", "9", "--json",
                              "--", "sh", "-c", "touch %s; sleep 30; true" % self.path("on")],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        wait_for(lambda: os.path.exists(self.path("on")))
        time.sleep(0.3)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=20)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"stopped before the last run", err)
        runs = json.loads(out)["runs"]
        self.assertEqual((len(runs), runs[0]["signal"]), (1, 2))
        self.assertGreater(runs[0]["energy_J"]["value"], 25 * 0.2)

    def test_interrupted_at_a_terminal(self):
        # The kernel sends it to all of the terminal's group, pwrlog and the command. No
        # shell: what it caught just before it starts another program is lost with it.
        with open(self.path("text"), "w", encoding="ascii") as f:
            f.write("started\n")
        t = Terminal("pwrlog", "run", "-m", self.meter, *QUICK, "--", "tail", "-f",
                     self.path("text"))
        self.addCleanup(t.kill)
        t.wait("started")
        t.type("\x03")
        self.assertEqual(t.end(), 1)
        self.assertIn("signal 2", t.text)
        self.assertIn("run 1 of 1", t.text)


    def test_input_from_elsewhere_at_a_terminal(self):
        """The command leads a group of its own then, which Ctrl-C does not reach by itself."""
        with open(self.path("text"), "w", encoding="ascii") as f:
            f.write("started\n")
        t = Terminal("/bin/sh", "-c", "exec %s run -m '%s' --baseline 0 --settle 0 -- tail -f %s "
                     "</dev/null" % (tool("pwrlog"), self.meter, self.path("text")))
        self.addCleanup(t.kill)
        t.wait("started")
        t.type("\x03")
        self.assertEqual(t.end(), 1)
        self.assertIn("signal 2", t.text)


class Usage(Case):
    def test_help(self):
        code, out, err = run("pwrlog", "run", "--help")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith("usage: pwrlog run -m METER [OPTIONS] -- CMD"))
        self.assertLessEqual(max(map(len, out.splitlines())), 88)

    def test_wrong_use(self):
        sim = ["-m", "sim:"]
        for args, want in (
                (["--", "true"], "name a meter with -m URI"),
                (sim, "name a command to run, after --"),
                (sim + ["-n", "0", "--", "true"], "-n: a number from 1 to 100000, not '0'"),
                (sim + ["-n", "x", "--", "true"], "not 'x'"),
                (sim + ["--repeat", "0", "--", "true"], "--repeat: a number from 1"),
                (sim + ["--vary", "x", "--", "true"], "--vary x: expected a name and its values"),
                (sim + ["--vary", "x=a,b,a", "--", "true"], "'a' stands there twice"),
                (sim + ["--vary", "x=a", "--vary", "x=b", "--", "true"], "x varies already"),
                (sim + ["--vary", "1x=a", "--", "true"], "expected a name"),
                (sim + ["--per", "[0-9]+", "--", "true"], "has no group"),
                (sim + ["--per", "(", "--", "true"], "neither a program whose output is known"),
                (sim + ["--baseline", "soon", "--", "true"], "'soon' is not a duration"),
                (sim + ["--seed", "-1", "--", "true"], "--seed: a whole number, not '-1'"),
                (sim + ["-o", "-", "--", "true"], "standard output has the report"),
                (sim + ["--", ""], "an empty command"),
                (["-m", "manual:", "--", "true"], "nobody can type readings"),
                (["--from", "x.wwt", "--", "true"], "nothing is run"),
                (sim + ["--colour"], "unknown option '--colour'")):
            code, out, err = run("pwrlog", "run", *args)
            self.assertEqual((code, out), (2, ""), args)
            self.assertIn(want, err)


if __name__ == "__main__":
    main()
