# SPDX-License-Identifier: MIT
"""Power in a standby mode by the procedures of IEC 62301."""
from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

from . import _ffi
from ._ffi import lib
from ._result import Report, both, html_table, interval, number, quantity
from ._types import Interval, Quantity


@dataclass(frozen=True)
class Clause:
    """A requirement, what was measured of it, and whether it was met."""

    name: str  #: "stability"
    required: str  #: "slope below 10 mW/h"
    measured: str  #: "" not observed
    state: str  #: "met", "not met", "not resolved" or "not observed"
    given: bool  #: by the caller, not by the trace


@dataclass(frozen=True, repr=False)
class Standby(Report):
    """What ``pwrlog standby`` prints. Check the clauses against the standard's own text."""

    channel: str
    procedure: str  #: "sampling", "average", "direct", "edition 1" or "energystar"
    watts: Quantity
    expanded_W: float  #: 2 u; NaN without an accuracy
    expanded_limit_W: float  #: that the procedure allows
    window_s: Optional[Interval]  #: stretch of the result, seconds since the first record
    verdict: str  #: "stable", "not stable", "not resolved", "too short" or "no test"
    slope: Optional[Quantity]  #: W/h
    standing: str  #: "informative, not compliant", ...
    clauses: Tuple[Clause, ...]

    def _summary(self) -> str:
        return f"{self.watts}, {self.verdict}, {self.standing}"

    def _html(self) -> str:
        head = f"<p>{self.channel}: {self.watts} ({self.verdict}; {self.standing})</p>"
        rows = [(c.name, c.required, c.measured + (" (given)" if c.given else ""), c.state)
                for c in self.clauses]
        return head + html_table(("clause", "required", "measured", "state"), rows)


def standby(trace: int, bounds: Tuple[int, int], procedure: str, cyclic: bool,
            **given: Any) -> Standby:
    """Judge the mode. ``given``: members of struct ww_standby_options; None is not given."""
    lo, hi = bounds
    number_of = _ffi.number(_ffi.ww_standby_procedure, procedure, "procedure")
    options = _ffi.options(_ffi.ww_standby_options, procedure=number_of, cyclic=int(cyclic),
                           from_ns=0 if lo == _ffi.TIME_MIN else lo or -1, to_ns=hi or 1, **given)
    handle = _ffi.Handle.new(lib.ww_standby_new, lib.ww_standby_free, trace,
                             ctypes.byref(options), what="the standby figures")
    try:
        d, text = both(lib.ww_standby_report, handle())
    finally:
        handle.close()
    budget: Dict[str, Any] = d.get("budget") or {}
    stability: Dict[str, Any] = d.get("stability") or {}
    clauses = tuple(Clause(c["name"], c["required"], c["measured"] or "", c["state"],
                           bool(c["given"])) for c in d["clauses"])
    return Standby(tuple(d["notes"]), d, text, d["channel"], d["procedure"],
                   quantity(d["watts"], "W") or Quantity(math.nan, None, "W"),
                   number(budget.get("U_W")), number(budget.get("U_limit_W")),
                   interval(d.get("window_s")), stability.get("verdict", ""),
                   quantity(stability.get("slope_W_per_h"), "W/h"), d["standing"], clauses)
