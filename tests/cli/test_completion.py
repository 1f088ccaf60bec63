#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion in bash: what each line offers."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BIN = os.path.join(os.path.abspath(os.environ.get("WW_BUILD", os.path.join(ROOT, "build"))), "bin")
sys.path.insert(0, os.path.dirname(HERE))

from tap import main  # noqa: E402

# The line is divided as readline does it: a colon is a word of its own.
SCRIPT = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _wakewatt
printf '%s\\n' "${COMPREPLY[@]}"
"""


@unittest.skipUnless(shutil.which("bash"), "no bash")
class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.dir.cleanup)
        for name in ("night.wwt", "notes.txt"):
            with open(os.path.join(cls.dir.name, name), "w", encoding="ascii"):
                pass
        os.mkdir(os.path.join(cls.dir.name, "traces"))

    def offers(self, *words):
        p = subprocess.run(["bash", "-c", SCRIPT, "bash",
                            os.path.join(ROOT, "tools", "completion.bash"), *words],
                           capture_output=True, text=True, check=True, timeout=20,
                           cwd=self.dir.name,
                           env=dict(os.environ, PATH=BIN + ":" + os.environ["PATH"]))
        self.assertEqual(p.stderr, "")
        return p.stdout.split()

    def commands(self, program):
        text = subprocess.run([os.path.join(BIN, program), "--help"], text=True,
                              capture_output=True, check=True, timeout=20).stdout
        return re.findall(r"^  ([a-z-]+) ", text, re.M)

    def test_commands(self):
        commands = self.commands("pwrlog")
        self.assertEqual(commands, sorted(commands))
        self.assertLessEqual({"attribute", "calibrate", "compare", "list", "record", "run",
                              "runtime", "standby", "stat", "steps", "suspend-model"},
                             set(commands))
        self.assertEqual(self.offers("pwrlog", ""), commands + ["--help"])
        self.assertEqual(self.offers("resumetime", "re"), ["record", "report"])
        self.assertEqual(self.offers("wwtrace", "e"), ["export"])

    def test_options_are_those_of_the_help(self):
        for program, command in [(p, c) for p in ("pwrlog", "resumetime", "wwtrace")
                                 for c in self.commands(p)]:
            offered = self.offers(program, command, "--")
            self.assertIn("--help", offered)
            text = subprocess.run([os.path.join(BIN, program), command, "--help"], text=True,
                                  capture_output=True, check=True, timeout=20).stdout
            for word in offered:
                self.assertIn(word, text)
        self.assertLessEqual({"--json", "--from", "--to", "--between"},
                             set(self.offers("pwrlog", "stat", "--")))
        self.assertLessEqual({"--cycles", "--suspend", "--wake", "--for"},
                             set(self.offers("resumetime", "record", "--")))
        self.assertIn("-m", self.offers("pwrlog", "record", "-"))

    def test_traces_and_folders(self):
        self.assertEqual(sorted(self.offers("pwrlog", "stat", "")), ["night.wwt", "traces"])
        self.assertEqual(self.offers("wwtrace", "info", "--json", "ni"), ["night.wwt"])
        self.assertEqual(self.offers("pwrlog", "record", "-o", "ni"), ["night.wwt"])
        self.assertEqual(self.offers("resumetime", "kernlog", "no"), ["notes.txt"])
        self.assertEqual(self.offers("resumetime", "report", "--kernel-log", "no"), ["notes.txt"])

    def test_values(self):
        self.assertIn("wattsup:", self.offers("pwrlog", "record", "-m", ""))
        self.assertEqual(self.offers("resumetime", "report", "--mode", "d"), ["drain"])
        self.assertEqual(self.offers("resumetime", "beat", "-m", "r"), ["reopen"])
        self.assertEqual(self.offers("wwtrace", "export", "--what", "m"), ["marks"])
        self.assertEqual(self.offers("wwtrace", "export", "--format", ""), ["csv", "jsonl"])

    def test_a_colon_divides_a_uri(self):
        for word in self.offers("pwrlog", "record", "-m", "wattsup", ":", "/dev/tty"):
            self.assertTrue(word.startswith("/dev/tty"), word)

    def test_free_text_gets_no_offer(self):
        self.assertEqual(self.offers("resumetime", "report", "--handoff", ""), [])

    def test_actions(self):
        self.assertEqual(self.offers("resumetime", "record", "--wake", "r"), ["rtc:"])
        self.assertEqual(self.offers("resumetime", "record", "--suspend", "r"), [])
        self.assertEqual(self.offers("resumetime", "act", "g"), ["gpio:"])


if __name__ == "__main__":
    main()
