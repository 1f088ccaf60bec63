# SPDX-License-Identifier: MIT
"""Moments as people name them: seconds, wall-clock times, marks."""
from __future__ import annotations

import datetime
import errno
import math
import numbers
from typing import Any, List, Optional, Tuple, Union

from . import _ffi
from ._core import Core
from ._ffi import lib
from ._records import Mark

#: one end of a stretch: seconds since the trace's first record, a time of day with its zone, or
#: a mark, by itself, its text or else its kind
Moment = Union[float, int, str, Mark, datetime.datetime]

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_SHOWN = 20


def clamp(ns: int) -> int:
    """Within the axis."""
    return min(max(ns, _ffi.TIME_MIN), _ffi.TIME_MAX)


def unix_ns(t: datetime.datetime) -> int:
    """Wall-clock time in ns. ValueError: without a zone."""
    if t.utcoffset() is None:
        raise ValueError(f"{t.isoformat(' ')} has no zone: give it one, as "
                         "datetime(..., tzinfo=timezone.utc) or .astimezone()")
    d = t.astimezone(datetime.timezone.utc) - _EPOCH
    return ((d.days * 86400 + d.seconds) * 10**6 + d.microseconds) * 1000 + int(
        getattr(t, "nanosecond", 0))


def wall_to_axis(core: Core, real_ns: int) -> int:
    """Where the wall clock first showed a time or, where it was stepped over it, was stepped.
    Error (ENODATA): the trace knows no wall clock."""
    n = lib.ww_trace_anchor_count(core.h())
    if n == 0:
        raise _ffi.Error(errno.ENODATA, f"{core.path}: no reading of the wall clock was stored, "
                         "so that a time of day cannot be found: give seconds or marks")
    anchors = [lib.ww_trace_anchor(core.h(), i).contents for i in range(n)]
    # Of several at one moment the last one holds, as in ww_trace_wall().
    steps = sorted({a.boot_ns: a.real_ns for a in anchors}.items())
    for (boot, real), following in zip(steps, steps[1:] + [(_ffi.TIME_MAX, 0)]):
        t = boot + (real_ns - real)
        if t < following[0]:
            return int(t if boot == steps[0][0] else max(t, boot))
    return _ffi.TIME_MAX


def seconds_to_axis(core: Core, t: float, open_end: int) -> int:
    """Seconds since the first record; the infinity of that side is open. ValueError: NaN, or the
    other side's infinity."""
    if math.isnan(t) or (math.isinf(t) and (t > 0) != (open_end > 0)):
        raise ValueError(f"{t} s since the trace's first record is no time")
    return open_end if math.isinf(t) else clamp(core.origin() + round(float(t) * 1e9))


def _no_mark(core: Core, marks: List[Mark], name: str, after: str) -> KeyError:
    names = list(dict.fromkeys(m.text or m.kind for m in marks))
    said = ", ".join(map(repr, names[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")
    return KeyError(f"{core.path} has no mark {name!r}{after}; "
                    f"{'marks there' if after else 'its marks'} are {said or 'none'}")


def _find(marks: List[Mark], name: str) -> Optional[int]:
    for key in ("text", "kind"):
        for i, m in enumerate(marks):
            if getattr(m, key) == name:
                return i
    return None


def _kind(moment: Any) -> str:
    for kind, word in ((str, "name"), (Mark, "mark"), (datetime.datetime, "wall")):
        if isinstance(moment, kind):
            return word
    if isinstance(moment, numbers.Real) and not isinstance(moment, bool):
        return "seconds"
    raise TypeError("a trace is cut by seconds since its first record, datetimes with a zone, and "
                    f"marks or their texts, not by {moment!r}")


def _at(core: Core, moment: Any, open_end: int) -> int:
    """A moment that is not a mark's name."""
    if moment is None:
        return open_end
    kind = _kind(moment)
    if kind == "mark":
        return int(moment.t_ns.hi if open_end == _ffi.TIME_MIN else moment.t_ns.lo)
    if kind == "wall":
        return clamp(wall_to_axis(core, unix_ns(moment)))
    return seconds_to_axis(core, moment, open_end)


def bounds(core: Core, marks: List[Mark], start: Any, stop: Any) -> Tuple[int, int]:
    """From and to in ns of the axis; TIME_MIN and TIME_MAX are open.

    A mark's name is its text or, failing that, its kind; the first such one counts. The stretch
    begins surely after the mark ``start``, and ends surely before the first mark ``stop`` after
    its beginning. KeyError: no such mark, with those that there are. ValueError: no time.
    TypeError: neither seconds, nor a datetime, nor a mark.
    """
    rest = marks
    if isinstance(start, str):
        at = _find(marks, start)
        if at is None:
            raise _no_mark(core, marks, start, "")
        lo, rest = int(marks[at].t_ns.hi), marks[at + 1:]
    else:
        lo = _at(core, start, _ffi.TIME_MIN)
    if not isinstance(stop, str):
        return lo, _at(core, stop, _ffi.TIME_MAX)
    after = rest if start is None else [m for m in rest if m.t_ns.lo > lo]
    at = _find(after, stop)
    if at is None:
        raise _no_mark(core, after, stop, "" if start is None else
                       f" after the {'first one' if isinstance(start, str) else 'beginning'}")
    return lo, int(after[at].t_ns.lo)
