/* SPDX-License-Identifier: MIT */
/* Sets of values are sorted by measure, put beside their base and judged. */
#include "analysis/compare.h"
#include "analysis/series.h"
#include "base/stats.h"
#include "base/str.h"

#include <math.h>

struct job {
	struct ww_compare *c;
	const struct ww_compare_set *set;
	size_t sets;
	const struct ww_compare_options *opt;
	struct ww_error *err;
};

/* A text that lives as long as the comparison; each once. */
static const char *keep(struct ww_compare *c, const char *text)
{
	ww_note(&c->texts, "%s", text);
	for (size_t i = 0; i < c->texts.n; i++)
		if (strcmp(c->texts.note[i], text) == 0)
			return c->texts.note[i];
	return "";
}

static size_t known(const struct ww_compare_set *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += isfinite(s->value[i]) ? 1 : 0;
	return n;
}

static void samples_free(struct ww_samples2 *s)
{
	free(s->a);
	free(s->b);
	free(s->when_a);
	free(s->when_b);
}

static int samples_alloc(struct ww_samples2 *s, size_t n)
{
	n = n ? n : 1;
	s->a = calloc(n, sizeof(double));
	s->b = calloc(n, sizeof(double));
	s->when_a = calloc(n, sizeof(double));
	s->when_b = calloc(n, sizeof(double));
	return s->a && s->b && s->when_a && s->when_b ? 0 : -ENOMEM;
}

/* Orders and numbers of pairs mean something to each other. */
static bool together(const struct ww_compare_set *a, const struct ww_compare_set *b)
{
	return a->series == b->series;
}

static double when(const struct ww_compare_set *s, size_t i)
{
	return s->when ? s->when[i] : (double)i + 1;
}

/* Mean of the values of one pair: a round may hold several of a variant (ABBA). */
static bool pair_mean(const struct ww_compare_set *s, uint32_t pair, double *v, double *t)
{
	double sum = 0, at = 0, n = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (s->pair[i] != pair)
			continue;
		/* A failed run spoils its pair: the other values of the round say less. */
		if (!isfinite(s->value[i]))
			return false;
		sum += s->value[i];
		at += when(s, i);
		n++;
	}
	*v = sum / n;
	*t = at / n;
	return n > 0;
}

static int take_pairs(const struct ww_compare_set *a, const struct ww_compare_set *b,
		      struct ww_samples2 *s)
{
	int rc = samples_alloc(s, a->n);
	bool plain = !(a->pair && b->pair);

	for (size_t i = 0; rc == 0 && plain && i < a->n; i++) {
		s->a[s->n] = a->value[i];
		s->b[s->n] = b->value[i];
		s->when_a[s->n] = when(a, i);
		s->when_b[s->n] = when(b, i);
		s->n += isfinite(a->value[i]) && isfinite(b->value[i]);
	}
	for (size_t i = 0; rc == 0 && !plain && i < a->n; i++) {
		uint32_t pair = a->pair[i];
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = a->pair[k] == pair;
		if (!seen && pair_mean(a, pair, &s->a[s->n], &s->when_a[s->n]) &&
		    pair_mean(b, pair, &s->b[s->n], &s->when_b[s->n]))
			s->n++;
	}
	s->m = s->n;
	s->paired = true;
	return rc;
}

static int take_all(const struct ww_compare_set *a, const struct ww_compare_set *b,
		    struct ww_samples2 *s)
{
	int rc = samples_alloc(s, a->n > b->n ? a->n : b->n);

	for (size_t i = 0; rc == 0 && i < a->n; i++) {
		if (isfinite(a->value[i])) {
			s->a[s->n] = a->value[i];
			s->when_a[s->n++] = when(a, i);
		}
	}
	for (size_t i = 0; rc == 0 && i < b->n; i++) {
		if (isfinite(b->value[i])) {
			s->b[s->m] = b->value[i];
			s->when_b[s->m++] = when(b, i);
		}
	}
	return rc;
}

static int take(struct job *j, const struct ww_compare_set *a, const struct ww_compare_set *b,
		struct ww_samples2 *s)
{
	int pairing = WW_OPT(j->opt, pairing, WW_PAIR_AUTO), rc;

	*s = (struct ww_samples2){0};
	if (pairing == WW_PAIR_YES && !(a->pair && b->pair) && a->n != b->n)
		return ww_fail(j->err, -EINVAL,
			       "%s has %zu values and %s %zu: pairs need as many of each; without "
			       "pairing they can be compared as they are",
			       a->variant, a->n, b->variant, b->n);
	if (pairing == WW_PAIR_YES ||
	    (pairing == WW_PAIR_AUTO && together(a, b) && a->pair && b->pair)) {
		rc = take_pairs(a, b, s);
		/* Rounds in which not both ran are no pairs: nothing was interleaved. */
		if (rc < 0 || s->n >= 2 || pairing == WW_PAIR_YES)
			return rc < 0 ? ww_fail_nomem(j->err) : 0;
		samples_free(s);
		*s = (struct ww_samples2){0};
	}
	return take_all(a, b, s) < 0 ? ww_fail_nomem(j->err) : 0;
}

