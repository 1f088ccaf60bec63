# SPDX-License-Identifier: MIT
"""A trace as a notebook shows it: what was recorded, when, and what was marked."""
from __future__ import annotations

import os
from typing import List, Optional, Sequence, Tuple

from . import _ffi, _table
from ._base import View
from ._ffi import lib
from ._result import html_notes, html_table

_MARKS = 12


def length(seconds: float) -> str:
    """A duration as people say it: "1.23 s", "12 min 5 s", "3 h 20 min"."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min" + (f" {rest} s" if rest else "")
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h" + (f" {minutes} min" if minutes else "")


def count(n: int) -> str:
    """Digits in threes, parted by narrow blanks."""
    return f"{n:,}".replace(",", "\u202f")


def _rows(view: View) -> List[Tuple[str, ...]]:
    core = view._core
    out: List[Tuple[str, ...]] = []
    sources = core.sources()
    held = {name: lib.ww_trace_rows(view._h(), s.id, view._from, view._to, _ffi.ww_error())
            for name, s in sources.items()}
    for c in core.channels().values():
        step = f"{c['resolution']:g} {c['unit']}" if c["resolution"] > 0 else ""
        out.append((c["full"], c["quantity"], c["unit"], c["semantics"], step,
                    count(held[c["source"]])))
    for name, s in sources.items():
        if s.kind == "serial":
            out.append((name, s.role, "", "bytes", "", count(held[name])))
    return out


def _names(view: View) -> Optional[str]:
    marks = [m for m in view.marks if m.kind not in ("start", "stop")]
    if not marks:
        return None
    said = [f"{m.text if m.kind == 'label' and m.text else m.kind} ({m.t_s.mid:.4g} s)"
            for m in marks[:_MARKS]]
    more = f", and {len(marks) - _MARKS} more" if len(marks) > _MARKS else ""
    return f"marks: {', '.join(said)}{more}"


def html(view: View, state: str, notes: Sequence[str] = ()) -> str:
    """Table of channels and serial lines, marks and losses under it."""
    start = _table.start_of(view._core)
    caption = f"{os.path.basename(view.path)}: {state}, {length(view.duration_s)} long"
    if start and view._from == _ffi.TIME_MIN:
        caption += f", first record {start[:19].replace('T', ' ')} UTC"
    lost = view.gaps
    said = [_names(view), f"gaps: {len(lost)}" if lost else None, *notes]
    head = ("channel", "quantity", "unit", "values are", "step", "count")
    return html_table(head, _rows(view), caption) + html_notes([s for s in said if s])
