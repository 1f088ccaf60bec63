#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""resumetime record and report: wrong use, a machine on a pseudo-terminal, its cycles."""
import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
import tty

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import Case, Terminal, run, tool, wait_for  # noqa: E402

HELP = "'resumetime %s --help' tells how it is used.\n"
WIDTH = 100
QUICK = ["--silence", "300ms", "--settle", "400ms", "--asleep", "400ms", "--suspend-timeout",
         "1500ms", "--resume-timeout", "1500ms", "--mode", "drain"]


def now():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Line:
    """A serial line: what is written here is what the bench receives."""

    def __init__(self):
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.name = os.ttyname(self.slave)

    def write(self, data):
        """Send; gives the moments before and after."""
        before = now()
        os.write(self.master, data)
        return before, now()

    def close(self):
        os.close(self.master)
        os.close(self.slave)


class Dut(threading.Thread):
    """A machine that writes a character every 5 ms as long as the file `flag` is absent."""

    def __init__(self, flag):
        super().__init__(daemon=True)
        self.flag, self.line, self.over = flag, Line(), threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(0.005):
            if not os.path.exists(self.flag):
                self.line.write(b"a")

    def stop(self):
        self.over.set()
        self.join()
        self.line.close()


class Usage(Case):
    def wrong(self, command, args, says):
        code, out, err = run("resumetime", command, *args)
        self.assertEqual((code, out, err),
                         (2, "", "resumetime %s: %s\n%s" % (command, says, HELP % command)))

    def test_record(self):
        for args, says in (
                ([], "name the port with -p PORT"),
                (["-p", "/dev/x", "--cycles", "3"], "--cycles needs --suspend ACTION"),
                (["-p", "/dev/x", "--suspend", "true"],
                 "--suspend, --wake, --reset and --off need --cycles N"),
                (["-p", "/dev/x", "--off", "true"],
                 "--suspend, --wake, --reset and --off need --cycles N"),
                (["-p", "/dev/x", "--cycles", "0", "--suspend", "true"],
                 "--cycles: a whole number from 1 to 1000000, not '0'"),
                (["-p", "/dev/x", "--cycles", "2", "--suspend", "rtc:5"],
                 "--suspend: an alarm of the machine's own can only wake it"),
                (["-p", "/dev/x", "--cycles", "2", "--suspend", ""],
                 "--suspend: an empty command"),
                (["-p", "/dev/x", "--for", "soon"],
                 "--for: 'soon' is not a duration such as 500ms, 2s, 1m30s or 8h"),
                (["-p", "/dev/x", "--settle", "0s"], "--settle: a duration longer than nothing"),
                (["-p", "/dev/x", "--mode", "fast"],
                 "--mode: 'stream', 'reopen' or 'drain', not 'fast'"),
                (["-p", "/dev/x", "more"],
                 "'more' is one word too many (the port is named with -p)"),
                (["-p"], "option '-p' needs a value"),
                (["--colour"], "unknown option '--colour'")):
            with self.subTest(args=args):
                self.wrong("record", args, says)

    def test_report(self):
        for args, says in (
                ([], "name a trace, or - for standard input"),
                (["a", "b"], "one trace at a time, not also 'b'"),
                (["--mode", "fast", "a"], "--mode fast: stream, reopen or drain"),
                (["--period", "x", "a"], "--period x: a duration such as 2ms or 0.5s"),
                (["-x"], "unknown option '-x'")):
            with self.subTest(args=args):
                self.wrong("report", args, says)

    def test_a_pattern_that_is_none(self):
        code, out, err = run("resumetime", "report", "--handoff", "Booting (", "a.wwt")
        self.assertEqual((code, out), (2, ""))
        self.assertRegex(err, r"\Aresumetime report: --handoff Booting \(: no POSIX extended "
                              r"regular expression: \S.*\n" + re.escape(HELP % "report") + r"\Z")

    def test_no_such_port(self):
        code, out, err = run("resumetime", "record", "-p", "/dev/nosuchtty", "-o",
                             self.path("t.wwt"))
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, "resumetime record: /dev/nosuchtty: no such serial port; `pwrlog "
                              "list` shows what is plugged in\n")
        self.assertEqual(os.listdir(self.dir), [])

    def test_help(self):
        code, out, err = run("resumetime", "record", "--help")
        self.assertEqual((code, err), (0, ""))
        for word in ("-p PORT", "--console PORT", "--cycles N", "--suspend ACTION", "--wake ACTION",
                     "--reset ACTION", "--off ACTION",
                     "--asleep DUR", "--suspend-timeout DUR", "--resume-timeout DUR",
                     "--settle DUR", "--silence DUR", "--mode MODE", "-o FILE", "--for DUR"):
            self.assertIn("  " + word, out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)


