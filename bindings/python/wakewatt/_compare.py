# SPDX-License-Identifier: MIT
"""Sets of runs, of numbers, or of cycles beside each other."""
from __future__ import annotations

import ctypes
import math
import os
from array import array
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _cycles, _ffi, _parse, _plot, _runs
from ._ffi import lib
from ._parse import PART, Given
from ._result import Report, both, html_table, interval, number, plain, prefixed, quantity
from ._resume import ResumeReport
from ._trace import Trace
from ._types import Interval, Quantity


@dataclass(frozen=True)
class ComparisonRow:
    """B beside A (the base) in one measure. NaN or None: cannot be given."""

    measure: str  #: "energy", "time", "energy per unit", ...
    unit: str
    a: str  #: variant that is the base
    b: str
    n_a: int  #: values
    n_b: int
    failed_a: int  #: runs without a value
    failed_b: int
    mean_a: Optional[Quantity]  #: u: of the scatter from run to run alone; twice u covers 95 %
    mean_b: Optional[Quantity]
    sd_a: float  #: standard deviation from run to run
    sd_b: float
    pairs: int  #: 0: not paired
    method: str  #: "paired t of log ratios", "Welch's t of logs", ...
    verdict: str  #: "less", "more", "no difference seen", "below the resolution", "unknown"
    sentence: str  #: "B uses 1.2 % less; 95 %: 1.1-1.4 %"
    ratio: float  #: b/a
    ratio_ci: Optional[Interval]  #: with the meter's uncertainty
    u_runs: float  #: relative standard uncertainty of the ratio from the scatter
    u_meter: float  #: and from the meter: what does not cancel
    df: float  #: effective degrees of freedom of both
    difference: Optional[Quantity]  #: b - a
    difference_ci: Optional[Interval]
    p: float  #: of "no difference", two-sided, by ``method``
    p_holm: float  #: corrected for the number of variants (Holm)
    signed_rank_p: float  #: Wilcoxon's; NaN where not paired
    mann_whitney_u: float
    mann_whitney_p: float
    brunner_munzel_p: float
    shift: float  #: Hodges-Lehmann
    shift_ci: Optional[Interval]  #: of the rank test; None: so few runs bound nothing
    cliffs_delta: float  #: P(b > a) - P(b < a): -1 .. 1
    cohens_d: float
    detectable: float  #: the smallest relative difference that would have been seen
    detectable_abs: float  #: the same in ``unit``
    needed: float  #: pairs (or runs of each) that would see half of it


def _bounds(pair: Sequence[Optional[float]]) -> Optional[Interval]:
    """An interval of which at least one end is known."""
    return None if pair[0] is None and pair[1] is None else interval(pair)


def _row(d: Dict[str, Any]) -> ComparisonRow:
    a, b, unit = d["a"], d["b"], d["unit"]
    ranks, tests = d["hodges_lehmann"], d["mann_whitney"]
    return ComparisonRow(
        d["measure"], unit, a["variant"], b["variant"], a["runs"], b["runs"], a["failed"],
        b["failed"], quantity(a["mean"], unit), quantity(b["mean"], unit), number(a["sd"]),
        number(b["sd"]), d["pairs"], d["method"], d["verdict"], d["sentence"],
        number(d["ratio"]), _bounds(d["ratio_ci"]), number(d["u_runs"]), number(d["u_meter"]),
        number(d["df"]), quantity(d["difference"], unit), _bounds(d["difference_ci"]),
        number(d["p"]), number(d["p_holm"]), number(d["signed_rank"]["p"]), number(tests["u"]),
        number(tests["p"]), number(d["brunner_munzel"]["p"]), number(ranks["shift"]),
        _bounds(ranks["ci"]), number(d["cliffs_delta"]), number(d["cohens_d"]),
        number(d["would_be_seen"]), number(d["would_be_seen_abs"]),
        number(d["runs_to_see_half"]))


def _p(p: float) -> str:
    return "" if math.isnan(p) else "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def _ratio(r: ComparisonRow) -> Tuple[str, str]:
    """Ratio and its interval with the digits that this is worth."""
    if not math.isfinite(r.ratio):
        return "", ""
    if r.ratio_ci is None or not all(map(math.isfinite, r.ratio_ci)):
        return plain(r.ratio, 4), ""
    half = float(r.ratio_ci.width) / 2
    d = 4 if half <= 0 else min(max(1 - math.floor(math.log10(half)), 0), 6)
    return f"{r.ratio:.{d}f}", f"{r.ratio_ci.lo:.{d}f} .. {r.ratio_ci.hi:.{d}f}"


