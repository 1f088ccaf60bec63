#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pwrlog attribute and calibrate: whole reports, savings, plans, traces, wrong use."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import ROOT, Case, js, run, tool  # noqa: E402

DESK = """\
# the desk, read with a display of 0.1 W
all unplugged; 1.0 W; 3 VA
+box; 13,0; 20
+monitor; 40,5; 62
monitor=standby; 14,0
-monitor; 13,0; 20
+printer +lamp; 21,5
"""


def dumps(o):
    return json.dumps(o, separators=(",", ":"))


LAMPS = "0; 1.0\n25; 26.1\n40; 41.2\n60; 61.2\n100; 101.4\n"


class Attribute(Case):
    def file(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def attribute(self, *args, **kw):
        return run("pwrlog", "attribute", *args, cwd=self.dir, **kw)

    def refused(self, code, message, *args, **kw):
        self.assertEqual(self.attribute(*args, **kw), (code, "", message))

    def usage(self, message, *args):
        self.refused(2, "pwrlog attribute: %s\n'pwrlog attribute --help' tells how it is used.\n"
                     % message, *args)

    def test_report(self):
        self.file("desk.txt", DESK)
        self.assertEqual(self.attribute("--table", "desk.txt"), (0, """\
device          state               watts     VA
box             on       12.000 ± 0.082 W  20 VA
monitor         on       27.500 ± 0.082 W
monitor         standby   1.000 ± 0.082 W
printer         on                                only together with lamp
lamp            on                                only together with printer
all of them                48.00 ± 0.12 W         synthetic: never read together
meter's offset            1.000 ± 0.058 W
± is k = 2, about 95 %
not told apart: printer, lamp; together 8.500 ± 0.082 W
a reading that would tell more: with box, lamp on, which tells printer, lamp
  apart
or with box, printer on, which tells printer, lamp apart

6 readings

- no reading is more than were needed: nothing tests whether the devices add;
  read some state again, or another one
- volt-amperes are as read and only where they were: those of several devices do
  not add, and no watts follow from them
- a typed reading is uncertain by what its display rounds off (0.1 W: u = 0.029
  W); the meter's accuracy is not known and left out: --spec 2%+1W, or
  --calibration
- 1 further reading of a state read before: what a display rounds off does not
  average out
""", ""))

    def test_json(self):
        r = js("pwrlog", "attribute", "--json", "--table", self.file("desk.txt", DESK),
               "--order", "monitor=standby,box")
        self.assertEqual(list(r)[0], "schema")
        self.assertEqual(list(r)[-1], "notes")
        self.assertEqual(r["schema"], "wakewatt/attribute/1")
        self.assertEqual(r["offset_W"], {"value": 1.0, "u": 0.02887})
        box, monitor, standby, printer, lamp = r["devices"]
        self.assertEqual((box["name"], box["state"], box["estimable"]), ("box", "on", True))
        self.assertEqual(box["watts"], {"value": 12.0, "u": 0.04082})
        self.assertEqual((monitor["name"], standby["name"]), ("monitor", "monitor"))
        self.assertEqual(standby["state"], "standby")
        self.assertEqual(lamp["watts"], {"value": None, "u": None,
                                         "why": "only together with printer"})
        self.assertFalse(printer["estimable"])
        self.assertEqual(r["inseparable"], [{"devices": ["printer", "lamp"], "with_offset": False,
                                             "sum_W": {"value": 8.5, "u": 0.04082}}])
        self.assertEqual(r["next"][0]["on"], ["box", "lamp"])
        self.assertEqual(r["next"][0]["separates"], ["printer", "lamp"])
        names = {d["name"] for d in r["devices"]}
        for entry in r["next"]:
            for name in entry["on"] + entry["separates"]:
                self.assertIn(name.split("=")[0], names)
        self.assertEqual(r["total_W"], {"value": 48.0, "u": 0.05774})
        self.assertTrue(r["total_synthetic"])
        self.assertEqual([(x["name"], x["synthetic"]) for x in r["synthetic"]],
                         [("monitor", True), ("box", False)])
        self.assertEqual(r["fit"]["dof"], 0)
        self.assertNotIn("saving", r)

    def test_standard_input(self):
        code, out, err = self.attribute("--table", "-", stdin=DESK.encode())
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, self.attribute("--table", self.file("d", DESK))[1])

    def test_locale(self):
        """The same bytes in a locale with decimal commas."""
        path = self.file("desk.txt", DESK)
        env = dict(os.environ, LC_ALL="de_DE.UTF-8")
        self.assertEqual(self.attribute("--table", path, env=env),
                         self.attribute("--table", path))

    def test_saving(self):
        """62 W to 25 W with a display of 1 W and 0.2 %: 37.00 ± 0.82 W, 324.3 ± 7.2 kWh."""
        self.file("before.txt", "+old, 62\n")
        self.file("now.txt", "+new, 25\n")
        args = ("--table", "now.txt", "--against", "before.txt", "--spec", "0.2%")
        code, out, err = self.attribute(*args, "--price", "0.0702 $", "--cost", "120 $")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("""
saving                     watts
before, as shown  62.00 ± 0.58 W
now, as shown     25.00 ± 0.58 W
saved             37.00 ± 0.82 W
a year at 24 h a day: 324.3 ± 7.2 kWh, 22.77 ± 0.51 $
pay-back of 120.00 $: 5.27 ± 0.12 years
""", out)
        s = js("pwrlog", "attribute", "--json", *args, "--price", "0.0702", "--hours-per-day", "8",
               cwd=self.dir)["saving"]
        self.assertAlmostEqual(s["saving_W"]["value"], 37, 9)
        self.assertAlmostEqual(s["saving_W"]["u"], 0.41048, 4)
        self.assertAlmostEqual(s["kWh_per_year"]["value"], 108.114, 2)
        self.assertIsNone(s["now_W"]["value"])
        self.assertIn("why", s["now_W"])
        self.assertNotIn("payback_years", s)

    def test_plan(self):
        self.assertEqual(self.attribute("--plan", "box,monitor,\"disk, old\""), (0, """\
# 4 readings for 3 devices, 6 plugs to change.
# Uncertainty of a device, by that of a reading: 1.00, the least there is for so many.
# Plugging in one after the other: 1.41 with 4 readings. No plan of these does
# better than 1.00.
# Write each reading behind the last comma; then: pwrlog attribute --table FILE
box,monitor,"disk, old",W
0,0,0,
1,0,1,
1,1,0,
0,1,1,
""", ""))
        p = js("pwrlog", "attribute", "--json", "--plan", "a,b,c,d,e,f,g", "--reading-u", "0.1")
        self.assertEqual(p["schema"], "wakewatt/plan/1")
        self.assertEqual(len(p["readings"]), 8)
        for u in p["u_W"]:
            self.assertAlmostEqual(u, 0.07071067811865476, 12)
        self.assertTrue(p["hadamard"])
        self.refused(1, "pwrlog attribute: plan.csv: no line with a reading: none is filled in; "
                     "write one a line, such as 'all unplugged, 1' and '+box, 13'\n", "--table",
                     self.file("plan.csv", self.attribute("--plan", "a,b")[1]) and "plan.csv")

    def test_plan_for(self):
        """The devices of a table or a trace; a list adds to them."""
        self.file("desk.txt", DESK)

        def devices(*args):
            return js("pwrlog", "attribute", "--json", *args, cwd=self.dir)["devices"]
        of = ["box", "monitor", "printer", "lamp"]
        self.assertEqual(devices("--table", "desk.txt", "--plan"), of)
        self.assertEqual(devices("--plan", "--table", "desk.txt"), of)
        self.assertEqual(devices("--plan", "tv,\"Box\",box", "--table", "desk.txt"),
                         ["tv", "Box", "box", "monitor", "printer", "lamp"])
        self.assertEqual(devices("--plan=a,b"), ["a", "b"])
        self.assertEqual(devices("--plan", "fridge"), ["fridge"])
        rows = ["%d,%.1f,%s" % (i, 13 if i >= 60 else 1, "+tv" if i == 58 else "")
                for i in range(120)]
        self.file("tv.csv", "\n".join(["t_s,power_W,label"] + rows) + "\n")
        self.assertEqual(devices("--plan", "tv.csv"), ["tv"])
        self.assertEqual(devices("tv.csv", "--plan"), ["tv"])
        self.assertEqual(devices("--plan", "a,b", "tv.csv"), ["a", "b", "tv"])
        self.refused(1, "pwrlog attribute: none.csv: No such file or directory\n", "--plan",
                     "none.csv")

    def test_plan_searched(self):
        p = js("pwrlog", "attribute", "--json", "--plan", "a,b,c,d,e", "--readings", "6")
        for u in p["u_W"]:
            self.assertLess(u, 0.8945)

    def test_price(self):
        """What follows the currency says only what is known."""
        self.file("before.txt", "+old, 62\n")
        self.file("now.txt", "+new, 25\n")
        for price in ("0.0702 $/kWh", "0.0702 $ per kWh", "$/kWh 0.0702", "$0.0702"):
            out = self.attribute("--table", "now.txt", "--against", "before.txt", "--price", price,
                                 "--cost", "100")[1]
            self.assertIn(" 22.77 ± 0.50 $\npay-back of 100.00 $: ", out)
        out = self.attribute("--table", "now.txt", "--against", "before.txt", "--price",
                             "0.0702/kWh")[1]
        self.assertIn(" 22.77 ± 0.50\n", out)

    def test_currencies(self):
        """Neither a decimal comma nor cents are worth a hundred times as much."""
        self.file("before.txt", "+old, 62\n")
        self.file("now.txt", "+new, 25\n")
        t = ("--table", "now.txt", "--against", "before.txt")
        for price in ("0,30 EUR", "0,300EUR", "0.3 EUR/kWh"):
            self.assertIn(" 97.3 ± 2.1 EUR\n", self.attribute(*t, "--price", price)[1])
        self.usage("--price '30 ct': of which currency? Write '0.3 EUR', or another one", *t,
                   "--price", "30 ct")
        self.usage("--cost '100 EUR': another price is in $; give both in one currency", *t,
                   "--price", "$0.07", "--cost", "100 EUR")
        for price in ("1,234", "1.234,5", "x", "-3"):
            self.usage("--price '%s': expected a price, such as 0.0702 or '0.30 EUR'" % price, *t,
                       "--price", price)

    def test_each_alone(self):
        self.file("alone.txt", "laptop 14.2\nrouter 6.1\nprinter 3.0\n")
        out = " ".join(self.attribute("--table", "alone.txt")[1].split())
        self.assertIn("'router', 'printer': below zero: something else changed in these readings, "
                      "or each was measured alone: then take out the one before (-name), or write "
                      "columns of 0 and 1", out)

    def test_no_watts(self):
        """VA and V are not watts."""
        self.file("va.txt", "box,monitor,VA\n0,0,1\n1,0,13\n1,1,40\n")
        self.refused(1, "pwrlog attribute: va.txt:1: 'VA' is not watts, and no column is; watts do "
                     "not follow from it: name a column W\n", "--table", "va.txt")
        self.file("v.txt", "change,V\nall unplugged,230\n+box,231\n")
        self.refused(1, "pwrlog attribute: v.txt:1: 'V' is not watts, and no column is; watts do "
                     "not follow from it: name a column W\n", "--table", "v.txt")

    def test_never_on(self):
        self.file("d.txt", "d0,d1,W\n0,0,1\n0,1,48.5\n")
        r = js("pwrlog", "attribute", "--json", "--table", "d.txt", cwd=self.dir)
        self.assertEqual([d["name"] for d in r["devices"]], ["d0", "d1"])
        self.assertEqual(r["next"][0]["on"], ["d0", "d1"])
        self.assertIn("'d0': never on in a reading", r["notes"])

    def test_control_bytes(self):
        """Nothing of a file steers a terminal."""
        self.file("c.txt", "all off, 1\n+b\x1b[31mx, 13\n+b\x11, \x1b[2J\n")
        code, out, err = self.attribute("--table", "c.txt")
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, "pwrlog attribute: c.txt:3: '\\x1b[2J' is not a reading in W\n")
        self.file("c.txt", "all off, 1\n+b\x1b[31mx, 13\n")
        code, out, err = self.attribute("--table", "c.txt")
        self.assertEqual((code, err), (0, ""))
        self.assertNotIn("\x1b", out)
        code, out, err = run("pwrlog", "calibrate", "-", stdin=b"0;1\n25;\x1b[2J\n")
        self.assertEqual((code, out), (1, ""))
        self.assertNotIn("\x1b", err)

    def test_trace(self):
        """Marks of a recorded trace, as a stream on standard input."""
        rows = [dumps({"type": "wakewatt", "format": 1}),
                dumps({"type": "source", "id": 1, "kind": 0, "name": "meter"}),
                dumps({"type": "channel", "id": 1, "source": 1, "name": "power",
                            "quantity": "power", "unit": "W", "semantics": 0, "scale": 0.1,
                            "resolution": 0.1})]
        noise, watts = 7, 1
        says = {30: ("all unplugged", 1), 100: ("+box", 13), 200: ("+monitor", 40.5),
                300: ("-box", 28.5)}
        for t in range(400):
            at = (1000 + t) * 1_000_000_000
            if t in says:
                label, watts = says[t]
                rows.append(dumps({"type": "mark", "t": [at, at], "kind": "label",
                                        "text": label}))
            noise = noise * 48271 % 2147483647
            rows.append(dumps({"type": "sample", "source": 1, "t": [at, at],
                                    "codes": [round(10 * watts + noise % 5 - 2)]}))
        rows.append(dumps({"type": "end"}))
        text = "".join(r + "\n" for r in rows).encode()
        r = js("pwrlog", "attribute", "--json", "-", stdin=text)
        self.assertEqual([d["name"] for d in r["devices"]], ["box", "monitor"])
        for d, truth in zip(r["devices"], (12, 27.5)):
            self.assertLess(abs(d["watts"]["value"] - truth), 3 * d["watts"]["u"])
            self.assertLess(d["watts"]["u"], 0.1)
        self.assertIn("start", r)

    def test_refused(self):
        self.file("bad.txt", "+box, 13\n+monitor, abc\n")
        self.refused(1, "pwrlog attribute: bad.txt:2: 'abc' is not a reading in W\n", "--table",
                     "bad.txt")
        self.refused(1, "pwrlog attribute: none.txt: No such file or directory\n", "--table",
                     "none.txt")
        self.file("ok.txt", "+box, 13\n")
        self.refused(1, "pwrlog attribute: --order: no device 'x' in the readings\n", "--table",
                     "ok.txt", "--order", "x")
        self.refused(1, "pwrlog attribute: ok.txt:1: not JSON; a calibration is what pwrlog "
                     "calibrate --json prints\n", "--table", "ok.txt", "--calibration", "ok.txt")

    def test_usage(self):
        self.file("ok.txt", "+box, 13\n")
        t = ("--table", "ok.txt")
        self.usage("name a trace, or a table with --table")
        self.usage("--offset 'x': expected watts, such as 1 or 1±0.1", *t, "--offset", "x")
        self.usage("--spec '2%%': expected the maker's accuracy, such as 0.2%, 1W or 2%+1W", *t,
                   "--spec", "2%%")
        self.usage("--price, --cost and --hours-per-day are of a saving: --against tells what was "
                   "there before", *t, "--price", "1")
        self.usage("--cost needs the --price of a kWh", *t, "--against", "ok.txt", "--cost", "5")
        self.usage("--hours-per-day '25': expected a number from 0 to 24", *t, "--hours-per-day",
                   "25")
        self.usage("--readings, --one-flip and --reading-u go with --plan", *t, "--readings", "5")
        self.usage("--plan of which devices? A list (--plan a,b,c), or readings of them (FILE, "
                   "--table FILE)", "--plan")
        self.usage("--plan and --against exclude each other", *t, "--plan", "--against", "ok.txt")
        self.usage("traces or tables, not both at once: 'ok.txt' and 'x.csv'", *t, "x.csv")
        self.usage("--plan: 3 readings: 3 devices and the meter's offset take 4 at least, and a "
                   "plan has no more than 512", "--plan", "a,b,c", "--readings", "3")
        self.usage("--offset and --calibration exclude each other: the calibration has an offset",
                   *t, "--offset", "1", "--calibration", "x")
        self.usage("unknown option '--nope'", "--nope")
        code, out, err = self.attribute("--help")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith("usage: pwrlog attribute "))
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_calibrate(self):
        path = self.file("lamps.txt", LAMPS)
        self.assertEqual(run("pwrlog", "calibrate", path, "--correct", "26"), (0, """\
the meter shows offset + gain × watts
                                         value
offset                         1.006 ± 0.048 W
gain                         1.00386 ± 0.00085
readings off the line by                0.03 W
off the line without a load     -0.01 ± 0.10 W
± is k = 2, about 95 %
5 readings of loads from 0 to 100 W, least squares

- it holds between the least and the greatest load, and for loads like these:
  resistive ones say nothing of other power factors

a reading of 26 W is 24.898 ± 0.066 W
""", ""))
        code, out, err = run("pwrlog", "calibrate", "--json", "--meter", "kitchen", path)
        self.assertEqual((code, err), (0, ""))
        c = json.loads(out)
        self.assertEqual((c["schema"], c["meter"]), ("wakewatt/calibration/1", "kitchen"))
        self.assertAlmostEqual(c["gain"]["value"], 1.003859649122807, 13)
        self.file("cal.json", out)
        c = js("pwrlog", "calibrate", "--json", "--correct", "26±0.2", path)
        self.assertEqual(c["reading_W"], {"value": 26, "u": 0.1})
        self.assertAlmostEqual(c["corrected_W"]["value"], 24.8976, 4)
        self.assertGreater(c["corrected_W"]["u"], 0.1)
        self.file("one.txt", "+lamp, 26.0\n")
        r = js("pwrlog", "attribute", "--json", "--table", "one.txt", "--calibration", "cal.json",
               cwd=self.dir)
        self.assertAlmostEqual(r["devices"][0]["watts"]["value"], 24.8976, 4)
        self.assertAlmostEqual(r["devices"][0]["watts"]["u"], 0.0332, 4)
        self.assertEqual(run("pwrlog", "calibrate")[::2], (2, (
            "pwrlog calibrate: name a table of known loads, or - for standard input\n"
            "'pwrlog calibrate --help' tells how it is used.\n")))
        self.assertEqual(run("pwrlog", "calibrate", "-", stdin=b"25;26\n")[::2], (1, (
            "pwrlog calibrate: standard input: one load only; a line needs two loads, such as "
            "'0; 1.0' and '25.0; 26.1'\n")))

    def test_example(self):
        """The thin client: its parts, 37 W saved, years to pay back."""
        p = subprocess.run([os.path.join(ROOT, "examples", "thinclient.sh")], capture_output=True,
                           env=dict(os.environ, PWRLOG=tool("pwrlog")), check=False, timeout=60)
        out = p.stdout.decode()
        self.assertEqual((p.returncode, p.stderr), (0, b""))
        for line in ("supply          on      2.000 ± 0.077 W",
                     "all of them            25.000 ± 0.096 W",
                     "saved     37.00 ± 0.11 W",
                     "a year at 24 h a day: 324.3 ± 1.0 kWh, 22.77 ± 0.07 $",
                     "\nHow long a small UPS holds it\n", "runtime           48 min",
                     "\nWhat a day without mains takes\n",
                     "for 24 h: 600 Wh, 50.0 Ah at 12 V without any loss; it takes 147 ± 14 Ah"):
            self.assertIn(line + "\n", out)


if __name__ == "__main__":
    main()
