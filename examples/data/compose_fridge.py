#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Composes fridge.wwt: a day of a fridge as a plug-in meter would have recorded it.

    compose_fridge.py [OUT]

Nothing here was measured. The truth: a compressor that draws 82 W and settles to 74 W, on for about
16 of 46 minutes, with an inrush of 600 W for a second; 1.4 W of electronics; a defrost heater of
130 W for 18 minutes; 15 W of light each time the door is open. The meter reads once a second in
steps of 1 W and counts energy in steps of 10 Wh. It loses 25 minutes, and the clock of the computer
is set 40 s ahead in the afternoon.
"""
import math
import random
import sys

import wakewatt

SECOND, DAY = 10**9, 86400
START = 1_700_006_400  # midnight, UTC
LOST = (10 * 3600 + 600, 10 * 3600 + 2100)
DEFROST = (3 * 3600 + 900, 3 * 3600 + 900 + 18 * 60)
CLOCK_SET, AHEAD = 15 * 3600, 40


def compressor(rng):
    """Watts of the compressor in each second of the day, and when it started."""
    watts, starts, t = [0.0] * DAY, [], 700
    while t < DAY:
        on = round(rng.gauss(960, 45))
        if not (t < DEFROST[1] and t + on > DEFROST[0]):
            starts.append(t)
            for k in range(min(on, DAY - t)):
                watts[t + k] = 74 + 8 * math.exp(-k / 200)
            watts[t] = 600
        t += on + round(rng.gauss(1800, 90))
    return watts, starts


def day(seed=3):
    """(watts in each second, number of starts of the compressor): the truth."""
    rng = random.Random(seed)
    watts, starts = compressor(rng)
    for t in range(*DEFROST):
        watts[t] += 130
    for hour in (7.1, 7.3, 8.0, 12.4, 12.6, 16.2, 18.5, 18.6, 19.1, 22.3):
        opened = round(hour * 3600 + rng.uniform(0, 300))
        for t in range(opened, opened + rng.randrange(15, 70)):
            watts[t] += 15
    return [w + 1.4 for w in watts], len(starts)


def main(out="fridge.wwt"):
    rng = random.Random(4)
    watts, _ = day()
    wh, at, shown, register = 0.0, [], [], []
    for t, w in enumerate(watts):
        wh += w / 3600
        if LOST[0] <= t < LOST[1]:
            continue
        at.append((t + 1) * SECOND)
        shown.append(max(round(w + rng.gauss(0, 0.4)), 0))
        register.append(math.floor(wh / 10))
    with wakewatt.Writer(out, program="compose_fridge.py") as w:
        w.meta("note", "composed, not measured")
        w.anchor(0, START * SECOND)
        meter = w.source("meter", "fridge", period_ns=SECOND, model="composed, 1 W, 10 Wh")
        w.channel(meter, "power", "power", "W", resolution=1.0)
        w.channel(meter, "energy", "energy", "Wh", "counter", scale=10.0, resolution=10.0)
        w.gap(LOST[0] * SECOND, LOST[1] * SECOND, meter, "the meter was out of reach")
        w.samples(meter, at, at, [shown, register])
        w.anchor(CLOCK_SET * SECOND, (START + CLOCK_SET + AHEAD) * SECOND)


if __name__ == "__main__":
    main(*sys.argv[1:])
