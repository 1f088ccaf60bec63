/* SPDX-License-Identifier: MIT */
/* Steps of a trace: axis and marks, what was known beside what was found, and the notes. */
#include "analysis/steps_info.h"
#include "stat_trace.h"

static const struct chan FINE = {"power", "power", "W", WW_AVERAGE, 0.001, 0.1, 0, 0, 0};
/* 1 W, 0.2 W and 1 % */
static const struct chan KNOWN = {"power", "power", "W", WW_AVERAGE, 0.001, 0.1, 0.2, 0.01, 0};

static void label(struct bench *b, double t, const char *text, const char *kind)
{
	int64_t ns = BEGIN + (int64_t)llround(t * 1e9);
	struct ww_mark m = {.t = {ns, ns}, .kind = kind, .text = text};

	OK(ww_writer_mark(b->w, &m, err));
}

/* Rows 0 ... n - 1: 10 W, 25 W more from row 100 on, noise of s, in steps of q. */
static void rows(struct bench *b, int n, double s, double q)
{
	for (int i = 0; i < n; i++) {
		double v = 10 + (i >= 100 ? 25 : 0) + s * normal();

		bench_row(b, i, (double[]){q * round(v / q)});
	}
}

static struct ww_steps *steps_of(struct ww_trace *t, const struct ww_steps_options *o)
{
	struct ww_steps *s = NULL;

	OK(ww_steps_new(t, o, &s, err));
	return s;
}

static bool noted(const struct ww_steps *s, const char *text)
{
	for (size_t i = 0; ww_steps_note(s, i); i++)
		if (strstr(ww_steps_note(s, i), text))
			return true;
	return false;
}

static void test_axis(void **state)
{
	struct ww_steps *s;
	struct ww_trace *t;
	struct bench b;
	const struct ww_step *p;

	(void)state;
	seed = 1;
	bench_open(&b, NULL, &FINE, 1);
	rows(&b, 200, 0.2, 0.1);
	label(&b, 98, "lamp", "label");
	label(&b, 98.5, "request", "request"); /* no label: not for us */
	t = bench_read(&b);
	s = steps_of(t, NULL);
	assert_int_equal(ww_steps_count(s), 1);
	p = ww_steps_at(s, 0);
	assert_null(ww_steps_at(s, 1));
	/* The change fell between rows 99 and 100 (a reading is the mean since the one before). */
	assert_true(p->t.lo_ns >= BEGIN + 98 * S && p->t.lo_ns <= BEGIN + 100 * S);
	assert_true(p->t.hi_ns >= BEGIN + 99 * S && p->t.hi_ns <= BEGIN + 100 * S);
	assert_true(p->settled_ns >= p->t.lo_ns && p->settled_ns <= BEGIN + 102 * S);
	assert_true(fabs(p->delta.value - 25) < 3 * p->delta.u);
	assert_true(p->delta.u > 0.02 && p->delta.u < 0.05);
	assert_true(fabs(p->before.value - 10) < 3 * p->before.u + 0.01);
	assert_true(fabs(p->after.value - 35) < 3 * p->after.u + 0.01);
	assert_int_equal(p->state, WW_STEP_DETECTED);
	assert_string_equal(p->label, "lamp");
	assert_int_equal(p->mark, 0);
	assert_string_equal(ww_trace_mark(t, (size_t)p->mark)->text, "lamp");
	assert_true(isnan(p->bounds[0]) && isnan(p->bounds[1]));
	assert_int_equal(ww_steps_level(s, 0)->from_ns, BEGIN);
	assert_int_equal(ww_steps_level(s, 1)->to_ns, BEGIN + 199 * S);
	assert_null(ww_steps_level(s, 2));
	assert_true(fabs(ww_steps_level(s, 1)->watts.value - 35) < 0.1);
	assert_true(noted(s, "the accuracy of the meter is unknown"));
	/* What the handle holds, it holds itself. */
	bench_end(&b, t);
	assert_string_equal(ww_steps_at(s, 0)->label, "lamp");
	ww_steps_free(s);
}

