/* SPDX-License-Identifier: MIT */
/* When each sample of a PPK2 was made: it tells no time, only how many there were. */
#include "meter/ppk2.h"

#define PPM	   100		      /* that its quartz and ours may differ */
#define WAIT_NS	   (5 * WW_NS_PER_MS) /* its queue and the frame of USB, as far as known */
#define TOLD_NS	   (20 * WW_NS_PER_MS)
#define GAP_NS	   (300 * WW_NS_PER_MS) /* no queue holds that */
#define STEP_NS	   (50 * WW_NS_PER_US)
#define SLEW_NS	   (WW_PPK2_T_NS * 4 / 10) /* a sample: stays under half a period, a hole */
#define TURN_NS	   (64 * WW_PPK2_T_NS)	   /* of its counter */
#define SUSPECT_NS (TURN_NS * 5 / 8)
#define LIKE_NS	   (TURN_NS / 5)
#define STRANGE	   6	  /* windows after which a rise is how it is now */
#define WINDOW	   100000 /* samples in which at least one comes without delay */

void ww_ppk2_clock_init(struct ww_ppk2_clock *c)
{
	*c = (struct ww_ppk2_clock){.wait_ns = WAIT_NS,
				    .last_lo = WW_TIME_MIN,
				    .last_hi = WW_TIME_MIN};
}

static int64_t at(uint64_t index)
{
	return (int64_t)index * WW_PPK2_T_NS;
}

/* Bounds that are used follow those that hold, in steps. */
static void follow(struct ww_ppk2_clock *c)
{
	if (c->zu > c->used_u || c->zu < c->used_u - 3 * STEP_NS)
		c->used_u = c->zu + STEP_NS;
	if (c->zl < c->used_l || c->zl > c->used_l + 3 * STEP_NS)
		c->used_l = c->zl - STEP_NS;
}

/* Whole turns of the counter that a rise looks like; 0: like none. */
static uint64_t turns_of(int64_t rise)
{
	int64_t n = (rise + TURN_NS / 2) / TURN_NS;

	return n > 0 && llabs(rise - n * TURN_NS) <= LIKE_NS ? (uint64_t)n : 0;
}

/*
 * Each window has samples that came at once. Where those of three windows in a row come
 * later than before, by turns of the counter, a turn's samples are missing: what merely
 * delays them does not last, or is as long as it likes.
 */
static uint64_t vanished(struct ww_ppk2_clock *c, int64_t u)
{
	uint64_t turns = UINT64_MAX;
	int64_t rise;

	if (u < c->window_min)
		c->window_min = u;
	if (c->next < c->window_end)
		return 0;
	rise = c->has_base ? c->window_min - c->base : 0;
	memmove(c->rise + 1, c->rise, sizeof(c->rise) - sizeof(c->rise[0]));
	c->rise[0] = rise;
	for (size_t i = 0; i < WW_COUNTOF(c->rise); i++)
		turns = turns_of(c->rise[i]) < turns ? turns_of(c->rise[i]) : turns;
	for (size_t i = 0; i < WW_COUNTOF(c->rise); i++)
		c->rise[i] -= (int64_t)turns * TURN_NS;
	c->strange = rise > SUSPECT_NS && !turns ? c->strange + 1 : 0;
	if (rise <= SUSPECT_NS || c->strange > STRANGE) {
		c->base = c->window_min;
		memset(c->rise, 0, sizeof(c->rise));
		c->strange = 0;
	}
	c->has_base = true;
	c->window_end = c->next + WINDOW;
	c->window_min = WW_TIME_MAX;
	return 64 * turns;
}

uint64_t ww_ppk2_clock_read(struct ww_ppk2_clock *c, struct ww_interval t, size_t n,
			    const char **why)
{
	int64_t u, l, give = (int64_t)n * WW_PPK2_T_NS / 1000000 * PPM;
	uint64_t lost = 0;

	if (!n)
		return 0;
	u = t.hi_ns - at(c->next + n - 1);
	l = t.lo_ns == WW_TIME_MIN ? u - c->wait_ns - WW_NS_PER_S
				   : t.lo_ns - c->wait_ns - at(c->next);
	if (!c->any) {
		c->any = true;
		c->zu = c->used_u = u;
		c->zl = c->used_l = l < u ? l : u - c->wait_ns;
		c->is_u = c->used_u;
		c->is_l = c->used_l;
		c->window_end = c->next + WINDOW;
		c->window_min = WW_TIME_MAX;
	}
	/* Nothing was there for longer than a queue can explain: lost on the way, or we slept. */
	if (l - c->zu > GAP_NS) {
		lost = (uint64_t)((l - c->zu + TURN_NS / 2) / TURN_NS) * 64;
		*why = "nothing came for longer than its queue holds";
		ww_ppk2_clock_skip(c, lost);
		u -= at(lost);
		l -= at(lost);
	}
	c->zu = u < c->zu + give ? u : c->zu + give;
	c->zl = l > c->zl - give ? l : c->zl - give;
	if (c->zl > c->zu) {
		/* They had waited longer than was thought. */
		c->wait_ns += c->zl - c->zu;
		c->zl = c->zu - (c->zl - c->zu) - WAIT_NS;
	}
	if (!lost) {
		lost = vanished(c, u);
		*why = "vanished in the seconds before, by the time";
		ww_ppk2_clock_skip(c, lost);
	}
	follow(c);
	return lost;
}

void ww_ppk2_clock_skip(struct ww_ppk2_clock *c, uint64_t lost)
{
	c->next += lost;
	c->window_end += lost;
}

int64_t ww_ppk2_clock_due(const struct ww_ppk2_clock *c)
{
	int64_t lo = c->is_l + at(c->next);

	return lo > c->last_hi ? lo : c->last_hi;
}

/* Down at once, which costs nothing since times never go back; up step by step. */
static int64_t slewed(int64_t is, int64_t aim)
{
	return aim - is > SLEW_NS ? is + SLEW_NS : aim;
}

struct ww_interval ww_ppk2_clock_next(struct ww_ppk2_clock *c)
{
	int64_t lo, hi;

	c->is_l = slewed(c->is_l, c->used_l);
	c->is_u = slewed(c->is_u, c->used_u);
	lo = c->is_l + at(c->next);
	hi = c->is_u + at(c->next++);
	if (lo > c->last_lo)
		c->last_lo = lo;
	if (hi > c->last_hi)
		c->last_hi = hi;
	return (struct ww_interval){c->last_lo, c->last_hi};
}
