/* SPDX-License-Identifier: MIT */
/*
 * On and off of one load among those of others: the size that most changes share,
 * found in the sorted sizes; of these, ups and downs in turn (the two thresholds of a
 * Schmitt trigger are what the detection of changes already holds apart).
 */
#include "analysis/cycling.h"
#include "base/stats.h"

#include <math.h>

#define LEAST_CYCLES 3
/* Sizes of one load: an inrush or a slow warming moves them by no more than that. */
#define SAME_SIZE 0.25
/* Regular: periods differ by no more than this part of them. */
#define REGULAR 0.3

struct size {
	double a; /* |delta| */
	double u;
};

static int by_size(const void *a, const void *b)
{
	const struct size *x = a, *y = b;

	return (x->a > y->a) - (x->a < y->a);
}

/* The size in whose surroundings most changes lie; greatest of several. */
static double commonest(struct size *s, size_t n)
{
	size_t most = 0, to = 0;
	double best = 0;

	for (size_t from = 0; from < n; from++) {
		double limit = s[from].a + fmax(2 * SAME_SIZE * s[from].a, 3 * s[from].u);

		if (to < from)
			to = from;
		while (to < n && s[to].a <= limit)
			to++;
		if (to - from >= most) {
			most = to - from;
			best = s[from + (to - from) / 2].a;
		}
	}
	return best;
}

/* Sequence of one load: ups and downs in turn; of two ups in a row the later counts. */
struct turns {
	double *on, *off; /* on[k] < off[k] < on[k+1] */
	size_t ons, offs;
};

static void turn(struct turns *q, const struct ww_step_event *e, double dwell)
{
	double t = (e->t_lo + e->t_hi) / 2;
	bool is_on = q->ons > q->offs;

	if (e->delta > 0) {
		if (is_on)
			q->ons--; /* the off between them was not seen */
		if (q->offs && t - q->off[q->offs - 1] < dwell)
			return;
		q->on[q->ons++] = t;
	} else if (is_on && t - q->on[q->ons - 1] >= dwell) {
		q->off[q->offs++] = t;
	}
}

static void judge(const struct turns *q, double *work, struct ww_cycling *out)
{
	size_t n = q->ons ? q->ons - 1 : 0;
	double on = 0;

	if (n < LEAST_CYCLES)
		return;
	for (size_t i = 0; i < n; i++)
		work[i] = q->on[i + 1] - q->on[i];
	out->period = ww_median(work, n);
	for (size_t i = 0; i < n; i++)
		work[i] = fabs(q->on[i + 1] - q->on[i] - out->period);
	/* 1.4826: of a normal distribution's median deviation. */
	out->spread = 1.4826 * ww_median(work, n);
	if (!(out->spread <= REGULAR * out->period))
		return;
	for (size_t i = 0; i < n; i++)
		on += q->off[i] - q->on[i];
	out->from = q->on[0];
	out->to = q->on[n];
	out->duty = on / (out->to - out->from);
	out->cycles = n;
}

int ww_cycling_find(const struct ww_step_event *event, size_t n, double dwell,
		    struct ww_cycling *out, struct ww_error *err)
{
	struct size *size = calloc(n + 1, sizeof(*size));
	double *work = calloc(3 * (n + 1), sizeof(*work)), near;
	struct turns q = {0};
	size_t m = 0, sizes = 0;

	*out = (struct ww_cycling){0};
	if (!size || !work) {
		free(size);
		free(work);
		return ww_fail_nomem(err);
	}
	for (size_t i = 0; i < n; i++)
		if (event[i].state == WW_STEP_DETECTED)
			size[m++] = (struct size){fabs(event[i].delta), event[i].u};
	qsort(size, m, sizeof(*size), by_size);
	near = commonest(size, m);
	q.on = work;
	q.off = work + n + 1;
	for (size_t i = 0; i < n; i++) {
		double a = fabs(event[i].delta);

		if (event[i].state != WW_STEP_DETECTED ||
		    fabs(a - near) > fmax(SAME_SIZE * near, 3 * event[i].u))
			continue;
		size[sizes++].a = a;
		turn(&q, &event[i], dwell);
	}
	judge(&q, work + 2 * (n + 1), out);
	for (size_t i = 0; i < sizes; i++)
		work[i] = size[i].a;
	out->on = sizes ? ww_median(work, sizes) : 0;
	free(size);
	free(work);
	return 0;
}
