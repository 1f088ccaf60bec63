/* SPDX-License-Identifier: MIT */
/*
 * Backward elimination: the change that stands out least is dropped first, while it
 * is below some standard uncertainties or one smooth curve describes both sides.
 */
#include "analysis/steps_core.h"

#include <math.h>

#define FREEDOM	   3.0	 /* what each further parameter of a level must save */
#define SETTLING   3.0	 /* so many times more must be saved soon after a larger change */
#define PASSING	   100.0 /* variances: a transient beyond doubt */
#define FEW	   32.0	 /* readings */
#define NEIGHBOURS 64
#define NONE	   SIZE_MAX

struct prune {
	const struct ww_step_data *d;
	struct ww_step_bound *bound;
	size_t n;
	struct ww_step_fit *fit; /* [n + 1]; of the level before bound k */
	struct ww_step_fit *one; /* [n] of both levels beside bound k together; n = 0: not known */
	size_t *before, *after;	 /* bounds that are left beside k; NONE */
	char *passing;		 /* a transient that leaves the level as it was */
	double *score;		 /* below 1: to be dropped; a tree of least ones */
	size_t leaves;
};

static void set(struct prune *p, size_t k, double score)
{
	size_t i = p->leaves + k;

	p->score[i] = score;
	for (i /= 2; i; i /= 2)
		p->score[i] = fmin(p->score[2 * i], p->score[2 * i + 1]);
}

/* Below a place in the tree. */
static size_t worst(const struct prune *p, size_t i)
{
	while (i < p->leaves)
		i = 2 * i + (p->score[2 * i] > p->score[2 * i + 1]);
	return i - p->leaves;
}

static size_t begin_of(const struct prune *p, size_t k)
{
	return p->before[k] == NONE ? 0 : p->bound[p->before[k]].f;
}

static size_t end_of(const struct prune *p, size_t k)
{
	return p->after[k] == NONE ? p->d->n : p->bound[p->after[k]].i;
}

static size_t level_after(const struct prune *p, size_t k)
{
	return p->after[k] == NONE ? p->n : p->after[k];
}

/* What a fit leaves, and what its freedom is worth. */
static double cost(const struct ww_step_fit *f, double s2)
{
	double held = f->hold * f->a * f->a, more = f->hold > 0 ? 0 : f->params - 1;

	return f->rss + held + FREEDOM * more * s2;
}

/*
 * Flat on both sides and far apart: whatever bends smoothly from one to the other
 * would bend within the sides, too.
 */
static bool abrupt(const struct ww_step_fit *a, const struct ww_step_fit *b, double delta)
{
	double s = sqrt(fmax(a->s2, b->s2));

	return a->shape == WW_LEVEL_CONSTANT && b->shape == WW_LEVEL_CONSTANT && a->n >= 8 &&
	       b->n >= 8 && delta > 10 * s;
}

/* Soon after a larger change, which it may be the settling of. */
static bool may_settle(const struct prune *p, size_t k, double delta)
{
	size_t last = p->before[k];
	const struct ww_step_data *d = p->d;
	double t, all;

	if (last == NONE)
		return false;
	t = d->t[p->bound[last].i];
	if (d->t[p->bound[k].i] - t > WW_STEP_SETTLING_S)
		return false;
	all = ww_step_fit_at(&p->fit[k], d->t[p->bound[k].i]) - ww_step_fit_at(&p->fit[last], t);
	return delta <= WW_STEP_SETTLING * fabs(all);
}

/* Variances that a jump saves against one curve over both sides. */
static double saved(struct prune *p, size_t k, const struct ww_step_fit *a,
		    const struct ww_step_fit *b, double delta)
{
	double free = a->dof + b->dof, save,
	       s2 = (a->s2 * a->tau * a->dof + b->s2 * b->tau * b->dof) / free;
	struct ww_step_fit *one = &p->one[k];

	ww_step_shape(p->d, begin_of(p, k), end_of(p, k), one);
	save = (cost(one, s2) - cost(a, s2) - cost(b, s2)) / s2;
	/* A curve is expected there, and noise makes it look like stairs. */
	if (save > p->d->smooth && may_settle(p, k, delta)) {
		double rss = ww_step_fit_as(p->d, begin_of(p, k), end_of(p, k), WW_LEVEL_SETTLING);

		save = fmin(save, (rss - a->rss - b->rss) / s2) / SETTLING;
	}
	return save;
}

static void judge(struct prune *p, size_t k)
{
	const struct ww_step_fit *a = &p->fit[k], *b = &p->fit[level_after(p, k)];
	double t = p->d->t[p->bound[k].i], va, vb, delta, u2, free = a->dof + b->dof, ta, tb,
	       save = INFINITY, sa, sb, z;

	ta = ww_step_when(a, a->drifts, t);
	tb = ww_step_when(b, b->drifts, t);
	delta = fabs(ww_step_fit_at(b, tb) - ww_step_fit_at(a, ta));
	va = ww_step_fit_cov(a, ta, ta);
	vb = ww_step_fit_cov(b, tb, tb);
	sa = a->s2;
	sb = b->s2;
	/* Few readings do not tell that they spread less than their neighbours do. */
	if (a->n < FEW || delta < 1.5 * p->d->q)
		sa = fmax(sa, sb);
	if (b->n < FEW || delta < 1.5 * p->d->q)
		sb = fmax(a->s2, sb);
	u2 = a->tau * sa * va + b->tau * sb * vb;
	/* As rare as a normal variable of this size is (Wallace 1959). */
	z = sqrt(free * log1p(delta * delta / u2 / free));
	p->one[k].n = 0;
	if (!abrupt(a, b, delta))
		save = saved(p, k, a, b, delta);
	/* It came and went: no change of level, and no part of one. */
	p->passing[k] =
		z < p->d->least && save > PASSING && b->shape == WW_LEVEL_SETTLING && !b->drifts;
	if (p->passing[k])
		set(p, k, INFINITY);
	else
		set(p, k, fmin(z / p->d->least, save / p->d->smooth));
}

