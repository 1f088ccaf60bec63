/* SPDX-License-Identifier: MIT */
/* Runs of a trace as sets: each measure, pairs by rounds, the meter's part in each. */
#include "fakeruns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.17g, want %.17g", got, want);
}

static struct ww_compare *compare(const struct fake *a, const struct fake *b,
				  const struct ww_compare_options *o)
{
	const struct ww_runs *runs[] = {&a->runs, b ? &b->runs : NULL};
	const char *const names[] = {"one", "two"};
	struct ww_compare *c = NULL;
	struct ww_error err = {0};

	if (ww_compare_runs(runs, names, b ? 2 : 1, o, &c, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

static const struct ww_comparison *row(const struct ww_compare *c, const char *measure)
{
	const struct ww_comparison *r;

	for (size_t i = 0; (r = ww_compare_at(c, i)); i++)
		if (strcmp(r->measure, measure) == 0)
			return r;
	fail_msg("no %s", measure);
	return NULL;
}

/* What an offset of o W does to ln(b/a): o T/E of each, and nothing above the baseline. */
static void test_measures(void **state)
{
	static const struct {
		const char *measure, *unit;
		double a, ratio, u_meter;
	} want[] = {
		{"energy", "J", 100, 0.75, 0.3 * (1 / 20.0 - 1 / 30.0)},
		{"energy above baseline", "J", 50, 1, 0},
		{"time", "s", 5, 0.5, 0},
		{"mean power", "W", 20, 1.5, 0.3 * (1 / 20.0 - 1 / 30.0)},
		{"energy per unit", "J/frame", 2, 0.75, 0.3 * (1 / 20.0 - 1 / 30.0)},
		{"above baseline per unit", "J/frame", 1, 1, 0},
		{"time per unit", "s/frame", 0.1, 0.5, 0},
	};
	struct ww_compare *c;
	struct fake f;

	(void)state;
	fake_init(&f);
	c = compare(&f, NULL, NULL);
	for (size_t i = 0; i < WW_COUNTOF(want); i++) {
		const struct ww_comparison *r = row(c, want[i].measure);

		assert_string_equal(r->unit, want[i].unit);
		assert_string_equal(r->a, "A");
		assert_int_equal(r->pairs, ROUNDS);
		/* Commands that were repeated in a run count once each. */
		near(r->mean_a.value, want[i].a, 0.005 * want[i].a);
		near(r->ratio, want[i].ratio, 0.01 * want[i].ratio);
		near(r->u_meter, want[i].u_meter, 2e-5);
	}
	assert_null(ww_compare_at(c, WW_COUNTOF(want)));
	ww_compare_free(c);
}

static void test_failures(void **state)
{
	const struct ww_comparison *r;
	struct ww_compare *c;
	struct fake f;

	(void)state;
	fake_init(&f);
	f.run[0].used = 0;
	f.run[0].status = 1;
	/* An energy that is not known is not a failure of the time. */
	f.run[3].used = 0;
	f.run[3].gross_J.value = NAN;
	f.run[4].warmup = 1;
	c = compare(&f, NULL, NULL);
	r = row(c, "time");
	assert_int_equal(r->failed_a, 1);
	assert_int_equal(r->failed_b, 0);
	assert_int_equal(r->n_a, ROUNDS - 2);
	r = row(c, "energy");
	assert_int_equal(r->failed_a, 2);
	ww_compare_free(c);
}

/* Two traces: no pairs, names of the files, and two meters where it is said. */
static void test_two(void **state)
{
	struct ww_compare_options o = {.size = sizeof(o), .other_meter = 1};
	const struct ww_comparison *r;
	struct ww_compare *c;
	struct fake f, g;

	(void)state;
	fake_init(&f);
	fake_init(&g);
	f.runs.variants = g.runs.variants = 1;
	f.variant[0].label = g.variant[0].label = "";
	c = compare(&f, &g, NULL);
	r = row(c, "mean power");
	assert_string_equal(r->a, "one");
	assert_string_equal(r->b, "two");
	assert_int_equal(r->pairs, 0);
	near(r->ratio, 1, 1e-12);
	near(r->u_meter, 0, 1e-12);
	ww_compare_free(c);
	c = compare(&f, &g, &o);
	r = row(c, "mean power");
	near(r->u_meter, sqrt(2) * hypot(0.02, 0.3 / 20), 1e-6);
	near(row(c, "time")->u_meter, 0, 1e-12);
	ww_compare_free(c);
}

static void test_refused(void **state)
{
	const struct ww_runs *runs[1];
	const char *const names[] = {"t.wwt"};
	struct ww_compare *c = NULL;
	struct ww_error err = {0};
	struct fake f;

	(void)state;
	fake_init(&f);
	runs[0] = &f.runs;
	f.runs.variants = 1;
	assert_int_equal(ww_compare_runs(runs, names, 1, NULL, &c, &err), -EINVAL);
	assert_non_null(strstr(err.text, "t.wwt: runs of one command only"));
	assert_null(c);
	ww_error_clear(&err);
	f.runs.variants = 2;
	for (size_t i = 0; i < 2 * ROUNDS; i++) {
		f.run[i].used = 0;
		f.run[i].status = 1;
	}
	assert_int_equal(ww_compare_runs(runs, NULL, 1, NULL, &c, &err), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measures),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
