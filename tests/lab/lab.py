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
import glob
import gzip
import json
import os
import re
import select
import shlex
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("WW_BUILD", os.path.join(TOP, "build"))
OUT = os.path.join(BUILD, "lab")
CACHE = os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "wakewatt")
CHAR_NS = 10 * 10**9 // 115200
VHCI = ("drivers/usb/common/usb-common", "drivers/usb/core/usbcore",
        "drivers/usb/usbip/usbip-core", "drivers/usb/usbip/vhci-hcd")

Byte = collections.namedtuple("Byte", "before_ns after_ns value fate")
Event = collections.namedtuple("Event", "name ns")
TO_BENCH, LOST, TO_DUT = 0, 1, 2


class LabError(Exception):
    pass


def say(text):
    print("lab: " + text, file=sys.stderr, flush=True)


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def need(program, package):
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
    if not path:
        raise LabError(f"{program} is missing: apt-get install {package}")
    return path


# ------------------------------------------------------------------ the image

def with_fresh_lists(attempt):
    """attempt(), and again after apt-get update where that may be done."""
    found = attempt()
    if not found and os.getuid() == 0:
        subprocess.run(["apt-get", "update", "-qq"], capture_output=True)
        found = attempt()
    return found


def depends(name, pattern):
    """First dependency of a package that matches."""
    text = subprocess.run(["apt-cache", "depends", name], capture_output=True, text=True).stdout
    return re.findall(r"Depends: (" + pattern + ")", text)


def package(name, pattern):
    """The package that a meta package of this Debian stands for, or one that it needs."""
    found = with_fresh_lists(lambda: depends(name, pattern))
    if not found:
        raise LabError(f"apt knows no {name}: is this Debian, and was apt-get update run?")
    return found[0]


def unpack(name):
    """Download a package into the cache and unpack it there; nothing is installed."""
    place = os.path.join(CACHE, name)
    if os.path.isdir(place):
        return place
    work = f"{place}.{os.getpid()}"
    os.makedirs(work)
    say(f"fetching {name}")
    said = []

    def download():
        p = subprocess.run(["apt-get", "download", "-qq", name], cwd=work, capture_output=True,
                           text=True)
        said.append(p.stderr.strip())
        return glob.glob(os.path.join(work, "*.deb"))

    debs = with_fresh_lists(download)
    if not debs:
        shutil.rmtree(work)
        raise LabError(f"apt-get download {name}: {said[-1]}")
    subprocess.run(["dpkg", "-x", debs[0], os.path.join(work, "root")], check=True)
    os.unlink(debs[0])
    try:
        os.rename(os.path.join(work, "root"), place)
    except OSError:  # somebody else was faster
        if not os.path.isdir(place):
            raise
    shutil.rmtree(work)
    return place


def kernel():
    """Newest kernel in the cache, else that of this Debian. -> (release, folder)"""
    have = sorted(glob.glob(os.path.join(CACHE, "linux-image-*", "boot", "vmlinuz-*")))
    if not have:
        unpack(package("linux-image-amd64", r"linux-image-\S+"))
        have = sorted(glob.glob(os.path.join(CACHE, "linux-image-*", "boot", "vmlinuz-*")))
    boot = os.path.dirname(have[-1])
    return os.path.basename(have[-1])[len("vmlinuz-"):], os.path.dirname(boot)


def newer(target, *sources):
    return os.path.exists(target) and all(
        os.path.getmtime(target) >= os.path.getmtime(s) for s in sources)


def compile_c(source, target, *flags, cc="cc"):
    source = os.path.join(HERE, source)
    if not newer(target, source):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        part = f"{target}.{os.getpid()}"
        subprocess.run([cc, "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", *flags, "-o", part,
                        source], check=True)
        os.rename(part, target)
    return target


def relay_program():
    return compile_c("relay.c", os.path.join(OUT, "relay"))


def qmp_program():
    return compile_c("qmp.c", os.path.join(OUT, "qmp"))


def ttybeat():
    target = os.path.join(BUILD, "static", "ttybeat-x86_64")
    source = os.path.join(TOP, "tools", "ttybeat.c")
    if not newer(target, source):
        need("musl-gcc", "musl-tools")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        subprocess.run(["musl-gcc", "-std=c99", "-D_GNU_SOURCE", "-Os", "-s", "-static", "-o",
                        target, source], check=True)
    return target


def late_thaw_module():
    """latethaw.ko, built against the kernel's headers in the cache."""
    release, _ = kernel()
    target = os.path.join(OUT, f"latethaw-{release}.ko")
    source = os.path.join(HERE, "latethaw.c")
    if newer(target, source):
        return target
    headers = unpack(f"linux-headers-{release}")
    arch_dir = os.path.join(headers, "usr/src", f"linux-headers-{release}")
    common = package(f"linux-headers-{release}", r"linux-headers-\S+-common")
    kbuild = package(f"linux-headers-{release}", r"linux-kbuild-\S+")
    common_dir = os.path.join(unpack(common), "usr/src", common)
    kbuild_dir = glob.glob(os.path.join(unpack(kbuild), "usr/lib/linux-kbuild-*"))[0]
    work = os.path.join(OUT, "latethaw")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "module"))
    # The headers name each other by where they would be installed.
    shutil.copytree(arch_dir, os.path.join(work, "arch"), symlinks=True)
    for folder in ("scripts", "tools"):
        link = os.path.join(work, "arch", folder)
        if os.path.islink(link):
            os.unlink(link)
            os.symlink(os.path.join(kbuild_dir, folder), link)
    tree = os.path.join(work, "common")
    os.makedirs(tree)
    for name in os.listdir(common_dir):
        if name not in ("scripts", "tools"):
            os.symlink(os.path.join(common_dir, name), os.path.join(tree, name))
    for folder in ("scripts", "tools"):
        os.symlink(os.path.join(kbuild_dir, folder), os.path.join(tree, folder))
    makefile = os.path.join(work, "arch", "Makefile")
    with open(makefile) as f:
        text = re.sub(r"/usr/src/linux-headers-\S+-common", tree, f.read())
    with open(makefile, "w") as f:
        f.write(text)
    shutil.copy(source, os.path.join(work, "module"))
    with open(os.path.join(work, "module", "Makefile"), "w") as f:
        f.write("obj-m := latethaw.o\n")
    made = subprocess.run(["make", "-C", os.path.join(work, "arch"),
                           "M=" + os.path.join(work, "module"), "modules"],
                          capture_output=True, text=True)
    if made.returncode:
        raise LabError("latethaw.ko does not build:\n" + made.stdout + made.stderr)
    shutil.copy(os.path.join(work, "module", "latethaw.ko"), target)
    shutil.rmtree(work)
    return target


