#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""resumetime vet and bisect-step: composed kernels with a delay in them, and git bisect run."""
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import kframe  # noqa: E402
import kgen  # noqa: E402
from tap import main  # noqa: E402
from ww import Case, js, run, tool  # noqa: E402


class Slow(kgen.Log):
    """A kernel in which one device takes `ms` and up to a millisecond more in resume."""

    def __init__(self, ms, seed, version=(6, 6)):
        super().__init__(version, seed)
        self.ms = ms

    def call(self, dev, verb, error=0, pid=None, length=None):
        if dev[2] == "2-1.4" and verb == "resume":
            length = self.ms + self.rand.uniform(0.05, 0.9)
        return super().call(dev, verb, error, pid, length)


def compose(path, ms, cycles, seed, result="ok"):
    log = Slow(ms, seed)
    for _ in range(cycles):
        log.cycle(result)
    with open(path, "wb") as f:
        f.write(kframe.frame(log, kframe.raw))
    return path


class Vet(Case):
    def test_a_written_delay(self):
        a = compose(self.path("a.txt"), 150, 12, 3)
        b = compose(self.path("b.txt"), 150, 12, 5)
        doc = js("resumetime", "vet", a, b, "--json")
        self.assertEqual((doc["schema"], doc["inputs"], doc["cycles"]),
                         ("wakewatt/vet/1", ["a", "b"], 24))
        fixed = [c for c in doc["callbacks"] if c["fixed"]]
        self.assertEqual([(c["device"], c["driver"], c["callback"], c["phase"], c["n"],
                           c["written_ms"]) for c in fixed],
                         [("2-1.4", "usb", "usb_dev_resume", "resume", 24, 150)])
        self.assertAlmostEqual(fixed[0]["saves_ms"], fixed[0]["median_ms"], delta=0.2)
        self.assertLess(fixed[0]["spread_ms"], 1)
        self.assertTrue(all(c["written_ms"] is None for c in doc["callbacks"]
                            if not c["within_tick"]))
        code, out, _ = run("resumetime", "vet", a, b)
        self.assertEqual(code, 0)
        self.assertIn("2-1.4   usb     usb_dev_resume  resume  24", out)
        self.assertNotIn("nan", out)

    def test_not_fixed_in_both(self):
        a = compose(self.path("a.txt"), 150, 12, 3)
        b = compose(self.path("b.txt"), 170, 12, 5)
        doc = js("resumetime", "vet", a, b, "--json")
        self.assertEqual([c["device"] for c in doc["callbacks"] if c["within_tick"]], [])

    def test_options(self):
        a = compose(self.path("a.txt"), 150, 4, 3)
        self.assertEqual(js("resumetime", "vet", a, "--min", "200ms", "--json")["callbacks"], [])
        self.assertEqual(js("resumetime", "vet", a, "--cycles", "5", "--json")["callbacks"], [])
        for args, says in ((["--min", "0ms", a], "--min 0ms: longer than no time"),
                           (["--cycles", "0", a], "--cycles 0: how many, from 1"),
                           ([], "name recordings, kernel logs or ftrace")):
            code, out, err = run("resumetime", "vet", *args)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(says, err)
        empty = self.path("empty.txt")
        with open(empty, "w", encoding="ascii") as f:
            f.write("nothing of ours\n")
        code, out, err = run("resumetime", "vet", empty)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("empty: no cycle of suspend and resume to look at", err)