@dataclass(frozen=True, repr=False)
class Comparison(Report):
    """What ``pwrlog compare`` prints: each variant beside the base in each measure."""

    confidence: float  #: of the intervals, 0.95
    power: float  #: with which a difference of ``detectable`` would have been seen, 0.8
    rows: Tuple[ComparisonRow, ...]  #: by measure, then by variant

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Union[str, Tuple[str, str]]) -> ComparisonRow:
        """By measure, or by (measure, variant) where several are compared with the base.

        KeyError: no such one, or a measure of several variants.
        """
        measure, variant = (key, None) if isinstance(key, str) else key
        found = [r for r in self.rows if r.measure == measure and variant in (None, r.b)]
        if len(found) == 1:
            return found[0]
        names = ", ".join(repr((r.measure, r.b)) for r in self.rows)
        raise KeyError(f"{'several' if found else 'no'} rows {key!r}; there are {names or 'none'}")

    @property
    def sentences(self) -> Tuple[str, ...]:
        """What each row says in words."""
        return tuple(r.sentence for r in self.rows)

    def _summary(self) -> str:
        return "; ".join(f"{r.measure}: {r.sentence}" for r in self.rows[:2]) \
            + (" ..." if len(self.rows) > 2 else "")

    def _html(self) -> str:
        one = len({(r.a, r.b) for r in self.rows}) == 1
        rows = []
        for r in self.rows:
            ratio, ci = _ratio(r)
            rows.append([r.measure, *(() if one else (f"{r.b} / {r.a}",)),
                         prefixed(r.mean_a) or "", prefixed(r.mean_b), ratio, ci,
                         _p(r.p_holm), _percent(r.detectable)])
        a, b = (self.rows[0].a, self.rows[0].b) if one else ("base", "variant")
        head = ["measure", *(() if one else ("variants",)), a, b, f"{b} / {a}" if one else "ratio",
                f"{100 * self.confidence:.4g} %", "p", "seen from"]
        said = "".join(f"<li>{_escape(r.measure)}: {_escape(r.sentence)}</li>"
                       for r in self.rows)
        return f"<ul>{said}</ul>" + html_table(head, rows, "± is k = 2, of the scatter alone")

    def plot(self, ax: Optional[Any] = None) -> Any:
        """Ratios with their intervals around 1, one line a comparison (a forest plot).

        Where no difference was seen, a grey bar shows what would have been. An interval that
        leaves the picture ends in an arrow. Returns the matplotlib Axes.
        """
        ax = _plot.axes(ax, height=1.0 + 0.42 * len(self.rows))
        lo, hi = _window(self.rows)
        one = len({(r.a, r.b) for r in self.rows}) == 1
        ax.axvline(1, color=_plot.MUTED, linewidth=1)
        for k, r in enumerate(self.rows):
            _draw_row(ax, k, r, lo, hi)
        ax.set_yticks(range(len(self.rows)),
                      [r.measure if one else f"{r.measure}: {r.b}" for r in self.rows])
        ax.set_ylim(len(self.rows) - 0.4, -0.6)
        ax.set_xlim(lo, hi)
        ax.grid(False, axis="y")
        ax.grid(True, axis="x", linewidth=0.5, alpha=0.4)
        bases = {r.a for r in self.rows}
        base = bases.pop() if len(bases) == 1 else "base"
        ax.set_xlabel(f"ratio {self.rows[0].b if one else 'variant'} / {base}, "
                      f"{100 * self.confidence:.4g} % interval")
        return ax


def _percent(part: float) -> str:
    return f"{100 * part:.2g} %" if part < 1 else f"{100 * part:.0f} %" if part < 1e4 else ""


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _window(rows: Sequence[ComparisonRow]) -> Tuple[float, float]:
    """What to show: all ratios above 0 that their intervals bound within a factor of 3, and 1."""
    ends = [1.0]
    for r in rows:
        ci = r.ratio_ci
        if ci and ci.lo > 0 and ci.hi < 3 * ci.lo:
            ends += [float(ci.lo), float(ci.hi)]
        elif 0.3 < r.ratio < 3:
            ends.append(r.ratio)
        if r.verdict == "no difference seen" and r.detectable < 0.5:
            ends += [1 - r.detectable, 1 + r.detectable]
    width = max(ends) - min(ends) or 0.1
    return min(ends) - 0.08 * width, max(ends) + 0.08 * width


