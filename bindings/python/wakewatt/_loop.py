# SPDX-License-Identifier: MIT
"""The thread in which a recorder runs.

It stays in C, without the interpreter's lock, for as long as nothing is asked of it: stamps do
not wait for Python. What is asked comes by a queue and a pipe, at whose byte the C loop returns.
"""
from __future__ import annotations

import os
import queue
import threading
from concurrent.futures import Future
from typing import Any, Callable, Optional, Tuple

from . import _ffi
from ._ffi import lib

Job = Tuple[Callable[[], Any], "Future[Any]"]


class Loop:
    """Runs a recorder until its sources end, stop() is called, or recording cannot go on."""

    def __init__(self, recorder: _ffi.Handle, name: str,
                 step: Optional[Callable[[int], bool]] = None,
                 before_stop: Optional[Callable[[], Any]] = None) -> None:
        """``step(wake_fd)`` takes the place of ww_recorder_run(): True while it goes on."""
        self._recorder, self._step = recorder, step or self._run_recorder
        self._before_stop = before_stop
        self._jobs: "queue.SimpleQueue[Job]" = queue.SimpleQueue()
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._lock = threading.Lock()  # guards what follows
        self._open, self._stopping = True, False
        self.error: Optional[BaseException] = None
        self.closing = threading.Event()  # nothing more is recorded; what is there is stored
        self.ended = threading.Event()
        self._thread = threading.Thread(target=self._main, name=f"wakewatt {name}", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it still records."""
        return not self.ended.is_set()

    def call(self, what: Callable[[], Any]) -> Any:
        """Run something between two turns of the loop, or here once it has ended."""
        done: "Future[Any]" = Future()
        with self._lock:
            queued = self._open
            if queued:
                self._jobs.put((what, done))
                self._poke()
        return done.result() if queued else what()

    def stop(self) -> None:
        """Ask for the end; ``ended`` tells when it has come."""
        with self._lock:
            self._stopping = True
            if self._open:
                self._poke()

    def forget(self) -> None:
        """In a child of fork(), which has no such thread: nothing here waits for it."""
        self._lock, self.ended = threading.Lock(), threading.Event()
        self._open = False
        self.ended.set()

    def _poke(self) -> None:
        try:
            os.write(self._wake_write, b"!")
        except BlockingIOError:
            pass  # it is full of pokes: enough to wake anybody

    def _run_recorder(self, wake: int) -> bool:
        return bool(lib.ww_recorder_run(self._recorder(), wake, _ffi.ww_error()) > 0)

    def _drain(self) -> None:
        try:
            while os.read(self._wake_read, 4096):
                pass
        except BlockingIOError:
            pass
        while True:
            try:
                what, done = self._jobs.get_nowait()
            except queue.Empty:
                return
            try:
                done.set_result(what())
            except BaseException as e:  # it belongs to whoever asked
                done.set_exception(e)

    def _main(self) -> None:
        try:
            while self._step(self._wake_read) and not self._stopping:
                self._drain()
        except BaseException as e:
            self.error = e
        self.closing.set()
        try:
            if self._before_stop:
                self._before_stop()
            lib.ww_recorder_stop(self._recorder(), _ffi.ww_error())
        except BaseException as e:
            self.error = self.error or e
        with self._lock:
            self._open = False
        self._drain()
        os.close(self._wake_read)
        os.close(self._wake_write)
        self.ended.set()


def finish(loop: Loop) -> None:
    """End it and wait: at the end of a recording's life, or the program's."""
    loop.stop()
    loop.ended.wait()
