#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The Python package against the header and against libraries that will not do."""
import ctypes
import os
import re
import shutil
import subprocess
import sys
import unittest

from pytrace import BUILD, PACKAGE, ROOT, Folder, _ffi, environment, lib, main


class Mirror(unittest.TestCase):
    """_ffi.py against the header, text and binary."""

    @classmethod
    def setUpClass(cls):
        with open(os.path.join(ROOT, "include", "wakewatt.h"), encoding="utf-8") as f:
            cls.header = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)

    def test_sizes(self):
        for s in _ffi.STRUCTURES:
            self.assertEqual(lib.ww_sizeof(s.__name__.encode()), ctypes.sizeof(s), s.__name__)
        self.assertEqual(lib.ww_sizeof(b"ww_nothing"), 0)

    def test_members_have_the_headers_names_and_order(self):
        for s in _ffi.STRUCTURES:
            body = re.search(r"struct %s \{(.*?)\n\};" % s.__name__, self.header, re.S).group(1)
            names = []
            for statement in body.split(";"):
                for part in statement.split(","):
                    m = re.search(r"(\w+)\s*(\[\w+\])?\s*$", part)
                    if m:
                        names.append(m.group(1))
            self.assertEqual(names, [f[0] for f in s._fields_], s.__name__)

    def test_functions_have_the_headers_arguments(self):
        for name, (_, arguments) in _ffi.FUNCTIONS.items():
            m = re.search(r"WW_API [^;]*?\b%s\(([^;]*)\)(?: WW_\w+\([^)]*\))?;" % name,
                          self.header)
            self.assertIsNotNone(m, name)
            inside = m.group(1).strip()
            n = 0 if inside == "void" else inside.count(",") + 1
            self.assertEqual(len(arguments), n, name)
            self.assertEqual(inside.endswith("struct ww_error *err"),
                             bool(arguments) and arguments[-1] is _ffi.ERR, name)

    def test_constants(self):
        def macro(name):
            return re.search(r"#define %s\s+(.*)" % name, self.header).group(1).strip()

        self.assertEqual(macro("WW_ABI"), str(_ffi.ABI))
        self.assertEqual(macro("WW_ERROR_TEXT"), "512")
        self.assertEqual(macro("WW_MISSING"), "INT64_MIN")
        for mode, value in _ffi.BEAT_MODES.items():
            self.assertRegex(self.header, r"WW_BEAT_%s = %d\b" % (mode.upper(), value))
        for prefix, words in (("WW_TRACE", _ffi.STATES), ("WW", _ffi.SEMANTICS + ()),
                              ("WW", _ffi.KINDS)):
            for value, word in enumerate(words):
                self.assertRegex(self.header, r"\b%s_%s = %d\b" % (prefix, word.upper(), value))


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
