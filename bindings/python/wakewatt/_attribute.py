# SPDX-License-Identifier: MIT
"""Watts of each device, from readings in known states of on and off."""
from __future__ import annotations

import ctypes
import math
import os
import re
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from . import _ffi, _plot
from ._base import View
from ._calibrate import Calibration
from ._ffi import lib
from ._parse import WATTS, Given, Path, given, slurp
from ._result import Report, both, html_table, interval, quantity
from ._types import Interval, Quantity

#: readings: a file, the text itself, pairs of what changed and the reading, or a DataFrame of
#: 0/1 columns with one of watts
Table = Union[Path, Iterable[Tuple[str, Any]], Any]
_NOW, _BEFORE = int(_ffi.ww_attribute_set.NOW), int(_ffi.ww_attribute_set.BEFORE)


@dataclass(frozen=True)
class Device:
    """One state of a device other than off."""

    name: str
    state: str  #: "on", "standby"
    watts: Optional[Quantity]  #: None: the readings do not tell
    estimable: bool
    readings: int  #: with it in this state

    def label(self) -> str:
        """Its name, with the state where that is not "on"."""
        return self.name if self.state == "on" else f"{self.name} ({self.state})"


@dataclass(frozen=True)
class Inseparable:
    """Devices that the readings do not tell apart."""

    devices: Tuple[str, ...]
    sum: Optional[Quantity]  #: W


@dataclass(frozen=True)
class NextReading:
    """A reading that would help: what is on in it, and what it would tell apart."""

    on: Tuple[str, ...]
    separates: Tuple[str, ...]
    flips: int  #: plugs to change from the last state


@dataclass(frozen=True)
class LevelInOrder:
    """A level of another order than that of the readings."""

    name: str  #: what was added
    state: str
    added: Optional[Quantity]  #: W, of this one alone
    level: Optional[Quantity]  #: W, of this and all before
    synthetic: bool  #: this state was never read: devices are taken to add


@dataclass(frozen=True)
class Saving:
    """What the other set of devices drew, less what this one draws."""

    before: Quantity  #: W
    now: Quantity  #: W
    watts: Quantity
    kwh_per_year: Quantity
    money_per_year: Optional[Quantity]  #: None without a price
    payback_years: Optional[Quantity]  #: None without a cost, or where nothing is saved
    payback_years_95: Optional[Interval]
    currency: str

    @staticmethod
    def _of(d: Dict[str, Any]) -> "Saving":
        money = d.get("currency") or ""

        def q(key: str, unit: str) -> Quantity:
            return quantity(d.get(key), unit) or Quantity(math.nan, None, unit)

        return Saving(q("before_W", "W"), q("now_W", "W"), q("saving_W", "W"),
                      q("kWh_per_year", "kWh"), quantity(d.get("money_per_year"), money),
                      quantity(d.get("payback_years"), "years"),
                      interval(d.get("payback_years_95")), money)


def _names(entries: Iterable[Any]) -> Tuple[str, ...]:
    return tuple(e if isinstance(e, str) else e["name"] for e in entries)


