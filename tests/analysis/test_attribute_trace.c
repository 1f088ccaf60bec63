/* SPDX-License-Identifier: MIT */
/* Attribution from traces: marks in and out, states, no marks, drift, what falsifies. */
#include "attrtrace.h"

static struct ww_attribute *a;

static const struct ww_attribute_info *solve(const struct happening *h, size_t n, double until,
					     double drift)
{
	struct bench b;
	struct ww_trace *t = attr_trace(&b, h, n, until, drift);

	ww_attribute_free(a);
	a = NULL;
	OK(ww_attribute_new(NULL, &a, err));
	OK(ww_attribute_trace(a, WW_SET_NOW, t, err));
	OK(ww_attribute_solve(a, err));
	bench_end(&b, t);
	return ww_attribute_get(a);
}

static void is(size_t i, const char *name, const char *state, double watts)
{
	const struct ww_device *d = ww_attribute_device(a, i);

	assert_non_null(d);
	assert_string_equal(d->name, name);
	assert_string_equal(d->state, state);
	if (!(fabs(d->watts.value - watts) <= 3 * d->watts.u) || !(d->watts.u < 0.2))
		fail_msg("%s: %g +- %g, not %g", name, d->watts.value, d->watts.u, watts);
}

static bool noted(const char *part)
{
	for (size_t i = 0; ww_attribute_note(a, i); i++)
		if (strstr(ww_attribute_note(a, i), part))
			return true;
	return false;
}

#define N(h) (sizeof(h) / sizeof(*(h)))

static void test_marks(void **state)
{
	static const struct happening h[] = {
		{2, 0, "all unplugged"},	{120, 12, "+box"},     {240, 39.5, "+ Monitor"},
		{360, 13, "monitor = standby"}, {480, 12, "-monitor"}, {600, 0, "all off"}};
	const struct ww_attribute_info *i = solve(h, N(h), 720, 0);

	(void)state;
	is(0, "box", "on", 12);
	is(1, "Monitor", "on", 27.5);
	is(2, "Monitor", "standby", 1);
	assert_null(ww_attribute_device(a, 3));
	assert_true(fabs(i->offset.value - 1) < 3 * i->offset.u);
	assert_true(fabs(i->total.value - 39.5) < 3 * i->total.u);
	/* Seven levels, three devices and an offset: more than needed, and they agree. */
	assert_true(i->dof >= 2);
	assert_true(i->p > 0.001);
	assert_false(noted("no mark says"));
	assert_true(isnan(i->drift.value));
}

/* Plugged in one after the other, nothing said: devices by their order, falls by their size. */
static void test_no_marks(void **state)
{
	static const struct happening h[] = {{120, 12, NULL},
					     {240, 20, NULL},
					     {360, 8, NULL},
					     {480, 20, NULL}};
	const struct ww_attribute_info *i = solve(h, N(h), 600, 0);
	const struct ww_device *d = ww_attribute_device(a, 0);

	(void)state;
	assert_memory_equal(d->name, "step 1 at 1", 11);
	assert_true(fabs(d->watts.value - 12) < 3 * d->watts.u);
	d = ww_attribute_device(a, 1);
	assert_true(fabs(d->watts.value - 8) < 3 * d->watts.u);
	assert_null(ww_attribute_device(a, 2));
	assert_true(i->dof == 2);
	assert_true(noted("there are no marks: each step is a device"));
	assert_true(noted("the base level is the meter's offset and whatever else was on"));
}

/* Names without a sign: in with a rise, out with a fall. */
static void test_bare(void **state)
{
	static const struct happening h[] = {{120, 12, "box"},
					     {240, 20, "disk"},
					     {360, 8, "box"},
					     {450, 8, "coffee break"}};

	(void)state;
	solve(h, N(h), 540, 0);
	is(0, "box", "on", 12);
	is(1, "disk", "on", 8);
	/* Nothing stands out there; what it may be all the same is told. */
	is(2, "coffee break", "on", 0);
	assert_null(ww_attribute_device(a, 3));
	assert_true(noted("no step stands out at the mark 'coffee break'"));
}

