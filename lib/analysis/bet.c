/* SPDX-License-Identifier: MIT */
/* The sequential rule of bisect.h. */
#include "analysis/bisect.h"
#include "base/stats.h"

#include <math.h>

#define CYCLES_MOST 100000

static double log_beta(double a, double b)
{
	int sign;

	return lgamma_r(a, &sign) + lgamma_r(b, &sign) - lgamma_r(a + b, &sign);
}

/* log of the integral of p^k (1-p)^(n-k) over one side, less that of its middle. */
static double bet(uint64_t k, uint64_t n, double part, bool more)
{
	double a = (double)k + 1, b = (double)(n - k) + 1;
	/* I_x(a, b) = 1 - I_(1-x)(b, a): the small one directly, it keeps its digits. */
	double side = more ? ww_beta_inc(b, a, 1 - part) : ww_beta_inc(a, b, part);
	double width = more ? 1 - part : part;

	if (n == 0)
		return 0;
	if (!(side > 0))
		return -INFINITY;
	return log(side) + log_beta(a, b) - log(width) - (double)k * log(part) -
	       (double)(n - k) * log1p(-part);
}

double ww_bet_more(uint64_t k, uint64_t n, double part)
{
	return bet(k, n, part, true);
}

double ww_bet_less(uint64_t k, uint64_t n, double part)
{
	return bet(k, n, part, false);
}

void ww_bet_begin(struct ww_bet *b, double part, double certainty)
{
	*b = (struct ww_bet){.part = part,
			     .log_wanted = -log1p(-certainty),
			     .verdict = WW_BISECT_SKIP,
			     .log_most = 0};
}

/* What is not told apart counts against the side that is bet on. */
static double log_bad(const struct ww_bet *b)
{
	return ww_bet_more(b->slow, b->n, b->part);
}

static double log_good(const struct ww_bet *b)
{
	return ww_bet_less(b->slow + b->either, b->n, b->part);
}

void ww_bet_add(struct ww_bet *b, enum ww_bet_cycle c)
{
	double bad, good;

	b->n++;
	b->slow += c == WW_BET_SLOW;
	b->either += c == WW_BET_EITHER;
	bad = log_bad(b);
	good = log_good(b);
	if (b->verdict == WW_BISECT_SKIP) {
		b->log_most = fmax(0, fmax(bad, good));
		if (fmax(bad, good) < b->log_wanted)
			return;
		b->verdict = bad > good ? WW_BISECT_BAD : WW_BISECT_GOOD;
		b->at = b->n;
		return;
	}
	b->log_most = fmax(b->log_most, b->verdict == WW_BISECT_BAD ? bad : good);
	b->both |= (b->verdict == WW_BISECT_BAD ? good : bad) >= b->log_wanted;
}

uint64_t ww_bet_more_cycles(const struct ww_bet *b)
{
	/* As they came. */
	double slow = (double)b->slow / (double)b->n;
	double fast = (double)(b->n - b->slow - b->either) / (double)b->n;

	if (b->verdict != WW_BISECT_SKIP)
		return 0;
	if (b->n == 0)
		slow = fast = 1;
	for (uint64_t m = 1, step = 1; m < CYCLES_MOST; m += step) {
		uint64_t n = b->n + m, k = b->slow + (uint64_t)llround((double)m * slow);
		uint64_t f = b->n - b->slow - b->either + (uint64_t)llround((double)m * fast);

		if (ww_bet_more(k < n ? k : n, n, b->part) >= b->log_wanted ||
		    ww_bet_less(f < n ? n - f : 0, n, b->part) >= b->log_wanted)
			return m;
		step = m > 100 ? m / 50 : 1;
	}
	return UINT64_MAX;
}
