# SPDX-License-Identifier: MIT
"""Opportunistic suspend: what suspending in idle gaps saves, and what it costs."""
from __future__ import annotations

import ctypes
import math
import os
from dataclasses import dataclass
from typing import Any, Dict, Optional, Sequence, Tuple, Union

from . import _ffi, _plot
from ._ffi import lib, raw
from ._parse import JOULES, PART, SECONDS, WATTS, Given, exact, given, parse_gaps, slurp
from ._result import Report, both, html_notes, html_table, number, plain, prefixed, quantity
from ._types import Quantity

#: ("exponential", mean), ("fixed", length), ("pareto", least, alpha[, most]) in seconds; the same
#: as text, "exponential:5"; a file of gaps; or the gaps themselves
Gaps = Union[str, "os.PathLike[str]", Tuple[Any, ...], Sequence[float], Any]

#: how many numbers each law has
_LAWS = {"exponential": (1, 1), "fixed": (1, 1), "pareto": (2, 3)}


@dataclass(frozen=True)
class SuspendFit:
    """What a trace of cycles tells of the model. A Quantity of NaN is not known: see ``why``."""

    idle_W: Quantity
    suspended_W: Quantity
    transition_J: Quantity  #: energy of both transitions beyond suspended power
    suspend_s: Quantity  #: from the decision to asleep
    resume_s: Quantity  #: from the wake to work
    cycles: int  #: used
    from_beats: bool  #: cycles of a heartbeat; False: dips of the power alone
    why: str  #: what was not told, and why; "" if all was

    def _repr_html_(self) -> str:
        rows = [(name, prefixed(q) or "not known") for name, q in (
            ("power when idle", self.idle_W), ("power when suspended", self.suspended_W),
            ("energy of both transitions", self.transition_J),
            ("time to suspend", self.suspend_s), ("time to resume", self.resume_s))]
        from_ = "heartbeat and power" if self.from_beats else "power alone"
        return (html_table(("", "± is k = 2"), rows, f"{self.cycles} cycles, by {from_}")
                + html_notes((self.why,) if self.why else ()))


@dataclass(frozen=True)
class Policy:
    """What a policy comes to, in idle time. NaN: not known."""

    policy: str  #: "never", "at once", "time-out", "break-even", "random", "best", "clairvoyant"
    timeout_s: Optional[float]  #: None: never, or none fixed
    watts: Quantity  #: average over idle time
    life_factor: Quantity  #: battery life against never suspending
    energy_J: float  #: of all recorded gaps; NaN for a law of gaps
    excess_ratio: float  #: energy beyond suspended power against the clairvoyant's; recorded gaps
    cost_W: float  #: watts, and the price of wakes that are noticed
    competitive: float  #: at most so many times the clairvoyant's excess energy
    wakes: float  #: in the record
    wakes_per_hour: float  #: of idle time
    gaps_part: float  #: part of the gaps in which it suspends, 0..1
    delay_mean_s: float  #: at a wake, as a person sees it
    delay_p95_s: float
    suspended_part: float  #: of idle time, transitions left out, 0..1
    battery_h: float  #: hours of the battery that was given
    generated_to_used: float  #: of the generated power that was given


def _sure(d: Any, unit: str) -> Quantity:
    """A quantity; NaN where there is none."""
    q = quantity(d, unit)
    return Quantity(math.nan, None, unit) if q is None else q


def _policy(d: Dict[str, Any]) -> Policy:
    rest = {name: number(d.get(name)) for name in (
        "energy_J", "excess_ratio", "cost_W", "competitive", "wakes", "wakes_per_hour",
        "gaps_part", "delay_mean_s", "delay_p95_s", "suspended_part", "battery_h",
        "generated_to_used")}
    return Policy(policy=d["policy"], timeout_s=d["timeout_s"],
                  watts=_sure(d["watts"], "W"),
                  life_factor=_sure(d["life_factor"], "1"), **rest)