/* A mark where nothing can be seen: its change is known to be about nothing. */
static void test_known_time(void **state)
{
	struct ww_steps *s;
	struct ww_trace *t;
	struct bench b;
	const struct ww_step *p;

	(void)state;
	seed = 2;
	bench_open(&b, NULL, &FINE, 1);
	label(&b, 50, "nothing", "label");
	rows(&b, 200, 0.2, 0.1);
	label(&b, 98, "lamp", "label");
	label(&b, 500, "long after", "label");
	t = bench_read(&b);
	s = steps_of(t, NULL);
	assert_int_equal(ww_steps_count(s), 2);
	p = ww_steps_at(s, 0);
	assert_int_equal(p->state, WW_STEP_KNOWN_TIME);
	assert_string_equal(p->label, "nothing");
	assert_true(p->delta.u > 0 && fabs(p->delta.value) < 3 * p->delta.u);
	assert_int_equal(ww_steps_at(s, 1)->state, WW_STEP_DETECTED);
	assert_true(noted(s, "known time: at 1 mark"));
	bench_end(&b, t);
	ww_steps_free(s);
}

/* 0.4 W where the display has steps of 1 W and no noise: bounds that hold, no detection. */
static void test_unresolved(void **state)
{
	struct ww_steps *s;
	struct ww_trace *t;
	struct bench b;
	size_t unresolved = 0;

	(void)state;
	bench_open(&b, NULL, &(struct chan){"power", "power", "W", WW_AVERAGE, 1, 1, 0, 0, 0}, 1);
	for (int i = 0; i < 300; i++)
		bench_row(&b, i, (double[]){round(10.2 + (i >= 150 ? 0.4 : 0))});
	label(&b, 148, "night light", "label");
	t = bench_read(&b);
	s = steps_of(t, NULL);
	for (size_t i = 0; i < ww_steps_count(s); i++) {
		const struct ww_step *p = ww_steps_at(s, i);

		assert_int_not_equal(p->state, WW_STEP_DETECTED);
		if (p->state != WW_STEP_UNRESOLVED)
			continue;
		unresolved++;
		assert_true(p->bounds[0] <= 0.4 && p->bounds[1] >= 0.4);
		assert_true(p->bounds[1] - p->bounds[0] <= 2.0001);
		assert_string_equal(p->label, "night light");
	}
	assert_int_equal(unresolved, 1);
	assert_true(noted(s, "too small to tell parts of the resolution of 1 W"));
	bench_end(&b, t);
	ww_steps_free(s);
}

static void test_window(void **state)
{
	struct ww_steps_options o = {.size = sizeof(o), .from_ns = BEGIN + 110 * S};
	struct ww_steps *s;
	struct ww_trace *t;
	struct bench b;

	(void)state;
	seed = 3;
	bench_open(&b, NULL, &FINE, 1);
	rows(&b, 200, 0.2, 0.1);
	label(&b, 20, "before all of it", "label");
	t = bench_read(&b);
	s = steps_of(t, &o);
	assert_int_equal(ww_steps_count(s), 0);
	assert_true(ww_steps_level(s, 0)->from_ns >= BEGIN + 110 * S);
	ww_steps_free(s);
	o.from_ns = BEGIN + 1000 * S;
	s = steps_of(t, &o);
	assert_int_equal(ww_steps_count(s), 0);
	assert_null(ww_steps_level(s, 0));
	assert_true(noted(s, "no readings in this time"));
	ww_steps_free(s);
	bench_end(&b, t);
}

/* The maker's gain is in u of a change: 1 % of 25 W over the root of 3 is 0.144 W. */
static void test_gain(void **state)
{
	struct ww_steps *s;
	struct ww_trace *t;
	struct bench b;

	(void)state;
	seed = 4;
	bench_open(&b, NULL, &KNOWN, 1);
	rows(&b, 200, 0.2, 0.1);
	t = bench_read(&b);
	s = steps_of(t, NULL);
	assert_int_equal(ww_steps_count(s), 1);
	assert_true(fabs(ww_steps_at(s, 0)->delta.u - hypot(0.25 / sqrt(3), 0.03)) < 0.01);
	assert_true(ww_steps_at(s, 0)->after.u < 0.06);
	assert_true(noted(s, "1 % of the change"));
	assert_true(noted(s, "0.2 W + 1 %, at 35 W \xc2\xb1"
			     "0.55 W"));
	bench_end(&b, t);
	ww_steps_free(s);
}

static void test_holes(void **state)
{
	struct ww_steps *s;
	struct ww_trace *t;
	struct bench b;
	const struct ww_step *p;

	(void)state;
	seed = 5;
	bench_open(&b, NULL, &FINE, 1);
	for (int i = 0; i < 200; i++)
		if (i < 90 || i >= 120)
			bench_row(&b, i,
				  (double[]){i == 30 ? MISSING
						     : 10 + (i >= 100 ? 25 : 0) + 0.2 * normal()});
	t = bench_read(&b);
	s = steps_of(t, NULL);
	assert_int_equal(ww_steps_count(s), 1);
	p = ww_steps_at(s, 0);
	assert_true(p->t.lo_ns <= BEGIN + 100 * S && p->t.hi_ns >= BEGIN + 100 * S);
	assert_true(noted(s, "1 gap, 31 s in all"));
	assert_true(noted(s, "1 reading without a value left out"));
	bench_end(&b, t);
	ww_steps_free(s);
}

