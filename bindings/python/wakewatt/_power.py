# SPDX-License-Identifier: MIT
"""What a trace, or a stretch of it, tells of power."""
from __future__ import annotations

import math
from typing import Optional, Tuple

from . import _ffi, _stat
from ._base import View
from ._types import Number


class PowerAnalyses(View):
    """What a trace, or a stretch of it, tells of power."""

    def stat(self, from_: Optional[Number] = None, to: Optional[Number] = None,
             between: Optional[Tuple[str, str]] = None) -> "_stat.StatReport":
        """Mean, energy and coverage of every channel: what ``pwrlog stat`` prints.

        From and to in seconds since the trace's first record; None: all. ``between``: from the
        end of one mark to the beginning of another after it, by their texts or kinds instead.
        ValueError: a time that is not finite, or both ways at once. KeyError: no such mark.
        """
        for word, t in (("from_", from_), ("to", to)):
            if t is not None and not math.isfinite(t):
                raise ValueError(f"{word} is {t}; it counts seconds since the trace's first record")
        if between is not None and (isinstance(between, str) or len(between) != 2
                                    or from_ is not None or to is not None):
            raise ValueError("between takes two marks, and neither from_ nor to beside it")
        lo, hi = self._axis(*(between or (from_, to)))
        options = _ffi.options(_ffi.ww_stat_options, from_ns=lo or -1, to_ns=hi or 1)
        return _stat.stat(self._h(), options)
