/* SPDX-License-Identifier: MIT */
/*
 * Kernel text and ftrace of the same suspends, each of which may have more than the other: the
 * next ones of both are one suspend, or one of them has none beside it. Where clocks do not
 * tell, those lengths do that both know.
 */
#include "analysis/kernlog.h"

#define NEAR_NS	 (WW_NS_PER_S)	    /* begins of one suspend, on clocks that are one */
#define ALIKE_NS (2 * WW_NS_PER_MS) /* lengths of one suspend, all differences together */
#define UNSURE	 WW_NS_PER_US	    /* alike, but the clocks do not say that it is the same */
#define NEVER	 INT64_MAX

struct ww_pm_work *ww_kl_ahead_take(struct ww_kernlog *k, size_t of)
{
	struct ww_pm_work *w;

	if (of >= 2 || k->aheads[of] == 0)
		return NULL;
	w = k->ahead[of][0];
	k->aheads[of]--;
	memmove(k->ahead[of], k->ahead[of] + 1, k->aheads[of] * sizeof(struct ww_pm_work *));
	return w;
}

void ww_kl_ahead_free(struct ww_kernlog *k)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		while (k->aheads[i] > 0)
			ww_pm_work_free(ww_kl_ahead_take(k, i));
	}
}

/* @return 1 there are so many of it, 0 the text ends before */
static int read_ahead(struct ww_kernlog *k, size_t of, size_t n, struct ww_error *err)
{
	int rc = 1;

	while (k->aheads[of] < n && rc > 0) {
		rc = ww_kl_input_cycle(&k->in[of], &k->ahead[of][k->aheads[of]], err);
		if (rc > 0)
			k->aheads[of]++;
	}
	return rc;
}

static bool clocked(const struct ww_pm_work *w)
{
	return w->c.t.lo_ns != WW_TIME_MIN &&
	       (w->c.clock == WW_PM_CLOCK_PRINTK || w->c.clock == WW_PM_CLOCK_TRACE);
}

/* On the text's clock. */
static int64_t begin(const struct ww_kernlog *k, const struct ww_pm_work *w)
{
	return w->ftrace ? ww_add_sat(w->c.t.lo_ns, k->offset_ns) : w->c.t.lo_ns;
}

static bool near_by(const struct ww_kernlog *k, const struct ww_pm_work *a,
		    const struct ww_pm_work *b)
{
	int64_t d;

	if (!clocked(a) || !clocked(b))
		return false;
	d = begin(k, a) - begin(k, b);
	return d <= NEAR_NS && d >= -NEAR_NS;
}

/* How little these two are one suspend: 0 surely, NEVER not at all. */
static int64_t distance(const struct ww_kernlog *k, const struct ww_pm_work *a,
			const struct ww_pm_work *b)
{
	if (!ww_pm_same(a, b))
		return NEVER;
	return near_by(k, a, b) ? 0 : UNSURE + ww_pm_unlike(a, b);
}

/* The text whose next suspend stands alone, since a later one is the other's; -1 none. */
static int alone(struct ww_kernlog *k, int64_t least)
{
	int side = -1;
	size_t i, j;

	for (i = 0; i < 2; i++) {
		for (j = 1; j < k->aheads[i]; j++) {
			int64_t d = distance(k, k->ahead[i][j], k->ahead[1 - i][0]);

			if (d < least) {
				least = d;
				side = (int)i;
			}
		}
	}
	return side;
}

static bool earlier(const struct ww_kernlog *k, const struct ww_pm_work *a,
		    const struct ww_pm_work *b)
{
	if (clocked(a) && clocked(b) && k->joined)
		return begin(k, a) <= begin(k, b);
	if (a->told_utc_ns != 0 && b->told_utc_ns != 0)
		return a->told_utc_ns <= b->told_utc_ns;
	if (a->c.t.lo_ns != WW_TIME_MIN && b->c.t.lo_ns != WW_TIME_MIN)
		return a->c.t.lo_ns <= b->c.t.lo_ns;
	return true;
}

/* Each lacks what the other has here: later ones go together again. */
static bool crossing(const struct ww_kernlog *k)
{
	size_t i, j;

	for (i = 1; k->joined && i < k->aheads[0]; i++) {
		for (j = 1; j < k->aheads[1]; j++) {
			if (near_by(k, k->ahead[0][i], k->ahead[1][j]))
				return true;
		}
	}
	return false;
}

/* @return the text whose next one stands alone, 2: both are one, <0 failed */
static int choose(struct ww_kernlog *k, struct ww_error *err)
{
	struct ww_pm_work *a = k->ahead[0][0], *b = k->ahead[1][0];
	int64_t d = distance(k, a, b);
	bool clocks = clocked(a) && clocked(b);
	int side;
	size_t i;

	if (d == 0 || (d <= ALIKE_NS && !clocks))
		return 2;
	for (i = 0; i < 2; i++) {
		if (read_ahead(k, i, WW_KL_AHEAD, err) < 0)
			return -1;
	}
	side = alone(k, d == NEVER ? NEVER : d / 4);
	if (side >= 0)
		return side;
	if (d == NEVER || (clocks && !a->boot_clock && !b->boot_clock && crossing(k)))
		return earlier(k, a, b) ? 0 : 1;
	return 2;
}

static int both(struct ww_kernlog *k, struct ww_pm_work **out, struct ww_error *err)
{
	struct ww_pm_work *a = ww_kl_ahead_take(k, 0), *b = ww_kl_ahead_take(k, 1);
	const struct ww_pm_work *text = a->ftrace ? b : a, *trace = a->ftrace ? a : b;
	bool clocks = clocked(a) && clocked(b), on = trace->boot_clock;
	int64_t offset = clocks ? text->c.t.lo_ns - trace->c.t.lo_ns : 0;
	int rc = ww_pm_merge(a, b, err);

	ww_pm_work_free(b);
	*out = a;
	/* A clock that goes on in the sleep is ahead by more from now on. */
	if (on && ww_iv_ok(a->c.slept))
		offset -= ww_iv_mid(a->c.slept);
	k->joined = true;
	k->offset_ns = clocks ? offset : k->offset_ns;
	return rc < 0 ? rc : 1;
}

int ww_kl_paired(struct ww_kernlog *k, struct ww_pm_work **out, struct ww_error *err)
{
	int rc, side;
	size_t i;

	*out = NULL;
	for (i = 0; i < 2; i++) {
		rc = read_ahead(k, i, 1, err);
		if (rc < 0)
			return rc;
	}
	if (k->in[0].decided && k->in[1].decided && k->in[0].ftrace == k->in[1].ftrace)
		return 0;
	if (k->aheads[0] > 0 && k->aheads[1] > 0) {
		side = choose(k, err);
		if (side < 0)
			return err->code < 0 ? err->code : -ENOMEM;
		if (side == 2)
			return both(k, out, err);
	} else {
		side = k->aheads[0] == 0;
	}
	*out = ww_kl_ahead_take(k, (size_t)side);
	k->alone += *out != NULL;
	return *out != NULL;
}
