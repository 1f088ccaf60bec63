# SPDX-License-Identifier: MIT
"""Plain values that several modules speak of."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Optional, Union

Number = Union[int, float]


class Interval(NamedTuple):
    """What surely happened between two bounds, or a length that surely lies between them.

    The unit is that of the field that holds it. An open end is infinite in seconds and
    milliseconds, and ``TIME_MIN`` or ``TIME_MAX`` in ns.
    """

    lo: Number
    hi: Number

    @property
    def mid(self) -> float:
        """The middle."""
        return (self.lo + self.hi) / 2

    @property
    def width(self) -> Number:
        """hi - lo."""
        return self.hi - self.lo

    def __str__(self) -> str:
        return f"{self.lo:g} .. {self.hi:g}"


@dataclass(frozen=True)
class Quantity:
    """A measured value with its standard uncertainty (GUM); ``float(q)`` is the value.

    As text it is ``value ± U`` with the expanded uncertainty U = 2 u, about 95 %.
    """

    value: float  #: NaN where it cannot be given
    u: Optional[float]  #: None where it cannot be given
    unit: str  #: SI symbol
    why: str = ""  #: why u or the value is not given

    def __float__(self) -> float:
        return self.value

    def __bool__(self) -> bool:
        return not math.isnan(self.value)

    def __str__(self) -> str:
        unit = "" if self.unit in ("", "1") else " " + self.unit
        if math.isnan(self.value):
            return f"not known: {self.why}" if self.why else "not known"
        if not self.u or not math.isfinite(self.u):
            return f"{self.value:g}{unit}"
        # The expanded uncertainty, k = 2, with two significant digits (GUM 7.2.6).
        expanded = float(f"{2 * self.u:.1e}")
        digits = 1 - math.floor(math.log10(expanded))
        value, digits = round(self.value, digits), max(0, digits)
        return f"{value:.{digits}f} ± {expanded:.{digits}f}{unit}"

    def to(self, unit: str) -> "Quantity":
        """In another unit of the same kind: energy.to("Wh"). ValueError: of another kind."""
        for kind in _UNITS:
            if unit in kind and self.unit in kind:
                by = kind[self.unit] / kind[unit]
                return Quantity(self.value * by, None if self.u is None else self.u * by, unit,
                                self.why)
        raise ValueError(f"{self.unit or 'a number'} cannot be given in {unit!r}")


#: units that can be changed into each other, by their size
_UNITS = ({"J": 1.0, "mJ": 1e-3, "uJ": 1e-6, "nJ": 1e-9, "kJ": 1e3, "MJ": 1e6, "Wh": 3600.0,
           "mWh": 3.6, "kWh": 3.6e6},
          {"W": 1.0, "mW": 1e-3, "uW": 1e-6, "kW": 1e3},
          {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0})
