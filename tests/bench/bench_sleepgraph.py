#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""resumetime kernlog beside sleepgraph on the same files: figures, then time.

  bench_sleepgraph.py BUILD [FTRACE DMESG]

Without files a pair of 8 MB is composed: a machine with many devices whose times are known.
sleepgraph is looked for in PATH, or where SLEEPGRAPH says (pip install sleepgraph).
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

PHASES = (("suspend_prepare", "dpm_prepare[2]", "preparing bus [suspend]"),
          ("suspend", "dpm_suspend[2]", "bus [suspend]"),
          ("suspend_late", "dpm_suspend_late[2]", "late bus [suspend]"),
          ("suspend_noirq", "dpm_suspend_noirq[2]", "noirq bus [suspend]"),
          ("resume_noirq", "dpm_resume_noirq[16]", "noirq bus [resume]"),
          ("resume_early", "dpm_resume_early[16]", "early bus [resume]"),
          ("resume", "dpm_resume[16]", "bus [resume]"),
          ("resume_complete", "dpm_complete[16]", "completing bus [resume]"))

# Runs in an interpreter of its own: its own time counts, not that of starting Python.
PEER = r"""
import importlib.util, io, json, contextlib, sys, time
from importlib.machinery import SourceFileLoader
path, ftrace, dmesg = sys.argv[1:4]
loader = SourceFileLoader("sleepgraph", path)
spec = importlib.util.spec_from_loader("sleepgraph", loader)
sg = importlib.util.module_from_spec(spec)
sys.argv = ["sleepgraph"]
loader.exec_module(sg)
sg.sysvals.ftracefile, sg.sysvals.dmesgfile = ftrace, dmesg
start = time.perf_counter()
with contextlib.redirect_stdout(io.StringIO()):
    sg.doesTraceLogHaveTraceEvents()
    runs, error = sg.parseTraceLog(False)
    for d in runs:
        d.extractErrorInfo()
took = time.perf_counter() - start
out = {"took": took, "phases": {}, "devices": []}
for d in runs:
    for name in d.sortedPhases():
        p = d.dmesg[name]
        out["phases"][name] = (p["end"] - p["start"]) * 1e3
        for dev, v in p["list"].items():
            out["devices"].append([name, v.get("name", dev), v.get("drv", ""),
                                   (v["end"] - v["start"]) * 1e3])
print(json.dumps(out))
"""


def compose(folder, devices=4230):
    rng = random.Random(5)
    t, lines = 100.0, []

    def event(pid, text):
        lines.append(f"     kworker/u8:{pid % 9}-{pid:<6d} [{pid % 4:03d}] ....  {t:10.6f}: {text}\n")

    stamp = "# suspend-010120-120000 bench mem 5.10.0\n"
    lines += [stamp, "# tracer: nop\n", "#\n"]
    event(77, "tracing_mark_write: SUSPEND START")
    event(77, "suspend_resume: suspend_enter[3] begin")
    for name, action, ops in PHASES:
        if name == "resume_noirq":
            event(77, "suspend_resume: machine_suspend[3] begin")
            t += 0.002
            event(77, "suspend_resume: machine_suspend[3] end")
        event(77, f"suspend_resume: {action} begin")
        for i in range(devices):
            event(77, f"device_pm_callback_start: drv{i % 37} 0000:{i:04x}:00.0, parent: pci0000:00, {ops}")
            t += rng.choice((1, 2, 3, 9, 30, 200)) / 1e6
            event(77, f"device_pm_callback_end: drv{i % 37} 0000:{i:04x}:00.0, err=0")
        event(77, f"suspend_resume: {action} end")
    event(77, "suspend_resume: thaw_processes[0] begin")
    t += 0.001
    event(77, "suspend_resume: thaw_processes[0] end")
    event(77, "tracing_mark_write: RESUME COMPLETE")
    ftrace, dmesg = (os.path.join(folder, f"bench_{n}.txt") for n in ("ftrace", "dmesg"))
    with open(ftrace, "w") as f:
        f.writelines(lines)
    with open(dmesg, "w") as f:
        f.write(stamp + "[  100.000001] PM: suspend entry (deep)\n"
                f"[  {t:10.6f}] PM: suspend exit\n".replace("[  ", "[ "))
    return ftrace, dmesg


