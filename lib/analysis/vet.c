/* SPDX-License-Identifier: MIT */
/*
 * Which callbacks take the same time whatever else happens: a delay that someone wrote, to be
 * shortened or waited for elsewhere.
 */
#include "analysis/vet.h"
#include "analysis/cycleset.h"
#include "base/stats.h"
#include "base/str.h"

#include <math.h>

struct making {
	struct ww_vet *v;
	struct ww_cycleset *const *set;
	size_t sets;
	double *value, *half, *own; /* of all cycles */
	size_t n, owns;
};

double ww_vet_spread(const double *v, size_t n)
{
	size_t k = (9 * n + 9) / 10; /* 9 of 10, rounded up */
	double least = INFINITY;

	if (n == 0)
		return NAN;
	for (size_t i = 0; i + k <= n; i++)
		least = fmin(least, v[i + k - 1] - v[i]);
	return least;
}

/*
 * A sleep takes what is written, a jiffy or less more, and the call's own work. So the
 * greatest round time below all of them, if it is near enough.
 */
double ww_vet_written(double min_ms, double median_ms)
{
	static const double round_ms[] = {1,	2,    3,    5,	  10,	 15,	20,   25,   30,
					  40,	50,   60,   75,	  80,	 100,	120,  125,  150,
					  175,	200,  250,  300,  350,	 400,	450,  500,  600,
					  700,	750,  800,  900,  1000,	 1200,	1500, 2000, 2500,
					  3000, 4000, 5000, 8000, 10000, 20000, 30000};
	/* The stamps' last digit may be rounded. */
	const double slack = 0.01;

	for (size_t i = WW_COUNTOF(round_ms); i-- > 0;) {
		if (round_ms[i] > min_ms + slack)
			continue;
		/* A short one next to a long call would be a guess. */
		if (median_ms - round_ms[i] > fmin(WW_VET_JIFFY_MS + 1, round_ms[i] / 4 + 1))
			return NAN;
		return round_ms[i];
	}
	return NAN;
}

static void gather(struct making *k, const struct ww_metric *m, size_t cycles)
{
	for (size_t i = 0; i < cycles && i < m->cap; i++) {
		if (!isfinite(m->v[i]))
			continue;
		k->value[k->n] = m->v[i];
		k->half[k->n] = isfinite(m->half[i]) ? m->half[i] : 0;
		k->n++;
		if (isfinite(m->own[i]))
			/* Not more than it took without the console. */
			k->own[k->owns++] = fmin(m->own[i], m->v[i]);
	}
}

static const char *keep(struct ww_vet *v, const char *text)
{
	if (!*text)
		return "";
	ww_note(&v->texts, "%s", text);
	for (size_t i = v->texts.n; i-- > 0;)
		if (strcmp(v->texts.note[i], text) == 0)
			return v->texts.note[i];
	return "";
}

static struct ww_vet_row *add_row(struct ww_vet *v)
{
	if (v->rows == v->cap) {
		size_t cap = v->cap ? 2 * v->cap : 32;
		struct ww_vet_row *row = realloc(v->row, cap * sizeof(*row));

		if (!row)
			return NULL;
		v->row = row;
		v->cap = cap;
	}
	return &v->row[v->rows++];
}

/* A sleep by the timer's ticks is as long as it is written, and up to a tick longer. */
static int fixed(const struct ww_vet *v, double median, double spread)
{
	if (spread <= v->spread_ms)
		return WW_VET_FIXED;
	return spread <= WW_VET_TICK_MS && spread <= median / 20 ? WW_VET_TICK : WW_VET_VARIES;
}

