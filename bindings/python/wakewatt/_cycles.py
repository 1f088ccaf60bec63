# SPDX-License-Identifier: MIT
"""Many cycles beside each other: two builds compared, one judged, fixed delays found."""
from __future__ import annotations

import ctypes
import math
import os
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _ffi, _kernlog, _shiftview
from ._base import View
from ._ffi import lib
from ._kernlog import KernelLog
from ._resume import ResumeReport
from ._result import Report, both, interval, number
from ._types import Interval

#: cycles: a recording (open, or its path), resume() of one, kernel logs by their paths, or a
#: list of these
Cycles = Union[View, ResumeReport, str, "os.PathLike[str]", Sequence[Any]]
_ERROR = _ffi.ww_error
_DETAIL = ("phase", "device", "other")


class CycleSet:
    """Figures of many cycles by name; built once and used in several comparisons.

    ``cycles``: a recording (open, or its path), resume() of one, a kernel log (kernlog(), or its
    path), or a list of these; paths joined by "+" tell of the same cycles. ``name``: None: the
    first file's. ``port``, ``console``: names of a recording's serial sources. ``baud``,
    ``no_console``: of kernel text, see kernlog(). TypeError: nothing that has cycles.
    Error: what cannot be read.
    """

    def __init__(self, cycles: Cycles, name: Optional[str] = None, *, port: Optional[str] = None,
                 console: Optional[str] = None, baud: Optional[int] = None,
                 no_console: bool = False) -> None:
        listed = list(cycles) if isinstance(cycles, (list, tuple)) else [cycles]
        self._resume: Dict[str, Any] = {"port": port, "console": console}
        self._text: Dict[str, Any] = {"baud": baud, "no_console": no_console}
        if not listed:
            raise ValueError("no cycles: name a recording or a kernel log")
        if name is None:
            more = f" and {len(listed) - 1} more" if len(listed) > 1 else ""
            name = _name(listed[0]) + more
        self.name = name
        self._handle = _ffi.Handle.new(lib.ww_cycleset_new, lib.ww_cycleset_free, _ffi.raw(name),
                                       what=f"the cycles of {name}")
        for one in listed:
            self._add(one)

    def _add(self, one: Any) -> None:
        if isinstance(one, ResumeReport):
            lib.ww_cycleset_add_resume(self._handle(), one._handle(), _ERROR())
        elif isinstance(one, View):
            self._add(one.resume(**self._resume))  # type: ignore[attr-defined]
        elif isinstance(one, KernelLog):
            if one._make is None:
                raise ValueError("a log that was made by hand has no cycles to add")
            self._read(one._make())
        else:
            self._add_path(os.fspath(one))

    def _add_path(self, operand: str) -> None:
        parts = [operand] if os.path.exists(operand) else [p for p in operand.split("+") if p]
        recordings = [p for p in parts if _kernlog.is_recording(p)]
        rest: List[Any] = [p for p in parts if p not in recordings]
        if len(recordings) > 1:
            raise ValueError(f"{operand}: a second recording of the same cycles; recordings of "
                             "one side are a list")
        if not recordings:
            self._read(_kernlog.Reader(_kernlog.Texts(rest),
                                       _kernlog.options(gap_s=None, **self._text)))
            return
        from ._trace import Trace

        with Trace(recordings[0]) as trace:
            self._add(trace.resume(text=rest or None, **self._resume, **self._text))

    def _read(self, reader: _kernlog.Reader) -> None:
        try:
            lib.ww_cycleset_add_kernlog(self._handle(), reader.handle(), _ERROR())
        finally:
            reader.close()

    def __len__(self) -> int:
        """Number of cycles."""
        return int(lib.ww_cycleset_cycles(self._handle()))

    def __repr__(self) -> str:
        return f"<wakewatt.CycleSet {self.name}: {len(self)} cycles>"


def _name(first: Any) -> str:
    """A set is named after its first file."""
    if isinstance(first, (ResumeReport, View, KernelLog)):
        path = (first._view.path if isinstance(first, ResumeReport)
                else first.path if isinstance(first, View) else first.name)
    elif isinstance(first, (str, os.PathLike)):
        path = os.fspath(first)
    else:
        raise TypeError("cycles come from a recording, a report of one, a kernel log or a path, "
                        f"not from {type(first).__name__}")
    base = os.path.basename(path if os.path.exists(path) else path.split("+")[0])
    return os.path.splitext(base)[0] or base


def _set(cycles: Any, name: Optional[str] = None, **how: Any) -> CycleSet:
    return cycles if isinstance(cycles, CycleSet) else CycleSet(cycles, name, **how)


@dataclass(frozen=True)
class ShiftRow:
    """One figure in both sets; ``shift`` is B - A."""

    name: str  #: "resume_to_user", "phase resume_noirq", "device 0000:00:1f.2 (ahci) resume"
    kind: str  #: "latency", "kernel", "phase", "device", "energy"
    unit: str  #: "ms", "J", "W"
    n: Tuple[int, int]  #: cycles with it
    failures: Tuple[int, int]  #: cycles that never ended
    median: Tuple[float, float]  #: NaN unknown; infinite: most cycles never ended
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
        never = d.get("median_never") or (False, False)
        medians = [math.inf if n else m
                   for m, n in zip(d.get("median") or (None, None), never)]
        if s.get("infinite"):
            s = {**s, "value": math.inf if s["infinite"] == "+" else -math.inf}
        return ShiftRow(d["name"], d["kind"], d["unit"], (a[0], a[1]), (b[0], b[1]),
                        (number(medians[0]), number(medians[1])), number(s.get("value")),
                        interval(s.get("ci95")), number(s.get("percent")), number(d.get("p")),
                        number(d.get("p_adjusted")), number(d.get("resolution")),
                        number(d.get("mdd")), d["verdict"])

    @property
    def moved(self) -> bool:
        """Whether a difference was seen."""
        return self.verdict in ("slower", "faster", "more", "less", "only in A", "only in B")


