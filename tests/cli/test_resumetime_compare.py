#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""resumetime compare: kernel logs of two builds; what it says, its forms, and wrong use."""
import json
import os
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import Case, js, run  # noqa: E402

HELP = "'resumetime compare --help' tells how it is used.\n"


class Log:
    """Lines of a kernel's log, at a clock of its own."""

    def __init__(self, t=50.0):
        self.t = t
        self.lines = []

    def line(self, text, ms=0.02):
        self.t += ms / 1000
        self.lines.append("[%12.6f] %s" % (self.t, text))

    def callback(self, driver, device, func, ms, pid=100):
        self.line(f"{driver} {device}: PM: calling {func}+0x0/0x20 @ {pid}, parent: bus0")
        self.line(f"{driver} {device}: PM: {func}+0x0/0x20 returned 0 after {int(ms * 1000)} usecs",
                  ms)

    def phase(self, name, ms, callbacks=()):
        begin = self.t
        for c in callbacks:
            self.callback(*c)
        self.t = max(self.t, begin + ms / 1000)
        self.line("PM: %s of devices complete after %.3f msecs" % (name, (self.t - begin) * 1000))

    def suspend(self, usb):
        self.line("PM: suspend entry (deep)", 4000)
        self.line("Filesystems sync: 0.010 seconds", 10)
        self.line("Freezing user space processes", 1)
        self.line("Freezing user space processes completed (elapsed 0.001 seconds)", 1)
        self.line("printk: Suspending console(s) (use no_console_suspend to debug)", 1)
        self.phase("suspend", 0, [("usb", "1-1", "usb_dev_suspend", usb)])
        self.phase("late suspend", 2)
        self.phase("noirq suspend", 3)

    def cycle(self, i, slow):
        wobble = (i * 7 % 10) / 10
        self.suspend(12 + wobble)
        self.line("Timekeeping suspended for 5.000 seconds", 1)
        self.phase("noirq resume", 4 + wobble)
        self.phase("early resume", 1)
        self.phase("resume", 0, [("usb", "1-1", "usb_dev_resume", 40 + wobble),
                                 ("late", "late0", "late_resume", 6 + wobble + slow)])
        self.line("Restarting tasks ... done.", 1)
        self.line("PM: suspend exit", 1)

    def refused(self):
        self.line("PM: suspend entry (deep)", 4000)
        self.line("Freezing user space processes", 1)
        self.line("Freezing user space processes completed (elapsed 0.001 seconds)", 1)
        self.callback("usb", "1-1", "usb_dev_suspend", 5)
        self.line("usb 1-1: PM: failed to suspend: error -16")
        self.line("PM: Some devices failed to suspend, or early wake event detected")
        self.line("Restarting tasks ... done.", 1)
        self.line("PM: suspend exit", 1)

    def write(self, path):
        with open(path, "w", encoding="ascii") as f:
            f.write("\n".join(self.lines) + "\n")


def log(path, cycles=10, slow=0.0, refused=0):
    out = Log()
    for i in range(cycles):
        out.cycle(i, slow)
    for _ in range(refused):
        out.refused()
    out.write(path)


SAME = """\
A  old: 10 cycles
B  new: 10 cycles

"""

SLOWER = SAME + """\
median                 A          B       B - A                        95 %         p  verdict
kernel suspend  30.99 ms   30.99 ms    +0.00 ms  +0.0 %      -0.30 to +0.30      1.00  \
no difference seen (0.41 ms would show)
kernel resume   54.29 ms  204.29 ms  +150.00 ms  +276 %  +149.10 to +150.90  0.000022  slower

phases that moved: 1 of 10
B - A ms                95 %   A ms    B ms         p  verdict  phase
 +150.00  +149.40 to +150.60  46.84  196.84  0.000097  slower   resume

callbacks of devices that moved: 1 of 3
B - A ms                95 %  A ms    B ms  critical A  critical B         p  verdict  device  \
driver  phase
 +150.00  +149.70 to +150.30  6.40  156.40        6.40      156.40  0.000032  slower   late0   \
late    resume

fail if resume > 5% slower: met: at least +149.10 ms, limit 2.71 ms, kernel resume
fail if any device > 1 s slower: not met: at most +150.30 ms, limit 1000.00 ms, \
device late0 late resume
fail if kernel suspend > 0.1 ms slower: not decided: -0.30 to +0.30 ms, limit 0.10 ms, \
kernel suspend; about 91 cycles a side would decide it

- B - A is the median of all differences of a cycle of B and one of A (Hodges
  and Lehmann); p is by ranks and stands for all figures of its kind (Holm)
"""

