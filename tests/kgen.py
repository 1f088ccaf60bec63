# SPDX-License-Identifier: MIT
"""Composes logs of kernels of any age, with invented devices and known truth.

A Log is made of cycles (ok, a device that refuses, a task that does not freeze, a wake-up that
stops the suspend, pm_test, a machine that boots instead of resuming); it holds lines with the
time of the kernel's clock, which stands still in a sleep, and what is true of each cycle.
kframe.py frames them as programs do that log them.
"""
import random

VERSIONS = [(2, 6, 27), (2, 6, 32), (2, 6, 38), (3, 2), (3, 10), (3, 18), (4, 4), (4, 9), (4, 14),
            (4, 19), (5, 4), (5, 10), (5, 15), (6, 1), (6, 6), (6, 12), (6, 17)]
RESULTS = ["ok", "refused", "noirq", "pending", "cpu", "freeze", "woken", "pm_test", "s2idle",
           "reset"]
MS = 1_000_000

DEVICES = [  # driver, bus where there is no driver, name, parent, callback, module
    ("qx_net", "pci", "0000:03:00.0", "0000:00:1c.2", "pci_pm", ""),
    ("qx_gpu", "pci", "0000:00:02.0", "pci0000:00", "qx_gpu", ""),
    ("", "platform", "Fixed quartz bus.0", "platform", "platform_pm", ""),
    ("Quartz QZ81 Gigabit PHY", "mdio_bus", "30c0000.ethernet-1:00", "30c0000.ethernet-1",
     "mdio_bus_phy", "libphy"),
    ("usb", "usb", "2-1.4", "2-1", "usb_dev", "usbcore"),
    ("", "leds", "quartz::kbd_light", "qx_kbd", "led", ""),
]


class Line:
    def __init__(self, t, slept, text, level=6, pid=1, kernel=True):
        self.t, self.slept, self.text = t, slept, text
        self.level, self.pid, self.kernel = level, pid, kernel


