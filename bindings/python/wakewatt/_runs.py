# SPDX-License-Identifier: MIT
"""Runs of commands while a meter was read: their energy, and what a unit of work costs."""
from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from html import escape
from typing import Any, Dict, List, Optional, Tuple

from . import _ffi, _plot, _suspend
from ._ffi import lib
from ._base import View
from ._parse import Given
from ._result import (Report, both, html_table, interval, number, prefix, prefixed,
                      quantity)
from ._types import Interval, Quantity

#: what stands with its uncertainty in a run and in a variant, and its unit
_FIGURES = {"duration_s": "s", "energy_J": "J", "above_baseline_J": "J", "mean_W": "W"}
_PER = {"energy_J_per_unit": "J", "above_baseline_J_per_unit": "J", "time_s_per_unit": "s"}
_WORDS = {"duration_s": "time", "energy_J": "energy", "above_baseline_J": "energy above baseline",
          "mean_W": "mean power", "work": "work", "energy_J_per_unit": "energy per unit of work",
          "above_baseline_J_per_unit": "energy above baseline per unit of work",
          "time_s_per_unit": "time per unit of work"}


@dataclass(frozen=True)
class RunsMeter:
    """The meter that the energies come from."""

    channel: str  #: "meter.power"
    semantics: str  #: "average", "instant", ...
    period_s: float  #: usual time between readings
    window_s: float  #: that a reading covers
    resolution_W: float  #: 0 unknown
    gain_u: Optional[float]  #: standard uncertainty of its gain, a fraction; None unknown
    offset_u_W: Optional[float]  #: of its offset; None unknown


@dataclass(frozen=True)
class Run:
    """One run. A figure that is not known is None, or NaN with its ``why``."""

    run: int  #: from 1, in the order of time
    round: int  #: from 1: runs of one round were interleaved and are pairs
    variant: str  #: "A", "level=3"; "" where there is only one
    command: str
    repeat: int  #: how often the command ran inside of it
    warmup: bool  #: never counts
    used: bool  #: counts in its variant's summary
    exit: Optional[int]  #: exit status; None: it did not exit by itself
    signal: Optional[int]  #: that ended it; None: none
    start_s: Optional[Interval]  #: when it surely began, seconds since the first record
    end_s: Optional[Interval]  #: and ended; None: not in the trace
    duration_s: Optional[Quantity]
    cpu_s: float  #: processor time, user and system; NaN unknown
    energy_J: Optional[Quantity]  #: all that was drawn
    above_baseline_J: Optional[Quantity]  #: above what is drawn while nothing runs
    mean_W: Optional[Quantity]
    peak_W: float  #: greatest reading; NaN none
    baseline_before_W: Optional[Quantity]
    baseline_after_W: Optional[Quantity]
    coverage: float  #: part of its time that was read, 0..1
    edges_J: float  #: part of energy_J due to readings that start and end cut
    work: Optional[Quantity]  #: in its own unit: "B", "frame"
    energy_J_per_unit: Optional[Quantity]  #: unit "J/frame"
    above_baseline_J_per_unit: Optional[Quantity]
    time_s_per_unit: Optional[Quantity]
    why: str  #: why an energy is not given, or why it does not count; "" otherwise
    work_why: str  #: why the work is not known


@dataclass(frozen=True)
class RunVariant:
    """All runs of a variant that count. Uncertainties hold their scatter, with Student's factor
    so that twice u covers 95 %, and what they share."""

    variant: str
    command: str
    runs: int  #: in the trace, without those to warm up
    n: int  #: that count
    failed: int  #: whose command failed or was stopped
    no_energy: int  #: whose energy is not known
    duration_s: Optional[Quantity]
    duration_sd_s: float  #: standard deviation from run to run; NaN: one run
    energy_J: Optional[Quantity]
    energy_sd_J: float
    above_baseline_J: Optional[Quantity]
    above_baseline_sd_J: float
    mean_W: Optional[Quantity]
    peak_W: float
    work: Optional[Quantity]
    energy_J_per_unit: Optional[Quantity]  #: mean energy over mean work
    above_baseline_J_per_unit: Optional[Quantity]
    time_s_per_unit: Optional[Quantity]


