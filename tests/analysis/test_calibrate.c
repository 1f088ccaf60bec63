/* SPDX-License-Identifier: MIT */
/* A meter's line: worked figures, York's fit, dead zones, the file there and back. */
#include "analysis/calibrate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct ww_calibration *c;
static struct ww_error e;

#define NEAR(x, y, tol)                                                                            \
	do {                                                                                       \
		double near_x = (x), near_y = (y);                                                 \
		if (!(fabs(near_x - near_y) <= (tol)))                                             \
			fail_msg("%s = %.17g, not %.17g", #x, near_x, near_y);                     \
	} while (0)

static int attempt(const char *text, const struct ww_calibration_options *o)
{
	ww_calibration_free(c);
	c = NULL;
	e = (struct ww_error){0};
	return ww_calibration_fit("t", text, strlen(text), o, &c, &e);
}

static const struct ww_calibration_info *fit(const char *text)
{
	if (attempt(text, NULL) < 0)
		fail_msg("%s", e.text);
	return ww_calibration_get(c);
}

static bool noted(const char *part)
{
	for (size_t i = 0; ww_calibration_note(c, i); i++)
		if (strstr(ww_calibration_note(c, i), part))
			return true;
	return false;
}

static void is_worked(const struct ww_calibration_info *i)
{
	struct ww_quantity p;

	NEAR(i->offset.value, 1.006315789473701, 1e-12);
	NEAR(i->gain.value, 1.003859649122807, 1e-13);
	NEAR(i->s, 0.03208176687905097, 1e-13);
	NEAR(i->offset.u, 0.023906043644764906, 1e-13);
	NEAR(i->gain.u, 0.00042493338303120626, 1e-15);
	NEAR(i->cov, -8.125577100645564e-06, 1e-17);
	p = ww_calibration_correct(c, (struct ww_quantity){26, 0.1 / sqrt(12)});
	NEAR(p.value, 24.897588255854583, 1e-11);
	NEAR(p.u, 0.03322069617278079, 1e-12);
}

static void test_worked(void **state)
{
	static const char *const texts[] = {
		"0;1.0\n25;26.1\n40;41.2\n60;61.2\n100;101.4\n",
		"reference;reading\n0,0;1,0\n25,0;26,1\n40;41,2\n60;61,2\n100;101,4\n",
		"# a bulb each\n0, 1.0\n25, 26.1 W\n40, 41.2 W\n60, 61.2\n100 W, 101.4\n",
		"0 1.0\n25 26.1\n40 41.2\n60 61.2\n100 101.4\n",
		"0\t1.0\r\n25\t26.1\r\n40\t41.2\r\n60\t61.2\r\n100\t101.4",
	};

	(void)state;
	for (size_t k = 0; k < WW_COUNTOF(texts); k++) {
		is_worked(fit(texts[k]));
		assert_int_equal(ww_calibration_get(c)->n, 5);
		assert_false(ww_calibration_get(c)->york);
		assert_false(ww_calibration_get(c)->dead_zone);
	}
}

/*
 * Pearson's data with York's weights, the usual test of this fit: slope -0.4805 +- .0580
 * and intercept 5.4799 +- .2950, before they are scaled by the misfit (York et al., 2004).
 */
static void test_york(void **state)
{
	static const double x[10] = {0, .9, 1.8, 2.6, 3.3, 4.4, 5.2, 6.1, 6.5, 7.4},
			    wx[10] = {1000, 1000, 500, 800, 200, 80, 60, 20, 1.8, 1},
			    y[10] = {5.9, 5.4, 4.4, 4.6, 3.5, 3.7, 2.8, 2.8, 2.4, 1.5},
			    wy[10] = {1, 1.8, 4, 8, 20, 20, 70, 70, 100, 500};
	struct ww_cal_point p[10];
	struct ww_cal_line l;

	(void)state;
	for (int i = 0; i < 10; i++)
		p[i] = (struct ww_cal_point){x[i], 1 / sqrt(wx[i]), y[i], 1 / sqrt(wy[i])};
	assert_int_equal(ww_cal_york(p, 10, &l), 0);
	NEAR(l.gain.value, -0.480533, 2e-6);
	NEAR(l.offset.value, 5.479911, 2e-5);
	NEAR(l.gain.u, 0.0580, 5e-5);
	NEAR(l.offset.u, 0.2950, 6e-5);
	NEAR(l.chi2, 11.866, 2e-3);
	for (int i = 0; i < 10; i++)
		p[i].x = 1;
	assert_int_equal(ww_cal_york(p, 10, &l), -EINVAL);
}

/* A reference that is uncertain makes the line so, and shows in what it was fitted by. */
static void test_uncertain_reference(void **state)
{
	struct ww_calibration_options o = {.size = sizeof(o), .reference_u = 0.1};
	double plain = fit("0;1.0\n25;26.1\n40;41.2\n60;61.2\n100;101.4\n")->gain.u;

	(void)state;
	assert_int_equal(attempt("0;1.0\n25;26.1\n40;41.2\n60;61.2\n100;101.4\n", &o), 0);
	assert_true(ww_calibration_get(c)->york);
	assert_true(ww_calibration_get(c)->gain.u > 2 * plain);
	assert_true(fit("0;1.0\n25 \xc2\xb1 0.2;26.1\n100\xc2\xb1"
			"0.2;101.4\n")
			    ->york);
	assert_true(fit("0;1.0;0.1\n25;26.1;0.1\n100;101.4;0.1\n")->york);
	assert_true(noted("third column"));
	assert_true(fit("0 1.0\n25 +- 0.2 26.1\n100 +- 0.2 101.4\n")->york);
}

/* A meter that shows nothing below some watts: its empty reading is off the line. */
static void test_dead_zone(void **state)
{
	const struct ww_calibration_info *i = fit("0;0.0\n25;26.1\n40;41.2\n60;61.2\n100;101.4\n");

	(void)state;
	assert_true(i->dead_zone);
	assert_int_equal(i->n, 4);
	NEAR(i->zero, -i->offset.value, 1e-12);
	NEAR(i->lo, 25, 0);
	assert_true(i->offset.value > 0.9);
	assert_true(noted("dead zone"));
	/* One load beside none: whether the offset holds under load, nobody knows. */
	fit("0;1.0\n25;26.1\n");
	assert_true(noted("only if it is the same under load"));
	assert_true(noted("two points make a line"));
	fit("25;26.1\n40;41.2\n60;61.2\n");
	assert_true(noted("nothing was read without a load"));
}

/* What is written is read as the same line; the covariance is kept. */
static void test_file(void **state)
{
	struct ww_calibration_options o = {.size = sizeof(o), .meter = "P4400 \"left\""};
	struct ww_calibration *back;
	struct ww_calibration_info was;
	char *text;

	(void)state;
	assert_int_equal(attempt("0;1.0\n25;26.1\n40;41.2\n60;61.2\n100;101.4\n", &o), 0);
	was = *ww_calibration_get(c);
	assert_int_equal(ww_calibration_report(c, WW_REPORT_JSON, &text, &e), 0);
	assert_int_equal(ww_calibration_read("f", text, strlen(text), &back, &e), 0);
	ww_calibration_free(c);
	c = back;
	is_worked(ww_calibration_get(c));
	assert_string_equal(ww_calibration_get(c)->meter, "P4400 \"left\"");
	assert_int_equal(ww_calibration_get(c)->n, was.n);
	NEAR(ww_calibration_get(c)->hi, 100, 0);
	ww_free(text);
}

static void refused(const char *text, const char *why)
{
	struct ww_calibration *back = NULL;

	e = (struct ww_error){0};
	assert_int_equal(ww_calibration_read("f", text, strlen(text), &back, &e), -EINVAL);
	assert_null(back);
	assert_string_equal(e.text, why);
}

static void test_bad_file(void **state)
{
#define HEAD "{\"schema\":\"wakewatt/calibration/1\","
	static const char json[] =
		"f:1: not JSON; a calibration is what pwrlog calibrate --json prints";
	struct ww_calibration *back;

	(void)state;
	refused("", json);
	refused("{", json);
	refused("0;1.0\n25;26.1\n", json);
	refused("{\"a\":[1,2,}", json);
	refused("{\"a\":\"\\ud800\"}", json);
	refused("{\"a\":1} x", json);
	refused("{\"schema\":\"wakewatt/stat/1\"}",
		"f: its schema is 'wakewatt/stat/1', not wakewatt/calibration/1: it comes from "
		"pwrlog calibrate");
	refused(HEAD "\"gain\":{\"value\":1,\"u\":0.1}}", "f: no offset_W or no gain in it");
	refused(HEAD "\"offset_W\":{\"value\":1,\"u\":0.1},\"gain\":{\"value\":0,\"u\":0.1}}",
		"f: a gain of that size is no wattmeter's: it is indicated watts by true watts, "
		"about 1");
	refused(HEAD "\"offset_W\":{\"value\":1},\"gain\":{\"value\":1,\"u\":0.1}}",
		"f: offset_W and gain need their \"u\"");
	refused(HEAD "\"offset_W\":{\"value\":1,\"u\":0.1},\"gain\":{\"value\":1,\"u\":0.1},"
		     "\"covariance_W\":1}",
		"f: a covariance beyond what the two u allow");
	/* Written by hand, with what nobody asked for. */
	{
		static const char text[] =
			" { \"x\" : [ [ { \"gain\" : { \"value\" : 7 } } ] , null , true ] ,\n"
			"\"schema\":\"wakewatt/calibration/1\",\"meter\":\"K\\u00e4fer "
			"\\ud83d\\ude00\","
			"\"offset_W\":{\"u\":1e-1,\"value\":-1.5},\"gain\":{\"value\":1.01,\"u\":0}"
			"}";

		assert_int_equal(ww_calibration_read("f", text, sizeof(text) - 1, &back, &e), 0);
		NEAR(ww_calibration_get(back)->offset.value, -1.5, 0);
		NEAR(ww_calibration_get(back)->gain.value, 1.01, 0);
		assert_string_equal(ww_calibration_get(back)->meter, "K\xc3\xa4"
								     "fer \xf0\x9f\x98\x80");
		ww_calibration_free(back);
	}
}

static void test_refused(void **state)
{
	(void)state;
	assert_int_equal(attempt("", NULL), -EINVAL);
	assert_string_equal(e.text, "t: no load; a line needs two loads, such as '0; 1.0' and "
				    "'25.0; 26.1'");
	assert_int_equal(attempt("0;1\n25;x\n", NULL), -EINVAL);
	assert_string_equal(e.text, "t:2: '25;x' is not a known load and a reading in W; write "
				    "'25.0; 26.1'");
	assert_int_equal(attempt("25;26\n25;26.1\n", NULL), -EINVAL);
	assert_string_equal(e.text, "t: all loads are the same; two different ones make a line");
	assert_int_equal(attempt("1;100\n2;200\n", NULL), -EINVAL);
	assert_non_null(strstr(e.text, "is the reference the first column"));
}

static int end(void **state)
{
	(void)state;
	ww_calibration_free(c);
	return 0;
}

/* What no line fits is told, and a meter that shows nothing of small loads. */
static void test_misfit(void **state)
{
	const struct ww_calibration_info *i = fit("0;0\n5;0\n25;23.7\n60;60.0\n100;101.4\n");

	(void)state;
	assert_true(i->dead_zone);
	assert_int_equal(i->n, 3);
	NEAR(i->lo, 25, 0);
	NEAR(i->gain.value, 1.036, 0.001);
	fit("0;0.3\n5;0.9\n25;26.1\n60;61.2\n100;101.4\n");
	assert_true(noted("the reading at 5.0 W is 3.0 W off it"));
	fit("0;1.0\n25;26.1\n40;41.2\n60;61.2\n100;101.4\n");
	assert_false(noted("no line fits"));
}

/* Decimal commas between commas; with a header there are three columns. */
static void test_commas(void **state)
{
	(void)state;
	assert_int_equal(attempt("0,1,0\n25,26,1\n", NULL), -EINVAL);
	assert_string_equal(e.text, "t:1: '0,1,0' may have a decimal comma; write decimal points, "
				    "or put ';' between the columns");
	assert_true(fit("known,shown,u\n0,1,0\n25,26,1\n")->york);
	assert_true(fit("0, 1, 0.1\n25, 26, 0.1\n")->york);
}

static void test_correct(void **state)
{
	struct ww_calibration_options o = {.size = sizeof(o),
					   .correct_asked = 1,
					   .correct = {26, 0}};
	char *text;

	(void)state;
	assert_int_equal(attempt("0;1.0\n25;26.1\n40;41.2\n60;61.2\n100;101.4\n", &o), 0);
	assert_int_equal(ww_calibration_report(c, WW_REPORT_JSON, &text, &e), 0);
	assert_non_null(strstr(text, "\"corrected_W\":{\"value\":24.89758825"));
	ww_free(text);
	assert_int_equal(ww_calibration_report(c, WW_REPORT_TEXT, &text, &e), 0);
	assert_non_null(strstr(text, "\na reading of 26 W is 24.898 \xc2\xb1 0.066 W\n"));
	ww_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked),
		cmocka_unit_test(test_york),
		cmocka_unit_test(test_uncertain_reference),
		cmocka_unit_test(test_dead_zone),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_bad_file),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_misfit),
		cmocka_unit_test(test_commas),
		cmocka_unit_test(test_correct),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
