#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pwrlog suspend-model: the laptop's case, lists of gaps, a trace, wrong use."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import ROOT, Case, js, run, tool  # noqa: E402

OLPC = ("--idle", "2.75", "--suspended", "1.0", "--transition", "3", "--suspend-time", ".25",
        "--resume-time", ".40")
GAPS = "0.12 0.2 0.15 0.3 1.1 4.0 0.25 0.18 9.5 0.4 0.22 30 0.6 2.2 0.14 0.35".split()

TEXT = """\
power        2.750 ± 0.020 W idle, 1.000 ± 0.020 W suspended
transitions  0.250 ± 0.010 s in, 0.400 ± 0.010 s out, at 3.00 ± 0.10 W
cost         1.300 ± 0.072 J for both transitions, beyond what it draws suspended
break-even   0.743 ± 0.041 s
idle gaps    exponential, mean 5.00 s

policy       time-out          average             life x  wakes/h   delay     p95
never           never  2.750 ± 0.020 W               1.00
at once           0 s  1.260 ± 0.022 W      2.183 ± 0.042      720  406 ms  400 ms
time-out       15.0 s  2.676 ± 0.019 W  1.02772 ± 0.00046     35.8  406 ms  400 ms
break-even    0.743 s  1.466 ± 0.020 W      1.876 ± 0.027      621  406 ms  400 ms
random         random  1.382 ± 0.021 W      1.990 ± 0.032      661  406 ms
best              0 s  1.260 ± 0.022 W      2.183 ± 0.042      720  406 ms  400 ms
clairvoyant     knows  1.242 ± 0.021 W      2.215 ± 0.041      621    0 ms    0 ms

policy       asleep  of gaps  at worst      battery  generated
never         0.0 %    0.0 %                    8 h      2.0:1
at once      87.8 %  100.0 %            17 h 28 min      4.4:1
time-out      4.4 %    5.0 %     21.19   8 h 13 min      2.1:1
break-even   75.7 %   86.2 %      2.00   15 h 1 min      3.8:1
random       80.6 %   91.8 %      1.58  15 h 55 min      4.1:1
best         87.8 %  100.0 %            17 h 28 min      4.4:1
clairvoyant  87.8 %   86.2 %      1.00  17 h 43 min      4.5:1

10:1 of 7.00 W needs an average of 0.560 W: out of reach by suspending
± is k = 2, about 95 %

- averages are over idle time; what is drawn while at work is not in them
- a gap in which it suspends costs a whole transition, also where it is shorter
  than that; what arrives meanwhile waits for its end
- exponential gaps have no memory: the best time-out is 0 or never
- a resume of 400 ms is noticed by a person (from 100 ms on); no price was put
  on that
- 0.560 W cannot be reached by suspending alone
"""


def policies(report):
    return {p["policy"]: p for p in report["policies"]}