class Log:
    def __init__(self, version, seed=1, debug=True, arch=None):
        # Devices and their phases are told since 2.6.32.
        self.v, self.rand, self.debug = version, random.Random(seed), debug and version >= (2, 6, 32)
        self.arch = arch or ("arm64" if version >= (3, 18) and seed % 2 else "x86")
        self.t, self.slept = self.rand.randrange(50, 5000) * 1000 * MS + 17_000, 0
        self.lines, self.cycles = [], []
        self.pid = self.rand.randrange(200, 9000)
        for text in ("quartz quartz0: ready", "qx_net 0000:03:00.0: no PHY found yet",
                     "EXT4-fs (qxa1): mounted filesystem with ordered data mode"):
            self.step(1, 900)
            self.say(text)

    # ---------------------------------------------------------------- pieces
    def step(self, lo_ms, hi_ms):
        """Time passes; whole microseconds, as printk shows them."""
        self.t += int(self.rand.uniform(lo_ms, hi_ms) * 1000) * 1000

    def say(self, text, level=6, pid=None):
        self.step(0.004, 0.09)
        self.lines.append(Line(self.t, self.slept, text, level, pid or self.pid))
        return self.t

    def other(self, text):
        """A line of no kernel: user space, firmware."""
        self.lines.append(Line(self.t, self.slept, text, kernel=False))

    def info(self, text):
        """What newer kernels only say where asked to."""
        if self.v < (4, 14) or self.debug:
            return self.say(text, 6 if self.v < (4, 14) else 7)
        return None

    def usecs(self, ns):
        return ns >> 10 if self.v < (5, 12) else ns // 1000

    def call(self, dev, verb, error=0, pid=None, length=None):
        """A callback of a device. Gives its true length in ms."""
        drv, bus, name, parent, func, module = dev
        mod = " [%s]" % module if module else ""
        pid = pid or self.pid
        offset = "" if self.v >= (6, 9) else "+0x0/0x%x" % (len(func) * 24)
        func = "%s_%s%s%s" % (func, verb, offset, mod)
        if self.v < (4, 18):
            call = "calling  %s+ @ %d%s" % (name, pid, ", parent: " + parent
                                            if self.v >= (3, 2) else "")
            back = "call %s+ returned %d after %%d usecs" % (name, error)
        else:
            head = "%s %s: %s" % (drv or bus, name, "PM: " if self.v >= (5, 10) else "")
            call = "%scalling %s @ %d, parent: %s" % (head, func, pid, parent)
            back = "%s%s returned %d after %%d usecs" % (head, func, error)
        a = self.say(call, 7, pid)
        if length:
            self.t += int(length * 1000) * 1000
        else:
            self.step(0.5, 9)
        # The time is taken within, some microseconds less than the stamps show.
        b = self.say(back % self.usecs(self.t - a), 7, pid)
        return (b - a) / MS

    def devices(self, cyc, verb, phase, fail=None):
        """Devices of a phase, one after the other; False: one of them refused."""
        order = DEVICES if "suspend" in phase else DEVICES[::-1]
        begin = self.t
        # 3.4 has "late" and "early".
        words = {"suspend": "", "suspend_late": "late ", "suspend_noirq": "noirq ",
                 "resume_noirq": "noirq ", "resume_early": "early ", "resume": ""}
        for dev in order:
            if phase not in ("suspend", "resume") and dev[1] != "pci":
                continue
            bad = fail == dev[2]
            if fail == "wake" and dev is order[3]:
                return self.gave_up(begin, words[phase])
            if self.debug:
                # A driver may have one function for all of its phases.
                tail = "" if dev[4] == "qx_gpu" else phase.removeprefix(verb)
                ms = self.call(dev, verb + tail, -16 if bad else 0)
                cyc["devices"].append((dev[2], phase, ms, -16 if bad else 0))
            else:
                self.step(1, 8)
            if bad:
                self.refuse(dev, phase)
                return self.gave_up(begin, words[phase])
        if self.v < (2, 6, 32):
            return True
        ns = self.t - begin
        said = self.info("PM: %s%s of devices complete after %d.%03d msecs" %
                         (words[phase], verb, ns // MS, ns // 1000 % 1000))
        if said:
            cyc["phases"][phase] = ns // 1000 / 1000
        return True

    def gave_up(self, begin, word):
        ns = self.t - begin
        if self.v >= (4, 19):
            self.info("PM: %ssuspend of devices aborted after %d.%03d msecs" %
                      (word, ns // MS, ns // 1000 % 1000))
        return False

    def refuse(self, dev, phase):
        drv, bus, name = dev[:3]
        func, verb = "%s_%s" % (dev[4], phase), phase.replace("_", " ")
        if self.v < (2, 6, 29):
            self.say("pm_op(): %s+0x0/0x70 returns -16" % func, 3)
            self.say("PM: Device %s failed to %s: error -16" % (name, verb), 3)
        elif self.v < (5, 10):
            self.say("%s(): %s+0x0/0x70 returns -16" %
                     ("pm_op" if self.v < (3, 5) else "dpm_run_callback", func), 3)
            self.say("PM: Device %s failed to %s: error -16" % (name, verb), 3)
        else:
            who = "%s %s: PM: " % (drv or bus, name)
            offset = "" if self.v >= (6, 9) else "+0x0/0x70"
            self.say("%sdpm_run_callback(): %s%s returns -16" % (who, func, offset), 3)
            self.say("%sfailed to %s: error -16" % (who, verb), 3)

    def late(self):
        return self.v >= (3, 4)

    # ---------------------------------------------------------------- a cycle
    def begin(self, cyc, mode):
        self.step(900, 30000)
        word = {"mem": "deep", "s2idle": "s2idle"}[mode]
        old = {"mem": "mem", "s2idle": "freeze"}[mode]
        t = None
        if self.v >= (4, 17):
            t = self.say("PM: suspend entry (%s)" % word)
        if self.v < (5, 3):
            s = self.say("PM: Syncing filesystems ... done.")
            self.step(1, 40)
        else:
            s = self.t
            self.step(1, 40)
            # Told in ms: cut.
            self.say("Filesystems sync: %d.%03d seconds" %
                     ((self.t - s) // (1000 * MS), (self.t - s) // MS % 1000))
        cyc["start"] = t or s
        if self.v < (4, 6):
            self.info("PM: Preparing system for %s sleep" % old)
        else:
            self.info("PM: Preparing system for sleep (%s)" % (word if self.v >= (4, 17) else old))

    def elapsed(self, ns):
        if self.v < (3, 4):
            return "%d.%02d" % (ns // (1000 * MS), ns // (10 * MS) % 100)
        return "%d.%03d" % (ns // (1000 * MS), ns // MS % 1000)

    def freeze(self, fail=None):
        if fail == "task":
            return self.freeze_failed()
        if fail == "wake":
            return self.freeze_aborted()
        for what in ("user space processes", "remaining freezable tasks"):
            if self.v < (6, 2):
                a = self.t
                # One line: its stamp is that of its begin.
                self.say("Freezing %s ... " % what)
                line = self.lines[-1]
                self.step(1, 12)
                line.text += "(elapsed %s seconds) done." % self.elapsed(self.t - a)
            else:
                a = self.say("Freezing %s" % what)
                self.step(1, 12)
                self.say("Freezing %s completed (elapsed %s seconds)" %
                         (what, self.elapsed(self.t - a)))
            if self.v >= (4, 14) and what[0] == "u":
                self.say("OOM killer disabled.")
        return True

    def freeze_failed(self):
        new = self.v >= (6, 2)
        self.say("Freezing user space processes" + ("" if new else " ... "))
        self.t += 20_003 * MS
        if self.v < (3, 0):
            tail = "(1 tasks refusing to freeze):"
        else:
            tail = "(1 tasks refusing to freeze, wq_busy=0):"
        self.say("Freezing %s failed after %s seconds %s" %
                 ("user space processes" if new else "of tasks", self.elapsed(20_003 * MS), tail), 3)
        if self.v >= (5, 11):
            self.say("task:%-15s state:D stack:%5d pid:%5d ppid:%6d flags:0x%08x" %
                     ("quartz reader", 0, 2211, 1, 4))
        elif self.v >= (4, 14):
            self.say("%-15s D %4d %5d %6d 0x%08x" % ("quartz reader", 0, 2211, 1, 4))
        else:
            self.say("%-15s D %08x %5d %5d %6d 0x%08x" % ("quartz reader", 0xc0512a34, 0, 2211, 1, 4))
        self.say(" schedule+0x48/0xd0")
        return False

    def freeze_aborted(self):
        new = self.v >= (6, 2)
        self.say("Freezing user space processes" + ("" if new else " ... "))
        self.step(10, 20)
        self.say("PM: Wakeup pending, aborting suspend")
        if self.v >= (3, 10):
            self.say("%sactive wakeup source: quartz timer" % ("PM: " if self.v >= (4, 14) else ""))
        self.say("Freezing %s aborted after 0.011 seconds%s" %
                 ("user space processes" if new else "of tasks",
                  " (12 tasks refusing to freeze, wq_busy=0):" if new else ""))
        return False

    def console(self, mode):
        old, new = {"mem": ("mem", "deep"), "s2idle": ("freeze", "s2idle")}[mode]
        if self.v < (4, 6):
            self.info("PM: Entering %s sleep" % old)
        else:
            self.info("PM: Suspending system (%s)" % (new if self.v >= (4, 17) else old))
        self.say("%sSuspending console(s) (use no_console_suspend to debug)" %
                 ("printk: " if self.v >= (5, 0) else ""))

    def cpus_off(self):
        self.say("Disabling non-boot CPUs ...")
        for n in (1, 2, 3):
            self.step(1, 6)
            if self.arch == "x86":
                self.say("%sCPU %d is now offline" % ("smpboot: " if self.v >= (3, 8) else "", n))
            elif self.v < (4, 9):
                self.say("CPU%d: shutdown" % n)
                self.say("psci: CPU%d killed." % n)
            else:
                self.say("psci: CPU%d killed (polled %d ms)" % (n, 4 * (n & 1)))

    def cpus_on(self):
        first = self.say("Enabling non-boot CPUs ...")
        for n in (1, 2, 3):
            if self.arch == "x86":
                self.say("smpboot: Booting Node 0 Processor %d APIC 0x%x" % (n, 2 * n))
            else:
                self.say("CPU%d: Booted secondary processor 0x%010x [0x410fd034]" % (n, n))
            self.step(0.5, 4)
            self.say("CPU%d is up" % n)
        return first

    def pending(self, cyc):
        self.say("PM: Wakeup pending, aborting suspend")
        if self.v >= (3, 10):
            self.say("%sactive wakeup source: quartz timer" % ("PM: " if self.v >= (4, 14) else ""))
            cyc["reason"] = {"step": "suspend", "wakeup": "quartz timer"}

    def cpu_failed(self, cyc):
        self.say("Disabling non-boot CPUs ...")
        self.step(1, 6)
        self.say("Error taking CPU1 down: -16", 3)
        self.say("Non-boot CPUs are not disabled", 3)
        self.say("Enabling non-boot CPUs ...")
        cyc["reason"] = {"step": "cpu_offline", "errno": -16}

    def resume(self, cyc, noirq=True, early=False):
        self.devices(cyc, "resume", "resume_noirq") if noirq else None
        if (noirq or early) and self.late():
            self.devices(cyc, "resume", "resume_early")
        self.devices(cyc, "resume", "resume")
        self.thaw(cyc)

    def thaw(self, cyc):
        self.info("PM: Finishing wakeup.")
        if self.v >= (4, 14):
            self.say("OOM killer enabled.")
        if self.v >= (6, 16):
            self.say("Restarting tasks: Starting")
            self.step(0.5, 5)
            end = self.say("Restarting tasks: Done")
            cyc["end"] = (end, end)
        else:
            a = self.say("Restarting tasks ... done.")
            self.step(0.5, 5)
            cyc["end"] = (a, self.t)
        if self.v >= (5, 18):
            self.say("random: crng reseeded on system resumption")
        if self.v >= (4, 17):
            b = self.say("PM: suspend exit")
        else:
            b = self.say("quartz quartz0: no hotplug settings from platform")
        if cyc["end"][0] != cyc["end"][1]:
            cyc["end"] = (cyc["end"][0], b)

    def cycle(self, result):
        mode = "s2idle" if result == "s2idle" and self.v >= (4, 9) else "mem"
        told = self.debug or not (4, 14) <= self.v < (4, 17)
        cyc = {"mode": mode if told else None,
               "result": {"refused": "failed", "freeze": "failed", "noirq": "failed",
                          "cpu": "failed", "woken": "aborted", "pending": "aborted",
                          "s2idle": "ok"}.get(result, result),
               "phases": {}, "devices": [], "reason": {}}
        self.cycles.append(cyc)
        self.other("rtcwake: wakeup from \"mem\" using rtc0")
        self.begin(cyc, mode)
        if not self.freeze({"freeze": "task", "woken": "wake"}.get(result)):
            cyc["reason"] = {"step": "freeze"}
            if result == "freeze":
                cyc["reason"]["task"] = "quartz reader"
            elif self.v >= (3, 10):
                cyc["reason"]["wakeup"] = "quartz timer"
            self.thaw(cyc)
            return self
        self.console(mode)
        fail = {"refused": "2-1.4", "pending": "wake"}.get(result)
        if not self.devices(cyc, "suspend", "suspend", fail):
            if result == "pending":
                self.pending(cyc)
            else:
                cyc["reason"] = {"step": "suspend", "device": "2-1.4", "errno": -16}
            self.say("PM: Some devices failed to suspend%s" %
                     (", or early wake event detected" if self.v >= (3, 4) else ""), 3)
            self.resume(cyc, False)
            return self
        if self.late():
            self.devices(cyc, "suspend", "suspend_late")
        fail = "0000:00:02.0" if result == "noirq" else None
        if not self.devices(cyc, "suspend", "suspend_noirq", fail):
            cyc["reason"] = {"step": "suspend_noirq", "device": fail, "errno": -16}
            # Rolled back before it is said.
            self.devices(cyc, "resume", "resume_noirq")
            self.say("PM: noirq suspend of devices failed", 3)
            self.resume(cyc, False, True)
            return self
        if result == "cpu":
            self.cpu_failed(cyc)
            self.resume(cyc)
            return self
        if result == "pm_test":
            self.say("%ssuspend debug: Waiting for 5 second%s." %
                     ("PM: " if self.v >= (4, 14) else "", "(s)" if self.v >= (3, 18) else "s"))
            self.t += 5_000 * MS
            self.resume(cyc)
            return self
        self.sleep(cyc, mode, result)
        return self

    def sleep(self, cyc, mode, result):
        acpi = "ACPI: PM: " if self.v >= (5, 10) else "ACPI: "
        if mode == "s2idle":
            a = self.info("PM: suspend-to-idle") or self.t
        else:
            if self.arch == "x86":
                self.say("%sPreparing to enter system sleep state S3" % acpi)
            self.cpus_off()
            a = self.t
        ns = self.rand.randrange(2000, 20000) * MS
        self.slept += ns
        if result == "reset":
            self.boot()
            return
        # Quiet kernels do not say when they sleep idle.
        if mode != "s2idle" or self.debug or self.v < (4, 14):
            cyc["asleep"] = a
        b = None
        if self.v >= (3, 10) and (self.v < (4, 13) or self.debug):
            text = "Suspended for" if self.v < (4, 13) else (
                "PM: Timekeeping suspended for" if self.v < (5, 4) else "Timekeeping suspended for")
            b = self.say("%s %d.%03d seconds" % (text, ns // (1000 * MS), ns // MS % 1000))
            cyc["slept_ms"] = ns // MS
        if mode == "s2idle":
            for text in ("PM: Triggering wakeup from IRQ 9", "PM: resume from suspend-to-idle"):
                b = self.info(text) if b is None else (self.info(text), b)[1]
            b = b or self.t
            cyc["awake_last"] = self.t
        else:
            if self.arch == "x86":
                c = self.say("%sLow-level resume complete" % acpi)
                b = b or c
            c = self.cpus_on()
            b = b or c
            if self.arch == "x86":
                self.say("%sWaking up from system sleep state S3" % acpi)
        cyc["awake"] = b
        self.resume(cyc)

    def boot(self):
        self.other("U-Boot 2023.01 (Jan 09 2023 - 16:07:33 +0000)")
        self.other("Starting kernel ...")
        self.t = 0
        self.lines.append(Line(0, self.slept, "Linux version %s (quartz@bench) #1 SMP" %
                               ".".join(str(x) for x in self.v), 5, 0))
        for text in ("Command line: console=ttyS0", "Memory: 1015804K/1048576K available"):
            self.step(1, 20)
            self.say(text)
