/* SPDX-License-Identifier: MIT */
/* Two sets of cycles: a row for each figure that either has. */
#include "analysis/shift.h"
#include "base/ranks.h"
#include "base/stats.h"

#include <math.h>

/* Callbacks shorter than this, over all cycles of both, are no reason for anything. */
#define SMALL_MS 0.5

static const char *const kinds[] = {"latency", "kernel", "energy", "phase", "other", "device"};

static int kind_of(const char *kind)
{
	for (size_t i = 0; i < WW_COUNTOF(kinds); i++)
		if (strcmp(kind, kinds[i]) == 0)
			return (int)i;
	return (int)WW_COUNTOF(kinds);
}

bool ww_shift_kind(const char *kind)
{
	return kind_of(kind) < (int)WW_COUNTOF(kinds);
}

void ww_shift_free(struct ww_shift *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->conds; i++) {
		free(s->cond[i].text);
		free(s->cond[i].subject);
	}
	free(s->cond);
	free(s->row);
	free(s->extra);
	free(s->side[0].name);
	free(s->side[1].name);
	ww_notes_free(&s->texts);
	ww_notes_free(&s->notes);
	free(s);
}

/* Values that there are. @return how many */
static size_t gather(const struct ww_metric *m, size_t cycles, double *v)
{
	size_t n = 0;

	for (size_t i = 0; m && i < cycles && i < m->cap; i++)
		if (!isnan(m->v[i]))
			v[n++] = m->v[i];
	return n;
}

/* Median of what an array of a metric has; NaN: nothing. */
static double median_known(const double *from, size_t n, double *v)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(from[i]))
			v[k++] = from[i];
	return ww_median_low(v, k);
}

static size_t shorter(const struct ww_metric *m, size_t cycles)
{
	return m->cap < cycles ? m->cap : cycles;
}

struct making {
	struct ww_shift *s;
	const struct ww_cycleset *set[2];
	double *v[2];
};

static const char *keep(struct ww_shift *s, const char *text)
{
	size_t n = s->texts.n;

	if (!*text)
		return "";
	ww_note(&s->texts, "%s", text);
	if (s->texts.bad)
		return NULL;
	if (s->texts.n > n)
		return s->texts.note[n];
	/* It was there. */
	for (size_t i = 0; i < n; i++)
		if (strcmp(s->texts.note[i], text) == 0)
			return s->texts.note[i];
	return "";
}

static bool too_small(const struct making *k, size_t n, size_t m)
{
	struct ww_sum sum = {0};

	for (size_t i = 0; i < n + m; i++)
		ww_sum_add(&sum, i < n ? k->v[0][i] : k->v[1][i - n]);
	return ww_sum_get(&sum) < SMALL_MS * (double)(n + m);
}

static void resolutions(const struct making *k, const struct ww_metric *const m[2],
			struct ww_shift_row *r, struct ww_shift_extra *x)
{
	double half[2] = {NAN, NAN};

	for (int i = 0; i < 2; i++) {
		x->own[i] = NAN;
		if (!m[i])
			continue;
		half[i] = median_known(m[i]->half, shorter(m[i], k->set[i]->cycles), k->v[i]);
		if (*m[i]->device)
			x->own[i] =
				median_known(m[i]->own, shorter(m[i], k->set[i]->cycles), k->v[i]);
	}
	r->resolution = fmax(isnan(half[0]) ? 0 : half[0], isnan(half[1]) ? 0 : half[1]);
}

static int grow(struct ww_shift *s)
{
	size_t cap = s->cap ? 2 * s->cap : 64;
	struct ww_shift_row *row;
	struct ww_shift_extra *extra;

	if (s->rows < s->cap)
		return 0;
	row = realloc(s->row, cap * sizeof(*row));
	if (!row)
		return -ENOMEM;
	s->row = row;
	extra = realloc(s->extra, cap * sizeof(*extra));
	if (!extra)
		return -ENOMEM;
	s->extra = extra;
	s->cap = cap;
	return 0;
}

