# SPDX-License-Identifier: MIT
"""Changes of level in a channel of power."""
from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

from . import _draw, _ffi, _plot
from ._ffi import lib
from ._result import Report, both, html_table, interval, number, plain, quantity
from ._types import Interval, Quantity

if TYPE_CHECKING:
    from ._channel import Channel


def _need(q: Optional[Quantity], unit: str) -> Quantity:
    return q if q is not None else Quantity(math.nan, None, unit)


@dataclass(frozen=True)
class Step:
    """A change of level. Times are seconds since the trace's first record."""

    t_s: Interval  #: when it surely began
    settled_s: float  #: when the level was reached that ``after`` gives; NaN unknown
    delta: Quantity  #: W
    before: Quantity  #: W, settled level before it
    after: Quantity  #: W
    label: str  #: text of its mark, "" none
    state: str  #: "detected", "known-time" (a mark's, not found by itself) or "unresolved"
    bounds_W: Optional[Interval]  #: unresolved: the change lies between; else None
    peak_W: float  #: greatest reading until it had settled: inrush; NaN none

    @staticmethod
    def _of(d: Dict[str, Any]) -> "Step":
        return Step(interval(d["t_s"]) or Interval(math.nan, math.nan), number(d["settled_s"]),
                    _need(quantity(d["delta_W"], "W"), "W"),
                    _need(quantity(d["before_W"], "W"), "W"),
                    _need(quantity(d["after_W"], "W"), "W"), d.get("label") or "", d["state"],
                    interval(d.get("bounds_W")), number(d.get("peak_W")))

    def __str__(self) -> str:
        if self.bounds_W is not None:
            return f"{self.bounds_W.lo:+.3g} to {self.bounds_W.hi:+.3g} W: below the resolution"
        return ("+" if self.delta.value > 0 else "") + str(self.delta)


@dataclass(frozen=True)
class Level:
    """A stretch in which nothing changed. Times are seconds since the trace's first record."""

    t_s: Interval
    watts: Quantity  #: noise and quantisation; without the meter's accuracy
    sigma_W: float  #: standard deviation of the readings around it
    slope_W_per_h: float  #: of a level that drifts; 0 constant
    n: int  #: readings
    shape: str  #: "constant", "line" or "settling"

    @staticmethod
    def _of(d: Dict[str, Any]) -> "Level":
        return Level(interval(d["t_s"]) or Interval(math.nan, math.nan),
                     _need(quantity(d["level_W"], "W"), "W"), number(d["sigma_W"]),
                     number(d["slope_W_per_h"]), d["n"], d["shape"])


@dataclass(frozen=True, repr=False)
class Steps(Report):
    """Levels and the steps between them: what ``pwrlog steps`` prints."""

    start: Optional[str]  #: wall time of the first record, ISO 8601
    channel: str
    steps: Tuple[Step, ...]
    levels: Tuple[Level, ...]
    noise_W: float  #: standard deviation of the readings as they were looked at
    smallest_W: float  #: changes from here on would be found; NaN unknown
    resolution_W: float  #: 0 unknown
    cycling: Optional[Dict[str, Any]]  #: of a load that switches by itself: period, part on
    _svg: str = field(repr=False)
    _page: str = field(repr=False)
    _readings: Any = field(repr=False)

    def _summary(self) -> str:
        return f"{self.channel}: {len(self.steps)} steps, {len(self.levels)} levels"

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, i: int) -> Step:
        return self.steps[i]

    def svg(self) -> str:
        """The picture that ``pwrlog steps --plot`` writes."""
        return self._svg

    def html(self) -> str:
        """The page that ``pwrlog steps --html`` writes: picture, table and notes."""
        return self._page

    def _html(self) -> str:
        rows = [(f"{s.t_s.mid:.6g} s", str(s), str(s.before), str(s.after),
                 plain(s.settled_s - s.t_s.lo, 3) + " s" if s.settled_s > s.t_s.lo else "",
                 s.label or ("" if s.state == "detected" else s.state)) for s in self.steps]
        if not rows:
            return f"<p>{self.channel}: no change from {self.smallest_W:.2g} W on was found.</p>"
        return html_table(("time", "change", "before", "after", "settled in", "mark"), rows,
                          self.channel)

    def plot(self, ax: Optional[Any] = None) -> Any:
        """The readings with the levels laid over them; returns matplotlib's Axes."""
        ax = self._readings.plot(_plot.axes(ax))
        scale = _draw.seconds_per_unit(ax)
        for i, v in enumerate(self.levels):
            mid, half = (v.t_s.lo + v.t_s.hi) / 2, (v.t_s.hi - v.t_s.lo) / 2
            rise = v.slope_W_per_h * half / 3600 if v.shape == "line" else 0.0
            ax.plot([(mid - half) / scale, (mid + half) / scale],
                    [v.watts.value - rise, v.watts.value + rise],
                    color=_plot.MODEL, linewidth=2, solid_capstyle="butt",
                    label="level" if i == 0 else None)
        for s in self.steps:
            ax.axvspan(s.t_s.lo / scale, max(s.t_s.hi, s.t_s.lo) / scale, color=_plot.MODEL,
                       alpha=0.25, linewidth=0.5)
        return ax


def steps(trace: Any, channel: Optional[str], spike_s: Optional[float], bounds: Tuple[int, int],
          readings: Any) -> Steps:
    """Find them, and take all forms of the report."""
    lo, hi = bounds
    options = _ffi.options(_ffi.ww_steps_options, channel=channel,
                           spike_ns=_ffi.ns(spike_s, "spike_s"), from_ns=lo or -1, to_ns=hi or 1)
    handle = _ffi.Handle.new(lib.ww_steps_new, lib.ww_steps_free, trace, ctypes.byref(options),
                             what="the steps")
    try:
        d, text = both(lib.ww_steps_report, handle())
        svg, page = (_ffi.report(lib.ww_steps_plot, handle(), form) for form in
                     (_ffi.ww_plot_form.SVG, _ffi.ww_plot_form.HTML))
    finally:
        handle.close()
    found: "Channel" = readings(d["channel"])
    return Steps(tuple(d["notes"]), d, text, d.get("start"), d["channel"],
                 tuple(Step._of(s) for s in d["steps"]),
                 tuple(Level._of(v) for v in d.get("levels") or ()), number(d.get("noise_W")),
                 number(d.get("smallest_W")), d.get("resolution_W") or 0.0, d.get("cycling"),
                 svg, page, found)
