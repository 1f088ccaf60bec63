# SPDX-License-Identifier: MIT
"""Suspends as the kernel tells them: kernel text and ftrace, cycle by cycle."""
from __future__ import annotations

import ctypes
import json
import math
import os
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Generator, Iterator, List, Optional, Sequence, Tuple, Union

from . import _ffi, _plot
from ._ffi import lib
from ._parse import Path
from ._result import Report, html_table, interval, number, plain
from ._types import Interval

Paths = Union[Path, Sequence[Path]]


def _bounds(d: Any) -> Optional[Interval]:
    """{"value", "u", "lo", "hi"}: the bounds; null: not known."""
    return None if d is None else interval((d.get("lo"), d.get("hi")))


def _mid(i: Optional[Interval]) -> float:
    return math.nan if i is None else i.mid


@dataclass(frozen=True)
class PmDevice:
    """A callback of a device in a phase. Times ``_s`` are on the kernel's clock."""

    name: str
    driver: str
    phase: str  #: "resume_noirq"
    verb: str  #: "suspend", "resume", "restore", ...
    ms: Optional[Interval]  #: how long it took, surely
    corrected_ms: Optional[Interval]  #: without what the console cost
    start_s: float  #: NaN unknown
    end_s: float  #: NaN: no return was seen
    errno: int  #: what it returned, 0 good
    asynchronous: Optional[bool]  #: None unknown
    critical: bool  #: on the critical path of its phase
    critical_ms: float  #: its own part of that path; NaN unknown
    document: Dict[str, Any] = field(repr=False)

    @staticmethod
    def _of(d: Dict[str, Any]) -> "PmDevice":
        return PmDevice(d["name"], d.get("driver") or "", d["phase"], d.get("verb") or "",
                        _bounds(d.get("ms")), _bounds(d.get("corrected_ms")),
                        number(d.get("start_s")), number(d.get("end_s")), d.get("errno") or 0,
                        d.get("async"), bool(d.get("critical")), number(d.get("critical_ms")), d)


@dataclass(frozen=True)
class PmPhase:
    """A phase of the kernel's way through a suspend."""

    name: str
    ms: Optional[Interval]
    corrected_ms: Optional[Interval]  #: without what the console cost
    start_s: float  #: kernel's clock; NaN unknown
    end_s: float
    document: Dict[str, Any] = field(repr=False)

    @staticmethod
    def _of(d: Dict[str, Any]) -> "PmPhase":
        return PmPhase(d["name"], _bounds(d.get("ms")), _bounds(d.get("corrected_ms")),
                       number(d.get("start_s")), number(d.get("end_s")), d)


