# SPDX-License-Identifier: MIT
"""Comparisons of cycles, delays and verdicts as tables and pictures."""
from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any, List, Optional, Sequence

from . import _plot
from ._result import html_table, plain
from ._resumehtml import between

if TYPE_CHECKING:
    from ._cycles import Shift, ShiftRow, Verdict, Vet


def _digits(r: "ShiftRow") -> int:
    """Decimals worth writing: of the shift's interval, else of its size."""
    half = float(r.ci95.width) / 2 if r.ci95 and all(map(math.isfinite, r.ci95)) else 0.0
    half = half or abs(r.shift) / 100
    if not half or not math.isfinite(half):
        return 1 if math.isinf(half) else 3
    return min(max(-math.floor(math.log10(half)), 0), 3)


def _median(v: float, d: int) -> str:
    return "" if math.isnan(v) else "never" if math.isinf(v) else f"{v:.{min(d + 1, 3)}f}"


def _shift(r: "ShiftRow", d: int, unit: str = "") -> str:
    if math.isnan(r.shift):
        return ""
    if math.isinf(r.shift):
        return "from some time to never" if r.shift > 0 else "from never to some time"
    # So small a part of so small a median says nothing.
    percent = "" if math.isnan(r.percent) or not r.moved else f" ({r.percent:+.3g} %)"
    return f"{r.shift:+.{d}f}{unit}{percent}"


def _ci(r: "ShiftRow", d: int) -> str:
    if math.isnan(r.shift):
        return ""
    if r.ci95 is None or not all(map(math.isfinite, r.ci95)):
        return "too few cycles"
    return f"{r.ci95.lo:+.{d}f} .. {r.ci95.hi:+.{d}f}"


def _verdict(r: "ShiftRow", d: int) -> str:
    if r.verdict == "no difference seen" and math.isfinite(r.mdd):
        return f"{r.verdict} (from {r.mdd:.{d}f} {r.unit} on it would be)"
    return r.verdict


def _row(r: "ShiftRow") -> List[str]:
    d = _digits(r)
    p = r.p_adjusted
    return [f"{r.name.replace('_', ' ')} ({r.unit})", _median(r.median[0], d),
            _median(r.median[1], d), _shift(r, d), _ci(r, d),
            "" if math.isnan(p) else "< 0.0001" if p < 1e-4 else f"{p:.2g}", _verdict(r, d)]


def table(s: "Shift") -> str:
    """Latencies, and what moved."""
    shown = s._shown()
    head = ("", s.a, s.b, "shift", "95 %", "p (Holm)", "")
    sides = [f"{n}: {c} cycles, {f} failed" for n, c, f in zip((s.a, s.b), s.cycles, s.failures)]
    p = "" if math.isnan(s.failures_p) or not any(s.failures) else f" (p {s.failures_p:.2g})"
    said = [f"{c['condition']}: {c['state']}" for c in s.conditions]
    left = len(s.rows) - len(shown)
    more = f"<p>{left} phases and callbacks that did not move are left out</p>" if left else ""
    return (f"<p>{escape('; '.join(sides) + p)}</p>" + html_table(head, map(_row, shown)) + more
            + "".join(f"<p>{escape(x)}</p>" for x in said))


def forest(s: "Shift", ax: Optional[Any], kinds: Optional[Sequence[str]], top: int) -> Any:
    """Shifts with their intervals around 0."""
    found = s._shown(top) if kinds is None else sorted(
        (r for r in s.rows if r.kind in kinds), key=lambda r: -abs(r.shift))[:top]
    rows = [r for r in found if r.unit == "ms" and math.isfinite(r.shift)]
    ax = _plot.axes(ax, height=1.0 + 0.34 * max(2, len(rows)))
    ax.grid(False, axis="y")
    if not rows:
        ax.text(0.5, 0.5, "no figure is known of both", ha="center", transform=ax.transAxes)
        return ax
    ax.grid(True, axis="x", linewidth=0.5, alpha=0.4)
    ax.axvline(0, color="black", linewidth=0.8)
    for i, r in enumerate(rows):
        colour = _plot.MUTED if not r.moved else _plot.BAD if r.shift > 0 else _plot.GOOD
        if not r.moved and math.isfinite(r.mdd):
            ax.barh(i, 2 * r.mdd, left=-r.mdd, height=0.55, color=_plot.MUTED, alpha=0.18)
        if r.ci95 is not None and all(map(math.isfinite, r.ci95)):
            ax.plot([r.ci95.lo, r.ci95.hi], [i, i], color=colour, linewidth=2)
        ax.plot([r.shift], [i], "o", color=colour, markersize=5)
        ax.annotate(_shift(r, _digits(r), " ms") if r.moved else r.verdict, (1, i),
                    xycoords=("axes fraction", "data"), xytext=(4, 0), fontsize=8,
                    textcoords="offset points", va="center", color=colour)
    ax.set_yticks(range(len(rows)), [r.name.replace("_", " ") for r in rows], fontsize=8)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlabel(f"{s.b} − {s.a}, ms (left of 0: {s.b} is faster)")
    return ax


def callbacks(v: "Vet") -> str:
    """Callbacks by what one saves without them."""
    if not v.callbacks:
        return (f"<p>no callback of {v.document['min_ms']:g} ms or more was seen often enough in "
                f"{v.cycles} cycles</p>")
    rows = [(r.device, r.driver, r.phase, str(r.n), f"{r.median_ms:.2f}",
             f"{r.min_ms:.2f} .. {r.max_ms:.2f}", f"{r.spread_ms:.2f}",
             "yes" if r.fixed else "within a tick" if r.within_tick else "no",
             plain(r.written_ms, 4), "" if math.isnan(r.saves_ms) else f"{r.saves_ms:.2f}")
            for r in v.callbacks]
    return html_table(("device", "driver", "phase", "cycles", "median (ms)", "range (ms)",
                       "9 of 10 within (ms)", "fixed", "written as (ms)", "saves (ms)"), rows)


def verdict(v: "Verdict") -> str:
    """A verdict and what it rests on."""
    rows = [("why", v.why), ("surely, at least", f"{100 * v.probability:.4g} %"),
            ("cycles", str(v.cycles))]
    if v.more != 0:
        rows.append(("more cycles", "too near to the threshold" if v.more is None
                     else f"about {v.more}"))
    if v.threshold_ms is not None:
        rows.append(("threshold", f"{v.threshold_ms:.4g} ms"))
    if v.failure_rate is not None:
        rows.append(("threshold", f"{100 * v.failure_rate:.3g} % fail"))
    if v.median_ms is not None:
        rows.append(("median", f"{v.median_ms:.4g} ms"))
    if between(v.ci95_ms):
        rows.append(("95 % of the median", f"{between(v.ci95_ms)} ms"))
    return html_table(("verdict", v.verdict), rows)