/* The step of the values where nobody tells it. */
static int resolution(const struct job *j, const struct ww_compare_set *a,
		      const struct ww_compare_set *b, double *q)
{
	double *v, given = WW_OPT(j->opt, resolution, 0);
	size_t n = 0;

	*q = given;
	if (given > 0)
		return 0;
	v = calloc(a->n + b->n + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < a->n + b->n; i++) {
		double x = i < a->n ? a->value[i] : b->value[i - a->n];

		if (isfinite(x))
			v[n++] = x;
	}
	*q = n >= 4 ? ww_resolution_seen(v, n) : 0;
	free(v);
	return 0;
}

static void clear(struct ww_comparison *r)
{
	const struct ww_quantity none = {NAN, NAN};

	*r = (struct ww_comparison){
		.mean_a = none,
		.mean_b = none,
		.sd_a = NAN,
		.sd_b = NAN,
		.ratio = NAN,
		.ratio_ci = {NAN, NAN},
		.u_runs = NAN,
		.u_meter = NAN,
		.df = NAN,
		.difference = none,
		.difference_ci = {NAN, NAN},
		.p = NAN,
		.p_holm = NAN,
		.signed_rank_p = NAN,
		.mann_whitney_u = NAN,
		.mann_whitney_p = NAN,
		.brunner_munzel_p = NAN,
		.shift = NAN,
		.shift_ci = {NAN, NAN},
		.cliffs_delta = NAN,
		.cohens_d = NAN,
		.detectable = NAN,
		.needed = NAN,
		.detectable_abs = NAN,
	};
}

static double known_u(double u)
{
	return u > 0 && isfinite(u) ? u : 0;
}

static int compare_pair(struct job *j, const struct ww_compare_set *a,
			const struct ww_compare_set *b, struct ww_comparison *r, double *q)
{
	struct ww_compare *c = j->c;
	struct ww_compare_meter m = {
		.offset_u = known_u(WW_OPT(j->opt, offset_u, 0)),
		.gain_u = known_u(WW_OPT(j->opt, gain_u, 0)),
		.per_offset = {a->per_offset, b->per_offset},
		.per_gain = a->per_gain,
		.other = c->other_meter,
	};
	struct ww_samples2 s = {0};
	int rc = take(j, a, b, &s);

	clear(r);
	r->measure = keep(c, a->measure);
	r->unit = keep(c, a->unit);
	r->a = keep(c, a->variant);
	r->b = keep(c, b->variant);
	r->failed_a = a->n - known(a);
	r->failed_b = b->n - known(b);
	if (rc == 0 && (resolution(j, a, b, q) < 0))
		rc = ww_fail_nomem(j->err);
	m.resolution = *q;
	if (rc == 0 && ww_compare_figures(&s, &m, c->conf, c->power, r) < 0)
		rc = ww_fail_nomem(j->err);
	r->n_a = known(a);
	r->n_b = known(b);
	if (rc == 0 && ww_compare_doubts(c, r, &s) < 0)
		rc = ww_fail_nomem(j->err);
	if (rc == 0 && together(a, b) && a->when && b->when)
		ww_compare_blocks(c, r, &s);
	else if (rc == 0 && !s.paired && s.n && s.m)
		ww_note(&c->notes,
			"%s and %s were not measured in turn as far as is known: a drift between "
			"them would look like a difference",
			r->a, r->b);
	samples_free(&s);
	return rc;
}

static bool same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* The set that the others of a measure are compared with. */
static size_t base_of(const struct job *j, const char *measure)
{
	const char *base = WW_OPT(j->opt, base, NULL);

	for (size_t i = 0; i < j->sets; i++)
		if (same(j->set[i].measure, measure) && (!base || same(j->set[i].variant, base)))
			return i;
	return j->sets;
}

