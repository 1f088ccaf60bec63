#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Recording from Python, and following what is recorded."""
import errno
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading

from pytrace import Folder, environment, main, program, wakewatt

METER = "sim:?watts=25&noise=0.2&rate=1000&resolution=0.1"


class Recordings(Folder):
    def test_figures_are_those_of_the_program(self):
        path = self.path("a.wwt")
        with wakewatt.record(METER, path, for_s=0.4, meta={"bench.note": "x"}) as rec:
            rec.mark("+lamp")
            self.assertTrue(rec.wait(20))
            self.assertFalse(rec.running)
        with wakewatt.open(path) as t:
            self.assertEqual(t.state, "closed")
            self.assertEqual(t.meta["bench.note"], "x")
            self.assertEqual([m.text for m in t.marks if m.kind == "label"], ["+lamp"])
            d = json.loads(program("pwrlog", "stat", "--json", path))
            self.assertEqual(t.stat().document, d)
            self.assertEqual(len(t["meter.power"]), rec.stats.samples)
            self.assertGreater(rec.stats.samples, 300)
            self.assertLess(abs(t.stat()["meter.power"].mean.value - 25), 0.1)

    def test_samples_as_they_arrive(self):
        """Each once, in order, none left out, from the first to the end."""
        got = []
        with wakewatt.record(METER, for_s=0.35, commit_s=0.05) as rec:
            for t, watts in rec["meter.power"].follow():
                got.append((t, watts))
            trace = rec.trace
            self.assertEqual(got, list(trace["meter.power"]))
            self.assertGreater(len(got), 200)

    def test_only_what_is_new(self):
        with wakewatt.record(METER, commit_s=0.05) as rec:
            first = next(rec["meter.power"].follow())
            later = next(rec["meter.power"].follow(new=True))
            self.assertGreater(later[0], first[0])

    def test_marks_and_bytes_as_they_come(self):
        a, b = socket.socketpair()
        place = self.path("port")
        server = socket.socket(socket.AF_UNIX)
        server.bind(place)
        server.listen(1)
        self.addCleanup(server.close)
        with wakewatt.record([{"uri": f"unix:{place}", "name": "port"}], self.path("b.wwt"),
                             commit_s=0.05) as rec:
            peer = server.accept()[0]
            peer.sendall(b"hello")
            marks = rec.trace.follow_marks(timeout=10)
            rec.mark("here")
            self.assertEqual(next(m.text for m in marks if m.kind == "label"), "here")
            seen = b""
            for piece in rec.trace.follow_bytes("port", timeout=10):
                seen += piece.data
                self.assertTrue((piece.lo_ns <= piece.hi_ns).all()
                                if hasattr(piece.lo_ns, "all") else True)
                if len(seen) == 5:
                    break
            self.assertEqual(seen, b"hello")
            peer.close()
        a.close()
        b.close()

    def test_a_private_trace_goes_with_its_readers(self):
        with wakewatt.record(METER, for_s=0.1) as rec:
            rec.wait(10)
            path, trace = rec.path, rec.trace
        del rec
        self.assertGreater(len(trace["meter.power"]), 50)
        self.assertTrue(os.path.exists(path))
        trace.close()
        del trace
        self.assertFalse(os.path.exists(os.path.dirname(path)))

    def test_typed_readings(self):
        with wakewatt.record([{"uri": "manual:?resolution=0.1", "name": "strip"}],
                             self.path("m.wwt")) as rec:
            rec.type("strip", 13.0, "+box")
            with self.assertRaisesRegex(KeyError, "strip"):
                rec.type("nobody", 1.0)
        with wakewatt.open(self.path("m.wwt")) as t:
            self.assertEqual(t["strip.power"].tolist(), [13.0])

    def test_what_cannot_be_opened(self):
        with self.assertRaisesRegex(wakewatt.Error, "/dev/no-such-port"):
            wakewatt.record("/dev/no-such-port", self.path("n.wwt"))
        with self.assertRaises(wakewatt.Error) as e:
            open(self.path("there"), "w").close()
            wakewatt.record(METER, self.path("there"))
        self.assertEqual(e.exception.errno, 17)
        for wrong in ([], [5], {"url": "sim:"}):
            with self.assertRaises((TypeError, ValueError)):
                wakewatt.record(wrong)
        with self.assertRaisesRegex(ValueError, "every_s"):
            wakewatt.record(METER, every_s=-1)

    def test_calls_after_the_end(self):
        with wakewatt.record(METER, for_s=0.05) as rec:
            rec.wait(10)
            self.assertEqual(rec.live()[0].unit, "W")
            with self.assertRaises(wakewatt.Error):
                rec.mark("too late")

    def test_other_threads_go_on(self):
        """Nothing here holds the interpreter: a counter runs on while samples are waited for."""
        count, over = [0], threading.Event()

        def counter():
            while not over.wait(0.001):
                count[0] += 1

        thread = threading.Thread(target=counter)
        thread.start()
        with wakewatt.record(METER, for_s=0.3, commit_s=0.05) as rec:
            before = count[0]
            for _ in rec["meter.power"].follow():
                pass
        over.set()
        thread.join()
        self.assertGreater(count[0] - before, 20)

    def test_a_body_that_fails_keeps_what_was_measured(self):
        """A body that fails ends the recording; its own error comes through."""
        path = self.path("f.wwt")
        with self.assertRaises(ZeroDivisionError):
            with wakewatt.record(METER, path, commit_s=0.05) as rec:
                next(rec["meter.power"].follow())
                raise ZeroDivisionError
        with wakewatt.open(path) as t:
            self.assertEqual(t.state, "closed")
            self.assertGreater(len(t["meter.power"]), 0)


    def test_readers_of_its_own_do_not_hold_up_the_end(self):
        """One plain file remains though the trace and a loop over it are still there."""
        for name, for_s in (("stopped.wwt", None), ("waited.wwt", 0.3)):
            with wakewatt.record(METER, self.path(name), for_s=for_s, commit_s=0.05) as rec:
                trace, arriving = rec.trace, rec["meter.power"].follow()
                first = next(arriving)
                if for_s:
                    self.assertTrue(rec.wait(20))
            self.assertEqual([f for f in os.listdir(self.dir.name) if f.startswith(name)],
                             [name])
            self.assertEqual([first, *arriving], list(trace["meter.power"]))