static int put_row(struct making *k, const struct ww_metric *m, double median, double spread)
{
	struct ww_vet_row *r = add_row(k->v);

	if (!r)
		return -ENOMEM;
	*r = (struct ww_vet_row){.device = keep(k->v, m->device),
				 .driver = keep(k->v, m->driver),
				 .func = keep(k->v, m->func),
				 .phase = keep(k->v, m->phase),
				 .n = k->n,
				 .median_ms = median,
				 .min_ms = k->value[0],
				 .max_ms = k->value[k->n - 1],
				 .spread_ms = spread,
				 .nearest_ms = NAN,
				 .fixed = fixed(k->v, median, spread)};
	r->saving_ms = k->owns ? ww_median_low(k->own, k->owns) : NAN;
	if (r->fixed)
		r->nearest_ms = ww_vet_written(r->min_ms, median);
	return k->v->texts.bad ? -ENOMEM : 0;
}

/* A callback in all sets from the i-th on. */
static int vet_one(struct making *k, const struct ww_metric *m, size_t i)
{
	struct ww_vet *v = k->v;
	double median, spread, half;

	k->n = k->owns = 0;
	for (; i < k->sets; i++) {
		const struct ww_metric *same = ww_cycleset_find(k->set[i], m->name);

		if (same)
			gather(k, same, k->set[i]->cycles);
	}
	v->callbacks++;
	if (k->n == 0)
		return 0;
	qsort(k->value, k->n, sizeof(double), ww_cmp_double);
	median = k->value[(k->n - 1) / 2];
	if (median < v->min_ms)
		return 0;
	if (k->n < v->min_cycles) {
		v->few++;
		return 0;
	}
	spread = ww_vet_spread(k->value, k->n);
	half = ww_median(k->half, k->n);
	if (2 * half > v->spread_ms) {
		v->coarse++;
		return 0;
	}
	return put_row(k, m, median, spread);
}

static bool seen_before(const struct making *k, size_t i, const char *name)
{
	for (size_t j = 0; j < i; j++)
		if (ww_cycleset_find(k->set[j], name))
			return true;
	return false;
}

static double worth(const struct ww_vet_row *r)
{
	return isnan(r->saving_ms) ? -1 : r->saving_ms;
}

/* Fixed ones, those but for a tick, the others. */
static int rank(const struct ww_vet_row *r)
{
	return r->fixed == WW_VET_FIXED ? 0 : r->fixed == WW_VET_TICK ? 1 : 2;
}

static int by_worth(const void *a, const void *b)
{
	const struct ww_vet_row *x = a, *y = b;
	int c;

	if (rank(x) != rank(y))
		return rank(x) - rank(y);
	if (worth(x) < worth(y) || worth(x) > worth(y))
		return worth(x) < worth(y) ? 1 : -1;
	if (x->median_ms < y->median_ms || x->median_ms > y->median_ms)
		return x->median_ms < y->median_ms ? 1 : -1;
	c = strcmp(x->device, y->device);
	return c ? c : strcmp(x->phase, y->phase);
}

static void remarks(struct making *k)
{
	struct ww_vet *v = k->v;
	char min[32], spread[32];
	bool written = false, unknown = false;

	ww_num_text(min, sizeof(min), v->min_ms);
	ww_num_text(spread, sizeof(spread), v->spread_ms);
	for (size_t i = 0; i < v->ticks; i++) {
		written |= !isnan(v->row[i].nearest_ms);
		unknown |= isnan(v->row[i].saving_ms);
	}
	if (written)
		ww_note(&v->notes,
			"probably written: the round time just below; msleep() waits up to one "
			"jiffy longer than it is told (1 ms at 1000 Hz, 3.3 ms at 300, 4 ms at "
			"250, 10 ms at 100), and the callback's own work comes on top");
	if (unknown)
		ww_note(&v->notes, "what one saves is known where the path through the phase is: "
				   "with a line for each callback, or ftrace");
	if (v->ticks)
		ww_note(&v->notes, "saves: its own part of the critical path, median over its "
				   "cycles; 0 where others take as long beside it");
	if (v->coarse)
		ww_note(&v->notes,
			"%zu callbacks of %s ms and more have no better stamps than %s ms: whether "
			"their time is fixed, such a log does not tell",
			v->coarse, min, spread);
	if (v->few)
		ww_note(&v->notes,
			"%zu callbacks of %s ms and more were seen in fewer than %u cycles: left "
			"out",
			v->few, min, (unsigned)v->min_cycles);
	if (v->cycles < 10)
		ww_note(&v->notes, "only %llu cycles: what varies seldom looks fixed",
			(unsigned long long)v->cycles);
}

