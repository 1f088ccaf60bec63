#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same trace gives the same bytes: twice, by gcc and clang, in any locale and zone."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import BUILD, Case, run  # noqa: E402

CLANG = os.path.join(os.path.dirname(BUILD) if BUILD.endswith("clang") else BUILD, "clang")
REPORTS = (("pwrlog", "stat"), ("pwrlog", "stat", "--json"), ("pwrlog", "steps"),
           ("pwrlog", "steps", "--json", "--plot", "/dev/stdout"),
           ("pwrlog", "steps", "--html", "/dev/stdout"), ("wwtrace", "info"),
           ("wwtrace", "info", "--json"), ("wwtrace", "export"), ("wwtrace", "dump"),
           ("pwrlog", "standby"), ("pwrlog", "standby", "--json"),
           ("pwrlog", "runtime", "--capacity", "4.5Ah", "--volts", "12V", "--json"),
           ("pwrlog", "runtime", "--measured", "48min@25W+-0.6", "--capacity", "4.5Ah",
            "--volts", "12V"),
           ("pwrlog", "suspend-model", "--idle", "2.75+-0.02", "--suspended", "1",
            "--gaps", "exponential:5", "--json"),
           ("resumetime", "report"), ("resumetime", "report", "--json"))


class Identical(Case):
    def setUp(self):
        super().setUp()
        self.trace = self.path("t.wwt")
        code, _, err = run("pwrlog", "record", "-m", "sim:?watts=25&noise=0.31&rate=997"
                           "&resolution=0.001&step=1s:+12.5&volts=230&pf=0.61&wh=1"
                           "&gap=500ms:300ms", "--for", "2s", "-o", self.trace)
        self.assertEqual(code, 0, err)

    def report(self, words, build=BUILD, **env):
        p = subprocess.run([os.path.join(build, "bin", words[0]), *words[1:], self.trace],
                           capture_output=True, stdin=subprocess.DEVNULL, check=False,
                           env=dict(os.environ, **env))
        # A trace without a heartbeat is refused by resumetime: the same way each time.
        return p.returncode, p.stdout, p.stderr

    def test_twice(self):
        for words in REPORTS:
            first = self.report(words)
            self.assertTrue(first[1] or first[2], words)
            self.assertEqual(first, self.report(words), words)

    def test_other_zone(self):
        for words in REPORTS:
            self.assertEqual(self.report(words, TZ="UTC"),
                             self.report(words, TZ="Asia/Kathmandu"), words)

    def test_other_locale(self):
        with tempfile.TemporaryDirectory() as d:
            made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8",
                                   os.path.join(d, "de_DE.UTF-8")], capture_output=True,
                                  check=False)
            if made.returncode > 1 or not os.listdir(d):
                self.skipTest("no localedef: " + made.stderr.decode())
            for words in REPORTS:
                self.assertEqual(self.report(words, LC_ALL="C"),
                                 self.report(words, LC_ALL="de_DE.UTF-8", LOCPATH=d), words)

    def test_other_compiler(self):
        if not os.path.exists(os.path.join(CLANG, "bin", "pwrlog")):
            self.skipTest("no second build: make B=build/clang CC=clang")
        for words in REPORTS:
            self.assertEqual(self.report(words), self.report(words, build=CLANG), words)


main()
