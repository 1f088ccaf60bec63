#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""resumetime act: one action by hand, what it says, and what it refuses."""
import os
import re
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import Case, js, run, tool, wait_for  # noqa: E402

HELP = "'resumetime act --help' tells how it is used.\n"


class Act(Case):
    def test_wrong_use(self):
        for args, says in (
                ([], "name an action"),
                (["a", "b"], "one action at a time; a command is one word, in quotes"),
                (["--for", "soon", "a"],
                 "--for: 'soon' is not a duration such as 500ms, 2s, 1m30s or 8h"),
                (["rtc:20s"], "rtc:20s: the alarm is the DUT's own, which the suspend command "
                              "sets: try that command"),
                (["-x"], "unknown option '-x'")):
            with self.subTest(args=args):
                self.assertEqual(run("resumetime", "act", *args),
                                 (2, "", f"resumetime act: {says}\n{HELP}"))

    def test_refused_before_anything_is_done(self):
        for action, status, says in (
                ("gpio:gpiochip0/17=low,4s", 2, "add ',hold' if that is meant"),
                ("gpio:", 2, "expected gpio:CHIP/LINE=LEVEL,TIME"),
                ("gpoi:gpiochip0/17=low,20ms", 2,
                 "there is no action 'gpoi:' (known: gpio:, tty:, ftdi:, rtc:, wol:)"),
                ("gpio:nosuchchip/17=low,20ms", 1, "no such GPIO chip"),
                ("tty:/dev/nosuchtty?dtr=pulse,20ms", 1, "no such serial port"),
                ("ftdi:?serial=NOSUCH&dtr=pulse,20ms", 1, "no FTDI chip with serial NOSUCH"),
                ("wol:00:11", 2, "address of the DUT's network card")):
            with self.subTest(action=action):
                code, out, err = run("resumetime", "act", action)
                self.assertEqual((code, out), (status, ""))
                self.assertTrue(says in err or "built without" in err, err)
                self.assertNotIn("\n", err.rstrip("\n"))

    def test_command(self):
        before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        d = js("resumetime", "act", "--json", "sleep 0.05")
        self.assertEqual((d["schema"], d["action"], d["how"], d["error"], d["pulse_ms"]),
                         ("wakewatt/act/1", "sleep 0.05", "exit 0", None, None))
        lo, hi = d["effect_ns"]
        self.assertLessEqual(before, lo)
        self.assertLessEqual(hi, time.clock_gettime_ns(time.CLOCK_BOOTTIME))
        self.assertGreaterEqual(hi - lo, 50e6)
        self.assertRegex(d["start"], r"^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$")
        # What it says is shown, beside the report.
        code, out, err = run("resumetime", "act", "--json", "echo one; echo two >&2; echo three")
        self.assertEqual((code, err), (0, "one\ntwo\nthree\n"))
        self.assertTrue(out.startswith("{"), out)
        # Its failure is ours, and its last words are told.
        code, out, _ = run("resumetime", "act", "echo no way; exit 4")
        self.assertEqual(code, 1)
        self.assertTrue(out.startswith("echo no way; exit 4: exit 4: no way\n"), out)

    def test_packet(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(("127.0.0.1", 0))
            s.settimeout(10)
            code, out, err = run("resumetime", "act",
                                 f"wol:00:11:22:33:44:55?host=127.0.0.1&port={s.getsockname()[1]}")
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(s.recv(200), b"\xff" * 6 + bytes.fromhex("001122334455") * 16)
            self.assertRegex(out, r"sent\ntook effect at \S+, or up to 10\.\d ms later\n\Z")

    def test_interrupted(self):
        flag = self.path("ran")
        p = subprocess.Popen([tool("resumetime"), "act", f"touch {flag}; sleep 60"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for(lambda: os.path.exists(flag))
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=20)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"interrupted", err)
        # What the command left behind is ended too.
        self.assertFalse(re.search(rb"exit 0", out))

    def test_killed(self):
        """What ran, and what that started, ends with us."""
        pids = self.path("pids")
        p = subprocess.Popen([tool("resumetime"), "act",
                              f"trap '' TERM; sleep 60 & echo $! $$ > {pids}.new; "
                              f"mv {pids}.new {pids}; wait"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: os.path.exists(pids))
        with open(pids) as f:
            started = f.read().split()
        p.kill()
        p.wait()

        def over(pid):
            try:
                with open(f"/proc/{pid}/stat") as f:
                    return f.read().rsplit(")", 1)[1].split()[0] in "ZX"
            except FileNotFoundError:
                return True
        wait_for(lambda: all(map(over, started)))


if __name__ == "__main__":
    main()
