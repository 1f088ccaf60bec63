# SPDX-License-Identifier: MIT
"""Many cycles beside each other: two builds compared, one judged, fixed delays found."""
from __future__ import annotations

import ctypes
import math
import os
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _ffi, _kernlog, _plot
from ._base import View
from ._ffi import lib
from ._resume import ResumeReport
from ._result import Report, both, html_table, interval, number, plain
from ._types import Interval

#: cycles: a recording (open, or its path), resume() of one, kernel logs by their paths, or a
#: list of these
Cycles = Union[View, ResumeReport, str, "os.PathLike[str]", Sequence[Any]]
_ERROR = _ffi.ww_error


def _is_recording(path: Any) -> bool:
    try:
        with open(path, "rb") as f:
            return f.read(15) == b"SQLite format 3"
    except OSError:
        return False  # the library says it better


class CycleSet:
    """Figures of many cycles by name; built once and used in several comparisons."""

    def __init__(self, cycles: Cycles, name: Optional[str] = None) -> None:
        listed = list(cycles) if isinstance(cycles, (list, tuple)) else [cycles]
        if not listed:
            raise ValueError("no cycles: name a recording or a kernel log")
        if name is None:
            first: Any = listed[0]
            path = (first._view.path if isinstance(first, ResumeReport)
                    else first.path if isinstance(first, View) else str(os.fspath(first)))
            name = os.path.splitext(os.path.basename(path))[0]
        self.name = name
        self._handle = _ffi.Handle.new(lib.ww_cycleset_new, lib.ww_cycleset_free, _ffi.raw(name),
                                       what=f"the cycles of {name}")
        for one in listed:
            self._add(one)

    def _add(self, one: Any) -> None:
        if isinstance(one, ResumeReport):
            lib.ww_cycleset_add_resume(self._handle(), one._handle(), _ERROR())
        elif isinstance(one, View):
            self._add(one.resume())  # type: ignore[attr-defined]
        elif _is_recording(one):
            from ._trace import Trace

            with Trace(one) as trace:
                self._add(trace.resume())
        else:
            reader = _kernlog.Reader(_kernlog.Texts(one), _kernlog.options(None, False, None))
            try:
                lib.ww_cycleset_add_kernlog(self._handle(), reader.handle(), _ERROR())
            finally:
                reader.close()

    def __len__(self) -> int:
        """Number of cycles."""
        return int(lib.ww_cycleset_cycles(self._handle()))

    def __repr__(self) -> str:
        return f"<wakewatt.CycleSet {self.name}: {len(self)} cycles>"


def _set(cycles: Any) -> CycleSet:
    return cycles if isinstance(cycles, CycleSet) else CycleSet(cycles)


@dataclass(frozen=True)
class ShiftRow:
    """One figure in both sets; ``shift`` is B - A."""

    name: str  #: "resume_to_user", "phase resume_noirq", "device 0000:00:1f.2 (ahci) resume"
    kind: str  #: "latency", "kernel", "phase", "device", "energy"
    unit: str  #: "ms", "J", "W"
    n: Tuple[int, int]  #: cycles with it
    failures: Tuple[int, int]  #: cycles that never ended
    median: Tuple[float, float]  #: NaN unknown
    shift: float  #: Hodges-Lehmann; NaN unknown
    ci95: Optional[Interval]  #: of the shift; an open end is infinite
    percent: float  #: shift as a part of A's median; NaN unknown
    p: float  #: of no difference, by ranks
    p_adjusted: float  #: Holm, over the rows of its kind
    resolution: float  #: of one cycle, half-width
    mdd: float  #: least difference that would have been seen in 8 of 10 cases
    verdict: str  #: "slower", "faster", "no difference seen", "below resolution", ...

    @staticmethod
    def _of(d: Dict[str, Any]) -> "ShiftRow":
        s = d.get("shift") or {}
        a, b = (tuple(d.get(k) or (0, 0)) for k in ("n", "failures"))
        medians = d.get("median") or (None, None)
        return ShiftRow(d["name"], d["kind"], d["unit"], (a[0], a[1]), (b[0], b[1]),
                        (number(medians[0]), number(medians[1])), number(s.get("value")),
                        interval(s.get("ci95")), number(s.get("percent")), number(d.get("p")),
                        number(d.get("p_adjusted")), number(d.get("resolution")),
                        number(d.get("mdd")), d["verdict"])

    @property
    def moved(self) -> bool:
        """Whether a difference was seen."""
        return self.verdict in ("slower", "faster", "more", "less")


