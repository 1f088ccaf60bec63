/* SPDX-License-Identifier: MIT */
/*
 * The next toggle: what gains rank, then what adds most to the determinant of the
 * information (D-optimality; Fedorov, Theory of Optimal Experiments, 1972), then what
 * needs the fewest plugs moved.
 */
#include "analysis/attribute.h"

#include <math.h>

#define SAME 1e-9

struct candidate {
	struct ww_device_next n;
	size_t flip; /* device, or SIZE_MAX: all off */
	uint8_t to;
};

/* The row that a state would give. */
static void row_of(const struct ww_attribute *a, const uint8_t *on, double *x)
{
	size_t file = 0;

	for (size_t i = 0; i < a->files; i++)
		file = a->file[i].set == WW_SET_NOW ? i : file;
	for (size_t k = 0; k < a->cols; k++) {
		x[k] = ww_attr_cell(&a->col[k], WW_SET_NOW, on, a->set[0].devices);
		if (a->own_offsets && a->col[k].kind == WW_COL_OFFSET)
			x[k] = a->col[k].file == file;
	}
}

/* Median of the rows' u: what a further reading would be uncertain by. */
static double usual_u2(const struct ww_attribute *a, double *room)
{
	size_t n = a->rows;

	memcpy(room, a->u, n * sizeof(*room));
	for (size_t i = 1; i < n && n < 2000; i++)
		for (size_t k = i; k > 0 && room[k] < room[k - 1]; k--) {
			double t = room[k];

			room[k] = room[k - 1];
			room[k - 1] = t;
		}
	return room[n / 2] * room[n / 2];
}

static bool better(const struct candidate *a, const struct candidate *b)
{
	double d = a->n.gain - b->n.gain;

	if (a->n.rank_gain != b->n.rank_gain)
		return a->n.rank_gain > b->n.rank_gain;
	if (fabs(d) > SAME * (1 + fabs(b->n.gain)))
		return d > 0;
	return a->n.flips < b->n.flips;
}

static void keep(struct candidate *best, size_t *n, const struct candidate *c)
{
	size_t at = *n;

	while (at > 0 && better(c, &best[at - 1]))
		at--;
	if (at == WW_ATTR_NEXT)
		return;
	*n += *n < WW_ATTR_NEXT;
	for (size_t i = *n - 1; i > at; i--)
		best[i] = best[i - 1];
	best[at] = *c;
}

static void judge(const struct ww_attribute *a, const double *x, double u2, struct candidate *c)
{
	c->n.rank_gain = !ww_lsq_estimable(&a->fit, x);
	c->n.gain = log1p(ww_lsq_cov(&a->fit, x, x) / u2);
}

/* All states one plug away from `on`, and that with all unplugged. */
static size_t collect(const struct ww_attribute *a, uint8_t *on, double *x, double u2,
		      struct candidate *best)
{
	const struct ww_onoff *o = &a->set[0];
	size_t n = 0, plugged = 0;

	for (size_t i = 0; i < o->devices; i++) {
		uint8_t was = on[i];

		plugged += was != 0;
		for (size_t k = 0; k <= o->device[i].states; k++) {
			struct candidate c = {.flip = i, .to = (uint8_t)k, .n.flips = 1};

			if (k == was)
				continue;
			on[i] = (uint8_t)k;
			row_of(a, on, x);
			judge(a, x, u2, &c);
			keep(best, &n, &c);
		}
		on[i] = was;
	}
	if (plugged > 1) {
		struct candidate c = {.flip = SIZE_MAX, .n.flips = (uint32_t)plugged};
		uint8_t off[WW_ONOFF_DEVICES] = {0};

		row_of(a, off, x);
		judge(a, x, u2, &c);
		if (c.n.rank_gain && ww_attr_has_offset(a))
			keep(best, &n, &c);
	}
	return n;
}

/* P_jk of the projection on the null space. */
static double part(const struct ww_lsq *f, size_t j, const double *w)
{
	double sum = 0;

	for (size_t k = 0; k < f->nulls; k++)
		sum += f->null[j * f->nulls + k] * w[k];
	return sum;
}

/*
 * Which columns of those not estimable would be, after the row x: the null space then
 * loses the direction w = N'x.
 */
static void separated(struct ww_attribute *a, const double *x, double *w, struct ww_device_next *n)
{
	const struct ww_lsq *f = &a->fit;
	uint32_t list[WW_ONOFF_DEVICES];
	double size = 0;
	size_t count = 0;

	for (size_t k = 0; k < f->nulls; k++) {
		w[k] = 0;
		for (size_t j = 0; j < f->n; j++)
			w[k] += f->null[j * f->nulls + k] * x[j];
		size += w[k] * w[k];
	}
	for (uint32_t i = 0; size > 0 && i < a->devices && count < WW_COUNTOF(list); i++) {
		size_t j = a->device_col[i];
		double have = part(f, j, f->null + j * f->nulls), v = part(f, j, w);

		if (have > SAME && have - v * v / size < SAME)
			list[count++] = i;
	}
	n->separate = ww_attr_index(a, list, count);
	n->separates = count;
}

static void finish(struct ww_attribute *a, const struct candidate *c, const uint8_t *last,
		   double *x, double *w)
{
	struct ww_device_next *n = &a->next[a->nexts++];
	uint8_t on[WW_ONOFF_DEVICES] = {0};
	uint32_t list[WW_ONOFF_DEVICES];

	if (c->flip != SIZE_MAX) {
		memcpy(on, last, a->set[0].devices);
		on[c->flip] = c->to;
	}
	*n = c->n;
	for (uint32_t i = 0; i < a->devices && n->on < WW_COUNTOF(list); i++) {
		const struct ww_attr_col *col = &a->col[a->device_col[i]];

		if (on[col->device[0]] == col->state[0])
			list[n->on++] = i;
	}
	n->device = ww_attr_index(a, list, n->on);
	row_of(a, on, x);
	separated(a, x, w, n);
}

int ww_attr_next(struct ww_attribute *a, struct ww_error *err)
{
	const struct ww_onoff *o = &a->set[0];
	const struct ww_onoff_reading *r = &o->reading[o->readings - 1];
	struct candidate best[WW_ATTR_NEXT + 1];
	uint8_t last[WW_ONOFF_DEVICES] = {0};
	double *x = calloc(a->cols, sizeof(*x)), *w = calloc(a->cols, sizeof(*w)),
	       *room = calloc(a->rows, sizeof(*room));
	size_t n = 0;

	if (x && w && room) {
		for (size_t i = 0; i < r->devices; i++)
			last[i] = r->on[i];
		n = collect(a, last, x, usual_u2(a, room), best);
		for (size_t i = 0; i < n; i++)
			finish(a, &best[i], last, x, w);
	}
	n = x && w && room;
	free(x);
	free(w);
	free(room);
	return n ? 0 : ww_fail_nomem(err);
}
