# SPDX-License-Identifier: MIT
"""A trace's handle and what is read of it once: shared by the trace, its stretches and channels.

It knows none of them, so that a trace that nobody holds any more is closed at once.
"""
from __future__ import annotations

import ctypes
import math
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _ffi
from ._ffi import lib, text
from ._records import Gap, Mark, Source, Transport
from ._types import Interval


class Core:
    """The handle. Lists are remembered until the next refresh: a loop does not copy again."""

    def __init__(self, handle: _ffi.Handle, path: str) -> None:
        self.handle, self.path = handle, path
        self._known: Dict[str, Any] = {}
        self.keep: Any = None  #: what has to live as long as this does

    def h(self) -> int:
        """For the library. ValueError: the trace has been closed."""
        if self.handle.closed:
            raise ValueError(f"{self.path}: the trace has been closed")
        return self.handle()

    def refresh(self) -> bool:
        """Look for what was added; True if there is something new."""
        new: bool = lib.ww_trace_refresh(self.h(), _ffi.ww_error()) == 1
        if new:
            self._known.clear()
        return new

    def _once(self, what: str, make: Callable[[], Any]) -> Any:
        self.h()
        if what not in self._known:
            self._known[what] = make()
        return self._known[what]

    def span(self) -> Optional[Interval]:
        """First and last moment of the records; None where there are none."""
        t = lib.ww_trace_span(self.h())
        return Interval(t.lo_ns, t.hi_ns) if t.lo_ns <= t.hi_ns else None

    def origin(self) -> int:
        """The first record on the axis: 0 s."""
        span = self.span()
        return int(span.lo) if span else 0

    def meta(self) -> Dict[str, str]:
        """Keys and values."""
        found: Dict[str, str] = self._once("meta", self._read_meta)
        return found

    def sources(self) -> Dict[str, Source]:
        """Sources by name."""
        found: Dict[str, Source] = self._once("sources", self._read_sources)
        return found

    def source(self, name: str) -> Source:
        """KeyError with the names that there are."""
        found = self.sources()
        if name not in found:
            raise KeyError(f"{self.path} has no source {name!r}; it has "
                           f"{', '.join(found) or 'none'}")
        return found[name]

    def channels(self) -> Dict[str, Dict[str, Any]]:
        """Descriptions of channels by "SOURCE.CHANNEL"."""
        found: Dict[str, Dict[str, Any]] = self._once("channels", self._read_channels)
        return found

    def channel(self, name: str) -> Dict[str, Any]:
        """KeyError with the names that there are."""
        found = self.channels()
        if name not in found:
            raise KeyError(f"{self.path} has no channel {name!r}; it has "
                           f"{', '.join(found) or 'none'}")
        return found[name]

    def marks(self) -> List[Mark]:
        """In the order in which they were stored."""
        found: List[Mark] = self._once("marks", self._read_marks)
        return found

    def gaps(self) -> List[Gap]:
        """In the order in which they were stored."""
        found: List[Gap] = self._once("gaps", self._read_gaps)
        return found

    def when(self, t: _ffi.ww_interval) -> Tuple[Interval, Interval]:
        """In ns of the axis, and in seconds since the first record."""
        origin = self.origin()
        lo = -math.inf if t.lo_ns == _ffi.TIME_MIN else (t.lo_ns - origin) / 1e9
        hi = math.inf if t.hi_ns == _ffi.TIME_MAX else (t.hi_ns - origin) / 1e9
        return Interval(t.lo_ns, t.hi_ns), Interval(lo, hi)

    def _read_meta(self) -> Dict[str, str]:
        key, value, out, i = ctypes.c_char_p(), ctypes.c_char_p(), {}, 0
        while lib.ww_trace_meta_at(self.h(), i, ctypes.byref(key), ctypes.byref(value)) == 1:
            out[text(key.value)] = text(value.value)
            i += 1
        return out

    def _read_sources(self) -> Dict[str, Source]:
        out = {}
        for i in range(lib.ww_trace_source_count(self.h())):
            s = lib.ww_trace_source(self.h(), i).contents
            p = s.transport
            way = Transport(text(p.name), p.delay_min_ns, p.delay_max_ns, p.char_ns,
                            text(p.settings))
            source = Source(s.id, _ffi.word(_ffi.ww_source_kind, s.kind), text(s.name), text(s.uri),
                            text(s.driver), text(s.model), text(s.serial), text(s.firmware),
                            text(s.role), text(s.notes), s.period_ns, s.window_ns, s.delay_min_ns,
                            s.delay_max_ns, way)
            out[source.name] = source
        return out

    def _names(self) -> Dict[int, str]:
        return {s.id: s.name for s in self.sources().values()}

    def _read_channels(self) -> Dict[str, Dict[str, Any]]:
        names, out = self._names(), {}
        for i in range(lib.ww_trace_channel_count(self.h())):
            c = lib.ww_trace_channel(self.h(), i).contents
            source = names.get(c.source, "")
            info = {"id": c.id, "source_id": c.source, "source": source, "name": text(c.name),
                    "full": f"{source}.{text(c.name)}", "quantity": text(c.quantity),
                    "unit": text(c.unit), "semantics": _ffi.word(_ffi.ww_semantics, c.semantics),
                    "resolution": c.resolution, "acc_abs": c.acc_abs, "acc_rel": c.acc_rel,
                    "wrap": c.wrap, "scale": c.scale, "offset": c.offset}
            out[info["full"]] = info
        return out

    def _read_marks(self) -> List[Mark]:
        names, out = self._names(), []
        for i in range(lib.ww_trace_mark_count(self.h())):
            m = lib.ww_trace_mark(self.h(), i).contents
            out.append(Mark(*self.when(m.t), text(m.kind), text(m.text),
                            names.get(m.source, ""), m.cycle))
        return out

    def _read_gaps(self) -> List[Gap]:
        names, out = self._names(), []
        for i in range(lib.ww_trace_gap_count(self.h())):
            g = lib.ww_trace_gap(self.h(), i).contents
            out.append(Gap(*self.when(g.t), names.get(g.source, ""), g.lost, text(g.reason)))
        return out
