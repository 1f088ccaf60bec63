/* SPDX-License-Identifier: MIT */
/* The time axis of a cycle, with its sleep folded, and the lanes of its devices. */
#include "report/page.h"

#include <math.h>

/* A sleep longer than this part of all the rest is folded. */
#define LONG 0.5
/* What is left of it on either side, of the rest. */
#define EDGE 0.12
/* Room on both sides of the axis. */
#define ROOM 0.02

static bool is_open(int64_t t)
{
	return t == WW_TIME_MIN || t == WW_TIME_MAX;
}

static double rest_of(const struct ww_page_axis *a)
{
	double d = (double)(a->hi - a->lo) - (a->folded ? (double)(a->f1 - a->f0) : 0);

	return d > 1 ? d : 1;
}

double ww_page_u(const struct ww_page_axis *a, int64_t t)
{
	double rest = rest_of(a), live = a->folded ? 1 - WW_PAGE_FOLD : 1;
	double before = (double)(a->f0 - a->lo);

	if (!a->folded || t <= a->f0)
		return (double)(t - a->lo) / rest * live;
	if (t >= a->f1)
		return (before + (double)(t - a->f1)) / rest * live + WW_PAGE_FOLD;
	return before / rest * live + (double)(t - a->f0) / (double)(a->f1 - a->f0) * WW_PAGE_FOLD;
}

int64_t ww_page_t(const struct ww_page_axis *a, double u)
{
	double rest = rest_of(a), live = a->folded ? 1 - WW_PAGE_FOLD : 1;
	double before = a->folded ? (double)(a->f0 - a->lo) / rest * live : 1;

	if (!a->folded || u <= before)
		return a->lo + llround(u / live * rest);
	if (u >= before + WW_PAGE_FOLD)
		return a->f1 + llround((u - before - WW_PAGE_FOLD) / live * rest);
	return a->f0 + llround((u - before) / WW_PAGE_FOLD * (double)(a->f1 - a->f0));
}

static void widen(struct ww_page_axis *a, int64_t t)
{
	if (is_open(t))
		return;
	a->lo = t < a->lo ? t : a->lo;
	a->hi = t > a->hi ? t : a->hi;
}

static void widen_to(struct ww_page_axis *a, struct ww_interval t)
{
	if (!ww_iv_ok(t))
		return;
	widen(a, t.lo_ns);
	widen(a, t.hi_ns);
}

/* The moment of an interval whose one end may be open. */
static bool moment(struct ww_interval t, int64_t *out)
{
	if (!ww_iv_ok(t) || (is_open(t.lo_ns) && is_open(t.hi_ns)))
		return false;
	*out = is_open(t.lo_ns) ? t.hi_ns : is_open(t.hi_ns) ? t.lo_ns : ww_iv_mid(t);
	return true;
}

/* When it fell asleep and woke, by the bench's own events. */
static void bench_sleep(const struct ww_cycle *c, struct ww_page_axis *a)
{
	static const int back[] = {WW_EV_WAKE, WW_EV_FIRMWARE, WW_EV_HANDOFF, WW_EV_UART,
				   WW_EV_FIRST_BEAT};
	int64_t t;

	for (int e = WW_EV_LAST_BEAT; e <= WW_EV_OFF; e++)
		if (moment(c->event[e], &t))
			a->f0 = t;
	for (size_t i = 0; i < WW_COUNTOF(back) && a->f1 == WW_TIME_MAX; i++)
		if (moment(c->event[back[i]], &t)) {
			a->f1 = a->zero = t;
			a->zero_is = i == 0 ? "the wake" : "the first sign of life";
		}
}

/* By the kernel's lines: finer than a meter; its wake where no other is known. */
static void kernel_sleep(const struct ww_page *p, size_t i, const struct ww_pm_cycle *k,
			 struct ww_page_axis *a)
{
	int64_t t, at;

	if (moment(k->sleep_begin, &t) && ww_page_place(p, i, t, &at) &&
	    (a->f1 == WW_TIME_MAX || at <= a->f1))
		a->f0 = at;
	if (!moment(k->sleep_end, &t) || !ww_page_place(p, i, t, &at))
		return;
	if (a->f1 == WW_TIME_MAX || !p->r) {
		a->f1 = a->zero = at;
		a->zero_is = "the kernel's wake";
	}
}

/* Tasks stood still, the machine did not: what happened then is what one wants to see. */
static bool awake(const struct ww_page_cycle *c)
{
	int result = c->out ? (int)c->out->c.result : -1;

	if (c->pm && c->placed && ww_iv_ok(c->pm->sleep_begin))
		return false;
	return result == WW_RES_REFUSED || result == WW_RES_ABORTED || result == WW_RES_PM_TEST;
}

/* A little of the sleep stays on either side, unless the clock itself stood still. */
static void fold(const struct ww_page *p, const struct ww_page_cycle *c, struct ww_page_axis *a)
{
	double rest, asleep;

	a->folded = !awake(c) && a->f0 > WW_TIME_MIN && a->f1 < WW_TIME_MAX && a->f0 <= a->f1 &&
		    a->f0 >= a->lo && a->f1 <= a->hi;
	if (!a->folded)
		return;
	rest = rest_of(a);
	asleep = (double)(a->f1 - a->f0);
	a->asleep = a->f0;
	if (p->r) {
		a->folded = asleep > LONG * rest;
		a->f0 += llround(fmin(EDGE * rest, asleep / 4));
		a->f1 -= llround(fmin(EDGE * rest, asleep / 4));
	}
}

