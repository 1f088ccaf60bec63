# SPDX-License-Identifier: MIT
"""All channels of a source side by side, and samples as pandas and xarray hold them."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from . import _arrays, _arrow, _ffi
from ._core import Core
from ._ffi import lib

if TYPE_CHECKING:
    from ._channel import Channel

_METHODS = {"instant": "time: point", "average": "time: mean", "hold": "time: point",
            "counter": "time: point"}
_TIME = "middle of the interval in which the sample surely arrived"


def _need(name: str, what: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"{what} needs {name} (apt install python3-{name}, or pip install "
                          f"{name})") from None


class _Times:
    """When samples came: wall clock where the trace knows it, time since its first record
    otherwise, as ns in a numpy array of their own."""

    def __init__(self, core: Core, lo: Any, hi: Any, out: Any = None) -> None:
        self.wall = lib.ww_trace_anchor_count(core.h()) > 0
        self.origin = core.origin()
        self.ns, self.half_width_s = _arrays.centres(lo, hi, out)
        if self.wall:
            n = len(self.ns)
            column = _ffi.integers(self.ns)
            lib.ww_trace_walls(core.h(), n, column, column, _ffi.ww_error())
        else:
            self.ns -= self.origin

    def stamps(self) -> Any:
        """datetime64[ns] (UTC) or timedelta64[ns]."""
        return self.ns.view("M8[ns]" if self.wall else "m8[ns]")

    def index(self, pd: Any) -> Any:
        """DatetimeIndex in UTC or TimedeltaIndex, named "time"."""
        if self.wall:
            return pd.DatetimeIndex(self.ns, dtype="datetime64[ns, UTC]", name="time", copy=False)
        return pd.TimedeltaIndex(self.stamps(), name="time", copy=False)

    def describe(self) -> str:
        """What the times are, in a sentence."""
        of = "UTC" if self.wall else "since the trace's first record: it knows no wall clock"
        return f"{of}; {_TIME}, which is at most {self.half_width_s:.3g} s off"


def start_of(core: Core) -> Optional[str]:
    """Wall time of the first record, ISO 8601; None where the trace does not know it."""
    if lib.ww_trace_anchor_count(core.h()) == 0 or core.span() is None:
        return None
    boot = (ctypes.c_int64 * 1)(core.origin())
    lib.ww_trace_walls(core.h(), 1, boot, boot, _ffi.ww_error())
    import datetime

    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (epoch + datetime.timedelta(microseconds=boot[0] // 1000)).isoformat(
        timespec="milliseconds").replace("+00:00", "Z")


def describe(channel: "Channel") -> Dict[str, Any]:
    """What is known of a channel: unit, quantity, semantics, and, where known, resolution,
    accuracy_abs (in unit) and accuracy_rel (a fraction)."""
    about: Dict[str, Any] = {"unit": channel.unit, "quantity": channel.quantity,
                             "semantics": channel.semantics, "source": channel.source}
    if channel.resolution > 0:
        about["resolution"] = channel.resolution
    for key in ("accuracy_abs", "accuracy_rel"):
        value = getattr(channel, key)
        if value == value:  # NaN: not known
            about[key] = value
    return about


def _attributes(core: Core, times: _Times) -> Dict[str, Any]:
    about = {"trace": core.path, "time": times.describe()}
    start = start_of(core)
    if start:
        about["start"] = start
    return about


def series(channel: "Channel") -> Any:
    """A channel for pandas."""
    pd = _need("pandas", "to_pandas()")
    lo, hi, values = channel.read()
    times = _Times(channel._core, lo, hi, out=hi)
    out = pd.Series(values, index=times.index(pd), name=channel.name, copy=False)
    out.attrs.update(describe(channel), **_attributes(channel._core, times))
    return out


def _coords(times: _Times, lo: Any, hi: Any) -> Dict[str, Any]:
    axis = "CLOCK_BOOTTIME of the bench; {} of the interval in which the sample surely arrived"
    stamp = {"standard_name": "time", "long_name": times.describe()}
    return {"time": ("time", times.stamps(), stamp),
            "lo_ns": ("time", lo, {"units": "ns", "long_name": axis.format("beginning")}),
            "hi_ns": ("time", hi, {"units": "ns", "long_name": axis.format("end")})}


def _cf(channel: "Channel") -> Dict[str, Any]:
    """Attributes in the manner of the CF conventions."""
    about = describe(channel)
    about = {"units": about.pop("unit"),
             "long_name": f"{channel.quantity} of {channel.source}", **about}
    method = _METHODS.get(channel.semantics)
    if method:
        about["cell_methods"] = method
    return about


def data_array(channel: "Channel") -> Any:
    """A channel for xarray."""
    xr = _need("xarray", "to_xarray()")
    lo, hi, values = channel.read()
    times = _Times(channel._core, lo, hi)
    return xr.DataArray(values, dims=("time",), coords=_coords(times, lo, hi), name=channel.name,
                        attrs={**_cf(channel), **_attributes(channel._core, times)})


class Table:
    """All channels of a source, whose samples come together: Trace.table("meter").

    Its columns have the channels' own names: "power", not "meter.power".
    """

    def __init__(self, core: Core, source: str, channels: List["Channel"], from_ns: int,
                 to_ns: int) -> None:
        self._core, self._from, self._to = core, from_ns, to_ns
        self.source = source  #: its name
        self._channels = channels

    @property
    def channels(self) -> Dict[str, "Channel"]:
        """Channels by their own names."""
        return {c.name[len(self.source) + 1:]: c for c in self._channels}

    def __repr__(self) -> str:
        about = ", ".join(f"{name} [{c.unit}]" for name, c in self.channels.items())
        return f"<wakewatt.Table {self.source}: {about}>"

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._channels[0])

    def read(self) -> Tuple[Any, Any, Dict[str, Any]]:
        """Columns lo_ns and hi_ns (int64, on the trace's axis) and, by name, those of the
        channels (float64, NaN where missing), each of shape (n,)."""
        names = list(self.channels)
        lo, hi, first = self._channels[0].read()
        columns = {names[0]: first}
        for name, channel in zip(names[1:], self._channels[1:]):
            values = _arrays.doubles(len(lo))
            channel._fill(None, None, values, len(lo))
            columns[name] = values
        return lo, hi, columns

    def to_pandas(self) -> Any:
        """A DataFrame with a column for each channel; index and ``attrs`` as those of
        Channel.to_pandas(), ``attrs["channels"]`` holds what is known of each channel."""
        pd = _need("pandas", "to_pandas()")
        lo, hi, columns = self.read()
        times = _Times(self._core, lo, hi, out=hi)
        out = pd.DataFrame(columns, index=times.index(pd), copy=False)
        out.attrs.update(source=self.source, **_attributes(self._core, times),
                         channels={name: describe(c) for name, c in self.channels.items()})
        return out

    def to_xarray(self) -> Any:
        """A Dataset with a variable for each channel; coordinates as those of
        Channel.to_xarray()."""
        xr = _need("xarray", "to_xarray()")
        lo, hi, columns = self.read()
        times = _Times(self._core, lo, hi)
        variables = {name: ("time", columns[name], _cf(c)) for name, c in self.channels.items()}
        return xr.Dataset(variables, coords=_coords(times, lo, hi),
                          attrs={"source": self.source, **_attributes(self._core, times)})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """For pyarrow.table(), polars.DataFrame(), DuckDB: columns "time" (UTC, where the trace
        knows the wall clock), "t_s" (seconds since its first record), "lo_ns" and "hi_ns" (its
        axis), and one for each channel, null where the meter gave nothing. Units stand in the
        fields' metadata. The schema is always this one: a consumer casts."""
        return _arrow.capsule(self._core, [c.id for c in self._channels], self._from, self._to)
