/* SPDX-License-Identifier: MIT */
/* Functional pruning against plain dynamic programming over all partitions. */
#include "analysis/fpop.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define CASES 240
#define MOST  48

static uint64_t seed;

static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	double u = 1 - uniform();

	return sqrt(-2 * log(u)) * cos(2 * M_PI * uniform());
}

static double loss(const double *y, const double *s, size_t from, size_t to, double bound,
		   double level)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += fmin(pow((y[i] - level) / s[i], 2), bound * bound);
	return sum;
}

/*
 * Least cost of one segment. Between the levels at which a reading comes within reach
 * or leaves it, the loss is a parabola: its vertex, or the ends.
 */
static double segment(const double *y, const double *s, size_t from, size_t to, double bound)
{
	double edge[2 * MOST], best = INFINITY;
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		edge[n++] = y[i] - bound * s[i];
		edge[n++] = y[i] + bound * s[i];
	}
	for (size_t e = 0; e < n; e++) {
		double next = INFINITY, mid, w = 0, wy = 0;

		for (size_t k = 0; k < n; k++)
			if (edge[k] > edge[e])
				next = fmin(next, edge[k]);
		best = fmin(best, loss(y, s, from, to, bound, edge[e]));
		if (isinf(next))
			continue;
		mid = (edge[e] + next) / 2;
		for (size_t i = from; i < to; i++) {
			if (fabs(y[i] - mid) >= bound * s[i])
				continue;
			w += 1 / (s[i] * s[i]);
			wy += y[i] / (s[i] * s[i]);
		}
		if (w > 0)
			best = fmin(best, loss(y, s, from, to, bound, wy / w));
	}
	return best;
}

static double plain(const double *y, const double *s, size_t n, double beta, double bound)
{
	double f[MOST + 1];

	f[0] = -beta;
	for (size_t to = 1; to <= n; to++) {
		f[to] = INFINITY;
		for (size_t from = 0; from < to; from++)
			f[to] = fmin(f[to], f[from] + beta + segment(y, s, from, to, bound));
	}
	return f[n];
}

/* What the partition that was returned costs. */
static double of_partition(const double *y, const double *s, size_t n, double beta, double bound,
			   const struct ww_fpop *o)
{
	double sum = beta * (double)o->changes;
	size_t from = 0;

	for (size_t k = 0; k <= o->changes; k++) {
		size_t to = k < o->changes ? o->change[k] : n;

		assert_true(from < to);
		sum += loss(y, s, from, to, bound, o->level ? o->level[k] : y[0]);
		from = to;
	}
	return sum;
}

static void same_optimum(void **state)
{
	double y[MOST], s[MOST];

	(void)state;
	for (int k = 0; k < CASES; k++) {
		double level = 0, q = k % 3 == 1 ? 1 : 0, beta, bound, best;
		struct ww_fpop o;
		size_t n;

		seed = (uint64_t)(k + 1) * UINT64_C(0x9E3779B97F4A7C15);
		n = 1 + (size_t)(uniform() * MOST);
		beta = 0.5 + 20 * uniform();
		bound = 0.5 + 4 * uniform();
		for (size_t i = 0; i < n; i++) {
			if (uniform() < 0.1)
				level = 12 * uniform();
			y[i] = level + normal() + (uniform() < 0.05 ? 30 : 0);
			if (q > 0)
				y[i] = q * floor(y[i] / q + 0.5);
			s[i] = k % 4 == 2 ? 0.5 + uniform() : 1;
		}
		assert_int_equal(ww_fpop(y, s, n, beta, bound, &o), 0);
		best = plain(y, s, n, beta, bound);
		assert_true(fabs(o.cost - best) <= 1e-9 * (1 + fabs(best)));
		assert_true(fabs(of_partition(y, s, n, beta, bound, &o) - best) <=
			    1e-9 * (1 + fabs(best)));
		ww_fpop_clear(&o);
	}
}

/* Readings far from zero and a scale far from one: the same changes. */
static void not_of_units(void **state)
{
	double y[60], z[60], s[60];
	struct ww_fpop a, b;

	(void)state;
	seed = 5;
	for (size_t i = 0; i < 60; i++) {
		y[i] = (i >= 20 && i < 43 ? 3 : 0) + normal() / 2;
		z[i] = 1e6 + 1e-4 * y[i];
		s[i] = 1e-4;
	}
	assert_int_equal(ww_fpop(y, NULL, 60, 6, 2, &a), 0);
	assert_int_equal(ww_fpop(z, s, 60, 6, 2, &b), 0);
	assert_int_equal(a.changes, 2);
	assert_int_equal(b.changes, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(a.change[i], b.change[i]);
	ww_fpop_clear(&a);
	ww_fpop_clear(&b);
}

static void nothing_there(void **state)
{
	const double one[] = {25, 25, 25, 25};
	struct ww_fpop o;

	(void)state;
	assert_int_equal(ww_fpop(NULL, NULL, 0, 5, 2, &o), 0);
	assert_int_equal(o.changes, 0);
	assert_int_equal(ww_fpop(one, NULL, 4, 5, 2, &o), 0);
	assert_int_equal(o.changes, 0);
	assert_true(o.cost == 0);
	assert_null(o.change);
}

/*
 * n unlike readings cost n bound^2, a change beta: with the penalty of n and a bound
 * for spikes of m readings, m of them are passed over and m + 1 are not.
 */
static void spike_of_m(void **state)
{
	double beta = 2 * log(200), bound = sqrt(2 * beta / 3.5), y[200];
	struct ww_fpop o;

	(void)state;
	for (size_t m = 2; m <= 4; m++) {
		for (size_t i = 0; i < 200; i++)
			y[i] = i >= 100 && i < 100 + m ? 500 : i % 2 ? 0.3 : -0.3;
		assert_int_equal(ww_fpop(y, NULL, 200, beta, bound, &o), 0);
		assert_int_equal(o.changes, m == 4 ? 2 : 0);
		ww_fpop_clear(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_optimum),
		cmocka_unit_test(not_of_units),
		cmocka_unit_test(nothing_there),
		cmocka_unit_test(spike_of_m),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
