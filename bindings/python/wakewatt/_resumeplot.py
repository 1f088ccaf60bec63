# SPDX-License-Identifier: MIT
"""Pictures of cycles of suspend and resume."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple

from . import _plot
from ._types import Interval

if TYPE_CHECKING:
    from ._resume import Cycle, ResumeReport

#: parts of a cycle between two of its events, the first pair that was observed
_PARTS = (("entry", ("request",), ("last_beat",), "#9db7d5"),
          ("to power off", ("last_beat",), ("off",), "#6f8fb5"),
          ("asleep", ("off", "last_beat"), ("wake",), "#2f3e4e"),
          ("asleep or firmware", ("off", "last_beat"), ("handoff", "firmware"), "#2f3e4e"),
          ("firmware", ("wake",), ("handoff",), "#c4570f"),
          ("kernel", ("handoff",), ("first_beat", "uart"), "#2d7d46"),
          ("to user space", ("wake",), ("first_beat", "alive", "uart"), "#2d7d46"),
          ("silent", ("last_beat",), ("first_beat", "alive", "uart"), "#767676"),
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
        if name == "asleep or firmware" and "wake" in cycle.events_s:
            continue  # the two are told apart
        a, b = _event(cycle, begin), _event(cycle, end)
        if a is None or b is None or b.mid - max(a.mid, at) <= 0:
            continue
        out.append((name, max(a.mid, at), b.mid, colour))
        at = b.mid
    return out


def _zero(cycle: "Cycle", at: Tuple[str, ...]) -> float:
    found = _event(cycle, at)
    return math.nan if found is None else found.mid


def _limits(shown: Sequence[Tuple["Cycle", List[Tuple[str, float, float, str]], float]]
            ) -> Tuple[float, float, bool]:
    """From and to in s, and whether a long sleep is cut so that the resume can be seen."""
    ends = [(a - zero, b - zero, name) for _, parts, zero in shown for name, a, b, _ in parts]
    left, right = min(a for a, _, _ in ends), max(b for _, b, _ in ends)
    awake = max([b - a for a, b, name in ends if not name.startswith("asleep")] + [right, 1e-3])
    if right > 0 and -left > 6 * awake:
        return -2 * awake, right + 0.06 * awake, True
    return left - 0.02 * (right - left), right + 0.04 * (right - left), False


def timeline(report: "ResumeReport", ax: Optional[Any] = None) -> Any:
    """A bar for each cycle, all aligned at the wake; without one, at the last beat."""
    align = ("wake",) if any("wake" in c.events_s for c in report.cycles) else ("last_beat",)
    found = [(c, _parts(c), _zero(c, align)) for c in report.cycles]
    # One that has no wake stands with its last beat where the others have theirs.
    before = sorted(z - _zero(c, ("last_beat",)) for c, _, z in found
                    if math.isfinite(z - _zero(c, ("last_beat",))))
    usual = before[len(before) // 2] if before else 0.0
    shown = [(c, p, z if math.isfinite(z) else _zero(c, ("last_beat", "request")) + usual)
             for c, p, z in found]
    ax = _plot.axes(ax, height=1.3 + 0.26 * max(1, min(len(shown), 40)))
    ax.grid(False, axis="y")
    ax.grid(True, axis="x", linewidth=0.5, alpha=0.4)
    if not any(p for _, p, _ in shown):
        ax.text(0.5, 0.5, "no phase of a cycle was observed", ha="center", transform=ax.transAxes)
        return ax
    left, right, cut = _limits(shown)
    named: List[str] = []
    for row, (cycle, parts, zero) in enumerate(shown):
        _bars(ax, row, cycle, parts, zero, named)
        if cycle.result != "ok":
            ax.annotate(cycle.result, (1, row), xycoords=("axes fraction", "data"), xytext=(4, 0),
                        textcoords="offset points", va="center", color=_plot.BAD, fontsize=8)
        if cut:
            _long_sleep(ax, row, parts, zero, left)
    ax.set_xlim(1e3 * left, 1e3 * right)
    step = max(1, len(shown) // 20)
    ax.set_yticks(range(0, len(shown), step), [str(c.n) for c, _, _ in shown][::step])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_ylabel("cycle")
    ax.set_xlabel(f"ms after the {align[0].replace('_', ' ')}")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=6, frameon=False, fontsize=8)
    return ax


def _bars(ax: Any, row: int, cycle: "Cycle", parts: List[Tuple[str, float, float, str]],
          zero: float, named: List[str]) -> None:
    for name, a, b, colour in parts:
        ax.barh(row, 1e3 * (b - a), left=1e3 * (a - zero), height=0.75, color=colour,
                label=None if name in named else name)
        named.append(name)
    for stall in cycle.starvation:
        if stall.t_s is not None and stall.ms is not None and math.isfinite(stall.ms.mid):
            ax.barh(row, stall.ms.mid, left=1e3 * (stall.t_s.mid - zero), height=0.75,
                    color=_plot.BAD, label=None if "starved" in named else "starved")
            named.append("starved")
    # What the cycle's limits leave open: the wake and the end.
    for event in ("off", "wake", "first_beat", "alive"):
        t = cycle.events_s.get(event)
        if t is not None and all(map(math.isfinite, t)):
            ax.plot([1e3 * (t.lo - zero), 1e3 * (t.hi - zero)], [row, row], color="black",
                    linewidth=1.2, solid_capstyle="butt", marker="|", markersize=5)


def _long_sleep(ax: Any, row: int, parts: List[Tuple[str, float, float, str]], zero: float,
                left: float) -> None:
    """The length of a sleep whose begin is left of the picture."""
    for name, a, b, _ in parts:
        if name.startswith("asleep") and a - zero < left:
            ax.text(1e3 * left, row, f" \u25c2 {b - a:.3g} s", color="white", va="center",
                    fontsize=8)


def _ms(value: float, resolution: Optional[float]) -> str:
    """With the digits that the resolution of a cycle leaves."""
    if not resolution or not math.isfinite(resolution):
        return f"{value:.5g}"
    return f"{value:.{max(0, 1 - math.floor(math.log10(resolution)))}f}"


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
        ax.axvline(s.median, color=_plot.MODEL, linewidth=1.5,
                   label=f"median {_ms(s.median, s.resolution)} ms")
        ci = s.ci95
        if ci is not None and all(map(math.isfinite, ci)):
            ax.axvspan(ci.lo, ci.hi, color=_plot.MODEL, alpha=0.18, linewidth=0,
                       label=f"95 %: {_ms(ci.lo, s.resolution)} to "
                             f"{_ms(ci.hi, s.resolution)} ms")
    ax.set_ylim(0, 1.04)
    ax.set_xlabel(f"{latency.replace('_', ' ')}, ms")
    ax.set_ylabel("part of the cycles")
    ax.legend(frameon=False, fontsize=8)
    return ax