@dataclass(frozen=True, repr=False)
class Shift(Report):
    """Two sets of cycles beside each other: what ``resumetime compare`` prints."""

    a: str  #: name of the first set
    b: str
    cycles: Tuple[int, int]
    rows: Tuple[ShiftRow, ...]
    result: str  #: "passed", "failed" or "undecided", by ``fail_if``
    markdown: str = field(repr=False)  #: for a merge request
    junit: str = field(repr=False)  #: JUnit XML

    def _summary(self) -> str:
        return (f"{self.a} ({self.cycles[0]} cycles) and {self.b} ({self.cycles[1]}): "
                f"{len(self.moved)} of {len(self.rows)} figures moved")

    def __getitem__(self, name: str) -> ShiftRow:
        for r in self.rows:
            if r.name == name:
                return r
        raise KeyError(f"no figure {name!r}; there are {', '.join(r.name for r in self.rows)}")

    @property
    def moved(self) -> Tuple[ShiftRow, ...]:
        """Figures of which a difference was seen."""
        return tuple(r for r in self.rows if r.moved)

    def _html(self) -> str:
        def ci(r: ShiftRow) -> str:
            if r.ci95 is None or not all(map(math.isfinite, r.ci95)):
                return "unbounded"
            return f"{r.ci95.lo:+.4g} to {r.ci95.hi:+.4g}"

        rows = [(r.name, plain(r.median[0], 5), plain(r.median[1], 5),
                 "" if math.isnan(r.shift) else f"{r.shift:+.4g} {r.unit}",
                 "" if math.isnan(r.shift) else ci(r),
                 plain(r.p_adjusted, 2), r.verdict) for r in self.rows]
        return html_table(("figure", f"median {self.a}", f"median {self.b}", "shift", "95 %",
                           "p (Holm)", ""), rows)

    def plot(self, ax: Optional[Any] = None, *, kinds: Optional[Sequence[str]] = None,
             top: int = 20) -> Any:
        """Shifts with their 95 % intervals, in ms; those that moved in colour.

        ``kinds``: "latency", "kernel", "phase", "device"; None: all. ``top``: the greatest.
        """
        rows = [r for r in self.rows if r.unit == "ms" and math.isfinite(r.shift)
                and (kinds is None or r.kind in kinds)]
        rows = sorted(rows, key=lambda r: -abs(r.shift))[:top]
        ax = _plot.axes(ax, height=1.0 + 0.3 * max(1, len(rows)))
        ax.grid(False, axis="y")
        ax.grid(True, axis="x", linewidth=0.5, alpha=0.4)
        ax.axvline(0, color="black", linewidth=0.8)
        for i, r in enumerate(rows):
            colour = _plot.MUTED if not r.moved else _plot.BAD if r.shift > 0 else _plot.GOOD
            if r.ci95 is not None and all(map(math.isfinite, r.ci95)):
                ax.plot([r.ci95.lo, r.ci95.hi], [i, i], color=colour, linewidth=2)
            ax.plot([r.shift], [i], "o", color=colour, markersize=5)
        ax.set_yticks(range(len(rows)), [r.name.replace("_", " ") for r in rows])
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.set_xlabel(f"{self.b} beside {self.a}, ms (right of 0: slower)")
        return ax


def shift(a: Any, b: Any, fail_if: Optional[str] = None, top: int = 0) -> Shift:
    """Compare two sets of cycles, recordings or kernel logs: wakewatt.compare() does it, too.

    ``a``, ``b``: each a CycleSet or what makes one. ``fail_if``: "resume > 5% slower",
    "failures > 0", joined by ',' (resumetime-compare(1)). ``top``: devices and phases told; 0
    those that moved. Error: no cycles, a condition that is none.
    """
    first, second = _set(a), _set(b)
    options = _ffi.options(_ffi.ww_shift_options, fail_if=fail_if, top=top)
    handle = _ffi.Handle.new(lib.ww_shift_new, lib.ww_shift_free, first._handle(),
                             second._handle(), ctypes.byref(options), what="the comparison",
                             keep=(first, second))
    try:
        d, text = both(lib.ww_shift_report, handle())
        markdown, junit = (_ffi.report(lib.ww_shift_report, handle(), form) for form in
                           (_ffi.ww_report_form.MARKDOWN, _ffi.ww_report_form.JUNIT))
    finally:
        handle.close()
    return Shift(tuple(d["notes"]), d, text, d["a"]["name"], d["b"]["name"],
                 (d["a"]["cycles"], d["b"]["cycles"]),
                 tuple(ShiftRow._of(m) for m in d["metrics"]), d["result"], markdown, junit)


