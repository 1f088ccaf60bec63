#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The HTML page: well-formed, closed to the world, its figures those of the JSON; in a browser."""
import base64
import hashlib
import html.parser
import json
import math
import os
import re
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
import pagedata  # noqa: E402
from tap import main  # noqa: E402
from ww import run  # noqa: E402

VOID = {"meta", "input", "br", "link", "img", "hr"}
CYCLES = 12
KERNEL_CYCLES = 40
DIR = None
PAGES = {}


def setUpModule():
    """One recording and one kernel log for all tests, as pages and as JSON."""
    global DIR
    DIR = tempfile.mkdtemp(prefix="ww-page-")
    pagedata.Recording(CYCLES).write(os.path.join(DIR, "r.jsonl"))
    pagedata.kernel_log(os.path.join(DIR, "k.log"), KERNEL_CYCLES)
    for name, args in (("resume", ["report", "--mode", "drain"]), ("kernlog", ["kernlog"])):
        source = os.path.join(DIR, "r.jsonl" if name == "resume" else "k.log")
        path = os.path.join(DIR, name + ".html")
        code, out, err = run("resumetime", *args, "--json", "--html", path, source)
        assert code == 0, err
        with open(path, encoding="utf-8") as f:
            text = f.read()
        PAGES[name] = Page(path, text, json.loads(out))


def tearDownModule():
    shutil.rmtree(DIR, True)


