/* SPDX-License-Identifier: MIT */
/*
 * Figures over many suspends in memory that hardly grows with them: of the whole all values, of
 * each device in each phase the sum, the extremes, and for the median at most WW_KSUM_KEPT values.
 * When these are full every other one goes, and from then on half as many are kept.
 */
#include "analysis/resume.h"
#include "report/kernlog.h"

#include <math.h>

/* A text of nonsense may name any number of devices. */
#define DEVICES_MAX 16384
#define REASONS_MAX 64

static void add(struct ww_ksum_values *v, double ms, uint32_t cycle)
{
	if (!isfinite(ms))
		return;
	if (v->n == 0 || ms > v->max) {
		v->max = ms;
		v->max_cycle = cycle;
	}
	v->min = v->n == 0 || ms < v->min ? ms : v->min;
	v->sum += ms;
	v->every = v->every ? v->every : 1;
	if (v->n++ % v->every != 0)
		return;
	if (v->kept == WW_KSUM_KEPT) {
		for (uint32_t i = 0; i < WW_KSUM_KEPT / 2; i++)
			v->v[i] = v->v[2 * i];
		v->kept /= 2;
		v->every *= 2;
		if ((v->n - 1) % v->every != 0)
			return;
	}
	v->v[v->kept++] = ms;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double ww_ksum_median(const struct ww_ksum_values *v)
{
	double sorted[WW_KSUM_KEPT];

	if (v->kept == 0)
		return (double)NAN;
	memcpy(sorted, v->v, v->kept * sizeof(*sorted));
	qsort(sorted, v->kept, sizeof(*sorted), by_value);
	return sorted[(v->kept - 1) / 2];
}

/* ---- devices by name ---- */

static uint32_t mix(uint32_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT32_C(16777619);
	return (h ^ 0xff) * UINT32_C(16777619);
}

static bool rehash(struct ww_ksum *s)
{
	size_t n = s->hash_n ? 2 * s->hash_n : 256;
	uint32_t *h = calloc(n, sizeof(*h));

	if (!h)
		return false;
	for (size_t i = 0; i < s->devices; i++) {
		const struct ww_ksum_device *d = &s->device[i];
		size_t at =
			(mix(mix(2166136261u, d->name), d->driver) + (uint32_t)d->phase) & (n - 1);

		while (h[at])
			at = (at + 1) & (n - 1);
		h[at] = (uint32_t)i + 1;
	}
	free(s->hash);
	s->hash = h;
	s->hash_n = n;
	return true;
}

static struct ww_ksum_device *create(struct ww_ksum *s, const struct ww_pm_device *from)
{
	struct ww_ksum_device *d;

	if (s->devices == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		struct ww_ksum_device *more = realloc(s->device, cap * sizeof(*more));

		if (!more)
			return NULL;
		s->device = more;
		s->cap = cap;
	}
	d = &s->device[s->devices];
	memset(d, 0, sizeof(*d));
	d->name = strdup(from->name);
	d->driver = strdup(from->driver);
	d->phase = from->phase;
	if (!d->name || !d->driver) {
		free(d->name);
		free(d->driver);
		return NULL;
	}
	s->devices++;
	return d;
}

static struct ww_ksum_device *find(struct ww_ksum *s, const struct ww_pm_device *d)
{
	size_t at;

	if (2 * s->devices >= s->hash_n && !rehash(s))
		return NULL;
	at = (mix(mix(2166136261u, d->name), d->driver) + (uint32_t)d->phase) & (s->hash_n - 1);
	for (; s->hash[at]; at = (at + 1) & (s->hash_n - 1)) {
		struct ww_ksum_device *k = &s->device[s->hash[at] - 1];

		if (k->phase == d->phase && strcmp(k->name, d->name) == 0 &&
		    strcmp(k->driver, d->driver) == 0)
			return k;
	}
	if (!create(s, d))
		return NULL;
	s->hash[at] = (uint32_t)s->devices;
	return &s->device[s->devices - 1];
}

static void add_device(struct ww_ksum *s, const struct ww_pm_device *d, uint32_t cycle)
{
	struct ww_ksum_device *k;

	if (s->devices >= DEVICES_MAX) {
		s->unheard++;
		return;
	}
	k = find(s, d);
	if (!k) {
		s->bad = true;
		return;
	}
	add(&k->ms, ww_pm_ms(d->length), cycle);
	add(&k->corrected, ww_pm_ms(d->corrected), cycle);
	if (d->critical)
		add(&k->own, (double)d->critical_ns / 1e6, cycle);
	if (d->error) {
		k->errors++;
		k->error = d->error;
	}
}

/* ---- why ---- */

static void add_reason(struct ww_ksum *s, const struct ww_pm_cycle *c)
{
	struct ww_str text = {0};
	size_t i;

	if (c->result == WW_PM_OK || c->result == WW_PM_TEST)
		return;
	ww_str_addf(&text, "%s", ww_pm_result_name(c->result));
	ww_pm_why(&text, c);
	s->bad = s->bad || text.bad;
	for (i = 0; !text.bad && i < s->reasons && strcmp(s->reason[i].text, text.p) != 0; i++)
		;
	if (!text.bad && i == s->reasons && i < REASONS_MAX) {
		struct ww_ksum_reason *more = realloc(s->reason, (i + 1) * sizeof(*more));

		s->bad = s->bad || !more;
		if (more) {
			s->reason = more;
			s->reason[s->reasons++] = (struct ww_ksum_reason){text.p, 1, c->n};
			return;
		}
	} else if (!text.bad && i < s->reasons) {
		s->reason[i].n++;
	}
	ww_str_free(&text);
}

/* ---- a cycle ---- */

/* Cycles that never came to it count as +infinity; of other failures there is no figure. */
static void add_whole(struct ww_ksum *s, int which, const struct ww_pm_cycle *c,
		      struct ww_interval t, bool never)
{
	struct ww_ksum_whole *w = &s->total[which];

	w->failures += never;
	if ((c->result != WW_PM_OK && c->result != WW_PM_TEST) || !ww_iv_ok(t))
		return;
	if (ww_grow(&w->v, &w->cap, w->n, sizeof(*w->v), NULL) < 0) {
		s->bad = true;
		return;
	}
	w->v[w->n++] = t;
	if (t.hi_ns != WW_TIME_MAX && t.lo_ns != WW_TIME_MIN &&
	    (w->n == 1 || ww_iv_mid(t) > w->most)) {
		w->most = ww_iv_mid(t);
		w->most_cycle = c->n;
	}
}

/* A phase may come in several stretches: those of one cycle are one. */
static void add_phases(struct ww_ksum *s, const struct ww_pm_cycle *c)
{
	double sum[WW_PM_PHASES] = {0};
	bool any[WW_PM_PHASES] = {false};

	for (size_t i = 0; i < c->spans; i++) {
		double ms = ww_pm_ms(c->span[i].length);
		int p = c->span[i].phase;

		if (p <= 0 || p >= WW_PM_PHASES || isnan(ms))
			continue;
		sum[p] += ms;
		any[p] = true;
	}
	for (int p = 0; p < WW_PM_PHASES; p++)
		if (any[p])
			add(&s->phase[p], sum[p], c->n);
}

void ww_ksum_add(struct ww_ksum *s, const struct ww_pm_cycle *c)
{
	bool down = c->result == WW_PM_FAILED || c->result == WW_PM_ABORTED;
	bool up = c->result == WW_PM_RESET || c->result == WW_PM_HUNG;

	s->cycles++;
	if (c->result >= 0 && c->result < WW_PM_RESULTS)
		s->results[c->result]++;
	add_whole(s, WW_KSUM_SUSPEND, c, c->suspend, down);
	add_whole(s, WW_KSUM_RESUME, c, c->resume, up);
	add_whole(s, WW_KSUM_SLEPT, c, c->slept, false);
	add_whole(s, WW_KSUM_SUSPEND_CORRECTED, c, c->suspend_corrected, down);
	add_whole(s, WW_KSUM_RESUME_CORRECTED, c, c->resume_corrected, up);
	add_phases(s, c);
	for (size_t i = 0; i < c->devices; i++)
		add_device(s, &c->device[i], c->n);
	add_reason(s, c);
}

/* Most time over all cycles first; what is equal by name, so that the order is always one. */
static int by_cost(const void *a, const void *b)
{
	const struct ww_ksum_device *x = a, *y = b;

	if (x->ms.sum != y->ms.sum)
		return x->ms.sum > y->ms.sum ? -1 : 1;
	if (x->phase != y->phase)
		return x->phase - y->phase;
	return strcmp(x->name, y->name);
}

void ww_ksum_sort(struct ww_ksum *s)
{
	if (s->devices)
		qsort(s->device, s->devices, sizeof(*s->device), by_cost);
	/* The table of places is of another order now. */
	free(s->hash);
	s->hash = NULL;
	s->hash_n = 0;
}

void ww_ksum_free(struct ww_ksum *s)
{
	for (size_t i = 0; i < s->devices; i++) {
		free(s->device[i].name);
		free(s->device[i].driver);
	}
	for (size_t i = 0; i < s->reasons; i++)
		free(s->reason[i].text);
	for (int i = 0; i < WW_KSUM_TOTALS; i++)
		free(s->total[i].v);
	free(s->device);
	free(s->hash);
	free(s->reason);
	*s = (struct ww_ksum){0};
}