@dataclass(frozen=True)
class PmOther:
    """What took time and is no device: CPUs, notifiers, a silent gap."""

    what: str
    ms: Optional[Interval]
    start_s: float
    document: Dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class KernelCycle:
    """One suspend as the kernel saw it. What is not known is None."""

    n: int  #: from 1
    mode: str  #: "mem", "s2idle", "standby", "shallow", "disk"
    result: str  #: "ok", "failed", "aborted", "pm_test", "reset", "hung" or "truncated"
    reason: Dict[str, Any]  #: step, device, driver, errno, task, wakeup: those that are known
    suspend_ms: Optional[Interval]
    resume_ms: Optional[Interval]
    slept_ms: Optional[Interval]
    suspend_corrected_ms: Optional[Interval]  #: without what the console cost
    resume_corrected_ms: Optional[Interval]
    phases: Tuple[PmPhase, ...]
    devices: Tuple[PmDevice, ...]
    other: Tuple[PmOther, ...]
    errors: Tuple[str, ...]  #: devices that failed though it went on
    contradictions: Tuple[str, ...]  #: sources that do not agree
    console: Optional[Dict[str, Any]]  #: bytes, baud, ms, how well its cost is known
    document: Dict[str, Any] = field(repr=False)

    @staticmethod
    def _of(d: Dict[str, Any]) -> "KernelCycle":
        return KernelCycle(
            d["n"], d.get("mode") or "", d["result"], d.get("reason") or {},
            _bounds(d.get("suspend_ms")), _bounds(d.get("resume_ms")), _bounds(d.get("slept_ms")),
            _bounds(d.get("suspend_corrected_ms")), _bounds(d.get("resume_corrected_ms")),
            tuple(PmPhase._of(p) for p in d.get("phases") or ()),
            tuple(PmDevice._of(x) for x in d.get("devices") or ()),
            tuple(PmOther(o["what"], _bounds(o.get("ms")), number(o.get("start_s")), o)
                  for o in d.get("other") or ()),
            tuple(str(e) if not isinstance(e, dict) else json.dumps(e)
                  for e in d.get("errors") or ()),
            tuple(d.get("contradictions") or ()), d.get("console"), d)

    def slowest(self, n: int = 10, phase: Optional[str] = None) -> Tuple[PmDevice, ...]:
        """The devices that took longest, in one phase or in all of them."""
        found = [d for d in self.devices if d.ms is not None and phase in (None, d.phase)]
        return tuple(sorted(found, key=lambda d: -_mid(d.corrected_ms or d.ms))[:n])

    def _repr_html_(self) -> str:
        rows = [(p.name, plain(_mid(p.ms), 5), plain(_mid(p.corrected_ms), 5))
                for p in self.phases]
        devices = [(d.name, d.driver, d.phase, plain(_mid(d.ms), 5),
                    "" if not d.critical else "yes", str(d.errno or "")) for d in self.slowest()]
        return (f"<p>cycle {self.n}: {self.mode}, {self.result}</p>"
                + html_table(("phase", "ms", "without the console"), rows)
                + html_table(("slowest", "driver", "phase", "ms", "critical", "error"), devices))

    def plot(self, ax: Optional[Any] = None, *, devices: int = 25) -> Any:
        """Its phases, and under them the slowest devices as bars; returns matplotlib's Axes.

        The axis counts ms from the suspend's begin; the sleep is left out of nothing.
        """
        bars = [d for d in self.slowest(devices) if math.isfinite(d.start_s)
                and math.isfinite(d.end_s)]
        bars.sort(key=lambda d: d.start_s)
        spans = [p for p in self.phases if math.isfinite(p.start_s) and math.isfinite(p.end_s)]
        ax = _plot.axes(ax, height=1.2 + 0.22 * (len(bars) + 1))
        ax.grid(False, axis="y")
        if not spans and not bars:
            ax.text(0.5, 0.5, "no line of this cycle has a stamp", ha="center",
                    transform=ax.transAxes)
            return ax
        zero = min([p.start_s for p in spans] + [d.start_s for d in bars])
        for i, p in enumerate(spans):
            left, width = 1e3 * (p.start_s - zero), 1e3 * (p.end_s - p.start_s)
            ax.barh(0, width, left=left, height=0.9, color=_plot.GOOD if "resume" in p.name
                    or p.name in ("thaw", "cpu_online") else _plot.MEASURED,
                    alpha=0.35 + 0.3 * (i % 2))
        widest = max((p.end_s for p in spans), default=zero) - zero
        for p in spans:
            if p.end_s - p.start_s > 0.09 * widest:
                ax.text(1e3 * ((p.start_s + p.end_s) / 2 - zero), 0, p.name, ha="center",
                        va="center", fontsize=7)
        for row, d in enumerate(bars, 1):
            ax.barh(row, 1e3 * (d.end_s - d.start_s), left=1e3 * (d.start_s - zero), height=0.8,
                    color=_plot.BAD if d.errno else _plot.MODEL if d.critical else _plot.MUTED)
            ax.text(1e3 * (d.end_s - zero), row, f" {_mid(d.ms):.4g} ms", va="center", fontsize=7)
        ax.set_yticks(range(len(bars) + 1), ["phases"] + [
            d.name + (f" ({d.driver})" if d.driver and d.driver != d.name else "") for d in bars],
            fontsize=7)
        ax.set_ylim(len(bars) + 0.6, -0.6)
        ax.margins(x=0.08)
        ax.set_xlabel("ms after the suspend began, by the kernel's clock")
        return ax


