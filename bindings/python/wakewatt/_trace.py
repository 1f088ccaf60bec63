# SPDX-License-Identifier: MIT
"""A trace, and stretches of it."""
from __future__ import annotations

import ctypes
import datetime
import errno
import os
from array import array
from html import escape
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union, overload

from . import _arrays, _draw, _ffi, _show
from ._base import View
from ._channel import Channel
from ._core import Core
from ._ffi import lib
from ._live import LiveTrace
from ._moments import Moment
from ._power import PowerAnalyses
from ._records import Bytes
from ._result import document
from ._resume import ResumeAnalyses
from ._runs import RunAnalyses
from ._table import Table
from ._store import StoreMethods
from ._types import Number


class Base(View):
    """What a trace and a stretch of it share."""

    def _channel(self, info: Dict[str, Any]) -> Channel:
        return Channel(self._core, info, self._from, self._to)

    @property
    def channels(self) -> Dict[str, Channel]:
        """Channels by "SOURCE.CHANNEL"."""
        return {name: self._channel(info) for name, info in self._core.channels().items()}

    @overload
    def __getitem__(self, key: str) -> Channel: ...

    @overload
    def __getitem__(self, key: slice) -> "Stretch": ...

    def __getitem__(self, key: Union[str, slice]) -> Union[Channel, "Stretch"]:
        """A channel by its name, or a stretch: trace[10:20], trace["+lamp":"-lamp"].

        An end is seconds since the trace's first record, a datetime with a zone, or a mark: its
        text or else its kind, the first such one. A stretch begins after its first mark and ends
        before its second one, which is the first of that name after the beginning.
        KeyError: no such channel or mark. ValueError: no time. TypeError: another kind of key.
        Error (ENODATA): a datetime where the trace knows no wall clock.
        """
        if isinstance(key, str):
            return self._channel(self._core.channel(key))
        if not isinstance(key, slice) or key.step is not None:
            raise TypeError('a trace is indexed by a channel\'s name, trace["meter.power"], or '
                            'cut by seconds, datetimes or marks: trace[from:to]')
        return Stretch(self._core, *self._axis(key.start, key.stop))

    def __contains__(self, name: object) -> bool:
        return name in self._core.channels()

    def __iter__(self) -> Iterator[str]:
        return iter(self._core.channels())

    def __len__(self) -> int:
        return len(self._core.channels())

    def table(self, source: Optional[str] = None) -> Table:
        """All channels of a source, for pandas, xarray and Arrow; None: of the only one there is.

        KeyError: no such source. ValueError: it has no channels; several sources have some.
        """
        by_source: Dict[str, List[Channel]] = {}
        for channel in self.channels.values():
            by_source.setdefault(channel.source, []).append(channel)
        if source is None:
            if len(by_source) != 1:
                names = ", ".join(f'table("{name}")' for name in by_source)
                raise ValueError(f"{self.path}: " + (
                    f"several sources hold samples: take one of {names}" if names
                    else "no source holds samples"))
            source, = by_source
        if self._core.source(source).name not in by_source:
            raise ValueError(f"{self.path}: source {source!r} has no channels")
        return Table(self._core, source, by_source[source], self._from, self._to)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """As that of the table of its only source of samples. ValueError: there are several."""
        return self.table().__arrow_c_stream__(requested_schema)

    def plot(self, ax: Optional[Any] = None, *, unit: Optional[str] = None,
             marks: bool = True) -> Any:
        """Power of all meters over time (where there is none, the first channel's quantity): gaps
        are shaded, marks are thin lines with their texts. Returns the Axes.

        ``unit`` of the times: "s", "min" or "h"; None: by the length. ``marks``: whether to draw
        them. Of many samples the least and the greatest in each column of pixels are drawn.
        ImportError without matplotlib. ValueError: no channels.
        """
        return _draw.draw_power(self, list(self.channels.values()), ax, unit, marks)

    def bytes(self, source: str, from_: Optional[Moment] = None,
              to: Optional[Moment] = None, sure: bool = False) -> Bytes:
        """Bytes of a serial source, from and to as in a slice of the trace.

        ``sure``: the sure intervals only, without the model of the line's pace.
        KeyError: no such source. Error (EINVAL): the source holds samples.
        """
        found = self._core.source(source)
        if found.kind != "serial":
            raise _ffi.Error(errno.EINVAL, f"{self.path}: source '{source}' holds samples, not "
                             "bytes; read its channels")
        data, lo, hi = bytearray(), array("q"), array("q")
        cursor, batch = ctypes.c_void_p(), _ffi.ww_batch()
        lib.ww_cursor_open(self._h(), found.id, *self._axis(from_, to),
                           _ffi.ww_cursor_flags.SURE if sure else 0, ctypes.byref(cursor),
                           _ffi.ww_error())
        try:
            while lib.ww_cursor_next(cursor, ctypes.byref(batch), _ffi.ww_error()) == 1:
                data += ctypes.string_at(batch.data, batch.n)
                lo.frombytes(ctypes.string_at(batch.lo_ns, 8 * batch.n))
                hi.frombytes(ctypes.string_at(batch.hi_ns, 8 * batch.n))
        finally:
            lib.ww_cursor_close(cursor)
        np = _arrays.numpy()
        if np is not None:
            return Bytes(bytes(data), np.asarray(lo), np.asarray(hi), self._origin())
        return Bytes(bytes(data), lo, hi, self._origin())


