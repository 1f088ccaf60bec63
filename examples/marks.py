#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mean power after each label of a trace: marks.py TRACE [CHANNEL]

Record with `pwrlog record -m METER -o desk.wwt`, and type what you plugged in, and Enter, each
time. Every line below is a stretch from one label to the next.
"""
import sys

import wakewatt


def main(path, name="meter.power"):
    with wakewatt.open(path) as trace:
        labels = [m for m in trace.marks if m.kind == "label"]
        begins = [0.0] + [m.t_s.hi for m in labels]
        ends = [m.t_s.lo for m in labels] + [trace.duration_s]
        before = None
        for text, begin, end in zip(["(start)"] + [m.text for m in labels], begins, ends):
            if end <= begin:
                continue
            mean = trace.stat(from_=begin, to=end)[name].mean
            change = "" if before is None else f"{mean.value - before:+9.2f} {mean.unit}"
            print(f"{end - begin:8.1f} s  {str(mean):>22}  {change:>12}  {text}")
            before = mean.value


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:3])
    except (wakewatt.Error, KeyError) as e:
        sys.exit(f"marks.py: {e}")
