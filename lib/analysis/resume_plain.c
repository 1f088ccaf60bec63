/* SPDX-License-Identifier: MIT */
/*
 * Is there a plain heartbeat on a line, and which bytes is it? One byte, or a short
 * string, is the clear majority and comes regularly; the messages of a kernel, or what a
 * wrong baud rate makes of a line, are no heartbeat.
 */
#include "analysis/resume.h"
#include "base/stats.h"

#include <math.h>

/* Plain: what comes most, and about as often ("y\n" has two), if it is a part of the line. */
static uint64_t candidates(const struct ww_plain *k, struct ww_scan *s, uint64_t *other)
{
	uint64_t most = 0, sum = 0;

	for (int i = 0; i < 256; i++)
		if (k->count[i] > most)
			most = k->count[i];
	*other = 0;
	for (int i = 0; i < 256; i++) {
		s->is_beat[i] = k->count[i] * 7 > s->others && k->count[i] * 5 > most * 2;
		s->unit += s->is_beat[i];
		if (s->is_beat[i])
			sum += k->count[i];
		else if (k->count[i] > *other)
			*other = k->count[i];
	}
	return sum;
}

/* Does a fixed string come again and again? Then each byte of it has its successor. */
static bool fixed_string(const struct ww_plain *k, const struct ww_scan *s)
{
	uint64_t sum = 0, expected = 0;

	for (int i = 0; i < 256; i++) {
		uint32_t most = 0;

		for (int j = 0; s->is_beat[i] && j < 256; j++) {
			sum += k->next[i][j];
			if (k->next[i][j] > most)
				most = k->next[i][j];
		}
		expected += most;
	}
	return expected * 5 > sum * 3;
}

/*
 * Chance has gaps of every length. Where bytes come in blocks or two by two nothing can be
 * said, and who names a period says that there is one.
 */
static bool regular(const struct ww_plain_gaps *g)
{
	double med, *v = g->scratch;

	if (g->n < 16 || g->told)
		return true;
	memcpy(v, g->gap, g->n * sizeof(*v));
	med = ww_median(v, g->n);
	for (size_t i = 0; i < g->n; i++)
		v[i] = fabs(v[i] - med);
	return med < 4 * (double)g->width_ns || ww_median(v, g->n) < .6 * med;
}

void ww_plain_add(struct ww_plain *k, uint8_t byte)
{
	k->count[byte]++;
	k->next[k->last][byte] += k->any;
	k->last = byte;
	k->any = true;
}

void ww_plain_find(const struct ww_plain *k, const struct ww_plain_gaps *g, struct ww_scan *s)
{
	uint64_t other, sum = candidates(k, s, &other);
	bool found;

	if (s->unit == 1)
		found = sum * 3 > s->others && sum * 2 > other * 5 && regular(g);
	else
		found = sum * 2 > s->others && fixed_string(k, s);
	if (!found) {
		memset(s->is_beat, 0, sizeof(s->is_beat));
		s->unit = 0;
		sum = 0;
	}
	s->beats = sum;
	s->between = s->others - sum;
}