def _figures(d: Dict[str, Any]) -> Dict[str, Optional[Quantity]]:
    """What a run and a variant have in common; a figure "per unit" is of the work's unit."""
    work = d.get("work")
    unit = work.get("unit", "1") if work else "1"
    found: Dict[str, Optional[Quantity]] = {"work": quantity(work, unit)}
    for name, of in _FIGURES.items():
        found[name] = quantity(d.get(name), of)
    for name, of in _PER.items():
        found[name] = quantity(d.get(name), of if unit == "1" else f"{of}/{unit}")
    return found


def _run(d: Dict[str, Any]) -> Run:
    def span(pair: Any) -> Optional[Interval]:
        return None if pair is None or None in pair else interval(pair)

    return Run(run=d["run"], round=d["round"], variant=d["variant"], command=d["command"],
               repeat=d["repeat"], warmup=d["warmup"], used=d["used"], exit=d["exit"],
               signal=d.get("signal"), start_s=span(d["start_s"]), end_s=span(d["end_s"]),
               cpu_s=number(d["cpu_s"]), peak_W=number(d["peak_W"]),
               baseline_before_W=quantity(d["baseline_before_W"], "W"),
               baseline_after_W=quantity(d["baseline_after_W"], "W"),
               coverage=number(d["coverage"]), edges_J=number(d["edges_J"]),
               why=d["why"] or "", work_why=d.get("work_why") or "", **_figures(d))


def _variant(d: Dict[str, Any]) -> RunVariant:
    return RunVariant(variant=d["variant"], command=d["command"], runs=d["runs"], n=d["n"],
                      failed=d["failed"], no_energy=d["no_energy"],
                      duration_sd_s=number(d["duration_sd_s"]),
                      energy_sd_J=number(d["energy_sd_J"]),
                      above_baseline_sd_J=number(d["above_baseline_sd_J"]),
                      peak_W=number(d["peak_W"]), **_figures(d))


def _columns(head: List[str], rows: List[List[str]], caption: str = "") -> str:
    """A table without the columns that say nothing in any row."""
    keep = [k for k in range(len(head)) if k == 0 or any(r[k] for r in rows)]
    return html_table([head[k] for k in keep], [[r[k] for k in keep] for r in rows], caption)