CONDITIONS = "resume > 5% slower, any device > 1 s slower,kernel suspend > 0.1 ms slower"

MARKDOWN = """\
| | cycles | failed | 95 % |
|:--|--:|--:|--:|
| A: old | 10 | 0 | 0.0-30.8 % |
| B: b\\|2 | 10 | 0 | 0.0-30.8 % |

| fail if | | |
|:--|:--|:--|
| resume \\> 5% slower | **failed** | met: at least +149.10 ms, limit 2.71 ms, kernel resume |

| median | A | B | B - A | | 95 % | p | verdict |
|:--|--:|--:|--:|--:|--:|--:|:--|
| kernel suspend | 30.99 ms | 30.99 ms | +0.00 ms | +0.0 % | -0.30 to +0.30 | 1.00 | \
no difference seen (0.41 ms would show) |
| kernel resume | 54.29 ms | 204.29 ms | +150.00 ms | +276 % | +149.10 to +150.90 | 0.000022 | \
**slower** |
| phase resume | 46.84 ms | 196.84 ms | +150.00 ms | +320 % | +149.40 to +150.60 | 0.000097 | \
**slower** |
| device late0 late resume | 6.40 ms | 156.40 ms | +150.00 ms | +2344 % | +149.70 to +150.30 | \
0.000032 | **slower** |
"""

JUNIT = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
<testsuite name="resumetime compare: old and new" tests="3" failures="1" errors="0" skipped="1">
<testcase classname="resumetime.compare" name="resume &gt; 5% slower">
<failure message="met: at least +149.10 ms, limit 2.71 ms, kernel resume"/>
</testcase>
<testcase classname="resumetime.compare" name="any device &gt; 1 s slower"/>
<testcase classname="resumetime.compare" name="kernel suspend &gt; 0.1 ms slower">
<skipped message="not decided: -0.30 to +0.30 ms, limit 0.10 ms, kernel suspend; about 91 cycles \
a side would decide it"/>
</testcase>
</testsuite>
</testsuites>
"""

FEW = """\
A  old: 3 cycles
B  new: 3 cycles

median                 A         B      B - A             p  verdict
kernel suspend  30.99 ms  30.99 ms   +0.00 ms  +0.0 %  1.00  too few cycles
kernel resume    54.3 ms  204.3 ms  +150.0 ms  +276 %  0.20  too few cycles
"""


def no_notes(text):
    """Without what the reader of the logs remarks: that is its own test's."""
    return text.split("- A and B: ")[0]


