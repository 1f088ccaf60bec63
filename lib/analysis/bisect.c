/* SPDX-License-Identifier: MIT */
/* One build beside a known good and a known bad one. */
#include "analysis/bisect.h"
#include "analysis/cycleset.h"
#include "analysis/shift.h"
#include "base/ranks.h"
#include "base/stats.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

/* Known builds that are not told apart better than this tell nothing of a third. */
#define APART 0.05
/* Fewer cycles of a known build have no median worth the name. */
#define KNOWN_LEAST 3

struct judging {
	const struct ww_cycleset *now, *known[2]; /* good, bad; NULL none */
	const char *metric;			  /* NULL: failures */
	double threshold, part, certainty;
	struct ww_bet bet;
	uint64_t unseen;
	double *v; /* of now, those that were seen */
	size_t n;
};

static const char *const which[] = {"good", "bad"};

/* All words of `want` in `name`. */
static bool has_words(const char *name, const char *want)
{
	char word[128];
	int used;

	while (sscanf(want, "%127s%n", word, &used) == 1) {
		if (!strstr(name, word))
			return false;
		want += used;
	}
	return true;
}

/* The only name with these words in any set. NULL and *many: several, or none. */
static const char *by_words(const struct judging *k, const char *want, bool *many)
{
	const struct ww_cycleset *set[] = {k->now, k->known[0], k->known[1]};
	const char *found = NULL;

	*many = false;
	for (size_t i = 0; i < WW_COUNTOF(set); i++)
		for (size_t j = 0; set[i] && j < set[i]->metrics; j++) {
			const char *name = set[i]->metric[j].name;

			if (!has_words(name, want))
				continue;
			*many |= found && strcmp(found, name) != 0;
			found = name;
		}
	return *many ? NULL : found;
}

static bool anywhere(const struct judging *k, const char *name)
{
	return ww_cycleset_find(k->now, name) ||
	       (k->known[0] && ww_cycleset_find(k->known[0], name)) ||
	       (k->known[1] && ww_cycleset_find(k->known[1], name));
}

static int pick(struct judging *k, const char *want, struct ww_error *err)
{
	static const char *const usual[] = {"resume_to_user", "kernel resume"};
	bool many;

	for (size_t i = 0; !want && i < WW_COUNTOF(usual); i++)
		if (anywhere(k, usual[i]))
			want = usual[i];
	if (!want || strcmp(want, "failures") == 0)
		return 0;
	k->metric = anywhere(k, want) ? want : by_words(k, want, &many);
	if (k->metric)
		return 0;
	return ww_fail(err, -EINVAL,
		       many ? "'%s' fits several figures: give more of the name, as 'resumetime "
			      "compare' prints it"
			    : "no figure '%s' in any of these files; 'resumetime compare' prints "
			      "their names, beside resume_to_user, 'kernel resume', failures",
		       want);
}

static size_t values(const struct ww_cycleset *s, const char *metric, double *v)
{
	const struct ww_metric *m = ww_cycleset_find(s, metric);
	size_t n = 0;

	for (size_t i = 0; m && i < s->cycles; i++)
		if (!isnan(ww_metric_value(m, i)))
			v[n++] = ww_metric_value(m, i);
	return n;
}

static void ms(char *buf, size_t n, double v)
{
	if (isinf(v))
		snprintf(buf, n, "never");
	else
		ww_fixed_text(buf, n, v, fabs(v) < 10 ? 3 : 1);
}

static int not_apart(const struct judging *k, const double median[2], double p,
		     struct ww_error *err)
{
	char a[32], b[32], p_text[32];

	ms(a, sizeof(a), median[0]);
	ms(b, sizeof(b), median[1]);
	ww_fixed_text(p_text, sizeof(p_text), p, 3);
	if (median[1] < median[0] && p < APART)
		return ww_fail(err, -EINVAL,
			       "%s: the bad build is the faster one (%s ms, the good one %s ms): "
			       "are the two exchanged?",
			       k->metric, b, a);
	return ww_fail(err, -EINVAL,
		       "%s: the good and the bad build are not told apart (%s and %s ms, p %s): "
		       "record more cycles of both, or give a threshold",
		       k->metric, a, b, p_text);
}

