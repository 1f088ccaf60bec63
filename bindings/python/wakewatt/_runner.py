# SPDX-License-Identifier: MIT
"""Runs of commands from Python while a meter is read, as ``pwrlog run`` does them."""
from __future__ import annotations

import ctypes
import errno
import itertools
import math
import os
import random
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import (TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple,
                    Union)

from . import _ffi
from ._ffi import lib
from ._parse import Work
from ._record import Live, Recording, Sources, record

if TYPE_CHECKING:
    from ._trace import Trace

#: a text is given to sh -c; a sequence is the program and its arguments
Command = Union[str, Sequence[str]]

_BASELINE_READINGS, _SETTLE_READINGS = 5, 2
_PATIENCE_S = 30.0  # longest wait for a reading
_TERM_S = 3.0  # from SIGTERM to SIGKILL
_OUTPUT_S = 1.0  # for output after the end


@dataclass
class _Variant:
    label: str
    argv: List[str]
    text: str
    env: Dict[str, str]
    place: int


@dataclass
class _Plan:
    variants: List[_Variant]
    n: int
    warmup: int
    repeat: int
    baseline_s: float
    settle_s: float
    per: Optional[str]
    channel: Optional[str]
    order: Callable[[int], List[_Variant]]
    out_fd: int
    progress: Optional[Callable[[str], Any]]
    run: int = 0  #: number of the latest


def _now() -> int:
    return int(lib.ww_clock_now_ns())


def _mark(rec: Recording, plan: _Plan, kind: str, text: str = "", lo: int = 0,
          hi: int = 0) -> None:
    lo = lo or _now()
    mark = _ffi.ww_mark(_ffi.ww_interval(lo, max(lo, hi)), 0, plan.run, _ffi.raw(kind),
                        _ffi.raw(text))
    rec._ask(lambda: lib.ww_recorder_mark(rec._recorder(), ctypes.byref(mark), _ffi.ww_error()))


def _word(text: str) -> str:
    """A value among the words of a mark."""
    return re.sub(r"[\x00-\x20%]", lambda m: f"%{ord(m.group()):02X}", text)


# --- the plan


def _variants(commands: Union[Command, Mapping[str, Command]],
              vary: Optional[Mapping[str, Sequence[Any]]]) -> List[_Variant]:
    named = dict(commands) if isinstance(commands, Mapping) else {"": commands}
    names = list(vary or {})
    values = [[str(v) for v in (vary or {})[name]] for name in names]
    for name, given in zip(names, values):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or not given:
            raise ValueError(f"vary: {name!r} is no name of a variable with values")
    out: List[_Variant] = []
    for label, command in named.items():
        if not isinstance(command, str) and (not isinstance(command, Sequence) or not command):
            raise TypeError(f"a command is a text for the shell or a sequence of words, not "
                            f"{command!r}")
        for chosen in itertools.product(*values):
            env = dict(zip(names, chosen))

            def put(text: str, env: Dict[str, str] = env) -> str:
                # ${NAME} is the shell's.
                return re.sub(r"(?<!\$)\{(\w+)\}", lambda m: env.get(m[1], m[0]), text)

            argv = ["sh", "-c", put(command)] if isinstance(command, str) \
                else [put(os.fspath(word)) for word in command]
            text = argv[2] if isinstance(command, str) else shlex.join(argv)
            full = " ".join(filter(None, [label, ",".join(f"{k}={v}" for k, v in env.items())]))
            out.append(_Variant(full, argv, text, env, len(out) + 1))
            if shutil.which(argv[0]) is None:
                raise _ffi.Error(errno.ENOENT, f"{argv[0]}: no such command")
    labels = [v.label for v in out]
    if len(set(labels)) < len(labels):
        raise ValueError("a variant stands there twice; more runs of it are n")
    return out