class SuspendModel(Case):
    def test_text(self):
        code, out, err = run("pwrlog", "suspend-model", "--idle", "2.75+-0.02", "--suspended",
                             "1.0±0.02", "--transition", "3+-.1", "--suspend-time", ".25+-.01",
                             "--resume-time", ".4+-.01", "--gaps", "exponential:5", "--battery",
                             "22", "--generated", "7", "--efficiency", ".8")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, TEXT)

    def test_break_even_only(self):
        r = js("pwrlog", "suspend-model", *OLPC, "--json")
        self.assertEqual(r["schema"], "wakewatt/suspend-model/1")
        self.assertEqual(list(r)[-1], "notes")
        self.assertAlmostEqual(r["break_even_s"]["value"], 0.7428571428571429, 9)
        self.assertEqual(r["policies"], [])

    def test_not_told_apart(self):
        """A saving that is not told from none has no break-even."""
        words = ("--suspended", "2.7+-0.5", "--suspend-time", ".25", "--resume-time", ".4")
        code, out, err = run("pwrlog", "suspend-model", "--idle", "2.75+-0.5", *words)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("break-even   not known: idle and suspended power are not told apart", out)
        self.assertIn("0.0500 W with an uncertainty of 0.707 W (k = 2), not\n  told from 0:", out)
        r = js("pwrlog", "suspend-model", "--idle", "2.75+-0.5", *words, "--json")
        self.assertEqual(r["break_even_s"], {
            "value": None, "u": None, "why": "idle and suspended power are not told apart"})
        # Told, and what it costs is near what bounds it: a +- all the same.
        r = js("pwrlog", "suspend-model", "--idle", "2.75", "--transition", "2.7+-.4", *OLPC[2:4],
               *words[2:], "--json")
        self.assertTrue(r["limited_by_latency"])
        self.assertEqual(r["break_even_s"]["value"], .65)
        self.assertAlmostEqual(r["break_even_s"]["u"], .65 / 1.75 * (.2 - .05 / 2), 4)

    def test_recorded(self):
        text = "\n".join(GAPS).encode()
        path = self.path("gaps.csv")
        with open(path, "wb") as f:
            f.write(b"n;idle_ms\n" + b"".join(b"%d;%d\n" % (i, round(float(g) * 1000))
                                              for i, g in enumerate(GAPS)))
        r = js("pwrlog", "suspend-model", *OLPC, "--gaps", "-", "--json", stdin=text)
        p = policies(r)
        for name, joules in (("clairvoyant", 61.3025), ("break-even", 67.8025), ("best", 65.7525),
                             ("at once", 70.51), ("never", 136.7025)):
            self.assertAlmostEqual(p[name]["energy_J"], joules, 6)
        self.assertEqual((p["best"]["timeout_s"], p["best"]["wakes"]), (0.4, 6))
        self.assertAlmostEqual(p["break-even"]["excess_ratio"], 1.5607073538926048, 9)
        again = policies(js("pwrlog", "suspend-model", *OLPC, "--gaps", path, "--json"))
        self.assertAlmostEqual(again["best"]["energy_J"], 65.7525, 6)

    def test_trace(self):
        """Dips of a simulated load: powers and energy come from the trace."""
        path = self.path("t.csv")
        with open(path, "w", encoding="ascii") as f:
            f.write("t_s,power_W\n")
            t, lengths = 0.0, (3, 6, 9, 4, 8, 12, 5, 7)
            for length in lengths:
                for power, seconds in ((2.75, 8), (3, .3), (1, length - .7), (3, .4)):
                    for _ in range(round(seconds * 10)):
                        t += 0.1
                        f.write("%.1f,%.3f\n" % (t, power + 0.002 * ((round(t * 10) % 5) - 2)))
            for _ in range(80):
                t += 0.1
                f.write("%.1f,2.750\n" % t)
        code, out, err = run("pwrlog", "suspend-model", "--json", "--suspend-time", ".3",
                             "--resume-time", ".4", path)
        self.assertEqual(code, 0, err)
        self.assertIn("8 cycles, by power alone", err)
        r = json.loads(out)
        self.assertAlmostEqual(r["idle_W"]["value"], 2.75, 2)
        self.assertAlmostEqual(r["suspended_W"]["value"], 1, 2)
        # 3 W for 0.7 s, beyond the 1 W that it would have drawn suspended.
        self.assertAlmostEqual(r["transition_J"]["value"], 0.7 * 2, 2)
        self.assertLess(r["transition_J"]["u"], 0.01)
        self.assertNotIn("give --suspend-time", err)
        for words, says in ((("--suspend-time", ".3"), "give --suspend-time and --resume-time"),
                            ((), "does not tell what transitions cost")):
            code, out, err = run("pwrlog", "suspend-model", *words, path)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(says, err)
        r = js("pwrlog", "suspend-model", "--json", "--transition", "3", "--suspend-time", ".3",
               "--resume-time", ".4", path)
        self.assertAlmostEqual(r["transition_J"]["value"], 0.7 * 2, 2)

    def test_olpc_example(self):
        p = subprocess.run([os.path.join(ROOT, "examples", "olpc.sh")], capture_output=True,
                           text=True, timeout=60, check=False,
                           env=dict(os.environ, PWRLOG=tool("pwrlog")))
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertEqual(p.stdout.splitlines()[:4], [
            "idle/suspended  in + out       break-even",
            "2.75 / 1.0  W    0.25 + 0.40 s   0.74 s",
            "2.75 / 1.0  W    0.25 + 0.95 s   1.37 s",
            "2.75 / 1.0  W     0.1 + 0.1  s   0.23 s"])
        self.assertIn("needs an average of 0.800 W: suspended 86.7 % of the time", p.stdout)

    def test_wrong_use(self):
        gaps = self.path("g")
        with open(gaps, "w", encoding="ascii") as f:
            f.write("1\n2\nthree\n")
        for words, status, says in (
                ((), 2, "--idle W and --suspended W are needed"),
                (("--idle", "1", "--suspended", "2"), 2, "nothing to be saved"),
                (("--idle", "-1", "--suspended", "2"), 2, "--idle"),
                (("--idle", "2+-x", "--suspended", "1"), 2, "2.75+-0.02"),
                ((*OLPC, "--gaps", "pareto:.1"), 2, "alpha"),
                ((*OLPC, "--gaps", "pareto:.1,.9"), 2, "have no mean"),
                ((*OLPC, "--gaps", "exponential:x"), 2, "one mean"),
                ((*OLPC, "--gaps", "exponential:-1"), 2, "above 0 s"),
                ((*OLPC, "--gaps", gaps), 1, "g:3:1: 'three' is not an idle gap"),
                ((*OLPC, "--gaps", self.path("none")), 1, "none: No such file"),
                ((*OLPC, "--gaps", self.dir), 1, "Is a directory"),
                ((*OLPC, "--gaps", "-"), 1, "no idle gap in it"),
                ((*OLPC, "--timeout", "0"), 2, "above 0"),
                ((*OLPC, "--transition-energy", "1"), 2, "exclude each other"),
                ((*OLPC, "--generated", "7+-1"), 2, "'7+-1': this one takes no uncertainty"),
                ((*OLPC, "a", "b"), 2, "one trace"),
                ((self.path("none.wwt"),), 1, "none.wwt")):
            code, out, err = run("pwrlog", "suspend-model", *words)
            self.assertEqual((code, out), (status, ""), (words, err))
            self.assertIn(says, err)


if __name__ == "__main__":
    main()
