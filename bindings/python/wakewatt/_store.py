# SPDX-License-Identifier: MIT
"""Traces written: by a converter, or from one that is open."""
from __future__ import annotations

import ctypes
import errno
import math
import os
from typing import IO, Any, Dict, Iterable, List, Optional, Sequence, Union

from . import _ffi
from ._base import View
from ._ffi import lib, raw
from ._kernlog import write_file
from ._parse import Path

_SOURCE_TEXTS = ("uri", "driver", "model", "serial", "firmware", "role", "notes")


def _int64(values: Any) -> Any:
    """A column for the library, copied: a list, an array, numbers of numpy."""
    n = len(values)
    if hasattr(values, "astype"):
        values = values.astype("int64").tolist()
    return (ctypes.c_int64 * n)(*values)


class Writer:
    """Writes a trace: for converters, simulations and tests. Use it with ``with``.

        with wakewatt.Writer("mine.wwt") as w:
            w.anchor(boot_ns=0, real_ns=1_700_000_000 * 10**9)
            meter = w.source("meter", "meter", period_ns=10**9)
            w.channel(meter, "power", "power", "W", "average", scale=0.1, resolution=0.1)
            w.samples(meter, times_ns, times_ns, [tenths_of_watts])
            w.mark(5 * 10**9, "+lamp")

    Times are ns of the trace's axis, each an interval in which the event surely happened. An
    existing file is never overwritten (Error, EEXIST). Rows are durable at each commit().
    """

    def __init__(self, path: Path, *, program: str = "wakewatt (Python)",
                 command: Optional[str] = None) -> None:
        self.path = os.fspath(path)
        options = _ffi.options(_ffi.ww_writer_options, program=program, command=command)
        self._handle = _ffi.Handle.new(lib.ww_writer_open, self._drop, os.fsencode(self.path),
                                       ctypes.byref(options), what=f"{self.path}: the writer")
        self._columns: Dict[int, int] = {}

    @staticmethod
    def _drop(writer: Any) -> None:
        """At the end of a life without close(): errors have nobody to go to."""
        if writer:
            try:
                lib.ww_writer_close(writer, _ffi.ww_error())
            except _ffi.Error:
                pass

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def close(self) -> None:
        """Commit, compact and close; may be called again. Error: what could not be stored."""
        if not self._handle.closed:
            writer = self._handle()
            self._handle.detach()
            lib.ww_writer_close(writer, _ffi.ww_error())

    def source(self, kind: str, name: str, *, period_ns: int = 0, window_ns: int = 0,
               delay_min_ns: int = 0, delay_max_ns: int = 0, transport: str = "",
               settings: str = "", char_ns: int = 0, **texts: str) -> int:
        """Describe a source: "meter", "serial", "line" or "manual". Returns its number.

        ``texts``: uri, driver, model, serial, firmware, role, notes. ``char_ns``: time of one
        character on a line whose pace is known.
        """
        unknown = set(texts) - set(_SOURCE_TEXTS)
        if unknown:
            raise TypeError(f"a source has no {', '.join(sorted(unknown))}; its texts are "
                            f"{', '.join(_SOURCE_TEXTS)}")
        info = _ffi.ww_source_info(
            kind=_ffi.number(_ffi.ww_source_kind, kind, "kind"), name=raw(name),
            period_ns=period_ns, window_ns=window_ns, delay_min_ns=delay_min_ns,
            delay_max_ns=delay_max_ns)
        for field in _SOURCE_TEXTS:
            setattr(info, field, raw(texts.get(field, "")))
        info.transport.name, info.transport.settings = raw(transport), raw(settings)
        info.transport.char_ns = char_ns
        return int(lib.ww_writer_source(self._handle(), ctypes.byref(info), _ffi.ww_error()))

    def channel(self, source: int, name: str, quantity: str, unit: str,
                semantics: str = "average", *, scale: float = 1.0, offset: float = 0.0,
                resolution: float = 0.0, accuracy_abs: float = math.nan,
                accuracy_rel: float = math.nan, wrap: float = 0.0) -> int:
        """Describe a channel of a source: value = code * scale + offset, in ``unit``.

        ``semantics``: "instant", "average" (since the one before), "hold", "counter", "edge".
        ``accuracy_abs``, ``accuracy_rel``: the maker's bounds; NaN unknown. All channels come
        before the source's first samples. Returns its number.
        """
        info = _ffi.ww_channel_info(
            0, source, raw(name), raw(quantity), raw(unit),
            _ffi.number(_ffi.ww_semantics, semantics, "semantics"), 0, scale, offset, resolution,
            accuracy_abs, accuracy_rel, wrap)
        number = int(lib.ww_writer_channel(self._handle(), ctypes.byref(info), _ffi.ww_error()))
        self._columns[source] = self._columns.get(source, 0) + 1
        return number

    def samples(self, source: int, lo_ns: Any, hi_ns: Any, codes: Sequence[Any]) -> None:
        """Store rows. ``lo_ns``, ``hi_ns``: shape (n), hi never falls. ``codes``: a column of
        n integers for each channel, in the order of their description; MISSING for none."""
        n, columns = len(lo_ns), self._columns.get(source, 0)
        if len(codes) != columns or len(hi_ns) != n or any(len(c) != n for c in codes):
            raise ValueError(f"source {source} has {columns} channels, and every column has to be "
                             f"as long as lo_ns ({n})")
        if columns == 1:
            rows = _int64(codes[0])
        else:
            lists = [_int64(c) for c in codes]
            rows = (ctypes.c_int64 * (n * columns))()
            for k, column in enumerate(lists):
                rows[k::columns] = column[:]
        lib.ww_writer_samples(self._handle(), source, n, _int64(lo_ns), _int64(hi_ns), rows,
                              _ffi.ww_error())

    def bytes(self, source: int, lo_ns: int, hi_ns: int, data: bytes) -> None:
        """Store what one read of a serial line delivered: each surely arrived in between."""
        lib.ww_writer_bytes(self._handle(), source, _ffi.ww_interval(lo_ns, hi_ns), data,
                            len(data), _ffi.ww_error())

    def mark(self, t_ns: int, text: str = "", kind: str = "label", *, hi_ns: Optional[int] = None,
             source: int = 0, cycle: int = 0) -> None:
        """Store a mark at a time, or surely between t_ns and hi_ns."""
        t = _ffi.ww_interval(t_ns, t_ns if hi_ns is None else hi_ns)
        mark = _ffi.ww_mark(t, source, cycle, raw(kind), raw(text))
        lib.ww_writer_mark(self._handle(), ctypes.byref(mark), _ffi.ww_error())

    def gap(self, lo_ns: int, hi_ns: int, source: int, reason: str, lost: int = -1) -> None:
        """Store a gap: ``lost`` items are missing, -1 unknown how many."""
        gap = _ffi.ww_gap(_ffi.ww_interval(lo_ns, hi_ns), source, 0, lost, raw(reason))
        lib.ww_writer_gap(self._handle(), ctypes.byref(gap), _ffi.ww_error())

    def anchor(self, boot_ns: int, real_ns: int, *, width_ns: int = 0) -> None:
        """Tie the axis to the wall clock: real_ns since 1970 UTC at boot_ns of the axis."""
        anchor = _ffi.ww_anchor(boot_ns, boot_ns, real_ns, width_ns, -1, 0, -1)
        lib.ww_writer_anchor(self._handle(), ctypes.byref(anchor), _ffi.ww_error())

    def meta(self, key: str, value: str) -> None:
        """Set a key of the trace's description: "bench.kernel"."""
        lib.ww_writer_meta(self._handle(), raw(key), raw(value), _ffi.ww_error())

    def commit(self) -> None:
        """Make everything so far durable and visible to who follows."""
        lib.ww_writer_commit(self._handle(), _ffi.ww_error())