class Parser(html.parser.HTMLParser):
    """Elements must close in the order in which they opened."""

    def __init__(self):
        super().__init__()
        self.open, self.elements, self.wrong = [], [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append("</%s> at %s" % (tag, self.getpos()))


class Page:
    def __init__(self, path, text, report):
        self.path, self.text, self.report = path, text, report
        self.data = json.loads(self.part("script", ' type="application/json" id="data"'))
        self.parser = Parser()
        self.parser.feed(text)

    def part(self, tag, attrs=""):
        return re.search("<%s%s>(.*?)</%s>" % (tag, attrs, tag), self.text, re.S)[1]

    def all(self, tag):
        return [a for t, a in self.parser.elements if t == tag]


class Document(unittest.TestCase):
    def each(self):
        for name, page in PAGES.items():
            with self.subTest(page=name):
                yield page

    def test_well_formed(self):
        for p in self.each():
            self.assertEqual(p.parser.wrong, [])
            self.assertEqual(p.parser.open, [])
            ids = [a["id"] for _, a in p.parser.elements if "id" in a]
            self.assertEqual(len(ids), len(set(ids)))
            self.assertTrue(p.text.startswith("<!DOCTYPE html>\n<html lang=\"en\">"))
            self.assertTrue(p.text.endswith("</html>\n"))
            self.assertEqual(len(p.all("h1")), 1)
            for th in p.all("th"):
                self.assertIn(th.get("scope"), ("row", "col"))
            # Pictures without a script, each of them XML.
            body = p.text[:p.text.index("<script")]
            depth, start, pictures = 0, 0, 0
            for m in re.finditer(r"<svg\b|</svg>", body):
                if m[0] == "<svg":
                    start = m.start() if depth == 0 else start
                    depth += 1
                else:
                    depth -= 1
                    if depth == 0:
                        pictures += 1
                        xml.etree.ElementTree.fromstring(body[start:m.end()])
            self.assertEqual(pictures, 1 + 4)  # the distribution, a typical cycle, three of the worst

    def test_closed_to_the_world(self):
        for p in self.each():
            self.assertNotRegex(p.text, r"://|\bsrc=|@import|url\(|fetch\(|XMLHttp|WebSocket|eval\(")
            for _, a in p.parser.elements:
                self.assertTrue(a.get("href", "#").startswith("#"))
                self.assertEqual([k for k in a if k.startswith("on") or k == "style"], [])
            self.assertEqual(len(p.all("script")), 2)
            self.assertEqual([a for a in p.all("script") if not a],
                             [{}])
            policy = next(a["content"] for a in p.all("meta")
                          if a.get("http-equiv") == "Content-Security-Policy")

            def name(text):
                return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            self.assertEqual(policy, "default-src 'none'; script-src %s; style-src %s; base-uri "
                             "'none'; form-action 'none'" % (name(p.part("script")),
                                                             name(p.part("style"))))

    def test_hostile_names(self):
        for p in self.each():
            self.assertIn(pagedata.HOSTILE, p.data["names"])
            self.assertNotIn("<b onload", p.text)
            self.assertIn("1-1&lt;/script&gt;&lt;b onload=&#39;x&#39;&gt;&quot;&amp;", p.text)

    def test_the_same_bytes_again(self):
        again = os.path.join(DIR, "again.html")
        run("resumetime", "kernlog", "--html", again, os.path.join(DIR, "k.log"))
        with open(again, encoding="utf-8") as f:
            self.assertEqual(f.read(), PAGES["kernlog"].text)


def bounds(value):
    """[lo, hi] ns of a length of the JSON."""
    if value is None:
        return [None, None]
    lo, hi = value.get("lo", value["value"]), value.get("hi", value["value"])
    return [None if v is None else round(v * 1e6) for v in (lo, hi)]


class Figures(unittest.TestCase):
    """What the page says is what the JSON says."""

    def values(self, page, cycle):
        figures = page.data["figures"]
        return {figures[str(f)]["key"]: [lo, hi] for f, lo, hi in cycle["v"]}

    def same_kernel(self, page, cycle, kernel):
        names, phases = page.data["names"], page.data["phases"]
        v = self.values(page, cycle)
        for key, name in (("suspend_ms", "kernel_suspend"), ("resume_ms", "kernel_resume"),
                          ("suspend_corrected_ms", "kernel_suspend_corrected"),
                          ("resume_corrected_ms", "kernel_resume_corrected")):
            if name in v:
                self.assertEqual(v[name], bounds(kernel[key]))
        self.assertEqual(cycle["mode"], kernel["mode"])
        self.assertEqual([(phases[p[0]], p[4:6]) for p in cycle["ph"]],
                         [(p["name"], bounds(p["ms"])) for p in kernel["phases"]])
        self.assertEqual([[phases[p[0]], *p[9:11]] for p in cycle["ph"] if len(p) > 9],
                         [[e["name"], e["J"]["value"], e["J"]["u"]]
                          for e in kernel.get("phase_energy", [])])
        mine = sorted((names[d[0]], names[d[1]], phases[d[2]], d[6:8], d[8:10], d[10])
                      for d in cycle["dv"])
        self.assertEqual(mine, sorted(
            (d["name"], d["driver"], d["phase"], bounds(d["ms"]), bounds(d["corrected_ms"]),
             d["errno"]) for d in kernel["devices"]))

    def test_recording(self):
        p = PAGES["resume"]
        zero = 0
        self.assertEqual(len(p.data["cycles"]), len(p.report["cycles"]))
        for mine, theirs in zip(p.data["cycles"], p.report["cycles"]):
            self.assertEqual((mine["n"], mine["r"]), (theirs["n"], theirs["result"]))
            v = self.values(p, mine)
            self.assertIn("resume_to_user" if mine["r"] == "ok" else "", [*v, ""])
            for key, interval in theirs["latency_ms"].items():
                if key in v:  # the JSON's are in us, rounded outwards
                    lo, hi = v[key]
                    self.assertEqual([math.floor(lo / 1e3), math.ceil(hi / 1e3)],
                                     [round(x * 1e3) for x in interval])
            events = {p.data["names"][k]: (lo, hi) for k, lo, hi in mine["ev"]}
            self.assertEqual(set(events), set(theirs["events_s"]))
            if "wake" in events:  # from the middle of the wake, us
                zero = sum(theirs["events_s"]["wake"]) / 2
                for key, (lo, hi) in events.items():
                    self.assertLess(abs(lo / 1e6 + zero - theirs["events_s"][key][0]), 2.1e-6)
                    self.assertLess(abs(hi / 1e6 + zero - theirs["events_s"][key][1]), 2.1e-6)
            self.assertEqual("kernel" in theirs, "ph" in mine)
            if "kernel" in theirs:
                self.same_kernel(p, mine, theirs["kernel"])
        self.assertTrue(any("ph" in c for c in p.data["cycles"]))
        self.summary(p, p.report["summary"])
        # The same cycles are worth a look.
        self.assertEqual([p.data["cycles"][i]["n"] for i in p.data["chosen"][1:]],
                         [w["cycle"] for w in p.report["summary"]["worst"]])

    def summary(self, page, summary):
        rows = dict(re.findall(r'<tr data-key="(\w+)">(.*?)</tr>', page.text))
        for f in page.data["figures"].values():
            theirs = summary.get(f["key"] + "_ms")
            if not theirs:
                continue
            self.assertEqual((f["n"], f["failures"]), (theirs["n"], theirs["failures"]))
            for key in ("median", "ci95", "resolution", "p90", "p95", "min", "max"):
                self.assertEqual(f[key], theirs[key], f["key"] + " " + key)
            cells = re.findall(r"<td[^>]*>(.*?)</td>", rows[f["key"]])
            self.assertEqual(cells[:2], [str(theirs["n"]), str(theirs["failures"])])
            shown = re.sub("</?b>", "", cells[2])
            digits = len(shown.partition(".")[2])
            for text, exact in zip([shown, *cells[3].split("–")], [theirs["median"], *theirs["ci95"]]):
                self.assertAlmostEqual(float(text), exact, delta=.5001 * 10**-digits)

    def test_kernel_log(self):
        p = PAGES["kernlog"]
        self.assertEqual(len(p.data["cycles"]), KERNEL_CYCLES)
        for mine, theirs in zip(p.data["cycles"], p.report["cycles"]):
            self.assertEqual((mine["n"], mine["r"]), (theirs["n"], theirs["result"]))
            self.same_kernel(p, mine, theirs)
        for f in p.data["figures"].values():
            theirs = p.report["summary"].get(f["key"].replace("kernel_", "") + "_ms")
            if theirs:
                self.assertEqual(f["n"], theirs["n"])
                for key in ("median", "min", "max"):
                    self.assertAlmostEqual(f[key], theirs[key], delta=1e-4)

    def test_slowest(self):
        for p, summary in ((PAGES["kernlog"], PAGES["kernlog"].report["summary"]),
                           (PAGES["resume"], PAGES["resume"].report["summary"]["kernel"])):
            table = re.search(r'id="slowest-table">(.*?)</table>', p.text, re.S)[1]
            rows = re.findall(r'<tr><th scope="row".*?</tr>', table)
            self.assertEqual(len(rows), 5)
            for row, theirs in zip(rows, summary["slowest"]):
                keys = [float(x) for x in re.findall(r'data-v="([^"]*)"', row)]
                self.assertIn("<td class=\"l\">%s</td>" % theirs["phase"], row)
                self.assertEqual(keys[0], theirs["ms"]["median"])
                self.assertIn(theirs["ms"]["max"], keys)
            self.assertIn(">slow.0<", rows[0])

    def test_text_of_the_cards(self):
        p = PAGES["resume"]
        m = p.report["summary"]["resume_to_user_ms"]
        self.assertIn('<h3>resume to user space</h3><p class="big">%.2f ms</p>' % m["median"],
                      p.text)
        self.assertIn('<h3>failures</h3><p class="big">2 of 12</p>', p.text)


@unittest.skipUnless(browser.PROGRAM, "no chromium")
class Refused(pagedata.Recording):
    """All of them, after tasks stood still for a while."""

    def cycle(self, n):
        ms = pagedata.MS
        request = self.t + 1500 * ms
        self.beat(self.t, request + 20 * ms)
        self.beat(request + 670 * ms, request + 2500 * ms)
        self.mark(request, "request", n, "echo mem > /sys/power/state")
        self.mark(request + 680 * ms, "request-end", n, "exit 1: Device or resource busy")
        self.mark(request + 2400 * ms, "cycle-end", n, "no silence")
        self.t = request + 2500 * ms


class NothingCameBack(unittest.TestCase):
    def test_no_number_where_none_is(self):
        path, page = os.path.join(DIR, "none.jsonl"), os.path.join(DIR, "none.html")
        Refused(2).write(path)
        code, out, err = run("resumetime", "report", "--json", "--html", page, path)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(json.loads(out)["summary"]["suspend_entry_ms"]["failures"], 2)
        with open(page, encoding="utf-8") as f:
            text = f.read()
        text = text[text.index("<body>"):text.index("<script")]
        self.assertIsNone(re.search(r"(?i)\bnan\b|\binf\b", text))
        self.assertTrue("never" in text)


class Outputs(unittest.TestCase):
    def test_one_takes_no_other_along(self):
        f, source = os.path.join(DIR, "t.json"), os.path.join(DIR, "r.jsonl")
        code, out, err = run("resumetime", "report", "--html", os.path.join(DIR, "no", "p.html"),
                             "--trace-events", f, source)
        self.assertEqual(code, 1)
        self.assertIn("cannot be written", err)
        self.assertIn("resume to user space", out)
        with open(f, encoding="utf-8") as t:
            self.assertIn("traceEvents", json.load(t))
        code, out, _ = run("resumetime", "report", "--html", "-", source)
        self.assertEqual((code, out[:15]), (0, "<!DOCTYPE html>"))


class InABrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.b = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.b.close()

    def show(self, name, fragment="", width=1400):
        self.b.size(width, 844 if width < 500 else 1000, width < 500)
        self.b.open(PAGES[name].path, fragment)
        self.b.frame()
        self.b.run("document.getElementById('chart').scrollIntoView()")
        self.addCleanup(lambda: self.assertEqual(self.b.complaints(), []))

    def state(self):
        return self.b.run("(c => [Number(c.dataset.cycle), ...c.dataset.view.split(' ')"
                          ".map(Number)])(document.getElementById('chart'))")

    def place(self, selector):
        return self.b.run("(r => [r.left, r.top, r.width, r.height])(document.querySelector(%s)"
                          ".getBoundingClientRect())" % json.dumps(selector))

    def test_widths(self):
        for name in PAGES:
            for width in (1400, 390):
                with self.subTest(page=name, width=width):
                    self.show(name, width=width)
                    self.assertLessEqual(self.b.run("document.documentElement.scrollWidth"),
                                         self.b.run("innerWidth"))
                    self.assertGreater(self.place("#chart svg")[2], 0.85 * (width - 100))
                    self.assertEqual(self.b.run("getComputedStyle(document.getElementById("
                                                "'still')).display"), "none")

    def test_zoom_and_pan(self):
        self.show("resume")
        x, y, w, h = self.place("#chart svg")
        self.assertEqual(self.state()[1:], [0, 1])
        ticks = self.b.run("[...document.querySelectorAll('#chart .tick')].map(t => t.textContent)")
        self.b.mouse("mouseWheel", x + .75 * w, y + .5 * h, deltaX=0, deltaY=-400)
        self.b.frame()
        _, a, b = self.state()
        self.assertLess(b - a, .5)
        self.assertAlmostEqual(a + .75 * (b - a), .75, delta=.02)  # what is pointed at stays
        self.assertNotEqual(ticks, self.b.run("[...document.querySelectorAll('#chart .tick')]"
                                              ".map(t => t.textContent)"))
        self.b.mouse("mousePressed", x + .5 * w, y + .5 * h, button="left", buttons=1, clickCount=1)
        self.b.mouse("mouseMoved", x + .6 * w, y + .5 * h, button="left", buttons=1)
        self.b.mouse("mouseReleased", x + .6 * w, y + .5 * h, button="left", clickCount=1)
        self.b.frame()
        self.assertAlmostEqual(self.state()[1], a - .1 * (b - a), delta=.01)
        self.b.run("document.getElementById('chart').focus()")
        for key, then in (("+", lambda s: s[2] - s[1] < b - a), ("0", lambda s: s[1:] == [0, 1]),
                          ("PageDown", lambda s: s[0] == 2), ("PageUp", lambda s: s[0] == 1),
                          ("+", lambda s: s[2] - s[1] < 1), ("ArrowRight", lambda s: s[1] > .2)):
            self.b.key(key)
            self.b.frame()
            self.assertTrue(then(self.state()), (key, self.state()))

    def test_touch(self):
        self.show("resume", width=390)
        x, y, w, h = self.place("#chart svg")
        y += h / 2
        self.b.touch("touchStart", (x + .4 * w, y), (x + .6 * w, y))
        self.b.touch("touchMove", (x + .2 * w, y), (x + .8 * w, y))
        self.b.touch("touchEnd")
        self.b.frame()
        _, a, b = self.state()
        self.assertAlmostEqual(b - a, 1 / 3, delta=.05)

    def test_tooltip_has_the_figures(self):
        self.show("resume", "#cycle-2")
        device = next(d for d in PAGES["resume"].report["cycles"][1]["kernel"]["devices"]
                      if d["name"] == "slow.0" and d["phase"] == "resume")
        x, y, w, h = self.b.run(
            "(r => [r.left, r.top, r.width, r.height])([...document.querySelectorAll('#chart .dev')]"
            ".find(g => g.textContent.includes('slow.0')).querySelector('rect').getBoundingClientRect())")
        self.b.mouse("mouseMoved", x + w / 2, y + h / 2)
        self.b.frame()
        tip = self.b.run("document.getElementById('tip').innerText")
        self.assertIn("slow slow.0", tip)
        self.assertIn("resume: %s" % ("%.3f" % device["ms"]["value"]).rstrip("0").rstrip("."), tip)
        self.assertIn("without the console", tip)
        # Watts below it, and bytes.
        x, y, w, h = self.place("#chart svg")
        self.b.mouse("mouseMoved", x + w / 2, y + h - 20)
        self.b.frame()
        self.assertRegex(self.b.run("document.getElementById('tip').innerText"), r"meter\n.*\n[0-9.]+ W")

    def test_choosing_a_cycle(self):
        self.show("resume", "#cycle-5")
        self.assertEqual(self.state()[0], 5)
        self.b.run("document.getElementById('distribution').scrollIntoView()")
        x, y, w, h = self.b.run("(r => [r.left, r.top, r.width, r.height])(document.querySelector("
                                "'#dots a[href=\"#cycle-7\"] circle').getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.b.mouse(kind, x + w / 2, y + h / 2, button="left", clickCount=1)
        self.b.frame()
        self.assertEqual(self.state()[0], 7)
        self.assertEqual(self.b.run("location.hash"), "#cycle-7")
        self.assertTrue(self.b.run("document.getElementById('cycle-7').classList.contains('now')"))
        # A refused one has no sleep, and is drawn all the same.
        self.b.run("document.querySelector('#cycle-4 a').click()")
        self.b.frame()
        self.assertEqual(self.state()[0], 4)
        self.assertIn("refused", self.b.run("document.querySelector('.said').textContent"))

    def test_what_is_no_device_lies_beside(self):
        self.show("resume", "#cycle-1")
        boxes = self.b.run("[...document.querySelectorAll('#chart .oth rect')].map(r => ["
                           "Number(r.getAttribute('x')), Number(r.getAttribute('width')), "
                           "Number(r.getAttribute('y'))])")
        self.assertGreater(len(boxes), 3)
        for i, (x, w, y) in enumerate(boxes):
            for x2, w2, y2 in boxes[:i]:
                self.assertFalse(y == y2 and x + .1 < x2 + w2 and x2 + .1 < x + w and w > 2 and w2 > 2,
                                 "%s and %s" % ((x, w, y), (x2, w2, y2)))

    def rows(self, table):
        return self.b.run("[...document.querySelectorAll('#%s tbody tr')].filter(r => !r.hidden)"
                          ".map(r => r.cells[0].textContent)" % table)

    def test_tables(self):
        self.show("resume")
        self.assertEqual(self.rows("cycle-table"), [str(n) for n in range(1, 13)])
        self.b.run("(s => { s.value = 'refused'; s.dispatchEvent(new Event('change')); })"
                   "(document.getElementById('result'))")
        self.assertEqual(self.rows("cycle-table"), ["4", "10"])
        self.b.run("(s => { s.value = ''; s.dispatchEvent(new Event('change')); })"
                   "(document.getElementById('result'))")
        self.b.run("(s => { s.value = 'resource busy'; s.dispatchEvent(new Event('input')); })"
                   "(document.getElementById('filter'))")
        self.assertEqual(self.rows("cycle-table"), ["4", "10"])
        self.b.run("(s => { s.value = ''; s.dispatchEvent(new Event('input')); })"
                   "(document.getElementById('filter'))")
        self.b.run("[...document.querySelectorAll('#cycle-table thead button')]"
                   ".find(b => b.textContent === 'to user').click()")
        cycles = PAGES["resume"].report["cycles"]
        order = sorted((c for c in cycles if c["result"] == "ok"),
                       key=lambda c: -sum(c["latency_ms"]["resume_to_user"]))
        self.assertEqual(self.rows("cycle-table"), [str(c["n"]) for c in order] + ["4", "10"])
        self.b.run("(s => { s.value = 'slow'; s.dispatchEvent(new Event('input')); })"
                   "(document.getElementById('find'))")
        self.assertEqual(self.rows("device-table"), ["slow.0"])
        self.assertEqual(self.b.run("document.querySelectorAll('#chart .dev.hit').length"), 1)

    def test_dark(self):
        colours = []
        for dark in (False, True):
            self.b.dark(dark)
            self.show("kernlog")
            colours.append(self.b.run("getComputedStyle(document.body).backgroundColor"))
            # WCAG 2.1, 1.4.3: 4.5 to 1, of everything that is written.
            least = self.b.run("""(() => {
                const lum = (c) => c.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255).map((v) =>
                    v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
                    .reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
                const ground = (e) => { for (; e; e = e.parentElement) {
                    const c = getComputedStyle(e).backgroundColor;
                    if (!/, 0\\)$/.test(c)) return c; } return 'rgb(255,255,255)'; };
                const fill = (t) => { const f = getComputedStyle(t.closest('g').querySelector('rect')).fill;
                    return /^none|, 0\\)$/.test(f) ? ground(t) : f; };
                const ratio = (a, b) => { const [x, y] = [lum(a), lum(b)];
                    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
                let worst = [99];
                const take = (r, e) => { if (r < worst[0]) worst = [r, e.outerHTML.slice(0, 80)]; };
                for (const e of document.querySelectorAll('h1,h2,h3,p,td,th,a,dt,dd,span,button,caption,summary,label'))
                    if (e.textContent.trim() && !e.closest('svg') && e.offsetWidth)
                        take(ratio(getComputedStyle(e).color, ground(e)), e);
                for (const t of document.querySelectorAll('#chart g text'))
                    take(ratio(getComputedStyle(t).fill, fill(t)), t);
                return worst; })()""")
            self.assertGreater(least[0], 4.5, least)
        self.b.dark(False)
        self.assertNotEqual(*colours)

    def test_without_scripts(self):
        self.b.scripts(False)
        try:
            self.b.size(390, 844, True)
            self.b.open(PAGES["resume"].path, "#cycle-3")
            self.assertEqual(self.b.run("document.documentElement.className"), "")
            self.assertEqual(self.b.run("document.querySelectorAll('#still svg.bars').length"), 4)
            self.assertGreater(self.place("#still svg.bars")[3], 100)
            self.assertGreater(self.place("#cycle-3")[3], 10)
            self.assertLessEqual(self.b.run("document.documentElement.scrollWidth"), 390)
        finally:
            self.b.scripts(True)


if __name__ == "__main__":
    main()
