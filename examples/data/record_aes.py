#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records aes.wwt: openssl in turns with and without the processor's AES instructions.

    record_aes.py [OUT [RUNS [SECONDS]]]

The throughput is that of this machine. The meter is simulated: 20 W while idle and 29 W while
openssl runs, whatever it does then, with 0.15 W of noise in steps of 0.1 W, ten readings a second.
With a meter of your own, put its address in the place of the simulated one.
"""
import contextlib
import os
import sqlite3
import sys
import tempfile

import wakewatt

OFF = "OPENSSL_ia32cap=~0x200000200000000"  # what openssl may use of an x86 processor


def main(out="aes.wwt", runs="10", seconds="2"):
    out = os.path.abspath(out)
    speed = f"openssl speed -elapsed -seconds {seconds} -bytes 16384 -evp aes-128-cbc"
    around = "echo busy >load; {}{}; echo idle >load"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("load", "w", encoding="ascii") as f:
            f.write("idle\n")
        uri = "sim:?watts=20&follow=load&busy=29&idle=20&noise=0.15&rate=10&resolution=0.1"
        wakewatt.run({"engine": around.format("", speed),
                      "software": around.format(f"env {OFF} ", speed)},
                     [{"uri": uri, "name": "meter"}], out, n=int(runs), per="openssl",
                     baseline_s=2, settle_s=0.5, log=os.devnull, progress=print).close()
        os.chdir("/")
    # What tells of the machine and of nothing else is left out.
    with contextlib.closing(sqlite3.connect(out)) as db:
        db.execute("DELETE FROM meta WHERE key LIKE 'recorder.%' OR key = 'command' OR "
                   "key LIKE 'bench.%' AND key NOT IN ('bench.timezone', 'bench.utc_offset_s')")
        db.commit()
        db.execute("VACUUM")


if __name__ == "__main__":
    main(*sys.argv[1:])