class Interrupted(Folder):
    CODE = """
import sys, wakewatt
rec = wakewatt.record(%r, sys.argv[1], commit_s=0.05)
try:
    for i, _ in enumerate(rec["meter.power"].follow()):
        if i == 10:
            print("going", flush=True)
except KeyboardInterrupt:
    print("interrupted", rec.running, flush=True)
rec.mark("after")
rec.stop()
print(wakewatt.open(sys.argv[1]).state, flush=True)
""" % METER

    def run_until(self, code, word):
        p = subprocess.Popen([sys.executable, "-c", code, self.path(self.id())], text=True,
                             stdout=subprocess.PIPE, env=environment(),
                             preexec_fn=lambda: signal.signal(signal.SIGINT,
                                                              signal.default_int_handler))
        self.addCleanup(p.stdout.close)
        self.assertEqual(p.stdout.readline().strip(), word)
        return p

    def test_ctrl_c_ends_the_waiting_and_not_the_recording(self):
        p = self.run_until(self.CODE, "going")
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.communicate(timeout=30)[0].split("\n")[:2],
                         ["interrupted True", "closed"])

    def test_ctrl_c_in_a_body_ends_the_recording_well(self):
        p = self.run_until("""
import sys, wakewatt
try:
    with wakewatt.record(%r, sys.argv[1], commit_s=0.05) as rec:
        next(rec["meter.power"].follow())
        print("going", flush=True)
        rec.wait()
except KeyboardInterrupt:
    print(rec.running, wakewatt.open(sys.argv[1]).state, flush=True)
""" % METER, "going")
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.communicate(timeout=30)[0].split(), ["False", "closed"])

    def test_a_program_that_just_ends(self):
        """The trace is closed well though nobody stopped the recording."""
        self.run_until("import sys, wakewatt\n"
                       "rec = wakewatt.record(%r, sys.argv[1], commit_s=0.05)\n"
                       "next(rec['meter.power'].follow())\nprint('going', flush=True)\n" % METER,
                       "going").wait(30)
        with wakewatt.open(self.path(self.id())) as t:
            self.assertEqual(t.state, "closed")


    def test_a_full_disk(self):
        """Told at the next call and at the end, once; what was stored before stays."""
        p = self.run_until("""
import resource, sys, time, wakewatt
rec = wakewatt.record("sim:?watts=25&noise=9&rate=20000&resolution=0.0001", sys.argv[1],
                      commit_s=0.05)
next(rec["meter.power"].follow())
resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
print("going", flush=True)
try:
    while True:
        rec.live()
        time.sleep(0.02)
except wakewatt.Error as e:
    rec.stop()
    print(e.errno, rec.running, flush=True)
""", "going")
        code, running = p.communicate(timeout=30)[0].split()[:2]
        self.assertIn(int(code), (errno.EFBIG, errno.ENOSPC, errno.EIO))
        self.assertEqual((running, p.returncode), ("False", 0))
        with wakewatt.open(self.path(self.id())) as t:
            self.assertGreater(len(t["meter.power"]), 0)


