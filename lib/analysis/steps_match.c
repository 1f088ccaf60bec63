/* SPDX-License-Identifier: MIT */
/*
 * Marks and changes are joined as two sequences are aligned (Needleman and Wunsch, J.
 * Mol. Biol. 48, 1970), but over the pairs within the window only: the best chain that
 * ends before an event is the greatest of a prefix, which a tree of partial maxima
 * (Fenwick, Softw. Pract. Exper. 24, 1994) gives.
 */
#include "analysis/steps_match.h"

#include <math.h>

/* A chain of pairs: how many, and how far apart in all; what stood before. */
struct pair {
	size_t event, marker;
	size_t n;
	double distance;
	size_t before; /* pair, or NONE */
};
#define NONE SIZE_MAX

struct matcher {
	struct pair *pair;
	size_t pairs, cap;
	size_t *best; /* [events + 1] tree of pairs */
	size_t events;
};

double ww_steps_distance(const struct ww_step_event *e, double marker)
{
	double d = 0;

	if (e->t_lo > marker)
		d = (e->t_lo - marker) / WW_MATCH_LATE_S;
	else if (e->t_hi < marker)
		d = (marker - e->t_hi) / WW_MATCH_EARLY_S;
	return d <= 1 ? d : INFINITY;
}

static bool better(const struct matcher *m, size_t a, size_t b)
{
	const struct pair *p = &m->pair[a], *q;

	if (b == NONE)
		return true;
	q = &m->pair[b];
	return p->n > q->n || (p->n == q->n && p->distance < q->distance);
}

/* Best chain whose last event comes before `event`. */
static size_t before(const struct matcher *m, size_t event)
{
	size_t best = NONE;

	for (size_t i = event; i > 0; i -= i & -i)
		if (m->best[i] != NONE && better(m, m->best[i], best))
			best = m->best[i];
	return best;
}

static void offer(struct matcher *m, size_t k)
{
	for (size_t i = m->pair[k].event + 1; i <= m->events; i += i & -i)
		if (better(m, k, m->best[i]))
			m->best[i] = k;
}

static int append(struct matcher *m, const struct pair *p, struct ww_error *err)
{
	if (m->pairs == m->cap) {
		size_t cap = m->cap ? 2 * m->cap : 64;
		struct pair *more = realloc(m->pair, cap * sizeof(*more));

		if (!more)
			return ww_fail_nomem(err);
		m->pair = more;
		m->cap = cap;
	}
	m->pair[m->pairs++] = *p;
	return 0;
}

/*
 * All pairs of one mark. They are offered to later marks only when all are made: one
 * mark has one event.
 */
static int pair_up(struct matcher *m, const struct ww_step_event *event, size_t from, double marker,
		   size_t index, struct ww_error *err)
{
	size_t first = m->pairs;
	int rc = 0;

	for (size_t i = from; rc == 0 && i < m->events; i++) {
		double d = ww_steps_distance(&event[i], marker);
		size_t b;

		if (event[i].t_lo > marker + WW_MATCH_LATE_S)
			break;
		if (!isfinite(d))
			continue;
		b = before(m, i);
		rc = append(m,
			    &(struct pair){.event = i,
					   .marker = index,
					   .n = b == NONE ? 1 : m->pair[b].n + 1,
					   .distance = d + (b == NONE ? 0 : m->pair[b].distance),
					   .before = b},
			    err);
	}
	for (size_t k = first; rc == 0 && k < m->pairs; k++)
		offer(m, k);
	return rc;
}

int ww_steps_match(const double *marker, size_t markers, struct ww_step_event *event, size_t events,
		   struct ww_error *err)
{
	struct matcher m = {.events = events};
	size_t from = 0;
	int rc = 0;

	for (size_t i = 0; i < events; i++)
		event[i].marker = -1;
	if (events == 0 || markers == 0)
		return 0;
	m.best = malloc((events + 1) * sizeof(*m.best));
	if (!m.best)
		return ww_fail_nomem(err);
	for (size_t i = 0; i <= events; i++)
		m.best[i] = NONE;
	for (size_t k = 0; rc == 0 && k < markers; k++) {
		while (from < events && event[from].t_hi < marker[k] - WW_MATCH_EARLY_S)
			from++;
		rc = pair_up(&m, event, from, marker[k], k, err);
	}
	if (rc == 0)
		for (size_t k = before(&m, events); k != NONE; k = m.pair[k].before)
			event[m.pair[k].event].marker = (int32_t)m.pair[k].marker;
	free(m.best);
	free(m.pair);
	return rc;
}
