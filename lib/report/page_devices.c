/* SPDX-License-Identifier: MIT */
/* Devices and phases over all cycles: how long, how often, where longest. */
#include "base/stats.h"
#include "report/page.h"

#include <math.h>

static size_t hash_of(uint32_t name, uint32_t driver, int32_t phase)
{
	uint64_t h = (uint64_t)name << 32 ^ (uint64_t)driver << 8 ^ (uint64_t)(uint32_t)phase;

	h *= UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(h >> 32);
}

static bool grow_slots(struct ww_totals *t)
{
	size_t n = t->slots ? 2 * t->slots : 256;
	uint32_t *slot = calloc(n, sizeof(*slot));

	if (!slot)
		return false;
	for (size_t i = 0; i < t->n; i++) {
		const struct ww_page_total *k = &t->total[i];
		size_t at = hash_of(k->name, k->driver, k->phase) & (n - 1);

		while (slot[at])
			at = (at + 1) & (n - 1);
		slot[at] = (uint32_t)i + 1;
	}
	free(t->slot);
	t->slot = slot;
	t->slots = n;
	return true;
}

/* NULL: no memory, and `bad` is set. */
static struct ww_page_total *find(struct ww_totals *t, uint32_t name, uint32_t driver,
				  int32_t phase)
{
	size_t at;

	t->bad = t->bad || (2 * (t->n + 1) > t->slots && !grow_slots(t));
	if (t->bad)
		return NULL;
	for (at = hash_of(name, driver, phase) & (t->slots - 1); t->slot[at];
	     at = (at + 1) & (t->slots - 1)) {
		struct ww_page_total *k = &t->total[t->slot[at] - 1];

		if (k->name == name && k->driver == driver && k->phase == phase)
			return k;
	}
	t->bad = ww_grow(&t->total, &t->cap, t->n, sizeof(*t->total), NULL) < 0;
	if (t->bad)
		return NULL;
	t->total[t->n] = (struct ww_page_total){.name = name, .driver = driver, .phase = phase};
	t->slot[at] = (uint32_t)++t->n;
	return &t->total[t->n - 1];
}

static void put(struct ww_totals *t, struct ww_page_total *k, uint32_t cycle, double ms,
		double corrected)
{
	if (!k || isnan(ms))
		return;
	if (k->n == k->cap) {
		size_t cap = k->cap ? 2 * k->cap : 4;
		double *a = realloc(k->ms, cap * sizeof(*a)), *b;

		k->ms = a ? a : k->ms;
		b = a ? realloc(k->corrected, cap * sizeof(*b)) : NULL;
		if (!b) {
			t->bad = true;
			return;
		}
		k->corrected = b;
		k->cap = cap;
	}
	if (k->n == 0 || ms > k->max) {
		k->max = ms;
		k->worst = cycle;
	}
	k->ms[k->n] = ms;
	k->corrected[k->n++] = isnan(corrected) ? ms : corrected;
}

void ww_totals_add(struct ww_page *p, const struct ww_pm_cycle *c)
{
	for (size_t i = 0; i < c->devices; i++) {
		const struct ww_pm_device *d = &c->device[i];
		struct ww_page_total *k = find(&p->devs, ww_names_index(&p->names, d->name),
					       ww_names_index(&p->names, d->driver), d->phase);

		put(&p->devs, k, c->n, ww_page_ms(d->length), ww_page_ms(d->corrected));
		if (k) {
			k->errors += d->error != 0;
			k->critical += d->critical == 1;
		}
	}
	for (size_t i = 0; i < c->spans; i++) {
		const struct ww_pm_span *s = &c->span[i];
		const char *verb = ww_pm_verb_name(s->verb);
		struct ww_page_total *k =
			find(&p->phases, ww_names_index(&p->names, ""),
			     ww_names_index(&p->names, verb ? verb : ""), s->phase);

		put(&p->phases, k, c->n, ww_page_ms(s->length), ww_page_ms(s->corrected));
		if (k)
			k->errors += s->failed == 1;
	}
}

static int slowest_first(const void *a, const void *b)
{
	const struct ww_page_total *x = a, *y = b;

	if (x->median != y->median)
		return (x->median < y->median) - (x->median > y->median);
	if (x->max != y->max)
		return (x->max < y->max) - (x->max > y->max);
	if (x->name != y->name)
		return (x->name > y->name) - (x->name < y->name);
	return (x->phase > y->phase) - (x->phase < y->phase);
}

void ww_totals_finish(struct ww_totals *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct ww_page_total *k = &t->total[i];

		k->median = k->n ? ww_median(k->ms, k->n) : -1;
		k->median_corrected = k->n ? ww_median(k->corrected, k->n) : -1;
	}
	if (t->n)
		qsort(t->total, t->n, sizeof(*t->total), slowest_first);
}

void ww_totals_free(struct ww_totals *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->total[i].ms);
		free(t->total[i].corrected);
	}
	free(t->total);
	free(t->slot);
	*t = (struct ww_totals){0};
}