def cpio_entry(name, mode, data, ino):
    """newc format, by hand: the order and the owners are ours."""
    name = name.encode() + b"\0"
    fields = (ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % v for v in fields) + name
    head += b"\0" * (-len(head) % 4)
    return head + data + b"\0" * (-len(data) % 4)


def image(late_thaw=False):
    """Path of the initramfs, built if something in it is newer."""
    release, folder = kernel()
    files = {"init": os.path.join(HERE, "init.sh"), "bin/ttybeat": ttybeat(),
             "bin/busyusb": compile_c("busyusb.c", os.path.join(OUT, "busyusb"), "-static", "-s"),
             "bin/busybox": need("busybox", "busybox-static"),
             "bin/rtcwake": need("rtcwake", "util-linux")}
    libs = subprocess.run(["ldd", files["bin/rtcwake"]], capture_output=True, text=True).stdout
    for lib in re.findall(r"(/\S+) \(", libs):
        files[lib.lstrip("/")] = os.path.realpath(lib)
    for module in VHCI:
        files["modules/" + os.path.basename(module) + ".ko"] = os.path.join(
            folder, "lib/modules", release, "kernel", module + ".ko")
    if late_thaw:
        files["modules/latethaw.ko"] = late_thaw_module()
    target = os.path.join(OUT, f"initramfs-{release}{'-late' if late_thaw else ''}.gz")
    if newer(target, __file__, *files.values()):
        return target
    folders = {"dev"}
    for name in files:
        parts = name.split("/")
        folders.update("/".join(parts[:i]) for i in range(1, len(parts)))
    out, ino = [], 1
    for name in sorted(folders):
        out.append(cpio_entry(name, stat.S_IFDIR | 0o755, b"", ino))
        ino += 1
    for name, path in sorted(files.items()):
        with open(path, "rb") as f:
            out.append(cpio_entry(name, stat.S_IFREG | 0o755, f.read(), ino))
        ino += 1
    out.append(cpio_entry("TRAILER!!!", 0, b"", 0))
    os.makedirs(OUT, exist_ok=True)
    with gzip.open(f"{target}.{os.getpid()}", "wb", compresslevel=1) as f:
        f.write(b"".join(out))
    os.rename(f"{target}.{os.getpid()}", target)
    return target


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

class Dut:
    """A running (or past) DUT in a folder: sockets, pid files, logs and the wire's end."""

    def __init__(self, folder=None):
        self.folder = os.path.abspath(folder or os.environ.get("LAB_DIR")
                                      or os.path.join(OUT, "dut"))
        self.wire = self.path("wire")

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, late_thaw=False, beat="--mode drain --format stamped", baud=115200,
              append="", timeout=90):
        """Boot, and start the heartbeat unless beat is None."""
        qemu = need("qemu-system-x86_64", "qemu-system-x86")
        release, kern = kernel()
        initrd = image(late_thaw)
        relay = relay_program()
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        # Small buffers: what waits between UART and wire is what a FIFO holds.
        ours, theirs = socket.socketpair()
        for s in (ours, theirs):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        command = [
            qemu, "-machine", "pc", "-accel", os.environ.get("LAB_ACCEL", "tcg"), "-cpu", "max",
            "-m", "256", "-smp", "1", "-nodefaults", "-no-user-config", "-display", "none",
            "-no-reboot", "-kernel", os.path.join(kern, "boot", "vmlinuz-" + release),
            "-initrd", initrd, "-append", "console=ttyS0,115200 quiet panic=-1 " + append,
            "-chardev", f"socket,id=con,path={self.path('console.sock')},server=on,wait=off",
            "-serial", "chardev:con",
            "-chardev", f"socket,id=hb,fd={theirs.fileno()}", "-serial", "chardev:hb",
            "-qmp", f"unix:{self.path('qmp.sock')},server=on,wait=off",
            "-qmp", f"unix:{self.path('events.sock')},server=on,wait=off",
            "-msg", "timestamp=on", "-trace", "enable=serial_write",
            "-D", self.path("uart.log")]
        self._spawn("qemu", command, theirs.fileno())
        self._spawn("relay", [relay, "--fd", str(ours.fileno()), "--pty", self.wire,
                              "--baud", str(baud), "--log", self.path("wire.log")], ours.fileno())
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
        for name in ("qemu", "follow", "relay"):
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
        names = [os.path.basename(m) for m in VHCI]
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
