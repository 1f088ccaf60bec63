# SPDX-License-Identifier: MIT
"""A recording and a kernel log made up: a beat, a console, a meter, devices with bad names."""
import json

MS = 10**6
CHAR = 86806  # ns of a character at 115200 baud
HOSTILE = "1-1</script><b onload='x'>\"&"


class Kernel:
    """Lines of one suspend with the kernel's stamps; its clock stands still in the sleep."""

    def __init__(self, us, console=False):
        self.us, self.lines, self.console = us, [], console

    def say(self, text, wait_us=40):
        self.us += wait_us
        self.lines.append((self.us, "[%5d.%06d] %s" % (self.us // 10**6, self.us % 10**6, text)))
        if self.console:  # it waits until the line is sent
            self.us += (len(self.lines[-1][1]) + 2) * CHAR // 1000

    def device(self, driver, name, func, us, error=0):
        self.say("%s %s: PM: calling %s+0x0/0x120 @ 212, parent: pci0000:00" % (driver, name, func))
        self.say("%s %s: PM: %s+0x0/0x120 returned %d after %d usecs" % (
            driver, name, func, error, us), us)


def suspend(kernel, n, extra_us=0):
    """A cycle's lines: those before the sleep, those after it."""
    k = kernel
    k.say("PM: suspend entry (deep)", 1000)
    k.say("Filesystems sync: 0.002 seconds", 2000)
    k.say("Freezing user space processes")
    k.say("Freezing user space processes completed (elapsed 0.004 seconds)", 4000)
    k.say("OOM killer disabled.")
    k.say("Freezing remaining freezable tasks")
    k.say("Freezing remaining freezable tasks completed (elapsed 0.001 seconds)", 1000)
    k.device("serial8250", "00:03", "pnp_bus_suspend", 900)
    k.device("ahci", "0000:00:1f.2", "pci_pm_suspend", 21000)
    k.say("PM: suspend of devices complete after 25.1 msecs", 500)
    k.say("PM: late suspend of devices complete after 1.2 msecs", 1200)
    k.say("PM: noirq suspend of devices complete after 2.4 msecs", 2400)
    k.say("ACPI: PM: Preparing to enter system sleep state S3")
    k.say("Disabling non-boot CPUs ...")
    k.say("smpboot: CPU 1 is now offline", 8000)
    before = len(k.lines)
    k.say("ACPI: PM: Low-level resume complete", 500)
    k.say("Enabling non-boot CPUs ...")
    k.say("CPU1 is up", 7000)
    k.say("ACPI: PM: Waking up from system sleep state S3")
    k.say("PM: noirq resume of devices complete after 3.1 msecs", 3100)
    k.say("PM: early resume of devices complete after 0.4 msecs", 400)
    k.device("usb", HOSTILE, "usb_dev_resume", 31000 + 100 * (n % 7))
    k.device("ahci", "0000:00:1f.2", "pci_pm_resume", 4000, -5 if n % 5 == 2 else 0)
    k.device("slow", "slow.0", "platform_pm_resume", 150000 + extra_us)
    k.say("PM: resume of devices complete after 190.2 msecs", 300)
    k.say("OOM killer enabled.")
    k.say("Restarting tasks ... done.", 2000)
    k.say("PM: suspend exit", 300)
    return k.lines[:before], k.lines[before:]


def kernel_log(path, cycles):
    k = Kernel(20 * 10**6)
    with open(path, "w", encoding="utf-8") as f:
        for n in range(1, cycles + 1):
            k.lines = []
            suspend(k, n, 1000 * (n * n % 11))
            f.writelines(text + "\n" for _, text in k.lines)
            k.us += 9 * 10**6


class Recording:
    """A trace as a stream: plain beats, the kernel's console, watts, what a campaign marks."""

    def __init__(self, cycles):
        self.rows = []
        self.t = 500 * 10**9
        self.kernel = Kernel(0, True)
        self.offset = self.t - 30 * 10**9  # bench's time of the kernel's 0; grows by each sleep
        self.begin = self.t
        self.asleep = []
        for n in range(1, cycles + 1):
            self.cycle(n)
        self.beat(self.t, self.t + 2000 * MS)
        self.t += 2000 * MS
        self.watts()

    def row(self, t, **more):
        self.rows.append((t, {**more, "t": [t // MS * MS, t // MS * MS + MS]}))

    def bytes(self, source, t, data):
        self.row(t, type="bytes", source=source, hex=data.hex())

    def mark(self, t, kind, n, text):
        self.rows.append((t, {"type": "mark", "t": [t, t + 10000], "kind": kind, "text": text,
                              "cycle": n}))

    def beat(self, a, b):
        for t in range(a, b, 5 * MS):
            self.bytes(1, t, b".")

    def console(self, lines, offset):
        """Lines at the line's own pace, a stretch of bytes each ms."""
        free = 0
        for us, text in lines:
            t = max(free, us * 1000 + offset)
            data = (text + "\r\n").encode()
            for i in range(0, len(data), 11):
                self.bytes(2, t + (i + 11) * CHAR, data[i:i + 11])
            free = t + len(data) * CHAR

    def cycle(self, n):
        a = self.t
        self.beat(a, a + 1500 * MS)
        request = a + 1500 * MS
        self.mark(request, "request", n, "echo mem > /sys/power/state")
        if n % 6 == 4:  # refused: the beat goes on
            self.mark(request + 300 * MS, "request-end", n, "exit 1: Device or resource busy")
            self.beat(request, request + 2500 * MS)
            self.mark(request + 2400 * MS, "cycle-end", n, "no silence")
            self.t = request + 2500 * MS
            return
        self.beat(request, request + 20 * MS)
        self.kernel.us = (request + 9 * MS - self.offset) // 1000
        self.kernel.lines = []
        first, then = suspend(self.kernel, n, 1000 * (n * n % 11))
        self.console(first, self.offset)
        off = request + 600 * MS
        wake = off + (2000 + 300 * (n % 3)) * MS
        self.asleep.append((off, wake))
        self.mark(wake, "wake", n, "gpio")
        self.mark(wake + MS, "wake-end", n, "exit 0")
        self.offset = wake - then[0][0] * 1000 + 30 * MS
        self.console(then, self.offset)
        thaw = wake + (730 + 3 * (n * 7 % 13)) * MS
        self.mark(thaw + 100 * MS, "request-end", n, "exit 0")
        self.beat(thaw, thaw + 2500 * MS)
        self.mark(thaw + 2400 * MS, "cycle-end", n, "ok")
        self.t = thaw + 2500 * MS

    def watts(self):
        for t in range(self.begin, self.t, 50 * MS):
            low = any(a < t < b for a, b in self.asleep)
            self.rows.append((t, {"type": "sample", "source": 3, "t": [t, t + MS],
                                  "codes": [8 if low else 251 + t // (50 * MS) % 3]}))

    def write(self, path):
        char = {"transport": "uart", "transport_char_ns": CHAR}
        head = [{"type": "wakewatt", "format": 1},
                {"type": "source", "id": 1, "kind": 1, "name": "port", "role": "heartbeat", **char},
                {"type": "source", "id": 2, "kind": 1, "name": "console", "role": "console", **char},
                {"type": "source", "id": 3, "kind": 0, "name": "meter", "period_ns": 50 * MS},
                {"type": "channel", "id": 1, "source": 3, "name": "power", "quantity": "power",
                 "unit": "W", "semantics": 0, "scale": 0.1, "resolution": 0.1},
                {"type": "anchor", "boot_ns": self.begin, "mono_ns": self.begin,
                 "real_ns": 1790000000 * 10**9, "width_ns": 100, "adj_state": 0,
                 "adj_freq_ppb": 0, "adj_maxerror_ns": 1000}]
        self.rows.sort(key=lambda r: r[0])
        with open(path, "w", encoding="utf-8") as f:
            for o in head + [r for _, r in self.rows] + [{"type": "end"}]:
                f.write(json.dumps(o, separators=(",", ":")) + "\n")
