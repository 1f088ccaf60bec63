#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pwrlog standby: vectors as they are, live from a simulated meter, wrong use."""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import ROOT, Case, Terminal, js, run, tool  # noqa: E402

VECTORS = os.path.join(ROOT, "tests", "data", "vectors")
FLAT = os.path.join(VECTORS, "S18_standby_a_flat_0p8W.csv")
DECAY = os.path.join(VECTORS, "S18_standby_b_decay.csv")
SIM = "sim:?watts=0.8&noise=0.002&resolution=0.0001&rate=50"

TEXT = """\
standby power, edition 2, sampling method: meter.power
start unknown: no clock in the trace
meter csv

power        0.8020 ± 0.0025 W (k = 2)
             mean from 1120 s to 3360 s, 2240 readings
uncertainty  U = 0.00249 W (k = 2), allowed 0.0252 W
             k = 1: noise 0.0000681 W, resolution 0, accuracy 0.00124 W
slope        -9.76 ± 0.76 mW/h; limit 10.0 mW/h
stability    stable at 3360 s
limit        1.00 W: kept, uncertainty included
verdict      not shown: nothing seen broken, 6 clauses not observed

clause            required                   measured
duration          at least 15 min            60.0 min           met
interval          at most 1 s apart          1.00 s             met
gaps              no gap in the stretch      0 gaps             met
stability         slope below 10.0 mW/h      -9.76 ± 0.76 mW/h  met
uncertainty       U (95 %) at most 0.0252 W  0.00249 W          met (given)
resolution        0.0100 W or finer          0.000100 W         met
MCR               crest and PF known         MCR 17.1           met (given)
supply voltage    230 V ± 1 %                -                  not observed
supply frequency  50.0 Hz ± 1 %              -                  not observed
supply harmonics  harmonics at most 2 %      -                  not observed
voltage crest     1.34 to 1.49               -                  not observed
room temperature  23 ± 5 °C                  -                  not observed
air speed         below 0.5 m/s              -                  not observed
"""


def clauses(report):
    return {c["name"]: c for c in report["clauses"]}