@dataclass(frozen=True, repr=False)
class Attribution(Report):
    """Watts of each device: what ``pwrlog attribute`` prints."""

    offset: Optional[Quantity]  #: W that the meter shows too much; None not known
    offset_is_base: bool  #: True: nothing was read unplugged, and it holds what else was on
    devices: Tuple[Device, ...]
    inseparable: Tuple[Inseparable, ...]
    next: Tuple[NextReading, ...]  #: best first
    total: Optional[Quantity]  #: W, all devices on, without the offset
    total_shown: Optional[Quantity]  #: the same as the meter shows it
    order: Tuple[LevelInOrder, ...]  #: levels in the order that was asked for
    pairs: Tuple[Tuple[str, str, Quantity], ...]  #: two that draw more than their sum, W
    saving: Optional[Saving]

    def _summary(self) -> str:
        return f"{len(self.devices)} devices, total {self.total or 'not known'}"

    def __getitem__(self, name: str) -> Device:
        """By name, or "name (state)". KeyError with the names that there are."""
        for d in self.devices:
            if name in (d.name, d.label()):
                return d
        raise KeyError(f"no device {name!r}; there are "
                       f"{', '.join(d.label() for d in self.devices) or 'none'}")

    def _html(self) -> str:
        rows = [(d.label(), str(d.watts) if d.watts else "not known", str(d.readings))
                for d in self.devices]
        if self.total is not None:
            rows.append(("all on", str(self.total), ""))
        if self.offset is not None:
            rows.append(("base level, and whatever else was on" if self.offset_is_base
                         else "the meter's offset", str(self.offset), ""))
        out = html_table(("device", "power", "readings"), rows)
        if self.order:
            out += html_table(("in this order", "adds", "level", ""), [
                (v.name, str(v.added or ""), str(v.level or ""),
                 "never read" if v.synthetic else "read") for v in self.order])
        if self.saving is not None:
            s = self.saving
            year: List[Tuple[str, str]] = [("before", str(s.before)), ("now", str(s.now)),
                                           ("saved", str(s.watts)),
                                           ("in a year", str(s.kwh_per_year))]
            if s.money_per_year is not None:
                year.append(("money in a year", str(s.money_per_year)))
            if s.payback_years is not None:
                year.append(("paid back after", str(s.payback_years)))
            out += html_table(("saving", ""), year)
        return out

    def plot(self, ax: Optional[Any] = None) -> Any:
        """A bar of watts for each device, with its expanded uncertainty (k = 2)."""
        known = [d for d in self.devices if d.watts]
        ax = _plot.axes(ax, height=0.8 + 0.42 * max(1, len(known)))
        ax.grid(False, axis="y")
        ax.grid(True, axis="x", linewidth=0.5, alpha=0.4)
        widest = max((abs(float(d.watts)) for d in known if d.watts), default=1.0)
        for i, d in enumerate(known):
            assert d.watts is not None
            u = 2 * (d.watts.u or 0.0)
            ax.barh(i, d.watts.value, xerr=u, color=_plot.MEASURED, height=0.62, capsize=3,
                    error_kw={"linewidth": 1})
            ax.text(max(d.watts.value + u, 0.0) + 0.015 * widest, i, str(d.watts), va="center")
        ax.set_yticks(range(len(known)), [d.label() for d in known])
        ax.invert_yaxis()
        ax.set_xlim(right=1.28 * widest)
        ax.set_xlabel("power, W (± is k = 2)")
        return ax

    def plot_levels(self, ax: Optional[Any] = None) -> Any:
        """How the total grows, device by device: in the order asked for, else as listed."""
        names = [(v.name, v.added, v.synthetic) for v in self.order] or [
            (d.label(), d.watts, False) for d in self.devices]
        ax = _plot.axes(ax)
        level = 0.0
        for i, (_, added, synthetic) in enumerate(names):
            height = float(added) if added else 0.0
            ax.bar(i, height, bottom=level, width=0.7, facecolor=_plot.MEASURED,
                   alpha=0.45 if synthetic else 1.0, hatch="//" if synthetic else None,
                   edgecolor="white")
            level += height
            ax.text(i, level, f" {level:.1f} W", ha="center", va="bottom")
        ax.set_xticks(range(len(names)), [n for n, _, _ in names])
        ax.margins(y=0.12)
        ax.set_ylabel("power, W")
        return ax


def spec(text: str) -> Tuple[float, float]:
    """A maker's accuracy, "0.2%", "1W" or "2%+1W", as (W, part of the reading)."""
    absolute = relative = 0.0
    for term in text.split("+"):
        m = re.fullmatch(r"\s*([0-9.]+(?:[eE]-?\d+)?)\s*(%|W|mW)\s*", term)
        if not m:
            raise ValueError(f"spec is {text!r}; it is the maker's accuracy, such as '0.2%', '1W' "
                             "or '2%+1W'")
        if m[2] == "%":
            relative += float(m[1]) / 100
        else:
            absolute += float(m[1]) * WATTS[m[2]]
    return absolute, relative


def money(value: Union[float, int, str, None], what: str) -> Tuple[float, str]:
    """0.07, "$0.07", "0.30 EUR": (amount, currency)."""
    if value is None:
        return 0.0, ""
    if isinstance(value, (int, float)):
        return float(value), ""
    m = re.fullmatch(r"\s*([^\d\s.+-]*)\s*(\d+(?:\.\d+)?|\.\d+)\s*([^\d\s.]*)\s*", value)
    if not m or (m[1] and m[3]):
        raise ValueError(f"{what} is {value!r}; a price is written 0.30, '$0.30' or '0.30 EUR'")
    return float(m[2]), m[1] or m[3]


def _table_text(table: Table) -> Tuple[str, bytes]:
    """(name for messages, text) of a table in any of its forms."""
    if isinstance(table, (str, os.PathLike)):
        if isinstance(table, str) and "\n" in table:
            return "the table", table.encode()
        return os.fspath(table), slurp(table)
    if hasattr(table, "to_csv"):
        return "the table", str(table.to_csv(index=False)).encode()
    lines = []
    for entry in table:
        if isinstance(entry, str) or len(entry) != 2:
            raise TypeError(f"a table is a path, a text of lines, pairs of what changed and the "
                            f"reading, or a DataFrame; {entry!r} is no pair")
        what, reading = entry
        lines.append(f"{what}; {reading!r}" if isinstance(reading, float)
                     else f"{what}; {reading}")
    return "the table", "\n".join(lines).encode() + b"\n"


def _several(x: Any) -> List[Any]:
    """One or many: traces, paths."""
    if x is None:
        return []
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _fill(handle: "_ffi.Handle", which: int, tables: Sequence[Table], traces: Sequence[Any],
          keep: List[Any]) -> None:
    for table in tables:
        name, text = _table_text(table)
        lib.ww_attribute_table(handle(), which, _ffi.raw(name), text, len(text), _ffi.ww_error())
    for trace in traces:
        if not isinstance(trace, View):
            from ._trace import Trace
            trace = Trace(trace)
            keep.append(trace)
        lib.ww_attribute_trace(handle(), which, trace._h(), _ffi.ww_error())


