# SPDX-License-Identifier: MIT
"""Recording from Python: meters and lines into a trace, beside whatever else the program does."""
from __future__ import annotations

import ctypes
import errno
import math
import os
import shutil
import sys
import tempfile
import threading
import time
import weakref
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from . import _ffi, _loop
from ._ffi import lib, text
from ._result import html_table, plain

if TYPE_CHECKING:
    from ._channel import Channel
    from ._core import Core
    from ._trace import Trace

Sources = Union[str, Mapping[str, str], Sequence[Union[str, Mapping[str, str]]]]
_STATES = ("waiting", "giving data", "silent", "unplugged", "ended")


@dataclass(frozen=True)
class Live:
    """The latest of a channel, or how far a serial line has come."""

    source: str
    channel: str  #: "" for a line
    unit: str
    value: float  #: in unit; NaN none yet, or unplugged
    resolution: float  #: smallest step, in unit; 0 unknown
    t_ns: int  #: arrival on the axis; 0 none yet
    n: int  #: rows or bytes so far
    state: str  #: "waiting", "giving data", "silent", "unplugged" or "ended"
    kind: str  #: "meter", "serial", "line" or "manual"


@dataclass(frozen=True)
class RecorderStats:
    """What a recorder knows of itself."""

    samples: int  #: rows taken; after the end: that the trace holds
    bytes: int  #: of serial lines, likewise
    lost: int  #: items lost because the queue was full
    gaps: int
    late_max_s: float  #: greatest lateness of the loop's own timer
    late_p99_s: float  #: its 99th percentile; NaN if no timer ran
    queue_peak: int  #: most bytes ever queued
    stored: int  #: bytes of the trace file
    raw: int  #: bytes as meters sent them, kept with raw


class LiveTable(List[Live]):
    """Latest values; a table in a notebook."""

    def _repr_html_(self) -> str:
        rows = [(f"{v.source}.{v.channel}" if v.channel else v.source,
                 "" if math.isnan(v.value) else f"{plain(v.value)} {v.unit}".strip(),
                 str(v.n), v.state) for v in self]
        return html_table(("source", "value", "rows", "state"), rows)


def _listed(sources: Sources) -> List[Dict[str, Optional[str]]]:
    if isinstance(sources, (str, Mapping)):
        sources = [sources]
    out: List[Dict[str, Optional[str]]] = []
    for s in sources:
        if isinstance(s, str):
            out.append({"uri": s, "name": None})
        elif isinstance(s, Mapping) and "uri" in s and set(s) <= {"uri", "name"}:
            out.append({"uri": s["uri"], "name": s.get("name")})
        else:
            raise TypeError(f"a source is a URI such as 'sim:?watts=25' or "
                            f"{{'uri': ..., 'name': ...}}, not {s!r}")
    if not out:
        raise ValueError("nothing to record: name a source, such as 'wattsup:/dev/ttyUSB0'; "
                         "wakewatt.devices() tells what is plugged in")
    return out


