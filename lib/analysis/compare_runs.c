/* SPDX-License-Identifier: MIT */
/* Runs of a command as sets of values: one for each variant and measure. */
#include "analysis/compare.h"
#include "base/str.h"

#include <math.h>

enum measure { GROSS, ABOVE, TIME, POWER, GROSS_PER, ABOVE_PER, TIME_PER, MEASURES };

static const char *const names[MEASURES] = {
	"energy",	   "energy above baseline",   "time",	       "mean power",
	"energy per unit", "above baseline per unit", "time per unit",
};

/* The runs of one variant of one trace. */
struct variant {
	const struct ww_runs *runs;
	const struct ww_run_variant *v;
	uint32_t index, series;
	struct ww_str name;
};

struct sets {
	struct ww_compare_set *set;
	struct ww_str *unit; /* [sets] */
	size_t n;
	struct variant *variant;
	size_t variants;
	double *value; /* all values, orders and pairs, set after set */
	double *when;
	uint32_t *pair;
	size_t used;
};

static bool failed(const struct ww_run *r)
{
	return !r->used && (r->status != 0 || r->signal != 0);
}

/* A run may have repeated its command. */
static double value(const struct ww_run *r, enum measure m)
{
	double k = r->repeat > 1 ? r->repeat : 1;

	if (failed(r))
		return NAN;
	switch (m) {
	case GROSS:
		return r->gross_J.value / k;
	case ABOVE:
		return r->marginal_J.value / k;
	case TIME:
		return r->duration_s.value / k;
	case POWER:
		return r->mean_W.value;
	case GROSS_PER:
		return r->gross_per.value;
	case ABOVE_PER:
		return r->marginal_per.value;
	default:
		return r->time_per.value;
	}
}

/* What one watt of offset does to the value. */
static double per_offset(const struct ww_run *r, enum measure m)
{
	switch (m) {
	case GROSS:
		return value(r, TIME);
	case POWER:
		return 1;
	case GROSS_PER:
		return r->time_per.value;
	default:
		return 0;
	}
}

static void fill(struct sets *s, const struct variant *v, enum measure m)
{
	static const char *const unit[MEASURES] = {"J", "J", "s", "W", "J/", "J/", "s/"};
	struct ww_compare_set *set = &s->set[s->n];
	struct ww_str *u = &s->unit[s->n++];
	double offset = 0, n = 0;
	const struct ww_run *r;

	ww_str_add(u, unit[m]);
	if (m >= GROSS_PER)
		ww_str_add(u, *v->v->work_unit ? v->v->work_unit : "1");
	*set = (struct ww_compare_set){
		.variant = v->name.p,
		.measure = names[m],
		.unit = u->p,
		.value = s->value + s->used,
		.when = s->when + s->used,
		.pair = s->pair + s->used,
		.per_gain = m != TIME && m != TIME_PER,
		.series = v->series,
	};
	for (size_t i = 0; (r = ww_runs_at(v->runs, i)); i++) {
		double x = per_offset(r, m);

		if (r->variant != v->index || r->warmup)
			continue;
		s->value[s->used] = value(r, m);
		s->when[s->used] = r->n;
		s->pair[s->used++] = r->round;
		set->n++;
		if (!failed(r) && isfinite(x)) {
			offset += x;
			n++;
		}
	}
	set->per_offset = n > 0 ? offset / n : 0;
}

static size_t count_runs(const struct ww_runs *const *runs, size_t n, size_t *variants)
{
	size_t all = 0;

	*variants = 0;
	for (size_t i = 0; i < n; i++) {
		all += ww_runs_count(runs[i]);
		for (size_t k = 0; ww_runs_variant(runs[i], k); k++)
			++*variants;
	}
	return all;
}

/* "file", "label", or "file: label" where both are needed. */
static void name_variant(struct variant *v, const char *file, bool several)
{
	const char *label = v->v->label;

	if (file && (several || !*label))
		ww_str_add(&v->name, file);
	if (file && several && *label)
		ww_str_add(&v->name, ": ");
	if (*label)
		ww_str_add(&v->name, label);
	if (v->name.n == 0)
		ww_str_addf(&v->name, "runs %u", (unsigned)v->series + 1);
}

