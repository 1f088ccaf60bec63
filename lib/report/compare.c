/* SPDX-License-Identifier: MIT */
/* Two sets of values beside each other, as text and JSON. */
#include "analysis/compare.h"
#include "report/format.h"

#include <math.h>

#define NAME_WIDTH 24

static struct ww_compare_scale scale_of(const struct ww_comparison *r)
{
	return ww_compare_scale(r, fmax(fabs(r->mean_a.value), fabs(r->mean_b.value)));
}

static struct ww_quantity scaled(struct ww_quantity q, const struct ww_compare_scale *k)
{
	return (struct ww_quantity){q.value / k->by, q.u / k->by};
}

static void put_number(struct ww_str *s, double v, double scale)
{
	if (isfinite(v))
		ww_str_fixed(s, ww_round_for(v, scale),
			     ww_decimals_for(scale, ww_plain_decimals(v)));
}

static void put_range(struct ww_str *s, const double ci[2], double scale)
{
	if (isnan(ci[0]) || isnan(ci[1]))
		return;
	/* Open on both sides: so few runs bound nothing. */
	if (isinf(ci[0]) && isinf(ci[1]))
		return;
	put_number(s, ci[0], scale);
	ww_str_add(s, ci[0] < 0 || ci[1] < 0 ? " to " : "-");
	put_number(s, ci[1], scale);
}

/* Two digits that count; very small ones only as a bound. */
static void put_p(struct ww_str *s, double p)
{
	if (isnan(p))
		return;
	if (p < 1e-6)
		ww_str_add(s, "<0.000001");
	else
		ww_str_fixed(s, p, p < 0.1 ? ww_decimals_for(p, 2) : 2);
}

/* A name of bounded width; what is cut is shown. */
static void put_name(struct ww_str *s, const char *name)
{
	size_t width = 0, at = 0;

	while (name[at] && width < NAME_WIDTH) {
		at++;
		while (((unsigned char)name[at] & 0xc0) == 0x80)
			at++;
		width++;
	}
	if (!name[at]) {
		ww_str_add(s, name);
		return;
	}
	do {
		at--;
	} while (((unsigned char)name[at] & 0xc0) == 0x80);
	ww_str_addn(s, name, at);
	ww_str_add(s, "\xe2\x80\xa6");
}

static bool same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static bool first_of(const struct ww_compare *c, size_t i)
{
	return i == 0 || !same(c->row[i].measure, c->row[i - 1].measure);
}

static void put_measure(const struct ww_compare *c, size_t i, struct ww_str *cell)
{
	if (first_of(c, i))
		ww_str_add(cell, c->row[i].measure);
}

static void value_row(struct ww_grid *g, const char *measure, const char *name, uint64_t n,
		      uint64_t failed, struct ww_quantity mean, double sd,
		      const struct ww_compare_scale *k)
{
	struct ww_str *cell = ww_grid_row(g);

	mean = scaled(mean, k);
	sd /= k->by;
	if (!cell)
		return;
	ww_str_add(&cell[0], measure);
	put_name(&cell[1], name);
	ww_str_addf(&cell[2], "%llu", (unsigned long long)n);
	if (failed)
		ww_str_addf(&cell[3], "%llu", (unsigned long long)failed);
	ww_put_quantity(&cell[4], mean, k->unit, ww_plain_decimals(mean.value) - 2);
	if (isfinite(sd)) {
		ww_put_quantity(&cell[5], (struct ww_quantity){sd, NAN}, k->unit,
				ww_decimals_for(sd, 2));
	}
}

static void values(struct ww_str *s, const struct ww_compare *c)
{
	static const char *const head[] = {"measure", "variant", "runs",
					   "failed",  "mean",	 "from run to run"};
	struct ww_grid g = {.columns = WW_COUNTOF(head), .left = 3};

	ww_grid_head(&g, head);
	for (size_t i = 0; i < c->rows; i++) {
		const struct ww_comparison *r = &c->row[i];
		struct ww_compare_scale k = scale_of(r);

		if (first_of(c, i))
			value_row(&g, r->measure, r->a, r->n_a, r->failed_a, r->mean_a, r->sd_a,
				  &k);
		value_row(&g, "", r->b, r->n_b, r->failed_b, r->mean_b, r->sd_b, &k);
	}
	ww_str_add(s, "\n");
	ww_grid_print(s, &g);
}

/* What stands at the head of a column of ratios, in short. */
static void ratio_name(struct ww_str *s, const struct ww_compare *c)
{
	const struct ww_comparison *r = &c->row[0];

	if (c->variants == 1 && strlen(r->a) + strlen(r->b) < 12)
		ww_str_addf(s, "%s/%s", r->b, r->a);
	else
		ww_str_add(s, "ratio");
}

