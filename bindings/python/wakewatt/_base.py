# SPDX-License-Identifier: MIT
"""What analyses need of a trace, or of a stretch of one."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from ._core import Core
from ._moments import bounds
from ._records import Gap, Mark, Source
from ._types import Interval


class View:
    """A trace from one moment to another. The analyses are mixed in on top of it."""

    def __init__(self, core: Core, from_ns: int, to_ns: int) -> None:
        self._core = core
        self._from, self._to = from_ns, to_ns

    @property
    def path(self) -> str:
        """As given to open()."""
        return self._core.path

    def _h(self) -> int:
        """The library's handle. ValueError: the trace has been closed."""
        return self._core.h()

    def _bounds(self) -> Tuple[int, int]:
        """From and to in ns of the axis, as analyses take them: TIME_MIN and TIME_MAX for a
        whole trace, and never 0, which is open, too."""
        return self._from or -1, self._to or 1

    def _origin(self) -> int:
        """The trace's first record on the axis: 0 s."""
        return self._core.origin()

    def _axis(self, start: Any, stop: Any) -> Tuple[int, int]:
        """Bounds of [start:stop] within the own ones: seconds since the first record, datetimes,
        marks, None. ValueError, TypeError, KeyError: see bounds()."""
        lo, hi = bounds(self._core, self.marks, start, stop)
        return max(lo, self._from), min(hi, self._to)

    def _inside(self, t: Interval) -> bool:
        return t.hi >= self._from and t.lo <= self._to

    @property
    def span(self) -> Optional[Interval]:
        """First and last moment in ns of the axis; None where there are no records."""
        span = self._core.span()
        if span is None or not self._inside(span):
            return None
        return Interval(max(span.lo, self._from), min(span.hi, self._to))

    @property
    def duration_s(self) -> float:
        """Length of the span in seconds."""
        span = self.span
        return span.width / 1e9 if span else 0.0

    @property
    def sources(self) -> Dict[str, Source]:
        """Sources by name."""
        return dict(self._core.sources())

    @property
    def marks(self) -> List[Mark]:
        """Marks in the order in which they were stored."""
        return [m for m in self._core.marks() if self._inside(m.t_ns)]

    @property
    def gaps(self) -> List[Gap]:
        """Gaps in the order in which they were stored."""
        return [g for g in self._core.gaps() if self._inside(g.t_ns)]
