# SPDX-License-Identifier: MIT
"""How long a battery lasts, and what a wanted runtime takes."""
from __future__ import annotations

import ctypes
import math
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _ffi, _plot
from ._base import View
from ._channel import Channel
from ._ffi import lib, raw, text
from ._parse import WATTS, Given, Path, given, hours, parse_quantity, part, slurp
from ._result import Report, both, html_table, interval, number, prefixed, quantity
from ._types import Interval, Quantity

MINUTES = {"min": 1.0, "m": 1.0, "h": 60.0, "s": 1 / 60.0}

#: "48min@25W", or the time (min) and the load (W)
Measured = Union[str, Tuple[Given, Given]]


@dataclass(frozen=True)
class RuntimeCase:
    """How long it lasts, by one way to tell. None or NaN: not known, or no part of it."""

    model: str  #: of the table, "" none
    method: str  #: "table", "battery" or "measured"
    load: float  #: as it was looked up, in ``unit``
    unit: str  #: "W" or "VA"
    runtime_min: Optional[Quantity]  #: NaN: see ``why``
    why: str
    bounds_min: Optional[Interval]  #: surely in here by the model, where a number says too much
    extrapolated: Optional[str]  #: beyond which end of the table; None: within
    exponent: float  #: n of t ~ 1/P^n at this load
    points: int  #: of the table or measured
    leave_one_out_log: float  #: mean error of the table's points, each from its neighbours
    leave_one_out_linear: float  #: the same, interpolated linearly
    battery_W: Optional[Quantity]  #: drawn from the battery
    battery_A: Optional[Quantity]  #: its current, of one string
    own_W: Optional[Quantity]  #: loss without load
    efficiency: Optional[Quantity]
    delivered_Wh: Optional[Quantity]  #: to the load
    part_of_nameplate: float  #: delivered, as a part of V times Ah
    heaviest_load: float  #: that lasts as long as is wanted, in ``unit``; 0: none does
    budget: Tuple[Tuple[str, float], ...]  #: (input, u in min), largest first


def _case(d: Dict[str, Any]) -> RuntimeCase:
    minutes = quantity(d["runtime_min"], "min")
    bounds = d["bounds_min"]
    return RuntimeCase(
        d["model"] or "", d["method"], number(d["load"]), d["unit"], minutes, d.get("why") or "",
        interval(bounds) if any(v is not None for v in bounds) else None, d["extrapolated"],
        number(d["exponent"]), d["points"], number(d["leave_one_out_log"]),
        number(d["leave_one_out_linear"]), quantity(d["battery_W"], "W"),
        quantity(d["battery_A"], "A"), quantity(d["own_W"], "W"), quantity(d["efficiency"], "1"),
        quantity(d["delivered_Wh"], "Wh"), number(d["part_of_nameplate"]),
        number(d["heaviest_load"]), tuple((b["input"], b["u_min"]) for b in d["budget"]))


@dataclass(frozen=True)
class RuntimeNeed:
    """What a wanted runtime takes."""

    hours: Quantity
    energy_Wh: Quantity  #: that the load uses
    volts: float  #: of the whole string
    ideal_Ah: float  #: energy over voltage
    Ah: Quantity  #: that it really takes
    strings: Optional[int]  #: of the battery that was given; None: none was
    budget: Tuple[Tuple[str, float], ...]  #: (input, u in Ah), largest first


def _need(d: Optional[Dict[str, Any]]) -> Optional[RuntimeNeed]:
    if d is None:
        return None

    def of(name: str, unit: str) -> Quantity:
        q = quantity(d[name], unit)
        return Quantity(math.nan, None, unit) if q is None else q

    return RuntimeNeed(of("hours", "h"), of("energy_Wh", "Wh"), number(d["volts"]),
                       number(d["ideal_Ah"]), of("Ah", "Ah"), d["strings"],
                       tuple((b["input"], b["u_Ah"]) for b in d["budget"]))