@dataclass(frozen=True, repr=False)
class SuspendModel(Report):
    """Break-even and policies: what ``pwrlog suspend-model`` prints."""

    idle_W: Quantity
    suspended_W: Quantity
    transition_W: Optional[Quantity]  #: mean power of both transitions, where it was given
    transition_J: Quantity  #: energy of both beyond suspended power
    suspend_s: Quantity
    resume_s: Quantity
    break_even_s: Quantity  #: NaN with why: the powers are not told apart
    break_even_with_price_s: float  #: with the price of a wake that is noticed
    limited_by_latency: bool  #: break-even is the time of both transitions
    visible: bool  #: a person notices each wake
    gaps: Dict[str, Any]  #: "kind", "mean_s" and what else the law has
    policies: Tuple[Policy, ...]  #: () without gaps
    best_cross_validated_W: float  #: best time-out chosen on other gaps; recorded gaps only
    needed_W: float  #: average for the wanted ratio of generated to used; NaN: none was asked for
    needed_suspended_part: float  #: part of the time suspended for it; above 1: out of reach
    fit: Optional[SuspendFit]  #: what the trace told, where one was given

    def __getitem__(self, policy: str) -> Policy:
        """A policy by its name. KeyError: no such one, or no gaps were given."""
        for p in self.policies:
            if p.policy == policy:
                return p
        raise KeyError(f"no policy {policy!r}; there are "
                       f"{', '.join(p.policy for p in self.policies) or 'none without gaps'}")

    def _summary(self) -> str:
        return f"break-even {self.break_even_s}, {len(self.policies)} policies"

    def _html(self) -> str:
        head = ("idle", "suspended", "both transitions", "to suspend", "to resume", "break-even")
        out = html_table(("", *head), [("", *(prefixed(q) or q.why for q in (
            self.idle_W, self.suspended_W, self.transition_J, self.suspend_s, self.resume_s,
            self.break_even_s)))])
        if not self.policies:
            return out
        battery = any(not math.isnan(p.battery_h) for p in self.policies)
        rows = [(p.policy, _timeout(p), _watts(p.watts), str(p.life_factor),
                 plain(p.wakes_per_hour, 3), f"{100 * p.suspended_part:.1f} %",
                 _seconds(p.delay_mean_s), plain(p.competitive, 3),
                 *((f"{p.battery_h:.1f} h",) if battery else ())) for p in self.policies]
        head = ("policy", "time-out", "average", "life ×", "wakes/h", "asleep", "delay",
                "at worst", *(("battery",) if battery else ()))
        law = self.gaps["kind"] + (f", mean {_seconds(self.gaps['mean_s'])}"
                                   if self.gaps.get("mean_s") else "")
        return out + html_table(head, rows, f"idle gaps: {law}; ± is k = 2, about 95 %")

    def plot(self, ax: Optional[Any] = None) -> Any:
        """Average power of each policy over idle time, with its interval (k = 2), between those
        of idle and suspended. Returns the matplotlib Axes. ValueError: no gaps were given."""
        if not self.policies:
            raise ValueError("without gaps there are no policies to draw")
        ax = _plot.axes(ax, height=0.9 + 0.38 * len(self.policies))
        for k, p in enumerate(self.policies):
            bound = p.policy == "clairvoyant"
            ax.barh(k, p.watts.value, height=0.62, xerr=2 * (p.watts.u or 0),
                    color=_plot.MUTED if bound else _plot.MEASURED, alpha=0.85,
                    error_kw={"capsize": 3, "linewidth": 1.2})
            wakes = f", {plain(p.wakes_per_hour, 3)} wakes/h" if p.wakes_per_hour else ""
            ax.annotate(f"{_watts(p.watts)}{wakes}", (p.watts.value + 2 * (p.watts.u or 0), k),
                        xytext=(5, 0), textcoords="offset points", va="center",
                        fontsize="small",
                        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8,
                              "alpha": 0.85})
        for q, name in ((self.idle_W, "idle"), (self.suspended_W, "suspended")):
            if q.value > 0:
                ax.axvline(q.value, color=_plot.MODEL, linewidth=1, linestyle="--")
                ax.annotate(name, (q.value, 1), xycoords=("data", "axes fraction"),
                            xytext=(0, 3), textcoords="offset points", ha="center",
                            fontsize="small", color=_plot.MODEL)
        ax.set_yticks(range(len(self.policies)),
                      [f"{p.policy} ({_timeout(p)})" if p.policy in ("time-out", "best")
                       and p.timeout_s is not None else p.policy for p in self.policies])
        ax.invert_yaxis()
        ax.grid(False, axis="y")
        ax.set_xlim(0, 1.45 * max(self.idle_W.value, *(p.watts.value for p in self.policies)))
        ax.set_xlabel("average power over idle time (W)")
        return ax


def _seconds(value: float) -> str:
    return "" if math.isnan(value) else prefixed(Quantity(float(f"{value:.3g}"), None, "s"))


def _watts(q: Quantity) -> str:
    """Of inputs without an uncertainty: no more digits than they can have meant."""
    return prefixed(q) if q.u else f"{q.value:.3g} W"


def _timeout(p: Policy) -> str:
    if p.timeout_s is None:
        return {"random": "random", "clairvoyant": "knows"}.get(p.policy, "never")
    return _seconds(p.timeout_s)


# --- the options