def _draw_row(ax: Any, k: int, r: ComparisonRow, lo: float, hi: float) -> None:
    seen = r.verdict in ("less", "more")
    color = {"less": _plot.GOOD, "more": _plot.BAD}.get(r.verdict, _plot.MUTED)
    if not seen and math.isfinite(r.detectable):
        a, b = max(1 - r.detectable, lo), min(1 + r.detectable, hi)
        ax.barh(k, b - a, left=a, height=0.5, color=_plot.MUTED, alpha=0.18)
    if r.ratio_ci:
        a, b = max(float(r.ratio_ci.lo), lo), min(float(r.ratio_ci.hi), hi)
        if a < b:
            ax.plot([a, b], [k, k], color=color, linewidth=2, solid_capstyle="butt")
        for end, out, sign in ((lo, r.ratio_ci.lo < lo, "<"), (hi, r.ratio_ci.hi > hi, ">")):
            if out and a < b:
                ax.plot([end], [k], sign, color=color, clip_on=False, markersize=6)
    if lo <= r.ratio <= hi:
        ax.plot([r.ratio], [k], "o" if seen else "D", color=color, markersize=6)
    text, _ = _ratio(r)
    ax.annotate(f"{text}  {r.verdict}" if text else "no ratio: " + r.verdict, (1, k),
                xycoords=("axes fraction", "data"), xytext=(10, 0), textcoords="offset points",
                va="center", fontsize="small", color=color, annotation_clip=False)


# --- what is compared


def _is_trace(thing: Any) -> bool:
    return isinstance(thing, Trace)


def _told_as_cycles(thing: Any) -> bool:
    """Resume reports and sets of cycles, or a list that begins with one."""
    first = thing[0] if isinstance(thing, (list, tuple)) and thing else thing
    return isinstance(first, (_cycles.CycleSet, ResumeReport))


def _trace_file(path: str) -> bool:
    """A file that is no text, or a stream of records, is a trace."""
    with open(path, "rb") as f:
        head = f.read(4095)
    return b"\0" in head or (head[:1] == b"{" and b"wakewatt" in head
                             and b'"results"' not in head)


def _flat(things: Sequence[Any]) -> Tuple[List[Any], List[Any]]:
    """(traces and paths of traces, the rest); a list of traces counts as its traces."""
    traces: List[Any] = []
    rest: List[Any] = []
    for thing in things:
        listed = thing if isinstance(thing, (list, tuple)) and thing else [thing]
        if all(_is_trace(x) or isinstance(x, (str, os.PathLike)) for x in listed):
            for x in listed:
                a_trace = _is_trace(x) or _path_of_trace(x)
                (traces if a_trace else rest).append(x)
        else:
            rest.append(thing)
    return traces, rest


def _path_of_trace(path: Any) -> bool:
    try:
        return _trace_file(os.fspath(path))
    except OSError as e:
        raise _ffi.Error(e.errno, f"{os.fspath(path)}: {e.strerror}") from None


def _has_runs(trace: Any) -> bool:
    return any(m.kind == _ffi.MARK_RUN_START for m in trace.marks)


def _stem(path: Any) -> str:
    """The name of a file without its folder and ending."""
    name: str = os.path.basename(os.fspath(path))
    return name[:name.rfind(".")] if name.rfind(".") > 0 else name


def _meters(traces: Sequence[Any]) -> bool:
    """Whether what the traces say of their meters differs."""
    first = [next((s for s in t.sources.values() if s.kind == "meter"), None) for t in traces]
    found = [s for s in first if s]
    serials = {s.serial for s in found if s.serial}
    return len({(s.driver, s.model) for s in found}) > 1 or len(serials) > 1


def _check_names(names: Sequence[str]) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ValueError(f"two of them are called {name!r}: tell them apart with "
                             "names=('A', 'B')")


def _options(paired: Optional[bool], base: Optional[str], resolution: Optional[Given],
             offset_u: Optional[float], gain_u: Optional[Given], confidence: Given,
             power: Given) -> _ffi.ww_compare_options:
    o: _ffi.ww_compare_options = _ffi.options(_ffi.ww_compare_options, base=base)
    if paired is not None:
        o.pairing = _ffi.ww_pairing.YES if paired else _ffi.ww_pairing.NO
    for name, value in (("conf", confidence), ("power", power), ("gain_u", gain_u)):
        if value is not None:
            what = {"conf": "confidence"}.get(name, name)
            setattr(o, name, _parse.exact(value, PART, what))
            if getattr(o, name) >= 1:
                raise ValueError(f"{what}: {value} is not a part below 1, or below '100%'")
    for name, number_ in (("resolution", resolution), ("offset_u", offset_u)):
        if number_ is not None:
            setattr(o, name, _parse.exact(number_, {"": 1.0}, name))
    return o


