# SPDX-License-Identifier: MIT
"""What every result has in common: the command's document and text, a table for notebooks.

A result is made from the JSON that the command line prints (cli contract: schema wakewatt/X/1),
so that every figure is the same, and keeps it as ``document``.
"""
from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from html import escape
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Sequence, Tuple

from . import _ffi
from ._types import Interval, Quantity


def document(report: Callable[..., int], handle: Any) -> Dict[str, Any]:
    """A report's JSON."""
    found: Dict[str, Any] = json.loads(_ffi.report(report, handle, _ffi.ww_report_form.JSON))
    return found


def both(report: Callable[..., int], handle: Any) -> Tuple[Dict[str, Any], str]:
    """A report's JSON and its text."""
    return document(report, handle), _ffi.report(report, handle)


@dataclass(frozen=True, repr=False)
class Report:
    """Base of all results. ``str()`` is the command's text, ``document`` its JSON."""

    notes: Tuple[str, ...]  #: what was assumed, not observed or left out
    document: Dict[str, Any] = field(repr=False)
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<wakewatt.{type(self).__name__}: {self._summary()}>"

    def _summary(self) -> str:
        """A few words: how many of what."""
        return f"{len(self.notes)} notes"

    def _html(self) -> str:
        """Tables of the result, without its notes."""
        return f"<pre>{escape(self.text)}</pre>"

    def _repr_html_(self) -> str:
        return self._html() + html_notes(self.notes)


# --- pieces of JSON


def number(value: Optional[float]) -> float:
    """null is NaN."""
    return math.nan if value is None else float(value)


def interval(pair: Optional[Sequence[Optional[float]]]) -> Optional[Interval]:
    """[lo, hi]; an open end (null) is infinite; null: not observed."""
    if pair is None:
        return None
    lo, hi = pair
    return Interval(-math.inf if lo is None else lo, math.inf if hi is None else hi)


def intervals(pairs: Optional[Mapping[str, Any]]) -> Dict[str, Interval]:
    """Intervals by name; what was not observed is absent."""
    found = {name: interval(pair) for name, pair in (pairs or {}).items()}
    return {name: i for name, i in found.items() if i is not None}


def quantity(q: Any, unit: str) -> Optional[Quantity]:
    """{"value", "u", "why"}; null: none."""
    if q is None:
        return None
    return Quantity(number(q.get("value")), q.get("u"), unit, q.get("why") or "")


# --- HTML for notebooks


def html_table(head: Iterable[str], rows: Iterable[Sequence[str]], caption: str = "",
               left: int = 1) -> str:
    """A table; every cell is text and escaped. Columns but the first ``left`` are set right."""
    def row(cells: Iterable[str], tag: str) -> str:
        out = []
        for i, c in enumerate(cells):
            style = "text-align:left" if i < left else "text-align:right"
            # A quantity is not torn from its unit; a long text is.
            whole = ";white-space:nowrap" if tag == "td" and len(c) <= 24 else ""
            out.append(f'<{tag} style="{style}{whole}">{escape(c)}</{tag}>')
        return "<tr>" + "".join(out) + "</tr>"

    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return ("<table>" + title + "<thead>" + row(head, "th") + "</thead><tbody>"
            + "".join(row(r, "td") for r in rows) + "</tbody></table>")


def html_notes(notes: Sequence[str]) -> str:
    """Notes under a table."""
    if not notes:
        return ""
    return "<ul>" + "".join(f"<li>{escape(n)}</li>" for n in notes) + "</ul>"


def plain(value: Optional[float], digits: int = 6) -> str:
    """A number without an uncertainty of its own; "" for none."""
    return "" if value is None or math.isnan(value) else f"{value:.{digits}g}"


_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"),
             (1e-6, "µ"), (1e-9, "n"))


def prefix(magnitude: float) -> Tuple[float, str]:
    """(factor, prefix of the unit) that make a number readable: 0.0042 is 4.2 of (1e-3, "m")."""
    for factor, text in _PREFIXES:
        if abs(magnitude) >= 0.9995 * factor:
            return factor, text
    return _PREFIXES[-1] if magnitude else (1.0, "")


def prefixed(q: Optional[Quantity]) -> str:
    """As the command line writes it: "9 ± 55 mJ". "" for none. Seconds become no kiloseconds."""
    if q is None or not q or not math.isfinite(q.value):
        return ""
    factor, text = prefix(max(abs(q.value), 2 * (q.u or 0)))
    if q.unit.startswith("s") or q.unit in ("", "1"):
        factor, text = (factor, text) if factor < 1 and q.unit not in ("", "1") else (1.0, "")
    unit = "" if q.unit == "1" else q.unit
    return str(Quantity(q.value / factor, q.u and q.u / factor, text + unit))