class Standby(Case):
    def test_text(self):
        code, out, _ = run("pwrlog", "standby", DECAY, "--accuracy", "0.1%+0.002W", "--crest", "6",
                           "--pf", ".35", "--limit", "1")
        self.assertEqual(code, 0)
        self.assertEqual(out[:len(TEXT)], TEXT)
        for line in out.splitlines():
            self.assertLessEqual(len(line), 80)

    def test_json(self):
        r = js("pwrlog", "standby", "--json", FLAT)
        self.assertEqual(r["schema"], "wakewatt/standby/1")
        self.assertEqual(list(r)[-1], "notes")
        self.assertAlmostEqual(r["watts"]["value"], 0.79994, 5)
        self.assertEqual(r["stability"]["verdict"], "stable")
        self.assertEqual(r["stability"]["tested_s"], 900)
        self.assertAlmostEqual(r["stability"]["slope_W_per_h"]["value"], 0.00087, 5)
        self.assertEqual(r["window_s"], [300, 900])
        self.assertEqual(r["standing"], "not shown")
        self.assertIsNone(r["budget"]["U_W"])
        self.assertEqual(clauses(r)["air speed"]["state"], "not observed")
        self.assertIsNone(clauses(r)["air speed"]["measured"])

    def test_procedures(self):
        r = js("pwrlog", "standby", "--json", "--edition", "1", DECAY)
        self.assertEqual((r["procedure"], r["stability"]["verdict"]), ("edition1", "stable"))
        r = js("pwrlog", "standby", "--json", "--energystar", DECAY)
        self.assertEqual((r["procedure"], r["window_s"]), ("energystar", [900, 1200]))
        r = js("pwrlog", "standby", "--json", "--method", "average", DECAY)
        self.assertEqual((r["procedure"], r["window_s"][0]), ("average", 1800))
        r = js("pwrlog", "standby", "--json", "--method", "direct", DECAY)
        self.assertEqual((r["procedure"], r["n"]), ("direct", 2))
        r = js("pwrlog", "standby", "--json", "--from", "30m", DECAY)
        self.assertEqual(r["begin_s"], 1800)

    def test_kill_a_watt(self):
        """A display of 0.1 W is not good enough, whatever else."""
        path = self.path("k.csv")
        with open(path, "w", encoding="ascii") as f:
            f.write("t_s,power_W\n")
            f.writelines("%d,%.1f\n" % (t, 3.2 if t % 7 else 3.3) for t in range(1000))
        r = js("pwrlog", "standby", "--json", "--accuracy", "0.2%", path)
        self.assertEqual(r["standing"], "informative, not compliant")
        self.assertEqual(clauses(r)["resolution"]["state"], "not met")

    def test_live(self):
        """It ends by --for, keeps no trace unless told, and the kept one gives the same."""
        tmp = self.path("tmp")
        os.mkdir(tmp)
        code, out, err = run("pwrlog", "standby", "-m", SIM, "--for", "4s",
                             env=dict(os.environ, TMPDIR=tmp))
        self.assertEqual(code, 0, err)
        self.assertIn("stability    too short", out)
        self.assertIn("verdict      informative, not compliant", out)
        self.assertEqual(os.listdir(tmp), [])
        path = self.path("t.wwt")
        code, out, err = run("pwrlog", "standby", "-m", SIM, "--for", "4s", "-o", path)
        self.assertEqual(code, 0, err)
        self.assertEqual(run("pwrlog", "standby", path)[1], out)

    def test_interrupt(self):
        path = self.path("t.wwt")
        t = Terminal("pwrlog", "standby", "-m", SIM, "-o", path, columns=100)
        try:
            t.wait("recording to")
            t.wait("0.8")
            time.sleep(4)
            t.p.send_signal(signal.SIGINT)
            self.assertEqual(t.end(), 0)
            self.assertIn("stability    too short", t.text)
            self.assertTrue(t.restored)
        finally:
            t.kill()

    def test_stream(self):
        with subprocess.Popen([tool("pwrlog"), "record", "-m", SIM, "--for", "4s", "-o", "-"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as p:
            code, out, err = run("pwrlog", "standby", "--json", "-",
                                 stdin=p.stdout.read())
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["stability"]["verdict"], "too short")

    def test_wrong_use(self):
        for words, status, says in (
                ((), 2, "name a trace"),
                (("--edition", "3", FLAT), 2, "1 or 2"),
                (("--method", "x", FLAT), 2, "sampling, average or direct"),
                (("--edition", "1", "--method", "direct", FLAT), 2, "of edition 2"),
                (("--energystar", "--edition", "2", FLAT), 2, "--energystar"),
                (("--accuracy", "5", FLAT), 2, "0.1%+0.005W"),
                (("--accuracy", "", FLAT), 2, "0.1%+0.005W"),
                (("--supply", "230,x", FLAT), 2, "230,50"),
                (("--pf", "2", FLAT), 1, "power factor"),
                (("--limit", "0", FLAT), 2, "above 0"),
                (("-o", "x.wwt", FLAT), 2, "go with -m"),
                (("-m", SIM, FLAT), 2, "no FILE"),
                (("-m", SIM, "--from", "1s"), 2, "are for a FILE"),
                (("-m", SIM, "-m", SIM), 2, "one meter"),
                (("-m", "nope:"), 2, "nope"),
                (("--channel", "x", FLAT), 1, "no channel 'x'"),
                (("--from", "2h", FLAT), 1, "nothing after"),
                ((self.path("none.wwt"),), 1, "none.wwt")):
            code, out, err = run("pwrlog", "standby", *words)
            self.assertEqual((code, out), (status, ""), (words, err))
            self.assertIn(says, err)
        code, out, err = run("pwrlog", "standby", "--help")
        self.assertEqual((code, err), (0, ""))
        for line in out.splitlines():
            self.assertLessEqual(len(line), 80)


if __name__ == "__main__":
    main()
