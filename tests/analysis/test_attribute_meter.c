/* SPDX-License-Identifier: MIT */
/* What a meter does to an attribution: display, offset, gain, calibration; and savings. */
#include "attrtable.h"

/* Worked: 1 W display, 0.2 % of the reading: 25 W has u .290, 62 to 25 W 37 +- .82 (k = 2). */
static void test_type_b(void **state)
{
	struct ww_attribute_options o = {.size = sizeof(o), .offset_known = 1, .spec_rel = 0.002};
	const struct ww_saving *s;

	(void)state;
	solve(&o, "+all of it, 25\n", NULL);
	NEAR(dev("all of it")->watts.value, 25, 1e-12);
	NEAR(dev("all of it")->watts.u, 0.2901149197588202, 1e-12);
	o.offset_known = 0;
	o.price = 0.0702;
	o.cost = 100;
	solve(&o, "+new, 25\n", "+old, 62\n");
	s = ww_attribute_saving(a);
	assert_non_null(s);
	NEAR(s->watts.value, 37, 1e-12);
	NEAR(s->watts.u, 0.4104777704090686, 1e-12);
	NEAR(s->kwh_year.value, 324.342, 1e-9);
	NEAR(2 * s->kwh_year.u, 7.1964962708117906, 1e-9);
	NEAR(s->money_year.value, 324.342 * 0.0702, 1e-9);
	NEAR(s->payback_years.value, 100 / (324.342 * 0.0702), 1e-9);
	assert_true(isnan(s->now.value));
	NEAR(s->now_shown.value, 25, 1e-12);
	o.hours_per_day = 8;
	solve(&o, "+new, 25\n", "+old, 62\n");
	NEAR(ww_attribute_saving(a)->kwh_year.value, 108.114, 1e-9);
}

/* Nothing saved for sure: the pay-back has no end. */
static void test_no_saving(void **state)
{
	struct ww_attribute_options o = {.size = sizeof(o), .price = 0.3, .cost = 50};

	(void)state;
	solve(&o, "+new, 25\n", "+old, 25.5\n");
	assert_true(ww_attribute_saving(a)->payback_years.value > 0);
	solve(&o, "+new, 25\n", "+old, 25\n");
	assert_true(isnan(ww_attribute_saving(a)->payback_years.value));
	assert_true(isinf(ww_attribute_saving(a)->payback_ci[1]));
	assert_true(ww_attribute_saving(a)->payback_ci[0] > 0);
	solve(&o, "+new, 30\n", "+old, 20\n");
	assert_true(isnan(ww_attribute_saving(a)->payback_ci[0]));
}

/* The display rounds the same state to the same digits: three readings know no more. */
static void test_repeats(void **state)
{
	(void)state;
	solve(NULL, "all unplugged, 1\n+a, 3\nsame, 3\nsame, 3\n", NULL);
	NEAR(dev("a")->watts.u, sqrt(2.0 / 12), 1e-12);
	assert_int_equal(ww_attribute_get(a)->readings, 4);
	assert_int_equal(ww_attribute_get(a)->dof, 0);
	/* Where they differ, their scatter counts beside it: s^2 = 1, three readings. */
	solve(NULL, "all unplugged, 1\n+a, 3\nsame, 4\nsame, 5\n", NULL);
	NEAR(dev("a")->watts.value, 3, 1e-12);
	NEAR(dev("a")->watts.u, sqrt(2.0 / 12 + 1.0 / 3), 1e-12);
}

/* The display's step is that of the most digits, or one that all readings are multiples of. */
static void test_resolution(void **state)
{
	(void)state;
	solve(NULL, "all unplugged, 1\n+a, 13\n+b, 40.5\n", NULL);
	NEAR(ww_attribute_get(a)->resolution, 0.1, 1e-12);
	solve(NULL,
	      "all unplugged, 0\n+a, 10\n+b, 15\n+c, 35\n+d, 60\n+e, 65\n+f, 90\n+g, 95\n+h, 110\n",
	      NULL);
	NEAR(ww_attribute_get(a)->resolution, 5, 1e-12);
}

