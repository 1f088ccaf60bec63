# SPDX-License-Identifier: MIT
"""Columns of numbers: numpy's where it is there, array.array otherwise."""
from __future__ import annotations

from array import array
from typing import Any, Optional, Tuple

from . import _ffi

_PIECE = 1 << 16


def numpy() -> Optional[Any]:
    """The numpy module, or None."""
    try:
        import numpy as np  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    return np


def doubles(n: int) -> Any:
    """n float64, to be filled."""
    np = numpy()
    return np.empty(n, np.float64) if np else array("d", bytes(8 * n))


def integers(n: int) -> Any:
    """n int64, to be filled."""
    np = numpy()
    return np.empty(n, np.int64) if np else array("q", bytes(8 * n))


def _closed(np: Any, lo: Any, hi: Any) -> Tuple[Any, Any]:
    """Open ends give way to the other one."""
    if len(lo) and (lo.min() == _ffi.TIME_MIN or hi.max() == _ffi.TIME_MAX):
        return np.where(lo == _ffi.TIME_MIN, hi, lo), np.where(hi == _ffi.TIME_MAX, lo, hi)
    return lo, hi


def middles(lo: Any, hi: Any, origin: int) -> Any:
    """Middles of intervals in seconds after origin; an open end gives way to the other one.

    The difference is taken in integers first: a double cannot hold ns since boot.
    """
    np = numpy()
    if np is not None:
        lo, hi = _closed(np, np.asarray(lo), np.asarray(hi))
        seconds = np.empty(len(lo))
        for i in range(0, len(lo), _PIECE):  # a piece stays in the cache: new pages are slow
            twice = lo[i:i + _PIECE] - origin
            twice += hi[i:i + _PIECE]
            twice -= origin
            np.multiply(twice, 0.5e-9, out=seconds[i:i + _PIECE])
        return seconds
    out = array("d")
    for a, b in zip(lo, hi):
        a, b = (b if a == _ffi.TIME_MIN else a), (a if b == _ffi.TIME_MAX else b)
        out.append(((a - origin) + (b - origin)) * 0.5e-9)
    return out


def centres(lo: Any, hi: Any, out: Any = None) -> Tuple[Any, float]:
    """Middles of intervals in ns, rounded down, and the greatest half-width in seconds; an open
    end gives way to the other one. ``out``: where to; may be hi itself.
    ImportError without numpy."""
    import numpy as np

    lo, hi = _closed(np, lo, hi)
    middle = np.subtract(hi, lo, out=out)
    half = float(middle.max()) * 0.5e-9 if len(lo) else 0.0
    middle >>= 1
    middle += lo
    return middle, half


def shorten(n: int, *columns: Any) -> Tuple[Any, ...]:
    """The first n of each column."""
    return tuple(c if len(c) == n else c[:n] for c in columns)
