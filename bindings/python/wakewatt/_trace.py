# SPDX-License-Identifier: MIT
"""A trace, its channels and its bytes."""
from __future__ import annotations

import ctypes
import datetime
import math
import os
import select
import weakref
from array import array
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

from . import _arrays, _ffi, _resume, _stat
from ._result import document
from ._ffi import lib, text
from ._types import Interval, Number


@dataclass(frozen=True)
class Transport:
    """How the bytes of a source came; times in ns."""

    name: str
    delay_min_ns: int
    delay_max_ns: int
    char_ns: int
    settings: str


@dataclass(frozen=True)
class Source:
    """A meter, a serial line, a GPIO line or a person. Unknown texts are ""."""

    id: int
    kind: str  #: "meter", "serial", "line" or "manual"
    name: str
    uri: str
    driver: str
    model: str
    serial: str
    firmware: str
    role: str
    notes: str
    period_ns: int
    window_ns: int
    delay_min_ns: int
    delay_max_ns: int
    transport: Transport


@dataclass(frozen=True)
class Mark:
    """Something said or done at a time."""

    t_ns: Interval  #: on the trace's axis
    t_s: Interval  #: seconds since the trace's first record
    kind: str  #: "label", "request", "wake", ...
    text: str
    source: str  #: name of the source that it concerns, "" none
    cycle: int  #: cycle of a campaign, 0 none


@dataclass(frozen=True)
class Gap:
    """Loss: from ... to, ``lost`` items of a source are missing (-1: unknown how many)."""

    t_ns: Interval
    t_s: Interval
    source: str
    lost: int
    reason: str


@dataclass(frozen=True)
class Bytes:
    """Bytes of a serial line with the interval in which each surely arrived.

    ``lo_ns`` and ``hi_ns`` are columns of int64, one entry a byte, on the trace's axis.
    """

    data: bytes
    lo_ns: Any
    hi_ns: Any
    origin_ns: int  #: the trace's first record

    def __len__(self) -> int:
        return len(self.data)

    def times(self) -> Any:
        """Middles of the intervals, seconds since the trace's first record."""
        return _arrays.middles(self.lo_ns, self.hi_ns, self.origin_ns)