class Forked(Folder):
    def test_a_child_leaves_the_recording_to_its_parent(self):
        """It exits at once, whatever it does with it; the parent goes on and closes it well."""
        path = self.path("fork.wwt")
        code = """
import os, sys, wakewatt
rec = wakewatt.record(%r, sys.argv[1])
next(rec["meter.power"].follow())
for way in range(3):
    pid = os.fork()
    if pid == 0:
        if way == 0:
            sys.exit(7)
        if way == 1:
            del rec
            sys.exit(7)
        try:
            rec.mark("child")
        except (ValueError, OSError):
            sys.exit(7)
    print(os.waitpid(pid, 0)[1] >> 8, flush=True)
rec.mark("parent")
rec.stop()
""" % METER
        p = subprocess.run([sys.executable, "-c", code, path], text=True, capture_output=True,
                           env=environment(), timeout=60, check=False)
        self.assertEqual((p.stdout.split(), p.returncode), (["7"] * 3, 0), p.stderr)
        with wakewatt.open(path) as t:
            self.assertEqual((t.state, [m.text for m in t.marks if m.kind == "label"]),
                             ("closed", ["parent"]))

    def test_more_files_than_select_takes(self):
        code = """
import os, resource, sys, wakewatt
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
kept = [os.open("/dev/null", os.O_RDONLY) for _ in range(1100)]
with wakewatt.record(%r, for_s=0.3) as rec:
    print(sum(1 for _ in rec["meter.power"].follow()) > 100)
""" % METER
        p = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True,
                           env=environment(), timeout=60, check=False)
        self.assertEqual((p.stdout, p.returncode), ("True\n", 0), p.stderr)


class Dut(threading.Thread):
    """A machine behind a console server: a beat every 5 ms, unless the file is there."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.flag, self.place = os.path.join(folder, "asleep"), os.path.join(folder, "dut")
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(self.place)
        self.server.listen(1)
        self.over = threading.Event()
        self.start()

    def run(self):
        peer = None
        while not self.over.wait(0.005):
            if peer is None and select.select([self.server], [], [], 0)[0]:
                peer = self.server.accept()[0]
            if peer is not None and not os.path.exists(self.flag):
                try:
                    peer.send(b"a")
                except OSError:
                    peer = None
        self.server.close()


class Campaigns(Folder):
    def test_cycles(self):
        dut = Dut(self.dir.name)
        self.addCleanup(dut.over.set)
        phases = set()
        with wakewatt.campaign(f"unix:{dut.place}", f"touch {dut.flag}", wake=f"rm {dut.flag}",
                               cycles=2, meters=METER, path=self.path("c.wwt"), asleep_s=0.15,
                               settle_s=0.15, silence_s=0.15, suspend_timeout_s=1,
                               resume_timeout_s=2) as c:
            for state in c:
                phases.add(state.phase)
        self.assertIn("asleep", " ".join(phases))
        self.assertEqual((c.state.cycle, c.state.failed, c.state.phase), (2, 0, "done"))
        report = c.resume(mode="drain")
        self.assertEqual([x.result for x in report.cycles], ["ok", "ok"])
        d = json.loads(program("resumetime", "report", "--json", "--mode", "drain",
                               self.path("c.wwt")))
        self.assertEqual(report.document, d)

    def test_stopped_in_a_sleep(self):
        """The cycle is marked, what was asked for at the end is done, and the trace is closed."""
        folder = self.path("stopped")
        os.mkdir(folder)
        dut, path, off = Dut(folder), self.path("s.wwt"), self.path("off")
        self.addCleanup(dut.over.set)
        with wakewatt.campaign(f"unix:{dut.place}", f"touch {dut.flag}", wake=f"rm {dut.flag}",
                               off=f"touch {off}", path=path, asleep_s=60, settle_s=0.1,
                               silence_s=0.1) as c:
            for state in c:
                if state.phase == "asleep":
                    break
            self.assertTrue(c.running)
        self.assertFalse(c.running)
        with wakewatt.open(path) as t:
            self.assertEqual(t.state, "closed")
            self.assertEqual(len([m for m in t.marks if m.kind == "request"]), 1)
            self.assertEqual(len([m for m in t.marks if m.kind == "wake"]), 0)
            self.assertEqual([m.text for m in t.marks if m.kind == "cycle-end"], ["stopped"])

    def test_a_campaign_that_cannot_begin(self):
        for wrong in ({"wake": "rtc:nonsense"}, {"alive": "meter>8X"}):
            with self.assertRaises(wakewatt.Error):
                wakewatt.campaign(None, "true", meters=METER, path=self.path("x.wwt"),
                                  **{"alive": "meter>8W", **wrong})
            self.assertFalse(os.path.exists(self.path("x.wwt")))

    def test_a_campaign_without_a_sign_of_life(self):
        with self.assertRaisesRegex(ValueError, "nothing shows"):
            wakewatt.campaign(None, "true")


if __name__ == "__main__":
    main()