void ww_page_axis_make(const struct ww_page *p, size_t i, struct ww_page_cycle *c)
{
	struct ww_page_axis *a = &c->axis;
	int64_t t, room;

	*a = (struct ww_page_axis){.lo = WW_TIME_MAX,
				   .hi = WW_TIME_MIN,
				   .f0 = WW_TIME_MIN,
				   .f1 = WW_TIME_MAX};
	for (int e = 0; c->out && e < WW_EV_COUNT; e++)
		if (e != WW_EV_SETTLED)
			widen_to(a, c->out->c.event[e]);
	for (size_t k = 0; c->out && k < c->out->c.stalls; k++)
		widen_to(a, c->out->c.stall[k].t);
	if (c->pm && ww_iv_ok(c->pm->t)) {
		const int64_t ends[] = {c->pm->t.lo_ns, c->pm->t.hi_ns};

		for (size_t k = 0; k < 2; k++)
			if (!is_open(ends[k]) && ww_page_place(p, i, ends[k], &t)) {
				widen(a, t);
				c->placed = true;
			}
	}
	if (a->lo > a->hi) { /* nothing has a time */
		*a = (struct ww_page_axis){.hi = 1, .zero_is = "the begin"};
		return;
	}
	if (c->out)
		bench_sleep(&c->out->c, a);
	if (c->pm && c->placed)
		kernel_sleep(p, i, c->pm, a);
	if (!a->zero_is) {
		a->zero = a->lo;
		a->zero_is = "the begin";
	}
	if (p->r && a->hi - a->lo < WW_NS_PER_MS) /* no more than a request: what the beats did */
		a->hi += WW_NS_PER_S;
	a->hi += a->hi == a->lo;
	fold(p, c, a);
	/* Room for the silence of one that never came back. */
	if (c->out && c->out->c.result == WW_RES_HUNG)
		a->hi += llround(fmax(rest_of(a), (double)WW_NS_PER_S) / 2);
	room = llround(rest_of(a) * ROOM) + 1;
	a->lo -= room;
	a->hi += room;
}

/*
 * Where a phase begins and ends: by its stamps, or by the one that there is and its length.
 * An end that is not told is that of the axis.
 */
bool ww_page_span(const struct ww_page *p, size_t i, const struct ww_pm_span *s, int64_t *from,
		  int64_t *to)
{
	bool begins = !is_open(s->start_ns) && ww_page_place(p, i, s->start_ns, from);
	bool ends = !is_open(s->end_ns) && ww_page_place(p, i, s->end_ns, to);
	bool known = ww_iv_ok(s->length) && !is_open(s->length.lo_ns) && !is_open(s->length.hi_ns);

	if (!begins && !ends)
		return false;
	if (!begins)
		*from = *to - (known ? ww_iv_mid(s->length) : 0);
	if (!ends)
		*to = known ? *from + ww_iv_mid(s->length) : p->cycle[i].axis.hi;
	return true;
}

/* ---- lanes ---- */

static int by_start(const void *a, const void *b, void *arg)
{
	const int64_t *start = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (start[x] != start[y])
		return start[x] < start[y] ? -1 : 1;
	return (x > y) - (x < y);
}

static void place_all(const struct ww_page *p, size_t i, struct ww_page_cycle *c)
{
	for (size_t k = 0; k < c->pm->devices; k++) {
		const struct ww_pm_device *d = &c->pm->device[k];
		int64_t length =
			ww_iv_ok(d->length) && !is_open(d->length.hi_ns) ? ww_iv_mid(d->length) : 0;

		c->lane[k] = UINT16_MAX;
		if (is_open(d->start_ns) || !ww_page_place(p, i, d->start_ns, &c->start[k]))
			continue;
		if (d->end_ns == WW_TIME_MAX && !ww_iv_ok(d->length))
			c->end[k] = c->axis.hi; /* no return was seen */
		else if (is_open(d->end_ns) || !ww_page_place(p, i, d->end_ns, &c->end[k]))
			c->end[k] = c->start[k] + length;
		if (c->end[k] < c->start[k])
			c->end[k] = c->start[k];
		c->lane[k] = 0;
	}
}

/* Each in the first lane that is free when it begins. */
int ww_page_lanes(const struct ww_page *p, size_t i, struct ww_page_cycle *c, struct ww_error *err)
{
	size_t n = c->pm ? c->pm->devices : 0, *order = NULL;
	int64_t *until = NULL;
	int rc = 0;

	if (n == 0 || !c->placed)
		return 0;
	order = calloc(n, sizeof(*order));
	until = calloc(n, sizeof(*until));
	c->start = calloc(n, sizeof(*c->start));
	c->end = calloc(n, sizeof(*c->end));
	c->lane = calloc(n, sizeof(*c->lane));
	if (!order || !until || !c->start || !c->end || !c->lane) {
		rc = ww_fail_nomem(err);
		goto out;
	}
	place_all(p, i, c);
	for (size_t k = 0; k < n; k++)
		order[k] = k;
	qsort_r(order, n, sizeof(*order), by_start, c->start);
	for (size_t k = 0; k < n; k++) {
		size_t at = order[k], lane = 0;

		if (c->lane[at] == UINT16_MAX)
			continue;
		while (lane < c->lanes && until[lane] > c->start[at])
			lane++;
		if (lane == UINT16_MAX)
			continue;
		c->lanes += lane == c->lanes;
		until[lane] = c->end[at];
		c->lane[at] = (uint16_t)lane;
	}
out:
	free(order);
	free(until);
	return rc;
}