class Bisect(Case):
    def known(self):
        return ["-g", compose(self.path("good.txt"), 5, 10, 3),
                "-b", compose(self.path("bad.txt"), 150, 10, 5)]

    def test_verdicts(self):
        known = self.known()
        for name, ms, cycles, want in (("fast", 5, 9, 0), ("slow", 150, 9, 1), ("few", 150, 4, 125),
                                       ("none", 150, 0, 125)):
            now = compose(self.path(name + ".txt"), ms, cycles, 7)
            code, out, err = run("resumetime", "bisect-step", *known, now)
            self.assertEqual((code, err), (want, ""), out)
        self.assertIn("did not boot", out)
        _, out, _ = run("resumetime", "bisect-step", *known, self.path("few.txt"))
        self.assertIn("about 5 cycles more for 99 %", out)
        # So sure as was asked.
        code, _, _ = run("resumetime", "bisect-step", *known, "--certainty", "80%",
                         self.path("few.txt"))
        self.assertEqual(code, 1)
        # A file that is not there is no reason to stop: that build left none.
        code, out, _ = run("resumetime", "bisect-step", *known, self.path("no.txt"))
        self.assertEqual(code, 125)
        self.assertIn("nothing to be read", out)

    def test_json_and_metric(self):
        known = self.known()
        now = compose(self.path("now.txt"), 150, 9, 9)
        code, out, _ = run("resumetime", "bisect-step", *known, "-m", "2-1.4 resume", "-j", now)
        self.assertEqual(code, 1)
        self.assertIn('"schema":"wakewatt/bisect/1","verdict":"bad"', out)
        self.assertIn("device 2-1.4 usb resume: 9 of 9 cycles above", out)
        code, out, err = run("resumetime", "bisect-step", *known, "-m", "resume", now)
        self.assertEqual((code, out), (129, ""))
        self.assertIn("'resume' fits several figures", err)

    def test_failures(self):
        now = compose(self.path("now.txt"), 5, 6, 3, "refused")
        code, out, _ = run("resumetime", "bisect-step", "--failures", "20%", now)
        self.assertEqual(code, 1)
        self.assertIn("6 of 6 cycles failed", out)

    def test_stops(self):
        """What is wrong with the call must not make a commit bad."""
        good = compose(self.path("good.txt"), 5, 10, 3)
        for args, says in (([], "name the recording"), (["-x"], "unknown option"),
                           ([good], "what is bad?"),
                           (["-t", "0ms", good], "longer than no time"),
                           (["-t", "50", good], "of what unit? 50ms, or 50s"),
                           (["-t", "1s", "--certainty", "100%", good], "less than all"),
                           (["-t", "1s", "--tries", "3", good], "of which command?"),
                           (["-g", good, "-b", good, good], "not told apart"),
                           (["-g", self.path("no"), "-b", good, good], "No such file"),
                           (["-t", "1s", good, "--", "cp", good, good], "is there before"),
                           (["-t", "1s", self.path("n"), "--", "no-such-program-here"],
                            "No such file")):
            code, out, err = run("resumetime", "bisect-step", *args)
            self.assertEqual((code, out), (129, ""), (args, out, err))
            self.assertIn(says, err)

    def test_command(self):
        """Recorded again until it is decided."""
        few = compose(self.path("few.txt"), 150, 4, 7)
        code, out, err = run("resumetime", "bisect-step", "-t", "100ms", self.path("now.txt"), "--",
                             "cp", few, "{}")
        self.assertEqual((code, err), (1, ""))
        self.assertIn("12 of 12 cycles", out)
        self.assertTrue(os.path.exists(self.path("now-3.txt")))
        self.assertFalse(os.path.exists(self.path("now-4.txt")))
        code, out, _ = run("resumetime", "bisect-step", "-t", "100ms", "--tries", "2",
                           self.path("other.txt"), "--", "cp", few, "{}")
        self.assertEqual(code, 125)
        self.assertIn("8 of 8 cycles", out)
        # A build that does not boot.
        code, out, err = run("resumetime", "bisect-step", "-t", "100ms", self.path("dead.txt"),
                             "--", "false")
        self.assertEqual(code, 125)
        self.assertIn("'false' left no cycles", out)
        self.assertIn("'false' ended with status 1", err)

    @unittest.skipUnless(shutil.which("git"), "no git")
    def test_git_bisect_run(self):
        """A real bisection finds the commit with the delay, past one that does not boot."""
        known = self.known()
        repo = self.path("repo")
        env = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null",
                   GIT_AUTHOR_NAME="t", GIT_AUTHOR_EMAIL="t@t", GIT_COMMITTER_NAME="t",
                   GIT_COMMITTER_EMAIL="t@t")

        def git(*args):
            return subprocess.run(["git", *args], cwd=repo, env=env, check=True,
                                  capture_output=True, text=True).stdout

        os.mkdir(repo)
        git("init", "-q")
        for i in range(12):
            # The sixth does not boot, from the eighth on it is slow.
            compose(os.path.join(repo, "log.txt"), 150 if i >= 8 else 5, 0 if i == 6 else 10, i)
            git("add", "log.txt")
            git("commit", "-qm", "commit %d" % i)
        git("bisect", "start", "HEAD", "HEAD~11")
        out = git("bisect", "run", tool("resumetime"), "bisect-step", *known, "log.txt")
        self.assertIn("is the first bad commit", out)
        self.assertEqual(git("log", "-1", "--format=%s", "refs/bisect/bad").strip(), "commit 8")


if __name__ == "__main__":
    main()