def ours(program, files, repeat=3):
    best = None
    for _ in range(repeat):
        start = time.perf_counter()
        p = subprocess.run([program, "kernlog", "--json", *files], capture_output=True, check=True)
        took = time.perf_counter() - start
        best = min(best or took, took)
    return best, json.loads(p.stdout)


def number(q):
    return q["value"] if isinstance(q, dict) else q


def compare(theirs, doc):
    """Each figure of the peer beside ours. -> lines"""
    have, phases = {}, {}
    for c in doc["cycles"]:
        for p in c["phases"]:
            phases.setdefault(p["name"], number(p["ms"]))
        for d in c["devices"]:
            have.setdefault((d["phase"], d["name"]), []).append(number(d["ms"]))
    bad, out = 0, []
    for name, ms in theirs["phases"].items():
        if name in phases and phases[name] is not None:
            out.append(f"  {name:18} sleepgraph {ms:10.3f} ms, ours {phases[name]:10.3f} ms")
        else:
            out.append(f"  {name:18} sleepgraph {ms:10.3f} ms, ours: none")
    for phase, name, _drv, ms in theirs["devices"]:
        got = [v for v in have.get((phase, name), []) if v is not None]
        if not any(abs(v - ms) <= 0.0025 for v in got):
            bad += 1
            if bad <= 20:
                out.append(f"  {phase} {name}: sleepgraph {ms:.3f} ms, ours "
                           + (", ".join(f"{v:.3f}" for v in got) or "none"))
    out.append(f"  {len(theirs['devices'])} device times, {bad} differ by more than 2.5 us")
    return out


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    program = os.path.join(build, "bin", "resumetime")
    peer = os.environ.get("SLEEPGRAPH") or shutil.which("sleepgraph.py") or shutil.which("sleepgraph")
    with tempfile.TemporaryDirectory() as folder:
        files = sys.argv[2:4] if len(sys.argv) > 3 else compose(folder)
        size = sum(os.path.getsize(f) for f in files)
        took, doc = ours(program, files)
        print(f"kernlog, {size / 1e6:.1f} MB: {took:.3f} s with its start and its JSON")
        if not peer:
            print("sleepgraph is not installed: no comparison (pip install sleepgraph)")
            return
        p = subprocess.run([sys.executable, "-c", PEER, os.path.realpath(peer), *files],
                           capture_output=True, text=True)
        if p.returncode:
            print("sleepgraph failed:", p.stderr.strip().splitlines()[-1:])
            return
        theirs = json.loads(p.stdout)
        print(f"sleepgraph, its analysis alone in a Python that runs: {theirs['took']:.3f} s, "
              f"{theirs['took'] / took:.0f} times as long")
        whole(program, peer, files, folder)
        print("\n".join(compare(theirs, doc)))


def whole(program, peer, files, folder):
    """From the files to the page, as a user runs both."""
    copies = [shutil.copy(f, os.path.join(folder, f"whole_{n}.txt"))
              for f, n in zip(files, ("ftrace", "dmesg"))]
    for f in copies:
        os.chmod(f, 0o644)
    start = time.perf_counter()
    subprocess.run([program, "kernlog", "--html", os.path.join(folder, "ours.html"), *copies],
                   capture_output=True, check=True)
    mine = time.perf_counter() - start
    start = time.perf_counter()
    subprocess.run([sys.executable, os.path.realpath(peer), "-ftrace", copies[0], "-dmesg",
                    copies[1]], capture_output=True, cwd=folder)
    took = time.perf_counter() - start
    print(f"files to page: kernlog {mine:.3f} s, sleepgraph {took:.3f} s, "
          f"{took / mine:.0f} times as long")


main()