@dataclass(frozen=True, repr=False)
class Runtime(Report):
    """How long it lasts: what ``pwrlog runtime`` prints."""

    load_W: Optional[Quantity]
    load_VA: Optional[Quantity]
    peak_W: float  #: NaN unknown
    runtimes: Tuple[RuntimeCase, ...]
    need: Optional[RuntimeNeed]  #: None: no runtime was asked for

    def __getitem__(self, name: str) -> RuntimeCase:
        """By the model of the table, or by the method ("battery", "measured")."""
        for c in self.runtimes:
            if name in (c.model, c.method if not c.model else None):
                return c
        raise KeyError(f"no runtime {name!r}; there are "
                       f"{', '.join(repr(c.model or c.method) for c in self.runtimes) or 'none'}")

    def _load(self) -> str:
        return " = ".join(str(q) for q in (self.load_W, self.load_VA) if q)

    def _summary(self) -> str:
        cases = ", ".join(f"{c.model or c.method} {_runtime(c)}" for c in self.runtimes)
        return f"{self._load()}: {cases or 'no battery'}"

    def _html(self) -> str:
        head = ["", "runtime", "from the battery", "its current", "delivered", "extrapolated",
                "heaviest load", "largest part of ±"]
        rows = [[c.model or c.method, _runtime(c), prefixed(c.battery_W), prefixed(c.battery_A),
                 prefixed(c.delivered_Wh), c.extrapolated or "",
                 f"{c.heaviest_load:.3g} {c.unit}" if c.heaviest_load > 0
                 else "none" if c.heaviest_load == 0 else "",
                 c.budget[0][0] if c.budget else ""] for c in self.runtimes]
        keep = [k for k in range(len(head)) if k == 0 or any(r[k] for r in rows)]
        out = html_table([head[k] for k in keep], [[r[k] for k in keep] for r in rows],
                         f"load {self._load()}; ± is k = 2, about 95 %") if rows else ""
        if self.need:
            n = self.need
            out += html_table(
                ("wanted", "energy of the load", "without any loss", "it takes", "in parallel"),
                [(str(n.hours), prefixed(n.energy_Wh), f"{n.ideal_Ah:.3g} Ah at {n.volts:g} V",
                  str(n.Ah), "" if n.strings is None else str(n.strings))])
        return out

    def plot(self, ax: Optional[Any] = None) -> Any:
        """The runtime of each model or method with its interval (k = 2), or its bounds as a
        thin line. Returns the matplotlib Axes. ValueError: no runtime is known."""
        cases = [c for c in self.runtimes
                 if c.runtime_min and math.isfinite(c.runtime_min.value) or c.bounds_min]
        if not cases:
            raise ValueError("no runtime is known: " + (self.runtimes[0].why if self.runtimes
                                                        else "no battery was told of"))
        ax = _plot.axes(ax, height=1.0 + 0.42 * len(cases))
        for k, c in enumerate(cases):
            if c.bounds_min and all(map(math.isfinite, c.bounds_min)):
                ax.plot(c.bounds_min, [k, k], color=_plot.MUTED, linewidth=1.2)
            if c.runtime_min and math.isfinite(c.runtime_min.value):
                ax.errorbar(c.runtime_min.value, k, xerr=2 * (c.runtime_min.u or 0), fmt="o",
                            color=_plot.MODEL if c.extrapolated else _plot.MEASURED, capsize=4)
            ax.annotate(_runtime(c), (1, k), xycoords=("axes fraction", "data"), xytext=(10, 0),
                        textcoords="offset points", va="center", fontsize="small",
                        annotation_clip=False)
        ax.set_yticks(range(len(cases)), [c.model or c.method for c in cases])
        ax.set_ylim(len(cases) - 0.4, -0.6)
        ax.set_xlim(left=0)
        ax.margins(x=0.08)
        ax.grid(False, axis="y")
        ax.grid(True, axis="x", linewidth=0.5, alpha=0.4)
        ax.set_xlabel(f"runtime at {self._load()} (min)")
        return ax


def _runtime(c: RuntimeCase) -> str:
    if c.runtime_min and math.isfinite(c.runtime_min.value):
        return str(c.runtime_min)
    if c.bounds_min:
        lo, hi = c.bounds_min
        return (f"at least {lo:.3g} min" if math.isinf(hi) else f"at most {hi:.3g} min"
                if math.isinf(lo) else f"{lo:.3g} to {hi:.3g} min")
    return c.why or "not known"


# --- the options


def _points(measured: Union[Measured, Sequence[Measured]]) -> Any:
    """ww_runtime_point of each."""
    listed: List[Any] = [measured] if isinstance(measured, str) else list(measured)
    if len(listed) == 2 and not any(isinstance(m, (tuple, list)) or (isinstance(m, str)
                                    and "@" in m) for m in listed):
        listed = [tuple(listed)]
    out = (_ffi.ww_runtime_point * len(listed))()
    for p, m in zip(out, listed):
        pair = m.split("@", 1) if isinstance(m, str) else m
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(f"measured: {m!r} is not a time at a load, as in '48min@25W'")
        p.minutes = given(pair[0], MINUTES, "measured")
        p.watts = given(pair[1], WATTS, "measured")
    return out


