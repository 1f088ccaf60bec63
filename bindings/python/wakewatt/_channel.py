# SPDX-License-Identifier: MIT
"""One quantity of a meter, in a trace or a stretch of it."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import _arrays, _arrow, _draw, _ffi, _table
from ._base import View
from ._core import Core
from ._ffi import lib
from ._live import LiveChannel


class Channel(LiveChannel):
    """One quantity of a meter, in a trace or a stretch of it.

    ``channel[10:20]`` is the stretch from 10 s to 20 s after the trace's first record:
    every sample whose interval touches it, both ends included. Columns are numpy arrays
    where numpy is there and array.array otherwise. A value that the meter did not give is
    NaN. On a trace that still grows, a channel grows with every Trace.refresh().
    """

    def __init__(self, core: Core, info: Dict[str, Any], from_ns: int, to_ns: int) -> None:
        self._core = core
        self._info = info
        self._from, self._to = from_ns, to_ns
        self.id: int = info["id"]
        self.name: str = info["full"]  #: "SOURCE.CHANNEL"
        self.source: str = info["source"]
        self.quantity: str = info["quantity"]
        self.unit: str = info["unit"]  #: SI symbol
        self.semantics: str = info["semantics"]  #: "instant", "average", "hold", ...
        self.resolution: float = info["resolution"]  #: smallest step, in unit; 0 unknown
        self.accuracy_abs: float = info["acc_abs"]  #: maker's +-a, in unit; NaN unknown
        self.accuracy_rel: float = info["acc_rel"]  #: maker's fraction; NaN unknown
        self.wrap: float = info["wrap"]  #: counters: where they start again; 0 never

    def __repr__(self) -> str:
        return f"<wakewatt.Channel {self.name} [{self.unit}]>"

    def _view(self) -> View:
        return View(self._core, self._from, self._to)

    def __len__(self) -> int:
        """Number of samples, those without a value included."""
        return int(lib.ww_trace_rows(self._core.h(), self._info["source_id"], self._from,
                                     self._to, _ffi.ww_error()))

    def __getitem__(self, key: slice) -> "Channel":
        """A stretch, as Trace's. KeyError: no such mark. TypeError: a single number."""
        if not isinstance(key, slice) or key.step is not None:
            raise TypeError("a channel is cut by seconds, datetimes or marks: channel[from:to]; "
                            "its values are channel.values()")
        return Channel(self._core, self._info, *self._view()._axis(key.start, key.stop))

    def __iter__(self) -> Iterator[Tuple[float, float]]:
        """Pairs of seconds since the trace's first record and value."""
        lo, hi, values = self.read()
        times = _arrays.middles(lo, hi, self._core.origin())
        return iter(list(zip(times.tolist(), values.tolist())))

    def _fill(self, lo: Any, hi: Any, values: Any, n: int) -> int:
        return int(lib.ww_trace_read(self._core.h(), self.id, self._from, self._to, n,
                                     _ffi.integers(lo), _ffi.integers(hi), _ffi.doubles(values),
                                     _ffi.ww_error()))

    def read(self) -> Tuple[Any, Any, Any]:
        """Columns (lo_ns, hi_ns, values) of shape (n,): all of one moment of a growing trace."""
        n = len(self)
        lo, hi, values = _arrays.integers(n), _arrays.integers(n), _arrays.doubles(n)
        return _arrays.shorten(self._fill(lo, hi, values, n), lo, hi, values)

    def values(self) -> Any:
        """Values in ``unit``, float64 of shape (n,), NaN where missing."""
        n = len(self)
        values = _arrays.doubles(n)
        return _arrays.shorten(self._fill(None, None, values, n), values)[0]

    def to_numpy(self) -> Any:
        """As values(), always a numpy array; ImportError without numpy."""
        if _arrays.numpy() is None:
            raise ImportError("to_numpy() needs numpy (apt install python3-numpy); "
                              "values() does without")
        return self.values()

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        if copy is False:
            raise ValueError(f"{self.name} is decoded: there is no array to share")
        a = self.to_numpy()
        return a if dtype is None else a.astype(dtype, copy=False)

    def tolist(self) -> List[float]:
        """Values in a plain list."""
        return list(self.values().tolist())

    def intervals(self) -> Tuple[Any, Any]:
        """(lo_ns, hi_ns), int64 of shape (n,): each sample surely arrived in between."""
        n = len(self)
        lo, hi = _arrays.integers(n), _arrays.integers(n)
        return _arrays.shorten(self._fill(lo, hi, None, n), lo, hi)

    def times(self) -> Any:
        """Middles of the arrivals, float64 seconds since the trace's first record, shape (n,)."""
        return _arrays.middles(*self.intervals(), self._core.origin())

    def samples(self) -> Iterator[Tuple[float, float]]:
        """As iterating: pairs of seconds since the trace's first record and value."""
        return iter(self)

    def to_pandas(self) -> Any:
        """A Series of float64 with a UTC DatetimeIndex: the wall clock in the middle of each
        sample's interval. Where the trace knows no wall clock the index is a TimedeltaIndex:
        time since the trace's first record.

        ``attrs``: unit, quantity, semantics, source, trace, "time" (what the index is and how far
        it may be off) and, where known, resolution, accuracy_abs, accuracy_rel, start.
        ImportError without pandas.
        """
        return _table.series(self)

    def to_xarray(self) -> Any:
        """A DataArray over "time" (UTC, or a timedelta: as to_pandas()), with lo_ns and hi_ns as
        further coordinates and attributes in CF's manner: units, long_name, cell_methods.
        ImportError without xarray.
        """
        return _table.data_array(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """For pyarrow.table(), polars.DataFrame(), DuckDB: as Table's, with this channel only."""
        return _arrow.capsule(self._core, [self.id], self._from, self._to)

    def plot(self, ax: Optional[Any] = None, *, unit: Optional[str] = None,
             marks: bool = True) -> Any:
        """Values over time, as Trace.plot() does. Returns the Axes."""
        return _draw.draw(self._view(), [self], ax, unit, marks)
