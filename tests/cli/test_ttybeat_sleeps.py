#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ttybeat: what the machine knows of each of its sleeps, from a /proc and a /sys of the test."""
import os
import signal
import statistics
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import test_ttybeat  # noqa: E402
from tap import main  # noqa: E402
from test_ttybeat import Line, decode, joined  # noqa: E402


class Sleeps(unittest.TestCase):
    setUp = test_ttybeat.Info.setUp
    put = test_ttybeat.Info.put

    def stalled(self, **after):
        """Stop it for a while, as a suspend does, and change files meanwhile."""
        self.put("/sys/power/suspend_stats/success", "1\n")
        self.put("/sys/power/suspend_stats/fail", "0\n")
        with Line("--root", self.root, "--every", "2ms") as line:
            line.read(lambda d: b"#kernel" in d and b"#host" in d)
            line.read(lambda d, n=line.data.count(b"\n!"): d.count(b"\n!") > n + 150)
            os.kill(line.p.pid, signal.SIGSTOP)
            for path, text in after.items():
                self.put(path.replace("__", "/"), text)
            time.sleep(0.1)
            os.kill(line.p.pid, signal.SIGCONT)
            stopped = len(line.data)
            line.read(lambda d: b"#suspend_stats" in d[stopped:] and d.endswith(b"\n"))
            line.read(lambda d: d.endswith(b"\n") and b"#" not in b"".join(
                d.splitlines(True)[-60:]))
            line.p.terminate()
            line.ended()
            return line.data[stopped:line.data.rindex(b"\n") + 1]

    def test_resume_is_told_once_steady(self):
        data = self.stalled(sys__power__suspend_stats__success="2\n")
        beats, info, _ = decode(data)
        self.assertEqual(info[0], ("info", "resume"))
        self.assertIn(("suspend_stats", "success:2 fail:0"), info)
        # What is as it was is not told again.
        self.assertEqual({k for k, _ in info} & {"kernel", "host", "mode", "tty", "baud"}, set())
        quiet, _, _ = decode(data[:data.index(b"#info")])
        steps = [b[1] - a[1] for a, b in zip(quiet, quiet[1:])]
        thaw = quiet[steps.index(max(steps)) + 1][1] if max(steps) > 50000 else quiet[0][1]
        self.assertGreaterEqual(quiet[-1][1] - thaw, 290000)

    def test_what_the_machine_knows_of_its_sleep(self):
        cpu0 = "/sys/devices/system/cpu/cpu0/cpuidle/"
        self.put("/sys/power/mem_sleep", "s2idle [deep]\n")
        self.put("/sys/power/state", "freeze mem disk\n")
        self.put("/sys/class/wakeup/wakeup3/name", "LNX PWRBN\n")
        self.put("/sys/class/wakeup/wakeup3/event_count", "2\n")
        self.put("/sys/class/wakeup/wakeup4/name", "quiet\n")
        self.put("/sys/class/wakeup/wakeup4/event_count", "7\n")
        self.put("/proc/interrupts", "           CPU0       CPU1\n"
                 "   8:          1          0   IO-APIC    8-edge      rtc0\n"
                 " 109:          0          5   IO-APIC    9-fasteoi   acpi, other\n")
        for k, v in (("state1/name", "C1"), ("state2/name", "C10"), ("state1/s2idle/usage", "3"),
                     ("state1/s2idle/time", "10"), ("state2/s2idle/usage", "4"),
                     ("state2/s2idle/time", "5000000000")):
            self.put(cpu0 + k, v + "\n")
        stats = "/sys/power/suspend_stats/"
        info = dict(joined(decode(self.stalled(**{
            stats + "success": "2\n", stats + "last_hw_sleep": "4500000\n",
            stats + "total_hw_sleep": "9000000\n", "/sys/power/pm_wakeup_irq": "109\n",
            "/sys/class/wakeup/wakeup3/event_count": "3\n",
            "/sys/class/wakeup/wakeup3/wakeup_count": "1\n",
            "/sys/class/wakeup/wakeup3/last_change_ms": "81234\n",
            "/sys/power/wake_lock": "PowerManagerService\n",
            cpu0 + "state2/s2idle/usage": "6\n", cpu0 + "state2/s2idle/time": "5004500000\n",
        }))[1]))
        self.assertEqual({k: info[k] for k in info if k not in ("clocksource", "cpuidle")}, {
            "info": "resume", "suspend_stats": "success:2 fail:0", "wakeup_irq": "109 acpi, other",
            "wakeup_sources": "LNX_PWRBN:3:1@81234", "s2idle_states": "C10:2/4500000",
            "sleep_mode": "s2idle", "hw_sleep_us": "4500000", "hw_sleep_total_us": "9000000",
            "wake_lock": "PowerManagerService"})

    def test_an_old_kernel_tells_it_in_debugfs(self):
        self.put("/sys/power/state", "mem\n")
        self.put("/sys/kernel/debug/suspend_stats", "success: 4\nfail: 1\nfailed_freeze: 0\n"
                 "failed_prepare: 0\nfailed_suspend: 1\nfailures:\n  last_failed_dev:\tusb1\n"
                 "\t\t\t\n  last_failed_errno:\t-16\n\t\t\t0\n  last_failed_step:\tsuspend\n")
        head = "name\t\tactive_count\tevent_count\twakeup_count\texpire_count\n"
        row = "%-12s\t%u\t\t%u\t\t%u\t\t0\t\t0\t\t7\t\t5\t\t%u\t\t0\n"
        self.put("/sys/kernel/debug/wakeup_sources",
                 head + row % ("alarmtimer", 3, 3, 2, 123456) + row % ("mmc1", 0, 0, 0, 900))
        with Line("--root", self.root, "--every", "2ms") as line:
            line.read(lambda d: b"#host" in d and d.endswith(b"\n"))
            line.p.terminate()
            line.ended()
            got = dict(joined(decode(line.data[:line.data.rindex(b"\n") + 1])[1]))
        self.assertEqual(got["suspend_stats"], "success:4 fail:1 failed_suspend:1 "
                         "last_failed_dev:usb1 last_failed_errno:-16 last_failed_step:suspend")
        self.assertEqual(got["wakeup_sources"], "alarmtimer:3:2@123456")

    def test_refused_suspend_is_told(self):
        _, info, _ = decode(self.stalled(sys__power__suspend_stats__fail="1\n"))
        self.assertEqual(info[0], ("info", "refused"))
        self.assertIn(("suspend_stats", "success:1 fail:1"), info)

    def test_load_is_not_told(self):
        with Line("--root", self.root, "--every", "2ms") as line:
            line.read(lambda d: b"#host" in d or b"#kernel" in d)
            line.read(lambda d, n=line.data.count(b"\n!"): d.count(b"\n!") > n + 50)
            os.kill(line.p.pid, signal.SIGSTOP)
            time.sleep(0.1)
            os.kill(line.p.pid, signal.SIGCONT)
            stopped = len(line.data)
            line.read(lambda d: d[stopped:].count(b"\n!") > 300)
            line.p.terminate()
            line.ended()
            self.assertNotIn(b"#info", line.data[stopped:])


if __name__ == "__main__":
    main()