@dataclass(frozen=True, repr=False)
class KernelLog(Report):
    """All suspends of one text or a pair: what ``resumetime kernlog`` prints."""

    cycles: Tuple[KernelCycle, ...]
    inputs: Tuple[str, ...]  #: what each text turned out to be
    summary: Dict[str, Any]  #: over all cycles: results, medians, phases, slowest

    def _summary(self) -> str:
        return f"{len(self.cycles)} cycles, {', '.join(self.inputs)}"

    def __len__(self) -> int:
        return len(self.cycles)

    def __getitem__(self, i: int) -> KernelCycle:
        return self.cycles[i]

    def __iter__(self) -> Iterator[KernelCycle]:
        return iter(self.cycles)

    def _html(self) -> str:
        rows = [(str(c.n), c.mode, c.result, plain(_mid(c.suspend_ms), 5),
                 plain(_mid(c.resume_ms), 5), plain(_mid(c.slept_ms), 5),
                 c.slowest(1)[0].name if c.slowest(1) else "") for c in self.cycles]
        return html_table(("cycle", "mode", "result", "suspend, ms", "resume, ms", "slept, ms",
                           "slowest device"), rows)


class Texts:
    """Texts of one reading, open for as long as what reads them."""

    def __init__(self, paths: Paths) -> None:
        listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        if not listed:
            raise ValueError("no text: name a file of kernel text or ftrace, or the two of a pair")
        self.handles: List[_ffi.Handle] = []
        for p in listed:
            self.handles.append(_ffi.Handle.new(lib.ww_text_open, lib.ww_text_close,
                                                os.fsencode(p), what=os.fspath(p)))

    def array(self) -> Tuple[Any, int]:
        """As the library takes them."""
        return (ctypes.c_void_p * len(self.handles))(*[h() for h in self.handles]), \
            len(self.handles)

    def close(self) -> None:
        """All of them."""
        for h in self.handles:
            h.close()


def options(baud: Optional[int], no_console: bool, gap_s: Optional[float]) -> Any:
    """struct ww_kernlog_options."""
    return _ffi.options(_ffi.ww_kernlog_options, baud=baud, no_console=int(no_console),
                        gap_ns=_ffi.ns(gap_s, "gap_s"))


def written(write: Callable[[int], Any]) -> Generator[str, None, None]:
    """What a function of the library writes to a descriptor, piece by piece.

    It writes in a thread of its own, in C, and waits there where nobody reads.
    """
    source, sink = os.pipe2(os.O_CLOEXEC)
    failed: List[BaseException] = []

    def run() -> None:
        try:
            write(sink)
        except BaseException as e:
            failed.append(e)
        finally:
            os.close(sink)

    thread = threading.Thread(target=run, name="wakewatt report", daemon=True)
    thread.start()
    try:
        with open(source, encoding="utf-8", errors="replace") as f:
            while True:
                piece = f.read(1 << 16)
                if not piece:
                    break
                yield piece
    finally:  # a reader that has gone ends the writing
        thread.join()
    if failed:
        raise failed[0]


