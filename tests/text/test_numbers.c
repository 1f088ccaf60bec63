/* SPDX-License-Identifier: MIT */
/* Lists of numbers: one a line, labels, columns, what perf and hyperfine write; and mistakes. */
#include "text/numbers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct ww_numbers *parse(const char *text, const char *column, const char *label)
{
	struct ww_numbers_options o = {.size = sizeof(o),
				       .name = "n.txt",
				       .column = column,
				       .label = label};
	struct ww_numbers *x = NULL;
	struct ww_error err = {0};

	if (ww_numbers_parse(text, strlen(text), &o, &x, &err) < 0)
		fail_msg("%s", err.text);
	return x;
}

static void refused(const char *text, const char *column, const char *label, const char *want)
{
	struct ww_numbers_options o = {.size = sizeof(o),
				       .name = "n.txt",
				       .column = column,
				       .label = label};
	struct ww_numbers *x = NULL;
	struct ww_error err = {0};

	assert_true(ww_numbers_parse(text, strlen(text), &o, &x, &err) < 0);
	assert_null(x);
	assert_string_equal(err.text, want);
}

/* NAN ends a list; -1 stands for a failed run. */
static void group(const struct ww_numbers *x, size_t i, const char *label, const char *measure,
		  const char *unit, const double *v)
{
	const struct ww_numbers_group *g = ww_numbers_at(x, i);
	size_t n = 0;

	assert_non_null(g);
	assert_string_equal(g->label, label);
	assert_string_equal(g->measure, measure);
	assert_string_equal(g->unit, unit);
	for (; !isnan(v[n]); n++) {
		assert_true(n < g->n);
		if (v[n] == -1)
			assert_true(isnan(g->value[n]));
		else
			assert_true(g->value[n] == v[n]);
	}
	assert_int_equal(g->n, n);
}

#define V(...) ((const double[]){__VA_ARGS__, NAN})

static void test_plain(void **state)
{
	struct ww_numbers *x = parse("# J\n12.5\n\n13\nfailed\n1e3\n", NULL, NULL);

	(void)state;
	group(x, 0, "", "", "", V(12.5, 13, -1, 1000));
	assert_null(ww_numbers_at(x, 1));
	/* An empty line is none; the fourth number is the fourth run. */
	assert_true(ww_numbers_at(x, 0)->when[3] == 4);
	ww_numbers_free(x);
	x = parse("12.5 J\n13 J\n", NULL, NULL);
	group(x, 0, "", "", "J", V(12.5, 13));
	ww_numbers_free(x);
	x = parse("energy [mWh]\r\n12,5\r\n13,25\r\n", NULL, NULL);
	group(x, 0, "", "energy", "mWh", V(12.5, 13.25));
	ww_numbers_free(x);
	x = parse("mean_power_W\n1\n2\n3", NULL, NULL);
	group(x, 0, "", "mean power", "W", V(1, 2, 3));
	ww_numbers_free(x);
}

static void test_labels(void **state)
{
	struct ww_numbers *x = parse("kernel;energy (J);note\n6.1;10,5;x\n6.6;9,5;\n6.1;10,7;y\n",
				     "energy (J)", "kernel");

	(void)state;
	group(x, 0, "6.1", "energy", "J", V(10.5, 10.7));
	group(x, 1, "6.6", "energy", "J", V(9.5));
	assert_true(ww_numbers_at(x, 1)->when[0] == 2);
	ww_numbers_free(x);
	/* The only column of words needs no name. */
	x = parse("on,1\noff,2\non,3\noff,\n", NULL, NULL);
	group(x, 0, "on", "", "", V(1, 3));
	group(x, 1, "off", "", "", V(2, -1));
	ww_numbers_free(x);
	x = parse("on 1\noff 2\n", "2", "1");
	group(x, 1, "off", "", "", V(2));
	ww_numbers_free(x);
	/* perf stat -x, */
	x = parse("5.1,Joules,power/energy-pkg/,100,100.00,,\n"
		  "2.1,Joules,power/energy-ram/,100,100.00,,\n"
		  "<not counted>,Joules,power/energy-pkg/,0,100.00,,\n",
		  "1", "3");
	group(x, 0, "power/energy-pkg/", "", "", V(5.1, -1));
	group(x, 1, "power/energy-ram/", "", "", V(2.1));
	ww_numbers_free(x);
}

