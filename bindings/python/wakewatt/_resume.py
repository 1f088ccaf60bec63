# SPDX-License-Identifier: MIT
"""Cycles of suspend and resume."""
from __future__ import annotations

import ctypes
import tempfile
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

from . import _ffi, _kernlog, _resumehtml, _resumeplot
from ._base import View
from ._ffi import lib
from ._kernlog import KernelCycle, KernelLog
from ._parse import Path
from ._result import Report, both, interval, intervals, quantity
from ._types import Interval, Number, Quantity


@dataclass(frozen=True)
class Stall:
    """The DUT's tasks did not run."""

    t_s: Optional[Interval]  #: when it began, seconds since the trace's first record
    ms: Optional[Interval]  #: how long


@dataclass(frozen=True)
class Cycle:
    """One suspend and resume. What was not observed is absent from the dictionaries."""

    n: int  #: from 1
    result: str  #: "ok", "refused", "aborted", "early", "pm_test", "reset", "hung", "unknown"
    reason: str
    events_s: Dict[str, Interval]  #: "request", "last_beat", "wake", "first_beat", ...
    latency_ms: Dict[str, Interval]  #: "resume_to_user", "asleep_firmware", ...
    starvation: Tuple[Stall, ...]
    energy_J: Optional[Quantity]  #: request (or last beat) to steady
    energy_why: str  #: why there is no energy, "" otherwise
    asleep_W: Optional[Quantity]  #: mean while asleep
    warmup: bool  #: listed, but in no figure
    mode: str  #: "mem", "s2idle", ... as the DUT told it; "" unknown
    dut: Dict[str, str]  #: what the DUT told of this cycle: wake-up sources, failed attempts, ...
    kernel: Optional[KernelCycle]  #: the same cycle by the kernel's own text

    @staticmethod
    def _of(d: Dict[str, Any]) -> "Cycle":
        stalls = tuple(Stall(interval(s.get("t_s")), interval(s.get("ms")))
                       for s in d.get("starvation") or ())
        return Cycle(d["n"], d["result"], d.get("reason") or "", intervals(d.get("events_s")),
                     intervals(d.get("latency_ms")), stalls,
                     quantity(d.get("energy_J"), "J"), d.get("energy_why") or "",
                     quantity(d.get("asleep_W"), "W"), bool(d.get("warmup")),
                     d.get("mode") or "", d.get("dut") or {},
                     KernelCycle._of(d["kernel"]) if d.get("kernel") else None)

    def _repr_html_(self) -> str:
        return _resumehtml.cycle(self)


@dataclass(frozen=True)
class LatencySummary:
    """A latency over all cycles, in ms. None: unbounded (failures reach so far) or unknown."""

    n: int  #: cycles in which it was observed
    failures: int  #: cycles that count as infinite
    median: Optional[float]
    ci95: Optional[Interval]  #: of the median, distribution-free
    ci_actual: Optional[Interval]  #: the widest that so few cycles can give
    ci_actual_coverage: Optional[float]  #: what it truly covers, 0..1; None without cycles
    envelope: Optional[Interval]  #: the guaranteed bound: the same ranks of lows and highs
    resolution: Optional[float]  #: half-width of the typical interval
    p90: Optional[float]
    p90_ci95: Optional[Interval]
    p95: Optional[float]
    p95_ci95: Optional[Interval]
    min: Optional[float]
    max: Optional[float]
    bounds: int  #: of n, those of which only the greatest value is known
    median_hi: Optional[float]  #: of the greatest values: what to say where most are bounds
    bound_only: int  #: further cycles whose start was not observed: in no median
    bound: Optional[Interval]  #: all of those lie between
    why: Optional[str]  #: why there is no median

    @staticmethod
    def _of(d: Dict[str, Any]) -> "LatencySummary":
        actual = d.get("ci_actual") or {}
        known = (actual.get("lo"), actual.get("hi")) if actual.get("coverage") else None
        return LatencySummary(d.get("n", 0), d.get("failures", 0), d.get("median"),
                              interval(d.get("ci95")), interval(known),
                              actual.get("coverage"), interval(d.get("envelope")),
                              d.get("resolution"), d.get("p90"), interval(d.get("p90_ci95")),
                              d.get("p95"), interval(d.get("p95_ci95")), d.get("min"),
                              d.get("max"), d.get("bounds", 0), d.get("median_hi"),
                              d.get("bound_only", 0), interval(d.get("bound")), d.get("why"))