def _take_rating(o: _ffi.ww_runtime_options, rating: Given) -> None:
    q = parse_quantity(rating, "W") if isinstance(rating, str) else rating
    if isinstance(q, Quantity) and q.unit == "VA":
        o.rating_VA = given(q, {"VA": 1.0}, "rating").value
    else:
        o.rating_W = given(q, {"W": 1.0}, "rating").value


def _take_temperature(o: _ffi.ww_runtime_options, value: Given) -> None:
    """10C, -5C, 10°C, or the part of the capacity."""
    q = parse_quantity(value, "") if isinstance(value, str) else value
    if isinstance(q, Quantity) and q.unit in ("C", "°C"):
        if not -60 <= q.value <= 100:
            raise ValueError(f"temperature: no battery works at {value!r}")
        o.celsius, o.has_celsius = _ffi.ww_quantity(q.value, q.u or 0.0), 1
        return
    bare = float(q[0] if isinstance(q, (tuple, list)) else q)
    if bare > 1.2 and not (isinstance(q, Quantity) and q.unit == "%"):
        raise ValueError(f"temperature: {value!r}: write degrees as '10C', a part as 0.9")
    o.temperature = part(value, "temperature")


def _channel_named(c: _ffi.ww_channel_stat, name: Optional[str]) -> bool:
    full = text(c.name)
    source, _, own = full.partition(".")
    return name in (None, full, own, source)


def _take_trace(o: _ffi.ww_runtime_options, trace: Any, channel: Optional[str]) -> None:
    """Mean power of a trace or stretch, its peak, and its VA where the meter gave them."""
    path = trace._core.path
    if isinstance(trace, Channel):
        channel = trace.name
    options = _ffi.options(_ffi.ww_stat_options, from_ns=trace._from, to_ns=trace._to)
    stat = _ffi.Handle.new(lib.ww_stat_new, lib.ww_stat_free, trace._core.h(),
                           ctypes.byref(options), what=path)
    power, va = [], []
    for c in _ffi.listed(lib.ww_stat_at, stat()):
        if not math.isfinite(c.mean.value):
            continue
        if c.quantity == b"power" and c.unit == b"W" and _channel_named(c, channel):
            power.append((_exactly(c.mean), c.max, text(c.name)))
        elif c.quantity == b"apparent_power":
            va.append(_exactly(c.mean))
    stat.close()
    if len(power) != 1:
        what = f" named {channel!r}" if channel else ""
        raise ValueError(f"{path}: no channel of power in W{what}" if not power else
                         f"{path}: several channels of power: "
                         f"{', '.join(p[2] for p in power)}; choose one with channel")
    if not power[0][0].value > 0:
        raise ValueError(f"{path}: its mean power is not above 0")
    o.watts = power[0][0]
    if not o.peak_W > 0:
        o.peak_W = power[0][1]
    if va:
        if o.va.value > 0 or o.pf.value > 0:
            raise ValueError(f"{'va' if o.va.value > 0 else 'pf'}: the trace has measured the VA")
        o.va = va[0]


def _exactly(q: _ffi.ww_quantity) -> _ffi.ww_quantity:
    """A copy; an uncertainty that is not known is none."""
    return _ffi.ww_quantity(q.value, q.u if math.isfinite(q.u) else 0.0)


def _take_load(o: _ffi.ww_runtime_options, load: Any, channel: Optional[str]) -> None:
    if load is None:
        return
    if isinstance(load, (View, Channel)):
        _take_trace(o, load, channel)
    else:
        o.watts = given(load, WATTS, "load")


def _take_battery(o: _ffi.ww_runtime_options, values: Dict[str, Any]) -> None:
    for name, unit in (("capacity_Ah", "Ah"), ("volts", "V"), ("peukert", "")):
        value = values[name.split("_")[0]]
        if value is not None:
            setattr(o, name, given(value, {unit: 1.0}, name.split("_")[0]))
    for name in ("efficiency", "depth", "ageing"):
        if values[name] is not None:
            setattr(o, name, part(values[name], name))
    if values["own"] is not None:
        o.own_W = given(values["own"], WATTS, "own")
    for name in ("series", "parallel"):
        if values[name] is not None:
            if isinstance(values[name], bool) or not 1 <= values[name] <= 1000:
                raise ValueError(f"{name}: {values[name]!r} is not a number of batteries")
            setattr(o, name, int(values[name]))
    o.chemistry = _ffi.number(_ffi.ww_chemistry, values["chemistry"], "chemistry")
    o.direct = int(values["dc"])
    if values["rated_h"] is not None:
        o.rated_h = hours(values["rated_h"], "rated_h")
    if values["temperature"] is not None:
        _take_temperature(o, values["temperature"])


