# SPDX-License-Identifier: MIT
"""Cycles of suspend and resume, done and recorded from Python."""
from __future__ import annotations

import ctypes
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterator, Mapping, Optional, Union

from . import _ffi, _loop
from ._ffi import lib, text
from ._record import Recording, Sources, _listed

if TYPE_CHECKING:
    from ._resume import ResumeReport


@dataclass(frozen=True)
class CampaignState:
    """How far a campaign is, by what was judged while it went on: resume() has the last word."""

    cycle: int  #: that runs or comes next, from 1, warm-ups among them
    cycles: int  #: of all, as far as is known
    ok: int  #: of those that count
    failed: int
    other: int  #: nobody knows what they were
    latency: str  #: what the next two are of; "" none was observed
    median_ms: float  #: NaN unknown
    width_ms: float  #: of the interval that until_width_s looks at; infinite: unbounded
    left_s: float  #: about so long until the end; NaN unknown
    phase: str  #: a word
    end: str  #: how it ended, "" while it runs


class Campaign(Recording):
    """A recording in which a DUT is suspended and woken; made by campaign()."""

    def __init__(self, port: Optional[str], suspend: str, *, meters: Optional[Sources] = None,
                 path: Optional[Union[str, "os.PathLike[str]"]] = None,
                 console: Optional[str] = None, meta: Optional[Mapping[str, str]] = None,
                 append: bool = False, **members: Any) -> None:
        sources = [] if meters is None else _listed(meters)
        if console is not None:
            sources.insert(0, {"uri": console, "name": "console"})
        if port is not None:
            sources.insert(0, {"uri": port, "name": "port"})
        if not sources:
            raise ValueError("nothing shows the DUT: give its port, or meters and alive=")
        told: Dict[str, str] = {"campaign.suspend": suspend,
                                "campaign.cycles": str(members.get("cycles") or 1)}
        for key in ("wake", "reset", "off", "alive"):
            if members.get(key):
                told[f"campaign.{key}"] = members[key]
        told.update(meta or {})
        self._members = dict(members, suspend=suspend)
        self._port = port is not None
        self._campaign: Optional[_ffi.Handle] = None
        self._last: Optional[CampaignState] = None
        super().__init__([{k: v for k, v in s.items() if v is not None} for s in sources],
                         path, meta=told, append=append)

    def _before_start(self, recorder: _ffi.Handle) -> None:
        options = _ffi.options(_ffi.ww_campaign_options, **self._members)
        serial = self._ids["port"] if self._port else 0
        self._campaign = _ffi.Handle.new(lib.ww_campaign_new, lib.ww_campaign_free, recorder(),
                                         serial, ctypes.byref(options), what="the campaign",
                                         keep=(options, recorder))

    def _give_up(self) -> None:
        if self._campaign is not None:
            self._campaign.close()

    def _forked(self) -> None:
        super()._forked()
        if self._campaign is not None:
            self._campaign.detach()

    def _start(self) -> "_loop.Loop":
        campaign = self._campaign
        assert campaign is not None

        def step(wake: int) -> bool:
            return bool(lib.ww_campaign_run(campaign(), wake, _ffi.ww_error()) > 0)

        # Its commands end, and its cycle is marked, before the recorder stops.
        return _loop.Loop(self._recorder, os.path.basename(self.path), step,
                          before_stop=lambda: self._finish(campaign))

    def _finish(self, campaign: _ffi.Handle) -> None:
        self._last = self._read(campaign)
        campaign.close()

    @staticmethod
    def _read(campaign: _ffi.Handle) -> CampaignState:
        s = _ffi.ww_campaign_state()
        lib.ww_campaign_state(campaign(), ctypes.byref(s))
        return CampaignState(
            s.cycle, s.cycles, s.ok, s.failed, s.other,
            text(lib.ww_latency_name(s.latency)) if s.latency >= 0 else "", s.median_ms,
            s.width_ms, math.nan if s.left_ns < 0 else s.left_ns / 1e9, text(s.phase),
            text(s.end))

    @property
    def state(self) -> CampaignState:
        """How far it is, or how it ended."""
        campaign = self._campaign
        assert campaign is not None
        if self._last is None:
            found: CampaignState = self._loop.call(
                lambda: self._last or self._read(campaign))
            return found
        return self._last

    def __iter__(self) -> Iterator[CampaignState]:
        """The state each time that it has changed, at most five times a second, until its end.

        Ctrl-C ends the looking and not the campaign.
        """
        seen: Optional[CampaignState] = None
        while True:
            state = self.state
            if seen is None or (state.cycle, state.phase, state.end) != (seen.cycle, seen.phase,
                                                                         seen.end):
                seen = state
                yield state
            if self._loop.ended.wait(0.2):
                if self._last is not None and self._last != seen:
                    yield self._last
                self._check()
                return

    def resume(self, **options: Any) -> "ResumeReport":
        """The cycles so far: resume() of the trace."""
        return self.trace.resume(**options)


def campaign(port: Optional[str], suspend: str, *, wake: Optional[str] = None, cycles: int = 1,
             meters: Optional[Sources] = None, console: Optional[str] = None,
             path: Optional[Union[str, "os.PathLike[str]"]] = None,
             asleep_s: Optional[float] = None, asleep_max_s: Optional[float] = None,
             suspend_timeout_s: Optional[float] = None,
             resume_timeout_s: Optional[float] = None, settle_s: Optional[float] = None,
             silence_s: Optional[float] = None, away_timeout_s: Optional[float] = None,
             reset: Optional[str] = None, off: Optional[str] = None, warmup: int = 0,
             until_failure: bool = False, until_width_s: Optional[float] = None,
             until_least: Optional[int] = None, seed: Optional[int] = None,
             alive: Optional[str] = None, append: bool = False,
             meta: Optional[Mapping[str, str]] = None) -> Campaign:
    """Suspend and wake a DUT again and again, and record it: ``resumetime record``.

        with wakewatt.campaign("/dev/ttyUSB0", "ssh dut systemctl suspend", cycles=20,
                               wake="gpio:gpiochip0/PWRBTN=low,200ms", path="c.wwt") as c:
            for state in c:
                print(state.cycle, state.phase)
        print(c.resume())

    ``port``: of the heartbeat; None: a campaign without one, which ``alive`` watches
    ("meter>8W", "line=1", "console", or a command). ``suspend``, ``wake``, ``reset``, ``off``:
    actions (see Action). ``asleep_s`` from the silence to the wake (3), drawn anew up to
    ``asleep_max_s``; time-outs, ``settle_s`` and ``silence_s`` as resumetime-record(1) has
    them. ``warmup``: cycles before the others, in no figure. ``until_width_s``: ends when the
    median is known so well. ``append``: go on with the trace that is there.
    Error: a device or an action that cannot work.
    """
    ns = {f"{name}_ns": _ffi.ns(value, f"{name}_s") for name, value in (
        ("asleep", asleep_s), ("asleep_max", asleep_max_s),
        ("suspend_timeout", suspend_timeout_s), ("resume_timeout", resume_timeout_s),
        ("settle", settle_s), ("silence", silence_s), ("away_timeout", away_timeout_s),
        ("until_width", until_width_s))}
    return Campaign(port, suspend, meters=meters, path=path, console=console, append=append,
                    meta=meta, wake=wake, cycles=cycles, reset=reset, off=off, warmup=warmup,
                    until_failure=int(until_failure), until_least=until_least, seed=seed,
                    alive=alive, look=1, **ns)
