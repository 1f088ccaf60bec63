#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pwrlog stat: figures of a simulated meter of known truth, windows, streams, wrong use."""
import json
import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import Case, js, run, tool, wait_for  # noqa: E402

SIM = "sim:?watts=25&noise=0.2&rate=200&resolution=0.1&seed=7"


def power(report):
    return next(c for c in report["channels"] if c["unit"] == "W")


class Stat(Case):
    def record(self, uri=SIM, seconds="1s", labels=()):
        path = self.path("t.wwt")
        p = subprocess.Popen([tool("pwrlog"), "record", "-m", uri, "--for", seconds, "-o", path],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        for label, rows in labels:
            wait_for(lambda n=rows: os.path.exists(path) and self.rows(path) >= n)
            p.stdin.write((label + "\n").encode())
            p.stdin.flush()
        _, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0, err)
        return path

    def rows(self, path):
        code, out, _ = run("pwrlog", "stat", "--json", path)
        return power(json.loads(out))["n"] if code == 0 and '"W"' in out else 0

    def test_truth(self):
        report = js("pwrlog", "stat", "--json", self.record())
        self.assertEqual(report["schema"], "wakewatt/stat/1")
        self.assertRegex(report["start"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$")
        self.assertIsInstance(report["notes"], list)
        c = power(report)
        self.assertEqual(c["name"], "meter.power")
        self.assertLess(abs(c["mean"]["value"] - 25), 5 * c["mean"]["u"])
        self.assertLess(c["mean"]["u"], 0.05)
        self.assertAlmostEqual(c["energy_J"]["value"] / c["duration_s"], c["mean"]["value"], 2)
        self.assertLess(abs(c["duration_s"] - 1), 0.1)
        self.assertEqual((c["coverage"], c["gaps"], c["gap_s"]), (1, 0, 0))

    def test_parts_and_whole(self):
        path = self.record()
        whole = power(js("pwrlog", "stat", "--json", path))
        first = power(js("pwrlog", "stat", "--json", "--to", "437ms", path))
        rest = power(js("pwrlog", "stat", "--json", "--from", "0.437", path))
        self.assertEqual(first["n"] + rest["n"], whole["n"])
        for key in ("duration_s", "gap_s"):
            self.assertAlmostEqual(first[key] + rest[key], whole[key], 8)
        self.assertAlmostEqual(first["energy_J"]["value"] + rest["energy_J"]["value"],
                               whole["energy_J"]["value"], 3)

    def test_back_from_the_end(self):
        path = self.record()
        last = js("pwrlog", "stat", "--json", "--from", "-300ms", path)
        self.assertAlmostEqual(last["to_s"] - last["from_s"], 0.3, 9)

    def test_between_marks(self):
        path = self.record(seconds="3s", labels=(("one, two", 100), ("off", 300)))
        part = power(js("pwrlog", "stat", "--json", "--between", "one, two,off", path))
        whole = power(js("pwrlog", "stat", "--json", path))
        self.assertTrue(100 < part["n"] < whole["n"] - 100, (part["n"], whole["n"]))
        code, out, err = run("pwrlog", "stat", "--between", "off,one, two", path)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("no mark 'one, two' after the first one", err)
        self.assertRegex(err, r"the marks are, in their order:\n(  .*\n)*  one, two\n  off\n")

    def test_gap(self):
        path = self.record("sim:?watts=40&noise=0&rate=100&resolution=0.1&gap=300ms:400ms", "1s")
        c = power(js("pwrlog", "stat", "--json", path))
        self.assertEqual(c["gaps"], 1)
        self.assertTrue(0.35 < c["gap_s"] < 0.45, c)
        self.assertAlmostEqual(c["coverage"], 1 - c["gap_s"] / c["duration_s"], 5)
        self.assertAlmostEqual(c["mean"]["value"], 40, 6)
        _, text, _ = run("pwrlog", "stat", path)
        self.assertIn("1 gap (recorded as such", text)

    def test_growing(self):
        path = self.path("t.wwt")
        p = subprocess.Popen([tool("pwrlog"), "record", "-m", SIM, "--for", "60s", "-o", path],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        try:
            first = wait_for(lambda: os.path.exists(path) and self.rows(path))
            wait_for(lambda: self.rows(path) > first)
            report = js("pwrlog", "stat", "--json", "--to", "300ms", path)
            self.assertIn("the trace is still being recorded: figures up to its last commit",
                          report["notes"])
        finally:
            p.terminate()
            p.communicate(timeout=60)
        after = js("pwrlog", "stat", "--json", "--to", "300ms", path)
        self.assertEqual(power(report), power(after))

    def test_stream(self):
        for form in ("jsonl", "binary"):
            r = subprocess.Popen([tool("pwrlog"), "record", "-m", SIM, "--for", "500ms", "-o", "-",
                                  "--stream", form], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            stream = r.communicate(timeout=60)[0]
            p = subprocess.run([tool("pwrlog"), "stat", "--json", "-"], input=stream, check=True,
                               capture_output=True, timeout=60)
            c = power(json.loads(p.stdout))
            self.assertGreater(c["n"], 50)
            self.assertLess(abs(c["mean"]["value"] - 25), 5 * c["mean"]["u"])

    def test_text(self):
        code, text, err = run("pwrlog", "stat", self.record())
        self.assertEqual((code, err), (0, ""))
        lines = text.splitlines()
        self.assertRegex(lines[0], r"^start \d{4}-")
        self.assertRegex(lines[1], r"^from 0\.000 s to 1\.\d+ s after the first record$")
        self.assertRegex(lines[3], r"^channel +mean +min +max +values +time +coverage +gaps$")
        mean = float(lines[4].split()[1])
        self.assertAlmostEqual(mean, 25, delta=0.2)
        # Two significant digits of u, and the value as far as these go.
        value, _, u = lines[4].split()[1:4]
        self.assertEqual(len(value.split(".")[1]), len(u.split(".")[1]))
        self.assertTrue(10 <= round(float(u) * 10 ** (1 - math.floor(math.log10(float(u))))) <= 99)
        for line in lines:
            self.assertLessEqual(len(line), 80)

    def test_wrong_use(self):
        path = self.record(seconds="100ms")
        for words, status, says in (
                ((), 2, "name a trace"),
                ((path, path), 2, "one trace at a time"),
                (("--from", "soon", path), 2, "'soon' is not a duration"),
                (("--between", "a,b", "--to", "1", path), 2, "exclude each other"),
                (("--between", "a", path), 2, "two marks"),
                (("--between", ",", path), 2, "two marks"),
                (("--between", "a,", path), 2, "two marks"),
                (("--between", "a,b", path), 1, "no mark 'a'"),
                (("--to", "x", path), 2, "--to: 'x' is not a duration"),
                (("--wrong", path), 2, "--wrong"),
                (("--from", "50ms", "--to", "20ms", path), 2, "ends before it begins"),
                (("--from", "1h", path), 1, "nothing after --from 1h: the trace is 0."),
                ((self.path("none.wwt"),), 1, "none.wwt"),
                ((__file__,), 1, "test_stat.py")):
            code, out, err = run("pwrlog", "stat", *words)
            self.assertEqual((code, out), (status, ""), words)
            self.assertIn(says, err)


if __name__ == "__main__":
    main()
