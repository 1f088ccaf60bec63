# SPDX-License-Identifier: MIT
"""Pictures of cycles of suspend and resume."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, List, Optional, Tuple

from . import _plot
from ._types import Interval

if TYPE_CHECKING:
    from ._resume import Cycle, ResumeReport

#: parts of a cycle between two of its events, the first pair that was observed
_PARTS = (("entry", ("request",), ("last_beat",), "#9db7d5"),
          ("asleep", ("last_beat", "off"), ("wake",), "#2f3e4e"),
          ("asleep or firmware", ("last_beat", "off"), ("handoff", "firmware"), "#2f3e4e"),
          ("firmware", ("wake",), ("handoff",), "#c4570f"),
          ("kernel", ("handoff",), ("first_beat", "uart"), "#2d7d46"),
          ("to user space", ("wake",), ("first_beat", "alive", "uart"), "#2d7d46"),
          ("until steady", ("first_beat",), ("steady",), "#d8b400"))


def _event(cycle: "Cycle", names: Tuple[str, ...]) -> Optional[Interval]:
    for n in names:
        found = cycle.events_s.get(n)
        if found is not None and math.isfinite(found.mid):
            return found
    return None


def _parts(cycle: "Cycle") -> List[Tuple[str, float, float, str]]:
    """(name, from, to, colour) without those that another one covers better."""
    out: List[Tuple[str, float, float, str]] = []
    at = -math.inf
    for name, begin, end, colour in _PARTS:
        a, b = _event(cycle, begin), _event(cycle, end)
        if a is None or b is None or b.mid - max(a.mid, at) <= 0:
            continue
        out.append((name, max(a.mid, at), b.mid, colour))
        at = b.mid
    return out


def timeline(report: "ResumeReport", ax: Optional[Any] = None) -> Any:
    """A bar for each cycle, all aligned at the wake, else at the end of the silence."""
    shown = [(c, _parts(c), _event(c, ("wake", "first_beat", "uart", "alive", "last_beat")))
             for c in report.cycles]
    ax = _plot.axes(ax, height=1.3 + 0.26 * max(1, min(len(shown), 40)))
    ax.grid(False, axis="y")
    ax.grid(True, axis="x", linewidth=0.5, alpha=0.4)
    named: List[str] = []
    for row, (cycle, parts, zero) in enumerate(shown):
        for name, a, b, colour in parts:
            assert zero is not None
            ax.barh(row, 1e3 * (b - a), left=1e3 * (a - zero.mid), height=0.75, color=colour,
                    label=None if name in named else name)
            named.append(name)
        for stall in cycle.starvation:
            if stall.t_s is not None and stall.ms is not None and zero is not None:
                ax.barh(row, stall.ms.mid, left=1e3 * (stall.t_s.mid - zero.mid), height=0.75,
                        color=_plot.BAD, label=None if "starved" in named else "starved")
                named.append("starved")
        if cycle.result != "ok":
            ax.annotate(cycle.result, (1, row), xycoords=("axes fraction", "data"), xytext=(4, 0),
                        textcoords="offset points", va="center", color=_plot.BAD, fontsize=8)
    step = max(1, len(shown) // 20)
    ax.set_yticks(range(0, len(shown), step), [str(c.n) for c, _, _ in shown][::step])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_ylabel("cycle")
    ax.set_xlabel("ms after the wake" if any("wake" in c.events_s for c in report.cycles)
                  else "ms after the machine was back")
    if named:
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=6, frameon=False,
                  fontsize=8)
    return ax


def distribution(report: "ResumeReport", latency: str, ax: Optional[Any] = None) -> Any:
    """Part of the cycles that took no longer: each with its sure interval, and the median."""
    s = report.summary.get(latency)
    if s is None:
        raise KeyError(f"no latency {latency!r}; there are {', '.join(report.summary)}")
    seen = sorted((c.latency_ms[latency] for c in report.cycles if latency in c.latency_ms
                   and not c.warmup and math.isfinite(c.latency_ms[latency].mid)),
                  key=lambda i: i.mid)
    ax = _plot.axes(ax)
    ax.grid(True, axis="x", linewidth=0.5, alpha=0.4)
    total = max(1, len(seen) + s.failures)
    y = [(i + 1) / total for i in range(len(seen))]
    ax.hlines(y, [i.lo for i in seen], [i.hi for i in seen], color=_plot.MUTED, linewidth=1)
    ax.plot([i.mid for i in seen], y, "o", color=_plot.MEASURED, markersize=4,
            label=f"{len(seen)} cycles" + (f", {s.failures} failed" if s.failures else ""))
    if s.median is not None:
        ax.axvline(s.median, color=_plot.MODEL, linewidth=1.5, label=f"median {s.median:.5g} ms")
        ci = s.ci95
        if ci is not None and all(map(math.isfinite, ci)):
            ax.axvspan(ci.lo, ci.hi, color=_plot.MODEL, alpha=0.18, linewidth=0,
                       label=f"95 %: {ci.lo:.5g} to {ci.hi:.5g} ms")
    ax.set_ylim(0, 1.04)
    ax.set_xlabel(f"{latency.replace('_', ' ')}, ms")
    ax.set_ylabel("part of the cycles")
    ax.legend(frameon=False, fontsize=8)
    return ax