class Channel:
    """One quantity of a meter, in a trace or a stretch of it.

    ``channel[10:20]`` is the stretch from 10 s to 20 s after the trace's first record:
    every sample whose interval touches it, both ends included. Columns are numpy arrays
    where numpy is there and array.array otherwise. A value that the meter did not give is
    NaN. On a trace that still grows, a channel grows with every Trace.refresh().
    """

    def __init__(self, trace: "Trace", info: Dict[str, Any], from_ns: int, to_ns: int) -> None:
        self._trace = trace
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

    def __len__(self) -> int:
        """Number of samples, those without a value included."""
        return int(lib.ww_trace_rows(self._trace._h(), self._info["source_id"], self._from,
                                     self._to, _ffi.ww_error()))

    def __getitem__(self, key: slice) -> "Channel":
        if not isinstance(key, slice) or key.step is not None:
            raise TypeError("a channel is cut by seconds: channel[from:to]; "
                            "its values are channel.values()")
        lo, hi = self._trace._axis(key.start, key.stop)
        return Channel(self._trace, self._info, max(lo, self._from), min(hi, self._to))

    def __iter__(self) -> Iterator[Tuple[float, float]]:
        """Pairs of seconds since the trace's first record and value."""
        lo, hi, values = self.read()
        times = _arrays.middles(lo, hi, self._trace._origin())
        return iter(list(zip(times.tolist(), values.tolist())))

    def _fill(self, lo: Any, hi: Any, values: Any, n: int) -> int:
        return int(lib.ww_trace_read(self._trace._h(), self.id, self._from, self._to, n,
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
        return _arrays.middles(*self.intervals(), self._trace._origin())


class Trace:
    """A trace opened for reading: closed, or still being recorded.

    Use it with ``with``. A handle serves one thread at a time. Every method raises Error
    where the library fails, and ValueError once the trace is closed.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        handle = ctypes.c_void_p()
        self._close: Optional[Callable[[], Any]] = None
        self.path = os.fspath(path)
        lib.ww_trace_open(os.fsencode(self.path), ctypes.byref(handle), _ffi.ww_error())
        self._handle: Optional[int] = handle.value
        self._close = weakref.finalize(self, lib.ww_trace_close, handle.value)
        self._known: Dict[str, Any] = {}

    def __repr__(self) -> str:
        if self._handle is None:
            return f"<wakewatt.Trace {self.path} (closed handle)>"
        return f"<wakewatt.Trace {self.path}, {self.state}, {', '.join(self.channels)}>"

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def close(self) -> None:
        """Close the handle; may be called again."""
        self._handle = None
        if self._close:
            self._close()

    def _h(self) -> int:
        if self._handle is None:
            raise ValueError(f"{self.path}: the trace has been closed")
        return self._handle

    def _once(self, what: str, make: Callable[[], Any]) -> Any:
        """Remember until the next refresh, so that a loop does not copy again and again."""
        self._h()
        if what not in self._known:
            self._known[what] = make()
        return self._known[what]

    # --- what it is

    @property
    def state(self) -> str:
        """"closed": complete. "live": being recorded. "unclosed": its recorder died."""
        return _ffi.word(_ffi.ww_trace_state, lib.ww_trace_state(self._h()))

    @property
    def span(self) -> Optional[Interval]:
        """First and last moment of the records in ns of the axis; None where there are none."""
        t = lib.ww_trace_span(self._h())
        return Interval(t.lo_ns, t.hi_ns) if t.lo_ns <= t.hi_ns else None

    @property
    def duration_s(self) -> float:
        """Length of the span in seconds."""
        span = self.span
        return span.width / 1e9 if span else 0.0

    @property
    def meta(self) -> Dict[str, str]:
        """The environment of bench and DUT, the program, its command line."""
        return dict(self._once("meta", self._read_meta))

    @property
    def sources(self) -> Dict[str, Source]:
        """Sources by name."""
        return dict(self._once("sources", self._read_sources))

    @property
    def channels(self) -> Dict[str, Channel]:
        """Channels by "SOURCE.CHANNEL"."""
        return dict(self._once("channels", self._read_channels))

    @property
    def marks(self) -> List[Mark]:
        """Marks in the order in which they were stored."""
        return list(self._once("marks", self._read_marks))

    @property
    def gaps(self) -> List[Gap]:
        """Gaps in the order in which they were stored."""
        return list(self._once("gaps", self._read_gaps))

    @property
    def warnings(self) -> List[str]:
        """What cannot be read of it: damaged blocks (they are gaps too), a lost log."""
        out: List[str] = []
        while True:
            found = lib.ww_trace_warning(self._h(), len(out))
            if found is None:
                return out
            out.append(text(found))

    def __getitem__(self, name: str) -> Channel:
        found: Dict[str, Channel] = self._once("channels", self._read_channels)
        if name not in found:
            raise KeyError(f"{self.path} has no channel {name!r}; it has "
                           f"{', '.join(found) or 'none'}")
        return found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._once("channels", self._read_channels)

    def __iter__(self) -> Iterator[str]:
        return iter(self.channels)

    def __len__(self) -> int:
        return len(self._once("channels", self._read_channels))

    def wall(self, t_s: Number) -> datetime.datetime:
        """Wall-clock time (UTC, for display only) of a moment in seconds after the first record."""
        boot = (ctypes.c_int64 * 1)(self._axis(t_s, None)[0])
        lib.ww_trace_walls(self._h(), 1, boot, boot, _ffi.ww_error())
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return epoch + datetime.timedelta(microseconds=boot[0] // 1000)

    def _read_meta(self) -> Dict[str, str]:
        key, value, out, i = ctypes.c_char_p(), ctypes.c_char_p(), {}, 0
        while lib.ww_trace_meta_at(self._h(), i, ctypes.byref(key), ctypes.byref(value)) == 1:
            out[text(key.value)] = text(value.value)
            i += 1
        return out

    def _read_sources(self) -> Dict[str, Source]:
        out = {}
        for i in range(lib.ww_trace_source_count(self._h())):
            s = lib.ww_trace_source(self._h(), i).contents
            p = s.transport
            way = Transport(text(p.name), p.delay_min_ns, p.delay_max_ns, p.char_ns,
                            text(p.settings))
            source = Source(s.id, _ffi.word(_ffi.ww_source_kind, s.kind), text(s.name), text(s.uri),
                            text(s.driver), text(s.model), text(s.serial), text(s.firmware),
                            text(s.role), text(s.notes), s.period_ns, s.window_ns, s.delay_min_ns,
                            s.delay_max_ns, way)
            out[source.name] = source
        return out

    def _source_names(self) -> Dict[int, str]:
        return {s.id: s.name for s in self.sources.values()}

    def _read_channels(self) -> Dict[str, Channel]:
        names, out = self._source_names(), {}
        for i in range(lib.ww_trace_channel_count(self._h())):
            c = lib.ww_trace_channel(self._h(), i).contents
            source = names.get(c.source, "")
            info = {"id": c.id, "source_id": c.source, "source": source,
                    "full": f"{source}.{text(c.name)}", "quantity": text(c.quantity),
                    "unit": text(c.unit), "semantics": _ffi.word(_ffi.ww_semantics, c.semantics),
                    "resolution": c.resolution, "acc_abs": c.acc_abs, "acc_rel": c.acc_rel,
                    "wrap": c.wrap}
            out[info["full"]] = Channel(self, info, _ffi.TIME_MIN, _ffi.TIME_MAX)
        return out

    def _when(self, t: _ffi.ww_interval) -> Tuple[Interval, Interval]:
        origin = self._origin()
        lo = -math.inf if t.lo_ns == _ffi.TIME_MIN else (t.lo_ns - origin) / 1e9
        hi = math.inf if t.hi_ns == _ffi.TIME_MAX else (t.hi_ns - origin) / 1e9
        return Interval(t.lo_ns, t.hi_ns), Interval(lo, hi)

    def _read_marks(self) -> List[Mark]:
        names, out = self._source_names(), []
        for i in range(lib.ww_trace_mark_count(self._h())):
            m = lib.ww_trace_mark(self._h(), i).contents
            out.append(Mark(*self._when(m.t), text(m.kind), text(m.text),
                            names.get(m.source, ""), m.cycle))
        return out

    def _read_gaps(self) -> List[Gap]:
        names, out = self._source_names(), []
        for i in range(lib.ww_trace_gap_count(self._h())):
            g = lib.ww_trace_gap(self._h(), i).contents
            out.append(Gap(*self._when(g.t), names.get(g.source, ""), g.lost, text(g.reason)))
        return out

    # --- times

    def _origin(self) -> int:
        """The first record on the axis: 0 s."""
        span = self.span
        return int(span.lo) if span else 0

    def _axis(self, start: Optional[Number], stop: Optional[Number]) -> Tuple[int, int]:
        """Seconds since the first record -> ns of the axis; None and the infinity of that side
        stay open. ValueError: not a number, or the other side's infinity."""
        def ns(t: Optional[Number], open_end: int) -> int:
            if t is None:
                return open_end
            if math.isnan(t) or (math.isinf(t) and (t > 0) != (open_end > 0)):
                raise ValueError(f"{t} s since the trace's first record is no time")
            if math.isinf(t):
                return open_end
            return min(max(self._origin() + round(t * 1e9), _ffi.TIME_MIN), _ffi.TIME_MAX)

        return ns(start, _ffi.TIME_MIN), ns(stop, _ffi.TIME_MAX)

    # --- bytes

    def bytes(self, source: str, from_: Optional[Number] = None, to: Optional[Number] = None,
              sure: bool = False) -> Bytes:
        """Bytes of a serial source, from and to in seconds since the trace's first record.

        ``sure``: the sure intervals only, without the model of the line's pace.
        KeyError: no such source. Error (EINVAL): the source holds samples.
        """
        found: Dict[str, Source] = self._once("sources", self._read_sources)
        if source not in found:
            raise KeyError(f"{self.path} has no source {source!r}; it has "
                           f"{', '.join(found) or 'none'}")
        if found[source].kind != "serial":
            raise _ffi.Error(22, f"{self.path}: source '{source}' holds samples, not bytes; "
                                 "read its channels")
        data, lo, hi = bytearray(), array("q"), array("q")
        cursor, batch = ctypes.c_void_p(), _ffi.ww_batch()
        lib.ww_cursor_open(self._h(), found[source].id, *self._axis(from_, to),
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

    # --- a trace that still grows

    def refresh(self) -> bool:
        """Look for what was added; never blocks. True if there is something new."""
        new: bool = lib.ww_trace_refresh(self._h(), _ffi.ww_error()) == 1
        if new:
            self._known.clear()
        return new

    def fileno(self) -> int:
        """A descriptor that becomes readable when a refresh is worth while."""
        return int(lib.ww_trace_fd(self._h()))

    def follow(self, timeout: Optional[float] = None) -> Iterator["Trace"]:
        """Yield the trace each time it has grown, until its recorder has ended.

        ``timeout``: also end after so many seconds without anything new.
        """
        while True:
            state = self.state
            if self.refresh():
                yield self
            elif state != "live":
                return
            elif not select.select([self.fileno()], [], [], timeout)[0]:
                return

    # --- the reports

    def _find_mark(self, name: str, start: int) -> int:
        """The first mark from start on whose text, or failing that whose kind, is the name."""
        marks = self.marks
        for key in ("text", "kind"):
            for i in range(start, len(marks)):
                if getattr(marks[i], key) == name:
                    return i
        labels = [m.text for m in marks[start:] if m.kind == "label"]
        raise KeyError(f"{self.path} has no mark {name!r}{' after the first one' if start else ''}; "
                       f"its labels are {', '.join(map(repr, labels)) or 'none'}")

    def stat(self, from_: Optional[Number] = None, to: Optional[Number] = None,
             between: Optional[Tuple[str, str]] = None) -> "_stat.StatReport":
        """Mean, energy and coverage of every channel: what ``pwrlog stat`` prints.

        From and to in seconds since the trace's first record; None: all. ``between``: from the
        end of one mark to the beginning of another after it, by their texts or kinds instead.
        ValueError: a time that is not finite, or both ways at once. KeyError: no such mark.
        """
        for word, t in (("from_", from_), ("to", to)):
            if t is not None and not math.isfinite(t):
                raise ValueError(f"{word} is {t}; it counts seconds since the trace's first record")
        lo, hi = self._axis(from_, to)
        if between is not None:
            if from_ is not None or to is not None or isinstance(between, str):
                raise ValueError("between takes two marks, and neither from_ nor to beside it")
            first, second = between
            at = self._find_mark(first, 0)
            lo = int(self.marks[at].t_ns.hi)
            hi = int(self.marks[self._find_mark(second, at + 1)].t_ns.lo)
        options = _ffi.ww_stat_options(ctypes.sizeof(_ffi.ww_stat_options), lo, hi)
        return _stat.stat(self._h(), options)

    def resume(self, mode: str = "unknown", port: Optional[str] = None,
               console: Optional[str] = None, handoff: Optional[str] = None,
               period_s: Number = 0) -> "_resume.ResumeReport":
        """Cycles of suspend and resume: what ``resumetime report`` prints.

        ``mode``: how plain beats were written: "stream", "reopen", "drain" (stamped ones tell
        theirs). ``port``, ``console``: names of serial sources. ``handoff``: regular expression
        of the boot loader's last message. ``period_s``: period of plain beats; 0: found.
        """
        options = _ffi.ww_resume_options(ctypes.sizeof(_ffi.ww_resume_options),
                                         _ffi.number(_ffi.ww_beat_mode, mode, "mode"), 0, _ffi.raw(port),
                                         _ffi.raw(console), _ffi.raw(handoff),
                                         round(period_s * 1e9))
        return _resume.resume(self._h(), options)

    def info(self) -> Dict[str, Any]:
        """What ``wwtrace info --json`` prints."""
        return document(lib.ww_info_report, self._h())