static int make(struct making *k)
{
	struct ww_vet *v = k->v;
	int rc = 0;

	for (size_t i = 0; i < k->sets && rc >= 0; i++)
		for (size_t j = 0; j < k->set[i]->metrics && rc >= 0; j++) {
			const struct ww_metric *m = &k->set[i]->metric[j];

			if (strcmp(m->kind, "device") == 0 && !seen_before(k, i, m->name))
				rc = vet_one(k, m, i);
		}
	if (rc < 0)
		return rc;
	if (v->rows)
		qsort(v->row, v->rows, sizeof(*v->row), by_worth);
	while (v->fixed < v->rows && v->row[v->fixed].fixed == WW_VET_FIXED)
		v->fixed++;
	for (v->ticks = v->fixed; v->ticks < v->rows && v->row[v->ticks].fixed;)
		v->ticks++;
	remarks(k);
	return v->notes.bad || v->sets.bad ? -ENOMEM : 0;
}

static int prepare(struct making *k, const struct ww_vet_options *opt, struct ww_error *err)
{
	struct ww_vet *v = k->v;
	double min = WW_OPT(opt, min_ms, 0), spread = WW_OPT(opt, spread_ms, 0);
	uint32_t least = WW_OPT(opt, min_cycles, 0);

	v->min_ms = min > 0 ? min : 5;
	v->spread_ms = spread > 0 ? spread : 1;
	/* One cycle is the same as itself. */
	v->min_cycles = least == 0 ? 3 : least == 1 ? 2 : least;
	for (size_t i = 0; i < k->sets; i++) {
		v->cycles += k->set[i]->cycles;
		ww_note(&v->sets, "%s", k->set[i]->name);
	}
	if (v->cycles == 0)
		return ww_fail(err, -ENODATA, "%s: no cycle of suspend and resume to look at",
			       k->sets ? k->set[0]->name : "nothing named");
	k->value = calloc(v->cycles, sizeof(double));
	k->half = calloc(v->cycles, sizeof(double));
	k->own = calloc(v->cycles, sizeof(double));
	return k->value && k->half && k->own ? 0 : ww_fail_nomem(err);
}

int ww_vet_new(struct ww_cycleset *const *set, size_t n, const struct ww_vet_options *opt,
	       struct ww_vet **out, struct ww_error *err)
{
	struct making k = {.set = set, .sets = n};
	int rc = WW_OPT_CHECK(opt, err);

	*out = NULL;
	if (rc < 0)
		return rc;
	k.v = calloc(1, sizeof(*k.v));
	if (!k.v)
		return ww_fail_nomem(err);
	rc = prepare(&k, opt, err);
	if (rc >= 0 && make(&k) < 0)
		rc = ww_fail_nomem(err);
	free(k.value);
	free(k.half);
	free(k.own);
	if (rc < 0)
		ww_vet_free(k.v);
	else
		*out = k.v;
	return rc < 0 ? rc : 0;
}

const struct ww_vet_row *ww_vet_at(const struct ww_vet *v, size_t i)
{
	return i < v->rows ? &v->row[i] : NULL;
}

const char *ww_vet_note(const struct ww_vet *v, size_t i)
{
	return ww_note_at(&v->notes, i);
}

void ww_vet_free(struct ww_vet *v)
{
	if (!v)
		return;
	free(v->row);
	ww_notes_free(&v->texts);
	ww_notes_free(&v->notes);
	ww_notes_free(&v->sets);
	free(v);
}