class Recording:
    """A recording that goes on until stop(), the end of its ``with``, or ``for_s``.

    It runs in a thread of its own, mostly in C, and does not hold the interpreter. What a
    ``with`` body raises, Ctrl-C too, ends the recording well: all that was measured is kept.
    If recording cannot go on (a full disk), the error is raised at the next call and at the end.
    """

    def __init__(self, sources: Sources, path: Optional[Union[str, "os.PathLike[str]"]] = None, *,
                 every_s: Optional[float] = None, for_s: Optional[float] = None,
                 raw: bool = False, commit_s: Optional[float] = None, append: bool = False,
                 meta: Optional[Mapping[str, str]] = None) -> None:
        wanted = _listed(sources)
        if for_s is not None and not 0 < for_s < 9e9:
            raise ValueError(f"for_s is {for_s}; it counts seconds")
        self._folder: Optional[str] = None
        if path is None:
            self._folder = tempfile.mkdtemp(prefix="wakewatt-")
            path = os.path.join(self._folder, "recording.wwt")
        self.path = os.fspath(path)  #: of the trace
        # Weakly: a trace of a private file keeps the recording that owns the file.
        self._trace: Callable[[], Optional["Trace"]] = lambda: None
        self._cores: "weakref.WeakSet[Core]" = weakref.WeakSet()  # what channels of it read, too
        self._asked_by = 0  # thread that last asked for it
        self._ids: Dict[str, int] = {}
        try:
            self._recorder = self._open(wanted, every_s, raw, commit_s, append, meta or {})
        except BaseException:
            self._remove(self._folder)
            raise
        self._told = False
        self._loop = self._start()
        # Ends by itself with the last reference to it, and before the program does.
        self._finalizer = weakref.finalize(self, _end, self._loop, self._recorder, self._folder)
        _RECORDINGS.add(self)
        self._timer: Optional[threading.Timer] = None
        if for_s is not None:
            self._timer = threading.Timer(for_s, self._loop.stop)
            self._timer.daemon = True
            self._timer.start()

    def _before_start(self, recorder: _ffi.Handle) -> None:
        """Between the sources and the start."""

    def _give_up(self) -> None:
        """It could not be started: what needs the recorder goes before it."""

    def _start(self) -> "_loop.Loop":
        return _loop.Loop(self._recorder, os.path.basename(self.path))

    def _open(self, wanted: List[Dict[str, Optional[str]]], every_s: Optional[float], raw: bool,
              commit_s: Optional[float], append: bool, meta: Mapping[str, str]) -> _ffi.Handle:
        if "\0" in self.path:
            raise ValueError("a path holds no zero character")
        options = _ffi.options(_ffi.ww_recorder_options, every_ns=_ffi.ns(every_s, "every_s"),
                               commit_ns=_ffi.ns(commit_s, "commit_s"), raw=int(raw),
                               append=int(append), program="wakewatt (Python)",
                               command=" ".join(sys.argv))
        options.path = os.fsencode(self.path)
        recorder = _ffi.Handle.new(lib.ww_recorder_new, lib.ww_recorder_free,
                                   ctypes.byref(options), what=f"{self.path}: the recorder",
                                   keep=(options,))
        try:
            for s in wanted:
                number = lib.ww_recorder_add(recorder(), _ffi.raw(s["uri"]), _ffi.raw(s["name"]),
                                             _ffi.ww_error())
                self._ids[s["name"] or s["uri"] or ""] = number
            for key, value in meta.items():
                lib.ww_recorder_meta(recorder(), _ffi.raw(key), _ffi.raw(value), _ffi.ww_error())
            self._before_start(recorder)
            lib.ww_recorder_start(recorder(), _ffi.ww_error())
        except BaseException:
            self._give_up()
            recorder.close()
            raise
        return recorder

    @staticmethod
    def _remove(folder: Optional[str]) -> None:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)

    def _forked(self) -> None:
        """In a child of fork(): the recording is its parent's."""
        self._finalizer.detach()
        self._recorder.detach()
        self._loop.forget()

    def __repr__(self) -> str:
        state = "recording" if self.running else "ended"
        return f"<wakewatt.Recording {self.path}, {state}>"

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, kind: Any, value: Any, where: Any) -> None:
        try:
            self.stop()
        except _ffi.Error:
            if kind is None:
                raise

    def _check(self) -> None:
        """Raise once what ended it."""
        if self._loop.error and not self._told:
            self._told = True
            raise self._loop.error

    # --- what can be asked while it runs

    @property
    def running(self) -> bool:
        """Whether it still records."""
        return self._loop.running

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Wait for its end: ``for_s``, or all sources. False: not within ``timeout`` seconds.

        Ctrl-C ends the waiting and not the recording. Error: what ended it.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        for event, step in ((self._loop.closing, 0.5), (self._loop.ended, 0.02)):
            while not event.wait(step if deadline is None else
                                 max(0.0, min(step, deadline - time.monotonic()))):
                if deadline is not None and time.monotonic() >= deadline:
                    return False
                if event is self._loop.ended:
                    self._let_go()
        self._check()
        return True

    def stop(self) -> None:
        """End it: sources are put into a sane state, the rest is stored. May be called again.

        Error: what could not be stored, or what ended it before.
        """
        if self._timer:
            self._timer.cancel()
        self._loop.stop()
        # A wait without an end could not be interrupted everywhere.
        while not self._loop.ended.wait(0.02 if self._cores else 0.5):
            self._let_go()
        self._check()

    def _let_go(self) -> None:
        """The recorder makes one plain file once its readers see that it is closed, and waits two
        seconds for them. Only the thread that works with the trace looks at it."""
        if self._asked_by != threading.get_ident():
            return
        for core in list(self._cores):
            try:
                if not core.handle.closed:
                    core.refresh()
            except _ffi.Error:
                pass  # whoever reads it is told

    def _ask(self, what: Any) -> Any:
        self._check()
        return self._loop.call(what)

    def _add(self, what: Any) -> None:
        """Something for the trace."""
        self._check()
        if not self.running:
            raise _ffi.Error(errno.ESHUTDOWN, f"{self.path}: the recording has ended")
        self._loop.call(what)

    def mark(self, label: str, kind: str = _ffi.MARK_LABEL, source: str = "") -> None:
        """Add a mark now: "+monitor" after it was plugged in. ``source``: which it concerns.

        Error: the recording has ended. KeyError: no such source.
        """
        mark = _ffi.ww_mark(_ffi.ww_interval(0, 0), self._id(source) if source else 0, 0,
                            _ffi.raw(kind), _ffi.raw(label))
        now = lib.ww_clock_now_ns()  # not when the loop's turn comes
        mark.t = _ffi.ww_interval(now, now)
        self._add(lambda: lib.ww_recorder_mark(self._recorder(), ctypes.byref(mark),
                                               _ffi.ww_error()))

    def type(self, source: str, value: float, label: Optional[str] = None) -> None:
        """Type a reading into a ``manual:`` source, in the unit of its first channel."""
        number, said = self._id(source), _ffi.raw(label)
        self._add(lambda: lib.ww_recorder_type(self._recorder(), number, value, said,
                                               _ffi.ww_error()))

    def meta(self, key: str, value: str) -> None:
        """Set a key of the trace's description ("dut.kernel")."""
        k, v = _ffi.raw(key), _ffi.raw(value)
        self._add(lambda: lib.ww_recorder_meta(self._recorder(), k, v, _ffi.ww_error()))

    def _id(self, name: str) -> int:
        known = dict(self._ids)
        if name not in known:  # a name that was made for it
            known.update({s.name: s.id for s in self.trace.sources.values()})
        if name not in known:
            raise KeyError(f"no source {name!r} is recorded; there are {', '.join(known)}")
        return known[name]

    def live(self) -> LiveTable:
        """The latest value of every channel."""
        def read() -> LiveTable:
            out, v = LiveTable(), _ffi.ww_live()
            while lib.ww_recorder_live(self._recorder(), len(out), ctypes.byref(v)) == 1:
                state = _STATES[v.state] if 0 <= v.state < len(_STATES) else str(v.state)
                out.append(Live(text(v.source), text(v.channel), text(v.unit), v.value,
                                v.resolution, v.t_ns, v.n, state,
                                _ffi.word(_ffi.ww_source_kind, v.kind)))
            return out

        found: LiveTable = self._ask(read)
        return found

    @property
    def warnings(self) -> List[str]:
        """A doubtful clocksource, a model that does not hold."""
        found: List[str] = self._ask(
            lambda: list(_ffi.listed(lib.ww_recorder_warning, self._recorder())))
        return found

    @property
    def stats(self) -> RecorderStats:
        """How much was taken, lost and stored, and how late the loop was."""
        def read() -> RecorderStats:
            s = _ffi.ww_recorder_stats()
            lib.ww_recorder_stats(self._recorder(), ctypes.byref(s))
            late = math.nan if s.late_p99_ns < 0 else s.late_p99_ns / 1e9
            return RecorderStats(s.samples, s.bytes, s.lost, s.gaps, s.late_max_ns / 1e9, late,
                                 s.queue_peak, s.stored, s.raw)

        found: RecorderStats = self._ask(read)
        return found

    # --- what it has recorded

    @property
    def trace(self) -> "Trace":
        """The trace, as far as it goes now; it grows with every look at it."""
        from ._trace import Trace

        self._check()
        self._asked_by = threading.get_ident()
        trace = self._trace()
        if trace is None or trace.closed:
            trace = Trace(self.path)
            if self._folder:
                trace._core.keep = self
            self._trace = weakref.ref(trace)
            self._cores.add(trace._core)
        else:
            trace.refresh()
        return trace

    def __getitem__(self, name: str) -> "Channel":
        """A channel of the trace, to be read or followed. KeyError: no such channel.

        A meter that has only just been opened is given two seconds to appear.
        """
        deadline = time.monotonic() + 2
        while name not in self.trace and self.running and time.monotonic() < deadline:
            self._loop.ended.wait(0.02)
        return self.trace[name]

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>" + self.live()._repr_html_()