/* A meter or a supply that drifts by 6 W/h is not taken for devices. */
static void test_drift(void **state)
{
	static const struct happening h[] = {{2, 0, "all unplugged"}, {200, 12, "+box"},
					     {400, 39.5, "+monitor"}, {600, 27.5, "-box"},
					     {800, 0, "-monitor"},    {1000, 27.5, "+monitor"},
					     {1200, 39.5, "+box"}};
	const struct ww_attribute_info *i = solve(h, N(h), 1400, 6.0 / 3600);

	(void)state;
	is(0, "box", "on", 12);
	is(1, "monitor", "on", 27.5);
	assert_true(fabs(i->drift.value - 6) < 3 * i->drift.u + 0.5);
	assert_true(noted("the level drifts with time"));
}

/* What contradicts is said and not believed. */
static void test_contradictions(void **state)
{
	static const struct happening h[] = {{2, 0, "all unplugged"},
					     {120, 12, "+box"},
					     {240, 12, "+box"},
					     {360, 12, "-printer"},
					     {480, 0, "-box"}};

	(void)state;
	solve(h, N(h), 600, 0);
	is(0, "box", "on", 12);
	assert_true(noted("'box' is in already"));
	assert_true(noted("'printer' goes out but was never in; known: box"));
}

/* A load between marks that nobody spoke of: apart from the others, and said. */
static void test_cycling(void **state)
{
	static const struct happening h[] = {{2, 0, "all unplugged"}, {120, 12, "+box"},
					     {240, 17, NULL},	      {330, 12, NULL},
					     {420, 17, NULL},	      {510, 12, NULL},
					     {600, 20, "+disk"},      {720, 8, "-box"}};

	(void)state;
	solve(h, N(h), 840, 0);
	is(0, "box", "on", 12);
	is(2, "disk", "on", 8);
	assert_true(fabs(ww_attribute_device(a, 1)->watts.value - 5) < 0.3);
	assert_true(noted("goes on and off by itself (4 changes)"));
	assert_true(noted("without a mark"));
}

/* A mark whose step is below the noise still has its watts, with what they are worth. */
static void test_small(void **state)
{
	static const struct happening h[] = {{2, 0, "all unplugged"},
					     {120, 12, "+box"},
					     {240, 12.02, "+led"},
					     {360, 0, "all off"}};
	const struct ww_device *d;

	(void)state;
	solve(h, N(h), 480, 0);
	is(0, "box", "on", 12);
	d = ww_attribute_device(a, 1);
	assert_string_equal(d->name, "led");
	assert_true(fabs(d->watts.value - 0.02) < 3 * d->watts.u);
	assert_true(d->watts.u > 0.005 && d->watts.u < 0.1);
	assert_true(noted("no step stands out at the mark '+led'"));
}

/* A phone that charges draws less and less: its settled level counts, and it is said. */
static void test_battery(void **state)
{
	struct bench b;
	struct ww_trace *t;
	const struct ww_device *d;

	(void)state;
	seed = 3;
	bench_open(&b, NULL, &POWER, 1);
	attr_mark(&b, 1, "all unplugged");
	attr_mark(&b, 198, "+phone");
	for (double s = 0; s < 900; s++)
		bench_row(&b, s,
			  (double[]){1 + (s < 200 ? 0 : 4 + 5 * exp(-(s - 200) / 90)) +
				     0.05 * normal()});
	t = bench_read(&b);
	ww_attribute_free(a);
	OK(ww_attribute_new(NULL, &a, err));
	OK(ww_attribute_trace(a, WW_SET_NOW, t, err));
	OK(ww_attribute_solve(a, err));
	bench_end(&b, t);
	d = ww_attribute_device(a, 0);
	assert_string_equal(d->name, "phone");
	if (!(fabs(d->watts.value - 4) < 0.3))
		fail_msg("%g +- %g", d->watts.value, d->watts.u);
	assert_true(noted("a battery that charges"));
}

