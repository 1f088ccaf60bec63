# SPDX-License-Identifier: MIT
"""Suspends as the kernel tells them: kernel text and ftrace, cycle by cycle."""
from __future__ import annotations

import codecs
import ctypes
import json
import math
import os
import threading
from dataclasses import dataclass, field
from html import escape
from typing import Any, Callable, Dict, Generator, Iterator, List, Optional, Sequence, Tuple, Union

from . import _ffi
from ._ffi import lib
from ._parse import Path
from ._result import Report, html_notes, html_table, interval, number
from ._types import Interval

Paths = Union[Path, Sequence[Path]]


def _bounds(d: Any) -> Optional[Interval]:
    """{"value", "u", "lo", "hi"}: the bounds; null: not known."""
    return None if d is None else interval((d.get("lo"), d.get("hi")))


def _mid(i: Optional[Interval]) -> float:
    return math.nan if i is None else i.mid


def ms(i: Optional[Interval]) -> str:
    """A length in ms for a table: "158.5", "10.5 ± 0.5" where the bounds would be seen."""
    if i is None or math.isnan(i.mid):
        return ""
    if not all(map(math.isfinite, i)):
        return f"at most {i.hi:.4g}" if math.isfinite(i.hi) else f"at least {i.lo:.4g}"
    half = float(i.width) / 2
    if half <= 0.005 * abs(i.mid) or half < 0.0015:
        size = abs(i.mid)
        return f"{i.mid:.{0 if size >= 1e4 else 1 if size >= 10 else 2 if size >= 1 else 3}f}"
    digits = min(max(-math.floor(math.log10(half)), 0), 3)
    return f"{i.mid:.{digits}f} ± {math.ceil(half * 10 ** digits) / 10 ** digits:.{digits}f}"


def why(reason: Dict[str, Any]) -> str:
    """Of a result, after a colon: the step, who, and the error; else the line that says so."""
    told = [reason.get("step") or "", " ".join(filter(None, (
        reason.get("device"), f"({reason['driver']})" if reason.get("driver") else ""))),
        str(reason.get("task") or ""), f"error {reason['errno']}" if reason.get("errno") else "",
        f"woken by {reason['wakeup']}" if reason.get("wakeup") else ""]
    said = ", ".join(filter(None, told)) or str(reason.get("text") or "")
    return f": {said}" if said else ""


def slow_one(c: "KernelCycle") -> str:
    """The callback that was slowest to resume, with its length."""
    found = c.slowest(1, "resume")
    return f"{found[0].name} {ms(found[0].ms)} ms" if found else ""


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
        rows = [(p.name, ms(p.ms), ms(p.corrected_ms) if p.corrected_ms != p.ms else "")
                for p in self.phases if p.ms or p.corrected_ms]
        devices = [(d.name, d.driver, d.phase, ms(d.ms),
                    "" if not d.critical else "yes", str(d.errno or "")) for d in self.slowest()]
        said = [f"cycle {self.n}", self.mode or "mode not told", self.result + why(self.reason)]
        alike = not any(r[2] for r in rows)
        head = ("phase", "ms", "without the console (ms)")
        return (f"<p>{escape(', '.join(said))}</p>"
                + html_table(head[:2] if alike else head, [r[:2] if alike else r for r in rows])
                + (html_table(("slowest", "driver", "phase", "ms", "critical", "error"), devices)
                   if devices else "<p>no callback of a device is in the text</p>")
                + html_notes([*self.errors, *self.contradictions]))

    def plot(self, ax: Optional[Any] = None, *, devices: int = 25) -> Any:
        """Its phases, and under them the slowest devices as bars; returns matplotlib's Axes.

        The axis counts ms from the suspend's begin; a sleep that the clock counts is cut out.
        """
        from . import _kernplot

        return _kernplot.devices(self, ax, devices)