#: those of this process: a child of fork() must not end them
_RECORDINGS: "weakref.WeakSet[Recording]" = weakref.WeakSet()


def _after_fork() -> None:
    for recording in list(_RECORDINGS):
        recording._forked()


os.register_at_fork(after_in_child=_after_fork)


def _end(loop: "_loop.Loop", recorder: _ffi.Handle, folder: Optional[str]) -> None:
    _loop.finish(loop)
    recorder.close()
    Recording._remove(folder)


def record(sources: Sources, path: Optional[Union[str, "os.PathLike[str]"]] = None, *,
           every_s: Optional[float] = None, for_s: Optional[float] = None, raw: bool = False,
           commit_s: Optional[float] = None, append: bool = False,
           meta: Optional[Mapping[str, str]] = None) -> Recording:
    """Begin to record; a context manager that ends it.

        with wakewatt.record(["wattsup:/dev/ttyUSB0"], "desk.wwt") as rec:
            rec.mark("+monitor")
            for t, watts in rec["meter.power"].follow(timeout=60):
                ...

    ``sources``: URIs as ``pwrlog record -m`` takes them, or ``{"uri": ..., "name": ...}``; a
    serial line by its tty's path. ``path``: of the trace to create, never overwritten; None: a
    private one, removed with the recording. ``every_s``: interval of readings, else the meter's
    fastest. ``for_s``: ends by itself. ``raw``: keep the meters' bytes. ``commit_s``: longest
    time until readers see what was stored; at most, and by default, 0.5 s. ``append``: go on
    with the trace that is there.

    Error: a device that cannot be opened, with what helps; a file that exists (EEXIST).
    """
    return Recording(sources, path, every_s=every_s, for_s=for_s, raw=raw, commit_s=commit_s,
                     append=append, meta=meta)