static void ratio_row(struct ww_grid *g, const struct ww_compare *c, size_t i)
{
	const struct ww_comparison *r = &c->row[i];
	double width = (r->ratio_ci[1] - r->ratio_ci[0]) / 4, abs;
	struct ww_str *cell = ww_grid_row(g);
	struct ww_compare_scale k = scale_of(r);

	abs = r->detectable_abs / k.by;
	if (!cell)
		return;
	put_measure(c, i, &cell[0]);
	if (c->variants > 1)
		put_name(&cell[1], r->b);
	put_number(&cell[2], r->ratio, width);
	put_range(&cell[3], r->ratio_ci, width);
	put_p(&cell[4], r->p_holm);
	put_p(&cell[5], r->pairs ? r->signed_rank_p : r->mann_whitney_p);
	if (isfinite(r->detectable)) {
		ww_str_fixed(&cell[6], 100 * r->detectable,
			     ww_decimals_for(100 * r->detectable, 2));
		ww_str_add(&cell[6], " %");
	} else {
		ww_put_quantity(&cell[6], (struct ww_quantity){abs, NAN}, k.unit,
				ww_decimals_for(abs, 2));
	}
}

static void ratios(struct ww_str *s, const struct ww_compare *c)
{
	struct ww_str name = {0}, conf = {0};
	struct ww_grid g = {.columns = 7, .left = 3};

	ratio_name(&name, c);
	ww_str_num(&conf, floor(c->conf * 1e6 + 0.5) / 1e4);
	ww_str_add(&conf, " %");
	s->bad = s->bad || name.bad || conf.bad;
	ww_grid_head(&g, (const char *const[]){"measure", "variant", name.p ? name.p : "",
					       conf.p ? conf.p : "", "p", "p ranks", "seen from"});
	for (size_t i = 0; i < c->rows; i++)
		ratio_row(&g, c, i);
	ww_str_add(s, "\n");
	ww_grid_print(s, &g);
	ww_str_free(&name);
	ww_str_free(&conf);
}

static void effect_row(struct ww_grid *g, const struct ww_compare *c, size_t i)
{
	const struct ww_comparison *r = &c->row[i];
	struct ww_compare_scale k = scale_of(r);
	struct ww_quantity d = scaled(r->difference, &k);
	double ci[2] = {r->shift_ci[0] / k.by, r->shift_ci[1] / k.by};
	struct ww_str *cell = ww_grid_row(g);

	if (!cell)
		return;
	put_measure(c, i, &cell[0]);
	if (c->variants > 1)
		put_name(&cell[1], r->b);
	ww_put_quantity(&cell[2], d, k.unit, ww_plain_decimals(d.value));
	put_number(&cell[3], r->shift / k.by, d.u);
	put_range(&cell[4], ci, d.u);
	if (isfinite(r->cliffs_delta))
		ww_str_fixed(&cell[5], r->cliffs_delta, 2);
	if (isfinite(r->cohens_d))
		ww_str_fixed(&cell[6], r->cohens_d, 2);
}

static void effects(struct ww_str *s, const struct ww_compare *c)
{
	static const char *const head[] = {"measure",  "variant", "difference", "shift (HL)",
					   "interval", "delta",	  "d"};
	struct ww_grid g = {.columns = WW_COUNTOF(head), .left = 3};

	ww_grid_head(&g, head);
	for (size_t i = 0; i < c->rows; i++)
		effect_row(&g, c, i);
	ww_str_add(s, "\n");
	ww_grid_print(s, &g);
}

static void text_report(struct ww_str *s, const struct ww_compare *c)
{
	for (size_t i = 0; i < c->rows; i++) {
		struct ww_str line = {0};

		ww_str_addf(&line, "%s: %s", c->row[i].measure, c->sentence[i]);
		s->bad = s->bad || line.bad;
		ww_put_wrapped(s, line.p ? line.p : "", 2, 80);
		ww_str_free(&line);
	}
	values(s, c);
	ratios(s, c);
	effects(s, c);
	ww_put_legend(s);
	ww_put_notes(s, &c->notes);
}

/* p from 1e-6 on with four digits that mean something; smaller ones mean nothing else. */
static void json_p(struct ww_json *j, const char *key, double p)
{
	ww_json_fixed(j, key, p, p > 0 ? ww_decimals_for(p, 2) + 2 : 2);
}

/* Two digits more than a person is shown. */
static void json_like(struct ww_json *j, const char *key, double v, double scale)
{
	ww_json_fixed(j, key, v, ww_decimals_for(scale, ww_plain_decimals(v)) + 2);
}

static void json_range(struct ww_json *j, const char *key, const double ci[2], double scale)
{
	ww_json_open(j, key, '[');
	json_like(j, NULL, ci[0], scale);
	json_like(j, NULL, ci[1], scale);
	ww_json_close(j, ']');
}

