# SPDX-License-Identifier: MIT
"""Samples, bytes and marks as they arrive.

All of these wait in Python: Ctrl-C, and the stop button of a notebook, interrupt them at once,
and other threads go on. They end when the recorder has ended, and with ``timeout`` also after so
many seconds without anything new. What they gave is never given twice, and nothing is left out.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, Optional, Tuple

from . import _ffi, _follow
from ._base import View
from ._core import Core
from ._records import Bytes, Mark

if TYPE_CHECKING:
    from ._trace import Trace


class LiveTrace(View):
    """A trace that may still grow."""

    def follow(self, timeout: Optional[float] = None) -> Iterator["Trace"]:
        """Yield the trace each time it has grown, until its recorder has ended."""
        trace: "Trace" = self  # type: ignore[assignment]
        patience = _follow.Patience(self._core, timeout)
        while patience.more():
            if patience.grown:
                patience.heard()
                yield trace

    def follow_bytes(self, source: str, *, timeout: Optional[float] = None, new: bool = False,
                     sure: bool = False) -> Iterator[Bytes]:
        """Yield the bytes of a serial line with their intervals, piece by piece, as they come.

        ``new``: only those that are not there yet. ``sure``: as in bytes().
        KeyError: no such source. Error (EINVAL): it holds samples.
        """
        found = self._core.source(source)
        if found.kind != "serial":
            raise _ffi.Error(22, f"{self.path}: source '{source}' holds samples, not bytes; "
                                 "follow its channels")
        return _follow.pieces(self._core, found, *self._bounds(), sure, timeout, new)

    def follow_marks(self, *, timeout: Optional[float] = None, new: bool = False) -> Iterator[Mark]:
        """Yield marks as they come, in the order in which they were stored."""
        return _follow.marks(self._core, timeout, new)


class LiveChannel:
    """A channel of a trace that may still grow."""

    _core: Core
    _info: Dict[str, Any]
    _from: int
    _to: int

    def follow(self, timeout: Optional[float] = None, *,
               new: bool = False) -> Iterator[Tuple[float, float]]:
        """Yield (t, value) as samples arrive: seconds since the trace's first record, and the
        value in ``unit``, NaN where the meter gave none.

        ``new``: only those that are not there yet; else from the beginning.
        """
        return _follow.samples(self._core, self._info, self._from, self._to, timeout, new)
