# SPDX-License-Identifier: MIT
"""What a trace, or a stretch of it, tells of power."""
from __future__ import annotations

import math
from typing import Any, Optional, Tuple

from . import _attribute, _ffi, _standby, _stat, _steps
from ._base import View
from ._types import Number, Quantity


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

    def energy(self, channel: Optional[str] = None) -> Quantity:
        """Energy of a channel of power in J, with its uncertainty; ``.to("Wh")`` for others.

        ``channel``: "meter.power"; None: the only one. stat() tells what of the time was read.
        KeyError: no such channel. ValueError: several to choose from, or none.
        """
        found = self.stat()
        if channel is None:
            powers = [c for c in found.channels if c.quantity == "power"]
            if len(powers) != 1:
                names = ", ".join(c.name for c in powers)
                raise ValueError(f"{self.path}: which channel of power: {names}?" if powers else
                                 f"{self.path}: no channel of power")
            wanted = powers[0]
        else:
            wanted = found[channel]
        if wanted.energy_J is None:
            return Quantity(math.nan, None, "J", f"{wanted.name} is not power")
        return wanted.energy_J

    def steps(self, channel: Optional[str] = None,
              spike_s: Optional[float] = None) -> "_steps.Steps":
        """Changes of level in a channel of power: what ``pwrlog steps`` prints.

        ``channel``: "meter.power"; None: the only one. ``spike_s``: longest spike to ignore;
        None: three readings. Error: no such channel, several to choose from, too few readings.
        """
        def readings(name: str) -> Any:
            return self[name]  # type: ignore[index]

        return _steps.steps(self._h(), channel, spike_s, self._bounds(), readings)

    def standby(self, procedure: str = "sampling", *, channel: Optional[str] = None,
                cyclic: bool = False, limit_W: Optional[float] = None,
                crest: Optional[float] = None, power_factor: Optional[float] = None,
                accuracy: Optional[str] = None, supply_V: Optional[float] = None,
                supply_Hz: Optional[float] = None,
                ambient_degC: Optional[float] = None) -> "_standby.Standby":
        """Power in a standby mode by a procedure of IEC 62301: what ``pwrlog standby`` prints.

        ``procedure``: "sampling", "average", "direct", "edition1" or "energystar". ``cyclic``:
        the mode is known to cycle. ``limit_W`` to be compared with. ``crest``: crest factor of
        the current; ``power_factor`` 0..1. ``accuracy``: the meter's, "0.1%+0.005W".
        ``supply_V``, ``supply_Hz``: nominal. Error: no such channel, no readings.
        """
        acc_abs, acc_rel = _attribute.spec(accuracy) if accuracy is not None else (None, None)
        return _standby.standby(self._h(), self._bounds(), procedure, cyclic, channel=channel,
                                limit_watts=limit_W, crest=crest, power_factor=power_factor,
                                acc_abs=acc_abs, acc_rel=acc_rel, supply_volts=supply_V,
                                supply_hz=supply_Hz, ambient_degC=ambient_degC)

    def attribute(self, **options: Any) -> "_attribute.Attribution":
        """Watts of each device by the marks "+monitor", "-monitor": attribute(traces=self, ...).

        Of the whole trace; its options are those of wakewatt.attribute().
        """
        return _attribute.attribute(traces=self, **options)
