#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pwrlog steps: vectors by their own rule, whole reports, pictures, streams, wrong use."""
import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import unittest
import xml.dom.minidom
from html.parser import HTMLParser

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import ROOT, Case, js, run, tool  # noqa: E402

DATA = os.path.join(ROOT, "tests", "data")
VECTORS = os.path.join(DATA, "vectors")
S = 1_000_000_000
T0 = 1000 * S
WALL = 1796044611 * S  # 2026-11-30T13:16:51Z
HOSTILE = "</svg><script>alert(1)</script>\"'&"


def vector(name):
    path = os.path.join(VECTORS, name + ".csv")
    return path if os.path.exists(path) else os.path.join(DATA, name + ".csv")


def rows_of(name):
    with open(vector(name), encoding="ascii") as f:
        return [tuple(map(float, line.split(","))) for line in list(f)[1:]]


def stream(rows, scale=0.1, marks=(), wall=False, end=True, channels=("power",)):
    """A trace as JSON lines: (t_s, watts), and (t_s, label)."""
    out = [{"type": "wakewatt", "format": 1},
           {"type": "source", "id": 1, "kind": 0, "name": "meter"}]
    for i, name in enumerate(channels):
        out.append({"type": "channel", "id": i + 1, "source": 1, "name": name,
                    "quantity": "power", "unit": "W", "semantics": 0, "scale": scale,
                    "resolution": scale})
    if wall:
        out.append({"type": "anchor", "boot_ns": T0, "mono_ns": T0, "real_ns": WALL,
                    "width_ns": 1000, "adj_state": 0, "adj_freq_ppb": 0, "adj_maxerror_ns": -1})
    marks = sorted(marks)
    for t, v in rows:
        while marks and marks[0][0] <= t:
            at = T0 + round(marks[0][0] * S)
            out.append({"type": "mark", "t": [at, at], "kind": "label", "text": marks[0][1]})
            marks = marks[1:]
        at = T0 + round(t * S)
        out.append({"type": "sample", "source": 1, "t": [at, at],
                    "codes": [round(v / scale)] * len(channels)})
    if end:
        out.append({"type": "end"})
    return "".join(json.dumps(o, separators=(",", ":")) + "\n" for o in out).encode()


