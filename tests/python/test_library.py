#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The Python package against the header and against libraries that will not do."""
import ctypes
import enum
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from pytrace import BUILD, PACKAGE, ROOT, Folder, _ffi, environment, lib, main


class Mirror(unittest.TestCase):
    """_ffi.py against the header, text and binary."""

    @classmethod
    def setUpClass(cls):
        with open(os.path.join(ROOT, "include", "wakewatt.h"), encoding="utf-8") as f:
            cls.header = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)

    def test_made_from_this_header(self):
        p = subprocess.run([os.path.join(os.path.dirname(PACKAGE), "python", "mirror.py"),
                            "--check"], capture_output=True, text=True, check=False, timeout=30)
        self.assertEqual((p.returncode, p.stderr), (0, ""))

    def test_every_function_is_bound(self):
        declared = re.findall(r"WW_API[^;{]*?\b(ww_\w+)\s*\(", self.header)
        self.assertGreater(len(declared), 200)
        self.assertEqual(set(declared), set(_ffi.FUNCTIONS))
        self.assertEqual(len(declared), len(_ffi.FUNCTIONS))

    def test_sizes(self):
        for s in _ffi.STRUCTURES:
            self.assertEqual(lib.ww_sizeof(s.__name__.encode()), ctypes.sizeof(s), s.__name__)
        self.assertEqual(lib.ww_sizeof(b"ww_nothing"), 0)

    def test_layout_by_a_compiler(self):
        """Every offset, size and constant as gcc sees it."""
        lines, ours = [], []
        for s in _ffi.STRUCTURES:
            for name, *_ in s._fields_:
                lines.append(f'printf("{s.__name__}.{name} %zu %zu\\n", offsetof(struct {s.__name__}'
                             f', {name}), sizeof(((struct {s.__name__} *)0)->{name}));')
                field = getattr(s, name)
                ours.append(f"{s.__name__}.{name} {field.offset} {field.size}")
        for key, value in re.findall(r"\b(WW_[A-Z0-9_]+) = (-?\d+)", self.header):
            lines.append(f'printf("{key} %d\\n", (int){key});')
        source = ("#include <stdio.h>\n#include <stddef.h>\n#include <wakewatt.h>\n"
                  "int main(void) {" + "\n".join(lines) + "}")
        with tempfile.TemporaryDirectory() as folder:
            exe = os.path.join(folder, "layout")
            subprocess.run(["cc", "-I", os.path.join(ROOT, "include"), "-x", "c", "-", "-o", exe],
                           input=source.encode(), check=True, timeout=60)
            out = subprocess.run([exe], capture_output=True, text=True, check=True, timeout=10)
        said = out.stdout.splitlines()
        self.assertEqual(said[:len(ours)], ours)
        constants = {}
        for kind in vars(_ffi).values():
            if isinstance(kind, type) and issubclass(kind, enum.IntEnum) and kind.__name__[:3] == "ww_":
                for c in kind:
                    constants.setdefault(c.name, set()).add(c.value)
        for line in said[len(ours):]:
            key, value = line.split()
            words = key.split("_")
            names = ["_".join(words[i:]) for i in range(1, len(words))]
            self.assertTrue(any(int(value) in constants.get(n, ()) for n in names), line)


class Library(Folder):
    """Which library is taken, and what is said where it will not do."""

    def load(self, **env):
        code = "import wakewatt; print(wakewatt._ffi.lib._name, wakewatt.__version__)"
        p = subprocess.run([sys.executable, "-c", code], env=environment(**env), text=True,
                           capture_output=True, check=False, timeout=30)
        return p.returncode, p.stdout + p.stderr

    def shared(self, name, source):
        path = self.path(name)
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", path], check=True,
                       input=source.encode(), timeout=30)
        return path

    def test_named_by_the_variable(self):
        path = os.path.join(BUILD, "lib", "libwakewatt.so.0")
        code, out = self.load(WAKEWATT_LIBRARY=path)
        self.assertEqual(code, 0, out)
        self.assertIn(path, out)

    def test_beside_the_package(self):
        for place in (".", "build/lib"):  # inside the package; below a checkout
            top = self.path(place.replace("/", "-") + "-tree")
            package = os.path.join(top, "bindings", "python", "wakewatt")
            shutil.copytree(os.path.join(PACKAGE, "wakewatt"), package)
            at = os.path.join(package if place == "." else top, place)
            os.makedirs(at, exist_ok=True)
            os.symlink(os.path.join(BUILD, "lib", "libwakewatt.so.0"),
                       os.path.join(at, "libwakewatt.so.0"))
            code, out = self.load(WAKEWATT_LIBRARY=None, PYTHONPATH=os.path.dirname(package))
            self.assertEqual(code, 0, out)
            self.assertIn(top, out)

    def test_nowhere(self):
        package = self.path("alone")
        shutil.copytree(os.path.join(PACKAGE, "wakewatt"), os.path.join(package, "wakewatt"))
        code, out = self.load(WAKEWATT_LIBRARY=None, PYTHONPATH=package)
        if code == 0:
            self.skipTest("libwakewatt is installed on this machine")
        self.assertRegex(out, "ImportError: libwakewatt was not found: .*'make'.*WAKEWATT_LIBRARY")

    def test_missing(self):
        code, out = self.load(WAKEWATT_LIBRARY=self.path("none.so"))
        self.assertNotEqual(code, 0)
        self.assertRegex(out, r"ImportError: WAKEWATT_LIBRARY names .*none\.so")

    def test_another_library(self):
        path = self.shared("other.so", "int nothing;")
        self.assertIn("is no libwakewatt", self.load(WAKEWATT_LIBRARY=path)[1])

    def test_another_interface(self):
        path = self.shared("old.so", 'int ww_abi(void) { return 0; }\n'
                                     'const char *ww_version(void) { return "0.0.9"; }')
        out = self.load(WAKEWATT_LIBRARY=path)[1]
        self.assertIn("(version 0.0.9) has binary interface 0, this package needs 1", out)
        self.assertIn("install a newer library", out)

    def test_an_older_library(self):
        path = self.shared("older.so", 'int ww_abi(void) { return 1; }\n'
                                       'const char *ww_version(void) { return "0.0.9"; }')
        self.assertRegex(self.load(WAKEWATT_LIBRARY=path)[1],
                         r"has no function ww_\w+: it is older")

    def test_structures_of_another_size(self):
        body = "".join(f"int {n}(void) {{ return 1; }}\n" for n in _ffi.FUNCTIONS
                       if n not in ("ww_version", "ww_sizeof"))
        path = self.shared("size.so", body + '#include <stddef.h>\n'
                           'const char *ww_version(void) { return "0.9"; }\n'
                           'size_t ww_sizeof(const char *s) { return 3; }\n')
        self.assertIn("ww_error of 3 bytes", self.load(WAKEWATT_LIBRARY=path)[1])


if __name__ == "__main__":
    main()