def _orders(variants: List[_Variant], shuffle: bool, seed: int) -> Callable[[int], List[_Variant]]:
    """A B, B A, A B ...: a drift meets both alike. Or by lot, the same for the same seed."""
    def order(k: int) -> List[_Variant]:
        if not shuffle:
            return variants[::-1] if k % 2 else list(variants)
        drawn = list(variants)
        random.Random(seed * 1000003 + k).shuffle(drawn)
        return drawn

    return order


# --- time that passes


def _readings(rec: Recording) -> int:
    """Of that meter which has the fewest. Error: it has ended."""
    found: List[Live] = [v for v in rec.live() if v.kind == "meter"]
    if not rec.running or any(v.state == "ended" for v in found):
        raise _ffi.Error(errno.ENODATA, "the meter ended before the last run")
    return min((v.n for v in found), default=0)


def _stay(rec: Recording, seconds: float, readings: int) -> None:
    """Until so long has passed and so many readings came."""
    end, last = time.monotonic() + seconds, time.monotonic()
    n = _readings(rec)
    until = n + readings
    while time.monotonic() < end or n < until:
        time.sleep(min(0.1, max(end - time.monotonic(), 0.01)))
        got = _readings(rec)
        last, n = (time.monotonic() if got > n else last), got
        if time.monotonic() - max(last, end) > _PATIENCE_S:
            raise _ffi.Error(errno.ETIMEDOUT, f"no reading in {_PATIENCE_S:.0f} s: nothing more "
                             "is run")


def _baseline(rec: Recording, plan: _Plan) -> None:
    if plan.baseline_s > 0:
        _mark(rec, plan, _ffi.MARK_BASELINE)
        _stay(rec, plan.baseline_s, _BASELINE_READINGS)
        _mark(rec, plan, _ffi.MARK_BASELINE_END)


def _check_channel(rec: Recording, name: Optional[str]) -> None:
    """One channel that the report can go by, or nothing is run for it."""
    found = [f"{v.source}.{v.channel}" for v in rec.live()
             if v.kind == "meter" and 0 < len(v.unit) <= 2 and v.unit.endswith("W")]
    hits = [f for f in found if name in (None, f, *f.split(".", 1))]
    if not found:
        raise ValueError("no channel of this meter is in W")
    if len(hits) != 1:
        raise ValueError(f"{'several channels' if hits else f'no channel {name!r}'} of power: "
                         f"{', '.join(found)}; name one with channel")


# --- one run


class _Tee:
    """Reads what a command prints, counts its work and passes it on."""

    def __init__(self, work: Work, to: int) -> None:
        self._from, self.to_write = os.pipe2(os.O_CLOEXEC)
        self._stop_read, self._stop_write = os.pipe2(os.O_CLOEXEC)
        self._work, self._to = work, to
        self._thread = threading.Thread(target=self._main, daemon=True)
        self._thread.start()

    def _main(self) -> None:
        while True:
            ready, _, _ = select.select([self._from, self._stop_read], [], [])
            data = os.read(self._from, 65536) if self._from in ready else b""
            if not data:
                return
            self._work.feed(data)
            try:
                while data:
                    data = data[os.write(self._to, data):]
            except OSError:
                pass  # where nobody reads it any more, it is only counted

    def close(self) -> None:
        """What still holds it open is not waited for."""
        os.close(self.to_write)
        self._thread.join(_OUTPUT_S)
        os.close(self._stop_write)
        self._thread.join()
        os.close(self._from)
        os.close(self._stop_read)


@dataclass
class _Ended:
    start_lo: int
    start_hi: int
    alive: int  #: it surely still ran then
    seen: int
    status: int  #: as waitpid() gives it
    cpu_s: float


class _Held:
    """Keeps Ctrl-C back until release(): a command that has begun must be known first.

    The signal's handler is exchanged; a mask would be handed down to the command.
    """

    def __init__(self) -> None:
        self._got: Optional[Any] = None
        old = signal.getsignal(signal.SIGINT)
        mine = threading.current_thread() is threading.main_thread() and callable(old)
        self._old: Optional[Any] = old if mine else None
        if mine:
            signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, frame: Any) -> None:
        self._got = (number, frame)

    def release(self) -> None:
        """What came meanwhile comes now. May be called again."""
        if self._old is not None:
            old, self._old = self._old, None
            signal.signal(signal.SIGINT, old)
            if self._got:
                old(*self._got)


