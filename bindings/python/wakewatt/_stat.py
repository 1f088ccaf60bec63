# SPDX-License-Identifier: MIT
"""Energy and mean of every channel."""
from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

from . import _ffi
from ._ffi import lib
from ._result import Report, both, html_table, number, plain, quantity
from ._types import Quantity


@dataclass(frozen=True)
class ChannelStat:
    """One channel's figures; ``mean``, ``min``, ``max`` and ``resolution`` in ``unit``."""

    name: str  #: "SOURCE.CHANNEL"
    quantity: str
    unit: str
    semantics: str
    n: int  #: values that were given
    missing: int  #: rows without one
    duration_s: float  #: covered by the integral, gaps included
    mean: Quantity  #: time-weighted
    min: float
    max: float
    resolution: Optional[float]
    coverage: float  #: part of duration_s that is not gap
    gaps: int
    gap_s: float
    energy_J: Optional[Quantity]  #: power channels only
    register_J: Optional[Quantity]  #: the meter's own register over the same time
    register_z: Optional[float]  #: beyond +-2 the two disagree
    register_resets: int

    @staticmethod
    def _of(d: Dict[str, Any]) -> "ChannelStat":
        unit = d.get("unit", "")
        mean = quantity(d.get("mean"), unit) or Quantity(math.nan, None, unit)
        return ChannelStat(
            d["name"], d.get("quantity", ""), unit, d.get("semantics", ""), d["n"],
            d.get("missing", 0), number(d.get("duration_s")), mean, number(d.get("min")),
            number(d.get("max")), d.get("resolution"), number(d.get("coverage")),
            d.get("gaps", 0), number(d.get("gap_s")), quantity(d.get("energy_J"), "J"),
            quantity(d.get("register_J"), "J"), d.get("register_z"),
            d.get("register_resets", 0))


@dataclass(frozen=True, repr=False)
class StatReport(Report):
    """Mean and energy of every channel: what ``pwrlog stat`` prints. ``str()`` is its text."""

    start: Optional[str]  #: wall time of the first record, ISO 8601
    from_s: float  #: seconds since the first record
    to_s: float
    channels: Tuple[ChannelStat, ...]

    def _summary(self) -> str:
        return ", ".join(f"{c.name} {c.mean}" for c in self.channels if c.mean) or "no readings"

    def __getitem__(self, name: str) -> ChannelStat:
        for c in self.channels:
            if c.name == name:
                return c
        raise KeyError(f"no channel {name!r}; there are "
                       f"{', '.join(c.name for c in self.channels) or 'none'}")

    def _html(self) -> str:
        rows = [(c.name, str(c.n), str(c.mean) if c.mean else "",
                 f"{plain(c.min)} – {plain(c.max)}",
                 str(c.energy_J) if c.energy_J else "", f"{plain(c.duration_s)} s",
                 f"{100 * c.coverage:.4g} %", str(c.gaps)) for c in self.channels]
        head = ("channel", "values", "mean", "range", "energy", "time", "coverage", "gaps")
        return html_table(head, rows)


def stat(trace: int, options: _ffi.ww_stat_options) -> StatReport:
    """Integrate, and take both forms of the report."""
    handle = ctypes.c_void_p()
    lib.ww_stat_new(trace, ctypes.byref(options), ctypes.byref(handle), _ffi.ww_error())
    try:
        d, text = both(lib.ww_stat_report, handle)
    finally:
        lib.ww_stat_free(handle)
    return StatReport(tuple(d["notes"]), d, text, d.get("start"), number(d.get("from_s")),
                      number(d.get("to_s")), tuple(ChannelStat._of(c) for c in d["channels"]))


