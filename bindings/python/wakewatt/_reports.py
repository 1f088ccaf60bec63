# SPDX-License-Identifier: MIT
"""The two reports as objects.

They are made of the library's own JSON, so that every figure is the one that the programs
print with --json. ``document`` is that JSON as it came, with keys that a newer library added.
"""
from __future__ import annotations

import ctypes
import json
import math
from dataclasses import dataclass, field
from html import escape
from typing import Any, Callable, Dict, Iterable, Optional, Sequence, Tuple

from . import _ffi
from ._ffi import lib
from ._types import Interval, Quantity


def _text(report: Callable[..., int], handle: Any, form: int) -> str:
    out = ctypes.c_void_p()
    report(handle, form, ctypes.byref(out), _ffi.ww_error())
    return _ffi.take_text(out)


def document(report: Callable[..., int], handle: Any) -> Dict[str, Any]:
    """A report's JSON."""
    found: Dict[str, Any] = json.loads(_text(report, handle, _ffi.ww_report_form.JSON))
    return found


def _number(value: Optional[float]) -> float:
    return math.nan if value is None else value


def _interval(pair: Optional[Sequence[Optional[float]]]) -> Optional[Interval]:
    if pair is None:
        return None
    lo, hi = pair
    return Interval(-math.inf if lo is None else lo, math.inf if hi is None else hi)


def _intervals(pairs: Optional[Dict[str, Any]]) -> Dict[str, Interval]:
    found = {name: _interval(pair) for name, pair in (pairs or {}).items()}
    return {name: i for name, i in found.items() if i is not None}


def _quantity(q: Any, unit: str) -> Optional[Quantity]:
    if q is None:
        return None
    return Quantity(_number(q.get("value")), q.get("u"), unit, q.get("why") or "")


# --- HTML for notebooks


def _table(head: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    def row(cells: Iterable[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(c)}</{tag}>" for c in cells) + "</tr>"

    return ("<table><thead>" + row(head, "th") + "</thead><tbody>"
            + "".join(row(r, "td") for r in rows) + "</tbody></table>")


def _notes(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    return "<ul>" + "".join(f"<li>{escape(n)}</li>" for n in notes) + "</ul>"


def _plain(value: Optional[float]) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.6g}"


# --- pwrlog stat


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
        mean = _quantity(d.get("mean"), unit) or Quantity(math.nan, None, unit)
        return ChannelStat(
            d["name"], d.get("quantity", ""), unit, d.get("semantics", ""), d["n"],
            d.get("missing", 0), _number(d.get("duration_s")), mean, _number(d.get("min")),
            _number(d.get("max")), d.get("resolution"), _number(d.get("coverage")),
            d.get("gaps", 0), _number(d.get("gap_s")), _quantity(d.get("energy_J"), "J"),
            _quantity(d.get("register_J"), "J"), d.get("register_z"),
            d.get("register_resets", 0))


@dataclass(frozen=True)
class StatReport:
    """Mean and energy of every channel: what ``pwrlog stat`` prints. ``str()`` is its text."""

    start: Optional[str]  #: wall time of the first record, ISO 8601
    from_s: float  #: seconds since the first record
    to_s: float
    channels: Tuple[ChannelStat, ...]
    notes: Tuple[str, ...]  #: what was assumed, not observed or left out
    document: Dict[str, Any] = field(repr=False)
    text: str = field(repr=False)

    def __getitem__(self, name: str) -> ChannelStat:
        for c in self.channels:
            if c.name == name:
                return c
        raise KeyError(f"no channel {name!r}; there are "
                       f"{', '.join(c.name for c in self.channels) or 'none'}")

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        rows = [(c.name, str(c.n), str(c.mean), f"{_plain(c.min)} – {_plain(c.max)}",
                 str(c.energy_J) if c.energy_J else "", f"{_plain(c.duration_s)} s",
                 f"{100 * c.coverage:.4g} %", str(c.gaps)) for c in self.channels]
        head = ("channel", "values", "mean", "range", "energy", "time", "coverage", "gaps")
        return _table(head, rows) + _notes(self.notes)


def stat(trace: int, options: _ffi.ww_stat_options) -> StatReport:
    """Integrate, and take both forms of the report."""
    handle = ctypes.c_void_p()
    lib.ww_stat_new(trace, ctypes.byref(options), ctypes.byref(handle), _ffi.ww_error())
    try:
        d = document(lib.ww_stat_report, handle)
        text = _text(lib.ww_stat_report, handle, _ffi.ww_report_form.TEXT)
    finally:
        lib.ww_stat_free(handle)
    return StatReport(d.get("start"), _number(d.get("from_s")), _number(d.get("to_s")),
                      tuple(ChannelStat._of(c) for c in d["channels"]), tuple(d["notes"]), d,
                      text)


# --- resumetime report


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
        stalls = tuple(Stall(_interval(s.get("t_s")), _interval(s.get("ms")))
                       for s in d.get("starvation") or ())
        return Cycle(d["n"], d["result"], d.get("reason") or "", _intervals(d.get("events_s")),
                     _intervals(d.get("latency_ms")), stalls,
                     _quantity(d.get("energy_J"), "J"), d.get("energy_why") or "",
                     _quantity(d.get("asleep_W"), "W"))


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
                              _interval(d.get("ci95")), _interval(known),
                              actual.get("coverage"), _interval(d.get("envelope")),
                              d.get("resolution"), d.get("p90"), _interval(d.get("p90_ci95")),
                              d.get("p95"), _interval(d.get("p95_ci95")), d.get("min"),
                              d.get("max"), d.get("bounds", 0), d.get("median_hi"),
                              d.get("bound_only", 0), _interval(d.get("bound")), d.get("why"))


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
                  + [_plain(c.latency_ms[k].mid) if k in c.latency_ms else "" for k in names]
                  for c in self.cycles]
        rows = []
        for k in names:
            s = self.summary[k]
            median = (f"at most {_plain(s.median_hi)}" if 2 * s.bounds > s.n
                      else _plain(s.median))
            rows.append([k, str(s.n), str(s.failures), median, _confidence(s),
                         _plain(s.resolution), _plain(s.p95)])
        head = ("latency (ms)", "n", "failures", "median", "confidence", "resolution ±", "p95")
        return (_table(head, rows) + _table(["cycle", "result"] + [f"{k} (ms)" for k in names],
                                            cycles) + _notes(self.notes))


def resume(trace: int, options: _ffi.ww_resume_options) -> ResumeReport:
    """Find the cycles, and take both forms of the report."""
    handle = ctypes.c_void_p()
    lib.ww_resume_new(trace, ctypes.byref(options), ctypes.byref(handle), _ffi.ww_error())
    try:
        d = document(lib.ww_resume_report, handle)
        text = _text(lib.ww_resume_report, handle, _ffi.ww_report_form.TEXT)
    finally:
        lib.ww_resume_free(handle)
    summary = {name[:-3]: LatencySummary._of(s) for name, s in d["summary"].items()
               if name.endswith("_ms")}
    return ResumeReport(d.get("start"), tuple(Cycle._of(c) for c in d["cycles"]), summary,
                        d["summary"].get("results", {}),
                        _interval(d["summary"].get("failure_rate_ci95")), d.get("dut", {}),
                        d.get("beat", {}), tuple(d["notes"]), d, text)
