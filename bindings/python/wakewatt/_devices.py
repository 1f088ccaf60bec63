# SPDX-License-Identifier: MIT
"""Meters that this build reads, what is plugged in, actions on a DUT, and the serial path."""
from __future__ import annotations

import ctypes
import os
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _ffi
from ._ffi import lib, text
from ._follow import readable
from ._records import Transport
from ._result import Report, document, html_notes, html_table, plain
from ._types import Interval, Quantity


@dataclass(frozen=True)
class Meter:
    """A driver of this build."""

    name: str
    summary: str
    example: str  #: of a URI
    available: bool  #: False: left out of this build
    proven: bool  #: False: has never met the real device


class Meters(List[Meter]):
    """Drivers; a table in a notebook."""

    def _repr_html_(self) -> str:
        def said(m: Meter) -> str:
            return "not in this build" if not m.available else "" if m.proven else "?"

        unproven = any(m.available and not m.proven for m in self)
        return html_table(("driver", "what", "for example", ""),
                          [(m.name, m.summary, m.example, said(m)) for m in self],
                          left=4) + html_notes(
            ["?: this driver has never met the real device"] if unproven else [])


def meters() -> Meters:
    """The drivers of this build: what ``pwrlog list`` names. Opens no device."""
    out, info = Meters(), _ffi.ww_driver_info()
    while lib.ww_driver_at(len(out), ctypes.byref(info)) == 1:
        out.append(Meter(text(info.name), text(info.summary), text(info.example),
                         bool(info.available), bool(info.proven)))
    return out


@dataclass(frozen=True)
class Found:
    """Something that is plugged in, or could be used."""

    uri: str  #: to record from, "" where none is known
    what: str  #: "wattsup", "serial port", "gpiochip", ...
    detail: str  #: maker, product, serial number
    hint: str  #: what is missing to use it, and the command that mends it; "" nothing


class Devices(List[Found]):
    """What was found; a table in a notebook. ``document``: the JSON of ``pwrlog list``."""

    document: Dict[str, Any]

    def _repr_html_(self) -> str:
        return html_table(("URI", "what", "detail", "what helps"),
                          [(d.uri, d.what, d.detail, d.hint) for d in self], left=4)


def devices(probe: bool = False, for_s: Optional[float] = None) -> Devices:
    """What is plugged in: what ``pwrlog list`` prints. Opens nothing, unless ``probe``.

    ``probe``: ask the devices whose id many others have which meter they are: opens them one
    after another, which sets DTR, and sends the questions of the drivers; not for a port that
    wakes or feeds a DUT. It takes up to ``for_s`` seconds (30); other threads go on.
    """
    handle = _ffi.Handle.new(lib.ww_list_new, lib.ww_list_free, what="the list of devices")
    try:
        if probe:
            lib.ww_list_probe(handle(), _ffi.ns(for_s, "for_s"), _ffi.ww_error())
        out = Devices(Found(text(f.uri), text(f.what), text(f.detail), text(f.hint))
                      for f in _ffi.listed(lib.ww_list_at, handle()))
        out.document = document(lib.ww_list_report, handle())
    finally:
        handle.close()
    return out


def drive(fd: int, dispatch: Callable[[], int], timeout: Optional[float]) -> bool:
    """Poll and dispatch until the end. False: not within ``timeout`` seconds. Ctrl-C ends it."""
    deadline = None if timeout is None else time.monotonic() + timeout
    while dispatch() > 0:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            return False
        readable(fd, left)
    return True


