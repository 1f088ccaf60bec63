#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The notebooks of examples/, executed: notebooks.py [--write] [NOTEBOOK...]

With --write the outputs are stored in the notebooks, without what differs from one execution to
the next; otherwise what differs from the stored outputs is told, and the exit status is 1.
"""
import base64
import glob
import io
import os
import re
import shutil
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
EXAMPLES = os.path.join(ROOT, "examples")
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LARGEST = 300 * 1024
#: what tells of the machine, and would be another on the next
PLACES = re.compile(r"/(tmp|home|root|work|usr|var)/\w|0x[0-9a-f]{6,}")


def names():
    """All notebooks."""
    return sorted(os.path.basename(p) for p in glob.glob(os.path.join(EXAMPLES, "*.ipynb")))


def read(name):
    import nbformat

    return nbformat.read(os.path.join(EXAMPLES, name), as_version=4)


def environment():
    """The package and library of this checkout, unless those that are installed are wanted."""
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["JUPYTER_PLATFORM_DIRS"] = "1"
    # Paths that only one machine has are not looked for.
    os.environ.pop("WAKEWATT_TRACEBASE", None)
    if not os.environ.get("WW_INSTALLED"):
        build = os.path.abspath(os.environ.get("WW_BUILD", os.path.join(ROOT, "build")))
        os.environ.setdefault("WAKEWATT_LIBRARY",
                              os.path.join(build, "lib", "libwakewatt.so.0"))
        os.environ["PYTHONPATH"] = os.path.join(ROOT, "bindings", "python")


def clean(nb):
    """Without counters, times and other traces of the execution."""
    nb.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for cell in nb.cells:
        cell.metadata = {}
        for output in cell.get("outputs", []):
            output.pop("execution_count", None)
            if output.output_type == "execute_result":
                output["execution_count"] = None
            if "metadata" in output:
                output["metadata"] = {}
        if cell.cell_type == "code":
            cell["execution_count"] = None
    return nb


def executed(name, folder=None):
    """The notebook after it ran in a copy of examples/, or in `folder`."""
    from nbconvert.preprocessors import ExecutePreprocessor

    warnings.simplefilter("ignore")
    nb = read(name)
    with tempfile.TemporaryDirectory() as private:
        if folder is None:
            folder = os.path.join(private, "examples")
            shutil.copytree(EXAMPLES, folder)
        os.environ["JUPYTER_RUNTIME_DIR"] = os.environ["IPYTHONDIR"] = private
        os.environ["MPLCONFIGDIR"] = os.environ.get("MPLCONFIGDIR", private)
        # Errors alone: the kernel warns of each connection that it opens.
        ExecutePreprocessor(timeout=60, kernel_name="python3",
                            extra_arguments=["--log-level=40"]).preprocess(
            nb, {"metadata": {"path": folder}})
    return clean(nb)


def texts(nb):
    """[(cell, kind, text)] of all outputs that are text."""
    out = []
    for n, cell in enumerate(nb.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                out.append((n, output.name, output.text))
            elif output.output_type == "error":
                out.append((n, "error", output.evalue))
            else:
                out += [(n, kind, text) for kind, text in sorted(output.data.items())
                        if kind.startswith("text/")]
    return [(n, kind, re.sub(r"\s+", " ", text).strip()) for n, kind, text in out]


def figures(nb):
    """[(cell, PNG)] of all pictures."""
    return [(n, base64.b64decode(output.data["image/png"]))
            for n, cell in enumerate(nb.cells) for output in cell.get("outputs", [])
            if "image/png" in output.get("data", {})]


def faults(stored, fresh):
    """What is wrong: sentences, none where all is well."""
    from matplotlib.image import imread

    said = [f"cell {n}: {kind}: {text}" for n, kind, text in texts(fresh)
            if kind in ("stderr", "error") or "Warning:" in text]
    said += [f"cell {n}: tells of a machine: {text[:200]}" for n, _, text in texts(stored)
             if PLACES.search(text)]
    old, new = texts(stored), texts(fresh)
    said += [f"cell {a[0]}: stored: {a[2]}\n  now: {b[2]}" for a, b in zip(old, new) if a != b]
    if len(old) != len(new):
        said.append(f"{len(old)} outputs are stored, {len(new)} came")
    for which, nb in (("stored", stored), ("now", fresh)):
        for n, png in figures(nb):
            pixels = imread(io.BytesIO(png), format="png")
            colours = len({tuple(p) for p in pixels[::2, ::2].reshape(-1, pixels.shape[2])})
            if min(pixels.shape[:2]) < 150 or colours < 20:
                said.append(f"cell {n}: {which}: a picture of {pixels.shape} "
                            f"with {colours} colours")
    if len(figures(stored)) != len(figures(fresh)) or not figures(fresh):
        said.append(f"{len(figures(stored))} pictures are stored, {len(figures(fresh))} came")
    return said


def check(name):
    """Faults of one notebook."""
    size = os.path.getsize(os.path.join(EXAMPLES, name))
    said = [f"{size} bytes, more than {LARGEST}"] if size > LARGEST else []
    from nbclient.exceptions import CellExecutionError

    try:
        return said + faults(read(name), executed(name))
    except CellExecutionError as e:
        # Others are checked all the same.
        return said + [re.sub(r"\x1b\[[0-9;]*m", "", str(e))]


def write(name):
    """Execute it in its place, and store its outputs."""
    import nbformat

    nb = executed(name, EXAMPLES)
    wrong = [text for _, kind, text in texts(nb) if kind in ("stderr", "error")]
    nbformat.write(nb, os.path.join(EXAMPLES, name))
    return wrong


def every(what, which):
    """{name: what it says}, two at a time."""
    with ProcessPoolExecutor(2) as pool:
        return dict(zip(which, pool.map(what, which)))


def main(words):
    environment()
    storing = "--write" in words
    which = [os.path.basename(w) for w in words if w != "--write"] or names()
    wrong = {name: said for name, said in every(write if storing else check, which).items() if said}
    for name, said in wrong.items():
        print(*(f"{name}: {line}" for line in said), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