static void test_columns(void **state)
{
	struct ww_numbers *x = parse("old,new\n1,2\n3,4\n5,\n", NULL, NULL);

	(void)state;
	group(x, 0, "old", "", "", V(1, 3, 5));
	group(x, 1, "new", "", "", V(2, 4));
	assert_non_null(strstr(ww_numbers_note(x, 0), "two variants in columns"));
	ww_numbers_free(x);
	x = parse("a,b,c\n1,2,3\n", "c,a", NULL);
	group(x, 0, "c", "", "", V(3));
	group(x, 1, "a", "", "", V(1));
	ww_numbers_free(x);
	x = parse("1,2,3\n4,5,6\n", "1,3", NULL);
	group(x, 0, "column 1", "", "", V(1, 4));
	group(x, 1, "column 3", "", "", V(3, 6));
	ww_numbers_free(x);
}

static void test_hyperfine(void **state)
{
	struct ww_numbers *x =
		parse("{\"results\": [\n"
		      " {\"command\": \"sleep \\\"1\\\"\", \"mean\": 1.0, \"times\": [1.25, 1.5],\n"
		      "  \"exit_codes\": [0, 1], \"parameters\": {\"n\": [1, {}]}},\n"
		      " {\"times\": [2], \"command\": \"b\", \"user\": null}\n"
		      "]}\n",
		      NULL, NULL);

	(void)state;
	group(x, 0, "sleep \"1\"", "time", "s", V(1.25, -1));
	group(x, 1, "b", "time", "s", V(2));
	ww_numbers_free(x);
	refused("{\"results\": [{\"times\": [1, x]}]}", NULL, NULL,
		"n.txt:1: a number was expected; this is not the JSON of hyperfine");
	refused("{\"results\":\n [{\"times\": [1", NULL, NULL,
		"n.txt:2: a list has no end; this is not the JSON of hyperfine");
	refused("{\"other\": 3}", NULL, NULL, "n.txt: no numbers");
	refused("{", NULL, NULL, "n.txt:1: a text was expected; this is not the JSON of hyperfine");
}

static void test_refusals(void **state)
{
	(void)state;
	refused("", NULL, NULL, "n.txt: no numbers");
	refused("# x\n", NULL, NULL, "n.txt: no numbers");
	refused("a\nb\n", NULL, NULL,
		"n.txt: no column of numbers; a list has one a line, as in 12.3");
	refused("1\n2\nabc\n", NULL, NULL,
		"n.txt:3: 'abc' is no number that can be compared; a run that failed is written as "
		"'failed'");
	refused("1\n2\ninf\n", NULL, NULL,
		"n.txt:3: 'inf' is no number that can be compared; a run that failed is written as "
		"'failed'");
	refused("1\n1e300\n", NULL, NULL,
		"n.txt:2: '1e300' is no number that can be compared; a run that failed is written "
		"as "
		"'failed'");
	refused("a,b,c\n1,2,3\n", NULL, NULL,
		"n.txt: which column holds the numbers? There are a, b, c; name it with --column");
	refused("a,b\n1,2\n", "d", NULL,
		"n.txt: no column 'd'; there are 2, named in the first line");
	refused("1,2\n", "3", NULL, "n.txt: no column '3'; there are 2, and no line of names");
	refused("x;1 J\nx;2 mJ\n", "2", NULL, "n.txt:2: in mJ, but in J before; use one unit");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),	 cmocka_unit_test(test_labels),
		cmocka_unit_test(test_columns),	 cmocka_unit_test(test_hyperfine),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