static int measure(struct job *j, size_t base)
{
	struct ww_compare *c = j->c;
	size_t first = c->rows, k = 0;
	double *p, *q;
	int rc = 0;

	p = calloc(j->sets, sizeof(*p));
	q = calloc(j->sets, sizeof(*q));
	if (!p || !q)
		rc = ww_fail_nomem(j->err);
	for (size_t i = 0; rc == 0 && i < j->sets; i++) {
		const struct ww_compare_set *a = &j->set[base], *b = &j->set[i];

		if (i == base || !same(a->measure, b->measure))
			continue;
		if (!same(a->unit, b->unit))
			rc = ww_fail(j->err, -EINVAL, "%s is in %s for %s, but in %s for %s",
				     a->measure, *a->unit ? a->unit : "no unit", a->variant,
				     *b->unit ? b->unit : "no unit", b->variant);
		else
			rc = compare_pair(j, a, b, &c->row[c->rows], &q[k]);
		p[k++] = c->row[c->rows++].p;
	}
	if (rc == 0 && ww_holm(p, k) < 0)
		rc = ww_fail_nomem(j->err);
	for (size_t i = 0; rc == 0 && i < k; i++) {
		c->row[first + i].p_holm = p[i];
		ww_compare_judge(&c->row[first + i], c->conf, q[i]);
	}
	c->variants = k > c->variants ? k : c->variants;
	free(p);
	free(q);
	return rc;
}

static int each_measure(struct job *j)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < j->sets; i++) {
		size_t base = base_of(j, j->set[i].measure);
		bool before = false;

		for (size_t k = 0; k < i && !before; k++)
			before = same(j->set[k].measure, j->set[i].measure);
		if (!before && base == j->sets)
			return ww_fail(j->err, -ENOENT,
				       "there is no variant '%s' with a value of %s", j->opt->base,
				       j->set[i].measure);
		if (!before)
			rc = measure(j, base);
	}
	return rc;
}

static int sentences(struct job *j)
{
	struct ww_compare *c = j->c;

	c->sentence = calloc(c->rows ? c->rows : 1, sizeof(*c->sentence));
	for (size_t i = 0; c->sentence && i < c->rows; i++)
		if (ww_compare_say(c, i) < 0)
			return ww_fail_nomem(j->err);
	ww_compare_remarks(c, j->opt);
	return c->sentence && !c->notes.bad && !c->texts.bad ? 0 : ww_fail_nomem(j->err);
}

static int check(const struct job *j, double conf, double power)
{
	if (!(conf > 0 && conf < 1 && power > 0 && power < 1))
		return ww_fail(j->err, -EINVAL,
			       "confidence and power lie between 0 and 1, as in 0.95 and 0.8");
	if (j->sets < 2)
		return ww_fail(j->err, -EINVAL, "there is %s to compare",
			       j->sets ? "one set of values only: nothing" : "nothing");
	for (size_t i = 0; i < j->sets; i++)
		for (size_t k = 0; k < i; k++)
			if (same(j->set[i].variant, j->set[k].variant) &&
			    same(j->set[i].measure, j->set[k].measure))
				return ww_fail(j->err, -EINVAL, "two sets are called '%s'",
					       j->set[i].variant);
	return 0;
}

int ww_compare_new(const struct ww_compare_set *set, size_t sets,
		   const struct ww_compare_options *opt, struct ww_compare **out,
		   struct ww_error *err)
{
	double conf = WW_OPT(opt, conf, 0), power = WW_OPT(opt, power, 0);
	struct job j = {.set = set, .sets = sets, .opt = opt, .err = err};
	int rc = WW_OPT_CHECK(opt, err);

	conf = conf == 0 ? 0.95 : conf;
	power = power == 0 ? 0.8 : power;
	if (rc == 0)
		rc = check(&j, conf, power);
	if (rc < 0)
		return rc;
	j.c = calloc(1, sizeof(*j.c));
	if (j.c)
		j.c->row = calloc(sets, sizeof(*j.c->row));
	if (!j.c || !j.c->row) {
		ww_compare_free(j.c);
		return ww_fail_nomem(err);
	}
	j.c->conf = conf;
	j.c->power = power;
	j.c->other_meter = WW_OPT(opt, other_meter, 0) != 0;
	rc = each_measure(&j);
	if (rc == 0 && j.c->rows == 0)
		rc = ww_fail(err, -EINVAL, "no measure has two variants: nothing to compare");
	if (rc == 0)
		rc = sentences(&j);
	if (rc < 0) {
		ww_compare_free(j.c);
		return rc;
	}
	*out = j.c;
	return 0;
}

const struct ww_comparison *ww_compare_at(const struct ww_compare *c, size_t i)
{
	return i < c->rows ? &c->row[i] : NULL;
}

const char *ww_compare_sentence(const struct ww_compare *c, size_t i)
{
	return i < c->rows ? c->sentence[i] : NULL;
}

const char *ww_compare_note(const struct ww_compare *c, size_t i)
{
	return ww_note_at(&c->notes, i);
}

void ww_compare_free(struct ww_compare *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->sentence && i < c->rows; i++)
		free(c->sentence[i]);
	free(c->sentence);
	free(c->row);
	ww_notes_free(&c->notes);
	ww_notes_free(&c->texts);
	free(c);
}