class Action:
    """Something done to a DUT: a command, "gpio:gpiochip0/PWRBTN=low,200ms", "rtc:20s", ...

    See resumetime-act(1) for the forms. A line that it drives is put back at its end, and by a
    process of its own where this program dies.

        print(wakewatt.Action("wol:00:11:22:33:44:55").run().how)

    Error: a form that cannot work (no such line, a press too long).
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._handle = _ffi.Handle.new(lib.ww_action_new, lib.ww_action_free, _ffi.raw(what),
                                       what=what)

    def __repr__(self) -> str:
        return f"<wakewatt.Action {self.what!r}{': ' + self.how if self.how else ''}>"

    def __enter__(self) -> "Action":
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def close(self) -> None:
        """End it, and put its line back."""
        self._handle.close()

    def start(self) -> "Action":
        """Begin; wait() goes on with it."""
        lib.ww_action_start(self._handle(), _ffi.ww_error())
        return self

    def fileno(self) -> int:
        """Descriptor to poll for reading while it runs; then dispatch()."""
        return int(lib.ww_action_fd(self._handle()))

    def dispatch(self) -> bool:
        """Do what is due; never blocks. False: it is over. Error: it failed."""
        return bool(lib.ww_action_dispatch(self._handle(), _ffi.ww_error()) > 0)

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Until it is over. False: not within ``timeout`` seconds, it goes on. Error: failed."""
        return drive(self.fileno(), self.dispatch, timeout)

    def run(self) -> "Action":
        """start() and wait()."""
        self.start().wait()
        return self

    @property
    def how(self) -> str:
        """How it ended: "exit 0", "pulse of 200.4 ms"; "" while it is not over."""
        return text(lib.ww_action_how(self._handle()))

    @property
    def when(self) -> Optional[Interval]:
        """When it took effect, ns of CLOCK_BOOTTIME, surely; None: not known yet."""
        out = _ffi.ww_interval()
        try:
            lib.ww_action_when(self._handle(), ctypes.byref(out))
        except _ffi.Error:
            return None
        return Interval(out.lo_ns, out.hi_ns)

    def report(self) -> Dict[str, Any]:
        """What was done and when: the JSON of ``resumetime act``."""
        return document(lib.ww_action_report, self._handle())


class Loopback(Report):
    """A serial path measured by itself: what ``resumetime loopback`` prints. Times in s."""

    sent: int  #: bytes
    back: int
    wrong: int  #: not what was sent
    median_s: float  #: from the end of the byte on the line to its stamp
    p99_s: float
    max_s: float
    width_s: float  #: median width of the stated intervals
    inside: float  #: part of the bytes whose true time lies in its interval; NaN: nobody knows
    baud: Quantity  #: of the line
    transport: Transport
    stored: str  #: file that keeps it for later recordings; "" where it was not stored

    def __init__(self, notes: Tuple[str, ...], d: Dict[str, Any], said: str, r: Any,
                 stored: str) -> None:
        super().__init__(notes, d, said)
        p = r.transport
        values = {"sent": r.sent, "back": r.back, "wrong": r.wrong, "median_s": r.median_s,
                  "p99_s": r.p99_s, "max_s": r.max_s, "width_s": r.width_s, "inside": r.inside,
                  "baud": Quantity(r.baud.value, r.baud.u, "Bd"), "stored": stored,
                  "transport": Transport(text(p.name), p.delay_min_ns, p.delay_max_ns, p.char_ns,
                                         text(p.settings))}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _summary(self) -> str:
        return f"{self.back} of {self.sent} bytes back, median {1e3 * self.median_s:.3g} ms"

    def _html(self) -> str:
        return html_table(("loopback", ""), [
            ("bytes back", f"{self.back} of {self.sent}, {self.wrong} wrong"),
            ("median delay", f"{plain(1e3 * self.median_s, 3)} ms"),
            ("99 %", f"{plain(1e3 * self.p99_s, 3)} ms"),
            ("stated intervals", f"{plain(1e3 * self.width_s, 3)} ms wide")])


def loopback(port: str, *, n: Optional[int] = None, echo: bool = False, store: bool = False,
             timeout: Optional[float] = None) -> Loopback:
    """Measure a serial path: bytes sent at known times come back by a wire from TX to RX.

    ``port`` as record() takes it. ``n``: bytes to send (1000). ``echo``: a DUT echoes, whose
    own time is in every figure. ``store``: keep it for later recordings on this adapter.
    Error: nothing came back, no such port; TimeoutError: not through in ``timeout`` seconds.
    """
    options = _ffi.options(_ffi.ww_loopback_options, bytes=n, echo=int(echo))
    handle = _ffi.Handle.new(lib.ww_loopback_new, lib.ww_loopback_free, _ffi.raw(port),
                             ctypes.byref(options), what=f"the loopback on {port}")
    try:
        if not drive(lib.ww_loopback_fd(handle()), lambda: lib.ww_loopback_dispatch(
                handle(), _ffi.ww_error()), timeout):
            raise TimeoutError(f"{port}: the loopback is not through after {timeout} s")
        result, path = _ffi.ww_loopback_result(), ctypes.create_string_buffer(4096)
        lib.ww_loopback_result(handle(), ctypes.byref(result), _ffi.ww_error())
        if store:
            lib.ww_loopback_store(handle(), path, len(path), _ffi.ww_error())
        notes = tuple(_ffi.listed(lib.ww_loopback_note, handle()))
        return Loopback(notes, document(lib.ww_loopback_report, handle()),
                        _ffi.report(lib.ww_loopback_report, handle()), result,
                        os.fsdecode(path.value))
    finally:
        handle.close()
