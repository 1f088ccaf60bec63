/* SPDX-License-Identifier: MIT */
/*
 * The rate of a console by the stamps of its lines. printk() on a synchronous port returns
 * when the last byte is in the UART, so that the next stamp of the same task comes the time
 * of the line's bytes (8N1: ten bits each) and a few microseconds later.
 */
#include "analysis/pmconsole.h"

#define RATIO_LO .99
#define RATIO_HI 1.05
#define OVER_NS	 10e3 /* of a line beside its bytes */
#define RES_NS	 2e3
#define LEAST	 4  /* lines */
#define DENSE	 4. /* times the bytes' own time */
#define PACED	 20 /* dense lines, for the weaker proof */
#define FEW	 50 /* one in so many may be an exception */
#define FASTEST	 921600

static const uint32_t rates[] = {9600,	  19200,   38400,   57600,   115200,  230400,
				 460800,  500000,  576000,  921600,  1000000, 1152000,
				 1500000, 2000000, 2500000, 3000000, 3500000, 4000000};

bool ww_pm_sent_bound(double ns, double wire_ns)
{
	return ns >= RATIO_LO * wire_ns - RES_NS && ns <= RATIO_HI * wire_ns + OVER_NS;
}

static bool near(const struct ww_pm_sent *p, double wire, double off)
{
	return (p->any_ns > 0 && ww_pm_sent_bound((double)p->any_ns - off, wire)) ||
	       (p->own_ns > 0 && ww_pm_sent_bound((double)p->own_ns - off, wire));
}

/* Lines at that rate, or of the same width in time where `shift` moves them away. */
static size_t hits(const struct ww_pm_sent *line, size_t n, double rate, double shift)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		double wire = line[i].bytes * 1e10 / rate, off = shift * wire;

		off += shift > 0 ? OVER_NS : shift < 0 ? -OVER_NS : 0;
		found += !line[i].asleep && near(&line[i], wire, off);
	}
	return found;
}

/* Lines that came too soon after one another to have been sent meanwhile. */
static size_t too_fast(const struct ww_pm_sent *line, size_t n, double rate)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		double wire = line[i].bytes * 1e10 / rate;
		int64_t least = line[i].pid >= 0 ? line[i].own_ns : line[i].any_ns;

		found += !line[i].asleep && least >= 0 &&
			 (double)least < WW_PM_TOO_FAST * wire - RES_NS &&
			 (line[i].pid >= 0 || line[i].next_free) && !near(&line[i], wire, 0);
	}
	return found;
}

/* What the distances say of one rate. */
struct pace {
	size_t judged, dense, fast; /* dense: hardly anything but the line fits in between */
};

static struct pace pace(const struct ww_pm_sent *line, size_t n, double rate)
{
	struct pace p = {0};

	for (size_t i = 0; i < n; i++) {
		double wire = line[i].bytes * 1e10 / rate;
		int64_t least = line[i].pid >= 0 ? line[i].own_ns : line[i].any_ns;

		if (line[i].asleep || least < 0 || (line[i].pid < 0 && !line[i].next_free))
			continue;
		p.judged++;
		p.dense += (double)least <= DENSE * wire;
		p.fast += (double)least < WW_PM_PACE * wire - RES_NS;
	}
	return p;
}

/* A port that holds its writer up does so at every line; what chance gives is no proof. */
static size_t exact(const struct ww_pm_sent *line, size_t n, double rate)
{
	size_t got = hits(line, n, rate, 0), chance;

	if (got < LEAST || 3 * got < pace(line, n, rate).dense)
		return 0;
	chance = hits(line, n, rate, .1) + hits(line, n, rate, -.1);
	return 2 * got > 3 * chance + 2 && got > 2 * too_fast(line, n, rate) ? got : 0;
}

/* The pace jitters, yet no line comes before the one ahead of it can have been sent. */
static bool paced(const struct ww_pm_sent *line, size_t n, double rate)
{
	struct pace p = pace(line, n, rate);

	return p.dense >= PACED && 2 * p.dense >= p.judged && FEW * p.fast <= p.dense;
}

static uint32_t find(const struct ww_pm_sent *line, size_t n, int *proof)
{
	size_t best = 0;
	uint32_t rate = 0;

	for (size_t i = 0; i < WW_COUNTOF(rates); i++) {
		size_t got = exact(line, n, rates[i]);

		if (got <= best)
			continue;
		best = got;
		rate = rates[i];
		*proof = WW_PM_PROOF_BYTES;
	}
	/* Any faster line is as possible: the slowest one that is. */
	for (size_t i = 0; rate == 0 && i < WW_COUNTOF(rates); i++) {
		if (!paced(line, n, rates[i]))
			continue;
		rate = rates[i];
		*proof = WW_PM_PROOF_PACE;
	}
	return rate;
}

/* Lines that their writer did not wait for: a console that takes none of its time. */
static bool unwaited(const struct ww_pm_sent *line, size_t n, double rate)
{
	struct pace p = pace(line, n, rate);

	return p.judged >= PACED && 10 * p.fast >= 9 * p.judged;
}

uint32_t ww_pm_prove(const struct ww_pm_sent *line, size_t n, uint32_t told, bool written,
		     int *proof)
{
	size_t awake = 0;

	for (size_t i = 0; i < n; i++)
		awake += !line[i].asleep;
	*proof = WW_PM_PROOF_NONE;
	if (n > 0 && awake == 0)
		return told;
	if (told == 0) {
		uint32_t rate = find(line, n, proof);

		if (rate == 0 && written && !unwaited(line, n, FASTEST))
			*proof = WW_PM_PROOF_UNKNOWN;
		return rate;
	}
	if (exact(line, n, told))
		*proof = WW_PM_PROOF_BYTES;
	else if (paced(line, n, told))
		*proof = WW_PM_PROOF_PACE;
	else if (!unwaited(line, n, told))
		*proof = WW_PM_PROOF_UNKNOWN;
	return told;
}

uint32_t ww_pm_rate(double char_ns)
{
	double rate = char_ns > 0 ? 1e10 / char_ns : 0;

	/* A character's time is in whole nanoseconds: the rate it was made of. */
	for (size_t i = 0; i < WW_COUNTOF(rates); i++)
		if (rate > .999 * rates[i] && rate < 1.001 * rates[i])
			return rates[i];
	return (uint32_t)(rate + .5);
}