static int list_variants(struct sets *s, const struct ww_runs *const *runs, const char *const *name,
			 size_t n)
{
	bool bad = false;

	for (size_t i = 0; i < n; i++) {
		const struct ww_run_variant *v;

		for (size_t k = 0; (v = ww_runs_variant(runs[i], k)); k++) {
			struct variant *to = &s->variant[s->variants++];

			to->runs = runs[i];
			to->v = v;
			to->index = (uint32_t)k;
			to->series = (uint32_t)i;
			name_variant(to, name ? name[i] : NULL, n > 1);
			bad = bad || to->name.bad;
		}
	}
	return bad ? -ENOMEM : 0;
}

/* A measure that no run, or that only one variant has is none to compare. */
static bool has(const struct variant *v, enum measure m)
{
	const struct ww_run *r;

	for (size_t i = 0; (r = ww_runs_at(v->runs, i)); i++)
		if (r->variant == v->index && !r->warmup && isfinite(value(r, m)))
			return true;
	return false;
}

static void sets_free(struct sets *s)
{
	for (size_t i = 0; i < s->n; i++)
		ww_str_free(&s->unit[i]);
	for (size_t i = 0; i < s->variants; i++)
		ww_str_free(&s->variant[i].name);
	free(s->set);
	free(s->unit);
	free(s->variant);
	free(s->value);
	free(s->when);
	free(s->pair);
}

static int collect(struct sets *s, const struct ww_runs *const *runs, const char *const *name,
		   size_t n)
{
	size_t variants, all = count_runs(runs, n, &variants), most = variants * MEASURES + 1;

	s->set = calloc(most, sizeof(*s->set));
	s->unit = calloc(most, sizeof(*s->unit));
	s->variant = calloc(variants + 1, sizeof(*s->variant));
	s->value = calloc(all * MEASURES + 1, sizeof(*s->value));
	s->when = calloc(all * MEASURES + 1, sizeof(*s->when));
	s->pair = calloc(all * MEASURES + 1, sizeof(*s->pair));
	if (!s->set || !s->unit || !s->variant || !s->value || !s->when || !s->pair)
		return -ENOMEM;
	if (list_variants(s, runs, name, n) < 0)
		return -ENOMEM;
	for (int m = 0; m < MEASURES; m++) {
		size_t with = 0;

		for (size_t i = 0; i < s->variants; i++)
			with += has(&s->variant[i], (enum measure)m);
		for (size_t i = 0; with >= 2 && i < s->variants; i++)
			if (has(&s->variant[i], (enum measure)m))
				fill(s, &s->variant[i], (enum measure)m);
	}
	for (size_t i = 0; i < s->n; i++)
		if (s->unit[i].bad)
			return -ENOMEM;
	return 0;
}

/* The larger of the meters' uncertainties, where nobody gave one. */
static void meter(struct ww_compare_options *o, const struct ww_runs *const *runs, size_t n)
{
	double offset = 0, gain = 0;

	for (size_t i = 0; i < n; i++) {
		const struct ww_runs_meter *m = ww_runs_meter(runs[i]);

		offset = m && m->offset_u > offset ? m->offset_u : offset;
		gain = m && m->gain_u > gain ? m->gain_u : gain;
	}
	o->offset_u = o->offset_u > 0 ? o->offset_u : offset;
	o->gain_u = o->gain_u > 0 ? o->gain_u : gain;
}

int ww_compare_runs(const struct ww_runs *const *runs, const char *const *name, size_t n,
		    const struct ww_compare_options *opt, struct ww_compare **out,
		    struct ww_error *err)
{
	struct ww_compare_options o = {.size = sizeof(o)};
	struct sets s = {0};
	int rc = WW_OPT_CHECK(opt, err);

	if (rc < 0)
		return rc;
	if (opt)
		memcpy(&o, opt, opt->size < sizeof(o) ? opt->size : sizeof(o));
	o.size = sizeof(o);
	meter(&o, runs, n);
	rc = collect(&s, runs, name, n);
	if (rc < 0)
		ww_fail_nomem(err);
	if (rc == 0 && s.variants < 2)
		rc = ww_fail(
			err, -EINVAL,
			"%s: runs of one command only: nothing to compare; record the other with "
			"--interleave, or name a second trace",
			n && name && name[0] ? name[0] : "trace");
	if (rc == 0 && s.n == 0)
		rc = ww_fail(err, -ENODATA, "no two variants have a run that went well");
	if (rc == 0)
		rc = ww_compare_new(s.set, s.n, &o, out, err);
	sets_free(&s);
	return rc;
}