/* @param only  the set that alone has it, -1: both */
static int add_row(struct making *k, const struct ww_metric *a, const struct ww_metric *b, int only)
{
	const struct ww_metric *const m[2] = {a, b}, *any = only == 1 ? b : a;
	struct ww_shift *s = k->s;
	struct ww_shift_row r = {.kind = any->kind, .unit = any->unit};
	struct ww_shift_extra x = {0};
	size_t n[2];
	int rc;

	for (int i = 0; i < 2; i++)
		n[i] = gather(m[i], k->set[i]->cycles, k->v[i]);
	/* What came up in a few cycles only is no part of the set. */
	if (only >= 0 && 2 * n[only] <= k->set[only]->cycles)
		return 0;
	if (kind_of(any->kind) == 5 && too_small(k, n[0], n[1])) {
		s->small_devices++;
		return 0;
	}
	rc = ww_shift_figures(k->v[0], n[0], k->v[1], n[1], &r, &x);
	if (rc < 0)
		return rc;
	resolutions(k, m, &r, &x);
	r.name = keep(s, any->name);
	x.device = keep(s, any->device);
	x.driver = keep(s, any->driver);
	x.phase = keep(s, any->phase);
	if (!r.name || !x.device || !x.driver || !x.phase || grow(s) < 0)
		return -ENOMEM;
	s->row[s->rows] = r;
	s->extra[s->rows++] = x;
	return 0;
}

/*
 * A callback that one set lacks tells something where that set has others of the same phase; a
 * phase may be missing because the log of that set does not tell it.
 */
static bool tells_phase(const struct ww_cycleset *set, const char *phase)
{
	for (size_t i = 0; i < set->metrics; i++)
		if (*set->metric[i].device && strcmp(set->metric[i].phase, phase) == 0)
			return true;
	return false;
}

static int add_rows(struct making *k)
{
	int rc = 0;

	for (int side = 0; side < 2; side++) {
		const struct ww_cycleset *set = k->set[side], *other = k->set[1 - side];

		for (size_t i = 0; i < set->metrics && rc == 0; i++) {
			const struct ww_metric *m = &set->metric[i];
			const struct ww_metric *with = ww_cycleset_find(other, m->name);

			if (with && side == 0)
				rc = add_row(k, m, with, -1);
			else if (!with && *m->device && tells_phase(other, m->phase))
				rc = add_row(k, side ? NULL : m, side ? m : NULL, side);
		}
	}
	return rc;
}

/* Holm within each kind. */
static int adjust(struct ww_shift *s)
{
	double *p = malloc((s->rows + 1) * sizeof(*p));
	int rc = p ? 0 : -ENOMEM;

	for (size_t kind = 0; kind <= WW_COUNTOF(kinds) && rc == 0; kind++) {
		size_t n = 0, tests = 0, at = 0;

		for (size_t i = 0; i < s->rows; i++) {
			if ((size_t)kind_of(s->row[i].kind) == kind) {
				p[n++] = s->row[i].p;
				tests += isnan(s->row[i].p) ? 0 : 1;
			}
		}
		rc = ww_holm(p, n);
		for (size_t i = 0; i < s->rows && rc == 0; i++) {
			if ((size_t)kind_of(s->row[i].kind) != kind)
				continue;
			s->row[i].p_adjusted = p[at++];
			ww_shift_judge(&s->row[i], &s->extra[i], tests);
		}
		if (kind == 3 || kind == 5)
			s->tested[kind == 5] = tests;
	}
	free(p);
	return rc;
}

struct sorted {
	struct ww_shift_row r;
	struct ww_shift_extra x;
	size_t at;
};

static int weight(const struct ww_shift_row *r)
{
	switch (r->verdict) {
	case WW_SHIFT_SLOWER:
	case WW_SHIFT_FASTER:
		return 0;
	case WW_SHIFT_ONLY_A:
	case WW_SHIFT_ONLY_B:
		return 1;
	default:
		return 2;
	}
}

static double size_of(const struct ww_shift_row *r)
{
	double v = weight(r) == 1 ? r->median[r->verdict == WW_SHIFT_ONLY_B] : r->shift;

	return isnan(v) ? 0 : fabs(v);
}

/* Wholes as they came; parts by what moved most. */
static int cmp_row(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	int k = kind_of(x->r.kind), l = kind_of(y->r.kind);

	if (k != l)
		return k < l ? -1 : 1;
	if (k >= 3 && weight(&x->r) != weight(&y->r))
		return weight(&x->r) - weight(&y->r);
	if (k >= 3 && size_of(&x->r) != size_of(&y->r))
		return size_of(&x->r) > size_of(&y->r) ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static int sort(struct ww_shift *s)
{
	struct sorted *p = malloc((s->rows + 1) * sizeof(*p));

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < s->rows; i++)
		p[i] = (struct sorted){s->row[i], s->extra[i], i};
	qsort(p, s->rows, sizeof(*p), cmp_row);
	for (size_t i = 0; i < s->rows; i++) {
		s->row[i] = p[i].r;
		s->extra[i] = p[i].x;
	}
	free(p);
	return 0;
}