/* The shape may be known already. */
static void fit(const struct prune *p, size_t from, size_t to, const struct ww_step_fit *known,
		struct ww_step_fit *f)
{
	if (!known) {
		ww_step_fit(p->d, from, to, f);
		return;
	}
	*f = *known;
	if (f->shape == WW_LEVEL_SETTLING)
		ww_step_settling_cov(p->d, from, to, f);
}

static void fit_before(struct prune *p, size_t k, const struct ww_step_fit *known)
{
	fit(p, begin_of(p, k), p->bound[k].i, known, &p->fit[k]);
	p->fit[k].drifts =
		ww_step_drifts(&p->fit[k], p->before[k] == NONE ? NULL : &p->fit[p->before[k]]);
}

static void fit_after(struct prune *p, size_t k, const struct ww_step_fit *known)
{
	struct ww_step_fit *f = &p->fit[level_after(p, k)];

	fit(p, p->bound[k].f, end_of(p, k), known, f);
	f->drifts = ww_step_drifts(f, &p->fit[k]);
}

static void drop(struct prune *p, size_t k)
{
	size_t a = p->before[k], b = p->after[k];
	const struct ww_step_fit *one = p->one[k].n > 0 ? &p->one[k] : NULL;

	set(p, k, INFINITY);
	p->bound[k].i = NONE;
	if (a != NONE)
		p->after[a] = b;
	if (b != NONE)
		p->before[b] = a;
	if (b != NONE)
		fit_before(p, b, one);
	else if (a != NONE)
		fit_after(p, a, one);
	if (a != NONE)
		judge(p, a);
	if (b != NONE)
		judge(p, b);
}

/*
 * The worst first. Of many those that are far below first, among neighbours: the order
 * of what is far apart does not matter, and jumping through a long trace takes time.
 */
static void drop_all(struct prune *p)
{
	for (double most = 0.25; p->leaves > 4 * NEIGHBOURS && most < 1; most *= 2)
		for (size_t i = 0; i < p->leaves / NEIGHBOURS; i++) {
			size_t root = p->leaves / NEIGHBOURS + i;

			while (p->score[root] < most)
				drop(p, worst(p, root));
		}
	while (p->score[1] < 1)
		drop(p, worst(p, 1));
}

static int prepare(struct prune *p)
{
	p->leaves = 1;
	while (p->leaves < p->n)
		p->leaves *= 2;
	p->fit = malloc((p->n + 1) * sizeof(*p->fit));
	p->one = malloc(p->n * sizeof(*p->one));
	p->before = malloc(p->n * sizeof(*p->before));
	p->after = malloc(p->n * sizeof(*p->after));
	p->passing = calloc(p->n, 1);
	p->score = malloc(2 * p->leaves * sizeof(*p->score));
	if (!p->fit || !p->one || !p->before || !p->after || !p->passing || !p->score)
		return -ENOMEM;
	for (size_t i = 0; i < 2 * p->leaves; i++)
		p->score[i] = INFINITY;
	for (size_t k = 0; k < p->n; k++) {
		p->before[k] = k ? k - 1 : NONE;
		p->after[k] = k + 1 < p->n ? k + 1 : NONE;
	}
	for (size_t k = 0; k < p->n; k++) {
		fit_before(p, k, NULL);
		if (k)
			judge(p, k - 1);
	}
	fit_after(p, p->n - 1, NULL);
	judge(p, p->n - 1);
	return 0;
}

/* The readings of a transient are no part of the level that it stands in. */
static void leave_out(const struct prune *p, struct ww_step_data *d, size_t k)
{
	const struct ww_step_fit *f = &p->fit[level_after(p, k)];
	size_t end = end_of(p, k);
	double s = sqrt(f->s2);

	for (size_t i = p->bound[k].i; i < end; i++) {
		if (i >= p->bound[k].f && fabs(ww_step_fit_at(f, d->t[i]) - f->c) < s)
			break;
		d->out[i] = 1;
	}
}

int ww_step_prune(struct ww_step_data *d, struct ww_step_bound *bound, size_t *bounds)
{
	struct prune p = {.d = d, .bound = bound, .n = *bounds};
	size_t left = 0;
	bool some = false;
	int rc = 0;

	if (p.n == 0)
		return 0;
	rc = prepare(&p);
	if (rc == 0) {
		drop_all(&p);
		for (size_t k = 0; k < p.n; k++) {
			if (bound[k].i == NONE)
				continue;
			some = some || p.passing[k];
			if (p.passing[k])
				leave_out(&p, d, k);
		}
		for (size_t k = 0; k < p.n; k++)
			if (bound[k].i != NONE && !p.passing[k])
				bound[left++] = bound[k];
		*bounds = left;
		if (some)
			ww_step_data_sum(d);
	}
	free(p.fit);
	free(p.one);
	free(p.before);
	free(p.after);
	free(p.passing);
	free(p.score);
	return rc;
}
