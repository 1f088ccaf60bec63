# SPDX-License-Identifier: MIT
"""A DUT without hardware: a virtual machine that really suspends to RAM.

Stock Debian kernel (downloaded and unpacked, never installed), an initramfs of
busybox, rtcwake and the static ttybeat. Its first serial port takes commands,
its second carries the heartbeat over a wire that relay.c paces. It knows
nothing of the programs that measure it, and they see only the wire's end.

The truth comes from elsewhere: QEMU's trace of what the guest writes to its
UARTs, the relay's log of each byte, and the SUSPEND and WAKEUP events. All
times are ns of this machine's CLOCK_BOOTTIME.
"""
import bisect
import collections
import json
import os
import re
import select
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

from image import (BUILD, CACHE, HERE, OUT, TOP, VHCI, LabError, cpio_entry, image, kernel,
                   late_thaw_module, need, qmp_program, relay_program, say, unpack)

CHAR_NS = 10 * 10**9 // 115200
TO_BENCH, LOST, TO_DUT = 0, 1, 2

Byte = collections.namedtuple("Byte", "before_ns after_ns value fate")
Event = collections.namedtuple("Event", "name ns")

__all__ = ["BUILD", "CACHE", "OUT", "TOP", "CHAR_NS", "TO_BENCH", "LOST", "TO_DUT", "Byte",
           "Event", "Dut", "LabError", "boot_ns", "connect", "cpio_entry", "follow", "kernel",
           "late_thaw_module", "need", "relay_program", "say", "unpack"]


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


# ------------------------------------------------------------------- sockets

class Lines:
    """Lines from a UNIX socket, with deadlines."""

    def __init__(self, path, timeout=10):
        self.sock = connect(path, timeout)
        self.rest = b""

    def line(self, timeout):
        end = time.monotonic() + timeout
        while b"\n" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.sock], [], [], left)[0]:
                return None
            got = self.sock.recv(65536)
            if not got:
                raise LabError("the virtual machine is gone")
            self.rest += got
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode(errors="replace").rstrip("\r")

    def send(self, text):
        self.sock.sendall(text.encode())

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


def connect(path, timeout):
    end = time.monotonic() + timeout
    while True:
        s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            s.connect(path)
            return s
        except OSError as e:
            s.close()
            if time.monotonic() > end:
                raise LabError(f"{path}: {e.strerror}: does the DUT run?") from None
            time.sleep(0.02)


# ---------------------------------------------------------------- the follower

def follow(folder):
    """Write each event of the management socket with its time, and the DUT's state."""
    def state(word):
        with open(os.path.join(folder, "state.new"), "w") as f:
            f.write(word + "\n")
        os.rename(os.path.join(folder, "state.new"), os.path.join(folder, "state"))

    def log(entry):
        # An event's stamp is wall time: both clocks beside it, to shift it.
        r, b = time.clock_gettime_ns(time.CLOCK_REALTIME), boot_ns()
        out.write(json.dumps({"real_ns": r, "boot_ns": b, **entry}) + "\n")
        out.flush()

    signal.signal(signal.SIGTERM, lambda *a: sys.exit(0))
    with Lines(os.path.join(folder, "events.sock")) as qmp, \
            open(os.path.join(folder, "events.jsonl"), "a") as out:
        qmp.send('{"execute":"qmp_capabilities"}\n')
        state("on")
        log({"event": "ANCHOR"})
        try:
            while True:
                line = qmp.line(1.0)
                if line is None:
                    log({"event": "ANCHOR"})
                    continue
                m = json.loads(line)
                if "event" not in m:
                    continue
                t = m["timestamp"]
                log({"event": m["event"], "at_real_ns": t["seconds"] * 10**9
                     + t["microseconds"] * 1000})
                if m["event"] in ("SUSPEND", "SHUTDOWN", "STOP"):
                    state("off")
                elif m["event"] in ("WAKEUP", "RESUME"):
                    state("on")
        except LabError:
            log({"event": "GONE"})
            state("off")


