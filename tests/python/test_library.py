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
from wakewatt import _library


class Mirror(unittest.TestCase):
    """_ffi.py against the header, text and binary."""

    @classmethod
    def setUpClass(cls):
        with open(os.path.join(ROOT, "include", "wakewatt.h"), encoding="utf-8") as f:
            cls.header = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)

    def test_made_from_this_header(self):
        p = subprocess.run([os.path.join(ROOT, "bindings", "python", "mirror.py"),
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
                lines.append(f'printf("{s.__name__}.{name} %zu %zu\\n", '
                             f'offsetof(struct {s.__name__}, {name}), '
                             f'sizeof(((struct {s.__name__} *)0)->{name}));')
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
            if (isinstance(kind, type) and issubclass(kind, enum.IntEnum)
                    and kind.__name__[:3] == "ww_"):
                for c in kind:
                    constants.setdefault(c.name, set()).add(c.value)
        for line in said[len(ours):]:
            key, value = line.split()
            words = key.split("_")
            names = ["_".join(words[i:]) for i in range(1, len(words))]
            self.assertTrue(any(int(value) in constants.get(n, ()) for n in names), line)


class Library(Folder):
    """Which library is taken, and what is said where it will not do."""

    REAL = os.path.join(BUILD, "lib", "libwakewatt.so.0")

    def load(self, **env):
        code = "import wakewatt; print(wakewatt._ffi.lib._name, wakewatt.__version__)"
        p = subprocess.run([sys.executable, "-c", code], env=environment(**env), text=True,
                           capture_output=True, check=False, timeout=30)
        return p.returncode, p.stdout + p.stderr

    def refused(self, regex, **env):
        code, out = self.load(**env)
        self.assertNotEqual(code, 0, out)
        self.assertRegex(out.splitlines()[-1], "^ImportError: " + regex)

    def shared(self, name, source, *more):
        path = self.path(name)
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-o", path, *more],
                       input=source.encode(), timeout=30, check=True)
        return path

    def package(self, *where):
        """A copy of the package in a folder of its own; its parent."""
        parent = self.path(os.path.join(*where))
        shutil.copytree(os.path.join(PACKAGE, "wakewatt"), os.path.join(parent, "wakewatt"),
                        ignore=shutil.ignore_patterns(".*", "__pycache__", "*.so*"))
        return parent

    def test_the_order(self):
        """The variable, beside the package, the linker: each place only where the ones before
        it are empty."""
        parent, linker = self.package("order"), self.path("linker")
        os.mkdir(linker)
        beside = os.path.join(parent, "wakewatt", "libwakewatt.so.0")
        soname = os.path.join(linker, "libwakewatt.so.0")
        named = self.path("named.so")
        for path in (beside, soname, named):
            os.symlink(self.REAL, path)
        env = {"WAKEWATT_LIBRARY": named, "PYTHONPATH": parent, "LD_LIBRARY_PATH": linker}
        self.assertIn(named, self.load(**env)[1])
        env["WAKEWATT_LIBRARY"] = None
        self.assertIn(beside, self.load(**env)[1])
        os.unlink(beside)
        self.assertRegex(self.load(**env)[1], r"^libwakewatt\.so\.0 \d")
        os.unlink(soname)
        if self.load(PYTHONPATH=parent, WAKEWATT_LIBRARY=None)[0] == 0:
            self.skipTest("libwakewatt is installed on this machine")
        self.refused("libwakewatt was not found: .*'make'.*'make install'.*WAKEWATT_LIBRARY", **env)

    def test_the_linkers(self):
        """Where there is no libwakewatt.so.0, one of another soname is named and refused."""
        parent, linker = self.package("next"), self.path("next-linker")
        os.mkdir(linker)
        self.shared("next-linker/libwakewatt.so.1", "int ww_abi(void) { return 2; }\n"
                    'const char *ww_version(void) { return "2.0"; }',
                    "-Wl,-soname,libwakewatt.so.1")
        os.symlink("libwakewatt.so.1", os.path.join(linker, "libwakewatt.so"))
        self.refused(r"libwakewatt\.so\.1 \(version 2\.0\) has binary interface 2, this package "
                     "needs 1: update the package", WAKEWATT_LIBRARY=None, PYTHONPATH=parent,
                     LD_LIBRARY_PATH=linker, LIBRARY_PATH=linker)

    def test_checkout(self):
        """build/lib counts in a checkout only."""
        parent = self.package("tree", "bindings", "python")
        built = self.path("tree/build/lib")
        os.makedirs(built)
        os.symlink(self.REAL, os.path.join(built, "libwakewatt.so.0"))
        env = {"WAKEWATT_LIBRARY": None, "PYTHONPATH": parent}
        self.assertNotIn(built, self.load(**env)[1])
        os.mkdir(self.path("tree/include"))
        with open(self.path("tree/include/wakewatt.h"), "w", encoding="ascii"):
            pass
        self.assertIn(built, self.load(**env)[1])

    def test_bundled_does_not_load(self):
        """Another library in its place would be found: it is not taken behind one's back."""
        parent = self.package("broken")
        self.shared("libabsent.so.7", "int absent(void) { return 1; }",
                    "-Wl,-soname,libabsent.so.7")
        made = self.shared("needs.so", "int absent(void); int f(void) { return absent(); }",
                           self.path("libabsent.so.7"))
        os.rename(self.path("libabsent.so.7"), self.path("gone"))
        shutil.copy(made, os.path.join(parent, "wakewatt", "libwakewatt.so.0"))
        env = {"WAKEWATT_LIBRARY": None, "PYTHONPATH": parent,
               "LD_LIBRARY_PATH": os.path.dirname(self.REAL)}
        self.refused(r"\S+/wakewatt/libwakewatt\.so\.0 cannot be loaded: it needs "
                     r"libabsent\.so\.7, which is not installed; or build", **env)

    def test_package_of_what_is_missing(self):
        soname = "libusb-1.0.so.0"
        self.shared(soname, "int absent(void) { return 1; }", f"-Wl,-soname,{soname}")
        made = self.shared("usb.so", "int absent(void); int f(void) { return absent(); }",
                           self.path(soname))
        os.unlink(self.path(soname))
        said = _library._reason(made, OSError(f"{soname}: cannot open shared object file: No such"))
        self.assertIn("(Debian: apt install libusb-1.0-0)", said)

    def test_every_library_has_a_package(self):
        """What this build needs is in the table."""
        out = subprocess.run(["objdump", "-p", self.REAL], capture_output=True, text=True,
                             check=True, timeout=30).stdout
        needs = set(re.findall(r"NEEDED\s+(\S+)", out))
        self.assertIn("libsqlite3.so.0", needs)
        system = {n for n in needs if re.match(r"lib(c|m|pthread|asan|ubsan)\.so\.|ld-linux", n)}
        self.assertEqual(needs - system - set(_library.PACKAGES), set())

    def test_missing(self):
        self.refused(r"\S+/none\.so, which WAKEWATT_LIBRARY names, cannot be loaded: there is no "
                     "such file", WAKEWATT_LIBRARY=self.path("none.so"))

    def test_no_library(self):
        path = self.path("text.so")
        with open(path, "w", encoding="ascii") as f:
            f.write("INPUT(libwakewatt.so.0)\n")
        self.refused(r"\S+/text\.so.*not an ELF file", WAKEWATT_LIBRARY=path)

    def test_another_machine(self):
        path = self.path("other-machine.so")
        with open(self.REAL, "rb") as f:
            head = bytearray(f.read(4096))
        head[18:20] = b"\x15\x00"  # EM_PPC64
        with open(path, "wb") as f:
            f.write(head)
        self.refused(r"\S+/other-machine\.so.* another kind of machine", WAKEWATT_LIBRARY=path)

    def test_another_library(self):
        path = self.shared("other.so", "int nothing;")
        self.refused(r"\S+ is no libwakewatt", WAKEWATT_LIBRARY=path)

    def test_another_interface(self):
        path = self.shared("old.so", 'int ww_abi(void) { return 0; }\n'
                                     'const char *ww_version(void) { return "0.0.9"; }')
        self.refused(r"\S+/old\.so \(version 0\.0\.9\) has binary interface 0, this package needs "
                     "1: install a newer library", WAKEWATT_LIBRARY=path)

    def stub(self, name, sizes, without="", extra=""):
        """A library with every function, and structures of the sizes of a C expression."""
        body = "".join(f"int {n}(void) {{ return 1; }}\n" for n in _ffi.FUNCTIONS
                       if n not in ("ww_version", "ww_sizeof", "ww_features", without))
        table = "".join(f'if (!strcmp(s, "{s.__name__}")) n = {ctypes.sizeof(s)};\n'
                        for s in _ffi.STRUCTURES)
        return self.shared(name, body + extra + '#include <string.h>\n'
                           'const char *ww_version(void) { return "9.1"; }\n'
                           'const char *ww_features(void) { return "stub"; }\n'
                           'size_t ww_sizeof(const char *s) { size_t n = 0;\n' + table
                           + f"return {sizes}; }}\n")

    def test_an_older_library(self):
        self.refused(r"\S+/older\.so \(version 9\.1\) has no function ww_trace_open: it is older",
                     WAKEWATT_LIBRARY=self.stub("older.so", "n", without="ww_trace_open"))

    def test_a_newer_library(self):
        """More functions, and options that have grown, are no obstacle."""
        path = self.stub("newer.so", 'strcmp(s, "ww_resume_options") ? n : n + 8',
                         extra="int ww_of_tomorrow(void) { return 1; }\n")
        self.assertEqual(self.load(WAKEWATT_LIBRARY=path), (0, f"{path} 9.1\n"))

    def test_structures_of_another_size(self):
        for name, sizes, said in (
                ("grown.so", 'strcmp(s, "ww_mark") ? n : n + 8', r"ww_mark of \d+ bytes.*newer"),
                ("shrunk.so", 'strcmp(s, "ww_resume_options") ? n : n - 8',
                 r"ww_resume_options of \d+ bytes.*older")):
            self.refused(r"\S+ \(version 9\.1\) has a structure " + said,
                         WAKEWATT_LIBRARY=self.stub(name, sizes))


if __name__ == "__main__":
    main()