def _table(table: Path, unit: Optional[str]) -> _ffi.Handle:
    if unit not in (None, "W", "VA"):
        raise ValueError(f"table_unit: W or VA, not {unit!r}")
    data, name = slurp(table), os.fspath(table)
    return _ffi.Handle.new(lib.ww_runtime_table_parse, lib.ww_runtime_table_free, data, len(data),
                           raw(name), raw(unit), what=name)


def runtime(load: Optional[Any] = None, *, va: Optional[Given] = None,
            pf: Optional[Given] = None, peak: Optional[Given] = None,
            rating: Optional[Given] = None, channel: Optional[str] = None,
            table: Optional[Path] = None, table_unit: Optional[str] = None,
            model: Optional[str] = None,
            measured: Union[Measured, Sequence[Measured]] = (),
            capacity: Optional[Given] = None, volts: Optional[Given] = None,
            series: Optional[int] = None, parallel: Optional[int] = None,
            chemistry: str = "lead", rated_h: Union[float, str, None] = None,
            peukert: Optional[Given] = None, efficiency: Optional[Given] = None,
            own: Optional[Given] = None, dc: bool = False, depth: Optional[Given] = None,
            ageing: Optional[Given] = None, temperature: Optional[Given] = None,
            for_h: Union[float, str, None] = None) -> Runtime:
    """How long a UPS or a battery lasts: what ``pwrlog runtime`` prints.

    A quantity is a number in the unit below, a text ("25W", "25 W ± 0.6": k = 2), a Quantity,
    or (value, standard uncertainty); a part is 0.8 or "80%".

    ``load``: W; or a Trace, a stretch of one, or its Channel, whose mean is taken
    (``channel``: where it has several of power). ``va``: its apparent power, VA, never derived
    from W but by ``pf``. ``peak``, ``rating`` (W, or "1500VA"): held against each other.
    ``table``: file of a maker's table, ``table_unit`` "W" or "VA" of its loads, ``model`` of
    it. ``measured``: runtimes such as "48min@25W", or pairs of minutes and W. ``capacity``
    (Ah), ``volts`` of one battery, ``series`` and ``parallel`` of them, ``chemistry`` ("lead",
    "lifepo4", "liion"), ``rated_h`` of the capacity, ``peukert``, ``efficiency`` and ``own``
    loss (W) of the inverter, or ``dc``; ``depth``, ``ageing``, ``temperature`` ("10C", or the
    part that it leaves). ``for_h``: the runtime that is wanted, hours or "24h".

    TypeError, ValueError: what cannot be. Error: no load, a table that cannot be read, ...
    """
    o: _ffi.ww_runtime_options = _ffi.options(_ffi.ww_runtime_options, model=model)
    _take_battery(o, dict(capacity=capacity, volts=volts, series=series, parallel=parallel,
                          chemistry=chemistry, rated_h=rated_h, peukert=peukert, own=own, dc=dc,
                          efficiency=efficiency, depth=depth, ageing=ageing,
                          temperature=temperature))
    if va is not None:
        o.va = given(va, {"VA": 1.0}, "va")
    if pf is not None:
        o.pf = part(pf, "pf")
    if peak is not None:
        o.peak_W = given(peak, WATTS, "peak").value
    if rating is not None:
        _take_rating(o, rating)
    if for_h is not None:
        o.wanted_h.value = hours(for_h, "for_h")
    _take_load(o, load, channel)
    points = _points(measured)
    o.measured, o.points = points, len(points)
    parsed = None if table is None else _table(table, table_unit)
    o.table = parsed() if parsed else None
    return _answer(o, parsed, points)


def _answer(o: _ffi.ww_runtime_options, *keep: Any) -> Runtime:
    handle = _ffi.Handle.new(lib.ww_runtime_new, lib.ww_runtime_free, ctypes.byref(o),
                             what="the runtime", keep=keep)
    try:
        d, said = both(lib.ww_runtime_report, handle())
    finally:
        handle.close()
    return Runtime(tuple(d["notes"]), d, said, quantity(d["load_W"], "W"),
                   quantity(d["load_VA"], "VA"), number(d["peak_W"]),
                   tuple(map(_case, d["runtimes"])), _need(d["need"]))