# --------------------------------------------------------------------- the DUT

def wire_pair():
    """Small buffers: what waits between UART and wire is what a FIFO holds."""
    pair = socket.socketpair()
    for s in pair:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    return pair


class Dut:
    """A running (or past) DUT in a folder: sockets, pid files, logs and the wire's end."""

    def __init__(self, folder=None):
        self.folder = os.path.abspath(folder or os.environ.get("LAB_DIR")
                                      or os.path.join(OUT, "dut"))
        self.wire = self.path("wire")
        self.console = self.path("kernel")

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, late_thaw=False, beat="--mode drain --format stamped", baud=115200,
              append="", timeout=90, listen=None, console=False, reboot=False):
        """Boot, and start the heartbeat unless beat is None.

        listen: the wire ends at this UNIX socket and not at a pseudo-terminal.
        console: the kernel's console is a third port, paced as the wire is: self.console.
        reboot: a reset boots it again, and does not end it.
        """
        qemu = need("qemu-system-x86_64", "qemu-system-x86")
        release, kern = kernel()
        initrd = image(late_thaw)
        relay = relay_program()
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        pairs = [wire_pair() for _ in range(2 if console else 1)]
        # Only one of a driver's ports can be the console.
        messages = "ttyS2" if console else "ttyS0"
        command = [
            qemu, "-machine", "pc", "-accel", os.environ.get("LAB_ACCEL", "tcg"), "-cpu", "max",
            "-m", "256", "-smp", "1", "-nodefaults", "-no-user-config", "-display", "none",
            *([] if reboot else ["-no-reboot"]),
            "-kernel", os.path.join(kern, "boot", "vmlinuz-" + release),
            "-initrd", initrd, "-append", f"console={messages},115200 quiet panic=-1 " + append,
            "-chardev", f"socket,id=con,path={self.path('console.sock')},server=on,wait=off",
            "-serial", "chardev:con",
            *(arg for n, (_, theirs) in zip(("hb", "kern"), pairs)
              for arg in ("-chardev", f"socket,id={n},fd={theirs.fileno()}",
                          "-serial", f"chardev:{n}")),
            "-qmp", f"unix:{self.path('qmp.sock')},server=on,wait=off",
            "-qmp", f"unix:{self.path('events.sock')},server=on,wait=off",
            "-msg", "timestamp=on", "-trace", "enable=serial_write",
            "-D", self.path("uart.log")]
        self._spawn("qemu", command, *(theirs.fileno() for _, theirs in pairs))
        ends = [("--listen", listen) if listen else ("--pty", self.wire),
                ("--pty", self.console)]
        for i, (ours, theirs) in enumerate(pairs):
            self._spawn(f"relay{i or ''}",
                        [relay, "--fd", str(ours.fileno()), *ends[i], "--baud",
                         str(115200 if i else baud), "--log",
                         self.path("console.log" if i else "wire.log")], ours.fileno())
            ours.close()
            theirs.close()
        self._spawn("follow", [sys.executable, os.path.join(HERE, "dut"), "--dir", self.folder,
                               "follow"])
        self.wait_ready(timeout)
        if beat is not None:
            self.beat(beat, baud)

    def _spawn(self, name, command, *fds):
        with open(self.path(name + ".err"), "wb") as err:
            p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=err, stderr=err,
                                 pass_fds=fds, start_new_session=True)
        with open(self.path(name + ".pid"), "w") as f:
            f.write(f"{p.pid}\n")

    def wait_ready(self, timeout):
        end = time.monotonic() + timeout
        while True:
            try:
                if self.run("true", timeout=1)[0] == 0:
                    return
            except LabError:
                if not self.alive("qemu"):
                    raise LabError("QEMU did not start: " + self.text("qemu.err")) from None
            if time.monotonic() > end:
                raise LabError(f"the DUT did not boot in {timeout} s, see {self.folder}")

    def text(self, name):
        try:
            with open(self.path(name), errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def pid(self, name):
        text = self.text(name + ".pid").strip()
        return int(text) if text else 0

    def alive(self, name):
        pid = self.pid(name)
        if not pid:
            return False
        try:
            os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            pass
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                return self.folder.encode() in f.read()
        except (FileNotFoundError, ProcessLookupError):
            return False

    def stop(self):
        """End everything of this DUT; the logs stay."""
        for name in ("qemu", "follow", "relay", "relay1"):
            if not self.alive(name):
                continue
            os.kill(self.pid(name), signal.SIGTERM)
            end = time.monotonic() + 5
            while self.alive(name) and time.monotonic() < end:
                time.sleep(0.01)
            if self.alive(name):
                os.kill(self.pid(name), signal.SIGKILL)

    def run(self, command, timeout=20, until=None):
        """Run a command in the DUT's shell. -> (exit status, output)

        until: a function polled meanwhile; when it is true the command is left
        alone and (None, output so far) is returned.
        """
        mark = f"@{os.getpid()}.{time.monotonic_ns()}"
        out = []
        with Lines(self.path("console.sock"), timeout=2) as con:
            con.send(f"\necho {mark}+; sh -c {shlex.quote(command)} 2>&1; echo {mark}=$?\n")
            end = time.monotonic() + timeout
            begun = False
            while True:
                line = con.line(0.05)
                if line is None:
                    if until and until():
                        return None, "\n".join(out)
                    if time.monotonic() > end:
                        raise LabError(f"the DUT did not end '{command}' in {timeout} s: "
                                       + "\n".join(out))
                elif line.endswith(mark + "+"):
                    begun = True
                elif begun and mark + "=" in line:
                    text, code = line.split(mark + "=")
                    return int(code), "\n".join(out + ([text] if text else []))
                elif begun:
                    out.append(line)

    def check(self, command, timeout=20):
        code, out = self.run(command, timeout)
        if code:
            raise LabError(f"in the DUT, '{command}' failed ({code}): {out}")
        return out

    def beat(self, options="--mode drain --format stamped", baud=115200):
        """(Re)start the heartbeat on the second serial port."""
        self.check("killall -q ttybeat; for i in 1 2 3 4 5 6 7 8 9 10; do "
                   "pidof ttybeat > /dev/null || break; sleep 0.1; done; "
                   f"ttybeat --tty /dev/ttyS1 --baud {baud} {options} < /dev/null > /tmp/beat.err "
                   "2>&1 & sleep 0.2; pidof ttybeat > /dev/null || cat /tmp/beat.err")

    def qmp(self, command, timeout=10):
        with Lines(self.path("qmp.sock"), timeout=5) as q:
            for name in ("qmp_capabilities", command):
                q.send(json.dumps({"execute": name}) + "\n")
                while True:
                    line = q.line(timeout)
                    if line is None:
                        raise LabError(f"{command}: no answer")
                    m = json.loads(line)
                    if "error" in m:
                        raise LabError(f"{command}: {m['error']['desc']}")
                    if "return" in m:
                        break
            return m["return"]

    def status(self):
        return self.qmp("query-status")["status"]

    def suspend(self, command="echo mem > /sys/power/state", timeout=30):
        """Suspend; return once asleep, or raise with what the kernel said."""
        before = len(self.events("SUSPEND"))
        code, out = self.run(command, timeout, until=lambda: len(self.events("SUSPEND")) > before)
        if code:
            raise LabError("the suspend was refused: " + out.strip())
        return code is None

    def wake(self):
        self.qmp("system_wakeup")

    def wake_command(self):
        """A wake-up for a shell that is done within a few milliseconds."""
        return f"{shlex.quote(qmp_program())} {shlex.quote(self.path('qmp.sock'))} system_wakeup"

    def suspend_command(self, what="suspend"):
        return (f"{shlex.quote(os.path.join(HERE, 'dut'))} --dir {shlex.quote(self.folder)} "
                f"{what}")

    def wait_event(self, name, count, timeout):
        end = time.monotonic() + timeout
        while len(self.events(name)) < count:
            if time.monotonic() > end:
                raise LabError(f"no {name} in {timeout} s")
            time.sleep(0.02)

    def refuse(self, on=True):
        """A USB device that the kernel will not suspend with, plugged or unplugged."""
        names = [m.rpartition("/")[2] for m in VHCI]
        if not on:
            self.check("killall busyusb; sleep 0.5; "
                       + "".join(f"rmmod {n}; " for n in reversed(names)))
            return
        given_up = "dmesg | grep -c 'unable to enumerate'"
        self.check("".join(f"insmod /modules/{n}.ko; " for n in names) + f"n=$({given_up}); "
                   "busyusb > /tmp/usb.err 2>&1 & i=0; "
                   f"while [ $({given_up}) = \"$n\" ] && [ $i -lt 150 ]; do "
                   "sleep 0.1; i=$((i+1)); done; pidof busyusb || { cat /tmp/usb.err; false; }")

    # ------------------------------------------------------------- the truth

    def _log(self):
        entries = []
        for line in self.text("events.jsonl").splitlines():
            try:
                entries.append(json.loads(line))
            except ValueError:  # being written
                break
        return entries

    def events(self, name=None):
        """Events of the virtual machine, in order, by CLOCK_BOOTTIME."""
        return [Event(e["event"], e["at_real_ns"] - e["real_ns"] + e["boot_ns"])
                for e in self._log()
                if "at_real_ns" in e and (name is None or e["event"] == name)]

    def to_boot(self):
        """A function from this machine's wall time to CLOCK_BOOTTIME, by the nearest anchor."""
        log = self._log()
        if not log:
            raise LabError("no anchor of the clocks")
        reals = [e["real_ns"] for e in log]
        shifts = [e["boot_ns"] - e["real_ns"] for e in log]

        def convert(real_ns):
            i = bisect.bisect(reals, real_ns)
            if i == len(reals) or (i and real_ns - reals[i - 1] < reals[i] - real_ns):
                i -= 1
            return real_ns + shifts[i]

        return convert

    def wire_bytes(self):
        """Every byte that went over the wire. Complete once the DUT is stopped."""
        with open(self.path("wire.log"), "rb") as f:
            data = f.read()
        data = data[:len(data) // 16 * 16]
        return [Byte(before, before + took, value, fate)
                for before, took, value, fate, _ in struct.iter_unpack("<qIBBH", data)]

    def uart_bytes(self):
        """(ns, value) of each byte that the guest handed to the heartbeat's UART.

        The trace does not tell the two UARTs apart; the wire's log tells which
        bytes were the second one's. What is left over is the console's.
        """
        convert = self.to_boot()
        record = re.compile(rb"@(\d+)\.(\d+):serial_write write addr 0x0(\d) val 0x([0-9a-f]+)")
        writes, dlab = [], False
        with open(self.path("uart.log"), "rb") as f:
            for line in f:
                m = record.search(line)
                if not m:
                    continue
                addr, value = int(m[3]), int(m[4], 16)
                if addr == 3:
                    dlab = bool(value & 0x80)
                elif addr == 0 and not dlab:
                    writes.append((int(m[1]) * 10**9 + int(m[2]) * 1000, value))
        wire = [b for b in self.wire_bytes() if b.fate != TO_DUT]
        return match(writes, wire, convert)


def match(writes, wire, convert):
    """Pick from the writes those whose bytes appeared on the wire, in order.

    A byte is on the wire soon after it was written, within the UART's FIFO, the
    socket and the pace: a write that is later than its byte, or much earlier,
    is the console's.
    """
    out, i = [], 0
    for b in wire:
        while i < len(writes):
            ns, value = convert(writes[i][0]), writes[i][1]
            if value == b.value and b.after_ns - 10**9 < ns <= b.after_ns + 10**6:
                break
            i += 1
        if i == len(writes):
            break
        out.append((ns, value))
        i += 1
    return out