/* An offset that is known is subtracted with its uncertainty, and cancels in differences. */
static void test_offset(void **state)
{
	struct ww_attribute_options o = {.size = sizeof(o), .offset_known = 1, .offset = {1, 0.3}};

	(void)state;
	solve(&o, "what,W,u\n+a,13,0.4\n+b,20,0.4\n", NULL);
	NEAR(dev("a")->watts.value, 12, 1e-12);
	NEAR(dev("a")->watts.u, 0.5, 1e-12);
	NEAR(dev("b")->watts.u, 0.4 * sqrt(2), 1e-12);
	NEAR(ww_attribute_get(a)->total.u, 0.5, 1e-12);
	assert_true(noted("only if the meter shows it under load"));
	/* Unknown, it stays in the first device: said, and all unplugged proposed. */
	solve(NULL, "what,W,u\n+a,13,0.4\n+b,20,0.4\n", NULL);
	assert_false(dev("a")->estimable);
	NEAR(dev("a")->with_offset.value, 13, 1e-12);
	NEAR(dev("b")->watts.value, 7, 1e-12);
	assert_true(ww_attribute_group(a, 0)->with_offset);
	NEAR(ww_attribute_group(a, 0)->sum.value, 13, 1e-12);
	NEAR(ww_attribute_get(a)->total_shown.value, 20, 1e-12);
	assert_true(isnan(ww_attribute_get(a)->total.value));
	/* A maker's +-a is what is known of it then: a/sqrt 3. */
	o = (struct ww_attribute_options){.size = sizeof(o), .spec_abs = 0.3 * sqrt(3)};
	solve(&o, "what,W,u\n+a,13,0.4\n+b,20,0.4\n", NULL);
	NEAR(dev("a")->watts.value, 13, 1e-12);
	NEAR(dev("a")->watts.u, 0.5, 1e-12);
	NEAR(dev("b")->watts.u, 0.4 * sqrt(2), 1e-12);
	assert_true(noted("within the maker's bound"));
}

/*
 * A gain that is wrong by the same part in all readings does not cancel, and is common to
 * devices: var(a + b) is (a + b)^2 w^2, not a^2 w^2 + b^2 w^2.
 */
static void test_gain(void **state)
{
	struct ww_attribute_options o = {.size = sizeof(o), .spec_rel = 0.03 * sqrt(3)};

	(void)state;
	solve(&o, "what,W,u\nall unplugged,1,0.001\n+a,11,0.001\n+b,31,0.001\n", NULL);
	NEAR(dev("a")->watts.u, 0.3, 1e-4);
	NEAR(dev("b")->watts.u, 0.6, 1e-4);
	NEAR(ww_attribute_get(a)->total.u, 0.9, 1e-4);
	/* What the meter shows is no matter of its gain. */
	NEAR(ww_attribute_get(a)->total_shown.u, 0.001, 1e-9);
}

/* Worked: reading 26 through the calibration is 24.898 +- .033 W, with its covariance. */
static void test_calibrated(void **state)
{
	static const char loads[] = "0;1.0\n25;26.1\n40;41.2\n60;61.2\n100;101.4\n";
	struct ww_calibration *cal;
	struct ww_attribute_options o = {.size = sizeof(o)};

	(void)state;
	assert_int_equal(ww_calibration_fit("cal", loads, sizeof(loads) - 1, NULL, &cal, &e), 0);
	o.calibration = cal;
	solve(&o, "+a, 26.0\n", NULL);
	ww_calibration_free(cal);
	NEAR(dev("a")->watts.value, 24.897588255854583, 1e-10);
	NEAR(dev("a")->watts.u, 0.03322069617278079, 1e-10);
	NEAR(ww_attribute_get(a)->offset.value, 1.006315789473701, 1e-10);
}

/* Below some watts this meter shows nothing: its empty reading is none of its offset. */
static void test_dead_zone(void **state)
{
	static const char loads[] = "0;0.0\n25;26.1\n40;41.2\n60;61.2\n100;101.4\n";
	struct ww_calibration *fit, *cal;
	struct ww_attribute_options o = {.size = sizeof(o)};
	char *file;

	(void)state;
	assert_int_equal(ww_calibration_fit("cal", loads, sizeof(loads) - 1, NULL, &fit, &e), 0);
	assert_int_equal(ww_calibration_report(fit, WW_REPORT_JSON, &file, &e), 0);
	assert_int_equal(ww_calibration_read("cal", file, strlen(file), &cal, &e), 0);
	o.calibration = cal;
	solve(&o, "all unplugged, 0.0\n+a, 41.2\n+b, 252.0\n", NULL);
	NEAR(dev("a")->watts.value, 40, 0.1);
	NEAR(ww_attribute_get(a)->scale, 1, 0);
	assert_true(noted("the calibration found a dead zone"));
	assert_true(noted("1 reading is beyond the loads"));
	ww_free(file);
	ww_calibration_free(fit);
	ww_calibration_free(cal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_type_b),	   cmocka_unit_test(test_no_saving),
		cmocka_unit_test(test_repeats),	   cmocka_unit_test(test_resolution),
		cmocka_unit_test(test_offset),	   cmocka_unit_test(test_gain),
		cmocka_unit_test(test_calibrated), cmocka_unit_test(test_dead_zone),
	};

	return cmocka_run_group_tests(tests, NULL, attr_end);
}