class Nothing(Case):
    """Traces in which there is nothing to find."""

    def report(self, *args, **kw):
        return run("resumetime", "report", *args, **kw)

    def test_only_a_meter(self):
        t = self.path("m.wwt")
        self.assertEqual(run("pwrlog", "record", "-m", "sim:?watts=5", "--for", "300ms", "-o",
                             t)[0], 0)
        for json_too in ([], ["--json"]):
            self.assertEqual(self.report(t, *json_too), (1, "", (
                "resumetime report: %s: no serial line was recorded, so there is no heartbeat to "
                "find cycles in (record one with: resumetime record -p PORT)\n") % t))
        self.assertEqual(self.report(t, "--port", "uart"), (1, "", (
            "resumetime report: %s: no serial source is called 'uart'; its serial sources: "
            "none\n") % t))

    def test_no_trace(self):
        t = self.path("e.wwt")
        self.assertEqual(self.report(t), (1, "", "resumetime report: %s: No such file or "
                                                 "directory\n" % t))
        with open(t, "wb"):
            pass
        self.assertEqual(self.report(t), (1, "", "resumetime report: %s: not a trace but an "
                                                 "empty file\n" % t))
        self.assertEqual(self.report("-", stdin=b""), (1, "", "resumetime report: -: nothing "
                                                              "came: no trace\n"))

    def silent(self):
        line, t = Line(), self.path("s.wwt")
        self.addCleanup(line.close)
        # A mark keeps the trace.
        done = run("resumetime", "record", "-p", line.name, "--for", "300ms", "-o", t,
                   stdin=b"nothing here\n")
        return t, done

    def test_silence_is_kept(self):
        line, t = Line(), self.path("n.wwt")
        self.addCleanup(line.close)
        code, out, err = run("resumetime", "record", "-p", line.name, "--for", "300ms", "-o", t)
        # A port that stayed silent is a fact, and its modem inputs may have said something.
        self.assertEqual(code, 1)
        self.assertIn("note: port: not one byte was recorded", out)
        self.assertIn(f"{t}: 0 samples, 0 bytes of serial data, 0 gaps; ", err)
        self.assertTrue(os.path.exists(t))

    def test_a_meter_is_no_port(self):
        for uri, name in (("pzem004t:/dev/x", "pzem004t"), ("wattsup:", "wattsup"),
                          ("gpio:gpiochip0/1", "gpio")):
            for option in ("-p", "--console"):
                port = [] if option == "-p" else ["-p", "sim:?watts=1"]
                code, out, err = run("resumetime", "record", *port, option, uri)
                self.assertEqual((code, out), (2, ""))
                self.assertIn(f"{uri}: {name} is no serial port: name one, such as "
                              "/dev/ttyUSB0; this one is recorded beside it with -m\n", err)

    def test_alarm_without_its_time(self):
        for wake in ([], ["--wake", "true"]):
            code, out, err = run("resumetime", "record", "-p", "/dev/x", "--cycles", "1",
                                 "--suspend", "rtcwake -s {rtc}", *wake)
            self.assertEqual((code, out), (2, ""))
            self.assertIn("--suspend has {rtc}, the seconds of the machine's own alarm: it needs "
                          "them, as in --wake rtc:20s\n", err)

    def test_a_line_without_a_byte(self):
        t, (code, out, err) = self.silent()
        self.assertEqual(code, 1, err)
        self.assertIn("port: no byte came in 0.3 s\nresumetime record: nothing was recorded\n", err)
        head = re.escape(t) + r", start \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d( \(.+\))?\n"
        self.assertRegex(out, r"\A" + head + r"\nnote: port: not one byte was recorded\n\Z")
        self.assertEqual(self.report(t), (0, out, ""))
        d = json.loads(self.report(t, "--json")[1])
        self.assertEqual((d["cycles"], d["notes"]), ([], ["port: not one byte was recorded"]))
        self.assertEqual(d["summary"]["resume_to_user_ms"]["n"], 0)
        self.assertIsNone(d["summary"]["resume_to_user_ms"]["median"])

    def test_unknown_names(self):
        t, _ = self.silent()
        for option in ("--port", "--console"):
            self.assertEqual(self.report(t, option, "nix"), (1, "", (
                "resumetime report: %s: no serial source is called 'nix'; its serial sources: "
                "port\n") % t))