@dataclass(frozen=True, repr=False)
class ResumeReport(Report):
    """Cycles and latencies: what ``resumetime report`` prints. ``str()`` is its text."""

    start: Optional[str]  #: wall time of the first record, ISO 8601
    cycles: Tuple[Cycle, ...]
    summary: Dict[str, LatencySummary]  #: by latency: "resume_to_user", ...
    results: Dict[str, int]  #: how many cycles ended so: {"ok": 9, "hung": 1}
    failure_rate: Optional[Interval]  #: 95 % bounds of the part that failed, 0..1
    dut: Dict[str, str]  #: what the machine under test said of itself
    beat: Dict[str, Any]  #: how its heartbeat was written
    _handle: _ffi.Handle = field(repr=False)
    _view: View = field(repr=False)

    def _summary(self) -> str:
        return f"{len(self.cycles)} cycles: " + ", ".join(
            f"{n} {r}" for r, n in self.results.items())

    def _html(self) -> str:
        return _resumehtml.report(self)

    def plot(self, ax: Optional[Any] = None) -> Any:
        """A bar of phases for each cycle, aligned at the wake; returns matplotlib's Axes."""
        return _resumeplot.timeline(self, ax)

    def plot_distribution(self, latency: str = "resume_to_user", ax: Optional[Any] = None) -> Any:
        """Each cycle's latency with its sure interval, the median and its 95 % interval.

        KeyError: no such latency.
        """
        return _resumeplot.distribution(self, latency, ax)

    def _page(self, form: int, fd: int) -> None:
        lib.ww_resume_page(self._handle(), self._view._h(), form, _kernlog._PAGE, fd,
                           _ffi.ww_error())

    def _pages(self, form: int, path: Optional[Path]) -> str:
        with tempfile.TemporaryFile() as f:
            self._page(form, f.fileno())
            f.seek(0)
            out = f.read().decode("utf-8")
        if path is not None:
            _kernlog.write_file(path, lambda fd: _kernlog.write_all(fd, out))
        return out

    def html(self, path: Optional[Path] = None) -> str:
        """The self-contained page of ``resumetime report --html``: zoom, table, figures.

        ``path``: written there, too. Error: the file exists. ValueError: the trace has been
        closed.
        """
        return self._pages(_ffi.ww_report_form.HTML, path)

    def trace_events(self, path: Optional[Path] = None) -> str:
        """Trace Event JSON, for Perfetto. ``path`` and errors as html()."""
        return self._pages(_ffi.ww_report_form.TRACE_EVENTS, path)


def _report(view: View, handle: _ffi.Handle) -> ResumeReport:
    d, text = both(lib.ww_resume_report, handle())
    summary = {name[:-3]: LatencySummary._of(s) for name, s in d["summary"].items()
               if name.endswith("_ms")}
    return ResumeReport(tuple(d["notes"]), d, text, d.get("start"),
                        tuple(Cycle._of(c) for c in d["cycles"]), summary,
                        d["summary"].get("results", {}),
                        interval(d["summary"].get("failure_rate_ci95")), d.get("dut", {}),
                        d.get("beat", {}), handle, view)


class _Console:
    """The console of a trace as a text."""

    def __init__(self, view: View, source: Optional[str]) -> None:
        self.handles: List[_ffi.Handle] = [_ffi.Handle.new(
            lib.ww_text_trace, lib.ww_text_close, view._h(), _ffi.raw(source), keep=(view,),
            what=f"{view.path}: the console")]

    array = _kernlog.Texts.array
    close = _kernlog.Texts.close


class ResumeAnalyses(View):
    """What a whole trace tells of suspend and resume."""

    def resume(self, mode: str = "unknown", port: Optional[str] = None,
               console: Optional[str] = None, handoff: Optional[str] = None,
               period_s: Number = 0, *, text: Optional[_kernlog.Paths] = None,
               ftrace: Optional[_kernlog.Paths] = None, baud: Optional[int] = None,
               no_console: bool = False) -> ResumeReport:
        """Cycles of suspend and resume: what ``resumetime report`` prints.

        ``mode``: how plain beats were written: "stream", "reopen", "drain" (stamped ones tell
        theirs). ``port``, ``console``: names of serial sources. ``handoff``: regular expression
        of the boot loader's last message. ``period_s``: period of plain beats; 0: found.
        ``text``, ``ftrace``: kernel log, ftrace or trace.dat of the same cycles, read from the DUT
        afterwards; ``baud``, ``no_console`` as kernlog().
        Error: no heartbeat in it, texts that cannot be read.
        """
        options = _ffi.options(_ffi.ww_resume_options, port=port, console=console,
                               mode=_ffi.number(_ffi.ww_beat_mode, mode, "mode"),
                               handoff=handoff, period_ns=_ffi.ns(period_s, "period_s"))
        handle = _ffi.Handle.new(lib.ww_resume_new, lib.ww_resume_free, self._h(),
                                 ctypes.byref(options), what=f"{self.path}: the cycles")
        how = _kernlog.options(baud, no_console, None)
        also = _kernlog.listed(text) + _kernlog.listed(ftrace)
        if also:
            texts = _kernlog.Texts(also)
            try:
                array, n = texts.array()
                lib.ww_resume_add_text(handle(), array, n, ctypes.byref(how), _ffi.ww_error())
            finally:
                texts.close()
        return _report(self, handle)

    def cycles(self, **options: Any) -> Tuple[Cycle, ...]:
        """The cycles of resume(), which has the options."""
        return self.resume(**options).cycles

    def kernlog(self, source: Optional[str] = None, *, baud: Optional[int] = None,
                no_console: bool = False, gap_s: Optional[float] = None) -> KernelLog:
        """Suspends by the kernel's text on a console that was recorded.

        ``source``: its name; None: "console", else the only serial line. Else as
        wakewatt.kernlog(). Error: no such source, several to choose from.
        """
        how = _kernlog.options(baud, no_console, gap_s)
        return _kernlog.collect(lambda: _kernlog.Reader(_Console(self, source), how), self.path)
