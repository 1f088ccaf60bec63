# SPDX-License-Identifier: MIT
"""Pictures of a suspend as the kernel saw it."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, List, Optional

from . import _kernlog, _plot

if TYPE_CHECKING:
    from ._kernlog import KernelCycle, PmDevice, PmPhase

#: phases on the way back
_BACK = ("thaw", "cpu_online", "resume_notifiers")


def _axis(cycle: "KernelCycle", zero: float) -> Callable[[float], float]:
    """Seconds of the kernel's clock to ms of the picture; a sleep that the clock counts is cut."""
    begin, end = (cycle.document.get(k) for k in ("sleep_begin_s", "sleep_end_s"))
    if not begin or not end or begin[0] is None or end[1] is None:
        return lambda t: 1e3 * (t - zero)
    asleep, awake = begin[0], end[1]

    def to_ms(t: float) -> float:
        cut = 0.0 if t <= asleep else min(t, awake) - asleep
        return 1e3 * (t - zero - (cut if awake - asleep > 0.05 else 0))

    return to_ms


def _phases(ax: Any, spans: List["PmPhase"], at: Callable[[float], float]) -> None:
    whole = max((at(p.end_s) for p in spans), default=0.0)
    for i, p in enumerate(spans):
        left, width = at(p.start_s), at(p.end_s) - at(p.start_s)
        back = "resume" in p.name or p.name in _BACK
        ax.barh(0, width, left=left, height=0.9, alpha=0.35 + 0.3 * (i % 2),
                color=_plot.GOOD if back else _plot.MEASURED)
        if width > 0.011 * whole * len(p.name):
            ax.text(left + width / 2, 0, p.name, ha="center", va="center", fontsize=7)


def _colour(d: "PmDevice") -> str:
    return _plot.BAD if d.errno else _plot.MODEL if d.critical else _plot.MUTED


def devices(cycle: "KernelCycle", ax: Optional[Any] = None, most: int = 25) -> Any:
    """Phases, and the slowest devices below them as bars over time."""
    bars = [d for d in cycle.slowest(most) if math.isfinite(d.start_s) and math.isfinite(d.end_s)]
    bars.sort(key=lambda d: d.start_s)
    spans = [p for p in cycle.phases if math.isfinite(p.start_s) and math.isfinite(p.end_s)]
    ax = _plot.axes(ax, height=1.5 + 0.22 * (len(bars) + 1))
    ax.grid(False, axis="y")
    if not spans and not bars:
        ax.text(0.5, 0.5, "no line of this cycle has a stamp", ha="center",
                transform=ax.transAxes)
        return ax
    at = _axis(cycle, min([p.start_s for p in spans] + [d.start_s for d in bars]))
    _phases(ax, spans, at)
    end = max([at(p.end_s) for p in spans] + [at(d.end_s) for d in bars])
    named: List[str] = []
    for row, d in enumerate(bars, 1):
        kind = "failed" if d.errno else "on the critical path" if d.critical else "beside it"
        left, right = at(d.start_s), at(d.end_s)
        # A callback of some microseconds is still seen.
        ax.barh(row, max(right - left, 0.002 * end), left=left, height=0.8, color=_colour(d),
                label=None if kind in named else kind)
        named.append(kind)
        near = right > 0.85 * end
        ax.text(left if near else right, row, f" {_kernlog.ms(d.ms)} ms ", va="center",
                ha="right" if near else "left", fontsize=7)
    begin = cycle.document.get("sleep_begin_s")
    if begin and begin[0] is not None:
        ax.axvline(at(begin[0]), color="black", linewidth=0.8, linestyle=":")
        ax.annotate("asleep", (at(begin[0]), 1), xycoords=("data", "axes fraction"),
                    xytext=(0, 2), textcoords="offset points", ha="center", fontsize=7)
    ax.set_yticks(range(len(bars) + 1), ["phases"] + [
        d.name + (f" ({d.driver})" if d.driver and d.driver != d.name else "") for d in bars],
        fontsize=7)
    ax.set_ylim(len(bars) + 0.6, -0.6)
    ax.set_xlim(0, 1.02 * end)
    ax.set_xlabel("ms after the suspend began, by the kernel's clock")
    if named:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, frameon=False, fontsize=7)
    return ax
