#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""100 000 samples/s of two channels through the whole recorder: loss, CPU, bytes.

record.py BUILD [SECONDS]
"""
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

URI = "sim:?channels=codes&rate=100000"


def main():
    build, seconds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60
    folder = tempfile.mkdtemp(prefix="ww-bench-")
    trace = os.path.join(folder, "t.wwt")
    try:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        p = subprocess.Popen([os.path.join(build, "bin", "pwrlog"), "record", "-m", URI, "-o",
                              trace, "--for", f"{seconds}s"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        # The recorder's own CPU over the recording; the summary after it is not part of it.
        cpu = 0.0
        tick = os.sysconf("SC_CLK_TCK")
        while p.poll() is None and time.monotonic() - start < seconds - 0.2:
            with open(f"/proc/{p.pid}/stat", encoding="ascii") as f:
                fields = f.read().rsplit(")", 1)[1].split()
            cpu = (int(fields[11]) + int(fields[12])) / tick
            span = time.monotonic() - start
            time.sleep(0.2)
        err = p.communicate()[1].decode()
        if p.returncode != 0:
            sys.exit(err)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        total = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        info = json.loads(subprocess.run([os.path.join(build, "bin", "pwrlog"), "stat", trace,
                                          "--json"], capture_output=True, check=True).stdout)
        rows = info["channels"][0]["n"]
        gaps = sum(c["gaps"] for c in info["channels"])
        size = os.path.getsize(trace)
        print(f"record {seconds} s at 100 000 rows/s of two 16-bit channels, noise 4 counts:")
        print(f"  rows stored          {rows} ({rows / seconds:.0f}/s), gaps {gaps}, "
              f"lost {'yes' if 'lost' in err else 'none'}")
        print(f"  CPU, all threads     {100 * cpu / span:.2f} % of one core "
              f"(aim: at most 3 %; with start and summary {total:.2f} s)")
        print(f"  on disk              {size / rows:.2f} bytes a pair (aim: at most 3)")
    finally:
        shutil.rmtree(folder)


main()