def _law(gaps: Gaps) -> Optional[Tuple[str, Tuple[float, ...]]]:
    """(name, numbers) of a law; None: it is a file or the gaps themselves."""
    if isinstance(gaps, str):
        name, colon, rest = gaps.partition(":")
        if not colon or name not in _LAWS:
            return None
        words: Tuple[Any, ...] = tuple(rest.split(","))
    elif isinstance(gaps, (tuple, list)) and gaps and isinstance(gaps[0], str):
        name, words = gaps[0], tuple(gaps[1:])
    else:
        return None
    least, most = _LAWS.get(name, (0, 0))
    if not least <= len(words) <= most or not most:
        raise ValueError(f"gaps {gaps!r}: a law is ('exponential', mean), ('fixed', length) or "
                         "('pareto', least, alpha) and perhaps the longest, in seconds")
    try:
        return name, tuple(map(float, words))
    except (TypeError, ValueError):
        raise ValueError(f"gaps {gaps!r}: numbers are wanted behind the law's name") from None


def _take_gaps(o: _ffi.ww_suspend_options, gaps: Gaps) -> Any:
    """Into the options. Returns what must live as long as they are used."""
    law = _law(gaps)
    if law:
        name, v = law
        o.gaps = _ffi.number(_ffi.ww_gaps_kind, name, "the law of gaps")
        if name == "pareto":
            o.gap_least, o.gap_alpha, o.gap_most = (*v, 0.0)[:3]
        else:
            o.gap_mean = v[0]
        return None
    if isinstance(gaps, (str, os.PathLike)):
        gaps = parse_gaps(slurp(gaps), os.fspath(gaps))
    try:
        kept = (ctypes.c_double * len(gaps))(*gaps)
    except TypeError:
        raise TypeError("gaps are seconds in a sequence, a file of them, or a law such as "
                        f"('exponential', 5), not {gaps!r}") from None
    o.gaps, o.gap, o.n = _ffi.ww_gaps_kind.RECORDED, kept, len(kept)
    return kept


def _known(suspend_time: Optional[Given], resume_time: Optional[Given],
           transition: Optional[Given], transition_energy: Optional[Given]
           ) -> _ffi.ww_suspend_options:
    o: _ffi.ww_suspend_options = _ffi.options(_ffi.ww_suspend_options)
    for name, value, units, what in (
            ("suspend_s", suspend_time, SECONDS, "suspend_time"),
            ("resume_s", resume_time, SECONDS, "resume_time"),
            ("transition_watts", transition, WATTS, "transition"),
            ("transition_J", transition_energy, JOULES, "transition_energy")):
        if value is not None:
            setattr(o, name, given(value, units, what, zero=True))
    return o


def _fit(trace: Any, channel: Optional[str], o: _ffi.ww_suspend_options
         ) -> _ffi.ww_suspend_fit:
    f = _ffi.ww_suspend_fit()
    lib.ww_suspend_fit(trace._h(), raw(channel), ctypes.byref(o), ctypes.byref(f),
                       _ffi.ww_error())
    return f


def _told(f: _ffi.ww_suspend_fit) -> SuspendFit:
    why = f.why.decode("utf-8", "replace")

    def of(q: _ffi.ww_quantity, unit: str) -> Quantity:
        known = math.isfinite(q.value)
        return Quantity(q.value, q.u if math.isfinite(q.u) else None, unit, "" if known else why)

    return SuspendFit(of(f.idle_watts, "W"), of(f.suspended_watts, "W"), of(f.transition_J, "J"),
                      of(f.suspend_s, "s"), of(f.resume_s, "s"), f.cycles, bool(f.from_beats),
                      why)


def fit(trace: Any, channel: Optional[str] = None, suspend_time: Optional[Given] = None,
        resume_time: Optional[Given] = None, transition: Optional[Given] = None,
        transition_energy: Optional[Given] = None) -> SuspendFit:
    """What a trace of cycles tells of the model; see Trace.suspend_fit()."""
    return _told(_fit(trace, channel, _known(suspend_time, resume_time, transition,
                                             transition_energy)))


def _take_trace(o: _ffi.ww_suspend_options, trace: Any, f: _ffi.ww_suspend_fit, idle: bool,
                suspended: bool) -> None:
    """What was not given is taken from the trace. ValueError: it does not tell enough."""
    if not idle and math.isfinite(f.idle_watts.value):
        o.idle_watts, idle = f.idle_watts, True
    if not suspended and math.isfinite(f.suspended_watts.value):
        o.suspended_watts, suspended = f.suspended_watts, True
    for name in ("suspend_s", "resume_s"):
        if not getattr(o, name).value > 0 and math.isfinite(getattr(f, name).value):
            setattr(o, name, getattr(f, name))
    if not o.transition_watts.value > 0 and not o.transition_J.value > 0:
        if math.isfinite(f.transition_J.value) and f.transition_J.value > 0:
            o.transition_J = f.transition_J
        elif not f.from_beats:
            why = f.why.decode("utf-8", "replace")
            raise ValueError(f"{trace.path} does not tell what transitions cost: give "
                             f"transition (W) or transition_energy (J){': ' if why else ''}{why}")
    if not idle or not suspended:
        what = "suspended" if idle else "idle"
        raise ValueError(f"{trace.path} does not tell the power when {what}: give {what} (W)")