static void test_cycles(void **state)
{
	struct ww_steps *s;
	struct ww_trace *t;
	struct bench b;

	(void)state;
	seed = 6;
	bench_open(&b, NULL, &FINE, 1);
	for (int i = 0; i < 1200; i++)
		bench_row(&b, i, (double[]){5 + (i % 200 >= 150 ? 60 : 0) + 0.2 * normal()});
	t = bench_read(&b);
	s = steps_of(t, NULL);
	assert_true(ww_steps_count(s) >= 10);
	assert_true(s->cycling.cycles >= 4);
	assert_true(fabs(s->cycling.period - 200) < 1);
	assert_true(fabs(s->cycling.duty - 0.25) < 0.01);
	assert_true(noted(s, "a load of about 60 W switches on and off by itself"));
	bench_end(&b, t);
	ww_steps_free(s);
}

static void test_refused(void **state)
{
	struct ww_steps_options o = {.size = sizeof(o), .spike_ns = -1};
	struct ww_steps *s = NULL;
	struct ww_error why = {0};
	struct ww_trace *t;
	struct bench b;
	struct chan two[2] = {FINE, ENERGY};

	(void)state;
	bench_open(&b, NULL, two, 2);
	bench_row(&b, 0, (double[]){10, 0});
	t = bench_read(&b);
	assert_int_equal(ww_steps_new(t, &o, &s, &why), -EINVAL);
	assert_non_null(strstr(why.text, "negative"));
	ww_error_clear(&why);
	assert_int_equal(ww_steps_new(t, &(struct ww_steps_options){0}, &s, &why), -EINVAL);
	ww_error_clear(&why);
	o.spike_ns = 0;
	o.channel = "meter.energy";
	assert_int_equal(ww_steps_new(t, &o, &s, &why), -ENOENT);
	assert_non_null(strstr(why.text, "meter.power"));
	/* One reading is a level, and no more can be said. */
	o.channel = NULL;
	s = steps_of(t, &o);
	assert_int_equal(ww_steps_count(s), 0);
	assert_true(noted(s, "too few readings"));
	ww_steps_free(s);
	ww_steps_free(NULL);
	bench_end(&b, t);
}

/* Two levels of 120 rows, the second `more` above the first: the steps that are found. */
static struct ww_steps *two_levels(double more)
{
	struct ww_steps *s;
	struct ww_trace *t;
	struct bench b;

	bench_open(&b, NULL, &FINE, 1);
	for (int i = 0; i < 240; i++)
		bench_row(&b, i, (double[]){10 + (i >= 120 ? more : 0) + 0.5 * normal()});
	t = bench_read(&b);
	s = steps_of(t, NULL);
	bench_end(&b, t);
	return s;
}

/* A change of the size that is said to be found is found; half of it is not. */
static void test_promise(void **state)
{
	size_t found[2] = {0, 0};
	struct ww_steps *s;
	double smallest;

	(void)state;
	seed = 5;
	s = two_levels(0);
	smallest = s->smallest;
	assert_true(smallest > 0.4 && smallest < 0.65);
	ww_steps_free(s);
	for (int k = 0; k < 60; k++) {
		s = two_levels(k & 1 ? smallest : smallest / 3);
		found[k & 1] += ww_steps_count(s) == 1;
		ww_steps_free(s);
	}
	assert_in_range(found[1], 26, 30);
	assert_in_range(found[0], 0, 15);
}

/* The step that is said to be found (A_penalty: n 3600, sigma .35, levels of 120). */
static void test_smallest(void **state)
{
	(void)state;
	assert_true(fabs(ww_steps_smallest(0.35 / sqrt(120), sqrt(2 * log(3600))) -
			 0.1828582709590877) < 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_axis),	   cmocka_unit_test(test_known_time),
		cmocka_unit_test(test_unresolved), cmocka_unit_test(test_window),
		cmocka_unit_test(test_gain),	   cmocka_unit_test(test_holes),
		cmocka_unit_test(test_cycles),	   cmocka_unit_test(test_refused),
		cmocka_unit_test(test_smallest),   cmocka_unit_test(test_promise)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
