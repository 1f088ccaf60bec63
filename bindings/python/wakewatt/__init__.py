# SPDX-License-Identifier: MIT
"""wakewatt: watts of a machine and its way through suspend-to-RAM, read from traces.

    import wakewatt

    with wakewatt.open("night.wwt") as trace:
        power = trace["meter.power"]
        watts = power.to_numpy()            # float64, NaN where the meter gave nothing
        seconds = power.times()             # since the trace's first record
        series = power.to_pandas()          # UTC, units in attrs; to_xarray(); pyarrow.table(power)
        trace["+lamp":"-lamp"].plot()       # from one mark to another, or by seconds: [10:20]
        print(trace.stat()["meter.power"].energy_J)
        for cycle in trace.resume().cycles:
            print(cycle.n, cycle.result, cycle.latency_ms.get("resume_to_user"))

Times are nanoseconds of the bench's CLOCK_BOOTTIME where a name ends in ``_ns``, and seconds
since the trace's first record where it ends in ``_s``. Every observed time is an Interval.
A call of the library that fails raises Error, an OSError with the library's sentence.

The library is looked for at WAKEWATT_LIBRARY, beside this package, in the build/lib of the
checkout, and where the dynamic linker looks. numpy is used where it is there.
"""
from __future__ import annotations

import os
from typing import Optional, Union

from . import _ffi
from ._channel import Channel
from ._attribute import (Attribution, Device, Inseparable, LevelInOrder, NextReading, Saving,
                         attribute)
from ._calibrate import Calibration, Plan, calibrate, plan
from ._campaign import Campaign, CampaignState, campaign
from ._compare import Comparison, ComparisonRow, compare
from ._cycles import CycleSet, Shift, ShiftRow, Verdict, Vet, VetRow, bisect, shift, vet
from ._devices import Action, Devices, Found, Loopback, Meter, Meters, devices, loopback, meters
from ._ffi import MISSING, TIME_MAX, TIME_MIN, Error
from ._kernlog import KernelCycle, KernelLog, PmDevice, PmOther, PmPhase, kernlog, kernlog_cycles
from ._parse import Work, WorkFound, parse_duration, parse_gaps, parse_quantity
from ._records import Bytes, Gap, Mark, Source, Transport
from ._record import Live, LiveTable, Recording, RecorderStats, record
from ._resume import Cycle, LatencySummary, ResumeReport, Stall
from ._runner import run
from ._runs import Run, Runs, RunsMeter, RunVariant
from ._runtime import Runtime, RuntimeCase, RuntimeNeed, runtime
from ._standby import Clause, Standby
from ._stat import ChannelStat, StatReport
from ._steps import Level, Step, Steps
from ._store import Writer, formats
from ._suspend import Policy, SuspendFit, SuspendModel, suspend_model
from ._table import Table
from ._trace import Stretch, Trace
from ._types import Interval, Quantity

__all__ = ["open", "campaign", "Campaign", "CampaignState", "meters", "Meter", "Meters",
           "devices", "Devices", "Found", "Action", "loopback", "Loopback", "Writer", "formats",
           "MISSING", "kernlog", "kernlog_cycles", "KernelLog", "KernelCycle", "PmPhase",
           "PmDevice", "PmOther", "CycleSet", "shift", "Shift", "ShiftRow", "vet", "Vet",
           "VetRow", "bisect", "Verdict", "attribute", "Attribution", "Device", "Inseparable",
           "LevelInOrder", "NextReading", "Saving", "calibrate", "Calibration", "plan", "Plan",
           "Standby", "Clause", "Steps", "Step", "Level", "record", "Recording", "RecorderStats",
           "Live", "LiveTable", "Trace", "Stretch", "Table", "Channel", "Bytes", "Source",
           "Transport", "Mark", "Gap", "Interval", "Quantity", "StatReport", "ChannelStat",
           "ResumeReport", "Cycle", "Stall", "LatencySummary", "Error", "compare", "Comparison",
           "ComparisonRow", "run", "Run", "Runs", "RunsMeter", "RunVariant", "runtime", "Runtime",
           "RuntimeCase", "RuntimeNeed", "suspend_model", "SuspendModel", "SuspendFit", "Policy",
           "Work", "WorkFound", "parse_duration", "parse_gaps", "parse_quantity", "TIME_MIN",
           "TIME_MAX", "__version__", "features"]

#: version of the library in use
__version__ = _ffi.text(_ffi.lib.ww_version())
#: optional parts of the library in use
features = tuple(_ffi.text(_ffi.lib.ww_features()).split())


def open(path: Union[str, "os.PathLike[str]"], *, format: Optional[str] = None,  # noqa: A001
         rate_hz: Optional[float] = None, columns: Optional[str] = None,
         resolution: Optional[float] = None, utc_offset_s: Optional[int] = None) -> Trace:
    """Open a trace: a file, closed or still being recorded, "-" for standard input, or a file of
    another program (CSV, an analyser's log, ...: wakewatt-formats(7)), which becomes a trace.

    The rest is for files of other programs. ``format``: its name; None: found by content.
    ``rate_hz``: rows a second where it has no times. ``columns``: names of its columns, as a
    header would give them: "time_s,power_mW,,A". ``resolution``: smallest step of the readings in
    their unit; None: found. ``utc_offset_s``: of its local times, seconds east of UTC; None: UTC.

    Error: no such file (ENOENT), of no known kind (EINVAL, with what it looks like), ...
    """
    return Trace(path, format=format, rate_hz=rate_hz, columns=columns, resolution=resolution,
                 utc_offset_s=utc_offset_s)
