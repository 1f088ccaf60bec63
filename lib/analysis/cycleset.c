/* SPDX-License-Identifier: MIT */
/* Figures of many cycles, by name. */
#include "analysis/cycleset.h"

#include <math.h>

int ww_cycleset_new(const char *name, struct ww_cycleset **out, struct ww_error *err)
{
	struct ww_cycleset *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (s)
		s->name = strdup(name ? name : "");
	if (!s || !s->name) {
		free(s);
		return ww_fail_nomem(err);
	}
	*out = s;
	return 0;
}

static void free_metric(struct ww_metric *m)
{
	free(m->name);
	free(m->device);
	free(m->driver);
	free(m->func);
	free(m->phase);
	free(m->v);
	free(m->half);
	free(m->own);
}

void ww_cycleset_free(struct ww_cycleset *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->metrics; i++)
		free_metric(&s->metric[i]);
	ww_notes_free(&s->notes);
	free(s->metric);
	free(s->hash);
	free(s->failed);
	free(s->name);
	free(s);
}

size_t ww_cycleset_cycles(const struct ww_cycleset *s)
{
	return s->cycles;
}

static size_t slot_of(const struct ww_cycleset *s, const char *name)
{
	uint32_t h = 2166136261u;

	for (const char *p = name; *p; p++)
		h = (h ^ (unsigned char)*p) * 16777619u;
	for (size_t at = h & (s->hash_n - 1);; at = (at + 1) & (s->hash_n - 1))
		if (!s->hash[at] || strcmp(s->metric[s->hash[at] - 1].name, name) == 0)
			return at;
}

const struct ww_metric *ww_cycleset_find(const struct ww_cycleset *s, const char *name)
{
	size_t at;

	if (!s->hash_n)
		return NULL;
	at = slot_of(s, name);
	return s->hash[at] ? &s->metric[s->hash[at] - 1] : NULL;
}

/* A table that is at most half full, a power of two. */
static int rehash(struct ww_cycleset *s)
{
	size_t n = s->hash_n ? s->hash_n * 2 : 64;
	uint32_t *hash = calloc(n, sizeof(*hash));

	if (!hash)
		return -ENOMEM;
	free(s->hash);
	s->hash = hash;
	s->hash_n = n;
	for (size_t i = 0; i < s->metrics; i++)
		hash[slot_of(s, s->metric[i].name)] = (uint32_t)i + 1;
	return 0;
}

static char *copy(const char *text)
{
	return strdup(text ? text : "");
}

static struct ww_metric *add(struct ww_cycleset *s, const struct ww_metric_key *k)
{
	struct ww_metric *m = s->metric;
	size_t cap = s->metrics_cap ? s->metrics_cap * 2 : 32;

	if (s->metrics == s->metrics_cap) {
		m = realloc(m, cap * sizeof(*m));
		if (!m)
			return NULL;
		s->metric = m;
		s->metrics_cap = cap;
	}
	if (2 * (s->metrics + 1) > s->hash_n && rehash(s) < 0)
		return NULL;
	m = &s->metric[s->metrics];
	*m = (struct ww_metric){.name = copy(k->name),
				.kind = k->kind,
				.unit = k->unit,
				.device = copy(k->device),
				.driver = copy(k->driver),
				.func = copy(k->func),
				.phase = copy(k->phase)};
	if (!m->name || !m->device || !m->driver || !m->func || !m->phase) {
		free_metric(m);
		return NULL;
	}
	s->hash[slot_of(s, m->name)] = (uint32_t)++s->metrics;
	return m;
}

static int widen(double **v, size_t from, size_t to)
{
	double *p = realloc(*v, to * sizeof(*p));

	if (!p)
		return -ENOMEM;
	for (size_t i = from; i < to; i++)
		p[i] = NAN;
	*v = p;
	return 0;
}

static int room(struct ww_metric *m, size_t cycles)
{
	size_t cap = m->cap ? m->cap : 8;

	if (cycles <= m->cap)
		return 0;
	while (cap < cycles)
		cap *= 2;
	if (widen(&m->v, m->cap, cap) < 0 || widen(&m->half, m->cap, cap) < 0 ||
	    widen(&m->own, m->cap, cap) < 0)
		return -ENOMEM;
	m->cap = cap;
	return 0;
}

int ww_cycleset_cycle(struct ww_cycleset *s, enum ww_set_outcome outcome, struct ww_error *err)
{
	size_t cap = s->failed_cap ? s->failed_cap * 2 : 32;
	uint8_t *p;

	if (s->cycles == s->failed_cap) {
		p = realloc(s->failed, cap);
		if (!p)
			return ww_fail_nomem(err);
		s->failed = p;
		s->failed_cap = cap;
	}
	s->failed[s->cycles++] = (uint8_t)outcome;
	s->failures += outcome == WW_SET_FAILED;
	s->judged += outcome != WW_SET_UNKNOWN;
	return 0;
}

static double sum(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

int ww_cycleset_put(struct ww_cycleset *s, const struct ww_metric_key *key, double v, double half,
		    double own, struct ww_error *err)
{
	struct ww_metric *m;
	size_t at, i = s->cycles - 1;

	if (isnan(v))
		return 0;
	at = s->hash_n ? slot_of(s, key->name) : 0;
	m = s->hash_n && s->hash[at] ? &s->metric[s->hash[at] - 1] : add(s, key);
	if (!m || room(m, s->cycles) < 0 || i >= m->cap || !m->v || !m->half || !m->own)
		return ww_fail_nomem(err);
	m->v[i] = sum(m->v[i], v);
	m->half[i] = sum(m->half[i], half);
	m->own[i] = sum(m->own[i], own);
	return 0;
}