def toggles(n=600, at=300, low=10, high=35):
    """A meter without noise but for its last digit."""
    return [(i, (low if i < at else high) + 0.1 * ((i * i // 3) % 3 - 1)) for i in range(n)]


class Vectors(Case):
    """tests/data/vectors with the rule that belongs to them."""

    with open(os.path.join(VECTORS, "steps_expected.json"), encoding="ascii") as f:
        expected = json.load(f)

    def check(self, name, report):
        e = self.expected[name]
        q, found = e["resolution_W"], [s for s in report["steps"] if s["state"] == "detected"]
        taken = set()
        for truth in e["truth"]:
            t, delta = truth["t_true"], truth["delta_true"]
            near = [(abs((s["t_s"][0] + s["t_s"][1]) / 2 - t), i) for i, s in enumerate(found)
                    if i not in taken and s["t_s"][0] - 2 <= t <= s["t_s"][1] + 2]
            if not near:
                if e["accept"]["min_recall"] is not None:
                    self.fail(f"{name}: nothing at {t} s")
                continue
            i = min(near)[1]
            taken.add(i)
            got = found[i]["delta_W"]
            self.assertLessEqual(abs(got["value"] - delta), max(3 * got["u"], q / 2),
                                 (name, truth, found[i]))
            if found[i]["label"] is not None:
                self.assertEqual(found[i]["label"], truth["label"])
        self.assertEqual(len(taken), len(found), (name, found))

    def marked(self, name):
        e = self.expected[name]
        return stream(rows_of(name), e["resolution_W"],
                      [(m["t"], m["label"]) for m in e["markers"]])

    def test_as_files(self):
        for name in self.expected:
            code, out, err = run("pwrlog", "steps", "--json", vector(name))
            self.assertEqual((code, err), (0, ""), name)
            self.check(name, json.loads(out))

    def test_with_marks(self):
        for name, e in self.expected.items():
            report = js("pwrlog", "steps", "--json", "-", stdin=self.marked(name))
            self.check(name, report)
            labels = [s["label"] for s in report["steps"] if s["label"]]
            self.assertEqual(labels, [m["label"] for m in e["markers"]], name)
            if e["accept"]["min_recall"] is not None:
                self.assertEqual([s["state"] for s in report["steps"]],
                                 ["detected"] * len(e["truth"]), name)

    def test_below_resolution(self):
        """S06: 0.4 and 0.3 W on a meter of 1 W: bounds that hold, no detection."""
        report = js("pwrlog", "steps", "--json", "-", stdin=self.marked("S06_subres_undithered"))
        by = {s["label"]: s for s in report["steps"]}
        for label, delta in (("dev1", 0.4), ("dev3", 0.3)):
            self.assertEqual(by[label]["state"], "unresolved")
            lo, hi = by[label]["bounds_W"]
            self.assertLessEqual(lo, delta)
            self.assertGreaterEqual(hi, delta)
            self.assertLessEqual(hi - lo, 2.0001)
        self.assertEqual(by["dev2"]["state"], "detected")
        self.assertIsNone(by["dev2"]["bounds_W"])

    def test_inside_hole(self):
        """S09: the change at 400 s lies in a hole; so it is told."""
        report = js("pwrlog", "steps", "--json", vector("S09_gaps"))
        lo, hi = min((s["t_s"] for s in report["steps"]), key=lambda t: abs(t[0] + t[1] - 800))
        self.assertTrue(lo <= 400 <= hi and hi - lo > 30, (lo, hi))

    def test_no_change(self):
        for name in ("S11_ar1_null", "S12_white_null"):
            report = js("pwrlog", "steps", "--json", vector(name))
            self.assertEqual(report["steps"], [])
            self.assertEqual(len(report["levels"]), 1)

    def test_fast(self):
        """S15: 2000 readings a second of a power that pulses with the mains."""
        with open(os.path.join(VECTORS, "S15_hf_expected.json"), encoding="ascii") as f:
            e = json.load(f)
        report = js("pwrlog", "steps", "--rate", str(e["fs"]), "--json", vector("S15_hf_2kHz"))
        self.assertEqual(len(report["steps"]), 1)
        s = report["steps"][0]
        self.assertTrue(s["t_s"][0] <= e["t_step"] <= s["t_s"][1], s["t_s"])
        self.assertLess(s["t_s"][1] - s["t_s"][0], 0.1)
        self.assertLess(abs(s["delta_W"]["value"] - e["delta"]), 3 * s["delta_W"]["u"])
        self.assertLess(s["delta_W"]["u"], 0.04)
        self.assertTrue(any("50 Hz mains" in n for n in report["notes"]))


class Report(Case):
    def test_text(self):
        data = stream(toggles(), marks=[(298, "lamp"), (100, "nothing")], wall=True)
        code, out, err = run("pwrlog", "steps", "-", stdin=data)
        self.assertEqual((code, err), (0, ""))
        lines = out.split("\n")
        self.assertEqual(lines[0], "start 2026-11-30T13:16:51.000+00:00 (UTC)")
        self.assertEqual(lines[1], "meter.power: 1 step, 1 at known times in 10 min, 600 readings, "
                                   "resolution 0.1 W")
        self.assertEqual(lines[2], "")
        self.assertEqual(lines[3].split(), "time, s label change, W before after state".split())
        self.assertRegex(lines[4], r"^ +98\.\.116 +nothing +[+-]?0\.0\d+ ± 0\.0\d+ +\d+\.\d+ "
                                   r"+\d+\.\d+  known-time$")
        self.assertRegex(lines[5], r"^299\.\.300 +lamp +\+2[45]\.\d+ ± 0\.0\d+ +"
                                   r"(9\.9|10\.0)\d* +3[45]\.\d+$")
        self.assertEqual(lines[6], "")
        self.assertTrue(all(len(line) <= 80 for line in lines))
        self.assertTrue(out.endswith("\n") and not out.endswith("\n\n"))

    def test_width(self):
        """A day with long labels and slow settling still fits a terminal."""
        rows = [(i * 20, 10 + (25 if i % 900 >= 450 else 0) + 0.1 * (i * i % 3) +
                 (9 * 0.9 ** (i % 450) if i % 900 >= 450 else 0)) for i in range(4000)]
        marks = [(t * 20 - 10, "the second monitor in the corner, left") for t in range(450, 4000,
                                                                                      450)]
        _, out, _ = run("pwrlog", "steps", "-", stdin=stream(rows, marks=marks, wall=True))
        self.assertIn("the second", out)
        self.assertLessEqual(max(map(len, out.split("\n"))), 80, out)

    def test_none(self):
        code, out, err = run("pwrlog", "steps", "-", stdin=stream(toggles(120, 999)))
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith(
            "start unknown: no clock in the trace\n"
            "meter.power: 0 steps in 1 min 59 s, 120 readings, resolution 0.1 W\n\n- "), out)

    def test_json(self):
        data = stream(toggles(), marks=[(298, HOSTILE)], wall=True)
        report = js("pwrlog", "steps", "--json", "-", stdin=data)
        keys = list(report)
        self.assertEqual((keys[0], keys[-1]), ("schema", "notes"))
        self.assertEqual(report["schema"], "wakewatt/steps/1")
        self.assertEqual(report["start"], "2026-11-30T13:16:51.000+00:00")
        self.assertEqual((report["channel"], report["n"]), ("meter.power", 600))
        step, = report["steps"]
        self.assertEqual(list(step), ["t_s", "settled_s", "delta_W", "before_W", "after_W", "label",
                                      "state", "bounds_W", "peak_W", "dof"])
        self.assertEqual(step["t_s"], [299, 300])
        self.assertEqual(step["settled_s"], 300)
        self.assertEqual((step["label"], step["state"]), (HOSTILE, "detected"))
        self.assertIsNone(step["bounds_W"])
        self.assertAlmostEqual(step["delta_W"]["value"], 25, 1)
        self.assertAlmostEqual(step["after_W"]["value"] - step["before_W"]["value"],
                               step["delta_W"]["value"], 2)
        first, second = report["levels"]
        self.assertEqual((first["t_s"], second["t_s"]), ([0, 299], [300, 599]))
        self.assertEqual(first["shape"], "constant")
        self.assertIsNone(report["cycling"])
        self.assertLess(report["smallest_W"], 0.2)

    def test_cycling(self):
        rows = [(i, 5 + (60 if i % 200 >= 150 else 0) + 0.1 * (i % 3)) for i in range(1400)]
        report = js("pwrlog", "steps", "--json", "-", stdin=stream(rows))
        c = report["cycling"]
        self.assertGreaterEqual(c["cycles"], 5)
        self.assertAlmostEqual(c["period_s"], 200, 0)
        self.assertAlmostEqual(c["on_part"], 0.25, 2)
        self.assertTrue(any("switches on and off by itself" in n for n in report["notes"]))

    def test_window(self):
        data = stream(toggles(), marks=[(200, "lamp"), (500, "later")])
        for options, steps in ((["--from", "320s"], 0), (["--to", "4m"], 0),
                               (["--from", "-100s"], 0), (["--from", "200", "--to", "400"], 1),
                               (["--between", "lamp,later"], 1), (["--spike", "30s"], 1)):
            report = js("pwrlog", "steps", "--json", *options, "-", stdin=data)
            found = [s for s in report["steps"] if s["state"] == "detected"]
            self.assertEqual(len(found), steps, options)
        code, out, err = run("pwrlog", "steps", "--between", "lamp,monitor", "-", stdin=data)
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, "pwrlog steps: -: no mark 'monitor' after the first one\n"
                              "pwrlog steps: the marks are, in their order:\n  lamp\n  later\n")

    def test_channels(self):
        data = stream(toggles(), channels=("power", "power2"))
        code, out, err = run("pwrlog", "steps", "-", stdin=data)
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, "pwrlog steps: -: 2 channels of power: meter.power, meter.power2; "
                              "name one with --channel\n")
        report = js("pwrlog", "steps", "--json", "--channel", "power2", "-", stdin=data)
        self.assertEqual((report["channel"], len(report["steps"])), ("meter.power2", 1))

    def test_grows(self):
        """A stream that breaks off is reported up to there, and said."""
        code, out, err = run("pwrlog", "steps", "-", stdin=stream(toggles(), end=False))
        self.assertIn("1 step in", out)
        self.assertIn("the recording broke off", out)
        self.assertEqual(code, 0, err)

    def test_recorded(self):
        path = self.path("t.wwt")
        code, _, err = run("pwrlog", "record", "-m", "sim:?watts=25&noise=0.2&rate=100&"
                           "resolution=0.1&seed=7&step=1s:+12.5", "--for", "2s", "-o", path)
        self.assertEqual(code, 0, err)
        step, = js("pwrlog", "steps", "--json", path)["steps"]
        self.assertLess(abs(step["delta_W"]["value"] - 12.5), 4 * step["delta_W"]["u"])
        self.assertLess(abs(sum(step["t_s"]) / 2 - 1), 0.15)

    def test_same_bytes(self):
        data = stream(toggles(), marks=[(298, "lamp")], wall=True)
        want = run("pwrlog", "steps", "-", stdin=data)
        env = dict(os.environ, LC_ALL="de_DE.UTF-8", TZ="Asia/Kolkata")
        self.assertEqual(run("pwrlog", "steps", "-", stdin=data, env=env), want)


@unittest.skipUnless(os.environ.get("WW_RECORDINGS"), "no real recordings: set WW_RECORDINGS")
class Recordings(Case):
    """Meters of other people, where they lie: what one would say who looks at the picture."""

    def steps(self, name, *options):
        path = os.path.join(os.environ["WW_RECORDINGS"], name)
        if not os.path.exists(path):
            self.skipTest(name)
        return js("pwrlog", "steps", "--json", *options, path)

    def test_fridge(self):
        report = self.steps("tracebase_Refrigerator_dev_D32131_2012.06.10.csv")
        starts = [s for s in report["steps"] if s["before_W"]["value"] < 5
                  and 60 < s["delta_W"]["value"] < 120]
        stops = [s for s in report["steps"] if s["after_W"]["value"] < 5
                 and -120 < s["delta_W"]["value"] < -60]
        self.assertGreaterEqual(len(starts), 17)
        self.assertLessEqual(len(starts), 20)
        self.assertGreaterEqual(len(stops), 17)
        self.assertLessEqual(len(stops), 20)
        late = [s for s in report["steps"] if -16 < s["delta_W"]["value"] < -5]
        self.assertLessEqual(len(late), 2)  # starts that settle late are one step
        self.assertTrue(4700 < report["cycling"]["period_s"] < 4900, report["cycling"])
        self.assertTrue(0.37 < report["cycling"]["on_part"] < 0.44, report["cycling"])

    def test_washing_machine(self):
        report = self.steps("tracebase_Washingmachine_dev_D338C9_2012.07.03.csv")
        heats = [s for s in report["steps"] if abs(s["delta_W"]["value"]) > 1500]
        self.assertEqual([s["delta_W"]["value"] > 0 for s in heats], [True, False] * 4)
        for s in report["steps"]:
            self.assertTrue(71000 < s["t_s"][0] < 77600, s)
        self.assertLess(report["levels"][-1]["level_W"]["value"], 2)

    def test_phone(self):
        """Charging: plugged in, a taper of an hour without stairs, two drops."""
        report = self.steps("tc66_fastphone.csv", "--spike", "20s")
        self.assertLessEqual(len(report["steps"]), 6)
        self.assertAlmostEqual(report["steps"][0]["t_s"][0], 13, delta=1)
        for t, watts in ((2540, -0.44), (4068, -0.94)):
            near = [s for s in report["steps"] if abs(s["t_s"][0] - t) < 5]
            self.assertEqual(len(near), 1, t)
            self.assertAlmostEqual(near[0]["delta_W"]["value"], watts, delta=0.15)

    def test_graphics_card(self):
        report = self.steps("pmt_ad4000_nvml.log")
        big = [s for s in report["steps"] if abs(s["delta_W"]["value"]) > 60]
        self.assertEqual([s["label"] for s in big], ["start", "end"] * 4)


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [v for k, v in attrs if k in ("src", "href", "xlink:href", "data")]


class Pictures(Case):
    def draw(self, data, *options):
        svg, html = self.path("o.svg"), self.path("o.html")
        code, out, err = run("pwrlog", "steps", "--plot", svg, "--html", html, *options, "-",
                             stdin=data)
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out)
        with open(svg, encoding="utf-8") as a, open(html, encoding="utf-8") as b:
            return a.read(), b.read()

    def test_hostile(self):
        svg, html = self.draw(stream(toggles(), marks=[(298, HOSTILE), (100, "\x1b[2J<b>")]))
        tree = xml.dom.minidom.parseString(svg)
        self.assertEqual(tree.getElementsByTagName("script"), [])
        self.assertIn("alert(1)", svg)
        page = Tags(html)
        self.assertNotIn("script", page.tags)
        self.assertNotIn("b", page.tags)
        self.assertEqual(page.addresses, [])
        self.assertEqual(page.tags.count("svg"), 1)
        self.assertEqual(page.tags.count("tr"), 3 + 3)  # steps, levels, their heads
        self.assertIn("<summary>2 levels</summary>", html)
        self.assertEqual(re.findall(r"https?:[^\"' ]*", svg + html),
                         ["http://www.w3.org/2000/svg"] * 2)
        for text in (svg, html):
            self.assertIn("prefers-color-scheme:dark", text)
            self.assertNotRegex(text, r"url\(|@import|\x1b")
        code, out, _ = run("pwrlog", "steps", "-", stdin=stream(toggles(), marks=[(298, "a\x1b[2J")]))
        self.assertEqual(code, 0)
        self.assertNotIn("\x1b", out)

    def test_content(self):
        svg, html = self.draw(stream(toggles(), marks=[(298, "Küche")], wall=True))
        tree = xml.dom.minidom.parseString(svg)
        texts = [t.firstChild.data for t in tree.getElementsByTagName("text") if t.firstChild]
        self.assertTrue(any(re.fullmatch(r"Küche \+2[45]\.\d+ W", t) for t in texts), texts)
        for text in ("power, W", "time of day, UTC", "13:20", "2026-11-30", "step", "level ± 2u"):
            self.assertIn(text, texts)
        self.assertIn("<td class=\"l\">Küche</td>", html)
        self.assertIn("start 2026-11-30T13:16:51.000+00:00 (UTC)", html)
        for note in js("pwrlog", "steps", "--json", "-", stdin=stream(toggles()))["notes"]:
            if "accuracy" in note:
                self.assertIn(note.replace("'", "&#39;"), html)

    def test_nothing_to_draw(self):
        svg, html = self.draw(stream([(0, 10)]))
        xml.dom.minidom.parseString(svg)
        self.assertIn("No steps.", html)

    def test_small(self):
        svg, _ = self.draw(stream([(i / 10, 20 + i % 7) for i in range(50000)]))
        self.assertLess(len(svg), 120000)