class Compare(Case):
    def setUp(self):
        super().setUp()
        self.maxDiff = None
        self.old = self.path("old.log")
        self.new = self.path("new.log")
        log(self.old)
        log(self.new, slow=150)

    def compare(self, *args):
        return run("resumetime", "compare", *args)

    def check(self, args, code, err):
        got = self.compare(*args)
        self.assertEqual((got[0], got[2]), (code, err))
        return got[1]

    def test_text(self):
        out = self.check(["-f", CONDITIONS, self.old, self.new], 1,
                         "resumetime compare: a condition of --fail-if is met\n")
        self.assertEqual(no_notes(out), SLOWER)

    def test_status(self):
        self.check([self.old, self.new], 0, "")
        self.check(["-f", "resume > 400% slower", self.old, self.new], 0, "")
        self.check(["-f", "resume > 400% slower", "-f", "resume slower", self.old, self.new], 1,
                   "resumetime compare: a condition of --fail-if is met\n")
        # What is faster is not slower.
        self.check(["-f", "resume slower", self.new, self.old], 0, "")
        still_open = "resumetime compare: so few cycles do not decide a condition of --fail-if\n"
        condition = ["-f", "kernel suspend slower", self.old, self.new]
        self.check(condition, 0, still_open)
        self.check(["--strict"] + condition, 1, still_open)

    def test_json(self):
        out = self.check(["-j", "-f", CONDITIONS, self.old, self.new], 1,
                         "resumetime compare: a condition of --fail-if is met\n")
        r = json.loads(out)
        self.assertEqual(list(r)[0], "schema")
        self.assertEqual(r["schema"], "wakewatt/resume-compare/1")
        self.assertEqual(list(r)[-1], "notes")
        self.assertEqual(r["result"], "failed")
        self.assertEqual(r["b"], {"name": "new", "cycles": 10, "judged": 10, "failures": 0,
                                  "failure_rate_ci95": [0, 0.308497]})
        late = [m for m in r["metrics"] if m["kind"] == "device"][0]
        self.assertEqual(late, {
            "name": "device late0 late resume", "kind": "device", "unit": "ms",
            "device": "late0", "driver": "late", "phase": "resume", "n": [10, 10],
            "failures": [0, 0], "median": [6.40, 156.40],
            "shift": {"value": 150, "ci95": [149.7, 150.3], "percent": 2343.75},
            "p": 1.082508822446903e-05, "p_adjusted": 3.247526467340709e-05,
            "resolution": 0.001, "mdd": late["mdd"], "own_critical_ms": [6.40, 156.40],
            "verdict": "slower"})
        self.assertEqual([c["state"] for c in r["conditions"]], ["met", "not met", "undecided"])
        self.assertEqual(r["conditions"][1], {
            "condition": "any device > 1 s slower", "state": "not met",
            "of": "device late0 late resume", "by": "bound", "ci95": [149.7, 150.3],
            "limit": 1000, "unit": "ms"})

    def test_markdown(self):
        f = self.path("table.md")
        err = "resumetime compare: a condition of --fail-if is met\n"
        args = ["-f", "resume > 5% slower", "--names", "old,b|2", self.old, self.new]
        self.assertEqual(self.check(["--markdown", "-"] + args, 1, err), MARKDOWN)
        self.assertTrue(self.check(["--markdown", f] + args, 1, err).startswith("A  old"))
        with open(f, encoding="utf-8") as m:
            self.assertEqual(m.read(), MARKDOWN)

    def test_junit(self):
        f = self.path("resume.xml")
        self.check(["--junit", f, "-f", CONDITIONS, self.old, self.new], 1,
                   "resumetime compare: a condition of --fail-if is met\n")
        with open(f, encoding="utf-8") as x:
            text = x.read()
        self.assertEqual(text, JUNIT)
        suite = xml.etree.ElementTree.fromstring(text)[0]
        self.assertEqual(suite[0].get("name"), "resume > 5% slower")

    def test_few(self):
        log(self.old, cycles=3)
        log(self.new, cycles=3, slow=150)
        out = self.check([self.old, self.new], 0, "")
        self.assertEqual(out.split("\n\nphases")[0] + "\n", FEW)

    def test_failures(self):
        log(self.new, refused=9)
        out = self.check(["-f", "failures more", self.old, self.new], 1,
                         "resumetime compare: a condition of --fail-if is met\n")
        self.assertTrue(out.startswith(
            "A  old: 10 cycles\n"
            "B  new: 19 cycles, 9 failed (47.4 %; 95 %: 24.4-71.1 %)\n"
            "failures: 0 of 10 and 9 of 19, p 0.011: they differ\n"), out)
        self.assertIn("fail if failures more: met: p 0.011\n", out)
        # Half of them never ended their suspend.
        self.assertRegex(out, r"kernel suspend +30.99 ms +31.\d+ ms +\S+ ms +\S+ % +at least ")
        self.check(["-f", "failures > 9", self.old, self.new], 0, "")

    def test_several(self):
        """Files of a side are put together; joined ones are of the same cycles."""
        more = self.path("more.log")
        log(more, cycles=5)
        r = js("resumetime", "compare", "-j", self.old, more, "--", self.new)
        self.assertEqual((r["a"]["name"], r["a"]["cycles"], r["b"]["cycles"]),
                         ("old and 1 more", 15, 10))
        # A name with a plus sign in it.
        plus = self.path("a+b.log")
        log(plus, cycles=5)
        self.assertEqual(js("resumetime", "compare", "-j", plus, self.new)["a"]["cycles"], 5)

    def test_wrong(self):
        wrong = [
            ([], "name two files to compare"),
            ([self.old], "name two files to compare"),
            ([self.old, self.new, self.old],
             "more than two files: which are A and which B? A... -- B..."),
            ([self.old, "--"], "name files of A before '--' and files of B behind it"),
            (["--", self.new], "name files of A before '--' and files of B behind it"),
            (["--junit", "x", self.old, self.new],
             "--junit: a test case needs a condition, --fail-if 'resume > 5% slower'"),
            (["--strict", self.old, self.new],
             "--strict: of which condition? --fail-if 'resume > 5% slower'"),
            (["-j", "--markdown", "-", self.old, self.new],
             "one report at a time on standard output"),
            (["--top", "0", self.old, self.new], "--top 0: how many, from 1"),
            (["--baud", "fast", self.old, self.new], "--baud fast: a rate such as 115200"),
            (["--names", "x", self.old, self.new], "--names x: two names, A,B"),
            (["--frob", self.old, self.new], "unknown option '--frob'"),
        ]
        for args, text in wrong:
            with self.subTest(args):
                self.assertEqual(self.compare(*args),
                                 (2, "", f"resumetime compare: {text}\n{HELP}"))

    def test_input_kept(self):
        """No report over a file that is to be read."""
        slow = ["-f", "resume slower"]
        joined = self.new + "+" + self.path("trace.txt")
        for option, operands, out in (("--junit", [self.old, self.new], self.new),
                                      ("--markdown", [self.old, self.new], self.old),
                                      ("--junit", [self.old, joined], self.new)):
            with self.subTest(option=option, operands=operands):
                with open(out, encoding="ascii") as f:
                    before = f.read()
                self.assertEqual(self.compare(option, out, *slow, *operands),
                                 (2, "", f"resumetime compare: '{out}' is to be read: name another "
                                         f"file to write\n{HELP}"))
                with open(out, encoding="ascii") as f:
                    self.assertEqual(f.read(), before)
        x = self.path("x")
        self.assertEqual(self.compare("--junit", x, "--markdown", x, *slow, self.old, self.new),
                         (2, "", "resumetime compare: --markdown and --junit name the same file: "
                                 f"'{x}'\n{HELP}"))

    def test_only_in_one(self):
        """A callback of one side did not move; its figure has no digits of its own."""
        one, other = Log(), Log()
        one.cycle(0, 0)
        one.write(self.old)
        other.cycle(0, 0)
        other.lines = [l.replace("late0", "lamp0") for l in other.lines]
        other.write(self.new)
        out = self.check([self.old, self.new], 0, "")
        self.assertIn("callbacks of devices that moved: 0 of 4; only in one of the two: 2\n", out)
        self.assertRegex(out, r"only in B +lamp0")

    def test_refused(self):
        code, out, err = self.compare("-f", "slow", self.old, self.new)
        self.assertEqual((code, out), (2, ""))
        self.assertIn("condition 'slow': write 'NAME > LIMIT slower'", err)
        code, out, err = self.compare("-f", "desktop slower", self.old, self.new)
        self.assertEqual((code, out), (1, ""))
        self.assertIn("nothing is called 'desktop' in both", err)
        empty = self.path("empty.log")
        with open(empty, "w", encoding="ascii") as f:
            f.write("hello\n")
        self.assertEqual(self.compare(self.old, empty)[::2],
                         (1, "resumetime compare: empty: no cycle of suspend and resume to "
                             "compare\n"))
        self.assertEqual(self.compare(self.old, self.path("none"))[:2], (1, ""))


if __name__ == "__main__":
    main()
