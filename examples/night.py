#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A long recording at a glance: night.py TRACE [SECONDS]

Written in cells, so that it can be pasted into a notebook piece by piece.
"""
# %% What there is
import sys

import wakewatt

if len(sys.argv) < 2:
    sys.exit(__doc__)
trace = wakewatt.open(sys.argv[1])
step = float(sys.argv[2]) if len(sys.argv) > 2 else 3600.0
print(f"{sys.argv[1]}: {trace.state}, {trace.duration_s:.1f} s")
for warning in trace.warnings:
    print("warning:", warning)

# %% The whole of it: means, energy, and how sure they are
whole = trace.stat()
for c in whole.channels:
    energy = f", {c.energy_J.value / 3600:.4g} Wh" if c.energy_J else ""
    print(f"{c.name:16} {str(c.mean):>24}  {c.min:g} to {c.max:g}{energy}, "
          f"{100 * c.coverage:.1f} % covered")
for note in whole.notes:
    print("note:", note)

# %% Piece by piece: when was it high?
watts = [name for name, c in trace.channels.items() if c.unit == "W"]
begin = 0.0
while watts and begin < trace.duration_s:
    end = min(begin + step, trace.duration_s)
    part = trace.stat(from_=begin, to=end)[watts[0]]
    print(f"{begin:10.1f} s to {end:10.1f} s  {str(part.mean):>24}")
    begin = end

# %% What is missing, the longest first
for g in sorted(trace.gaps, key=lambda g: -g.t_s.width)[:5]:
    print(f"gap of {g.t_s.width:.3f} s at {g.t_s.lo:.1f} s: {g.source}: {g.reason}")

# %% Did a machine suspend meanwhile? Only a recording with its heartbeat tells.
if any(s.kind == "serial" for s in trace.sources.values()):
    resume = trace.resume()
    print(f"{len(resume.cycles)} cycles: {resume.results}")
    for name, s in resume.summary.items():
        if s.median is not None:
            print(f"{name:20} {s.median:10.1f} ms, n {s.n}")
