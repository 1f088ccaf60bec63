#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The HTML page of 1000 cycles: how long it takes to write, and to open in a browser."""
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
import browser  # noqa: E402
import pagedata  # noqa: E402

CYCLES, TIMES = 1000, 5


def main(build):
    with tempfile.TemporaryDirectory() as d:
        log, page = os.path.join(d, "k.log"), os.path.join(d, "k.html")
        pagedata.kernel_log(log, CYCLES)
        begin = time.perf_counter()
        subprocess.run([os.path.join(build, "bin", "resumetime"), "kernlog", "--html", page, log],
                       check=True, stdout=subprocess.DEVNULL)
        print("%d cycles: page of %.1f MB written in %.2f s" % (
            CYCLES, os.path.getsize(page) / 1e6, time.perf_counter() - begin))
        if not browser.PROGRAM:
            print("no chromium: not opened")
            return
        b = browser.Browser()
        try:
            took = []
            for _ in range(TIMES):
                b.open(page)
                took.append(b.run("(t => t.loadEventEnd - t.navigationStart)(performance.timing)"))
            print("opened in %d ms (median of %d; from %d to %d), its script through with it" % (
                sorted(took)[TIMES // 2], TIMES, min(took), max(took)))
        finally:
            b.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "build")