def suspend_model(trace: Optional[Any] = None, *, idle: Optional[Given] = None,
                  suspended: Optional[Given] = None, transition: Optional[Given] = None,
                  transition_energy: Optional[Given] = None,
                  suspend_time: Optional[Given] = None, resume_time: Optional[Given] = None,
                  gaps: Optional[Gaps] = None, timeout_s: Optional[float] = None,
                  visible_cost_J: Optional[float] = None,
                  visible_delay_s: Optional[float] = None, battery_Wh: Optional[float] = None,
                  generated_W: Optional[float] = None, efficiency: Optional[Given] = None,
                  ratio: Optional[float] = None, channel: Optional[str] = None) -> SuspendModel:
    """What suspending in idle gaps saves and costs: what ``pwrlog suspend-model`` prints.

    Quantities may carry an uncertainty: "2.75 ± 0.02" (k = 2), a Quantity, or (value, u).

    ``idle``, ``suspended``: power in both states, W. ``transition``: mean power of both
    transitions, W (as idle without it); or ``transition_energy``: their energy beyond suspended
    power, J. ``suspend_time``, ``resume_time``: s. What is not given is taken from ``trace``,
    where there is one (``channel``: of power, where it has several).

    ``gaps``: ("exponential", 5), ("pareto", 0.1, 1.5, 3600), ("fixed", 10), the same as text,
    a file of recorded gaps, or an array of seconds of shape (n,); None: break-even only.

    ``timeout_s``: fixed time-out to compare (15 s). ``visible_cost_J``: price of a wake that a
    person notices, which is one longer than ``visible_delay_s`` (0.1 s). ``battery_Wh``: for
    hours of life. ``generated_W``: human or solar power, by a storage of this ``efficiency``
    (1), ``ratio`` (10) of generated to used time wanted.

    ValueError: a number that cannot be, or one that is missing. Error: numbers that do not go
    with each other, a file without gaps, a trace without cycles.
    """
    o = _known(suspend_time, resume_time, transition, transition_energy)
    for name, value in (("idle", idle), ("suspended", suspended)):
        if value is not None:
            setattr(o, name + "_watts", given(value, WATTS, name, zero=True))
    for name, option, value, units in (
            ("timeout_s", "timeout_s", timeout_s, SECONDS),
            ("visible_J", "visible_cost_J", visible_cost_J, JOULES),
            ("visible_s", "visible_delay_s", visible_delay_s, SECONDS),
            ("battery_Wh", "battery_Wh", battery_Wh, {"Wh": 1.0}),
            ("generated_watts", "generated_W", generated_W, WATTS),
            ("efficiency", "efficiency", efficiency, PART), ("ratio", "ratio", ratio, {"": 1.0})):
        if value is not None:
            setattr(o, name, exact(value, units, option))
    if trace is None and (idle is None or suspended is None):
        raise ValueError("idle and suspended (W) are needed, or a trace to take them from")
    told = None
    if trace is not None:
        f = _fit(trace, channel, o)
        _take_trace(o, trace, f, idle is not None, suspended is not None)
        told = _told(f)
    kept = _take_gaps(o, gaps) if gaps is not None else None
    handle = _ffi.Handle.new(lib.ww_suspend_model_new, lib.ww_suspend_model_free,
                             ctypes.byref(o), what="the model", keep=(kept,))
    try:
        d, text = both(lib.ww_suspend_model_report, handle())
    finally:
        handle.close()
    return _model(d, text, told)


def _model(d: Dict[str, Any], text: str, told: Optional[SuspendFit]) -> SuspendModel:
    def of(name: str, unit: str) -> Quantity:
        return _sure(d[name], unit)

    generated = d.get("generated") or {}
    return SuspendModel(
        tuple(d["notes"]), d, text, of("idle_W", "W"), of("suspended_W", "W"),
        quantity(d["transition_W"], "W"), of("transition_J", "J"), of("suspend_s", "s"),
        of("resume_s", "s"), of("break_even_s", "s"), number(d["break_even_with_price_s"]),
        d["limited_by_latency"], d["visible"], d["gaps"], tuple(map(_policy, d["policies"])),
        number(d.get("best_cross_validated_W")), number(generated.get("needed_W")),
        number(generated.get("needed_suspended_part")), told)
