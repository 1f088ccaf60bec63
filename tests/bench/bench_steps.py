#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pwrlog steps beside ruptures, where that is installed: the same readings, both whole."""
import os
import random
import subprocess
import sys
import tempfile
import time

try:
    import numpy
    import ruptures
except ImportError:
    print("ruptures is not installed (pip install ruptures): nothing to compare with")
    sys.exit(0)

N, LEVELS = 14400, 12


def main(build):
    rng = random.Random(1)
    rows = [20 + (37 if i * LEVELS // N % 2 else 0) + rng.gauss(0, 0.3) for i in range(N)]
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
        f.write("t_s,power_W\n" + "".join("%d,%.1f\n" % r for r in enumerate(rows)))
        f.flush()
        begin = time.perf_counter()
        out = subprocess.run([os.path.join(build, "bin", "pwrlog"), "steps", "--json", f.name],
                             check=True, capture_output=True, text=True).stdout
        ours = time.perf_counter() - begin
    found = out.count('"state":"detected"')
    print(f"pwrlog steps, {N} readings, {LEVELS - 1} changes: {found} found, {ours:.3f} s")
    signal = numpy.round(numpy.array(rows), 1)
    penalty = 2 * 0.3 ** 2 * numpy.log(N)
    for name, make in (
            ("KernelCPD linear", lambda: ruptures.KernelCPD(kernel="linear", min_size=2)),
            ("Pelt l2", lambda: ruptures.Pelt(model="l2", min_size=2, jump=5)),
            ("Binseg l2", lambda: ruptures.Binseg(model="l2", min_size=2, jump=5))):
        begin = time.perf_counter()
        ends = make().fit(signal).predict(pen=penalty)
        took = time.perf_counter() - begin
        print(f"ruptures {ruptures.version.version} {name}: {len(ends) - 1} found, {took:.3f} s, "
              f"{took / ours:.1f} times as long")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "build")