class Trace(Base, PowerAnalyses, RunAnalyses, ResumeAnalyses, LiveTrace, StoreMethods):
    """A trace opened for reading: closed, or still being recorded.

    Use it with ``with``. A handle serves one thread at a time. Every method raises Error
    where the library fails, and ValueError once the trace is closed.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], *, format: Optional[str] = None,
                 rate_hz: Optional[float] = None, columns: Optional[str] = None,
                 resolution: Optional[float] = None, utc_offset_s: Optional[int] = None) -> None:
        name = os.fspath(path)
        how = _ffi.options(_ffi.ww_import_options, format=format, rate_hz=rate_hz,
                           columns=columns, resolution=resolution, offset_s=utc_offset_s,
                           has_offset=None if utc_offset_s is None else 1)
        handle = _ffi.Handle.new(lib.ww_import_open, lib.ww_trace_close, os.fsencode(name),
                                 ctypes.byref(how), what=name)
        super().__init__(Core(handle, name), _ffi.TIME_MIN, _ffi.TIME_MAX)

    def __repr__(self) -> str:
        if self._core.handle.closed:
            return f"<wakewatt.Trace {self.path} (closed handle)>"
        return f"<wakewatt.Trace {self.path}, {self.state}, {', '.join(self)}>"

    def _repr_html_(self) -> str:
        if self._core.handle.closed:
            return escape(repr(self))
        return _show.html(self, self.state, (*self.import_notes, *self.warnings))

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def close(self) -> None:
        """Close the handle; may be called again. Stretches and channels of it end, too."""
        self._core.handle.close()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._core.handle.closed

    # --- what it is

    @property
    def state(self) -> str:
        """"closed": complete. "live": being recorded. "unclosed": its recorder died."""
        return _ffi.word(_ffi.ww_trace_state, lib.ww_trace_state(self._h()))

    @property
    def format(self) -> Optional[str]:
        """Name of the format that it was imported from; None: it was recorded."""
        return _ffi.text(lib.ww_import_name(self._h())) or None

    @property
    def import_notes(self) -> Tuple[str, ...]:
        """What the import assumed, mended or left out. Reports repeat it among their notes."""
        return tuple(_ffi.listed(lib.ww_import_note, self._h()))

    @property
    def meta(self) -> Dict[str, str]:
        """The environment of bench and DUT, the program, its command line."""
        return dict(self._core.meta())

    @property
    def warnings(self) -> List[str]:
        """What cannot be read of it: damaged blocks (they are gaps too), a lost log."""
        return list(_ffi.listed(lib.ww_trace_warning, self._h()))

    def wall(self, t_s: Number) -> datetime.datetime:
        """Wall-clock time (UTC, for display only) of a moment in seconds after the first record."""
        boot = (ctypes.c_int64 * 1)(self._axis(t_s, None)[0])
        lib.ww_trace_walls(self._h(), 1, boot, boot, _ffi.ww_error())
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return epoch + datetime.timedelta(microseconds=boot[0] // 1000)

    def info(self) -> Dict[str, Any]:
        """What ``wwtrace info --json`` prints."""
        return document(lib.ww_info_report, self._h())

    # --- a trace that still grows

    def refresh(self) -> bool:
        """Look for what was added; never blocks. True if there is something new."""
        return self._core.refresh()

    def fileno(self) -> int:
        """A descriptor that becomes readable when a refresh is worth while."""
        return int(lib.ww_trace_fd(self._h()))


class Stretch(Base, PowerAnalyses):
    """A trace between two moments: trace[10:20], trace["+lamp":"-lamp"].

    It reads and is analysed as the trace is, and needs it open. Seconds still count from the
    trace's first record. Marks and gaps are those that touch it.
    """

    def __repr__(self) -> str:
        if self._core.handle.closed:
            return f"<wakewatt.Stretch of {self.path} (closed handle)>"
        span = self.span
        if span is None:
            return f"<wakewatt.Stretch of {self.path}, empty>"
        lo, hi = ((t - self._origin()) / 1e9 for t in span)
        return f"<wakewatt.Stretch of {self.path}, {lo:.6g} s to {hi:.6g} s, {', '.join(self)}>"

    def _repr_html_(self) -> str:
        span = self.span
        if self._core.handle.closed or span is None:
            return escape(repr(self))
        lo, hi = ((t - self._origin()) / 1e9 for t in span)
        return _show.html(self, f"{lo:.6g} s to {hi:.6g} s")
