#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Composes olpc.wwt: cycles of a laptop for children, as resumetime record would have them.

No laptop was measured: the figures are those that were told of the first machines, and stand in
the constants. A beat every 2 ms at 115200 baud, sent only when the one before has left the UART; a
boot loader that says when it jumps to Linux; a meter of 20 readings a second.
"""
import os
import random
import sys

import wakewatt

MS = 1_000_000
CHAR = 86_806  # ns of a character at 115200 baud, 8N1
CYCLES, BEAT, ASLEEP = 8, 2 * MS, 2500 * MS
ENTRY, FIRMWARE, TO_USER, HOTPLUG = (230, 270), (280, 400), (9.0, 11.5), (172, 190)
AWAKE_W, ASLEEP_W, MOVING_W = 2.75, 1.0, 3.0


def beats(rng, start, end, starved=None):
    """Arrivals between two moments, none while the program was starved."""
    t, out = start, []
    while t < end:
        if starved and starved[0] <= t < starved[1]:
            t = starved[1]
        out.append(t + rng.randrange(20_000))
        t += BEAT
    return out


def cycle(rng, w, ids, n, t):
    """One suspend and resume from t; gives its end and (time, watts) of what was drawn."""
    port, console = ids
    w.mark(t, "pm-suspend", "request", source=port, cycle=n)
    entry = t + int(rng.uniform(*ENTRY) * MS)
    wake = entry + ASLEEP
    jump = wake + int(rng.uniform(*FIRMWARE) * MS)
    user = jump + int(rng.uniform(*TO_USER) * MS)
    starve = user + rng.randrange(6, 14) * MS
    awake = starve + int(rng.uniform(*HOTPLUG) * MS)
    end = user + 3000 * MS
    for at in beats(rng, t, entry) + beats(rng, user, end, (starve, awake)):
        w.bytes(port, at - CHAR, at, b".")
    w.mark(wake, "key", "wake", source=port, cycle=n)
    w.mark(wake + 300_000, "exit 0", "wake-end", source=port, cycle=n)
    text = b"resume: memory, clocks, EC ok\r\nresume: jumping to Linux\r\n"
    for i, byte in enumerate(text):
        at = jump - (len(text) - 1 - i) * CHAR
        w.bytes(console, at - CHAR // 2, at, bytes([byte]))
    w.mark(end, "ok", "cycle-end", source=port, cycle=n)
    return end, [(t, AWAKE_W), (t + 20 * MS, MOVING_W), (entry, ASLEEP_W), (wake, MOVING_W),
                 (awake, AWAKE_W)]


def readings(rng, drawn, end):
    """Means of 50 ms of what was drawn."""
    step, at, level, times, codes = 50 * MS, 0, AWAKE_W, [], []
    for t in range(step, end, step):
        joules, from_ = 0.0, t - step
        while at < len(drawn) and drawn[at][0] < t:
            joules += level * (drawn[at][0] - from_)
            from_, level = drawn[at]
            at += 1
        times.append(t)
        codes.append(round(100 * ((joules + level * (t - from_)) / step + rng.gauss(0, 0.01))))
    return times, codes


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "olpc.wwt")
    rng = random.Random(5)
    with wakewatt.Writer(path, program="compose_olpc.py", command="compose_olpc.py") as w:
        w.anchor(0, 1_199_145_600 * 10**9)
        w.meta("beat.mode", "drain")
        port = w.source("serial", "port", role="heartbeat", transport="uart", char_ns=CHAR,
                        settings="baud=115200")
        console = w.source("serial", "console", role="console", transport="uart", char_ns=CHAR,
                           settings="baud=115200")
        meter = w.source("meter", "battery", period_ns=50 * MS, window_ns=50 * MS,
                         model="composed, no laptop was measured")
        w.channel(meter, "power", "power", "W", "average", scale=0.01, resolution=0.01)
        t, drawn = 1500 * MS, []
        for at in beats(rng, 0, t):
            w.bytes(port, at - CHAR, at, b".")
        for n in range(1, CYCLES + 1):
            t, levels = cycle(rng, w, (port, console), n, t)
            drawn += levels
        times, codes = readings(rng, drawn, t)
        w.samples(meter, times, times, [codes])


if __name__ == "__main__":
    main()
