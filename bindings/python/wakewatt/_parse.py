# SPDX-License-Identifier: MIT
"""Texts that people and programs write: quantities, durations, gaps, work done, numbers."""
from __future__ import annotations

import ctypes
import math
import os
import re
from dataclasses import dataclass
from numbers import Real
from typing import Any, Dict, Mapping, Optional, Tuple, Union

from . import _arrays, _ffi
from ._ffi import lib, raw
from ._types import Quantity

#: what stands for a quantity: a number, a text with its unit ("25W", "25 W ± 0.6": the figure
#: behind the sign is k = 2), a Quantity, or (value, standard uncertainty)
Given = Union[float, int, str, Quantity, Tuple[float, float]]
Path = Union[str, "os.PathLike[str]"]

WATTS = {"W": 1.0, "kW": 1e3, "mW": 1e-3}
JOULES = {"J": 1.0, "kJ": 1e3, "mJ": 1e-3, "Wh": 3600.0}
SECONDS = {"s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0}
PART = {"": 1.0, "%": 0.01}


def parse_quantity(text: str, unit: str = "") -> Quantity:
    """Read "25 W ± 0.6", "25+-0.6W", "25 ± 2%", "48min".

    What stands behind the sign is taken as the expanded uncertainty (k = 2), so that the
    Quantity prints as it was written; ``u`` is half of it, 0 without one. ``unit`` is that of a
    bare number. ValueError: this is no quantity.
    """
    found, name = _ffi.ww_quantity(), ctypes.create_string_buffer(32)
    try:
        lib.ww_quantity_parse(raw(text), raw(unit), ctypes.byref(found), name, 32,
                              _ffi.ww_error())
    except _ffi.Error as e:
        raise ValueError(str(e)) from None
    return Quantity(found.value, found.u / 2, name.value.decode())


def parse_duration(text: str) -> float:
    """Read "500ms", "2s", "1m30s", "8h" as seconds; a bare number is seconds.

    ValueError: this is no duration.
    """
    ns = ctypes.c_int64()
    try:
        lib.ww_duration_parse(raw(text), ctypes.byref(ns), _ffi.ww_error())
    except _ffi.Error as e:
        raise ValueError(str(e)) from None
    return ns.value / 1e9


def parse_gaps(text: Union[str, bytes], name: str = "gaps") -> Any:
    """Idle gaps in seconds, float64 of shape (n,), from a text: one a line, or a column of CSV
    whose head says "gap", "idle" or "seconds" (or ``gap_ms``).

    ``name`` is what errors call the text. Error: no gaps in it, a line that is no number.
    """
    data = text.encode() if isinstance(text, str) else bytes(text)
    found = ctypes.POINTER(ctypes.c_double)()
    n = lib.ww_gaps_parse(raw(name), data, len(data), ctypes.byref(found), _ffi.ww_error())
    try:
        out = _arrays.doubles(n)
        for i in range(n):
            out[i] = found[i]
        return out
    finally:
        lib.ww_free(found)


def slurp(path: Path) -> bytes:
    """All of a file. Error: as opening or reading it fails."""
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError as e:
        raise _ffi.Error(e.errno, f"{os.fspath(path)}: {e.strerror}") from None


# --- quantities of options


def _named(what: str, parse: Any, *arguments: Any) -> Any:
    try:
        return parse(*arguments)
    except ValueError as e:
        raise ValueError(f"{what}: {e}") from None


def given(value: Given, units: Mapping[str, float], what: str, least: float = 0.0,
          zero: bool = False) -> _ffi.ww_quantity:
    """A quantity of an option, in the first of the units. TypeError, ValueError: with its name."""
    base = next(iter(units))
    if isinstance(value, str):
        q: Quantity = _named(what, parse_quantity, value, base)
    elif isinstance(value, Quantity):
        q = value
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        q = Quantity(float(value[0]), float(value[1]), base)
    elif isinstance(value, Real) and not isinstance(value, bool):
        q = Quantity(float(value), 0.0, base)
    else:
        raise TypeError(f"{what} is {value!r}: a number, a text such as '25W' or '25 W ± 0.6', a "
                        "Quantity or (value, standard uncertainty) is wanted")
    unit = "" if q.unit == "1" else q.unit
    u = q.u or 0.0
    if unit not in units:
        raise ValueError(f"{what}: {q} is not in {base or 'parts of one, or %'}")
    if not math.isfinite(q.value) or not math.isfinite(u) or u < 0:
        raise ValueError(f"{what}: {value} cannot be reckoned with")
    if q.value < least or (q.value == least and not zero):
        raise ValueError(f"{what}: {q} is {'below' if zero else 'not above'} {least:g}")
    return _ffi.ww_quantity(q.value * units[unit], u * units[unit])


def part(value: Given, what: str) -> _ffi.ww_quantity:
    """A part of a whole: 0.8 or "80%". ValueError: more than a whole can be."""
    q = given(value, PART, what)
    if q.value > 1.2:
        raise ValueError(f"{what}: {value} is more than the whole; '80%' or 0.8")
    return q


def exact(value: Given, units: Mapping[str, float], what: str) -> float:
    """A number above 0 without an uncertainty."""
    q = given(value, units, what)
    if q.u > 0:
        raise ValueError(f"{what}: {value}: this one takes no uncertainty")
    return float(q.value)


def hours(value: Union[float, str], what: str) -> float:
    """A number of hours, or a duration as text, which then has its unit."""
    if isinstance(value, str):
        if re.fullmatch(r"[0-9.]+", value.strip()):
            raise ValueError(f"{what}: {value!r} has no unit: '{value}h' or '{value}min'?")
        value = _named(what, parse_duration, value) / 3600
    return exact(value, {"h": 1.0}, what)


# --- work


@dataclass(frozen=True)
class WorkFound:
    """How much work a command's output tells of."""

    kind: str  #: "none", "amount" (the sum of all that was found) or "rate" (their mean)
    amount: Optional[Quantity]  #: of a rate: in a second, "B/s"; None: none was found
    lines: int  #: of output that said so
    why: str  #: why there is none, "" otherwise


class Work:
    """Finds in the output of a command how much work it did, whatever it is cut into.

    ``what`` is "openssl", "hdparm", "dd", "rsync", "nbench", or a POSIX extended regular
    expression whose first group is the number and whose second, if there is one, the unit
    ("last:" before it takes the last match only). See pwrlog-run(1).

        work = wakewatt.Work("dd")
        work.feed(subprocess.run(command, stderr=subprocess.PIPE).stderr)
        print(work.found().amount)

    Error (EINVAL): no such program, and no expression either.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._handle = _ffi.Handle.new(lib.ww_work_new, lib.ww_work_free, raw(what), what=what)

    def __repr__(self) -> str:
        return f"<wakewatt.Work {self.what!r}>"

    def feed(self, data: Union[bytes, str]) -> "Work":
        """The next piece of output; lines longer than 4095 bytes are cut. Returns itself."""
        piece = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data)
        lib.ww_work_feed(self._handle(), piece, len(piece))
        return self

    def found(self) -> WorkFound:
        """What was found up to now; a last line without its newline counts."""
        w = _ffi.ww_work_found()
        lib.ww_work_get(self._handle(), ctypes.byref(w))
        kind = _ffi.word(_ffi.ww_work_kind, w.kind)
        if kind == "none":
            return WorkFound(kind, None, w.lines, _ffi.text(w.why))
        unit = _ffi.text(w.unit) + ("/s" if kind == "rate" else "")
        return WorkFound(kind, Quantity(w.value, w.u, unit), w.lines, "")

    def reset(self) -> None:
        """Forget the output: the next run begins."""
        lib.ww_work_reset(self._handle())


# --- numbers of other programs


def numbers(path: Path, column: Optional[str], label: Optional[str]) -> Tuple[Any, Any]:
    """(groups, notes) of a file of numbers; a group is a dict of label, measure, unit, value,
    when. Error: no numbers in it."""
    data, name = slurp(path), os.fspath(path)
    options = _ffi.options(_ffi.ww_numbers_options, name=name, column=column, label=label)
    handle = _ffi.Handle.new(lib.ww_numbers_parse, lib.ww_numbers_free, data, len(data),
                             ctypes.byref(options), what=name)
    groups = []
    for g in _ffi.listed(lib.ww_numbers_at, handle()):
        found: Dict[str, Any] = {key: _ffi.text(getattr(g, key))
                                 for key in ("label", "measure", "unit")}
        found["value"], found["when"] = g.value[:g.n], g.when[:g.n]
        groups.append(found)
    notes = tuple(_ffi.listed(lib.ww_numbers_note, handle()))
    handle.close()
    return groups, notes