def _result(handle: _ffi.Handle, more_notes: Sequence[str]) -> Comparison:
    try:
        d, text = both(lib.ww_compare_report, handle())
    finally:
        handle.close()
    return Comparison(tuple(more_notes) + tuple(d["notes"]), d, text, d["confidence"],
                      d["power"], tuple(map(_row, d["comparisons"])))


def _compare_runs(traces: Sequence[Any], names: Sequence[str], channel: Optional[str],
                  o: _ffi.ww_compare_options) -> Comparison:
    handles = [_runs.new(t, channel) for t in traces]
    try:
        runs = (ctypes.c_void_p * len(handles))(*(h() for h in handles))
        called = (ctypes.c_char_p * len(handles))(*(_ffi.raw(n) for n in names))
        handle = _ffi.Handle.new(lib.ww_compare_runs, lib.ww_compare_free, runs, called,
                                 len(handles), ctypes.byref(o), what="the comparison")
        return _result(handle, ())
    finally:
        for h in handles:
            h.close()


# --- numbers


def _column(values: Any, what: str) -> "array[float]":
    """float64 of one set; None and NaN are runs that failed."""
    try:
        return array("d", (math.nan if v is None else float(v) for v in values))
    except (TypeError, ValueError):
        raise TypeError(f"{what}: numbers in a sequence, an array, a dict of those by name, a "
                        f"file or a trace is wanted, not {values!r:.60}") from None


def _groups(things: Sequence[Any], names: Sequence[str], column: Optional[str],
            label: Optional[str]) -> Tuple[List[Dict[str, Any]], List[str]]:
    """Groups of numbers of all inputs, and what was assumed of files."""
    groups: List[Dict[str, Any]] = []
    notes: List[str] = []
    for i, thing in enumerate(things):
        if isinstance(thing, (str, os.PathLike)):
            found, said = _parse.numbers(thing, column, label)
            notes += said
        elif isinstance(thing, Mapping) or hasattr(thing, "columns"):
            found = [{"label": str(k), "value": _column(thing[k], str(k))} for k in thing]
        else:
            found = [{"label": "", "value": _column(thing, names[i])}]
        for k, g in enumerate(found):
            own = g["label"] if len(things) == 1 else f"{names[i]}: {g['label']}"
            groups.append({"measure": "", "unit": "", "when": None, **g, "series": i,
                           "variant": own if g["label"] else names[i],
                           "alike": k > 0 or len(things) == 1})
    return groups, notes


def _compare_numbers(things: Sequence[Any], names: Sequence[str], column: Optional[str],
                     label: Optional[str], measure: Optional[str], unit: Optional[str],
                     o: _ffi.ww_compare_options) -> Comparison:
    groups, notes = _groups(things, names, column, label)
    if len(groups) < 2:
        raise ValueError(f"{names[0] if names else 'nothing'}: one set of numbers only; a second "
                         "one is needed, or the column that tells the variants apart (label)")
    sets, keep = (_ffi.ww_compare_set * len(groups))(), []
    for k, g in enumerate(groups):
        n, s = len(g["value"]), sets[k]
        value = (ctypes.c_double * n)(*g["value"])
        when = (ctypes.c_double * n)(*(g["when"] or range(1, n + 1)))
        keep += [value, when]
        s.variant, s.unit = _ffi.raw(g["variant"]), _ffi.raw(unit or g["unit"])
        # A column that was named alike in each file is not needed to tell.
        s.measure = sets[0].measure if k and g["alike"] else _ffi.raw(
            measure or g["measure"] or "value")
        s.value, s.when, s.n, s.series = value, when, n, g["series"]
        s.per_offset = s.per_gain = 1
    handle = _ffi.Handle.new(lib.ww_compare_new, lib.ww_compare_free, sets, len(groups),
                             ctypes.byref(o), what="the comparison")
    return _result(handle, notes)


