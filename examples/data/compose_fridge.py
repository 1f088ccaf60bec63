#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Composes fridge.wwt, a day of a fridge as a plug-in meter would record it.

No fridge was measured: the truth is in the constants below, so that the figures of the notebook
can be held against it. One reading a second of 1 W, a counter of 0.01 kWh, a compressor that
starts with an inrush and tires while it runs, one defrosting, a lamp when the door is opened, and
25 minutes in which the meter was unplugged from the computer, not from the fridge.
"""
import math
import os
import random
import sys

import wakewatt

SECOND = 10**9
DAY = 86400
START = 1_780_272_000  # 2026-06-01, 00:00 UTC
STANDBY, RUNNING, TIRES, INRUSH, LAMP, DEFROST = 1.4, 78.0, 7.0, 260.0, 15.0, 190.0
GAP = (51_000, 52_500)


def watts():
    """True power in each second of the day."""
    rng = random.Random(7)
    truth, t = [STANDBY] * DAY, 400
    while t < DAY:
        on = int(rng.gauss(1150, 60))
        for k in range(min(on, DAY - t)):
            truth[t + k] = RUNNING + TIRES * math.exp(-k / 300) + (INRUSH if k == 0 else 0)
        t += on + int(rng.gauss(2300, 140))
    for k in range(1500):
        truth[30_000 + k] = DEFROST
    for _ in range(14):
        at = int(rng.uniform(6.5, 22.5) * 3600)
        for k in range(rng.randrange(8, 45)):
            truth[at + k] += LAMP
    return truth


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "fridge.wwt")
    truth, rng = watts(), random.Random(11)
    with wakewatt.Writer(path, program="compose_fridge.py", command="compose_fridge.py") as w:
        w.anchor(0, START * SECOND)
        meter = w.source("meter", "fridge", period_ns=SECOND, window_ns=SECOND,
                         model="composed, no fridge was measured")
        w.channel(meter, "power", "power", "W", "average", resolution=1.0,
                  accuracy_abs=0.0, accuracy_rel=0.01)
        w.channel(meter, "energy", "energy", "Wh", "counter", scale=10.0, resolution=10.0)
        energy, times, power, register = 123_456.0, [], [], []
        for t in range(DAY):
            energy += truth[t] / 3600
            if GAP[0] <= t < GAP[1]:
                continue
            times.append((t + 1) * SECOND)
            power.append(max(0, round(truth[t] + rng.gauss(0, 0.3))))
            register.append(int(energy / 10))
        w.samples(meter, times, times, [power, register])
        w.gap(GAP[0] * SECOND, GAP[1] * SECOND, meter, "unplugged", GAP[1] - GAP[0])
        w.mark(30_000 * SECOND, "defrosting", source=meter)
        w.mark(51_000 * SECOND, "unplugged", "unplugged", source=meter)
    print(f"true energy of the day: {sum(truth) / 3600:.1f} Wh")


if __name__ == "__main__":
    main()