@dataclass(frozen=True, repr=False)
class Shift(Report):
    """Two sets of cycles beside each other: what ``resumetime compare`` prints."""

    a: str  #: name of the first set
    b: str
    cycles: Tuple[int, int]
    rows: Tuple[ShiftRow, ...]
    result: str  #: "passed", "failed" or "undecided", by ``fail_if``
    failures: Tuple[int, int]  #: cycles that failed
    failures_p: float  #: of "both fail alike" (Fisher's exact test)
    conditions: Tuple[Dict[str, Any], ...]  #: of ``fail_if``: condition, state, of, limit, ...
    markdown: str = field(repr=False)  #: for a merge request
    junit: str = field(repr=False)  #: JUnit XML

    @property
    def failed(self) -> bool:
        """Whether a condition of ``fail_if`` is met."""
        return self.result == "failed"

    def __len__(self) -> int:
        return len(self.rows)

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

    def _shown(self, most: int = 20) -> List[ShiftRow]:
        """Latencies and energies, then the phases and devices that moved most."""
        detail = [r for r in self.moved if r.kind in _DETAIL]
        detail.sort(key=lambda r: -abs(r.shift) if math.isfinite(r.shift) else -math.inf)
        return [r for r in self.rows if r.kind not in _DETAIL] + detail[:most]

    def _html(self) -> str:
        return _shiftview.table(self)

    def plot(self, ax: Optional[Any] = None, *, kinds: Optional[Sequence[str]] = None,
             top: int = 20) -> Any:
        """Shifts with their 95 % intervals, in ms; those that moved in colour.

        A grey bar is what would have been seen where nothing was. ``kinds``: "latency", "kernel",
        "phase", "device"; None: latencies, and the phases and devices that moved. ``top``: so
        many of these. Returns the matplotlib Axes.
        """
        return _shiftview.forest(self, ax, kinds, top)


def shift(a: Any, b: Any, fail_if: Union[str, Sequence[str], None] = None, top: int = 0, *,
          names: Optional[Sequence[str]] = None, **how: Any) -> Shift:
    """Compare two sets of cycles, recordings or kernel logs: wakewatt.compare() does it, too.

    ``a``, ``b``: each a CycleSet or what makes one. ``fail_if``: "resume > 5% slower",
    "failures > 0", one or several (resumetime-compare(1)). ``top``: devices and phases told; 0
    those that moved. ``names``: what to call the two. The rest: ``port``, ``console``, ``baud``,
    ``no_console``, see CycleSet. Error: no cycles, a condition that is none.
    """
    if names is not None and (isinstance(names, str) or len(names) != 2):
        raise ValueError(f"names are two, ('before', 'after'), not {names!r}")
    first, second = (_set(x, names[i] if names else None, **how) for i, x in enumerate((a, b)))
    if fail_if is not None and not isinstance(fail_if, str):
        fail_if = ",".join(fail_if) or None
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
                 tuple(ShiftRow._of(m) for m in d["metrics"]), d["result"],
                 (d["a"]["failures"], d["b"]["failures"]), number(d["failures_p"]),
                 tuple(d["conditions"]), markdown, junit)


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
        return _shiftview.callbacks(self)


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

    # None: does not apply, or cannot be said

    verdict: str  #: "good", "bad" or "skip"
    probability: float  #: that the side which is ahead is the right one, at least
    cycles: int  #: used
    more: Optional[int]  #: cycles more that the certainty needs; 0 enough; None: too near
    why: str
    threshold_ms: Optional[float]
    failure_rate: Optional[float]  #: the limit, of failures
    median_ms: Optional[float]
    ci95_ms: Optional[Interval]  #: of the median

    def _html(self) -> str:
        return _shiftview.verdict(self)

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
    ValueError: neither a threshold nor good and bad. Error: no such metric.
    """
    if failure_rate is not None:
        metric = metric or "failures"
    if metric == "failures" and threshold_ms is not None:
        raise ValueError("failures have no time: failure_rate instead of threshold_ms")
    if threshold_ms is None and metric != "failures" and (good is None or bad is None):
        raise ValueError("what is bad? Give good and bad, or threshold_ms")
    built = [None if s is None else _set(s, name)
             for s, name in ((now, "this build"), (good, "good"), (bad, "bad"))]
    options = _ffi.options(_ffi.ww_bisect_options, metric=metric, threshold_ms=threshold_ms,
                           certainty=certainty, failure_rate=failure_rate)
    out = _ffi.ww_bisect()
    lib.ww_bisect_judge(*(None if s is None else s._handle() for s in built),
                        ctypes.byref(options), ctypes.byref(out), _ERROR())
    d, text = both(lib.ww_bisect_report, ctypes.byref(out))
    more = None if out.more == 2**64 - 1 else int(out.more)
    return Verdict(tuple(d.get("notes") or ()), d, text,
                   _ffi.word(_ffi.ww_bisect_verdict, out.verdict), out.probability, out.cycles,
                   more, d["why"], d["threshold_ms"], d["failure_rate"], d["median_ms"],
                   None if d["ci95_ms"] in (None, [None, None]) else interval(d["ci95_ms"]))
