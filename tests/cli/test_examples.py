#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The C examples do what their first lines promise."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import BUILD, Case, run, tool  # noqa: E402


def example(name, *args, **kw):
    p = subprocess.run([os.path.join(BUILD, "examples", name), *args], capture_output=True,
                       text=True, timeout=60, check=False, **kw)
    return p.returncode, p.stdout, p.stderr


class Examples(Case):
    def test_mean(self):
        """25 W for a second, and the trace is an ordinary one."""
        path = self.path("m.wwt")
        code, out, err = example("mean", "sim:?watts=25&noise=0.2&rate=200", path, "1")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^meter\.power: 2[45](\.\d+)? \+- 0\.\d+ W, (19|20)\d readings")
        self.assertEqual(run("wwtrace", "info", path)[0], 0)
        # A trace is never overwritten.
        code, out, err = example("mean", "sim:?watts=25", path, "1")
        self.assertEqual((code, out), (1, ""))
        self.assertIn(path, err)
        code, out, err = example("mean", "nope:", self.path("n.wwt"), "1")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("nope", err)
        self.assertEqual(example("mean")[0], 2)

    def test_follow(self):
        """It ends with the recorder and has printed every row, once."""
        path = self.path("f.wwt")
        uri = "sim:?watts=25&noise=0.2&rate=200&resolution=0.1"
        with subprocess.Popen([tool("pwrlog"), "record", "-m", uri, "--for", "2s", "-o", path],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as rec:
            while not os.path.exists(path) or run("wwtrace", "info", path)[0] != 0:
                self.assertIsNone(rec.poll())
            code, out, err = example("follow", path)
            self.assertEqual((code, err), (0, ""))
            rec.communicate()
        lines = out.splitlines()
        exported = run("wwtrace", "export", path)[1].splitlines()[1:]
        self.assertEqual(len(lines), len(exported))
        for line, row in zip(lines, exported):
            self.assertRegex(line, r"^ +\d+\.\d{6} s  power \d+(\.\d)? W$")
            self.assertEqual(float(line.split()[3]), float(row.split(",")[4]))
        self.assertEqual(example("follow", path, "nope")[0], 1)
        self.assertEqual(example("follow", path, "meter")[1], out)
        self.assertEqual(example("follow", "/nonexistent")[0], 1)


if __name__ == "__main__":
    main()
