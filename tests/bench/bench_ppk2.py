#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A PPK2 (its model on a pseudo-terminal) at 100 000 samples/s through the whole recorder.

Loss, CPU of all of pwrlog's threads, bytes; beside it the simulator at the same rate, which
has neither a port nor a protocol. bench_ppk2.py BUILD [SECONDS]
"""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

LIMIT = 5.0  # percent of one core


def record(build, uri, trace, seconds):
    """CPU seconds of pwrlog while it records, and how long that was."""
    p = subprocess.Popen([os.path.join(build, "bin", "pwrlog"), "record", "-m", uri, "-o", trace,
                          "--for", f"{seconds}s"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    start, cpu, span = time.monotonic(), 0.0, 0.0
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
    return cpu, span


def figures(trace):
    """Rows, lost samples, and rows that time says are missing beyond those."""
    db = sqlite3.connect(trace)
    rows = db.execute("SELECT sum(items) FROM block").fetchone()[0]
    # From the second second on: times are fitted closer while it lasts.
    row, begin = db.execute("SELECT first + items, hi FROM block WHERE first > 100000 "
                            "ORDER BY id LIMIT 1").fetchone()
    end = db.execute("SELECT max(hi) FROM block").fetchone()[0]
    lost = db.execute("SELECT coalesce(sum(lost), 0) FROM gap").fetchone()[0]
    db.close()
    return rows, lost, (end - begin) / 1e4 - (rows - row) - lost


def ppk2(build, folder, fault, options, seconds, trace):
    tty = os.path.join(folder, "tty")
    emu = subprocess.Popen([os.path.join(build, "tests", "emu", "wwemu"), "ppk2", "--pty", tty,
                            "--volts", "3", "--amps", "0.004"] + fault, stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, text=True)
    try:
        if emu.stdout.readline().strip() != "ready":
            sys.exit("wwemu did not get ready")
        return record(build, f"ppk2:{tty}{options}", trace, seconds)
    finally:
        emu.communicate("quit\n")


def main():
    build, seconds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    folder = tempfile.mkdtemp(prefix="ww-ppk2-", dir="/dev/shm" if os.path.isdir("/dev/shm")
                              else None)
    bad = False
    try:
        print(f"{'':40} {'rows':>9} {'lost':>5} {'CPU %':>6} {'bytes/row':>9}")
        for name, fault, options in (
                ("ppk2, current", [], ""),
                ("ppk2, power and current", [], "?volts=3"),
                ("ppk2, load and 1 µA in turn, 5 ms each", ["--fault", "ranges"], "?volts=3"),
                ("simulator, power and current", None, "")):
            trace = os.path.join(folder, "t.wwt")
            if fault is None:
                cpu, span = record(build, "sim:?channels=codes&rate=100000", trace, seconds)
            else:
                cpu, span = ppk2(build, folder, fault, options, seconds, trace)
            rows, lost, missing = figures(trace)
            percent = 100 * cpu / span
            # Nothing may be missing without being told, either; bounds move in steps of 50 µs.
            if fault is not None:
                bad |= lost != 0 or percent > LIMIT or abs(missing) > 50
                if abs(missing) > 50:
                    print(f"by the time {missing:.0f} more are missing")
            print(f"{name:40} {rows:9} {lost:5} {percent:6.2f} "
                  f"{os.path.getsize(trace) / rows:9.3f}")
            os.unlink(trace)
    finally:
        shutil.rmtree(folder)
    sys.exit(f"not without loss at {LIMIT} %" if bad else 0)


if __name__ == "__main__":
    main()
