#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Help, man page and program tell of the same options."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import ROOT, Case, run  # noqa: E402

OPTION = r"--?[A-Za-z][A-Za-z-]*"


def commands():
    yield ("ttybeat",)
    for program in ("pwrlog", "resumetime", "wwtrace"):
        code, text, _ = run(program, "--help")
        assert code == 0, program
        for name in re.findall(r"^  ([a-z-]+) ", text, re.M):
            yield (program, name)


def of_help(words):
    """What begins a line of the list; the description is two blanks behind."""
    code, text, _ = run(*words, "--help")
    assert code == 0, words
    rows = re.findall(r"^ {2,6}(-.*?)(?:  |$)", text, re.M)
    return {o for row in rows for o in re.findall(rf"(?<!\S){OPTION}", row)}


def of_page(words):
    """Options that are listed or in the synopsis, and all that are named."""
    path = os.path.join(ROOT, "tools", "man", "-".join(words) + ".1")
    with open(path, encoding="utf-8") as f:
        page = f.read()
    # resumetime beat is ttybeat, whose page has the description.
    other = re.search(r"^The same as\n\.Xr ([a-z-]+) 1", page, re.M)
    listed, named = of_page((other[1],)) if other else (set(), set())
    for line in re.findall(r"^\..*", page, re.M):
        # One macro may name several: '.Fl -rate , -zone'.
        found = {"-" + word for part in
                 re.findall(r"\bFl (-?[A-Za-z][\w-]*(?: , -[\w-]+)*)(?= |$)", line)
                 for word in part.split(" , ")}
        named |= found
        if re.match(r"\.(It|Op) Fl", line):
            listed |= found
    return listed, named


class Options(Case):
    def test_page_has_those_of_the_help(self):
        lacking = {words: of_help(words) - of_page(words)[1] - {"-h", "--help"}
                   for words in commands()}
        self.assertEqual({k: v for k, v in lacking.items() if v}, {})

    def test_help_has_those_of_the_page(self):
        lacking = {words: of_page(words)[0] - of_help(words) - {"-h"} for words in commands()}
        self.assertEqual({k: v for k, v in lacking.items() if v}, {})

    def test_the_program_knows_them(self):
        for words in commands():
            # What git would take for a bad commit stops the bisection.
            wrong = 129 if words[-1] == "bisect-step" else 2
            for option in sorted(of_help(words) - {"--help", "-h", "--version", "-V"}):
                code, _, err = run(*words, option)
                self.assertNotIn("unknown option", err, (words, option))
                self.assertNotIn("invalid option", err, (words, option))
                self.assertNotIn("unrecognized option", err, (words, option))
                self.assertIn(code, (0, 1, wrong), (words, option))
            self.assertEqual(run(*words, "--no-such-option")[0], wrong, words)
            self.assertEqual(run(*words, "--help")[0], 0, words)


if __name__ == "__main__":
    main()
