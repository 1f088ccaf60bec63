# SPDX-License-Identifier: MIT
"""What the tests of the Python package share: the build's library, programs, small traces."""
import ctypes
import math
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("WW_BUILD", os.path.join(ROOT, "build")))
sys.dont_write_bytecode = True
# WW_INSTALLED: the package that is installed, with the library that is bundled or found.
INSTALLED = bool(os.environ.get("WW_INSTALLED"))
sys.path.insert(0, os.path.dirname(HERE))
if not INSTALLED:
    sys.path.insert(1, os.path.join(ROOT, "bindings", "python"))
    os.environ.setdefault("WAKEWATT_LIBRARY", os.path.join(BUILD, "lib", "libwakewatt.so.0"))
# WW_BARE: nothing but the standard library.
BARE = bool(os.environ.get("WW_BARE"))
if BARE:
    for other in ("numpy", "pandas", "xarray", "matplotlib", "pyarrow", "polars", "duckdb"):
        sys.modules[other] = None

from tap import main  # noqa: E402, F401 (the tests' own)
import wakewatt  # noqa: E402, F401
from wakewatt import _ffi  # noqa: E402
from wakewatt._ffi import lib  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

#: the folder that holds the package under test
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(wakewatt.__file__)))
SECOND = 10**9
START = 5000 * SECOND


def environment(**more):
    """For a Python of its own; None takes a variable away."""
    env = {**os.environ, "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1", **more}
    return {k: v for k, v in env.items() if v is not None}


def program(name, *args, **kw):
    return subprocess.run([os.path.join(BUILD, "bin", name), *args], capture_output=True,
                          check=True, timeout=60, **kw).stdout


class Writer:
    """The library's writer, called as a C program would."""

    def __init__(self, path):
        self.w = ctypes.c_void_p()
        lib.ww_writer_open(os.fsencode(path), None, ctypes.byref(self.w), _ffi.ww_error())

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def close(self):
        w, self.w = self.w, None
        lib.ww_writer_close(w, _ffi.ww_error())

    def source(self, kind, name, **more):
        info = _ffi.ww_source_info(kind=kind, **more)
        for field in ("uri", "driver", "model", "serial", "firmware", "role", "notes"):
            setattr(info, field, getattr(info, field) or b"")
        info.name = name.encode()
        info.transport.name = info.transport.settings = b""
        return lib.ww_writer_source(self.w, ctypes.byref(info), _ffi.ww_error())

    def channel(self, source, name, quantity, unit, semantics, scale=1.0, resolution=0.0):
        info = _ffi.ww_channel_info(0, source, name, quantity, unit, semantics, 0, scale, 0.0,
                                    resolution, math.nan, math.nan, 0.0)
        return lib.ww_writer_channel(self.w, ctypes.byref(info), _ffi.ww_error())

    def samples(self, source, lo, hi, codes):
        columns = [(ctypes.c_int64 * len(c))(*c) for c in (lo, hi, codes)]
        lib.ww_writer_samples(self.w, source, len(lo), *columns, _ffi.ww_error())

    def bytes(self, source, lo, hi, data):
        lib.ww_writer_bytes(self.w, source, _ffi.ww_interval(lo, hi), data, len(data),
                            _ffi.ww_error())

    def mark(self, t, kind, text=b"", source=0, cycle=0):
        m = _ffi.ww_mark(_ffi.ww_interval(t, t), source, cycle, kind, text)
        lib.ww_writer_mark(self.w, ctypes.byref(m), _ffi.ww_error())

    def gap(self, lo, hi, source, lost, reason):
        g = _ffi.ww_gap(_ffi.ww_interval(lo, hi), source, 0, lost, reason)
        lib.ww_writer_gap(self.w, ctypes.byref(g), _ffi.ww_error())

    def anchor(self, boot, real):
        a = _ffi.ww_anchor(boot, boot, real, 100, 0, 0, -1)
        lib.ww_writer_anchor(self.w, ctypes.byref(a), _ffi.ww_error())

    def meta(self, key, value):
        lib.ww_writer_meta(self.w, key, value, _ffi.ww_error())

    def commit(self):
        lib.ww_writer_commit(self.w, _ffi.ww_error())


def write_mixed(path):
    """A meter with two channels at 10 a second for 10 s, a port, marks, a gap."""
    with Writer(path) as w:
        w.meta(b"bench.kernel", "Ünïx 6".encode())
        w.anchor(START, 1_700_000_000 * SECOND)
        m = w.source(_ffi.ww_source_kind.METER, "meter", model=b"model <5>", period_ns=SECOND // 10)
        w.channel(m, b"power", b"power", b"W", 0, 0.1, 0.1)
        w.channel(m, b"voltage", b"voltage", b"V", 0, 0.001, 0.001)
        p = w.source(_ffi.ww_source_kind.SERIAL, "port")
        codes, lo, hi = [], [], []
        for i in range(100):
            lo.append(START + i * SECOND // 10)
            hi.append(lo[-1] + 2000)
            codes += [_ffi.MISSING if i == 50 else 1191 + i % 3, 230_000 + i]
        w.samples(m, lo, hi, codes)
        for i in range(5):
            at = START + SECOND + i * 1_000_000
            w.bytes(p, at, at + 500, b"a\0b")
        w.mark(START + 2 * SECOND, b"label", "lamp on, 5 Ω".encode(), m)
        w.gap(START + 3 * SECOND, START + 4 * SECOND, p, 7, b"unplugged")


def write_cycles(path, cycles=3):
    """Plain beats every 10 ms, and cycles whose limits are known to the ms."""
    with Writer(path) as w:
        w.anchor(START, 1_700_000_000 * SECOND)
        p = w.source(_ffi.ww_source_kind.SERIAL, "port", role=b"heartbeat")
        t = START

        def beats(until):
            nonlocal t
            while t < until:
                w.bytes(p, t - 100_000, t, b".")
                t += 10_000_000

        beats(START + 3 * SECOND)
        for c in range(1, cycles + 1):
            w.mark(t, b"request", b"suspend", p, c)
            beats(t + SECOND // 2)
            wake = t + 4 * SECOND
            w.mark(wake, b"wake", b"wake", p, c)
            w.mark(wake + 1_000_000, b"wake-end", b"exit 0", p, c)
            t = wake + (700 + 10 * c) * 1_000_000
            beats(t + 4 * SECOND)
            w.mark(t, b"cycle-end", b"ok", p, c)


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.dir.cleanup)

    def path(self, name):
        return os.path.join(self.dir.name, name)
