#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The wheel, the archive of sources, and what the package says of itself: types, documentation."""
import base64
import hashlib
import importlib.util
import inspect
import os
import re
import subprocess
import sys
import tarfile
import unittest
import zipfile

from pytrace import BUILD, PACKAGE, ROOT, Folder, environment, main, wakewatt

PYTHON = os.path.join(ROOT, "bindings", "python")
HOOK = "import sys, backend; print(getattr(backend, sys.argv[1])(sys.argv[2]))"
SOURCES = re.compile(r"(lib|include)/.*\.(c|h|js|css|map)$")


def hook(name, out, source=PYTHON, **env):
    """A hook as pip calls it: in a process of its own, in the source's directory."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "WAKEWATT_BUILD": BUILD, **env}
    return subprocess.run([sys.executable, "-c", HOOK, name, out], cwd=source, text=True, env=env,
                          capture_output=True, check=False, timeout=300)


def version():
    with open(os.path.join(ROOT, "include", "wakewatt.h"), encoding="utf-8") as f:
        return re.search(r'WW_VERSION_STRING "(.*)"', f.read())[1]


class Wheel(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = os.path.join(BUILD, "lib", f"libwakewatt.so.{version()}")
        todo = subprocess.run(["make", "-n", "-C", ROOT, f"B={BUILD}", made], text=True,
                              capture_output=True, check=True, timeout=60).stdout
        if " -c -o " in todo:
            raise unittest.SkipTest(f"{BUILD} was made with other options or of older sources")
        p = hook("build_wheel", cls.dir.name)
        if p.returncode:
            raise AssertionError(p.stderr)
        cls.name = p.stdout.splitlines()[-1]
        cls.zip = zipfile.ZipFile(os.path.join(cls.dir.name, cls.name))
        cls.addClassCleanup(cls.zip.close)

    def member(self, name):
        return self.zip.read(f"wakewatt-{version()}.dist-info/{name}").decode()

    def test_pip_install_from_the_top(self):
        """The checkout's own pyproject.toml leads to the same backend."""
        with open(os.path.join(ROOT, "pyproject.toml"), encoding="utf-8") as f:
            where = re.search(r'^backend-path = \["(.*)"\]$', f.read(), re.M).group(1)
        self.assertEqual(os.path.realpath(os.path.join(ROOT, where)), os.path.realpath(PYTHON))
        self.assertTrue(os.path.exists(os.path.join(PYTHON, "backend.py")))

    def test_tag(self):
        """Any Python 3, this machine: nothing is compiled against Python."""
        machine = os.uname().machine
        self.assertEqual(self.name, f"wakewatt-{version()}-py3-none-linux_{machine}.whl")
        self.assertIn(f"Tag: py3-none-linux_{machine}\n", self.member("WHEEL"))
        self.assertIn("Root-Is-Purelib: false\n", self.member("WHEEL"))

    def test_one_version(self):
        self.assertIn(f"\nVersion: {version()}\n", self.member("METADATA"))
        self.assertEqual(wakewatt.__version__, version())

    def test_content(self):
        """Our library and no other; the licence; nothing that is not the package's."""
        names = set(self.zip.namelist())
        here = {f"wakewatt/{n}" for n in os.listdir(os.path.join(PYTHON, "wakewatt"))
                if n.endswith(".py")}
        info = {f"wakewatt-{version()}.dist-info/{n}"
                for n in ("METADATA", "WHEEL", "RECORD", "LICENSE")}
        self.assertEqual(names, here | info | {"wakewatt/py.typed", "wakewatt/libwakewatt.so.0"})
        self.assertIn("MIT License", self.member("LICENSE"))

    def test_record(self):
        listed = {}
        for line in self.member("RECORD").splitlines():
            name, digest, size = line.rsplit(",", 2)
            listed[name] = digest, size
        self.assertEqual(set(listed), set(self.zip.namelist()))
        for name, (digest, size) in listed.items():
            data = self.zip.read(name)
            if not name.endswith("/RECORD"):
                want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
                self.assertEqual((digest, size), (f"sha256={want}", str(len(data))), name)

    def test_libraries_of_others_stay_separate(self):
        """What the build's library loads at run time, the bundled one loads, too."""
        def needs(path):
            out = subprocess.run(["objdump", "-p", path], capture_output=True, text=True,
                                 check=True, timeout=30).stdout
            return set(re.findall(r"NEEDED\s+(\S+)", out))

        self.zip.extract("wakewatt/libwakewatt.so.0", self.dir.name)
        bundled = needs(self.path("wakewatt/libwakewatt.so.0"))
        self.assertEqual(bundled, needs(os.path.join(BUILD, "lib", "libwakewatt.so.0")))
        for feature, soname in (("usb", "libusb-1.0"), ("ftdi", "libftdi1"), ("gpio", "libgpiod")):
            if feature in wakewatt.features:
                self.assertTrue([n for n in bundled if n.startswith(soname)], bundled)

    def test_works(self):
        where = self.path("site")
        self.zip.extractall(where)
        code = "import wakewatt; print(wakewatt._ffi.lib._name)"
        p = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                           env=environment(PYTHONPATH=where, WAKEWATT_LIBRARY=None), check=False,
                           cwd=where, timeout=30)
        self.assertEqual(p.stdout, f"{where}/wakewatt/libwakewatt.so.0\n", p.stderr)


