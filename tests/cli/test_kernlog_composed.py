#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""resumetime kernlog on composed logs: every age of the kernel in every framing, each result."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import kframe  # noqa: E402
import kgen  # noqa: E402
from tap import main  # noqa: E402
from ww import Case, js  # noqa: E402


def ms(q):
    """lo and hi of what the JSON has: a number, an interval, a quantity."""
    if isinstance(q, dict):
        q = [q["lo"], q["hi"]] if "lo" in q else q.get("value")
    if isinstance(q, list):
        return (q[0] if q[0] is not None else float("-inf"),
                q[1] if q[1] is not None else float("inf"))
    return (q, q) if q is not None else (None, None)


class Check:
    """One cycle beside the truth; what is wrong in words."""

    def __init__(self, got, want, clock):
        self.got, self.want, self.clock, self.bad = got, want, clock, []

    def time(self, what, q, lo, hi, tolerance):
        a, b = ms(q)
        if a is None or b < lo - tolerance or a > hi + tolerance or b - a > hi - lo + 2.5:
            self.bad.append("%s: %r, not %.3f..%.3f" % (what, q, lo, hi))

    def totals(self):
        w = self.want
        if self.clock != "kernel" and self.clock != "delta" or "asleep" not in w:
            return
        # Deltas are rounded, line by line.
        tol = 0.002 if self.clock == "kernel" else 0.5
        gap = (w["awake"] - w["asleep"]) / kgen.MS if "awake" in w else 0
        a = (w["asleep"] - w["start"]) / kgen.MS
        self.time("suspend_ms", self.got.get("suspend_ms"), a, a + gap, tol)
        if "awake" in w:
            lo, hi = ((e - w["awake"]) / kgen.MS for e in w["end"])
            # It may count from any line that says so.
            late = (w.get("awake_last", w["awake"]) - w["awake"]) / kgen.MS
            self.time("resume_ms", self.got.get("resume_ms"), lo - late, hi + gap, tol)
        if "slept_ms" in w:
            self.time("slept_ms", self.got.get("slept_ms"), w["slept_ms"], w["slept_ms"] + 1, 0.6)

    def phases(self):
        have = {}
        for p in self.got["phases"]:
            have.setdefault(p["name"], []).append(p)
        for name, value in self.want["phases"].items():
            if name not in have:
                self.bad.append("no phase %s" % name)
                continue
            # By the stamps it may be a line's printing longer than what is printed.
            self.time("phase " + name, have[name][0].get("ms"), value - 0.1, value + 0.2, 0.002)

    def devices(self):
        have = {(d["name"], d["phase"]): d for d in self.got["devices"]}
        for name, phase, value, error in self.want["devices"]:
            d = have.get((name, phase))
            if not d:
                self.bad.append("no device %s in %s" % (name, phase))
                continue
            if d["errno"] != error:
                self.bad.append("%s: errno %r" % (name, d["errno"]))
            # Printed times lack the printing of a line, and may be in units of 1.024 us.
            slack = 0.002 if self.clock == "kernel" else 0.1 + value * 0.03
            self.time("device %s %s" % (name, phase), d.get("ms"), value - slack, value + 0.002,
                      slack)

    def run(self):
        w, g = self.want, self.got
        results = {"reset": ("reset",)}.get(w["result"], (w["result"],))
        if g["result"] not in results:
            self.bad.append("result %s, not %s" % (g["result"], w["result"]))
        if w["mode"] and g["mode"] != w["mode"]:
            self.bad.append("mode %s, not %s" % (g["mode"], w["mode"]))
        for key, value in w["reason"].items():
            got = (g.get("reason") or {}).get(key)
            if got != value:
                self.bad.append("reason %s %r, not %r" % (key, got, value))
        self.totals()
        self.phases()
        self.devices()
        return self.bad


class Composed(Case):
    def case(self, log, how, clock, dir_):
        path = os.path.join(dir_, "log")
        with open(path, "wb") as f:
            f.write(kframe.frame(log, how))
        doc = js("resumetime", "kernlog", path, "--json")
        got = doc["cycles"]
        if len(got) != len(log.cycles):
            return ["%d cycles, not %d: %s" % (len(got), len(log.cycles),
                                               [(c["mode"], c["result"]) for c in got])]
        return ["cycle %d (%s): %s" % (i + 1, w["result"], "; ".join(bad[:4]))
                for i, (g, w) in enumerate(zip(got, log.cycles))
                if (bad := Check(g, w, clock).run())]

    def all_of(self, clock, debug=True, most=99):
        with tempfile.TemporaryDirectory() as dir_:
            wrong = []
            for how in kframe.FRAMINGS[clock][:most]:
                for i, version in enumerate(kgen.VERSIONS):
                    log = kgen.Log(version, seed=i, debug=debug)
                    for result in kgen.RESULTS:
                        # A list of dmesg is that of one boot.
                        if result != "reset" or how not in kframe.ONE_BOOT:
                            log.cycle(result)
                    wrong += ["%s %s: %s" % (how.__name__, ".".join(map(str, version)), bad)
                              for bad in self.case(log, how, clock, dir_)]
        if wrong:
            self.fail("\n".join(["%d wrong" % len(wrong)] + wrong[:60]))

    def test_stamps_of_the_kernel(self):
        self.all_of("kernel")

    def test_quiet(self):
        """Without lines of devices and of debugging."""
        for clock in kframe.FRAMINGS:
            self.all_of(clock, debug=False, most=1)

    def test_differences(self):
        self.all_of("delta")

    def test_seconds(self):
        self.all_of("second")

    def test_no_stamps(self):
        self.all_of("none")


if __name__ == "__main__":
    main()
