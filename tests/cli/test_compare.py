#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pwrlog compare: lists, CSV, hyperfine and traces of runs; what it says, and wrong use."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tap import main  # noqa: E402
from ww import Case, js, run  # noqa: E402

A = "100.2\n101.0\n99.8\n100.5\n100.9\n99.9\n100.4\n100.7\n"
B = "98.9\n99.6\n98.8\n99.5\n99.3\n98.7\n99.1\n99.6\n"
HELP = "'pwrlog compare --help' tells how it is used.\n"

PAIRED = """\
energy: B uses 1.2 % less; 95 %: 1.1-1.4 %

measure  variant  runs             mean  from run to run
energy   A           8  100.42 ± 0.38 J           0.44 J
         B           8   99.19 ± 0.31 J           0.36 J

measure      B/A             95 %          p  p ranks  seen from
energy   0.98768  0.98599-0.98937  <0.000001   0.0078     0.24 %

measure      difference  shift (HL)          interval  delta      d
energy   -1.24 ± 0.18 J      -1.225  -1.450 to -1.050  -1.00  -6.05
± is k = 2, about 95 %

- the ratio is the geometric mean of the pairs' ratios, its interval Student's t
  of their logarithms
- taken as measured with one meter: its gain cancels in the ratio; its offset
  does not, and is not known: it is in no interval
"""

VARIANTS = """\
energy: 6.6 uses 1.2 % less than 6.1; 95 %: 0.6-1.7 %
energy: 6.1 and 6.12: no difference seen; one of 1.6 % would have been

measure  variant  runs  failed             mean  from run to run
energy   6.1         3       1  100.47 ± 0.66 J           0.25 J
         6.6         3           99.30 ± 0.52 J           0.20 J
         6.12        3            100.7 ± 1.5 J           0.57 J

measure  variant   ratio           95 %       p  p ranks  seen from
energy   6.6      0.9884  0.9832-0.9936  0.0076     0.10     0.70 %
         6.12     1.0026  0.9907-1.0147    0.52     0.70      1.6 %

measure  variant      difference  shift (HL)  delta      d
energy   6.6      -1.17 ± 0.54 J       -1.20  -1.00  -5.14
         6.12        0.3 ± 1.3 J        0.40   0.33   0.60
± is k = 2, about 95 %

- energy: 1 of 4 runs of 6.1 and 0 of 3 of 6.6 gave no value; they are counted,
  but in no figure
- so few runs that a test by ranks could never tell a difference: what is said
  rests on a normal scatter
- energy: 1 of 4 runs of 6.1 and 0 of 3 of 6.12 gave no value; they are counted,
  but in no figure
- not paired: the ratio is that of the geometric means, its interval Welch's t
  of the logarithms
- 2 variants beside one: p is corrected for their number (Holm), the intervals
  hold each for itself
- taken as measured with one meter: its gain cancels in the ratio; its offset
  does not, and is not known: it is in no interval
"""