class StoreMethods(View):
    """A trace stored, exported, decoded again."""

    def store(self, path: Path) -> int:
        """Store it in a file of its own, from wherever it came. Returns the number of rows.

        Error: the file exists (EEXIST), the disk is full.
        """
        options = _ffi.options(_ffi.ww_writer_options, program="wakewatt (Python)")
        return int(lib.ww_import_store(self._h(), os.fsencode(path), ctypes.byref(options),
                                       _ffi.ww_error()))

    def export(self, to: Union[Path, IO[Any]], what: str = "samples", *,
               source: Optional[str] = None, format: str = "csv", redact: bool = False) -> int:
        """Write records, one a line: what ``wwtrace export`` prints. Returns how many.

        ``to``: a new file's path, or an open file with a descriptor. ``what``: "samples",
        "bytes", "events", "marks" or "gaps". ``format``: "csv" or "jsonl". ``redact``: without
        host names, serial numbers and command lines.
        Error: the file exists, no such source; EBADMSG after the rest was written where rows
        are damaged.
        """
        if format not in ("csv", "jsonl"):
            raise ValueError(f"format is 'csv' or 'jsonl', not {format!r}")
        options = _ffi.options(
            _ffi.ww_export_options, what=_ffi.number(_ffi.ww_export_what, what, "what"),
            jsonl=int(format == "jsonl"), source=source, redact=int(redact))
        done: List[Union[int, _ffi.Error]] = []

        def write(fd: int) -> None:
            try:
                done.append(lib.ww_export(self._h(), ctypes.byref(options), fd, _ffi.ww_error()))
            except _ffi.Error as e:
                if e.errno != errno.EBADMSG:
                    raise
                done.append(e)  # the rest was written, and stays

        if isinstance(to, (str, os.PathLike)):
            write_file(to, write)
        else:
            to.flush()
            write(to.fileno())
        if isinstance(done[0], _ffi.Error):
            raise done[0]
        return done[0]

    def redecode(self, path: Path, source: Optional[str] = None) -> int:
        """Decode the bytes that a recording with ``raw`` kept into a new trace; the rest is
        copied. ``source``: one meter; None: all. Returns how many meters were decoded again.

        Error: nothing was kept, the file exists.
        """
        trace, w = self._h(), Writer(path)
        try:
            with w:
                return int(lib.ww_trace_redecode(trace, raw(source), w._handle(),
                                                 _ffi.ww_error()))
        except BaseException:
            os.unlink(w.path)  # ours, and of no use
            raise


def formats() -> Iterable[str]:
    """Names of the formats of other programs that open() takes."""
    return tuple(_ffi.text(f.name) for f in _ffi.listed(lib.ww_import_format_at))
