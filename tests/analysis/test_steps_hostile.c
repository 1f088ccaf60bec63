/* SPDX-License-Identifier: MIT */
/*
 * Step detection on what no meter should give: what comes out is finite, in order and
 * consistent with itself, and follows the input where that is moved or scaled.
 */
#include "stepfamilies.h"
#include "stepscore.h"

#include <errno.h>
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct gen trace; /* large */

#define HOLDS(x)                                                                                   \
	do {                                                                                       \
		if (!(x))                                                                          \
			fail_msg("%s: %s (n %zu, event or level %zu)", what, #x, in->n, k);        \
	} while (0)

static void check_event(const char *what, const struct ww_step_input *in,
			const struct ww_step_event *e, size_t k, bool known)
{
	double scale = fmax(fabs(e->before), fabs(e->after));

	HOLDS(isfinite(e->t_lo) && isfinite(e->t_hi) && e->t_lo <= e->t_hi);
	HOLDS(e->i < in->n && e->settled_i < in->n && e->i <= e->settled_i);
	HOLDS(isfinite(e->settled) && e->settled >= e->t_lo);
	HOLDS(isfinite(e->delta) && isfinite(e->before) && isfinite(e->after));
	HOLDS(isfinite(e->u) && e->u >= 0 && e->uA >= 0 && e->uQ >= 0 && e->uG >= 0);
	HOLDS(isfinite(e->before_u) && isfinite(e->after_u));
	HOLDS(fabs(e->u * e->u - e->uA * e->uA - e->uQ * e->uQ - e->uG * e->uG) <=
	      1e-9 * e->u * e->u);
	HOLDS(e->dof > 0);
	HOLDS(fabs(e->after - e->before - e->delta) <= 1e-9 * (scale + fabs(e->delta)));
	HOLDS(isfinite(e->cov_next));
	HOLDS(!isinf(e->peak));
	HOLDS(e->marker >= -1 && e->marker < (int64_t)in->markers);
	if (e->state == WW_STEP_UNRESOLVED) {
		HOLDS(isfinite(e->bounds[0]) && isfinite(e->bounds[1]));
		HOLDS(e->bounds[0] <= e->delta && e->delta <= e->bounds[1]);
	} else {
		HOLDS(e->state == (known ? WW_STEP_KNOWN_TIME : WW_STEP_DETECTED));
		HOLDS(isnan(e->bounds[0]) && isnan(e->bounds[1]));
	}
	if (!known) {
		HOLDS(e->i > 0);
		/* it began before a reading shows it, and before its end */
		HOLDS(in->lo || e->t_lo <= in->t[e->i]);
		HOLDS(e->t_hi <= e->settled);
	}
}

static void check_levels(const char *what, const struct ww_step_input *in,
			 const struct ww_step_result *r)
{
	for (size_t k = 0; k < r->levels; k++) {
		const struct ww_step_level *l = &r->level[k];

		/* between two levels may lie what is neither: an inrush */
		HOLDS(k ? l->from >= r->level[k - 1].to : l->from == 0);
		HOLDS(l->from <= l->settled_i && l->settled_i < l->to);
		HOLDS(l->used >= 1 && l->used <= l->to - l->from);
		HOLDS(isfinite(l->value) && isfinite(l->begin) && isfinite(l->end));
		HOLDS(isfinite(l->u) && l->u >= 0 && l->uA >= 0 && l->uQ >= 0);
		HOLDS(l->dof > 0 && l->n_eff > 0 && l->n_eff <= (double)l->used * (1 + 1e-9));
		HOLDS(isfinite(l->sigma) && l->sigma >= 0);
		HOLDS(isfinite(l->slope) && isfinite(l->slope_u) && isfinite(l->settling_s));
		HOLDS(l->min <= l->max && isfinite(l->min) && isfinite(l->max));
		HOLDS(l->shape >= WW_LEVEL_CONSTANT && l->shape <= WW_LEVEL_SETTLING);
	}
	for (size_t k = 1; k < r->events; k++) {
		HOLDS(r->event[k - 1].i < r->event[k].i);
		HOLDS(r->event[k - 1].t_lo <= r->event[k].t_lo);
		HOLDS(r->event[k - 1].t_hi <= r->event[k].t_hi);
		HOLDS(r->event[k - 1].settled <= r->event[k].settled);
	}
}

/* All that must be true whatever was read. */
static void check(const char *what, const struct ww_step_input *in, const struct ww_step_result *r)
{
	size_t k = 0;

	if (in->n == 0) {
		HOLDS(r->events == 0);
		return;
	}
	HOLDS(r->levels == r->events + 1);
	k = r->levels;
	HOLDS(r->level[k - 1].to == in->n);
	HOLDS(r->events < in->n);
	HOLDS(isfinite(r->sigma) && r->sigma >= 0 && isfinite(r->phi) && isfinite(r->tau));
	HOLDS(r->block >= 1);
	for (k = 0; k < r->events; k++)
		check_event(what, in, &r->event[k], k, false);
	for (k = 0; k < r->knowns; k++)
		check_event(what, in, &r->known[k], k, true);
	check_levels(what, in, r);
}

static size_t find(const char *what, const struct ww_step_input *in)
{
	struct ww_step_result r, again;
	struct ww_error err = {0};
	size_t n;

	if (ww_steps_find(in, &r, &err) < 0)
		fail_msg("%s: %s", what, err.text);
	check(what, in, &r);
	if (ww_steps_find(in, &again, &err) < 0)
		fail_msg("%s: %s", what, err.text);
	n = r.events;
	if (n != again.events)
		fail_msg("%s: not the same twice", what);
	for (size_t i = 0; i < n; i++)
		assert_true(r.event[i].delta == again.event[i].delta &&
			    r.event[i].u == again.event[i].u);
	for (double f = -0.1; f < 1.2 && in->n > 0; f += 0.1) {
		struct ww_step_event e;
		double t = in->t[0] + f * (in->t[in->n - 1] - in->t[0]);
		int rc = ww_steps_known(in, &r, t, &e, &err);

		if (rc >= 0)
			check_event(what, in, &e, 0, true);
		else if (rc != -ENODATA)
			fail_msg("%s: known at %g: %d %s", what, t, rc, err.text);
	}
	ww_steps_clear(&again);
	ww_steps_clear(&r);
	return n;
}

enum shape {
	CONSTANT,
	ZERO,
	ALTERNATING,
	HUGE_ONE,
	HUGE_ALL,
	NEGATIVE,
	TINY,
	RAMP,
	SINE,
	STEP_FIRST,
	STEP_LAST,
	STEP_MIDDLE,
	NOISE,
	GROWING,
	SAWTOOTH,
	TWO_VALUES,
	SHAPES
};

static double value(enum shape s, size_t i, size_t n, struct gen_rng *g)
{
	double x = n > 1 ? (double)i / (double)(n - 1) : 0;

	switch (s) {
	case CONSTANT:
		return 25;
	case ALTERNATING:
		return i % 2 ? 30 : 20;
	case HUGE_ONE:
		return i == n / 2 ? 1e9 : 25;
	case HUGE_ALL:
		return 1e9 + (i >= n / 2 ? 1000 : 0) + floor(10 * gen_uniform(g));
	case NEGATIVE:
		return (i >= n / 2 ? -62 : -25) + 0.1 * gen_normal(g);
	case TINY:
		return (i >= n / 2 ? 3e-9 : 1e-9) + 1e-10 * gen_normal(g);
	case RAMP:
		return 100 * x;
	case SINE:
		return 20 + 10 * sin(6.283185307179586 * 3 * x);
	case STEP_FIRST:
		return i >= 1 ? 50 : 20;
	case STEP_LAST:
		return i + 1 == n ? 50 : 20;
	case STEP_MIDDLE:
		return i >= n / 2 ? 50 : 20;
	case NOISE:
		return 20 + gen_normal(g);
	case GROWING:
		return exp(20 * x);
	case SAWTOOTH:
		return (double)(i % 7);
	case TWO_VALUES:
		return gen_uniform(g) < 0.5 ? 0 : 1;
	default:
		return 0;
	}
}

#define LONGEST 700

/* Every shape in every small length and some larger, with several displays. */
static void test_shapes(void **state)
{
	static const double resolution[] = {0, 0.1, 1, 1000};
	static double t[LONGEST], v[LONGEST];
	struct gen_rng g = {7};
	char what[64];

	(void)state;
	for (int s = 0; s < SHAPES; s++)
		for (size_t n = 0; n <= LONGEST; n = n < 40 ? n + 1 : n + n / 2 + 11) {
			for (size_t i = 0; i < n; i++) {
				t[i] = (double)i;
				v[i] = value((enum shape)s, i, n, &g);
			}
			for (size_t k = 0; k < 4; k++) {
				struct ww_step_input in = {.n = n,
							   .t = t,
							   .v = v,
							   .resolution = resolution[k]};

				snprintf(what, sizeof(what), "shape %d, resolution %g", s,
					 resolution[k]);
				find(what, &in);
			}
		}
}

/* What everybody would say of the plainest of them. */
static void test_plain(void **state)
{
	static const struct {
		enum shape shape;
		size_t events;
	} is[] = {{CONSTANT, 0}, {ZERO, 0},	  {RAMP, 0}, {STEP_MIDDLE, 1}, {HUGE_ONE, 0},
		  {NOISE, 0},	 {TWO_VALUES, 0}, {TINY, 1}, {NEGATIVE, 1},    {HUGE_ALL, 1}};
	static double t[600], v[600];
	struct gen_rng g = {11};

	(void)state;
	for (size_t k = 0; k < sizeof(is) / sizeof(is[0]); k++) {
		struct ww_step_input in = {.n = 600, .t = t, .v = v};

		for (size_t i = 0; i < 600; i++) {
			t[i] = (double)i;
			v[i] = value(is[k].shape, i, 600, &g);
		}
		if (is[k].shape == HUGE_ALL || is[k].shape == TWO_VALUES)
			in.resolution = 1;
		if (find("plain", &in) != is[k].events)
			fail_msg("shape %d: not %zu events", (int)is[k].shape, is[k].events);
	}
}

static void test_times(void **state)
{
	static double t[300], v[300], mark[8];
	static uint8_t hole[300];
	struct ww_step_input in = {.n = 300, .t = t, .v = v, .resolution = 0.1};
	struct gen_rng g = {3};

	(void)state;
	for (size_t i = 0; i < 300; i++)
		v[i] = (i < 150 ? 20 : 30) + 0.1 * round(gen_normal(&g));
	find("all at once", &in);
	in.period = 1;
	find("all at once, with a period", &in);
	for (size_t i = 0; i < 300; i++)
		t[i] = (double)(i / 3);
	assert_int_equal(find("three at a time", &in), 1);
	for (size_t i = 0; i < 300; i++) {
		t[i] = (double)i;
		hole[i] = 1;
	}
	in.hole = hole;
	find("holes everywhere", &in);
	for (size_t i = 0; i < 300; i++) {
		hole[i] = i == 150;
		t[i] = (double)i + (i >= 150 ? 1e7 : 0);
	}
	assert_int_equal(find("a step in a long hole", &in), 1);
	for (size_t i = 0; i < 300; i++)
		t[i] = exp((double)i / 30);
	in.hole = NULL;
	in.period = 0;
	find("slower and slower", &in);
	for (size_t i = 0; i < 300; i++)
		t[i] = (double)i;
	in.markers = 8;
	in.marker = mark;
	for (size_t i = 0; i < 8; i++)
		mark[i] = i < 2 ? -1000 : i < 6 ? 149 : 1e6;
	find("marks at one time and far away", &in);
	in.markers = 0;
	in.spike_s = 1e6;
	find("all is a spike", &in);
	in.spike_s = 1e-9;
	find("nothing is a spike", &in);
}

static void test_refused(void **state)
{
	double t[6] = {0, 1, 2, 3, 4, 5}, v[6] = {1, 1, 1, 2, 2, 2};
	struct ww_step_input in = {.n = 6, .t = t, .v = v};
	struct ww_step_result r;
	struct ww_error err = {0};

	(void)state;
	v[3] = NAN;
	assert_int_equal(ww_steps_find(&in, &r, &err), -EINVAL);
	ww_steps_clear(&r);
	v[3] = INFINITY;
	assert_int_equal(ww_steps_find(&in, &r, &err), -EINVAL);
	ww_steps_clear(&r);
	v[3] = 2;
	t[3] = 1;
	assert_int_equal(ww_steps_find(&in, &r, &err), -EINVAL);
	ww_steps_clear(&r);
	t[3] = NAN;
	assert_int_equal(ww_steps_find(&in, &r, &err), -EINVAL);
	ww_steps_clear(&r);
	assert_true(err.text[0] != 0);
}

/* A copy of the trace's arrays, moved in time and scaled. */
static struct ww_step_input moved(double dt, double factor, double add)
{
	struct ww_step_input in = score_input(&trace);

	for (size_t i = 0; i < in.n; i++) {
		((double *)(uintptr_t)in.t)[i] += dt;
		trace.v[i] = trace.v[i] * factor + add;
	}
	in.resolution *= fabs(factor);
	return in;
}

static void test_follows(void **state)
{
	static const double by[][3] = {{1048576, 1, 0}, {-65536, 1, 0}, {0, 1024, 0},
				       {0, 0x1p-20, 0}, {0, -1, 0},	{0, 1, 4096}};

	(void)state;
	for (size_t f = 0; f < 12; f++) /* at 1 Hz, so that times add exactly */
		for (size_t k = 0; k < sizeof(by) / sizeof(by[0]); k++) {
			struct ww_step_result a, b;
			struct ww_error err = {0};
			struct ww_step_input in;
			double factor = by[k][1];

			gen_begin(&trace, 77, gen_families[f].name);
			gen_families[f].make(&trace);
			gen_run(&trace);
			in = score_input(&trace);
			assert_return_code(ww_steps_find(&in, &a, &err), 0);
			score_input_free(&in);
			in = moved(by[k][0], factor, by[k][2]);
			assert_return_code(ww_steps_find(&in, &b, &err), 0);
			if (a.events != b.events)
				fail_msg("%s by {%g, %g, %g}: %zu events, then %zu",
					 gen_families[f].name, by[k][0], factor, by[k][2], a.events,
					 b.events);
			for (size_t i = 0; i < a.events; i++) {
				double is = b.event[i].delta, was = a.event[i].delta * factor;
				double u = a.event[i].u * fabs(factor),
				       slack = (by[k][2] != 0 ? 1e-6 : 1e-9) * (u + fabs(was));

				if (fabs(is - was) > slack || fabs(b.event[i].u - u) > slack ||
				    b.event[i].t_lo != a.event[i].t_lo + by[k][0])
					fail_msg("%s by {%g, %g, %g}: %.17g u %g, not %.17g u %g",
						 gen_families[f].name, by[k][0], factor, by[k][2],
						 is, b.event[i].u, was, u);
			}
			ww_steps_clear(&a);
			ww_steps_clear(&b);
			score_input_free(&in);
		}
}

#if defined(__SANITIZE_ADDRESS__)
#define MANY 100000
#else
#define MANY 1000000
#endif

/* A step every 200 readings, for eleven days. */
static void test_many(void **state)
{
	double *t = malloc(MANY * sizeof(*t)), *v = malloc(MANY * sizeof(*v)), level = 20;
	struct ww_step_input in = {.n = MANY, .t = t, .v = v, .resolution = 0.1, .period = 1};
	struct gen_rng g = {5};
	struct ww_step_result r;
	struct ww_error err = {0};

	(void)state;
	assert_non_null(t);
	assert_non_null(v);
	for (size_t i = 0; i < MANY; i++) {
		if (i && i % 200 == 0)
			level = level > 50 ? level - gen_between(&g, 2, 20)
					   : level + gen_between(&g, 2, 20);
		t[i] = (double)i;
		v[i] = round(10 * (level + 0.12 * gen_normal(&g))) / 10;
	}
	assert_return_code(ww_steps_find(&in, &r, &err), 0);
	check("many", &in, &r);
	/* all of them but for one in a thousand, each where it is */
	assert_in_range(r.events, (MANY / 200 - 1) * 999 / 1000, MANY / 200 - 1 + MANY / 200000);
	for (size_t i = 0; i < r.events; i++)
		assert_true(r.event[i].i % 200 < 3 || r.event[i].i % 200 > 197);
	ww_steps_clear(&r);
	free(v);
	free(t);
}

/* A day of a load that rises by a count every ten seconds. */
static void test_ramp(void **state)
{
	static double t[86400], v[86400];
	struct ww_step_input in = {.n = 86400, .t = t, .v = v, .resolution = 0.1, .period = 1};

	(void)state;
	for (size_t i = 0; i < in.n; i++) {
		t[i] = (double)i;
		v[i] = round(0.1 * (double)i) / 10;
	}
	assert_int_equal(find("ramp", &in), 0);
}

int main(void)
{
	const struct CMUnitTest test[] = {
		cmocka_unit_test(test_shapes),	cmocka_unit_test(test_plain),
		cmocka_unit_test(test_times),	cmocka_unit_test(test_refused),
		cmocka_unit_test(test_follows), cmocka_unit_test(test_many),
		cmocka_unit_test(test_ramp),
	};

	return cmocka_run_group_tests_name("hostile", test, NULL, NULL);
}