class Files(Case):
    data = stream(toggles())

    def test_overwrites(self):
        path = self.path("o.svg")
        with open(path, "w", encoding="ascii") as f:
            f.write("old " * 100000)
        os.chmod(path, 0o640)
        link = self.path("link.svg")
        os.symlink("o.svg", link)
        code, _, err = run("pwrlog", "steps", "--plot", link, "-", stdin=self.data)
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(os.path.islink(link))
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o640)
        with open(path, encoding="utf-8") as f:
            self.assertNotIn("old", f.read())
        self.assertEqual(sorted(os.listdir(self.dir)), ["link.svg", "o.svg"])

    def test_new_file_by_umask(self):
        path = self.path("o.svg")
        p = subprocess.run([tool("pwrlog"), "steps", "--plot", path, "-"], input=self.data,
                           capture_output=True, check=False, preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(p.returncode, 0)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o640)

    def test_not_over_the_trace(self):
        path, link = self.path("t.csv"), self.path("link.svg")
        with open(path, "w", encoding="ascii") as f:
            f.write("t_s,power_W\n" + "".join("%d,%.1f\n" % r for r in toggles()))
        os.symlink(path, link)
        for option in ("--plot", "--html"):
            code, out, err = run("pwrlog", "steps", option, link, path)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(f"'{path}' is to be read: name another file to draw into", err)
        self.assertEqual(run("pwrlog", "steps", path)[0], 0)

    def test_no_folder(self):
        path = self.path("none/o.svg")
        code, out, err = run("pwrlog", "steps", "--plot", path, "-", stdin=self.data)
        self.assertEqual(code, 1)
        self.assertIn("1 step", out)
        self.assertEqual(err, f"pwrlog steps: {path}: cannot be written: "
                              "No such file or directory\n")
        code, _, err = run("pwrlog", "steps", "--plot", self.dir, "-", stdin=self.data)
        self.assertEqual((code, err), (1, f"pwrlog steps: {self.dir}: cannot be written: "
                                          "Is a directory\n"))

    def test_full_disk(self):
        code, _, err = run("pwrlog", "steps", "--plot", "/dev/full", "-", stdin=self.data)
        self.assertEqual((code, err), (1, "pwrlog steps: /dev/full: cannot be written: "
                                          "No space left on device\n"))
        # A limit on the size of files stands for a full disk: what was there stays.
        path = self.path("o.svg")
        with open(path, "w", encoding="ascii") as f:
            f.write("old")
        code, _, err = self.limited(path)
        self.assertEqual(code, 1, err)
        self.assertIn("cannot be written: File too large", err)
        with open(path, encoding="ascii") as f:
            self.assertEqual(f.read(), "old")
        self.assertEqual(os.listdir(self.dir), ["o.svg"])

    def limited(self, path):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        with open(self.path("../in-" + os.path.basename(self.dir)), "w+b") as f:
            os.unlink(f.name)
            f.write(self.data)
            f.seek(0)
            p = subprocess.run([tool("pwrlog"), "steps", "--plot", path, "-"], stdin=f,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                               preexec_fn=limit)
        return p.returncode, p.stdout.decode(), p.stderr.decode()

    def test_pipe(self):
        p = subprocess.run([tool("pwrlog"), "steps", "--json", "--plot", "/dev/stderr", "-"],
                           input=self.data, capture_output=True, check=False)
        self.assertEqual(p.returncode, 0)
        self.assertEqual(json.loads(p.stdout)["schema"], "wakewatt/steps/1")
        xml.dom.minidom.parseString(p.stderr)