def _once(v: _Variant, out_fd: int) -> _Ended:
    """The command, to its end. What interrupts the waiting ends it, too."""
    held = _Held()
    try:
        lo = _now()
        child = subprocess.Popen(v.argv, stdout=out_fd, stderr=out_fd,
                                 env={**os.environ, **v.env},
                                 start_new_session=not os.isatty(0))
        hi = _now()
        fd, ended = os.pidfd_open(child.pid), select.poll()
        ended.register(fd, select.POLLIN)
        try:
            held.release()
            alive, status, cpu = _wait(child.pid, ended, lo, hi)
        except BaseException:
            _end(child, ended)
            raise
        finally:
            os.close(fd)
    finally:
        held.release()
    child.returncode = os.waitstatus_to_exitcode(status)
    return _Ended(lo, hi, alive, _now(), status, cpu)


def _wait(pid: int, ended: "select.poll", began: int, alive: int) -> Tuple[int, int, float]:
    """(until when it surely ran, status, CPU time); the end to a thousandth of its time."""
    while True:
        before = _now()
        if ended.poll(0):
            break
        alive = before
        ended.poll(min(max((before - began) // 10**9, 1), 100))
    _, status, use = os.wait4(pid, 0)
    return alive, status, use.ru_utime + use.ru_stime


def _end(child: "subprocess.Popen[bytes]", ended: "select.poll") -> None:
    def send(what: int) -> None:
        (os.kill if os.getpgid(child.pid) != child.pid else os.killpg)(child.pid, what)

    if not ended.poll(0):
        send(signal.SIGTERM)
        if not ended.poll(int(1000 * _TERM_S)):
            send(signal.SIGKILL)
    child.wait()


def _status(status: int, cpu_s: float) -> str:
    how = f"signal={os.WTERMSIG(status)}" if os.WIFSIGNALED(status) \
        else f"exit={os.WEXITSTATUS(status)}"
    return f"{how} cpu_s={cpu_s:.6f}"


def _repeat(rec: Recording, plan: _Plan, v: _Variant, text: str, out_fd: int) -> None:
    """As often as asked, in one run, and the marks that tell of it."""
    cpu = 0.0
    for i in range(plan.repeat):
        began = _now()
        try:
            e = _once(v, out_fd)
        except KeyboardInterrupt:
            if i == 0:
                _mark(rec, plan, _ffi.MARK_RUN_START, text, began)
            _mark(rec, plan, _ffi.MARK_RUN_END,
                  f"run={plan.run} signal={int(signal.SIGTERM)} cpu_s={cpu:.6f}")
            raise
        cpu += e.cpu_s
        if i == 0:
            _mark(rec, plan, _ffi.MARK_RUN_START, text, e.start_lo, e.start_hi)
        if e.status:
            break
    _mark(rec, plan, _ffi.MARK_RUN_END, f"run={plan.run} {_status(e.status, cpu)}", e.alive,
          e.seen)


def _one_run(rec: Recording, plan: _Plan, v: _Variant, k: int, warmup: bool) -> None:
    plan.run += 1
    if plan.progress:
        of = (plan.n + plan.warmup) * len(plan.variants)
        plan.progress(f"{'warm-up' if warmup else 'run'} {plan.run} of {of}"
                      + (f": {v.label}" if v.label else ""))
    text = (f"run={plan.run} round={k + 1} place={v.place} variant={_word(v.label)} "
            f"repeat={plan.repeat}{' warmup=1' if warmup else ''} command={v.text}")
    if plan.per is None:
        _repeat(rec, plan, v, text, plan.out_fd)
        return
    work = Work(plan.per)
    tee = _Tee(work, plan.out_fd)
    try:
        _repeat(rec, plan, v, text, tee.to_write)
    finally:
        tee.close()
    found = work.found()
    if found.amount is None:
        said = "why=" + _word(found.why)
    else:
        unit = found.amount.unit[:-2] if found.kind == "rate" else found.amount.unit
        said = f"{found.kind}={found.amount.value:.17g} u={found.amount.u or 0:.17g} unit={unit}"
    _mark(rec, plan, _ffi.MARK_RUN_WORK, f"run={plan.run} {said}")


def _rounds(rec: Recording, plan: _Plan) -> None:
    _stay(rec, 0, 1)
    _check_channel(rec, plan.channel)
    for k in range(plan.warmup):
        for v in plan.order(k):
            _one_run(rec, plan, v, k, True)
            _stay(rec, plan.settle_s, _SETTLE_READINGS)
    _baseline(rec, plan)
    for k in range(plan.n):
        for v in plan.order(k):
            _one_run(rec, plan, v, k, False)
            _stay(rec, plan.settle_s, _SETTLE_READINGS)
            _baseline(rec, plan)


def _counted(value: Any, least: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 100000:
        raise ValueError(f"{what}: {value!r} is no whole number from {least} on")
    return value


def run(commands: Union[Command, Mapping[str, Command]], meters: Sources,
        path: Optional[Union[str, "os.PathLike[str]"]] = None, *, n: int = 1, repeat: int = 1,
        warmup: int = 0, vary: Optional[Mapping[str, Sequence[Any]]] = None,
        per: Optional[str] = None, baseline_s: float = 10.0, settle_s: float = 2.0,
        channel: Optional[str] = None, shuffle: bool = False, seed: int = 1,
        every_s: Optional[float] = None, log: Optional[Union[str, "os.PathLike[str]"]] = None,
        progress: Optional[Callable[[str], Any]] = None) -> "Trace":
    """Run commands while a meter is read: what ``pwrlog run`` does. Returns the trace.

        trace = wakewatt.run({"gzip": ["gzip", "-k", "big"], "xz": ["xz", "-k", "big"]},
                             "wattsup:/dev/ttyUSB0", "zip.wwt", n=10)
        trace.runs()
        wakewatt.compare(trace)

    ``commands``: one command, or those of several variants by name, which run in turns, A B B A.
    ``meters``: as record() takes them. ``path``: of the trace; None: a private one that goes
    with it. ``n``: how often each variant runs; ``repeat``: the command so often in each run;
    ``warmup``: so many rounds before that do not count. ``vary``: {"NAME": values}: variants by
    variables of the environment, ``{NAME}`` in the command is replaced. ``per``: what work the
    output tells of, see Work. ``baseline_s``: measured before the first run and after each, and
    five readings at least (0: none); ``settle_s``: rest after a run. ``channel``: of power,
    where there are several. ``shuffle``: each round in an order drawn by lot by ``seed``.
    ``every_s``: time between readings. ``log``: file to which the output is appended; None: it
    goes to standard error. ``progress``: called with a line for each run (``print``).

    Ctrl-C ends the command and the recording; what was measured stays in ``path``.
    ValueError, TypeError: what cannot be run. Error: no such command, no reading in 30 s, ...
    """
    for what, s in (("baseline_s", baseline_s), ("settle_s", settle_s)):
        if not (math.isfinite(s) and 0 <= s < 1e6):
            raise ValueError(f"{what} is {s}; it counts seconds")
    if per is not None:
        Work(per)
    variants = _variants(commands, vary)
    plan = _Plan(variants, _counted(n, 1, "n"), _counted(warmup, 0, "warmup"),
                 _counted(repeat, 1, "repeat"), baseline_s, settle_s, per, channel,
                 _orders(variants, shuffle, seed), 2, progress)
    sys.stderr.flush()
    if log is not None:
        plan.out_fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    try:
        with record(meters, path, every_s=every_s) as rec:
            _rounds(rec, plan)
        return rec.trace
    finally:
        if log is not None:
            os.close(plan.out_fd)