static void json_side(struct ww_json *j, const char *key, const char *name, uint64_t n,
		      uint64_t failed, struct ww_quantity mean, double sd)
{
	ww_json_open(j, key, '{');
	ww_json_text(j, "variant", name);
	ww_json_int(j, "runs", (int64_t)n);
	ww_json_int(j, "failed", (int64_t)failed);
	ww_json_quantity(j, "mean", mean, n ? "one run tells no scatter" : "no run gave a value");
	json_like(j, "sd", sd, sd);
	ww_json_close(j, '}');
}

static void json_tests(struct ww_json *j, const struct ww_comparison *r)
{
	ww_json_open(j, "signed_rank", '{');
	json_p(j, "p", r->signed_rank_p);
	ww_json_close(j, '}');
	ww_json_open(j, "mann_whitney", '{');
	ww_json_num(j, "u", r->mann_whitney_u);
	json_p(j, "p", r->mann_whitney_p);
	ww_json_close(j, '}');
	ww_json_open(j, "brunner_munzel", '{');
	json_p(j, "p", r->brunner_munzel_p);
	ww_json_close(j, '}');
	ww_json_open(j, "hodges_lehmann", '{');
	json_like(j, "shift", r->shift, r->difference.u);
	json_range(j, "ci", r->shift_ci, r->difference.u);
	ww_json_close(j, '}');
	ww_json_fixed(j, "cliffs_delta", r->cliffs_delta, 4);
	ww_json_fixed(j, "cohens_d", r->cohens_d, 4);
}

static const char *why_not(const struct ww_comparison *r)
{
	if (r->n_a == 0 || r->n_b == 0)
		return "no run gave a value";
	return r->method == WW_COMPARE_NONE ? "one run tells no scatter" : "nothing scatters";
}

static void json_row(struct ww_json *j, const struct ww_comparison *r, const char *sentence)
{
	static const char *const verdict[] = {"unknown", "less", "more", "no difference seen",
					      "below the resolution"};
	static const char *const method[] = {"none", "paired t of log ratios", "Welch's t of logs",
					     "paired t of differences", "Welch's t of differences"};

	double width = (r->ratio_ci[1] - r->ratio_ci[0]) / 4;

	ww_json_open(j, NULL, '{');
	ww_json_text(j, "measure", r->measure);
	ww_json_text(j, "unit", r->unit);
	json_side(j, "a", r->a, r->n_a, r->failed_a, r->mean_a, r->sd_a);
	json_side(j, "b", r->b, r->n_b, r->failed_b, r->mean_b, r->sd_b);
	ww_json_int(j, "pairs", (int64_t)r->pairs);
	ww_json_text(j, "method", method[r->method]);
	ww_json_text(j, "verdict", verdict[r->verdict]);
	ww_json_text(j, "sentence", sentence);
	json_like(j, "ratio", r->ratio, width);
	json_range(j, "ratio_ci", r->ratio_ci, width);
	json_like(j, "u_runs", r->u_runs, r->u_runs);
	json_like(j, "u_meter", r->u_meter, r->u_meter);
	ww_json_fixed(j, "df", r->df, 2);
	ww_json_quantity(j, "difference", r->difference, why_not(r));
	json_range(j, "difference_ci", r->difference_ci, r->difference.u);
	json_p(j, "p", r->p);
	json_p(j, "p_holm", r->p_holm);
	json_tests(j, r);
	json_like(j, "would_be_seen", r->detectable, r->detectable);
	json_like(j, "would_be_seen_abs", r->detectable_abs, r->detectable_abs);
	ww_json_fixed(j, "runs_to_see_half", r->needed, 0);
	ww_json_close(j, '}');
}

static void json_report(struct ww_str *s, const struct ww_compare *c)
{
	struct ww_json j = {.s = s};

	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "schema", "wakewatt/compare/1");
	ww_json_num(&j, "confidence", c->conf);
	ww_json_num(&j, "power", c->power);
	ww_json_open(&j, "comparisons", '[');
	for (size_t i = 0; i < c->rows; i++)
		json_row(&j, &c->row[i], c->sentence[i]);
	ww_json_close(&j, ']');
	ww_json_notes(&j, &c->notes);
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
}

int ww_compare_report(const struct ww_compare *c, int form, char **out, struct ww_error *err)
{
	struct ww_str text = {0};

	if (form == WW_REPORT_JSON)
		json_report(&text, c);
	else if (form == WW_REPORT_TEXT)
		text_report(&text, c);
	else
		return ww_fail(err, -EINVAL, "report form %d is unknown", form);
	return ww_str_take(&text, out, err);
}