/* Readings that a person typed, each with what was said at it. */
static void test_typed(void **state)
{
	static const struct ww_source_info source = {.kind = WW_MANUAL, .name = "meter"};
	static const struct chan display = {"power", "power", "W", WW_HOLD, 0.001, 1, 0, 0, 0};
	static const struct {
		double t, watts;
		const char *label;
	} typed[] = {{0, 1, "all unplugged"},
		     {37, 13, "+box"},
		     {90, 41, "+monitor"},
		     {140, 13, "-monitor"}};
	struct bench b;
	struct ww_trace *t;

	(void)state;
	bench_open(&b, &source, &display, 1);
	for (size_t i = 0; i < N(typed); i++) {
		bench_row(&b, typed[i].t, &typed[i].watts);
		attr_mark(&b, typed[i].t, typed[i].label);
	}
	t = bench_read(&b);
	ww_attribute_free(a);
	OK(ww_attribute_new(NULL, &a, err));
	OK(ww_attribute_trace(a, WW_SET_NOW, t, err));
	OK(ww_attribute_solve(a, err));
	bench_end(&b, t);
	assert_string_equal(ww_attribute_device(a, 0)->name, "box");
	assert_true(fabs(ww_attribute_device(a, 0)->watts.value - 12) < 1e-9);
	assert_true(fabs(ww_attribute_device(a, 0)->watts.u - sqrt(2.0 / 12)) < 1e-9);
	assert_true(fabs(ww_attribute_device(a, 1)->watts.value - 28) < 1e-9);
}

/* Two traces: what was there before and what is there now. */
static void test_saving(void **state)
{
	static const struct happening old[] = {{120, 62, "+old"}}, new[] = {{120, 25, "+new"}};
	struct bench b;
	struct ww_trace *t;

	(void)state;
	ww_attribute_free(a);
	OK(ww_attribute_new(NULL, &a, err));
	t = attr_trace(&b, new, 1, 240, 0);
	OK(ww_attribute_trace(a, WW_SET_NOW, t, err));
	bench_end(&b, t);
	t = attr_trace(&b, old, 1, 240, 0);
	OK(ww_attribute_trace(a, WW_SET_BEFORE, t, err));
	bench_end(&b, t);
	OK(ww_attribute_solve(a, err));
	assert_true(fabs(ww_attribute_saving(a)->watts.value - 37) <
		    3 * ww_attribute_saving(a)->watts.u);
	assert_true(ww_attribute_saving(a)->watts.u < 0.1);
}

/* Sixty afternoons: twice the standard uncertainty covers the truth about as often as it says. */
static void test_coverage(void **state)
{
	static const struct happening h[] = {{2, 0, "all unplugged"}, {90, 12, "+box"},
					     {180, 39.5, "+monitor"}, {270, 41.2, "+lamp"},
					     {360, 29.2, "-box"},     {450, 0, "all off"}};
	static const double truth[] = {12, 27.5, 1.7};
	unsigned inside = 0, all = 0;
	double z2 = 0;

	(void)state;
	for (attr_seed = 100; attr_seed < 160; attr_seed++) {
		solve(h, N(h), 540, 0);
		for (size_t i = 0; i < 3; i++) {
			const struct ww_device *d = ww_attribute_device(a, i);
			double z = (d->watts.value - truth[i]) / d->watts.u;

			inside += fabs(z) <= 2;
			z2 += z * z;
			all++;
		}
	}
	attr_seed = 11;
	if (inside < 0.90 * all || z2 / all > 1.5 || z2 / all < 0.3)
		fail_msg("%u of %u, mean z^2 %g", inside, all, z2 / all);
}

static int end(void **state)
{
	(void)state;
	ww_attribute_free(a);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks),	       cmocka_unit_test(test_no_marks),
		cmocka_unit_test(test_bare),	       cmocka_unit_test(test_drift),
		cmocka_unit_test(test_contradictions), cmocka_unit_test(test_cycling),
		cmocka_unit_test(test_small),	       cmocka_unit_test(test_typed),
		cmocka_unit_test(test_battery),	       cmocka_unit_test(test_saving),
		cmocka_unit_test(test_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
