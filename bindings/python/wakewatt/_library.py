# SPDX-License-Identifier: MIT
"""Which libwakewatt is loaded, and why one will not do.

In this order: the file that WAKEWATT_LIBRARY names; the one beside this package (a wheel's);
in a checkout, the one of its build/lib; libwakewatt.so.0 by the dynamic linker; what the
linker's cache or the compiler knows as "wakewatt". The first that is there is taken: one that
is there and does not load is an error, so that nobody measures with another than he thinks.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import re
from ctypes import c_char_p, c_size_t
from typing import Any, List, Optional, Sequence

SONAME = "libwakewatt.so.0"
VARIABLE = "WAKEWATT_LIBRARY"
HERE = os.path.dirname(os.path.abspath(__file__))
#: Debian's packages of what the library may need: 12's, and 13's where it has another name.
PACKAGES = {
    "libsqlite3.so.0": "libsqlite3-0", "libzstd.so.1": "libzstd1",
    "libusb-1.0.so.0": "libusb-1.0-0", "libftdi1.so.2": "libftdi1-2",
    "libgpiod.so.2": "libgpiod2", "libgpiod.so.3": "libgpiod3",
    "libcurl.so.4": "libcurl4", "libjansson.so.4": "libjansson4",
    "libnettle.so.8": "libnettle8", "libz.so.1": "zlib1g", "liblzma.so.5": "liblzma5",
}


def files() -> List[str]:
    """Files that are taken where WAKEWATT_LIBRARY names none."""
    found = [os.path.join(HERE, SONAME)]
    top = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
    if os.path.exists(os.path.join(top, "include", "wakewatt.h")):
        found.append(os.path.join(top, "build", "lib", SONAME))
    return [path for path in found if os.path.exists(path)]


def _elf(path: str) -> Optional[bytes]:
    """What tells machines apart in the head of an ELF file; None: it is none."""
    with open(path, "rb") as f:
        head = f.read(20)
    return head[4:6] + head[18:20] if head[:4] == b"\x7fELF" and len(head) == 20 else None


def _reason(path: str, error: OSError) -> str:
    """What is wrong with a file that did not load."""
    if os.sep in path:
        if not os.path.isfile(path):
            return "there is no such file"
        try:
            kind = _elf(path)
            if kind is None:
                return "it is no shared library (not an ELF file)"
            if kind != _elf("/proc/self/exe"):
                return "it is for another kind of machine than this Python"
        except OSError as e:
            return e.strerror or str(e)
    said = str(error)
    missing = re.match(r"(\S+): cannot open shared object file", said)
    if missing and missing[1] not in (path, os.path.basename(path)):
        package = PACKAGES.get(missing[1])
        return (f"it needs {missing[1]}, which is not installed"
                + (f" (Debian: apt install {package})" if package else "")
                + "; or build the library on this machine")
    return said


def _load(path: str, who: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(path)
    except OSError as e:
        raise ImportError(f"{who} cannot be loaded: {_reason(path, e)}") from None


def _absent(error: OSError, name: str) -> bool:
    """The linker found no file of the name, rather than one that it could not load."""
    return str(error).startswith(f"{name}: cannot open shared object file")


def find() -> ctypes.CDLL:
    """Open the library. ImportError: there is none, or the one that is there does not load."""
    named = os.environ.get(VARIABLE)
    if named:
        return _load(named, f"{named}, which {VARIABLE} names,")
    here = files()
    if here:
        return _load(here[0], here[0])
    try:
        return ctypes.CDLL(SONAME)
    except OSError as e:
        if not _absent(e, SONAME):
            raise ImportError(f"{SONAME} cannot be loaded: {_reason(SONAME, e)}") from None
    other = ctypes.util.find_library("wakewatt")
    if other and other != SONAME:
        return _load(other, other)
    raise ImportError(f"libwakewatt was not found: neither {os.path.join(HERE, SONAME)}, nor "
                      f"{SONAME} where the dynamic linker looks. Build it with 'make' in the "
                      "checkout, install it with 'make install', bundle it with 'pip install "
                      f"CHECKOUT/bindings/python', or name the file in {VARIABLE}")


def describe(lib: ctypes.CDLL) -> str:
    """Name of the file and the library's version."""
    try:
        version = lib.ww_version
    except AttributeError:
        return str(lib._name)
    version.restype = c_char_p
    return f"{lib._name} (version {(version() or b'?').decode()})"


def check_abi(lib: ctypes.CDLL, abi: int) -> None:
    """ImportError: it is another library, or one of another binary interface."""
    try:
        has = lib.ww_abi()
    except AttributeError:
        raise ImportError(f"{lib._name} is no libwakewatt: it has no function ww_abi") from None
    if has != abi:
        raise ImportError(f"{describe(lib)} has binary interface {has}, this package needs {abi}: "
                          f"{'update the package' if has > abi else 'install a newer library'}")


def lacks(lib: ctypes.CDLL, name: str) -> ImportError:
    """The error of a library without a function that the package calls."""
    return ImportError(f"{describe(lib)} has no function {name}: it is older than this package; "
                       f"install the library of the same version, or name it in {VARIABLE}")


def check_sizes(lib: ctypes.CDLL, structures: Sequence[Any]) -> None:
    """ImportError: a structure of the library is another one than the package's.

    Structures of options begin with their size: a newer library takes an older one's.
    """
    lib.ww_sizeof.restype, lib.ww_sizeof.argtypes = c_size_t, [c_char_p]
    for mirror in structures:
        has, ours = lib.ww_sizeof(mirror.__name__.encode()), ctypes.sizeof(mirror)
        sized = mirror._fields_[0][0] == "size"
        if has != ours and not (sized and has > ours):
            raise ImportError(f"{describe(lib)} has a structure {mirror.__name__} of {has} bytes, "
                              f"this package one of {ours}: it is "
                              f"{'newer' if has > ours else 'older'}; install library and package "
                              "of the same version")
