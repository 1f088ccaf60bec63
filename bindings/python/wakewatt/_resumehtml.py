# SPDX-License-Identifier: MIT
"""Cycles as tables that people read."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Dict, List, Optional

from . import _kernlog
from ._result import html_table, plain, prefixed
from ._types import Interval

if TYPE_CHECKING:
    from ._resume import Cycle, LatencySummary, ResumeReport


#: latencies as titles
TITLES: Dict[str, str] = {
    "suspend_entry": "suspend entry", "asleep": "asleep", "firmware": "firmware",
    "kernel": "kernel", "resume_to_uart": "resume to UART", "resume_to_user": "resume to user",
    "resume_to_steady": "resume to steady", "silence": "silence", "dut_asleep": "asleep by the DUT",
    "asleep_firmware": "asleep and firmware", "resume_to_alive": "resume to alive",
    "resume_to_settled": "resume to settled"}


def digits(half: float, value: float) -> int:
    """Decimals worth writing of a value in ms that is known within ± half."""
    if half > 0 and math.isfinite(half):
        return min(max(-math.floor(math.log10(half)), 0), 3)
    return 1 if abs(value) < 1000 else 0


def between(i: Optional[Interval]) -> str:
    """An interval with the decimals that its width is worth; "" for none."""
    if i is None:
        return ""
    lo, hi = i
    if not math.isfinite(lo) and not math.isfinite(hi):
        return ""
    if not math.isfinite(lo):
        return f"≤ {hi:.4g}"
    if not math.isfinite(hi):
        return f"≥ {lo:.4g}"
    d = digits(float(hi - lo) / 2, float(hi))
    return f"{lo:.{d}f} .. {hi:.{d}f}"


def middle(i: Optional[Interval]) -> str:
    """"177.9 ± 1.7", or as between() where it is wide or open."""
    if i is None:
        return ""
    half = float(i.hi - i.lo) / 2
    if not math.isfinite(half) or half > 0.2 * abs(i.mid):
        return between(i)
    d = digits(half, i.mid)
    # Rounded outwards, so that the bounds stay bounds.
    shown = math.ceil(half * 10 ** d) / 10 ** d
    return f"{i.mid:.{d}f} ± {shown:.{d}f}" if shown else f"{i.mid:.{d}f}"


def median(s: "LatencySummary") -> str:
    """The median, or what can be said instead."""
    if 2 * s.bounds > s.n:
        return f"at most {plain(s.median_hi, 4)}"
    if s.median is None or math.isnan(s.median):
        return s.why or ("unbounded: most failed" if s.failures else "not known")
    return f"{s.median:.{digits(s.resolution or 0, s.median)}f}"


def confidence(s: "LatencySummary") -> str:
    """The 95 % interval of the median, or the one that there is with what it covers."""
    if s.ci95 and all(map(math.isfinite, s.ci95)):
        return f"95 %: {between(s.ci95)}"
    if s.ci_actual and s.ci_actual_coverage and all(map(math.isfinite, s.ci_actual)):
        return f"{100 * s.ci_actual_coverage:.0f} %: {between(s.ci_actual)}"
    return "too few cycles"


def _latencies(r: "ResumeReport") -> str:
    rows = []
    for k, s in r.summary.items():
        if not (s.n or s.failures):
            continue
        half = s.resolution
        resolution = "" if half is None else f"{half:.0f}" if half >= 10 else f"{half:.2g}"
        bound = 2 * s.bounds > s.n
        p95 = "" if s.p95 is None or bound else f"{s.p95:.{digits(half or 0, s.p95)}f}"
        rows.append([TITLES.get(k, k), str(s.n), str(s.failures) if s.failures else "",
                     median(s), "" if bound else confidence(s), p95, resolution])
    head = ["latency", "cycles", "failed", "median (ms)", "of the median (ms)", "p95 (ms)",
            "a cycle within ± (ms)"]
    if not any(row[2] for row in rows):
        head, rows = head[:2] + head[3:], [row[:2] + row[3:] for row in rows]
    return html_table(head, rows) if rows else ""


def _cycles(r: "ResumeReport", most: int = 30) -> str:
    wanted = ("suspend_entry", "asleep", "asleep_firmware", "silence", "firmware", "kernel",
              "resume_to_user", "resume_to_alive", "resume_to_steady")
    names = [k for k in wanted if any(k in c.latency_ms for c in r.cycles)]
    if "resume_to_user" in names:
        names = [k for k in names if k not in ("silence", "resume_to_alive")]
    rows: List[List[str]] = []
    for c in r.cycles[:most]:
        result = c.result + (", warm-up" if c.warmup else "")
        if c.reason and c.result != "ok":
            result += f": {c.reason}"
        rows.append([str(c.n), result, *(middle(c.latency_ms.get(k)) for k in names),
                     prefixed(c.energy_J), _kernlog.ms(c.kernel.resume_ms) if c.kernel else "",
                     _kernlog.slow_one(c.kernel) if c.kernel else ""])
    head = ["cycle", "result", *(f"{TITLES.get(k, k)} (ms)" for k in names), "energy",
            "kernel's resume (ms)", "slowest to resume"]
    used = [i for i in range(len(head)) if i < 2 or any(row[i] for row in rows)]
    more = len(r.cycles) - most
    return html_table([head[i] for i in used], [[row[i] for i in used] for row in rows],
                      "± of times are sure bounds, of energies k = 2") + (
        f"<p>and {more} cycles more</p>" if more > 0 else "")


def report(r: "ResumeReport") -> str:
    """The latencies, then the cycles."""
    if not r.cycles:
        return "<p>no cycle of suspend and resume in it</p>"
    return _latencies(r) + _cycles(r)


def cycle(c: "Cycle") -> str:
    """All of one cycle."""
    rows = [["result", c.result + (f": {c.reason}" if c.reason else "")]]
    if c.mode:
        rows.append(["mode", c.mode])
    rows += [[TITLES.get(k, k), middle(i) + " ms"] for k, i in c.latency_ms.items()]
    rows.append(["energy", prefixed(c.energy_J) or f"none: {c.energy_why or 'not known'}"])
    if c.asleep_W:
        rows.append(["asleep", prefixed(c.asleep_W)])
    rows += [["starved", f"{between(s.ms)} ms"] for s in c.starvation]
    rows += [[k, v] for k, v in c.dut.items()]
    return html_table((f"cycle {c.n}", "warm-up: in no figure" if c.warmup else ""), rows) \
        + (c.kernel._repr_html_() if c.kernel else "")