static int side_of(struct ww_shift_side *to, const struct ww_cycleset *from)
{
	to->name = strdup(from->name);
	to->cycles = from->cycles;
	to->judged = from->judged;
	to->failures = from->failures;
	to->rate_ci[0] = 0;
	to->rate_ci[1] = 1;
	if (from->judged)
		ww_clopper_pearson((int64_t)from->failures, (int64_t)from->judged, .95,
				   &to->rate_ci[0], &to->rate_ci[1]);
	return to->name ? 0 : -ENOMEM;
}

static bool said(const struct ww_notes *l, const char *note)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->note[i], note) == 0)
			return true;
	return false;
}

static void notes_of(struct making *k)
{
	for (int i = 0; i < 2; i++) {
		const struct ww_notes *l = &k->set[i]->notes, *other = &k->set[1 - i]->notes;

		for (size_t j = 0; j < l->n; j++) {
			if (!said(other, l->note[j]))
				ww_note(&k->s->notes, "%c: %s", 'A' + i, l->note[j]);
			else if (i == 0)
				ww_note(&k->s->notes, "A and B: %s", l->note[j]);
		}
	}
}

static void remarks(struct making *k)
{
	struct ww_shift *s = k->s;
	bool below = false;

	ww_note(&s->notes, "B - A is the median of all differences of a cycle of B and one of A "
			   "(Hodges and Lehmann); p is by ranks and stands for all figures of its "
			   "kind (Holm)");
	for (size_t i = 0; i < s->rows; i++)
		below |= s->row[i].verdict == WW_SHIFT_BELOW_RESOLUTION &&
			 kind_of(s->row[i].kind) < 3;
	if (below)
		ww_note(&s->notes, "below resolution: the readings scatter less than one reading's "
				   "own interval is wide, so that the same difference may be none");
	if (s->small_devices)
		ww_note(&s->notes,
			"callbacks of devices that took less than 0.5 ms on average are left "
			"out: %zu of them",
			s->small_devices);
	notes_of(k);
}

static int make(struct making *k, const char *fail_if, struct ww_error *err)
{
	struct ww_shift *s = k->s;
	int rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++) {
		k->v[i] = malloc((k->set[i]->cycles + 1) * sizeof(double));
		rc = k->v[i] ? side_of(&s->side[i], k->set[i]) : -ENOMEM;
	}
	if (rc == 0)
		rc = add_rows(k);
	if (rc == 0)
		rc = adjust(s);
	if (rc == 0)
		rc = sort(s);
	if (rc < 0)
		return ww_fail_nomem(err);
	s->failures_p = ww_fisher(s->side[0].failures, s->side[0].judged, s->side[1].failures,
				  s->side[1].judged);
	remarks(k);
	if (s->notes.bad)
		return ww_fail_nomem(err);
	rc = fail_if ? ww_shift_conds_parse(s, fail_if, err) : 0;
	return rc < 0 ? rc : ww_shift_conds_judge(s, err);
}

int ww_shift_new(const struct ww_cycleset *a, const struct ww_cycleset *b,
		 const struct ww_shift_options *opt, struct ww_shift **out, struct ww_error *err)
{
	struct making k = {.set = {a, b}};
	int rc = WW_OPT_CHECK(opt, err);

	*out = NULL;
	if (rc < 0)
		return rc;
	for (int i = 0; i < 2; i++)
		if (k.set[i]->cycles == 0)
			return ww_fail(err, -ENODATA,
				       "%s: no cycle of suspend and resume to compare",
				       k.set[i]->name);
	k.s = calloc(1, sizeof(*k.s));
	if (!k.s)
		return ww_fail_nomem(err);
	k.s->top = WW_OPT(opt, top, 0);
	rc = make(&k, WW_OPT(opt, fail_if, NULL), err);
	free(k.v[0]);
	free(k.v[1]);
	if (rc < 0)
		ww_shift_free(k.s);
	else
		*out = k.s;
	return rc < 0 ? rc : 0;
}

const struct ww_shift_row *ww_shift_at(const struct ww_shift *s, size_t i)
{
	return i < s->rows ? &s->row[i] : NULL;
}

const char *ww_shift_note(const struct ww_shift *s, size_t i)
{
	return ww_note_at(&s->notes, i);
}

int ww_shift_failed(const struct ww_shift *s)
{
	int rc = 0;

	for (size_t i = 0; i < s->conds; i++) {
		if (s->cond[i].state == WW_COND_MET)
			return 1;
		if (s->cond[i].state == WW_COND_UNDECIDED)
			rc = -EAGAIN;
	}
	return rc;
}