def _named(things: Sequence[Any], names: Optional[Sequence[str]]) -> List[str]:
    """Names as given, or those of files and Series, or A, B, C."""
    if isinstance(names, str):
        names = names.split(",")
    out = []
    for i, thing in enumerate(things):
        own = getattr(thing, "name", None)
        if names is not None and i < len(names) and names[i]:
            out.append(names[i])
        elif _is_trace(thing):
            out.append(_stem(thing.path))
        elif isinstance(thing, (str, os.PathLike)):
            out.append(_stem(thing))
        else:
            out.append(own if isinstance(own, str) and own else chr(65 + i % 26))
    _check_names(out)
    return out


def _compare_traces(traces: List[Any], names: Optional[Sequence[str]], channel: Optional[str],
                    meters: Optional[str], o: _ffi.ww_compare_options) -> Comparison:
    from . import open as open_trace

    opened = [open_trace(t) if not _is_trace(t) else t for t in traces]
    try:
        o.other_meter = meters == "two" or (meters is None and _meters(opened))
        return _compare_runs(opened, _named(traces, names), channel, o)
    finally:
        for t, given in zip(opened, traces):
            if t is not given:
                t.close()


def _cycles_only(traces: Sequence[Any]) -> bool:
    """Whether no trace holds runs; those given by their paths are opened for it."""
    from . import open as open_trace

    for t in traces:
        if _is_trace(t):
            if _has_runs(t):
                return False
        else:
            with open_trace(t) as opened:
                if _has_runs(opened):
                    return False
    return True


def compare(a: Any, b: Any = None, *more: Any, paired: Optional[bool] = None,
            base: Optional[str] = None, names: Optional[Sequence[str]] = None,
            column: Optional[str] = None, label: Optional[str] = None,
            measure: Optional[str] = None, unit: Optional[str] = None,
            resolution: Optional[float] = None, offset_u: Optional[float] = None,
            gain_u: Optional[Given] = None, meters: Optional[str] = None,
            channel: Optional[str] = None, confidence: Given = 0.95, power: Given = 0.8,
            fail_if: Optional[Any] = None, top: int = 0) -> Any:
    """Two or more sets of measurements beside each other.

    - Traces (or their paths, or lists of them) that hold runs: what ``pwrlog compare`` prints,
      a Comparison. One trace with several variants is enough.
    - Traces of cycles of suspend, one or a list on each side, their resume() or CycleSets (of
      kernel logs, too): what ``resumetime compare`` prints, a Shift (``fail_if``, ``top``: as
      there).
    - Numbers: sequences, arrays or Series of one set each, dicts or DataFrames of sets by
      name, and files (one a line, CSV, JSON of hyperfine): a Comparison. None and NaN are runs
      that failed.

    The first variant, or ``base``, is the one that the others are compared with. ``paired``:
    True: the k-th value of each set belongs to the k-th of the others; False: nothing is
    paired; None: what was interleaved is. ``names``: what to call each input. ``column``,
    ``label``: of a CSV. ``measure``, ``unit``: what numbers are, "energy" and "J".
    ``resolution``: smallest step of the numbers. ``offset_u``: standard uncertainty of the
    meter's offset, in their unit (W for traces); ``gain_u``: of its gain, 0.005 or "0.5%".
    ``meters``: "one" or "two", whether the inputs come from one meter; traces tell themselves.
    ``confidence`` of the intervals and ``power`` with which a difference would have been seen:
    0.95 or "95%".

    TypeError, ValueError: what cannot be compared. Error: no runs, a file without numbers, ...
    """
    if meters not in (None, "one", "two"):
        raise ValueError(f"meters is 'one' or 'two', not {meters!r}")
    things = [a, *(() if b is None else (b,)), *more]
    if len(things) == 2 and any(map(_told_as_cycles, things)):
        return _cycles.shift(a, b, fail_if=fail_if, top=top)
    traces, rest = _flat(things)
    if traces and rest:
        raise ValueError("a trace and a list of numbers cannot be compared with each other")
    if traces and len(things) == 2 and _cycles_only(traces):
        return _cycles.shift(a, b, fail_if=fail_if, top=top)
    if fail_if is not None or top:
        raise ValueError("fail_if and top belong to two sets of cycles of suspend")
    o = _options(paired, base, resolution, offset_u, gain_u, confidence, power)
    if traces:
        return _compare_traces(traces, names, channel, meters, o)
    o.other_meter = meters == "two"
    return _compare_numbers(rest, _named(rest, names), column, label, measure, unit, o)
