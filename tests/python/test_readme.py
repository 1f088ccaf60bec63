#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What bindings/python/README.md shows runs, and what it names exists."""
import contextlib
import io
import os
import re

from pytrace import ROOT, Folder, main, wakewatt

try:
    import matplotlib
    import pandas  # noqa: F401
    import xarray  # noqa: F401
    matplotlib.use("Agg")
    RICH = True
except ImportError:
    RICH = False

with open(os.path.join(ROOT, "bindings", "python", "README.md"), encoding="utf-8") as f:
    TEXT = f.read()
BLOCKS = re.findall(r"^```python( optional)?\n(.*?)^```", TEXT, re.S | re.M)


class Readme(Folder):
    def test_first_steps(self):
        """The blocks one after the other; those for which something is missing are left out."""
        self.assertGreaterEqual(len(BLOCKS), 5)
        said, names = io.StringIO(), {}
        before = os.getcwd()
        os.chdir(self.dir.name)
        try:
            with contextlib.redirect_stdout(said):
                for optional, block in BLOCKS:
                    if RICH or not optional:
                        exec(compile(block, "README.md", "exec"), names)
                    if "late" in names:
                        points = len(names["late"]["desk.power"]), len(names["power"])
                        del names["late"]
        finally:
            os.chdir(before)
        # 25 W for a second and 37.5 W for another.
        self.assertAlmostEqual(names["energy"].value, 62.5, delta=3)
        self.assertEqual(names["energy"].unit, "J")
        self.assertAlmostEqual(names["steps"].steps[0].delta.value, 12.5, delta=0.3)
        # 0.6 s of 2 s at 100 a second.
        self.assertAlmostEqual(points[0], 60, delta=8)
        self.assertAlmostEqual(points[1], 200, delta=20)
        self.assertIn("nothing.wwt", said.getvalue())

    def test_names(self):
        """Every function and method of the tables is there."""
        rows = re.findall(r"^\| [^`|]+ \| (.*) \|$", TEXT, re.M)
        self.assertGreaterEqual(len(rows), 6)
        places = {"trace": wakewatt.Trace, "channel": wakewatt.Channel, "rec": wakewatt.Recording}
        for row in rows:
            last = None
            for piece in re.findall(r"`([^`]+)`", row):
                owner, dot, name = piece.rstrip("()").rpartition(".")
                if "[" in piece:
                    last = wakewatt.Trace
                    continue
                last = places.get(owner, last) if dot else wakewatt
                self.assertTrue(hasattr(last, name), f"{piece} in: {row}")

    def test_packages(self):
        """The libraries that the text names are those of the table of the search."""
        from wakewatt._library import PACKAGES
        listed = set(re.search(r"apt install (libsqlite3-0.*?)\n```", TEXT, re.S)[1]
                     .replace("\\", " ").split())
        self.assertEqual(listed, set(PACKAGES.values()) - {"libgpiod3"})


if __name__ == "__main__":
    main()
