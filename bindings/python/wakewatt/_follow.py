# SPDX-License-Identifier: MIT
"""How a trace that still grows is followed."""
from __future__ import annotations

import ctypes
import math
import select
import time
from array import array
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Tuple

from . import _arrays, _ffi
from ._ffi import lib
from ._records import Bytes, Mark

if TYPE_CHECKING:
    from ._core import Core


def readable(fd: int, seconds: Optional[float]) -> None:
    """Wait until a descriptor is, or for so long. poll(2): any number of files may be open."""
    p = select.poll()
    p.register(fd, select.POLLIN)
    p.poll(None if seconds is None else max(0, math.ceil(1e3 * seconds)))


class Patience:
    """Waits until a trace may have grown. Ctrl-C interrupts it: it waits in Python."""

    def __init__(self, core: "Core", timeout: Optional[float]) -> None:
        self._core, self._timeout = core, timeout
        self._since = time.monotonic()
        self.grown = False  #: whether the last look found something

    def heard(self) -> None:
        """Something came: the time begins anew."""
        self._since = time.monotonic()

    def more(self) -> bool:
        """Whether it is worth while to look again. The last look comes after the end."""
        core = self._core
        if lib.ww_trace_state(core.h()) != _ffi.ww_trace_state.LIVE:
            self.grown = core.refresh()
            return self.grown
        left: Optional[float] = None
        if self._timeout is not None:
            left = self._since + self._timeout - time.monotonic()
            if left <= 0:
                return False
        readable(lib.ww_trace_fd(core.h()), left)
        self.grown = core.refresh()
        return True


def batches(core: "Core", source: int, from_ns: int, to_ns: int, flags: int,
            timeout: Optional[float]) -> Iterator[Any]:
    """Rows of a source as they come: each is lent until the next one."""
    cursor = _ffi.Handle.new(lib.ww_cursor_open, lib.ww_cursor_close, core.h(), source, from_ns,
                             to_ns, flags, what="the cursor", keep=(core,))
    batch, patience = _ffi.ww_batch(), Patience(core, timeout)
    try:
        while True:
            core.h()  # closed meanwhile: says so
            if lib.ww_cursor_next(cursor(), ctypes.byref(batch), _ffi.ww_error()) == 1:
                patience.heard()
                yield batch
            elif not patience.more():
                return
    finally:
        cursor.close()


def _now(core: "Core", from_ns: int, new: bool) -> int:
    """Where to begin: only what is not there yet, or from the beginning."""
    span = core.span()
    return max(from_ns, int(span.hi) + 1) if new and span else from_ns


def samples(core: "Core", info: Any, from_ns: int, to_ns: int, timeout: Optional[float],
            new: bool) -> Iterator[Tuple[float, float]]:
    """(seconds after the first record, value) of a channel."""
    column = [c["id"] for c in core.channels().values()
              if c["source_id"] == info["source_id"]].index(info["id"])
    scale, offset = info["scale"], info["offset"]
    for batch in batches(core, info["source_id"], _now(core, from_ns, new), to_ns, 0, timeout):
        n = batch.n
        lo, hi, codes = batch.lo_ns[:n], batch.hi_ns[:n], batch.codes[column][:n]
        times = _arrays.middles(array("q", lo), array("q", hi), core.origin()).tolist()
        for t, code in zip(times, codes):
            yield t, math.nan if code < _ffi.CODE_MIN else _value(code, scale, offset)


def _value(code: int, scale: float, offset: float) -> float:
    """As the library computes it: a scale that is one over a whole number divides."""
    inverse = int(1 / scale + 0.5) if 0 < scale < 1 else 0
    if inverse >= 2 and 1 / inverse == scale:
        return code / inverse + offset
    return code * scale + offset


def pieces(core: "Core", source: Any, from_ns: int, to_ns: int, sure: bool,
           timeout: Optional[float], new: bool) -> Iterator[Bytes]:
    """Bytes of a serial line as they come."""
    flags = int(_ffi.ww_cursor_flags.SURE) if sure else 0
    for b in batches(core, source.id, _now(core, from_ns, new), to_ns, flags, timeout):
        lo, hi = array("q", b.lo_ns[:b.n]), array("q", b.hi_ns[:b.n])
        np = _arrays.numpy()
        if np is not None:
            yield Bytes(ctypes.string_at(b.data, b.n), np.asarray(lo), np.asarray(hi),
                        core.origin())
        else:
            yield Bytes(ctypes.string_at(b.data, b.n), lo, hi, core.origin())


def marks(core: "Core", timeout: Optional[float], new: bool) -> Iterator[Mark]:
    """Marks as they come, in the order in which they were stored."""
    seen = len(core.marks()) if new else 0
    patience = Patience(core, timeout)
    while True:
        found: List[Mark] = core.marks()
        for mark in found[seen:]:
            patience.heard()
            yield mark
        seen = len(found)
        if not patience.more():
            return
