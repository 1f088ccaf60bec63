#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs test programs that print TAP, counts, and ends with 'N passed, N failed'.

A program that prints no plan, ends early, or dies by a signal is a failure of its
own. Output of a program is shown only where something failed (or with -v). -jN runs N of
them at once: most of them wait for something nearly all the time. TEST_PYTHON names the Python
that runs those written in it.
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import time

LINE = re.compile(r"^(not )?ok\b(.*)")


def run(path, limit):
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", PYTHONDONTWRITEBYTECODE="1",
               ASAN_OPTIONS="detect_leaks=1:abort_on_error=0",
               UBSAN_OPTIONS="print_stacktrace=1")
    start = time.monotonic()
    python = [os.environ["TEST_PYTHON"]] if path.endswith(".py") and "TEST_PYTHON" in env else []
    try:
        p = subprocess.run([*python, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env,
                           timeout=limit, stdin=subprocess.DEVNULL, check=False)
        out, code = p.stdout.decode(errors="replace"), p.returncode
    except subprocess.TimeoutExpired as e:
        out = (e.stdout or b"").decode(errors="replace") + f"\nno end after {limit} s"
        code = -1
    except OSError as e:
        out, code = str(e), -1
    return out, code, time.monotonic() - start


def report(path, result, verbose):
    """Prints a program's line. Gives how many passed, failed, were skipped."""
    out, code, took = result
    good = bad = skip = 0
    plan = None
    for line in out.splitlines():
        m = LINE.match(line)
        if m and "# SKIP" in m.group(2).upper():
            skip += 1
        elif m and m.group(1):
            bad += 1
        elif m:
            good += 1
        elif re.match(r"^1\.\.\d+", line):
            plan = (plan or 0) + int(re.match(r"^1\.\.(\d+)", line).group(1))
    if plan is None or good + bad + skip < plan or (code != 0 and bad == 0):
        bad += 1
    print(f"{'FAIL' if bad else 'ok  '} {os.path.relpath(path)}: {good} passed, {bad} failed"
          f"{f', {skip} skipped' if skip else ''} ({took:.1f} s)", flush=True)
    if bad or verbose:
        print("\n".join("    " + l for l in out.splitlines()[-200:]))
        if code:
            print(f"    exit status {code}")
    elif skip:
        for line in out.splitlines():
            if "# SKIP" in line.upper():
                print("    " + line)
    return good, bad, skip


def main():
    args = sys.argv[1:]
    verbose = "-v" in args
    jobs = max([int(a[2:]) for a in args if re.match(r"-j\d+$", a)], default=1)
    paths = [a for a in args if not a.startswith("-")]
    limit = float(os.environ.get("TEST_SECONDS", "900"))
    passed = failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(max(jobs, 1)) as pool:
        running = [pool.submit(run, os.path.abspath(path), limit) for path in paths]
        for path, result in zip(paths, running):
            good, bad, skip = report(path, result.result(), verbose)
            passed, failed, skipped = passed + good, failed + bad, skipped + skip
    counts = os.environ.get("TEST_COUNTS")
    if counts:
        with open(counts, "a", encoding="ascii") as f:
            f.write(f"{passed} {failed} {skipped}\n")
    else:
        tail = f", {skipped} skipped" if skipped else ""
        print(f"{passed} passed, {failed} failed{tail}")
    return 1 if failed or passed == 0 else 0


sys.exit(main())
