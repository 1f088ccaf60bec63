# SPDX-License-Identifier: MIT
"""Cycles of suspend and resume."""
from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass, field
from typing import Any, Dict, Optional, Tuple

from . import _ffi
from ._base import View
from ._ffi import lib
from ._result import (both, html_notes, html_table, interval, intervals, plain,
                      quantity)
from ._types import Interval, Number, Quantity


@dataclass(frozen=True)
class Stall:
    """The DUT's tasks did not run."""

    t_s: Optional[Interval]  #: when it began, seconds since the trace's first record
    ms: Optional[Interval]  #: how long


@dataclass(frozen=True)
class Cycle:
    """One suspend and resume. What was not observed is absent from the dictionaries."""

    n: int  #: from 1
    result: str  #: "ok", "refused", "aborted", "early", "pm_test", "reset", "hung", "unknown"
    reason: str
    events_s: Dict[str, Interval]  #: "request", "last_beat", "wake", "first_beat", ...
    latency_ms: Dict[str, Interval]  #: "resume_to_user", "asleep_firmware", ...
    starvation: Tuple[Stall, ...]
    energy_J: Optional[Quantity]  #: request (or last beat) to steady
    energy_why: str  #: why there is no energy, "" otherwise
    asleep_W: Optional[Quantity]  #: mean while asleep

    @staticmethod
    def _of(d: Dict[str, Any]) -> "Cycle":
        stalls = tuple(Stall(interval(s.get("t_s")), interval(s.get("ms")))
                       for s in d.get("starvation") or ())
        return Cycle(d["n"], d["result"], d.get("reason") or "", intervals(d.get("events_s")),
                     intervals(d.get("latency_ms")), stalls,
                     quantity(d.get("energy_J"), "J"), d.get("energy_why") or "",
                     quantity(d.get("asleep_W"), "W"))


@dataclass(frozen=True)
class LatencySummary:
    """A latency over all cycles, in ms. None: unbounded (failures reach so far) or unknown."""

    n: int  #: cycles in which it was observed
    failures: int  #: cycles that count as infinite
    median: Optional[float]
    ci95: Optional[Interval]  #: of the median, distribution-free
    ci_actual: Optional[Interval]  #: the widest that so few cycles can give
    ci_actual_coverage: Optional[float]  #: what it truly covers, 0..1; None without cycles
    envelope: Optional[Interval]  #: the guaranteed bound: the same ranks of lows and highs
    resolution: Optional[float]  #: half-width of the typical interval
    p90: Optional[float]
    p90_ci95: Optional[Interval]
    p95: Optional[float]
    p95_ci95: Optional[Interval]
    min: Optional[float]
    max: Optional[float]
    bounds: int  #: of n, those of which only the greatest value is known
    median_hi: Optional[float]  #: of the greatest values: what to say where most are bounds
    bound_only: int  #: further cycles whose start was not observed: in no median
    bound: Optional[Interval]  #: all of those lie between
    why: Optional[str]  #: why there is no median

    @staticmethod
    def _of(d: Dict[str, Any]) -> "LatencySummary":
        actual = d.get("ci_actual") or {}
        known = (actual.get("lo"), actual.get("hi")) if actual.get("coverage") else None
        return LatencySummary(d.get("n", 0), d.get("failures", 0), d.get("median"),
                              interval(d.get("ci95")), interval(known),
                              actual.get("coverage"), interval(d.get("envelope")),
                              d.get("resolution"), d.get("p90"), interval(d.get("p90_ci95")),
                              d.get("p95"), interval(d.get("p95_ci95")), d.get("min"),
                              d.get("max"), d.get("bounds", 0), d.get("median_hi"),
                              d.get("bound_only", 0), interval(d.get("bound")), d.get("why"))


def _confidence(s: LatencySummary) -> str:
    """The 95 % interval of the median, or the one that there is with what it covers."""
    if s.ci95 and all(map(math.isfinite, s.ci95)):
        return f"95 %: {s.ci95}"
    if s.ci_actual and s.ci_actual_coverage:
        return f"{100 * s.ci_actual_coverage:.0f} %: {s.ci_actual}"
    return ""


@dataclass(frozen=True)
class ResumeReport:
    """Cycles and latencies: what ``resumetime report`` prints. ``str()`` is its text."""

    start: Optional[str]
    cycles: Tuple[Cycle, ...]
    summary: Dict[str, LatencySummary]  #: by latency: "resume_to_user", ...
    results: Dict[str, int]  #: how many cycles ended so: {"ok": 9, "hung": 1}
    failure_rate: Optional[Interval]  #: 95 % bounds of the part that failed, 0..1
    dut: Dict[str, str]  #: what the machine under test said of itself
    beat: Dict[str, Any]  #: how its heartbeat was written
    notes: Tuple[str, ...]
    document: Dict[str, Any] = field(repr=False)
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        names = [k for k, s in self.summary.items() if s.n or s.failures]
        cycles = [[str(c.n), c.result + (f": {c.reason}" if c.reason else "")]
                  + [plain(c.latency_ms[k].mid) if k in c.latency_ms else "" for k in names]
                  for c in self.cycles]
        rows = []
        for k in names:
            s = self.summary[k]
            median = (f"at most {plain(s.median_hi)}" if 2 * s.bounds > s.n
                      else plain(s.median))
            rows.append([k, str(s.n), str(s.failures), median, _confidence(s),
                         plain(s.resolution), plain(s.p95)])
        head = ("latency (ms)", "n", "failures", "median", "confidence", "resolution ±", "p95")
        return (html_table(head, rows) + html_table(["cycle", "result"] + [f"{k} (ms)" for k in names],
                                            cycles) + html_notes(self.notes))


def resume(trace: int, options: _ffi.ww_resume_options) -> ResumeReport:
    """Find the cycles, and take both forms of the report."""
    handle = ctypes.c_void_p()
    lib.ww_resume_new(trace, ctypes.byref(options), ctypes.byref(handle), _ffi.ww_error())
    try:
        d, text = both(lib.ww_resume_report, handle)
    finally:
        lib.ww_resume_free(handle)
    summary = {name[:-3]: LatencySummary._of(s) for name, s in d["summary"].items()
               if name.endswith("_ms")}
    return ResumeReport(d.get("start"), tuple(Cycle._of(c) for c in d["cycles"]), summary,
                        d["summary"].get("results", {}),
                        interval(d["summary"].get("failure_rate_ci95")), d.get("dut", {}),
                        d.get("beat", {}), tuple(d["notes"]), d, text)


class ResumeAnalyses(View):
    """What a whole trace tells of suspend and resume."""

    def resume(self, mode: str = "unknown", port: Optional[str] = None,
               console: Optional[str] = None, handoff: Optional[str] = None,
               period_s: Number = 0) -> ResumeReport:
        """Cycles of suspend and resume: what ``resumetime report`` prints.

        ``mode``: how plain beats were written: "stream", "reopen", "drain" (stamped ones tell
        theirs). ``port``, ``console``: names of serial sources. ``handoff``: regular expression
        of the boot loader's last message. ``period_s``: period of plain beats; 0: found.
        """
        options = _ffi.ww_resume_options(ctypes.sizeof(_ffi.ww_resume_options),
                                         _ffi.number(_ffi.ww_beat_mode, mode, "mode"), 0,
                                         _ffi.raw(port), _ffi.raw(console), _ffi.raw(handoff),
                                         round(period_s * 1e9))
        return resume(self._h(), options)