class Compare(Case):
    def file(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def ab(self):
        return self.file("A.txt", A), self.file("B.txt", B)

    def test_paired(self):
        got = run("pwrlog", "compare", "--paired", "--measure", "energy", "--unit", "J", *self.ab())
        self.assertEqual(got, (0, PAIRED, ""))

    def test_json(self):
        report = js("pwrlog", "compare", "--paired", "--json", *self.ab())
        self.assertEqual(list(report), ["schema", "confidence", "power", "comparisons", "notes"])
        self.assertEqual(report["schema"], "wakewatt/compare/1")
        c, = report["comparisons"]
        self.assertAlmostEqual(c["ratio"], 0.98768, 5)
        self.assertAlmostEqual(c["ratio_ci"][0], 0.98599, 5)
        self.assertAlmostEqual(c["ratio_ci"][1], 0.98937, 5)
        self.assertEqual(c["mann_whitney"], {"u": 0, "p": 0.0001554})
        self.assertEqual(c["signed_rank"], {"p": 0.007812})
        self.assertEqual(c["brunner_munzel"], {"p": None})
        self.assertEqual((c["pairs"], c["verdict"], c["cliffs_delta"]), (8, "less", -1))
        unpaired, = js("pwrlog", "compare", "--json", *self.ab())["comparisons"]
        self.assertEqual(unpaired["hodges_lehmann"]["shift"], -1.25)
        self.assertEqual(unpaired["pairs"], 0)

    def test_variants(self):
        path = self.file("k.csv", "kernel;energy (J);note\n6.1;100,5;x\n6.6;99,5;\n6.1;100,7;y\n"
                                  "6.6;99,1;\n6.12;101,2;\n6.12;100,1;\n6.1;100,2;\n6.6;99,3;\n"
                                  "6.12;100,9;\n6.1;failed;\n")
        got = run("pwrlog", "compare", "--label", "kernel", path)
        self.assertEqual(got, (0, VARIANTS, ""))
        other = js("pwrlog", "compare", "--label", "kernel", "--base", "6.6", "--json", path)
        self.assertEqual([(c["a"]["variant"], c["b"]["variant"]) for c in other["comparisons"]],
                         [("6.6", "6.1"), ("6.6", "6.12")])

    def test_stdin_and_columns(self):
        text = b"old,new\n1,2\n1.1,2.2\n1.2,2.1\n1.05,2.0\n"
        code, out, err = run("pwrlog", "compare", "--paired", "--measure", "time", "-", stdin=text)
        self.assertEqual(code, 0)
        self.assertEqual(out.splitlines()[0], "time: new takes 91 % more; 95 %: 73-111 %")
        self.assertEqual(err, "pwrlog compare: -: 'old' and 'new' are taken as two variants in "
                              "columns\n")

    def test_hyperfine(self):
        path = self.file("t.json", json.dumps({"results": [
            {"command": "./a", "times": [1.00, 1.02, 0.99, 1.01], "exit_codes": [0, 0, 0, 0]},
            {"command": "./b", "times": [2.50, 2.52, 9.9, 2.54], "exit_codes": [0, 0, 1, 0]}]}))
        c, = js("pwrlog", "compare", "--json", path)["comparisons"]
        self.assertEqual((c["measure"], c["unit"]), ("time", "s"))
        self.assertEqual((c["b"]["runs"], c["b"]["failed"]), (3, 1))
        self.assertEqual(c["sentence"], "./b takes 2.51 times as long; 95 %: 2.46-2.56")

    def test_no_difference(self):
        a = self.file("a", "10\n10.4\n9.7\n10.1\n9.9\n10.2\n")
        b = self.file("b", "10.1\n10.3\n9.8\n10\n9.9\n10.3\n")
        c, = js("pwrlog", "compare", "--measure", "energy", "--unit", "J", "--json", a,
                b)["comparisons"]
        self.assertEqual(c["verdict"], "no difference seen")
        self.assertEqual(c["sentence"],
                         "a and b: no difference seen; one of 4.1 % would have been")
        self.assertAlmostEqual(c["would_be_seen"], 0.041, 3)

    def test_offset(self):
        a = self.file("a", "10\n10.1\n9.9\n10.05\n")
        b = self.file("b", "20\n20.1\n19.9\n20.05\n")
        c, = js("pwrlog", "compare", "--offset-u", "0.3", "--json", a, b)["comparisons"]
        self.assertAlmostEqual(c["u_meter"], 0.3 * (1 / 10.0125 - 1 / 20.0125), 4)
        c, = js("pwrlog", "compare", "--gain-u", "5", "--json", a, b)["comparisons"]
        self.assertEqual(c["u_meter"], 0)
        c, = js("pwrlog", "compare", "--gain-u", "5", "--meters", "two", "--json", a,
                b)["comparisons"]
        self.assertAlmostEqual(c["u_meter"], 0.05 * 2 ** 0.5, 4)

    def test_runs(self):
        """A trace of 'pwrlog run', interleaved: pairs, and every measure."""
        trace = self.path("ab.wwt")
        code, _, err = run("pwrlog", "run", "-m", "sim:?watts=25&noise=0.1&rate=200&seed=3", "-n",
                           "4", "--baseline", "0.2", "--settle", "0", "--interleave", "sleep 0.1",
                           "-o", trace, "--", "sleep", "0.3")
        self.assertEqual(code, 0, err)
        report = js("pwrlog", "compare", "--json", trace)
        rows = {c["measure"]: c for c in report["comparisons"]}
        self.assertEqual(list(rows), ["energy", "energy above baseline", "time", "mean power"])
        self.assertEqual({c["pairs"] for c in rows.values()}, {4})
        self.assertEqual(rows["time"]["verdict"], "less")
        self.assertLess(rows["energy"]["ratio_ci"][0], 0.4)
        self.assertGreater(rows["energy"]["ratio_ci"][1], 0.3)
        # The load is the simulator's own: nothing above the baseline, the same power.
        self.assertEqual(rows["mean power"]["a"]["runs"], 4)
        self.assertAlmostEqual(rows["mean power"]["ratio"], 1, 2)
        apart = js("pwrlog", "compare", "--unpaired", "--json", trace)["comparisons"][0]
        self.assertEqual(apart["pairs"], 0)
        code, out, err = run("pwrlog", "compare", trace, self.ab()[0])
        self.assertEqual((code, out, err), (1, "", "pwrlog compare: a trace and a list of numbers "
                                                   "cannot be compared with each other\n"))

    def test_refused(self):
        a, b = self.ab()
        bad = self.file("bad", "1\n2\nabc\n")
        for args, text in (
                ((self.path("no"), a), self.path("no") + ": No such file or directory\n"),
                ((a,), a + ": one set of numbers only; name a second file, or the column that "
                           "tells the variants apart with --label\n"),
                ((a, bad), bad + ":3: 'abc' is no number that can be compared; a run that failed "
                                 "is written as 'failed'\n"),
                (("--base", "C", a, b), "there is no variant 'C' with a value of value\n"),
                (("--paired", a, self.file("C.txt", "1\n2\n")),
                 "A has 8 values and C 2: pairs need as many of each; without pairing they can "
                 "be compared as they are\n")):
            self.assertEqual(run("pwrlog", "compare", *args), (1, "", "pwrlog compare: " + text))

    def test_names(self):
        a = self.path("A")
        with open(a, "w", encoding="ascii") as f:
            f.write("5\n5\n5\n5\n")
        self.assertEqual(run("pwrlog", "compare", a, a),
                         (2, "", "pwrlog compare: two files are called 'A': tell them apart with "
                                 "--names A,B\n" + HELP))
        d, = js("pwrlog", "compare", "--names", "x,y", "--json", a, a)["comparisons"]
        self.assertEqual(d["difference"]["why"], "nothing scatters")

    def test_usage(self):
        for args, text in (
                ((), "name the files to compare\n"),
                (("--paired", "--unpaired", "x"), "--paired and --unpaired exclude each other\n"),
                (("--confidence", "120", "x"),
                 "--confidence: '120' is not a number above 0 and below 100\n"),
                (("--meters", "three", "x"), "--meters: 'one' or 'two', not 'three'\n"),
                (("--wrong",), "unknown option '--wrong'\n")):
            self.assertEqual(run("pwrlog", "compare", *args),
                             (2, "", "pwrlog compare: " + text + HELP))
        code, out, err = run("pwrlog", "compare", "--help")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith("usage: pwrlog compare "))
        self.assertLessEqual(max(map(len, out.splitlines())), 90)


if __name__ == "__main__":
    main()
