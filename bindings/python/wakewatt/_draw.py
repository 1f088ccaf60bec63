# SPDX-License-Identifier: MIT
"""Pictures of samples over time, with their gaps and marks."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple

from . import _arrays, _plot
from ._base import View
from ._records import Gap, Mark

if TYPE_CHECKING:
    from ._channel import Channel

_COLOURS = (_plot.MEASURED, _plot.MODEL, _plot.GOOD, "#6a4c93", "#0f7f8c", "#8a6d1b")
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}
_STEPS = {"average": "steps-pre", "hold": "steps-post"}
_COLUMNS = 1600  #: an axes is hardly wider in pixels
_ROWS = 3  #: of labels above it
_POINTS = 8.0  #: size of the labels
_LONGEST = 24


def _label(unit: str) -> str:
    return f"time since the first record ({unit})"


def seconds_per_unit(ax: Any) -> float:
    """Of the time axis that draw() made."""
    return next((scale for unit, scale in _UNITS.items() if ax.get_xlabel() == _label(unit)), 1.0)


def _choose_unit(ax: Any, given: Optional[str], seconds: float) -> str:
    """That of a picture which is drawn upon, the one asked for, or one that reads well."""
    for unit in _UNITS:
        if ax.get_xlabel() == _label(unit):
            if given not in (None, unit):
                raise ValueError(f"these axes are in {unit}, not {given}")
            return unit
    if given is None:
        return "s" if seconds <= 600 else "min" if seconds <= 3 * 3600 else "h"
    if given not in _UNITS:
        raise ValueError(f"unit is one of {', '.join(_UNITS)}, not {given!r}")
    return given


def _break(np: Any, x: Any, y: Any, gaps: Sequence[Gap]) -> Tuple[Any, Any]:
    """A line does not lead over what was lost."""
    at = np.unique(np.searchsorted(x, [(g.t_s.lo + g.t_s.hi) / 2 for g in gaps]))
    at = at[(at > 0) & (at < len(x))]
    return np.insert(x, at, x[at] if len(at) else []), np.insert(y, at, np.nan)


def envelope(np: Any, x: Any, y: Any, columns: int) -> Tuple[Any, Any]:
    """Least and greatest value of each column of a picture, one after the other: what a line
    through all points would cover."""
    edges = np.linspace(x[0], x[-1], columns + 1)[:-1]
    first = np.unique(np.searchsorted(x, edges))
    low, high = np.fmin.reduceat(y, first), np.fmax.reduceat(y, first)
    out = np.empty(2 * len(first))
    out[0::2], out[1::2] = low, high
    return np.repeat(x[first], 2), out


def _line(ax: Any, channel: "Channel", gaps: Sequence[Gap], scale: float, colour: str) -> None:
    import numpy as np

    earliest, latest, y = channel.read()
    n = len(y)
    x = np.asarray(_arrays.middles(earliest, latest, channel._core.origin()))
    np.maximum.accumulate(x, out=x)
    style = _STEPS.get(channel.semantics, "default")
    if n > 4 * _COLUMNS:
        x, y = envelope(np, x, y, _COLUMNS)
        style = "default"
    x, y = _break(np, x, y, [g for g in gaps if g.source in ("", channel.source)])
    ax.plot(x / scale, y, color=colour, linewidth=1.0, drawstyle=style, label=channel.name,
            marker="." if n == 1 else None)


def _shade(ax: Any, gaps: Sequence[Gap], sources: Sequence[str], scale: float, lo: float,
           hi: float) -> None:
    for g in gaps:
        if g.source in ("", *sources):
            ax.axvspan(max(g.t_s.lo, lo) / scale, min(g.t_s.hi, hi) / scale, color=_plot.MUTED,
                       alpha=0.18, linewidth=0, zorder=0)


def _words(mark: Mark) -> str:
    words = mark.text if mark.kind == "label" and mark.text else mark.kind
    return words if len(words) <= _LONGEST else words[:_LONGEST - 1] + "…"


def _flag(ax: Any, marks: Sequence[Mark], scale: float) -> None:
    """Thin lines, and labels in rows above the axes as far as there is room for them."""
    marks = sorted((m for m in marks if m.kind not in ("start", "stop")), key=lambda m: m.t_s.mid)
    if not marks:
        return
    xs = [m.t_s.mid / scale for m in marks]
    ax.vlines(xs, 0, 1, transform=ax.get_xaxis_transform(), color=_plot.MUTED, linewidth=0.6,
              linestyle=(0, (4, 3)), zorder=1)
    left, right = ax.get_xlim()
    width = ax.get_window_extent().width * 72 / ax.figure.dpi
    ends = [float("-inf")] * _ROWS
    for m, x in zip(marks, xs):
        words = _words(m)
        begin = at = (x - left) * width / ((right - left) or 1)
        long = (0.62 * len(words) + 0.9) * _POINTS
        inward = begin + long > width  # at the right end a label stands before its line
        if inward:
            begin -= long
        row = next((r for r in range(_ROWS) if ends[r] <= begin), None)
        if row is None or not left <= x <= right:
            continue
        ends[row] = begin + long if not inward else at
        ax.annotate(words, (x, 1), xycoords=("data", "axes fraction"), textcoords="offset points",
                    xytext=(-1 if inward else 1, 2 + row * 1.3 * _POINTS), fontsize=_POINTS,
                    ha="right" if inward else "left", color="#444444", annotation_clip=False)


def _power(channels: Sequence["Channel"]) -> List["Channel"]:
    """Those of power, or else those of the first one's unit: they share an axis."""
    of = [c for c in channels if c.quantity == "power"] or list(channels)
    return [c for c in of if c.unit == of[0].unit]


def draw(view: View, channels: Sequence["Channel"], ax: Optional[Any], unit: Optional[str],
         marks: bool) -> Any:
    """Channels of one unit over time."""
    if not channels:
        raise ValueError(f"{view.path} has no channels to plot")
    if any(c.unit != channels[0].unit for c in channels):
        raise ValueError("channels of several units share no axis: plot them one by one")
    ax = _plot.axes(ax)
    span = view.span
    lo, hi = ((t - view._origin()) / 1e9 for t in span) if span else (0.0, 1.0)
    unit = _choose_unit(ax, unit, hi - lo)
    scale, gaps, before = _UNITS[unit], view.gaps, len(ax.lines)
    for i, channel in enumerate(channels):
        _line(ax, channel, gaps, scale, _COLOURS[(before + i) % len(_COLOURS)])
    _shade(ax, gaps, [c.source for c in channels], scale, lo, hi)
    if not before:
        ax.set_xlim(lo / scale, (hi if hi > lo else lo + 1) / scale)
        ax.set_xlabel(_label(unit))
        ax.set_ylabel(f"{channels[0].quantity} ({channels[0].unit})")
    if marks:
        _flag(ax, view.marks, scale)
    if len(ax.lines) > 1:
        ax.legend(loc="best", fontsize="small", frameon=False)
    return ax


def draw_power(view: View, channels: Sequence["Channel"], ax: Optional[Any], unit: Optional[str],
               marks: bool) -> Any:
    """All channels of power."""
    return draw(view, _power(channels), ax, unit, marks)
