/* SPDX-License-Identifier: MIT */
#include "analysis/curve.h"

#include <math.h>

/* The column that a moment falls into; the last one holds the end. */
static size_t column_of(const struct ww_series *s, size_t i, size_t columns)
{
	double t0 = (double)s->t_ns[0], span = (double)s->t_ns[s->n - 1] - t0;
	size_t k;

	if (!(span > 0))
		return 0;
	k = (size_t)(((double)s->t_ns[i] - t0) / span * (double)columns);
	return k < columns ? k : columns - 1;
}

static void add(struct ww_curve_bin *b, double t, double v)
{
	b->t1 = t;
	b->last = v;
	b->lo = fmin(b->lo, v);
	b->hi = fmax(b->hi, v);
	b->n++;
}

int ww_curve_make(struct ww_curve *c, const struct ww_series *s, size_t columns,
		  struct ww_error *err)
{
	size_t most = s->n < columns ? s->n : columns, at = 0;
	uint32_t hole = 0;

	*c = (struct ww_curve){0};
	if (most == 0)
		return 0;
	c->bin = calloc(most, sizeof(*c->bin));
	if (!c->bin)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < s->n; i++) {
		double t = ww_series_s(s, s->t_ns[i]), v = s->v[i];
		size_t k = s->n <= columns ? i : column_of(s, i, columns);

		/* A gap shorter than a column is none that could be seen. */
		hole |= i && s->hole[i];
		if (i == 0 || k != at) {
			c->bin[c->n++] = (struct ww_curve_bin){t, t, v, v, v, v, 1, hole};
			hole = 0;
			at = k;
		} else {
			add(&c->bin[c->n - 1], t, v);
			hole = 0;
		}
	}
	return 0;
}

void ww_curve_free(struct ww_curve *c)
{
	free(c->bin);
	*c = (struct ww_curve){0};
}
