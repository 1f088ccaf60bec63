# SPDX-License-Identifier: MIT
"""A meter's offset and gain from known loads, and plans of which readings to take."""
from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass, field
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Union

from . import _ffi
from ._ffi import lib
from ._parse import Path, slurp
from ._result import Report, both, html_table, number, plain
from ._types import Quantity


@dataclass(frozen=True, repr=False)
class Calibration(Report):
    """indication = offset + gain * power: what ``pwrlog calibrate`` prints."""

    offset: Quantity  #: W
    gain: Quantity
    cov: float  #: covariance of the two, W
    s_W: float  #: standard deviation of the readings around the line; NaN with two loads
    lo_W: float  #: least known load
    hi_W: float  #: greatest
    n: int  #: readings that the line rests on
    dead_zone: bool  #: the reading without a load is off the line, and was left out
    meter: str  #: "" unknown
    _handle: _ffi.Handle = field(repr=False)

    def _summary(self) -> str:
        return f"offset {self.offset}, gain {self.gain}, {self.n} readings"

    def correct(self, reading: float, u: float = 0.0) -> Quantity:
        """Power, W, from a reading in W and its own standard uncertainty."""
        q = lib.ww_calibration_correct(self._handle(), _ffi.ww_quantity(reading, u))
        return Quantity(q.value, q.u, "W")

    def save(self, path: Path) -> None:
        """Write it as ``pwrlog calibrate --json`` does, for later measurements."""
        with open(path, "x", encoding="utf-8") as f:
            f.write(_ffi.report(lib.ww_calibration_report, self._handle(),
                                _ffi.ww_report_form.JSON))

    def _html(self) -> str:
        return html_table(("calibration", ""), [
            ("offset", str(self.offset)), ("gain", str(self.gain)),
            ("from", f"{plain(self.lo_W)} to {plain(self.hi_W)} W"), ("readings", str(self.n))])


def _taken(handle: _ffi.Handle) -> Calibration:
    d, text = both(lib.ww_calibration_report, handle())
    i = lib.ww_calibration_get(handle()).contents
    return Calibration(tuple(d["notes"]), d, text, Quantity(i.offset.value, i.offset.u, "W"),
                       Quantity(i.gain.value, i.gain.u, "1"), i.cov, i.s, i.lo, i.hi, i.n,
                       bool(i.dead_zone), _ffi.text(i.meter), handle)


def calibrate(loads: Union[Path, Iterable[Tuple[Any, Any]]], *,
              resolution: Optional[float] = None, reference_u: Optional[float] = None,
              meter: Optional[str] = None) -> Calibration:
    """Fit a meter's offset and gain from loads whose power is known.

        wakewatt.calibrate([(0, 0.3), ("25 ± 0.1", 25.6), (60, 61.0)])

    ``loads``: pairs of known power and reading in W (either may be a text with its uncertainty
    behind it, k = 2), a file with one a line, "reference; reading", or the JSON of an earlier
    calibration. ``resolution``: smallest step of the meter, W; ``reference_u``: standard
    uncertainty of references without their own, W.
    Error: too few loads, a line that is none.
    """
    if isinstance(loads, (str, os.PathLike)):
        name = os.fspath(loads)
        text = loads.encode() if isinstance(loads, str) and "\n" in loads else slurp(loads)
        if text.lstrip().startswith(b"{"):
            return _taken(_ffi.Handle.new(lib.ww_calibration_read, lib.ww_calibration_free,
                                          _ffi.raw(name), text, len(text), what=name))
    else:
        name = "the loads"
        text = "".join(f"{a}; {b}\n" for a, b in loads).encode()
    options = _ffi.options(_ffi.ww_calibration_options, resolution=resolution,
                           reference_u=reference_u, meter=meter)
    return _taken(_ffi.Handle.new(lib.ww_calibration_fit, lib.ww_calibration_free,
                                  _ffi.raw(name), text, len(text), ctypes.byref(options),
                                  what="the calibration"))


@dataclass(frozen=True, repr=False)
class Plan(Report):
    """States in which to read a meter so that each device is known best. ``str()`` is a table to
    be filled in, for attribute()."""

    devices: Tuple[str, ...]
    states: Tuple[Tuple[int, ...], ...]  #: shape (readings, devices): 1 on, 0 off
    u_W: float  #: greatest standard uncertainty of a device
    u_bound_W: float  #: no plan of so many readings does better
    u_onebyone_W: float  #: plugging one after the other
    flips: int  #: plugs to change, all in all

    def _summary(self) -> str:
        return f"{len(self.devices)} devices, {len(self.states)} readings, u {self.u_W:.3g} W"

    def _html(self) -> str:
        rows = [(str(i + 1), *("on" if s else "–" for s in state))
                for i, state in enumerate(self.states)]
        return html_table(("reading", *self.devices), rows)


def plan(devices: Union[str, Sequence[str]], *, readings: Optional[int] = None,
         one_flip: bool = False, reading_u: Optional[float] = None) -> Plan:
    """Plan readings of devices that are plugged in and out: a weighing design.

    ``devices``: names, or "a,b,c". ``readings``: how many, else the fewest of a Hadamard design.
    ``one_flip``: one plug is changed between two readings. ``reading_u``: standard uncertainty
    of a reading, W (1). Error: too few readings for so many devices.
    """
    names = devices
    if not isinstance(names, str):
        names = ",".join('"' + d.replace('"', '""') + '"' for d in names)
    options = _ffi.options(_ffi.ww_plan_options, readings=readings, one_flip=int(one_flip),
                           reading_u=reading_u)
    handle = _ffi.Handle.new(lib.ww_plan_new, lib.ww_plan_free, _ffi.raw(names),
                             ctypes.byref(options), what="the plan")
    try:
        d, text = both(lib.ww_plan_report, handle())
        i = lib.ww_plan_get(handle()).contents
        found = tuple(_ffi.text(lib.ww_plan_device(handle(), k)) for k in range(i.devices))
        states: List[Tuple[int, ...]] = [
            tuple(int(lib.ww_plan_state(handle(), r, k)) for k in range(i.devices))
            for r in range(i.readings)]
    finally:
        handle.close()
    return Plan(tuple(d.get("notes") or ()), d, text, found, tuple(states), number(i.u),
                number(i.u_bound), number(i.u_onebyone), int(i.flips))