def write_file(path: Path, write: Callable[[int], Any]) -> None:
    """What a function of the library writes, into a new file. Error: it exists (EEXIST)."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as e:
        raise _ffi.Error(e.errno, f"{os.fspath(path)}: {e.strerror}") from None
    try:
        write(fd)
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(fd)


_PAGE = ctypes.POINTER(_ffi.ww_page_options)()


class Reader:
    """A ww_kernlog and what it reads."""

    def __init__(self, texts: Any, opts: Any) -> None:
        self.texts = texts
        array, n = texts.array()
        try:
            self.handle = _ffi.Handle.new(lib.ww_kernlog_new, lib.ww_kernlog_free, array, n,
                                          ctypes.byref(opts), what="the kernel log")
        except BaseException:
            texts.close()
            raise

    def write(self, form: int, fd: int) -> None:
        """Read all, and write a form of the report."""
        lib.ww_kernlog_report(self.handle(), form, _PAGE, fd, _ffi.ww_error())

    def close(self) -> None:
        """The reader first, then its texts."""
        self.handle.close()
        self.texts.close()


def cycles(reader: Reader) -> Iterator[Dict[str, Any]]:
    """Each cycle's JSON as soon as it was read, then the document without cycles."""
    decoder, buffer, tried = json.JSONDecoder(), "", 0
    begun = False
    pieces = written(lambda fd: reader.write(_ffi.ww_report_form.JSON, fd))
    try:
        for piece in pieces:
            buffer += piece
            if not begun:
                at = buffer.find('"cycles":[')
                if at < 0:
                    continue
                begun, buffer = True, buffer[at + len('"cycles":['):]
            # An object that is not whole yet is looked at again when twice as much is there.
            while buffer and buffer[0] in "{," and len(buffer) > 2 * tried:
                try:
                    found, end = decoder.raw_decode(buffer.lstrip(","))
                except ValueError:
                    tried = len(buffer)
                    break
                buffer, tried = buffer.lstrip(",")[end:], 0
                yield found
        while buffer and buffer[0] in "{,":
            found, end = decoder.raw_decode(buffer.lstrip(","))
            buffer = buffer.lstrip(",")[end:]
            yield found
        rest = json.loads("{" + buffer[1:].lstrip(","))
        yield {"rest": rest}
    finally:
        pieces.close()  # its thread reads until then
        reader.close()


def kernlog_cycles(paths: Paths, *, baud: Optional[int] = None, no_console: bool = False,
                   gap_s: Optional[float] = None) -> Iterator[KernelCycle]:
    """Yield the suspends of a text as they are read: memory is that of one cycle.

    ``paths`` and options as kernlog(). Error: no such file; text without a suspend is none.
    """
    for d in cycles(Reader(Texts(paths), options(baud, no_console, gap_s))):
        if "rest" not in d:
            yield KernelCycle._of(d)


def collect(make: Callable[[], Reader]) -> KernelLog:
    """All cycles and the text: it is read once for each of the two."""
    found: List[Dict[str, Any]] = []
    rest: Dict[str, Any] = {}
    for d in cycles(make()):
        if "rest" in d:
            rest = d["rest"]
        else:
            found.append(d)
    again = make()
    try:
        text = "".join(written(lambda fd: again.write(_ffi.ww_report_form.TEXT, fd)))
    finally:
        again.close()
    whole = {"schema": "wakewatt/kernlog/1", "cycles": found, **rest}
    return KernelLog(tuple(rest.get("notes") or ()), whole, text,
                     tuple(KernelCycle._of(c) for c in found), tuple(rest.get("inputs") or ()),
                     rest.get("summary") or {})


def kernlog(paths: Paths, *, baud: Optional[int] = None, no_console: bool = False,
            gap_s: Optional[float] = None) -> KernelLog:
    """Suspends of kernel text, ftrace text or a trace.dat, or of a pair of them.

    ``paths``: a file, or the two of the same cycles (kernel text and ftrace), compressed or not;
    what each is, is told by its content. ``baud`` of the console that the kernel wrote on; None:
    found from the text. ``no_console``: none took time. ``gap_s``: stretches without a line that
    are told, 0.1 s. Error: no such file, not readable.
    """
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if any(os.fspath(p) == "-" for p in listed):
        raise ValueError("kernlog() reads its text twice and cannot take standard input; "
                         "kernlog_cycles() can")
    return collect(lambda: Reader(Texts(listed), options(baud, no_console, gap_s)))