class WrongUse(Case):
    def test_usage(self):
        for args, text in (
                (["--spike", "soon", "x"], "--spike: "),
                (["--spike", "0", "x"], "--spike: a spike lasts longer than no time"),
                (["--from"], "option '--from' needs a value"),
                (["--frobnicate", "x"], "unknown option '--frobnicate'"),
                ([], "name a trace, or - for standard input"),
                (["a", "b"], "one trace at a time, not also 'b'"),
                (["--between", "a", "x"], "--between needs two marks"),
                (["--between", "a,b", "--to", "3", "x"], "exclude each other"),
                (["--plot", "o", "--html", "o", "x"], "name the same file: 'o'")):
            code, out, err = run("pwrlog", "steps", *args)
            self.assertEqual((code, out), (2, ""), args)
            self.assertIn(text, err)
            self.assertIn("'pwrlog steps --help' tells how it is used.", err)

    def test_not_a_trace(self):
        code, out, err = run("pwrlog", "steps", self.path("none.wwt"))
        self.assertEqual((code, out), (1, ""))
        self.assertIn("none.wwt", err)

    def test_help(self):
        code, out, err = run("pwrlog", "steps", "--help")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith("usage: pwrlog steps "))
        self.assertTrue(all(len(line) <= 80 for line in out.split("\n")))


if __name__ == "__main__":
    main()
