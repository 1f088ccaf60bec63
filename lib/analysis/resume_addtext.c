/* SPDX-License-Identifier: MIT */
/*
 * Kernel text and ftrace that were read from the DUT afterwards, joined to a recording's
 * cycles. The text's clock counts waking time, as the console's stamps and the beats' MONOTONIC
 * do, or goes on in the sleep, as the bench's does: cycles are joined where as many as can be
 * lie at one distance.
 */
#include "analysis/resume_kernel.h"

#include <math.h>

#define NEAR_NS 2e9 /* a cycle begins within so much of where it should */
#define BOOT_NS 5e9 /* two clocks of one boot differ by less */
#define TRIED	16  /* cycles of the text whose distances are tried */

struct texts {
	struct ww_pm_cycle **c;
	size_t n, cap;
};

static int read_all(struct ww_kernlog *log, struct texts *all, struct ww_error *err)
{
	const struct ww_pm_cycle *c;
	int rc;

	while ((rc = ww_kernlog_next(log, &c, err)) > 0) {
		rc = ww_grow(&all->c, &all->cap, all->n, sizeof(struct ww_pm_cycle *), err);
		if (rc < 0)
			return rc;
		all->c[all->n] = ww_pm_cycle_copy(c, WW_KERNEL_DEVICES);
		if (!all->c[all->n])
			return ww_fail_nomem(err);
		all->n++;
	}
	return rc;
}

/* The DUT's MONOTONIC at a time of the bench, by the beats; NaN unknown. */
static double monotonic(const struct ww_resume *r, int64_t bench_ns)
{
	const struct ww_skew *k = &r->scan.skew;
	double mono = NAN;

	for (size_t i = 0; i < k->n && k->stretch[i].r0_ns <= bench_ns; i++)
		mono = (double)k->stretch[i].s0_us * 1e3 + (double)(bench_ns - k->stretch[i].r0_ns);
	return mono;
}

static int64_t began(const struct ww_resume *r, size_t i)
{
	const struct ww_interval *e = r->cycle[i].c.event;
	static const int order[] = {WW_EV_KERNEL_ENTRY, WW_EV_REQUEST, WW_EV_LAST_BEAT};

	for (size_t k = 0; k < WW_COUNTOF(order); k++)
		if (ww_iv_ok(e[order[k]]))
			return ww_iv_mid(e[order[k]]);
	return WW_TIME_MIN;
}

/* When each cycle began: on the DUT's waking clock, or on the bench's. */
static double *times(const struct ww_resume *r, bool bench)
{
	double *t = malloc((r->cycles + 1) * sizeof(*t));

	for (size_t i = 0; t && i < r->cycles; i++) {
		const struct ww_pm_cycle *k = ww_resume_kernel(r, i);
		int64_t at = began(r, i);

		if (bench)
			t[i] = at == WW_TIME_MIN ? NAN : (double)at;
		else if (k && k->clock == WW_PM_CLOCK_PRINTK && k->t.lo_ns != WW_TIME_MIN)
			t[i] = (double)k->t.lo_ns;
		else
			t[i] = at == WW_TIME_MIN ? NAN : monotonic(r, at);
	}
	return t;
}

/* Each text's cycle to the nearest of those not taken; how many, and how near. */
static size_t fit(const double *a, size_t n, const struct texts *all, double offset, uint32_t *to,
		  double *apart)
{
	size_t i = 0, got = 0;

	*apart = 0;
	for (size_t j = 0; j < all->n; j++) {
		double t = (double)all->c[j]->t.lo_ns + offset;

		if (to)
			to[j] = 0;
		if (all->c[j]->t.lo_ns == WW_TIME_MIN)
			continue;
		while (i < n && (isnan(a[i]) || a[i] < t - NEAR_NS))
			i++;
		while (i + 1 < n && fabs(a[i + 1] - t) < fabs(a[i] - t))
			i++;
		if (i >= n || fabs(a[i] - t) > NEAR_NS)
			continue;
		*apart += fabs(a[i] - t);
		got++;
		if (to)
			to[j] = (uint32_t)i + 1;
		i++;
	}
	return got;
}

struct best {
	size_t got;
	double offset, apart;
	const double *a;
};

static void attempt(const double *a, size_t n, const struct texts *all, bool one_boot,
		    struct best *best)
{
	for (size_t j = 0; j < all->n && j < TRIED; j++) {
		for (size_t i = 0; i < n; i++) {
			double offset = a[i] - (double)all->c[j]->t.lo_ns, apart;
			size_t got;

			if (isnan(offset) || all->c[j]->t.lo_ns == WW_TIME_MIN ||
			    (one_boot && fabs(offset) > BOOT_NS))
				continue;
			got = fit(a, n, all, offset, NULL, &apart);
			if (got < best->got || (got == best->got && apart >= best->apart))
				continue;
			*best = (struct best){got, offset, apart, a};
		}
	}
}

static int join(const struct ww_resume *r, const struct texts *all, uint32_t *to,
		struct ww_error *err)
{
	double *waking = times(r, false), *bench = times(r, true), apart;
	struct best best = {.got = 0, .apart = INFINITY};

