#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""10 million samples into numpy, pandas and Arrow, beside pandas.read_csv and pyarrow.csv, which
read the same values and times from a table. bench_python.py BUILD [SAMPLES]

Each is the best of three (of fewer where that takes long), the file opened anew, its pages in
memory; first: the process's first.
"""
import ctypes
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIMITS = {"numpy": 0.4, "pandas": 1.0}
CHUNK = 1 << 16
BEGIN = 1_700_000_000  # s since 1970


def with_numpy(build):
    """Go on in a Python that has numpy and pandas, best one that has pyarrow, too."""
    tried = [os.path.join(build, "venv", "bin", "python"), sys.executable, "/usr/bin/python3"]
    if os.environ.get("BENCH_PYTHON") != "found":
        os.environ["BENCH_PYTHON"] = "found"
        for modules in ("numpy, pandas, pyarrow", "numpy, pandas"):
            for python in filter(os.path.exists, tried):
                if os.system(f'"{python}" -c "import {modules}" 2>/dev/null') == 0:
                    os.execv(python, [python, *sys.argv])
    print("numpy and pandas are not installed: nothing to compare with")
    sys.exit(0)


def rows(np, n):
    """Pieces of (ns since the beginning, codes in mW): 10 000 a second, steps and noise."""
    rng = np.random.default_rng(1)
    for at in range(0, n, CHUNK):
        i = np.arange(at, min(at + CHUNK, n), dtype=np.int64)
        yield i * 100_000, (5000 + 1000 * (i // 50_000 % 3) + rng.normal(0, 20, len(i))).astype(
            np.int64)


def write_trace(ww, np, path, n):
    lib, err, w = ww._ffi.lib, ww._ffi.ww_error, ctypes.c_void_p()
    lib.ww_writer_open(os.fsencode(path), None, ctypes.byref(w), err())
    boot = 10**13
    anchor = ww._ffi.ww_anchor(boot, boot, BEGIN * 10**9, 100, 0, 0, -1)
    lib.ww_writer_anchor(w, ctypes.byref(anchor), err())
    info = ww._ffi.ww_source_info(kind=0, name=b"meter", uri=b"", driver=b"", model=b"",
                                  serial=b"", firmware=b"", role=b"", notes=b"")
    info.transport.name = info.transport.settings = b""
    source = lib.ww_writer_source(w, ctypes.byref(info), err())
    channel = ww._ffi.ww_channel_info(0, source, b"power", b"power", b"W", 0, 0, 0.001, 0.0, 0.001,
                                      float("nan"), float("nan"), 0.0)
    lib.ww_writer_channel(w, ctypes.byref(channel), err())
    for t, codes in rows(np, n):
        lo = boot + t
        columns = [c.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)) for c in (lo, lo + 2000, codes)]
        lib.ww_writer_samples(w, source, len(t), *columns, err())
    lib.ww_writer_close(w, err())


def write_csv(np, path, n):
    with open(path, "w", encoding="ascii") as f:
        f.write("time,power\n")
        for t, codes in rows(np, n):
            stamps = np.datetime_as_string((t + BEGIN * 10**9).view("M8[ns]"), unit="us")
            f.writelines("%sZ,%.3f\n" % r for r in zip(stamps.tolist(), (codes / 1000).tolist()))


def same(np, pd, values, table):
    """Whether all values and the first times are those of the table."""
    power = pd.read_csv(table, usecols=["power"])["power"]
    times = pd.read_csv(table, index_col="time", parse_dates=["time"], nrows=10_000).index
    return (len(values) == len(power) and np.allclose(values, power, atol=1e-9)
            and abs(values.index[:len(times)] - times).max() <= pd.Timedelta("1us"))


def measure(what, call):
    took = []
    for _ in range(3):
        begin = time.perf_counter()
        result = call()
        took.append(time.perf_counter() - begin)
        del result
        if sum(took) > 10:
            break
    print(f"  {what:44s} {min(took):7.3f} s   first {took[0]:6.3f} s")
    return min(took)


def compare(kind, ours, *peers):
    limit = LIMITS.get(kind)
    best = measure(*ours)
    if limit:
        print(f"  {'':44s} {'within' if best < limit else 'NOT WITHIN'} {limit} s")
    for peer in peers:
        print(f"  {'':44s} {measure(*peer) / best:7.1f} times as long")


def main(build, n):
    try:
        import numpy as np
        import pandas as pd
    except ImportError:
        with_numpy(build)
    os.environ.setdefault("WAKEWATT_LIBRARY", os.path.join(os.path.abspath(build), "lib",
                                                           "libwakewatt.so.0"))
    sys.path.insert(0, os.path.join(ROOT, "bindings", "python"))
    import wakewatt as ww

    try:
        import pyarrow
        from pyarrow import csv
    except ImportError:
        pyarrow = csv = None
    with tempfile.TemporaryDirectory() as folder:
        trace, table = os.path.join(folder, "t.wwt"), os.path.join(folder, "t.csv")
        write_trace(ww, np, trace, n)
        write_csv(np, table, n)
        print(f"{n} samples: trace {os.path.getsize(trace) >> 20} MiB, "
              f"table {os.path.getsize(table) >> 20} MiB; numpy {np.__version__}, pandas "
              f"{pd.__version__}, pyarrow {pyarrow.__version__ if pyarrow else 'not installed'}")

        def ours(take):
            with ww.open(trace) as t:
                return take(t["meter.power"])

        if not same(np, pd, ours(lambda c: c.to_pandas()), table):
            sys.exit("the trace and the table do not hold the same")

        def only_power():
            return csv.read_csv(table, convert_options=csv.ConvertOptions(
                include_columns=["power"]))["power"].to_numpy()

        compare("numpy", ("values: to_numpy()", lambda: ours(lambda c: c.to_numpy())),
                ("pandas.read_csv(usecols)", lambda: pd.read_csv(
                    table, usecols=["power"])["power"].to_numpy()),
                *[("pyarrow.csv, its threads", only_power)] * bool(csv))
        compare("pandas", ("values by UTC: to_pandas()", lambda: ours(lambda c: c.to_pandas())),
                ("pandas.read_csv(index_col, parse_dates)", lambda: pd.read_csv(
                    table, index_col="time", parse_dates=["time"])["power"]),
                *[("pyarrow.csv, its threads, to_pandas()", lambda: csv.read_csv(
                    table).to_pandas().set_index("time")["power"])] * bool(csv))
        if pyarrow:
            compare("arrow", ("table of 5 columns: pyarrow.table(channel)",
                              lambda: ours(pyarrow.table)),
                    ("pyarrow.csv, its threads, 2 columns", lambda: csv.read_csv(table)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000)
