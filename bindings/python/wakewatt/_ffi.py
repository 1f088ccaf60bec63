# SPDX-License-Identifier: MIT
"""The C side: finds libwakewatt and mirrors what wakewatt.h declares of it.

Nothing else of the package touches ctypes' types of functions. Every fallible
function goes through one check, which raises Error with the library's sentence.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import os
from ctypes import (POINTER, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t,
                    c_uint, c_uint8, c_uint32, c_void_p)
from typing import Any, Dict, List, Optional, Tuple

ABI = 1
SONAME = "libwakewatt.so.0"
VARIABLE = "WAKEWATT_LIBRARY"

TIME_MIN = -(2**63)
TIME_MAX = 2**63 - 1
MISSING = -(2**63)

METER, SERIAL, LINE, MANUAL = range(4)
SEMANTICS = ("instant", "average", "hold", "counter", "edge")
KINDS = ("meter", "serial", "line", "manual")
STATES = ("closed", "live", "unclosed")
BEAT_MODES = {"unknown": 0, "stream": 1, "reopen": 2, "drain": 3}
REPORT_TEXT, REPORT_JSON = 0, 1
FORMS = {"file": 0, "jsonl": 1, "binary": 2}
CURSOR_SURE = 1


class Error(OSError):
    """A call of the library failed.

    ``errno`` is the positive error number, ``str(error)`` the library's sentence:
    what failed, on what, why, and what helps.
    """

    def __str__(self) -> str:
        return self.strerror or os.strerror(self.errno or 0)


# --- structures, in the order and with the names of the header


class ww_error(ctypes.Structure):
    _fields_ = [("code", c_int), ("text", c_char * 512)]


class ww_interval(ctypes.Structure):
    _fields_ = [("lo_ns", c_int64), ("hi_ns", c_int64)]


class ww_anchor(ctypes.Structure):
    _fields_ = [("boot_ns", c_int64), ("mono_ns", c_int64), ("real_ns", c_int64),
                ("width_ns", c_int64), ("adj_state", c_int32), ("adj_freq_ppb", c_int32),
                ("adj_maxerror_ns", c_int64)]


class ww_transport(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("delay_min_ns", c_int64), ("delay_max_ns", c_int64),
                ("char_ns", c_int64), ("settings", c_char_p)]


class ww_source_info(ctypes.Structure):
    _fields_ = [("id", c_uint32), ("kind", c_int32), ("name", c_char_p), ("uri", c_char_p),
                ("driver", c_char_p), ("model", c_char_p), ("serial", c_char_p),
                ("firmware", c_char_p), ("role", c_char_p), ("notes", c_char_p),
                ("period_ns", c_int64), ("window_ns", c_int64), ("delay_min_ns", c_int64),
                ("delay_max_ns", c_int64), ("transport", ww_transport)]


class ww_channel_info(ctypes.Structure):
    _fields_ = [("id", c_uint32), ("source", c_uint32), ("name", c_char_p),
                ("quantity", c_char_p), ("unit", c_char_p), ("semantics", c_int32),
                ("reserved", c_int32), ("scale", c_double), ("offset", c_double),
                ("resolution", c_double), ("acc_abs", c_double), ("acc_rel", c_double),
                ("wrap", c_double)]


class ww_mark(ctypes.Structure):
    _fields_ = [("t", ww_interval), ("source", c_uint32), ("cycle", c_uint32),
                ("kind", c_char_p), ("text", c_char_p)]


class ww_gap(ctypes.Structure):
    _fields_ = [("t", ww_interval), ("source", c_uint32), ("reserved", c_uint32),
                ("lost", c_int64), ("reason", c_char_p)]


class ww_writer_options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("form", c_int32), ("fd", c_int32), ("program", c_char_p),
                ("command", c_char_p)]


class ww_batch(ctypes.Structure):
    _fields_ = [("n", c_size_t), ("channels", c_size_t), ("lo_ns", POINTER(c_int64)),
                ("hi_ns", POINTER(c_int64)), ("codes", POINTER(POINTER(c_int64))),
                ("data", POINTER(c_uint8))]


class ww_stat_options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("from_ns", c_int64), ("to_ns", c_int64)]


class ww_resume_options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("mode", c_int32), ("reserved", c_int32),
                ("port", c_char_p), ("console", c_char_p), ("handoff", c_char_p),
                ("period_ns", c_int64)]


STRUCTURES = (ww_error, ww_interval, ww_anchor, ww_transport, ww_source_info, ww_channel_info,
              ww_mark, ww_gap, ww_writer_options, ww_batch, ww_stat_options, ww_resume_options)

# --- functions: name -> (result, arguments). A last argument ERR marks a fallible one.

ERR = POINTER(ww_error)
H = c_void_p  # every handle is opaque
OUT = POINTER(c_void_p)
STR = c_char_p
I64 = POINTER(c_int64)

FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "ww_abi": (c_int, []),
    "ww_version": (STR, []),
    "ww_features": (STR, []),
    "ww_sizeof": (c_size_t, [STR]),
    "ww_free": (None, [c_void_p]),
    "ww_clock_now_ns": (c_int64, []),
    "ww_anchor_take": (c_int, [POINTER(ww_anchor), ERR]),
    # reading
    "ww_trace_open": (c_int, [STR, OUT, ERR]),
    "ww_trace_close": (None, [H]),
    "ww_trace_refresh": (c_int, [H, ERR]),
    "ww_trace_fd": (c_int, [H]),
    "ww_trace_state": (c_int, [H]),
    "ww_trace_source_count": (c_size_t, [H]),
    "ww_trace_source": (POINTER(ww_source_info), [H, c_size_t]),
    "ww_trace_channel_count": (c_size_t, [H]),
    "ww_trace_channel": (POINTER(ww_channel_info), [H, c_size_t]),
    "ww_trace_mark_count": (c_size_t, [H]),
    "ww_trace_mark": (POINTER(ww_mark), [H, c_size_t]),
    "ww_trace_gap_count": (c_size_t, [H]),
    "ww_trace_gap": (POINTER(ww_gap), [H, c_size_t]),
    "ww_trace_meta_at": (c_int, [H, c_size_t, POINTER(STR), POINTER(STR)]),
    "ww_trace_warning": (STR, [H, c_size_t]),
    "ww_trace_span": (ww_interval, [H]),
    "ww_trace_wall": (c_int, [H, c_int64, I64]),
    "ww_trace_rows": (c_int64, [H, c_uint32, c_int64, c_int64, ERR]),
    "ww_trace_read": (c_int64, [H, c_uint32, c_int64, c_int64, c_size_t, c_void_p, c_void_p,
                                c_void_p, ERR]),
    "ww_cursor_open": (c_int, [H, c_uint32, c_int64, c_int64, c_uint, OUT, ERR]),
    "ww_cursor_next": (c_int, [H, POINTER(ww_batch), ERR]),
    "ww_cursor_close": (None, [H]),
    # analyses and reports
    "ww_stat_new": (c_int, [H, POINTER(ww_stat_options), OUT, ERR]),
    "ww_stat_free": (None, [H]),
    "ww_stat_report": (c_int, [H, c_int, OUT, ERR]),
    "ww_resume_new": (c_int, [H, POINTER(ww_resume_options), OUT, ERR]),
    "ww_resume_free": (None, [H]),
    "ww_resume_report": (c_int, [H, c_int, OUT, ERR]),
    "ww_info_report": (c_int, [H, c_int, OUT, ERR]),
    # writing: what converters and tests need
    "ww_writer_open": (c_int, [STR, POINTER(ww_writer_options), OUT, ERR]),
    "ww_writer_source": (c_int, [H, POINTER(ww_source_info), ERR]),
    "ww_writer_channel": (c_int, [H, POINTER(ww_channel_info), ERR]),
    "ww_writer_samples": (c_int, [H, c_uint32, c_size_t, I64, I64, I64, ERR]),
    "ww_writer_bytes": (c_int, [H, c_uint32, ww_interval, STR, c_size_t, ERR]),
    "ww_writer_mark": (c_int, [H, POINTER(ww_mark), ERR]),
    "ww_writer_gap": (c_int, [H, POINTER(ww_gap), ERR]),
    "ww_writer_anchor": (c_int, [H, POINTER(ww_anchor), ERR]),
    "ww_writer_meta": (c_int, [H, STR, STR, ERR]),
    "ww_writer_commit": (c_int, [H, ERR]),
    "ww_writer_close": (c_int, [H, ERR]),
}


def _errcheck(result: int, func: Any, args: Tuple[Any, ...]) -> int:
    if result >= 0:
        return result
    text = args[-1].text.decode("utf-8", "replace")
    raise Error(-result, text or f"{func.__name__}: {os.strerror(-result)}")


# --- the library itself


def candidates() -> List[str]:
    """Where the library is looked for, in this order, where nobody names it."""
    here = os.path.dirname(os.path.abspath(__file__))
    found = [os.path.join(here, SONAME),
             os.path.join(os.path.normpath(os.path.join(here, "..", "..", "..")), "build", "lib",
                          SONAME)]
    return [p for p in found if os.path.exists(p)] + [SONAME]


def _open() -> ctypes.CDLL:
    named = os.environ.get(VARIABLE)
    if named:
        try:
            return ctypes.CDLL(named)
        except OSError as e:
            raise ImportError(f"{VARIABLE} names {named}, which cannot be loaded: {e}") from None
    tried = []
    for path in candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as e:
            tried.append(f"{path} ({e})")
    other = ctypes.util.find_library("wakewatt")
    if other:
        try:
            return ctypes.CDLL(other)
        except OSError as e:
            tried.append(f"{other} ({e})")
    raise ImportError("libwakewatt was not found: build it with 'make' in the checkout, install "
                      f"it with 'make install', or name the file in {VARIABLE}. Tried: "
                      + "; ".join(tried))


def _describe(lib: ctypes.CDLL) -> str:
    try:
        version = lib.ww_version
    except AttributeError:
        return lib._name
    version.restype = c_char_p
    return f"{lib._name} (version {version().decode()})"


def check(lib: ctypes.CDLL) -> None:
    """Declare every function; ImportError if the library is another one or another age's."""
    try:
        abi = lib.ww_abi()
    except AttributeError:
        raise ImportError(f"{lib._name} is no libwakewatt: it has no function ww_abi") from None
    who = _describe(lib)
    if abi != ABI:
        raise ImportError(f"{who} has binary interface {abi}, this package needs {ABI}: "
                          f"{'update the package' if abi > ABI else 'install a newer library'}")
    for name, (result, arguments) in FUNCTIONS.items():
        try:
            function = getattr(lib, name)
        except AttributeError:
            raise ImportError(f"{who} has no function {name}: it is older than this package; "
                              "install the library of the same version") from None
        function.restype = result
        function.argtypes = arguments
        if arguments and arguments[-1] is ERR:
            function.errcheck = _errcheck
    for mirror in STRUCTURES:
        size = lib.ww_sizeof(mirror.__name__.encode())
        if size != ctypes.sizeof(mirror):
            raise ImportError(f"{who} has a structure {mirror.__name__} of {size} bytes, this "
                              f"package one of {ctypes.sizeof(mirror)}: install library and "
                              "package of the same version")


def load() -> ctypes.CDLL:
    """Find, open and check the library."""
    found = _open()
    check(found)
    return found


lib = load()


# --- small conversions


def text(value: Optional[bytes]) -> str:
    """A string of the library."""
    return value.decode("utf-8", "replace") if value else ""


def word(words: Tuple[str, ...], number: int) -> str:
    """A constant's word; a newer library's, unknown here, is its number."""
    return words[number] if 0 <= number < len(words) else str(number)


def raw(value: Optional[str]) -> Optional[bytes]:
    """A string for the library; None stays NULL."""
    return None if value is None else value.encode("utf-8", "surrogateescape")


def pointer(buffer: Any) -> Optional[c_void_p]:
    """Address of a writable buffer (array.array or numpy), None for an empty one."""
    view = memoryview(buffer)
    if view.nbytes == 0:
        return None
    return c_void_p(ctypes.addressof(c_char.from_buffer(view)))


def take_text(out: c_void_p) -> str:
    """Text that a function handed over, freed on the library's side."""
    try:
        return ctypes.string_at(out.value or 0).decode("utf-8") if out.value else ""
    finally:
        lib.ww_free(out)
