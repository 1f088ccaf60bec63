/* SPDX-License-Identifier: MIT */
/*
 * What lines say of a sleep: a signal of the chipset (S3#, SUS#, SLP_S3#), a rail, a power
 * LED. While it beats, the machine is awake, so the first edge after that is the sleep,
 * whichever way the line is wired, and the last one back to where it stood the wake. A LED
 * that blinks meanwhile says less: it may have been lit by a blink when the machine woke,
 * and then the edge came up to a blink's length too early; or the sleep began within the
 * first one.
 */
#include "analysis/resume.h"

/* Contacts are quiet after this; a hand lets go of a button. */
#define BOUNCE_NS (20 * WW_NS_PER_MS)
#define HAND_NS	  (2 * WW_NS_PER_S)

struct blinks {
	size_t falls, offs; /* falls before the last rise; dark times of full length */
	int64_t lit_max_ns; /* longest time that a blink was lit */
	int64_t dark_min_ns;
	struct ww_interval fall; /* the last before the last rise */
};

static bool before(struct ww_interval t, int64_t to)
{
	return t.lo_ns <= to;
}

/* First edge from `from` on that does not surely lie behind `to`. */
static size_t find(struct ww_edges e, int64_t from, int64_t to)
{
	for (size_t i = 0; i < e.n && before(e.e[i].t, to); i++)
		if (e.e[i].t.hi_ns >= from)
			return i;
	return SIZE_MAX;
}

static struct ww_interval time_of(struct ww_edges e, size_t i)
{
	return i == SIZE_MAX ? WW_INTERVAL_NONE : e.e[i].t;
}

/* Index of the last edge back after `fall` up to `to`; what blinked before it. */
static size_t last_rise(struct ww_edges e, size_t fall, int64_t to, struct blinks *b)
{
	int asleep = e.e[fall].level;
	size_t rise = SIZE_MAX;
	int64_t lit = 0;

	*b = (struct blinks){.falls = 1, .dark_min_ns = INT64_MAX, .fall = e.e[fall].t};
	for (size_t i = fall + 1; i < e.n && before(e.e[i].t, to); i++) {
		int64_t since = e.e[i].t.hi_ns - e.e[i - 1].t.lo_ns;

		if (e.e[i].level == e.e[i - 1].level)
			continue; /* an edge between was lost */
		if (e.e[i].level != asleep) {
			rise = i;
			continue;
		}
		lit = since > lit ? since : lit;
		b->falls++;
		b->fall = e.e[i].t;
		rise = SIZE_MAX;
	}
	b->lit_max_ns = lit;
	/* Dark times between two blinks, the last one, which a wake may have ended, apart. */
	for (size_t i = fall + 1; i < e.n && i < rise && before(e.e[i].t, to); i++) {
		int64_t dark = e.e[i].t.lo_ns - e.e[i - 1].t.hi_ns;

		if (e.e[i].level == asleep || e.e[i - 1].level != asleep)
			continue;
		b->offs++;
		b->dark_min_ns = dark < b->dark_min_ns ? dark : b->dark_min_ns;
	}
	return rise;
}

/* Does it go dark again so soon that the last rise was a blink too? */
static bool blinks_on(struct ww_edges e, size_t rise, const struct blinks *b)
{
	return rise + 1 < e.n && e.e[rise + 1].level != e.e[rise].level &&
	       e.e[rise + 1].t.lo_ns - e.e[rise].t.hi_ns < b->lit_max_ns + b->lit_max_ns / 2;
}

static void sleep_line(struct ww_edges e, int64_t from, int64_t to, struct ww_interval *off,
		       struct ww_interval *wake, struct ww_cycle_out *out)
{
	size_t fall = find(e, from, to), rise;
	struct ww_interval t;
	struct blinks b;

	if (fall == SIZE_MAX)
		return;
	rise = last_rise(e, fall, to, &b);
	*off = e.e[fall].t;
	if (b.falls > 1) {
		out->line_blinks = true;
		off->lo_ns -= b.lit_max_ns;
		if (off->lo_ns < from)
			off->lo_ns = from < off->hi_ns ? from : off->hi_ns;
	}
	if (rise == SIZE_MAX || (b.falls > 1 && blinks_on(e, rise, &b)))
		return;
	t = e.e[rise].t;
	/* Sooner than a blink would have come: the wake itself. */
	if (b.falls > 1 &&
	    (b.offs < 2 || t.hi_ns - b.fall.lo_ns > b.dark_min_ns - b.dark_min_ns / 5)) {
		t.hi_ns = ww_add_sat(t.hi_ns, b.lit_max_ns);
		t.hi_ns = t.hi_ns < to ? t.hi_ns : to;
	}
	*wake = t;
}

/*
 * The first edge after the last beat; but the button that wakes it may have put it to
 * sleep too, and then it is let go, or bounces, when the machine is silent already. It
 * rests at the level at which it is left in the end.
 */
static size_t find_press(struct ww_edges e, int64_t from, int64_t last, int64_t to)
{
	int64_t since = from < last ? from : ww_add_sat(last, -HAND_NS);
	size_t i = find(e, last, to);
	int rest;

	if (i == SIZE_MAX || i == 0 || e.e[i - 1].t.hi_ns < since)
		return i;
	rest = e.e[e.n - 1].level;
	if (e.e[i - 1].level == rest && e.e[i].t.lo_ns - e.e[i - 1].t.hi_ns >= BOUNCE_NS)
		return i;
	for (; i < e.n && before(e.e[i].t, to); i++)
		if (e.e[i].level != rest && e.e[i].t.lo_ns - e.e[i - 1].t.hi_ns >= BOUNCE_NS)
			return i;
	return SIZE_MAX;
}

void ww_cycle_lines(const struct ww_cycle_in *in, int64_t from, int64_t last, int64_t to,
		    struct ww_interval *off, struct ww_interval *wake, struct ww_cycle_out *out)
{
	struct ww_interval rail = time_of(in->off, find(in->off, from, to));
	struct ww_interval press = time_of(in->woken, find_press(in->woken, from, last, to));

	*off = *wake = WW_INTERVAL_NONE;
	sleep_line(in->sleep, from, to, off, wake, out);
	if (ww_iv_ok(rail))
		*off = rail;
	if (ww_iv_ok(press))
		*wake = press;
}
