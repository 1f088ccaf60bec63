# SPDX-License-Identifier: MIT
"""How a typed program uses the package: read by mypy --strict, never run."""
import pathlib
from typing import Dict, List, Optional, Tuple, assert_type

import wakewatt
from wakewatt import Channel, Interval, Mark, Quantity, Source, Stretch, Trace


def read(path: pathlib.Path) -> float:
    with wakewatt.open(path) as trace:
        assert_type(trace, Trace)
        assert_type(trace["meter.power"], Channel)
        assert_type(trace[10:20], Stretch)
        assert_type(trace["+on":"-off"], Stretch)
        assert_type(trace[1:2]["meter.power"], Channel)
        assert_type(trace.channels, Dict[str, Channel])
        assert_type(trace.sources, Dict[str, Source])
        assert_type(trace.marks, List[Mark])
        assert_type(trace.span, Optional[Interval])
        for t, watts in trace["meter.power"].samples():
            assert_type((t, watts), Tuple[float, float])
        energy = trace.energy()
        assert_type(energy, Quantity)
        assert_type(energy.to("Wh"), Quantity)
        assert_type(energy.u, Optional[float])
        for cycle in trace.resume().cycles:
            assert_type(cycle, wakewatt.Cycle)
        assert_type(trace.stat(), wakewatt.StatReport)
        assert_type(trace.steps(), wakewatt.Steps)
        return float(energy)


def measure() -> None:
    with wakewatt.record(["sim:"], for_s=1.0) as recording:
        assert_type(recording, wakewatt.Recording)
        recording.mark("on")
        assert_type(recording.trace, Trace)
        assert_type(recording.warnings, List[str])


def fails() -> Optional[str]:
    try:
        assert_type(wakewatt.open("none.wwt"), Trace)
    except wakewatt.Error as e:
        assert_type(e.errno, Optional[int])
        return str(e)
    return None