@dataclass(frozen=True, repr=False)
class KernelLog(Report):
    """All suspends of one text or a pair: what ``resumetime kernlog`` prints."""

    cycles: Tuple[KernelCycle, ...]
    inputs: Tuple[str, ...]  #: what each text turned out to be
    summary: Dict[str, Any]  #: over all cycles: results, medians, phases, slowest
    name: str = ""  #: of the first text
    _make: Optional[Callable[[], "Reader"]] = field(default=None, repr=False, compare=False)

    def slowest(self, n: int = 10) -> Tuple[Dict[str, Any], ...]:
        """What cost most over all cycles, as the summary has it: name, driver, phase, ms, ..."""
        return tuple((self.summary.get("slowest") or ())[:n])

    def plot(self, ax: Optional[Any] = None, *, cycle: Optional[int] = None,
             devices: int = 25) -> Any:
        """A cycle's devices over time, see KernelCycle.plot(); None: the one slowest to resume.

        ValueError: no such cycle.
        """
        found = [c for c in self.cycles if cycle in (None, c.n)]
        if not found:
            raise ValueError(f"{self.name}: no cycle {cycle}; it has {len(self.cycles)}"
                             if cycle else f"{self.name}: no suspend in it")
        return max(found, key=lambda c: _mid(c.resume_ms) if c.resume_ms else -1).plot(
            ax, devices=devices)

    def report(self, form: str, path: Optional[Path] = None) -> str:
        """A form of the report: "text", "json", "csv" (a line a device), "html" (one page with the
        timeline of each cycle) or "trace_events" (for Perfetto). It reads the text again.

        ``path``: written there, too. ValueError: no such form. Error: the file exists.
        """
        if self._make is None:
            raise ValueError("a log that was made by hand cannot be read again")
        reader, kind = self._make(), _ffi.number(_ffi.ww_report_form, form, "form")
        try:
            out = "".join(written(lambda fd: reader.write(kind, fd)))
        finally:
            reader.close()
        if path is not None:
            write_file(path, lambda fd: write_all(fd, out))
        return out

    def html(self, path: Optional[Path] = None) -> str:
        """The page of ``resumetime kernlog --html``; ``path``: written there, too."""
        return self.report("html", path)

    def trace_events(self, path: Optional[Path] = None) -> str:
        """Trace Event JSON, for Perfetto; ``path``: written there, too."""
        return self.report("trace_events", path)

    def _summary(self) -> str:
        return f"{len(self.cycles)} cycles, {', '.join(self.inputs)}"

    def __len__(self) -> int:
        return len(self.cycles)

    def __getitem__(self, i: int) -> KernelCycle:
        return self.cycles[i]

    def __iter__(self) -> Iterator[KernelCycle]:
        return iter(self.cycles)

    def _html(self) -> str:
        if not self.cycles:
            return "<p>no suspend in it</p>"
        rows = [(str(c.n), c.mode or "not told", c.result + why(c.reason), ms(c.suspend_ms),
                 ms(c.resume_ms), ms(c.slept_ms), ms(c.resume_corrected_ms)
                 if c.resume_corrected_ms != c.resume_ms else "",
                 slow_one(c)) for c in self.cycles]
        head = ("cycle", "mode", "result", "suspend (ms)", "resume (ms)", "slept (ms)",
                "resume without the console (ms)", "slowest to resume")
        used = [i for i in range(len(head)) if any(r[i] for r in rows)]
        return html_table([head[i] for i in used], [[r[i] for i in used] for r in rows[:40]]) + (
            f"<p>and {len(rows) - 40} cycles more</p>" if len(rows) > 40 else "")


def is_recording(path: Path) -> bool:
    """Recordings are files of SQLite; everything else is text of some kind."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as f:
            return f.read(15) == b"SQLite format 3"
    except OSError:
        return False  # the library says it better


def listed(paths: Optional[Paths]) -> List[Path]:
    """One path, several, or none."""
    if paths is None:
        return []
    return [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)


class Texts:
    """Texts of one reading, open for as long as what reads them."""

    def __init__(self, paths: Paths) -> None:
        files = listed(paths)
        if not files:
            raise ValueError("no text: name a file of kernel text or ftrace, or the two of a pair")
        self.handles: List[_ffi.Handle] = []
        for p in files:
            if is_recording(p):
                trace = _ffi.Handle.new(lib.ww_trace_open, lib.ww_trace_close, os.fsencode(p),
                                        what=os.fspath(p))
                self.handles.append(_ffi.Handle.new(lib.ww_text_trace, lib.ww_text_close, trace(),
                                                    None, what=os.fspath(p), keep=(trace,)))
            else:
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
    """struct ww_kernlog_options. ValueError: what cannot be meant."""
    if baud is not None and no_console:
        raise ValueError("baud and no_console: one of them")
    if baud is not None and not 0 < baud <= 100_000_000:
        raise ValueError(f"baud is {baud}; a rate such as 115200")
    if gap_s is not None and not gap_s > 0:
        raise ValueError(f"gap_s is {gap_s}; longer than no time, such as 0.05")
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
        with open(source, "rb", buffering=0) as f:
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            while True:
                piece = f.read(1 << 16)  # what is there, not so much
                yield decoder.decode(piece, not piece)
                if not piece:
                    break
    finally:  # a reader that has gone ends the writing
        thread.join()
    if failed:
        raise failed[0]


def write_all(fd: int, out: str) -> None:
    """Text into a descriptor."""
    with open(fd, "w", encoding="utf-8", closefd=False) as f:
        f.write(out)


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
            while buffer and buffer[0] in "{," and (len(buffer) > 2 * tried or buffer[-1] == "}"):
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


def collect(make: Callable[[], Reader], name: str = "") -> KernelLog:
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
                     rest.get("summary") or {}, name, make)


def kernlog(paths: Paths, *, baud: Optional[int] = None, no_console: bool = False,
            gap_s: Optional[float] = None) -> KernelLog:
    """Suspends of kernel text, ftrace text, a trace.dat or a recording, or of a pair of them.

    ``paths``: a file, or the two of the same cycles (kernel text and ftrace), compressed or not;
    what each is, is told by its content. ``baud`` of the console that the kernel wrote on; None:
    found from the text. ``no_console``: none took time. ``gap_s``: stretches without a line that
    are told, 0.1 s. Error: no such file, not readable.
    """
    files = listed(paths)
    if any(os.fspath(p) == "-" for p in files):
        raise ValueError("kernlog() reads its text twice and cannot take standard input; "
                         "kernlog_cycles() can")
    return collect(lambda: Reader(Texts(files), options(baud, no_console, gap_s)),
                   os.fspath(files[0]) if files else "")
