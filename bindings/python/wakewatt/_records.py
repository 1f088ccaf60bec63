# SPDX-License-Identifier: MIT
"""What a trace holds beside its samples: sources, marks, gaps, bytes."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _arrays
from ._types import Interval


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
