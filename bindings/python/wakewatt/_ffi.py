# SPDX-License-Identifier: MIT
"""The C side: finds libwakewatt, checks it, and calls it.

_structs.py, _enums.py and _functions.py mirror the header; here is what makes them usable.
Every fallible function goes through one check, which raises Error with the library's sentence.
"""
from __future__ import annotations

import ctypes
import os
import weakref
from ctypes import c_double, c_int64, c_void_p
from enum import IntEnum
from typing import Any, Callable, Iterator, Optional, Tuple, Type

from . import _library
from ._enums import *  # noqa: F401, F403
from ._enums import ABI, TIME_MAX, TIME_MIN, ww_report_form  # noqa: F401
from ._functions import BARE, FALLIBLE, FUNCTIONS
from ._structs import *  # noqa: F401, F403
from ._structs import STRUCTURES, ww_error


class Error(OSError):
    """A call of the library failed.

    ``errno`` is the positive error number, ``str(error)`` the library's sentence:
    what failed, on what, why, and what helps.
    """

    def __str__(self) -> str:
        return self.strerror or os.strerror(self.errno or 0)


def _errcheck(result: int, func: Any, args: Tuple[Any, ...]) -> int:
    if result >= 0:
        return result
    said = args[-1].text.decode("utf-8", "replace") if isinstance(args[-1], ww_error) else ""
    raise Error(-result, said or f"{func.__name__}: {os.strerror(-result)}")


# --- the library itself


def check(lib: ctypes.CDLL) -> None:
    """Declare every function; ImportError if the library is another one or another age's."""
    _library.check_abi(lib, ABI)
    for name, (result, arguments, fails) in FUNCTIONS.items():
        try:
            function = getattr(lib, name)
        except AttributeError:
            raise _library.lacks(lib, name) from None
        function.restype = result
        function.argtypes = arguments
        if fails in (FALLIBLE, BARE):
            function.errcheck = _errcheck
    _library.check_sizes(lib, STRUCTURES)


def load() -> ctypes.CDLL:
    """Find, open and check the library."""
    found = _library.find()
    check(found)
    return found


lib = load()


# --- small conversions


def text(value: Optional[bytes]) -> str:
    """A string of the library."""
    return value.decode("utf-8", "replace") if value else ""


def word(kind: Type[IntEnum], number: int) -> str:
    """A constant's word as reports write it; a newer library's, unknown here, is its number."""
    try:
        return kind(number).name.lower()
    except ValueError:
        return str(number)


def number(kind: Type[IntEnum], name: str, what: str) -> int:
    """The constant of a word; ValueError with the words that there are."""
    for constant in kind:
        if constant.name.lower() == name:
            return int(constant)
    raise ValueError(f"{what} is one of {', '.join(c.name.lower() for c in kind)}, not {name!r}")


def raw(value: Optional[str]) -> Optional[bytes]:
    """A string for the library; None stays NULL. ValueError: it holds a zero character."""
    if value is None:
        return None
    out = value.encode("utf-8", "surrogateescape")
    if b"\0" in out:
        raise ValueError(f"{value!r} holds a zero character")
    return out


def options(structure: Any, **members: Any) -> Any:
    """A structure of options with its size set; texts are encoded, None leaves the default."""
    out = structure(size=ctypes.sizeof(structure))
    for name, value in members.items():
        if value is not None:
            setattr(out, name, raw(value) if isinstance(value, str) else value)
    return out


def ns(seconds: Optional[float], what: str) -> int:
    """A duration for the library; None is its default, 0. ValueError: negative or no number."""
    if seconds is None:
        return 0
    if not 0 <= seconds < 9e9:
        raise ValueError(f"{what} is {seconds}; it counts seconds")
    return round(seconds * 1e9)


def doubles(buffer: Any) -> Any:
    """A writable buffer of float64 for the library, None (NULL) for an empty one."""
    return _column(buffer, c_double)


def integers(buffer: Any) -> Any:
    """A writable buffer of int64 for the library, None (NULL) for an empty one."""
    return _column(buffer, c_int64)


def _column(buffer: Any, kind: Any) -> Any:
    if buffer is None or len(buffer) == 0:
        return None
    view = memoryview(buffer)
    if view.itemsize != ctypes.sizeof(kind) or not view.c_contiguous:
        raise TypeError(f"a column is of {ctypes.sizeof(kind)} bytes an entry, one after the other")
    return (kind * len(buffer)).from_buffer(view)


def take_text(out: c_void_p) -> str:
    """Text that a function handed over, freed on the library's side."""
    try:
        return ctypes.string_at(out.value or 0).decode("utf-8") if out.value else ""
    finally:
        lib.ww_free(out)


def report(function: Callable[..., int], handle: Any, form: int = ww_report_form.TEXT) -> str:
    """A report of a handle: ww_*_report(handle, form, &out, err)."""
    out = c_void_p()
    function(handle, form, ctypes.byref(out), ww_error())
    return take_text(out)


def listed(function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
    """Everything that a function of an index gives until NULL: strings, structures."""
    i = 0
    while True:
        found = function(*arguments, i)
        if not found:
            return
        yield text(found) if isinstance(found, bytes) else found.contents
        i += 1


class Handle:
    """A handle of the library that closes once: by close(), ``with``, or at the end of its life.

    What it needs for as long as it lives (another handle, a buffer) is kept with it.
    """

    def __init__(self, close: Callable[[Any], Any], value: Optional[int], what: str,
                 *keep: Any) -> None:
        self.what, self._keep = what, keep
        self._value = value
        self._finalizer = weakref.finalize(self, close, value)

    @classmethod
    def new(cls, make: Callable[..., int], close: Callable[[Any], Any], *arguments: Any,
            what: str = "", keep: Tuple[Any, ...] = ()) -> "Handle":
        """Of a function that ends in ``&out, err``. Error: as the function fails."""
        out = c_void_p()
        make(*arguments, ctypes.byref(out), ww_error())
        return cls(close, out.value, what, *keep)

    def __call__(self) -> int:
        """For the library. ValueError: it has been closed."""
        if self._value is None:
            raise ValueError(f"{self.what or 'the handle'} has been closed")
        return self._value

    @property
    def closed(self) -> bool:
        """Whether it is."""
        return self._value is None

    def detach(self) -> None:
        """It is closed by whoever calls this: not by the end of its life."""
        self._value = None
        self._finalizer.detach()

    def close(self) -> None:
        """May be called again."""
        self._value = None
        self._finalizer()
        self._keep = ()