static int half_way(struct judging *k, double *v[2], struct ww_error *err)
{
	struct ww_rank_test t;
	double median[2];
	size_t n[2];

	for (int i = 0; i < 2; i++) {
		n[i] = values(k->known[i], k->metric, v[i]);
		if (n[i] < KNOWN_LEAST)
			return ww_fail(err, -EINVAL,
				       "%s (%s): %zu cycles with '%s', a threshold half-way needs "
				       "%d",
				       k->known[i]->name, which[i], n[i], k->metric, KNOWN_LEAST);
	}
	if (ww_mann_whitney(v[0], n[0], v[1], n[1], &t) < 0)
		return ww_fail_nomem(err);
	for (int i = 0; i < 2; i++)
		median[i] = ww_median_low(v[i], n[i]);
	if (!(t.p < APART) || !(median[1] > median[0]))
		return not_apart(k, median, t.p, err);
	/* One that never comes back has no half-way. */
	k->threshold = isinf(median[1]) ? 2 * median[0] : (median[0] + median[1]) / 2;
	if (isinf(k->threshold))
		return ww_fail(err, -EINVAL, "%s: the good build did not come back either",
			       k->metric);
	return 0;
}

static int time_threshold(struct judging *k, struct ww_error *err)
{
	double *v[2] = {NULL, NULL};
	int rc = 0;

	if (k->threshold > 0)
		return 0;
	if (!k->known[0] || !k->known[1])
		return ww_fail(err, -EINVAL,
			       "%s: give a threshold, or cycles of a good and a bad build",
			       k->metric);
	for (int i = 0; i < 2 && rc >= 0; i++) {
		v[i] = calloc(k->known[i]->cycles + 1, sizeof(double));
		if (!v[i])
			rc = ww_fail_nomem(err);
	}
	if (rc >= 0)
		rc = half_way(k, v, err);
	free(v[0]);
	free(v[1]);
	return rc;
}

/* Which part of the cycles fails: between what the two do. */
static int failure_part(struct judging *k, double wanted, struct ww_error *err)
{
	const struct ww_cycleset *g = k->known[0], *b = k->known[1];
	double rate[2];

	k->part = wanted > 0 && wanted < 1 ? wanted : 0.5;
	if (wanted > 0 || !g || !b)
		return 0;
	for (int i = 0; i < 2; i++)
		rate[i] = ((double)k->known[i]->failures + 0.5) / ((double)k->known[i]->judged + 1);
	if (!(rate[1] > rate[0]) ||
	    !(ww_fisher(g->failures, g->judged, b->failures, b->judged) < APART))
		return ww_fail(err, -EINVAL,
			       "failures: the good and the bad build are not told apart (%llu of "
			       "%llu and %llu of %llu cycles failed): record more of both, or give "
			       "a part",
			       (unsigned long long)g->failures, (unsigned long long)g->judged,
			       (unsigned long long)b->failures, (unsigned long long)b->judged);
	k->part = (rate[0] + rate[1]) / 2;
	return 0;
}

static void one(struct judging *k, const struct ww_metric *m, size_t i)
{
	double v = m ? ww_metric_value(m, i) : NAN, half;

	if (!k->metric) {
		if (k->now->failed[i] == WW_SET_UNKNOWN)
			k->unseen++;
		else
			ww_bet_add(&k->bet,
				   k->now->failed[i] == WW_SET_FAILED ? WW_BET_SLOW : WW_BET_FAST);
		return;
	}
	if (isnan(v)) {
		k->unseen++;
		return;
	}
	half = m && isfinite(m->half[i]) ? m->half[i] : 0;
	k->v[k->n++] = v;
	if (isfinite(v) && fabs(v - k->threshold) <= half)
		ww_bet_add(&k->bet, WW_BET_EITHER);
	else
		ww_bet_add(&k->bet, v > k->threshold ? WW_BET_SLOW : WW_BET_FAST);
}

static void median(const struct judging *k, struct ww_bisect *out)
{
	size_t lo, hi;

	out->median_ms = out->ci_ms[0] = out->ci_ms[1] = NAN;
	if (k->n == 0)
		return;
	ww_quantile_ranks(k->n, 0.5, 0.95, &lo, &hi);
	out->median_ms = ww_median_low(k->v, k->n);
	qsort(k->v, k->n, sizeof(double), ww_cmp_double);
	if (lo >= 1)
		out->ci_ms[0] = k->v[lo - 1];
	if (hi <= k->n)
		out->ci_ms[1] = k->v[hi - 1];
}