@dataclass(frozen=True)
class VetRow:
    """A callback, and how alike its times are over all cycles; ms."""

    device: str
    driver: str
    callback: str
    phase: str
    n: int
    fixed: bool  #: the same within the spread: a delay that someone wrote
    within_tick: bool  #: within a tick of the timer, as msleep() is
    median_ms: float
    min_ms: float
    max_ms: float
    spread_ms: float  #: width that holds 9 of 10
    written_ms: float  #: what the delay was probably written as; NaN
    saves_ms: float  #: its own part of the critical path; NaN unknown

    @staticmethod
    def _of(d: Dict[str, Any]) -> "VetRow":
        return VetRow(d["device"], d["driver"], d["callback"], d["phase"], d["n"],
                      bool(d["fixed"]), bool(d["within_tick"]),
                      *(number(d.get(k + "_ms")) for k in ("median", "min", "max", "spread",
                                                           "written", "saves")))


@dataclass(frozen=True, repr=False)
class Vet(Report):
    """Callbacks with fixed delays: what ``resumetime vet`` prints."""

    cycles: int
    callbacks: Tuple[VetRow, ...]

    def _summary(self) -> str:
        return f"{len(self.callbacks)} callbacks over {self.cycles} cycles"

    def _html(self) -> str:
        rows = [(r.device, r.driver, r.phase, str(r.n), plain(r.median_ms, 4),
                 plain(r.spread_ms, 2), plain(r.written_ms, 4), plain(r.saves_ms, 4))
                for r in self.callbacks]
        return html_table(("device", "driver", "phase", "n", "median, ms", "spread, ms",
                           "written, ms", "saves, ms"), rows)


def vet(*sets: Any, min_ms: Optional[float] = None, spread_ms: Optional[float] = None,
        min_cycles: Optional[int] = None) -> Vet:
    """Callbacks whose time is the same whatever else happens: delays that someone wrote.

    ``sets``: CycleSets or what makes one; of several machines the callback must be the same in
    all. ``min_ms``: shorter ones are not told (5). ``spread_ms``: the same within so much (1).
    ``min_cycles``: seen at least so often (3). Error: no cycles.
    """
    built: List[CycleSet] = [_set(s) for s in sets]
    if not built:
        raise ValueError("nothing to vet: name kernel logs or recordings with a console")
    options = _ffi.options(_ffi.ww_vet_options, min_ms=min_ms, spread_ms=spread_ms,
                           min_cycles=min_cycles)
    array = (ctypes.c_void_p * len(built))(*[s._handle() for s in built])
    handle = _ffi.Handle.new(lib.ww_vet_new, lib.ww_vet_free, array, len(built),
                             ctypes.byref(options), what="the vetting", keep=(built,))
    try:
        d, text = both(lib.ww_vet_report, handle())
    finally:
        handle.close()
    return Vet(tuple(d["notes"]), d, text, d["cycles"],
               tuple(VetRow._of(r) for r in d["callbacks"]))


@dataclass(frozen=True, repr=False)
class Verdict(Report):
    """Is this build good or bad? What ``resumetime bisect-step`` prints."""

    verdict: str  #: "good", "bad" or "skip"
    probability: float  #: that the side which is ahead is the right one, at least
    cycles: int  #: used
    more: Optional[int]  #: cycles more that the certainty needs; 0 enough; None: too near
    why: str

    def _summary(self) -> str:
        return f"{self.verdict}, {self.probability:.4g} sure by {self.cycles} cycles"

    @property
    def exit_status(self) -> int:
        """For ``git bisect run``: 0, 1 or 125."""
        return int(_ffi.number(_ffi.ww_bisect_verdict, self.verdict, "verdict"))


def bisect(now: Any, good: Any = None, bad: Any = None, *, metric: Optional[str] = None,
           threshold_ms: Optional[float] = None, certainty: Optional[float] = None,
           failure_rate: Optional[float] = None) -> Verdict:
    """Judge the cycles of a build, between a good and a bad one or against a threshold.

    ``now``, ``good``, ``bad``: CycleSets or what makes one. ``metric``: "resume_to_user",
    "device ..."; ``threshold_ms``: bad is slower; None: half-way between good and bad.
    ``certainty``: wanted, 0.99. ``failure_rate``: of the metric "failures".
    Error: neither a threshold nor good and bad; no such metric.
    """
    built = [None if s is None else _set(s) for s in (now, good, bad)]
    options = _ffi.options(_ffi.ww_bisect_options, metric=metric, threshold_ms=threshold_ms,
                           certainty=certainty, failure_rate=failure_rate)
    out = _ffi.ww_bisect()
    lib.ww_bisect_judge(*(None if s is None else s._handle() for s in built),
                        ctypes.byref(options), ctypes.byref(out), _ERROR())
    d, text = both(lib.ww_bisect_report, ctypes.byref(out))
    more = None if out.more == 2**64 - 1 else int(out.more)
    return Verdict(tuple(d.get("notes") or ()), d, text,
                   _ffi.word(_ffi.ww_bisect_verdict, out.verdict), out.probability, out.cycles,
                   more, _ffi.text(out.why))