def _tables(table: Optional[Table]) -> List[Table]:
    """A list of pairs is one table, a list of paths several."""
    if table is None:
        return []
    if isinstance(table, list) and table and all(
            isinstance(t, os.PathLike) or (isinstance(t, str)) for t in table):
        return list(table)
    return [table]


def attribute(table: Optional[Table] = None, traces: Any = None, *,
              against: Optional[Table] = None, against_traces: Any = None,
              offset: Optional[Given] = None, own_offsets: bool = False,
              interactions: bool = False, drift: Optional[bool] = None,
              resolution: Optional[float] = None, spec: Optional[str] = None,
              calibration: Optional[Calibration] = None, channel: Optional[str] = None,
              spike_s: Optional[float] = None, order: Union[None, str, Sequence[str]] = None,
              hours_per_day: Optional[float] = None, price: Union[float, str, None] = None,
              cost: Union[float, str, None] = None) -> Attribution:
    """Watts of each device, from typed readings or from traces with marks.

        wakewatt.attribute([("all unplugged", 1), ("+box", 10.4), ("+monitor", 37.9)])

    ``table``: a file, its text, pairs, or a DataFrame (see Table and pwrlog-attribute(1)).
    ``traces``: Trace objects or paths, with marks "+monitor", "-monitor", "monitor=standby".
    ``against``, ``against_traces``: readings of what was there before, for the saving.
    ``offset``: what the meter shows too much, "1 W ± 0.1"; ``resolution``: its smallest step, W;
    ``spec``: its maker's accuracy, "2%+1W". ``drift``: None where it shows. ``price`` of a kWh
    and ``cost`` of what saves: 0.30, "$0.30" or "0.30 EUR".

    ValueError: an option that cannot be. Error: a line that is no reading, contradicting marks.
    """
    from_spec = _spec(spec)
    amount, currency = money(price, "price")
    paid, other = money(cost, "cost")
    members: Dict[str, Any] = {
        "own_offsets": int(own_offsets), "interactions": int(interactions),
        "drift": 0 if drift is None else 1 if drift else -1, "resolution": resolution,
        "spec_abs": from_spec[0], "spec_rel": from_spec[1], "channel": channel,
        "spike_ns": _ffi.ns(spike_s, "spike_s"), "hours_per_day": hours_per_day,
        "price": amount, "cost": paid, "currency": currency or other,
        "order": order if order is None or isinstance(order, str) else ",".join(order)}
    if offset is not None:
        members["offset_known"] = 1
        members["offset"] = given(offset, WATTS, "offset", least=-math.inf)
    if calibration is not None:
        members["calibration"] = calibration._handle()
    if not _tables(table) and not _several(traces):
        raise ValueError("no readings: give a table or traces")
    options = _ffi.options(_ffi.ww_attribute_options, **members)
    handle = _ffi.Handle.new(lib.ww_attribute_new, lib.ww_attribute_free, ctypes.byref(options),
                             what="the attribution", keep=(options, calibration))
    opened: List[Any] = []
    try:
        _fill(handle, _NOW, _tables(table), _several(traces), opened)
        _fill(handle, _BEFORE, _tables(against), _several(against_traces), opened)
        lib.ww_attribute_solve(handle(), _ffi.ww_error())
        d, text = both(lib.ww_attribute_report, handle())
    finally:
        handle.close()
        for t in opened:
            t.close()
    return _of(d, text)


def _spec(text: Optional[str]) -> Tuple[float, float]:
    return spec(text) if text is not None else (0.0, 0.0)


def _pair(d: Dict[str, Any]) -> Tuple[str, str, Quantity]:
    a, b = _names(d["devices"])
    return a, b, quantity(d.get("extra_W"), "W") or Quantity(math.nan, None, "W")


def _of(d: Dict[str, Any], text: str) -> Attribution:
    devices = tuple(Device(x["name"], x["state"], quantity(x.get("watts"), "W"),
                           bool(x["estimable"]), x.get("readings", 0)) for x in d["devices"])
    groups = tuple(Inseparable(_names(g["devices"]), quantity(g.get("sum_W"), "W"))
                   for g in d.get("inseparable") or ())
    following = tuple(NextReading(_names(n["on"]), _names(n["separates"]), n.get("flips", 0))
                      for n in d.get("next") or ())
    order = tuple(LevelInOrder(v["name"], v.get("state", "on"), quantity(v.get("added_W"), "W"),
                               quantity(v.get("level_W"), "W"), bool(v["synthetic"]))
                  for v in d.get("synthetic") or ())
    pairs = tuple(_pair(p) for p in d.get("interactions") or ())
    saving = Saving._of(d["saving"]) if d.get("saving") else None
    return Attribution(tuple(d["notes"]), d, text, quantity(d.get("offset_W"), "W"),
                       bool(d.get("offset_is_base")), devices,
                       groups, following, quantity(d.get("total_W"), "W"),
                       quantity(d.get("total_shown_W"), "W"), order, pairs, saving)