/* "7 of 9 cycles slower than 512.3 ms" */
static void counted(const struct judging *k, char *text, size_t size)
{
	char t[32];

	if (!k->metric) {
		snprintf(text, size, "%llu of %llu cycles failed", (unsigned long long)k->bet.slow,
			 (unsigned long long)k->bet.n);
		return;
	}
	ms(t, sizeof(t), k->threshold);
	snprintf(text, size, "%s: %llu of %llu cycles above %s ms", k->metric,
		 (unsigned long long)k->bet.slow, (unsigned long long)k->bet.n, t);
}

static void why(const struct judging *k, struct ww_bisect *out)
{
	char seen[256], sure[32], unseen[64] = "";

	counted(k, seen, sizeof(seen));
	ww_fixed_text(sure, sizeof(sure), 100 * k->certainty, k->certainty > 0.99 ? 2 : 0);
	if (k->unseen)
		snprintf(unseen, sizeof(unseen), "; %llu more have no such time",
			 (unsigned long long)k->unseen);
	if (k->now->cycles == 0)
		snprintf(out->why, sizeof(out->why),
			 "no cycle of suspend and resume: this build did not boot, or did not "
			 "sleep");
	else if (k->bet.n == 0)
		snprintf(out->why, sizeof(out->why), "no cycle of %llu has '%s'",
			 (unsigned long long)k->now->cycles, k->metric ? k->metric : "a verdict");
	else if (k->bet.both)
		snprintf(out->why, sizeof(out->why),
			 "the cycles changed in their course, the first say the opposite of the "
			 "last: %s",
			 seen);
	else if (out->verdict != WW_BISECT_SKIP)
		snprintf(out->why, sizeof(out->why), "%s%s", seen, unseen);
	else if (out->more == UINT64_MAX)
		snprintf(out->why, sizeof(out->why),
			 "%s%s: too near to the threshold to be decided at %s %%", seen, unseen,
			 sure);
	else
		snprintf(out->why, sizeof(out->why),
			 "%s%s: not sure enough yet, about %llu cycles more for %s %%", seen,
			 unseen, (unsigned long long)out->more, sure);
}

static int judge(struct judging *k, struct ww_bisect *out, struct ww_error *err)
{
	const struct ww_metric *m = k->metric ? ww_cycleset_find(k->now, k->metric) : NULL;

	k->v = calloc(k->now->cycles + 1, sizeof(double));
	if (!k->v)
		return ww_fail_nomem(err);
	ww_bet_begin(&k->bet, k->part, k->certainty);
	for (size_t i = 0; i < k->now->cycles; i++)
		one(k, m, i);
	out->verdict = k->bet.both ? WW_BISECT_SKIP : k->bet.verdict;
	out->probability = k->bet.both ? 0 : -expm1(-k->bet.log_most);
	out->cycles = k->bet.n;
	out->more = ww_bet_more_cycles(&k->bet);
	out->threshold_ms = k->metric ? k->threshold : NAN;
	out->failure_rate = k->metric ? NAN : k->part;
	median(k, out);
	why(k, out);
	free(k->v);
	return 0;
}

int ww_bisect_judge(const struct ww_cycleset *now, const struct ww_cycleset *good,
		    const struct ww_cycleset *bad, const struct ww_bisect_options *opt,
		    struct ww_bisect *out, struct ww_error *err)
{
	struct judging k = {.now = now, .known = {good, bad}, .part = 0.5};
	int rc = WW_OPT_CHECK(opt, err);

	*out = (struct ww_bisect){.verdict = WW_BISECT_SKIP};
	if (rc < 0)
		return rc;
	k.threshold = WW_OPT(opt, threshold_ms, 0);
	k.certainty = WW_OPT(opt, certainty, 0);
	if (k.certainty == 0)
		k.certainty = 0.99;
	if (!(k.certainty >= 0.5 && k.certainty < 1))
		return ww_fail(err, -EINVAL, "a certainty lies between 50 %% and less than 100 %%");
	rc = pick(&k, WW_OPT(opt, metric, NULL), err);
	if (rc >= 0)
		rc = k.metric ? time_threshold(&k, err)
			      : failure_part(&k, WW_OPT(opt, failure_rate, 0), err);
	return rc < 0 ? rc : judge(&k, out, err);
}