@dataclass(frozen=True, repr=False)
class Runs(Report):
    """Runs and their energies: what ``pwrlog run --from`` prints."""

    start: Optional[str]  #: wall time of the first record, ISO 8601
    meter: RunsMeter
    runs: Tuple[Run, ...]  #: in the order of time
    variants: Tuple[RunVariant, ...]  #: in the order in which they first ran

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, variant: str) -> RunVariant:
        """The summary of a variant. KeyError: no such one."""
        for v in self.variants:
            if v.variant == variant:
                return v
        raise KeyError(f"no variant {variant!r}; there are "
                       f"{', '.join(repr(v.variant) for v in self.variants) or 'none'}")

    def _summary(self) -> str:
        return (f"{len(self.runs)} runs of {len(self.variants)} variants by "
                f"{self.meter.channel}")

    def _html(self) -> str:
        if not self.runs:
            return "<p>no runs in this trace</p>"
        many = len(self.runs) > 1
        out = "".join(f"<div>{escape(v.variant + ': ' if v.variant else '')}"
                      f"<code>{escape(_short(v.command, 100))}</code></div>"
                      for v in self.variants)
        if many:
            head = ["variant", "runs", "time", "energy", "above baseline", "power"]
            out += _columns(head, [[
                v.variant or "all", f"{v.n} of {v.runs}" if v.n != v.runs else str(v.n),
                *map(prefixed, (v.duration_s, v.energy_J, v.above_baseline_J, v.mean_W))]
                for v in self.variants], "means; ± is k = 2, about 95 %")
        if many and any(v.work for v in self.variants):
            head = ["variant", "work", "time per unit", "energy per unit",
                    "above baseline per unit"]
            out += _columns(head, [[v.variant or "all", *map(prefixed, (
                v.work, v.time_s_per_unit, v.energy_J_per_unit, v.above_baseline_J_per_unit))]
                for v in self.variants])
        head = ["run", "variant", "time", "energy", "above baseline", "peak", "work", "remark"]
        rows = [[str(r.run), r.variant,
                 *(prefixed(q) for q in (r.duration_s, r.energy_J, r.above_baseline_J)),
                 prefixed(Quantity(r.peak_W, None, "W")),
                 prefixed(r.work), _remark(r)] for r in self.runs]
        return out + _columns(head, rows, "" if many else "± is k = 2, about 95 %")

    def _unit_known(self) -> bool:
        units = {v.work.unit for v in self.variants if v.work}
        return len(units) == 1 and all(v.energy_J_per_unit for v in self.variants if v.n)

    def plot(self, ax: Optional[Any] = None, what: Optional[str] = None) -> Any:
        """Each variant's runs as points, its mean with its interval (k = 2) beside them.

        ``what``: "energy_J", "above_baseline_J", "duration_s", "mean_W", or one of those per
        unit of work: "energy_J_per_unit", "above_baseline_J_per_unit", "time_s_per_unit". None:
        the energy per unit of work where that is known of all, the energy otherwise. Runs that
        do not count are drawn hollow. Returns the matplotlib Axes. ValueError: no such figure.
        """
        if what is None:
            what = "energy_J_per_unit" if self._unit_known() else "energy_J"
        if what not in {**_FIGURES, **_PER}:
            raise ValueError(f"what is one of {', '.join([*_FIGURES, *_PER])}, not {what!r}")
        points = [[(r, q.value) for r in self.runs if r.variant == v.variant and not r.warmup
                   and (q := getattr(r, what)) and math.isfinite(q.value)]
                  for v in self.variants]
        means = [getattr(v, what) for v in self.variants]
        values = [abs(y) for group in points for _, y in group]
        if not values:
            raise ValueError(f"of no run is the {_WORDS[what]} known")
        unit = next((q.unit for q in means if q), {**_FIGURES, **_PER}[what])
        factor, text = prefix(max(values)) if not unit.startswith("s") or max(values) < 1 \
            else (1.0, "")
        ax = _plot.axes(ax, width=min(9.0, 3.2 + 1.1 * len(self.variants)))
        for k, group in enumerate(points):
            _draw_variant(ax, k, group, means[k], factor)
        ax.set_xticks(range(len(self.variants)),
                      [_short(v.variant or v.command, 24) for v in self.variants])
        ax.set_xlim(-0.6, len(self.variants) - 0.4)
        ax.set_ylabel(f"{_WORDS[what]} ({text}{unit})")
        if any(q and q.u for q in means):
            ax.legend(loc="best", frameon=False, fontsize="small")
        return ax

    def to_pandas(self) -> Any:
        """A DataFrame, one row a run, indexed by its number. Quantities are two columns, NAME
        and NAME_u (standard uncertainty); ``attrs["units"]`` has their units. ImportError
        without pandas."""
        try:
            import pandas as pd  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            raise ImportError("to_pandas() needs pandas (apt install python3-pandas, or pip "
                              "install pandas)") from None
        units: Dict[str, str] = {}
        rows = [_row(r, units) for r in self.runs]
        frame = pd.DataFrame(rows, columns=None if rows else ["run"]).set_index("run")
        frame.attrs["units"] = units
        return frame


def _short(text: str, most: int = 48) -> str:
    return text if len(text) <= most else text[:most - 1] + "…"


def _remark(r: Run) -> str:
    words = ["warm-up"] if r.warmup else []
    if r.why:
        words.append(r.why)
    elif r.signal is not None and r.signal > 0:
        words.append(f"signal {r.signal}")
    elif r.exit:
        words.append(f"exit status {r.exit}")
    return "; ".join(words + ([r.work_why] if r.work_why else []))