class Sources(Folder):
    def test_archive(self):
        """A wheel can be made of it: the Makefile finds every source, and the same ones."""
        p = hook("build_sdist", self.dir.name)
        self.assertEqual(p.returncode, 0, p.stderr)
        with tarfile.open(self.path(p.stdout.strip())) as tar:
            tar.extractall(self.dir.name)
        top = self.path(f"wakewatt-{version()}")

        def sources(of):
            return {os.path.relpath(os.path.join(d, n), of) for d, _, names in os.walk(of)
                    for n in names if SOURCES.match(os.path.relpath(os.path.join(d, n), of))}

        self.assertGreater(len(sources(top)), 200)
        self.assertEqual(sources(top), sources(ROOT))
        made = self.path(f"b/lib/libwakewatt.so.{version()}")
        p = subprocess.run(["make", "-n", f"B={self.path('b')}", made], cwd=top, check=False,
                           capture_output=True, text=True, timeout=60)
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertTrue(os.path.exists(os.path.join(top, "PKG-INFO")))

    def test_no_compiler(self):
        """The compiler's own words, and what installs what is missing."""
        p = hook("build_wheel", self.dir.name, WAKEWATT_BUILD=self.path("none"), CC="no-such-cc")
        self.assertNotEqual(p.returncode, 0)
        self.assertRegex(p.stderr + p.stdout, "no-such-cc")
        self.assertRegex(p.stderr, r"was not built: make failed.*\n.*tests/deps\.sh build")
        self.assertEqual([n for n in os.listdir(self.dir.name) if n.endswith(".whl")], [])

    def test_no_pkg_config(self):
        """Told before anything is compiled."""
        p = hook("build_wheel", self.dir.name, PKGCONF="no-such-pkg-config")
        self.assertNotEqual(p.returncode, 0)
        self.assertEqual(p.stdout, "")
        self.assertRegex(p.stderr, r"pkg-config does not know \w+\..*\n.*tests/deps\.sh build")


class Public(unittest.TestCase):
    """Every public name is documented and typed."""

    def members(self):
        for name in wakewatt.__all__:
            thing = getattr(wakewatt, name)
            if inspect.isfunction(thing):
                yield name, thing
            if not inspect.isclass(thing):
                continue
            yield name, thing
            for key, value in inspect.getmembers(thing):
                if key.startswith("_") and key != "__getitem__":
                    continue
                value = value.fget if isinstance(value, property) else value
                if inspect.isfunction(value) or inspect.ismethod(value):
                    if value.__module__.startswith("wakewatt"):
                        yield f"{name}.{key}", value

    def test_documented(self):
        # A dataclass without words of its own shows its signature.
        bare = [name for name, thing in self.members()
                if not (thing.__doc__ or "").strip() or thing.__doc__.startswith(name + "(")]
        self.assertEqual([n for n in bare if not n.endswith(".__getitem__")], [])

    def test_annotated(self):
        bare = []
        for name, thing in self.members():
            if inspect.isclass(thing):
                continue
            signature = inspect.signature(thing)
            if signature.return_annotation is signature.empty:
                bare.append(name)
            bare += [f"{name}({p.name})" for p in signature.parameters.values()
                     if p.annotation is p.empty and p.name not in ("self", "cls")]
        self.assertEqual(bare, [])

    def test_all(self):
        """__all__ names what is there, each once, and every plain name that is public."""
        self.assertEqual(len(wakewatt.__all__), len(set(wakewatt.__all__)))
        for name in wakewatt.__all__:
            self.assertTrue(hasattr(wakewatt, name), name)
        here = {n for n, v in vars(wakewatt).items() if not n.startswith("_")
                and getattr(v, "__module__", "").startswith("wakewatt.")}
        self.assertEqual(here - set(wakewatt.__all__), set())


@unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
class Types(Folder):
    def test_strict(self):
        """The package, and a program that uses it, as an installed package if it is one."""
        p = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary",
                            f"--cache-dir={self.path('cache')}", os.path.join(PYTHON, "wakewatt"),
                            os.path.join(ROOT, "tests", "python", "typed_use.py")],
                           env=environment(MYPYPATH=PYTHON), capture_output=True, text=True,
                           check=False, timeout=300)
        self.assertEqual(p.stdout + p.stderr, "")
        self.assertTrue(os.path.exists(os.path.join(PACKAGE, "wakewatt", "py.typed")))


if __name__ == "__main__":
    main()