def within(case, interval, lo, hi, what):
    """Does an interval of a report touch the true one?"""
    a = -1e18 if interval[0] is None else interval[0]
    b = 1e18 if interval[1] is None else interval[1]
    case.assertTrue(a <= hi and lo <= b, "%s: %s, in truth %s to %s" % (what, interval, lo, hi))


class Ipaq(Case):
    """2006: 280 to 400 ms of silence, the boot loader, 10 ms, a few characters, 180 ms."""

    def beats(self, line, seconds):
        start, n = time.monotonic(), 0
        while n * 0.005 < seconds:
            last = line.write(b"a")
            n += 1
            time.sleep(max(0.0, start + n * 0.005 - time.monotonic()))
        return last

    def record(self, message):
        line, t, truth = Line(), self.path("ipaq.wwt"), []
        self.addCleanup(line.close)
        with subprocess.Popen([tool("resumetime"), "record", "-p", line.name, "-o", t, "--mode",
                               "reopen"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as p:
            wait_for(lambda: os.path.exists(t))
            last = self.beats(line, 2)
            for gap in (0.28, 0.34, 0.40):
                time.sleep(gap)
                said = line.write(b"\r\nBootLdr: resuming kernel\r\n") if message else last
                time.sleep(0.010)
                first = line.write(b"aa")
                time.sleep(0.180)
                again = line.write(b"a")
                truth.append((last, said, first, again))
                last = self.beats(line, 2)
            p.send_signal(signal.SIGINT)
            out, err = p.communicate(timeout=20)
        self.assertEqual(p.returncode, 0, err)
        return t, truth, out.decode()

    def test_with_the_message(self):
        t, truth, text = self.record(True)
        self.assertEqual(run("resumetime", "report", t), (0, text, ""))
        d = json.loads(run("resumetime", "report", "--json", t)[1])
        self.assertEqual([c["result"] for c in d["cycles"]], ["ok"] * 3)
        for c, (last, said, first, again) in zip(d["cycles"], truth):
            ms = c["latency_ms"]
            self.assertNotIn("wake", c["events_s"])
            self.assertEqual(set(ms), {"asleep_and_firmware", "firmware", "kernel", "silence"})
            for name, a, b in (("asleep_and_firmware", last, said), ("kernel", said, first),
                               ("silence", last, first)):
                within(self, ms[name], (b[0] - a[1]) / 1e6, (b[1] - a[0]) / 1e6, name)
            self.assertEqual(ms["firmware"][0], 0)
            self.assertLess(ms["asleep_and_firmware"][1] - ms["asleep_and_firmware"][0], 60)
            stalls = [s["ms"] for s in c["starvation"]]
            true = ((again[0] - first[1]) / 1e6, (again[1] - first[0]) / 1e6)
            self.assertTrue(any(s[0] <= true[1] and true[0] <= s[1] for s in stalls),
                            "%s, in truth %s" % (stalls, true))
        self.assertRegex(text, r"\n    1  ok +\d+\.\d+ ± \d+\.\d+ +≤ \d+ ")
        self.assertRegex(text, r"firmware \(wake to hand-over\): n=0, bounds only in 3 "
                               r"cycles\n  ≤ \d+ ms, no median\n")
        firmware = d["summary"]["firmware_ms"]
        self.assertEqual((firmware["n"], firmware["bound_only"], firmware["median"],
                          firmware["ci95"]), (0, 3, None, [None, None]))
        self.assertIn("bounds only", firmware["why"])
        self.assertEqual([c["bound_only"] for c in d["cycles"]], [["firmware"]] * 3)
        self.assertIn('note: without a wake "firmware" is bounded only', text)
        self.assertLessEqual(max(map(len, text.splitlines()[1:])), WIDTH)

    def test_without_the_message_the_phases_merge(self):
        t, truth, text = self.record(False)
        d = json.loads(run("resumetime", "report", "--json", t)[1])
        self.assertEqual([set(c["latency_ms"]) for c in d["cycles"]], [{"silence"}] * 3)
        for c, (last, _, first, _) in zip(d["cycles"], truth):
            within(self, c["latency_ms"]["silence"], (first[0] - last[1]) / 1e6,
                   (first[1] - last[0]) / 1e6, "silence")
        self.assertIn("firmware and kernel are one phase", text)


class Campaign(Case):
    def setUp(self):
        super().setUp()
        self.flag = self.path("asleep")
        self.dut = Dut(self.flag)
        self.addCleanup(self.dut.stop)
        self.trace = self.path("t.wwt")

    def command(self, suspend, wake, cycles):
        return ["resumetime", "record", "-p", self.dut.line.name, "-o", self.trace, "--cycles",
                str(cycles), "--suspend", suspend, *QUICK, *(["--wake", wake] if wake else [])]

    def campaign(self, suspend, wake, cycles):
        code, out, err = run(*self.command(suspend, wake, cycles))
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"\A(resumetime record: warning: .*\n)*resumetime record: "
                              + re.escape(self.trace) + r": 0 samples, \d+ bytes of serial data, "
                              r"\d+ gaps; [\d.]+ kB\nresumetime record: lateness of the stamping "
                              r"timer: 99 % under [\d.]+ ms, at most [\d.]+ ms\n\Z")
        self.assertEqual(run("resumetime", "report", self.trace), (0, out, ""))
        self.assertLessEqual(max(map(len, out.splitlines()[1:])), WIDTH)
        return out, json.loads(run("resumetime", "report", "--json", self.trace)[1])

    def test_good_cycles(self):
        out, d = self.campaign("touch " + self.flag, "rm " + self.flag, 2)
        self.assertEqual([(c["n"], c["result"], c["reason"]) for c in d["cycles"]],
                         [(1, "ok", None), (2, "ok", None)])
        for c in d["cycles"]:
            self.assertLessEqual({"request", "last_beat", "wake", "uart", "first_beat"},
                                 set(c["events_s"]))
            self.assertLessEqual({"suspend_entry", "asleep", "resume_to_uart",
                                  "resume_to_user"}, set(c["latency_ms"]))
            self.assertGreater(c["latency_ms"]["asleep"][1], 400)
            self.assertNotIn("off", c["events_s"])
            self.assertIsNone(c["energy_J"])
            self.assertTrue(c["energy_why"])
            self.assertNotIn("steady", c["events_s"])
        # It settles for 400 ms, and a cadence takes a second.
        self.assertEqual(len([n for n in d["notes"] if n.startswith("cycles 1, 2: the beat was "
                              "not back to its cadence")]), 1, d["notes"])
        self.assertIn("\n2 cycles: 2 ok; not ok 0.0 % (95 %: 0.0–84.2 %)\n", out)
        self.assertRegex(out, r"\nresume to user space: n=2, failures 0\n  median (≤ )?[\d.]+ ms")

    def test_the_document(self):
        _, d = self.campaign("touch " + self.flag, "rm " + self.flag, 1)
        text = run("resumetime", "report", "--json", self.trace)[1]
        keys = json.loads(text, object_pairs_hook=lambda pairs: [k for k, _ in pairs])
        self.assertEqual((keys[0], keys[-1]), ("schema", "notes"))
        self.assertEqual(d["schema"], "wakewatt/resume/1")
        self.assertRegex(d["start"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$")
        self.assertLessEqual({"n", "result", "reason", "events_s", "latency_ms", "starvation",
                              "energy_J"}, set(d["cycles"][0]))
        s = d["summary"]["resume_to_user_ms"]
        self.assertLessEqual({"n", "failures", "median", "ci95", "envelope", "resolution", "p90",
                              "p95", "ci_actual"}, set(s))
        self.assertEqual((s["n"], s["failures"], s["ci95"]), (1, 0, [None, None]))
        self.assertIsNone(s["ci_actual"])
        for interval in (*d["cycles"][0]["events_s"].values(),
                         *d["cycles"][0]["latency_ms"].values()):
            self.assertEqual(len(interval), 2)
            self.assertLessEqual(interval[0], interval[1])

    def test_refused_with_the_command_s_words(self):
        out, d = self.campaign("echo write error: Device or resource busy >&2; exit 1", "true", 1)
        c, = d["cycles"]
        self.assertEqual((c["result"], c["reason"]),
                         ("refused", "exit 1: write error: Device or resource busy"))
        self.assertEqual(set(c["events_s"]), {"request"})
        self.assertEqual(d["summary"]["suspend_entry_ms"]["failures"], 1)
        self.assertIn("\ncycle 1: exit 1: write error: Device or resource busy\n", out)
        self.assertIn("\n1 cycle: 1 refused; not ok 100.0 % (95 %: 2.5–100.0 %)\n", out)

    def test_hung_is_counted_and_ends_the_campaign(self):
        out, d = self.campaign("touch " + self.flag, "true", 3)
        c, = d["cycles"]
        self.assertEqual(c["result"], "hung")
        self.assertRegex(c["reason"], r"^no beat for \d+ ms, to the end of the trace$")
        self.assertNotIn("first_beat", c["events_s"])
        s = d["summary"]["resume_to_user_ms"]
        self.assertEqual((s["n"], s["failures"], s["median"]), (0, 1, None))
        self.assertIn("resume to user space: n=0, failures 1\n  median never\n", out)

    def test_back_before_the_wake_command(self):
        suspend = "touch {0}; sleep 0.5; rm {0}".format(self.flag)
        _, d = self.campaign(suspend, "true", 1)
        c, = d["cycles"]
        self.assertEqual((c["result"], c["reason"]),
                         ("early", "back before the wake command was given"))
        self.assertNotIn("resume_to_user", c["latency_ms"])

    def test_it_wakes_by_itself(self):
        suspend = "touch {0}; sleep 0.6; rm {0}".format(self.flag)
        out, d = self.campaign(suspend, None, 1)
        self.assertEqual([c["result"] for c in d["cycles"]], ["ok"])
        self.assertNotIn("wake", d["cycles"][0]["events_s"])
        self.assertNotIn("resume_to_user", d["cycles"][0]["latency_ms"])
        self.assertIn("note: the wake was not observed", out)

    def test_ctrl_c_while_it_sleeps(self):
        command = self.command("touch " + self.flag, "true", 5)
        command[command.index("--resume-timeout") + 1] = "60s"
        t = Terminal(*command)
        self.addCleanup(t.kill)
        t.wait("waking")
        t.type("\x03")
        self.assertEqual(t.end(), 0, t.text)
        self.assertIn("1 cycle: 1 unknown", t.text)
        self.assertIn("stopped by the user", t.text)
        code, out, err = run("resumetime", "report", self.trace)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("cycle 1: stopped by the user\n", out)
        self.assertIn("note: 1 cycle unknown: not in the statistics\n", out)
        # Closed: one plain file beside the flag.
        self.assertEqual(sorted(os.listdir(self.dir)), ["asleep", "t.wwt"])

    def test_no_heartbeat(self):
        with open(self.flag, "wb"):
            pass
        code, out, err = run(*self.command("true", "true", 1))
        self.assertEqual(code, 1)
        self.assertIn("warning: before the first cycle: no heartbeat in ", err)
        self.assertRegex(err, r"no byte from the DUT in [\d.]+ s, also not after the wake action: does "
                              r"its heartbeat run, and is this the right port and baud rate\?\n")
        self.assertTrue(out.endswith("note: port: not one byte was recorded\n"), out)


if __name__ == "__main__":
    main()
