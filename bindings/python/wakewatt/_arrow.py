# SPDX-License-Identifier: MIT
"""Samples for Arrow's consumers (pyarrow, polars, DuckDB): a capsule with a stream in it."""
from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, PYFUNCTYPE, c_char_p, c_void_p, py_object
from typing import Any, Callable, Dict, Sequence, Tuple

from . import _ffi
from ._core import Core
from ._ffi import lib


class ArrowArrayStream(ctypes.Structure):
    """As the specification of the Arrow C stream interface declares it."""


_Release = CFUNCTYPE(None, POINTER(ArrowArrayStream))
ArrowArrayStream._fields_ = [("get_schema", c_void_p), ("get_next", c_void_p),
                             ("get_last_error", c_void_p), ("release", _Release),
                             ("private_data", c_void_p)]


def _machinery() -> Tuple[Callable[[ArrowArrayStream], Any], Tuple[Any, ...]]:
    """What makes a capsule, and all that must outlive every capsule.

    A capsule may be destroyed while the interpreter ends and modules are gone: the destructor
    reaches what it needs by its closure alone. It gets the capsule as an address, since it has
    no references any more and must get none. Prototypes of their own leave those of
    ctypes.pythonapi to other users of it.
    """
    name = ctypes.create_string_buffer(b"arrow_array_stream")
    alive: Dict[int, ArrowArrayStream] = {}
    pointer = PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    new = PYFUNCTYPE(py_object, c_void_p, c_void_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
    byref, addressof = ctypes.byref, ctypes.addressof

    def destroy(capsule: int) -> None:
        stream = alive.pop(pointer(capsule, name.value))
        if stream.release:
            stream.release(byref(stream))

    destructor = CFUNCTYPE(None, c_void_p)(destroy)

    def make(stream: ArrowArrayStream) -> Any:
        alive[addressof(stream)] = stream
        return new(addressof(stream), addressof(name), ctypes.cast(destructor, c_void_p))

    return make, (make, destroy, destructor, name)


_make, _immortal = _machinery()
PYFUNCTYPE(None, py_object)(("Py_IncRef", ctypes.pythonapi))(_immortal)


def capsule(core: Core, channels: Sequence[int], from_ns: int, to_ns: int) -> Any:
    """A PyCapsule "arrow_array_stream"; what nobody takes out of it is released with it.

    Error: channels of two sources, rows that cannot be read.
    """
    stream = ArrowArrayStream()
    ids = (ctypes.c_uint32 * len(channels))(*channels)
    lib.ww_trace_arrow(core.h(), ids, len(channels), from_ns, to_ns, ctypes.byref(stream),
                       _ffi.ww_error())
    return _make(stream)
