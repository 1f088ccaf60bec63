#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every notebook of examples/ runs, and gives what is stored in it."""
import importlib.util
import unittest

from pytrace import main

import notebooks

MISSING = [m for m in ("nbconvert", "ipykernel", "matplotlib", "numpy")
           if not importlib.util.find_spec(m)]


@unittest.skipIf(MISSING, f"needs {', '.join(MISSING)}")
class Notebooks(unittest.TestCase):
    maxDiff = None

    def test_outputs_are_those_stored(self):
        notebooks.environment()
        which = notebooks.names()
        self.assertTrue(which)
        for name, said in notebooks.every(notebooks.check, which).items():
            with self.subTest(name):
                self.assertEqual(said, [])

    def test_faults_are_told(self):
        """What the check rests on: a changed figure, a warning, an empty picture, a path."""
        from nbformat.v4 import new_code_cell, new_notebook, new_output

        def book(*outputs):
            return new_notebook(cells=[new_code_cell("x", outputs=list(outputs))])

        def said(stored, fresh):
            return "\n".join(notebooks.faults(book(*stored), book(*fresh)))

        def shown(text):
            return new_output("display_data", {"text/markdown": text})

        blank = new_output("display_data", {"image/png": BLANK})
        self.assertIn("stored: 25 W", said([shown("25 W")], [shown("26 W")]))
        self.assertNotIn("stored: 25 W", said([shown("25  W\n")], [shown("25 W")]))
        self.assertIn("a machine", said([shown("/tmp/x")], [shown("/tmp/x")]))
        self.assertIn("UserWarning", said([], [new_output("stream", name="stderr",
                                                          text="UserWarning: x")]))
        self.assertIn("1 colours", said([blank], [blank]))
        self.assertIn("1 pictures are stored, 0 came", said([blank], []))


#: one white square
BLANK = ""
if not MISSING:
    import base64
    import io

    from matplotlib.image import imsave

    with io.BytesIO() as png:
        imsave(png, [[[1.0, 1.0, 1.0]] * 200] * 200, format="png")
        BLANK = base64.b64encode(png.getvalue()).decode()

if __name__ == "__main__":
    main()