	if (waking && bench) {
		/* A clock that is the same is one boot's, and better than any other guess. */
		attempt(waking, r->cycles, all, true, &best);
		if (2 * best.got < all->n) {
			attempt(waking, r->cycles, all, false, &best);
			attempt(bench, r->cycles, all, false, &best);
		}
		if (best.a && (best.got > 1 || all->n == 1))
			fit(best.a, r->cycles, all, best.offset, to, &apart);
		else
			for (size_t j = 0; j < all->n; j++)
				to[j] = all->n == r->cycles ? (uint32_t)j + 1 : 0;
	}
	free(waking);
	free(bench);
	return waking && bench ? 0 : ww_fail_nomem(err);
}

/* The console's view and the text's. */
static int merge(struct ww_kernel_cycle *kc, const struct ww_pm_cycle *c, struct ww_error *err)
{
	struct ww_pm_work *a = ww_pm_work_of(kc->c), *b = ww_pm_work_of(c);
	struct ww_pm_cycle *copy = NULL;
	int rc = a && b ? 0 : ww_fail_nomem(err);

	/* The console's stamps are those that the bench knows. */
	if (rc >= 0) {
		b->ftrace = true;
		ww_kernel_give_lines(kc, a);
		rc = ww_pm_merge(a, b, err);
	}
	if (rc >= 0) {
		/* In their order, and of the lengths as they are now. */
		ww_pm_order_spans(a);
		if (a->lines && a->c.baud)
			ww_pm_console(a, a->c.baud, false);
		ww_pm_critical(a);
		ww_pm_disagree(a);
		rc = ww_pm_close(a, err);
	}
	if (rc >= 0) {
		copy = ww_pm_cycle_copy(&a->c, WW_KERNEL_DEVICES);
		rc = copy ? 0 : ww_fail_nomem(err);
	}
	if (rc >= 0) {
		ww_pm_cycle_free(kc->c);
		kc->c = copy;
	}
	ww_pm_work_free(a);
	ww_pm_work_free(b);
	return rc;
}

static int attach(struct ww_resume *r, size_t i, struct ww_pm_cycle **c, struct ww_error *err)
{
	struct ww_kernel *k = r->kernel;
	struct ww_kernel_cycle *kc;
	int rc;

	if (k->of[i])
		return merge(&k->cycle[k->of[i] - 1], *c, err);
	rc = ww_grow(&k->cycle, &k->cap, k->n, sizeof(*k->cycle), err);
	if (rc < 0)
		return rc;
	kc = &k->cycle[k->n++];
	*kc = (struct ww_kernel_cycle){.c = *c,
				       .before = SIZE_MAX,
				       .after = SIZE_MAX,
				       .tie = {{WW_TIME_MIN, WW_TIME_MAX},
					       {WW_TIME_MIN, WW_TIME_MAX}},
				       .mine = true,
				       .console_off_ns = WW_NO_TIME};
	*c = NULL;
	k->of[i] = (uint32_t)k->n;
	ww_kernel_tie(r, i, kc);
	ww_kernel_place(k, kc);
	return 0;
}

static int take(struct ww_resume *r, struct texts *all, struct ww_error *err)
{
	uint32_t *to = calloc(all->n + 1, sizeof(*to));
	int rc = to ? join(r, all, to, err) : ww_fail_nomem(err), found = 0;

	for (size_t j = 0; rc >= 0 && j < all->n; j++) {
		if (!to[j])
			continue;
		rc = attach(r, to[j] - 1, &all->c[j], err);
		found += rc >= 0;
	}
	free(to);
	return rc < 0 ? rc : found;
}

/* Results may be others now. */
static int renew(struct ww_resume *r, struct ww_kernlog *log, size_t left, struct ww_error *err)
{
	int rc = ww_kernel_apply(r, err);

	memset(r->results, 0, sizeof(r->results));
	r->warmups = 0;
	if (rc >= 0)
		rc = ww_resume_summarise(r, err);
	for (size_t i = 0; rc >= 0 && ww_kernlog_note(log, i); i++)
		rc = ww_notes_add(&r->notes, err, "text of the DUT: %s", ww_kernlog_note(log, i));
	if (rc >= 0 && left)
		rc = ww_notes_add(&r->notes, err,
				  "%zu suspend%s in the text of the DUT found no cycle of the "
				  "recording",
				  left, left == 1 ? "" : "s");
	return rc;
}

int ww_resume_add_text(struct ww_resume *r, struct ww_text *const *text, size_t n,
		       const struct ww_kernlog_options *opt, struct ww_error *err)
{
	struct ww_kernlog *log = NULL;
	struct texts all = {0};
	int found = 0, rc = ww_kernel_ready(r, err);

	if (rc >= 0)
		rc = ww_kernlog_new(text, n, opt, &log, err);
	if (rc >= 0)
		rc = read_all(log, &all, err);
	if (rc >= 0)
		rc = found = take(r, &all, err);
	if (rc >= 0)
		rc = renew(r, log, all.n - (size_t)found, err);
	for (size_t i = 0; i < all.n; i++)
		ww_pm_cycle_free(all.c[i]);
	free(all.c);
	ww_kernlog_free(log);
	return rc < 0 ? rc : found;
}