def _draw_variant(ax: Any, k: int, group: List[Tuple[Run, float]], mean: Optional[Quantity],
                  factor: float) -> None:
    """Runs left of the middle in the order of time, the mean right of it."""
    once = k == 0
    for used in (True, False):
        at = [(i, y) for i, (r, y) in enumerate(group) if r.used == used]
        width = max(len(group) - 1, 1)
        ax.plot([k - 0.28 + 0.3 * i / width for i, _ in at], [y / factor for _, y in at], "o",
                color=_plot.MEASURED if used else _plot.MUTED, markersize=4.5, alpha=0.75,
                markerfacecolor=None if used else "none",
                label="runs" if once and used else None)
    if mean and math.isfinite(mean.value):
        ax.errorbar([k + 0.22], [mean.value / factor], [2 * (mean.u or 0) / factor], fmt="D",
                    color=_plot.MODEL, markersize=5.5, capsize=5, linewidth=1.6,
                    label="mean ± k = 2" if once else None)


def _row(r: Run, units: Dict[str, str]) -> Dict[str, Any]:
    row: Dict[str, Any] = {}
    for name, value in vars(r).items():
        if name in ("start_s", "end_s"):
            row[name] = value.mid if value else math.nan
            units[name] = "s"
        elif name in _FIGURES or name in _PER or name in ("work", "baseline_before_W",
                                                          "baseline_after_W"):
            row[name] = value.value if value else math.nan
            row[name + "_u"] = value.u if value and value.u is not None else math.nan
            if value:
                units[name] = units[name + "_u"] = value.unit
        else:
            row[name] = value
    units.update(cpu_s="s", peak_W="W", edges_J="J")
    return row


def new(trace: Any, channel: Optional[str] = None, failed: bool = False) -> _ffi.Handle:
    """ww_runs of a trace. Error: no channel of power, several of them, ..."""
    options = _ffi.options(_ffi.ww_runs_options, channel=channel, failed=int(failed))
    return _ffi.Handle.new(lib.ww_runs_new, lib.ww_runs_free, trace._h(), ctypes.byref(options),
                           what=trace.path)


def runs(trace: Any, channel: Optional[str] = None, failed: bool = False) -> Runs:
    """Runs and their energies, in both forms of the report."""
    handle = new(trace, channel, failed)
    try:
        d, text = both(lib.ww_runs_report, handle())
    finally:
        handle.close()
    m = d["meter"]
    meter = RunsMeter(m["channel"], m.get("semantics") or "", number(m["period_s"]),
                      number(m["window_s"]), number(m["resolution_W"]), m["gain_u"],
                      m["offset_u_W"])
    return Runs(tuple(d["notes"]), d, text, d.get("start"), meter,
                tuple(map(_run, d["runs"])), tuple(map(_variant, d["variants"])))


class RunAnalyses(View):
    """What a trace tells of runs of commands and of a model of suspending."""

    def runs(self, channel: Optional[str] = None, failed: bool = False) -> Runs:
        """Runs of commands and their energies: what ``pwrlog run --from`` prints.

        ``channel``: of power, where there are several: "meter.power", "power" or "meter".
        ``failed``: runs whose command failed count in the means, too.
        Error: no channel of power in W, or several of them.
        """
        return runs(self, channel, failed)

    def suspend_fit(self, channel: Optional[str] = None, *,
                    suspend_time: Optional[Given] = None, resume_time: Optional[Given] = None,
                    transition: Optional[Given] = None,
                    transition_energy: Optional[Given] = None) -> "_suspend.SuspendFit":
        """Powers, transition energy and latencies of the cycles of suspend in the trace.

        A trace of power alone does not tell when a cycle was decided: give ``suspend_time`` and
        ``resume_time`` (s) for its transitions. ``transition`` (W) or ``transition_energy`` (J)
        where what transitions draw is known. Error: no cycles, no channel of power, several.
        """
        return _suspend.fit(self, channel, suspend_time, resume_time, transition,
                            transition_energy)
