/* SPDX-License-Identifier: MIT */
/* Runs of a command as tables for people and as JSON (schema wakewatt/run/1). */
#include "analysis/runs.h"
#include "report/format.h"

#include <math.h>
#include <stdio.h>

/* ---- quantities with the prefix that makes them readable ---- */

static const struct {
	double by;
	const char *text;
} prefix[] = {{1e12, "T"}, {1e9, "G"},	       {1e6, "M"},  {1e3, "k"},	  {1, ""},
	      {1e-3, "m"}, {1e-6, "\xc2\xb5"}, {1e-9, "n"}, {1e-12, "p"}, {1e-15, "f"}};

/* The largest one that leaves at least 1 before the point. */
static size_t prefix_for(double v)
{
	size_t i = 0;

	while (i + 1 < WW_COUNTOF(prefix) && !(fabs(v) >= 0.9995 * prefix[i].by))
		i++;
	return fabs(v) > 0 ? i : 4;
}

static void put_scaled(struct ww_str *s, struct ww_quantity q, const char *unit, const char *per)
{
	/* 0.995 of the next prefix is printed as 1000 of this one. */
	size_t p = prefix_for(fmax(fabs(q.value), isnan(q.u) ? 0 : 2 * q.u * 0.9995 / 0.995));
	char full[96];

	if (isnan(q.value))
		return;
	snprintf(full, sizeof(full), "%s%s%s%s", prefix[p].text, unit, *per ? "/" : "", per);
	q.value /= prefix[p].by;
	q.u /= prefix[p].by;
	ww_put_quantity(s, q, full, q.u == 0 ? ww_plain_decimals(q.value) : 3);
}

/* Work: bytes have prefixes, frames have none. */
static void put_work(struct ww_str *s, struct ww_quantity q, const char *unit)
{
	size_t p = prefix_for(q.value), least = strcmp(unit, "B") == 0 ? 0 : 4;

	if (isnan(q.value))
		return;
	if (p < least || p > 4)
		p = 4;
	/* No more than six digits of an amount that is exact. */
	q.value /= prefix[p].by;
	q.u /= prefix[p].by;
	ww_str_fixed(s, q.value,
		     q.value >= floor(q.value) && q.value <= floor(q.value) ? 0
		     : ww_plain_decimals(q.value) > 3			    ? 3
						      : ww_plain_decimals(q.value));
	ww_str_addf(s, "%s%s%s", *unit || *prefix[p].text ? " " : "", prefix[p].text, unit);
}

/* Seconds stay seconds, so that a column can be compared by eye. */
static void put_time(struct ww_str *s, struct ww_quantity q)
{
	if (q.value < 0.1)
		put_scaled(s, q, "s", "");
	else
		ww_put_quantity(s, q, "s", 3);
}

/* ---- text ---- */

static void put_exit(struct ww_str *s, const struct ww_run *run)
{
	if (run->signal > 0)
		ww_str_addf(s, "signal %d", run->signal);
	else if (run->signal < 0)
		ww_str_add(s, "?");
	else
		ww_str_addf(s, "%d", run->status);
}

/* Labels too long for a table have a number there. */
static bool long_labels(const struct ww_runs *r)
{
	for (size_t k = 0; k < r->variants; k++)
		if (strlen(r->variant[k].label) > 8)
			return true;
	return false;
}

static void put_key(struct ww_str *s, const struct ww_runs *r, size_t k)
{
	if (long_labels(r))
		ww_str_addf(s, "(%zu)", k + 1);
	else
		ww_str_plain(s, r->variant[k].label);
}

static void put_peak(struct ww_str *s, const struct ww_runs *r, double peak)
{
	double step = r->meter.resolution;

	ww_put_quantity(s, (struct ww_quantity){peak, NAN}, "W",
			step > 0 ? ww_decimals_for(10 * step, 2) : 2);
}

/* A column that is 0 throughout says nothing. */
static bool all_well(const struct ww_runs *r)
{
	for (size_t i = 0; i < r->runs; i++)
		if (r->run[i].status != 0)
			return false;
	return true;
}

static void run_table(struct ww_str *s, const struct ww_runs *r)
{
	static const char *const head[] = {"run",    "variant",	       "exit", "time",
					   "energy", "above baseline", "peak"};
	struct ww_grid g = {.columns = WW_COUNTOF(head), .left = 2};
	bool well = all_well(r);

	ww_grid_head(&g, head);
	for (size_t i = 0; i < r->runs; i++) {
		const struct ww_run *run = &r->run[i];
		struct ww_str *c = ww_grid_row(&g);

		if (!c)
			break;
		ww_str_addf(&c[0], "%u%s", run->n, run->warmup ? "w" : run->used ? "" : "*");
		put_key(&c[1], r, run->variant);
		if (!well)
			put_exit(&c[2], run);
		if (!isnan(run->duration_s.value))
			ww_put_seconds(&c[3], run->duration_s.value);
		put_scaled(&c[4], run->gross_J, "J", "");
		put_scaled(&c[5], run->marginal_J, "J", "");
		put_peak(&c[6], r, run->peak_W);
	}
	ww_str_add(s, "\n");
	ww_grid_print(s, &g);
}

static void fill_means(struct ww_str *c, const struct ww_runs *r, size_t k)
{
	const struct ww_run_variant *v = &r->variant[k];

	ww_str_addf(&c[1], "%llu", (unsigned long long)v->n);
	if (v->n < v->runs)
		ww_str_addf(&c[1], " of %llu", (unsigned long long)v->runs);
	put_time(&c[2], v->duration_s);
	put_scaled(&c[3], v->gross_J, "J", "");
	put_scaled(&c[4], v->marginal_J, "J", "");
}

/* A head, and a row of each variant that `fill` fills. */
static void variant_table(struct ww_str *s, const struct ww_runs *r, const char *const *head,
			  size_t columns,
			  void (*fill)(struct ww_str *, const struct ww_runs *, size_t))
{
	struct ww_grid g = {.columns = columns, .left = 1};

	ww_grid_head(&g, head);
	for (size_t k = 0; k < r->variants; k++) {
		struct ww_str *c;

		/* How many count is told of each, the rest only where some do. */
		if (fill != fill_means && r->variant[k].n == 0)
			continue;
		c = ww_grid_row(&g);
		if (!c)
			break;
		put_key(&c[0], r, k);
		if (c[0].n == 0)
			ww_str_add(&c[0], "runs");
		fill(c, r, k);
	}
	ww_str_add(s, "\n");
	ww_grid_print(s, &g);
}

static void fill_power(struct ww_str *c, const struct ww_runs *r, size_t k)
{
	const struct ww_run_variant *v = &r->variant[k];

	ww_put_quantity(&c[1], v->mean_W, "W", 2);
	put_peak(&c[2], r, v->peak_W);
	put_work(&c[3], v->work, v->work_unit);
}

static void fill_work(struct ww_str *c, const struct ww_runs *r, size_t k)
{
	const struct ww_run_variant *v = &r->variant[k];
	const char *unit = *v->work_unit ? v->work_unit : "unit";

	put_scaled(&c[1], v->time_per, "s", unit);
	put_scaled(&c[2], v->gross_per, "J", unit);
	put_scaled(&c[3], v->marginal_per, "J", unit);
}

static void summaries(struct ww_str *s, const struct ww_runs *r)
{
	static const char *const means[] = {"mean of", "n", "time", "energy", "above baseline"};
	static const char *const power[] = {"mean of", "power", "peak", "work"};
	static const char *const work[] = {"per unit", "time", "energy", "above baseline"};
	bool any = false, counts = false;

	for (size_t k = 0; k < r->variants; k++) {
		any = any || !isnan(r->variant[k].work.value);
		counts = counts || r->variant[k].n;
	}
	variant_table(s, r, means, WW_COUNTOF(means), fill_means);
	if (counts)
		variant_table(s, r, power, WW_COUNTOF(power), fill_power);
	if (any)
		variant_table(s, r, work, WW_COUNTOF(work), fill_work);
}

static void put_commands(struct ww_str *s, const struct ww_runs *r)
{
	for (size_t k = 0; k < r->variants; k++) {
		const struct ww_run_variant *v = &r->variant[k];
		struct ww_str line = {0};

		put_key(&line, r, k);
		if (long_labels(r))
			ww_str_add(&line, " ");
		if (long_labels(r))
			ww_str_plain(&line, v->label);
		ww_str_add(&line, *v->label ? ": " : "command ");
		ww_str_plain(&line, v->command);
		s->bad = s->bad || line.bad;
		if (!line.bad)
			ww_put_wrapped(s, line.p, 4, 80);
		ww_str_free(&line);
	}
}

static void put_whys(struct ww_str *s, const struct ww_runs *r)
{
	for (size_t i = 0; i < r->runs; i++) {
		const struct ww_run *run = &r->run[i];
		struct ww_str line = {0};

		if (!*run->why)
			continue;
		ww_str_addf(&line, "run %u: %s", run->n, run->why);
		s->bad = s->bad || line.bad;
		if (!line.bad)
			ww_put_note(s, line.p);
		ww_str_free(&line);
	}
}

static void text_report(struct ww_str *s, const struct ww_runs *r)
{
	ww_put_start(s, &r->wall);
	put_commands(s, r);
	run_table(s, r);
	summaries(s, r);
	ww_put_legend(s);
	ww_str_add(s, "\n");
	put_whys(s, r);
	for (size_t i = 0; i < r->notes.n; i++)
		ww_put_note(s, r->notes.note[i]);
}

/* ---- JSON ---- */

static double seconds(const struct ww_runs *r, int64_t t)
{
	return ((double)t - (double)r->origin_ns) / 1e9;
}

/* As ww_json_quantity, of what a byte costs: too small for a fixed number of decimals. */
static void json_small(struct ww_json *j, const char *key, struct ww_quantity q, const char *why)
{
	ww_json_open(j, key, '{');
	ww_json_num(j, "value", q.value);
	ww_json_num(j, "u", q.u);
	if (isnan(q.value) || isnan(q.u))
		ww_json_text(j, "why", why);
	ww_json_close(j, '}');
}

static void json_work(struct ww_json *j, struct ww_quantity work, const char *unit,
		      struct ww_quantity gross, struct ww_quantity marginal,
		      struct ww_quantity time, const char *why)
{
	if (isnan(work.value)) {
		ww_json_null(j, "work");
		if (*why)
			ww_json_text(j, "work_why", why);
		return;
	}
	ww_json_open(j, "work", '{');
	ww_json_num(j, "value", work.value);
	ww_json_num(j, "u", work.u);
	ww_json_text(j, "unit", *unit ? unit : "1");
	ww_json_close(j, '}');
	json_small(j, "energy_J_per_unit", gross, "no energy");
	json_small(j, "above_baseline_J_per_unit", marginal, "no baseline");
	json_small(j, "time_s_per_unit", time, "no duration");
}

static void json_run(struct ww_json *j, const struct ww_runs *r, const struct ww_run *run)
{
	bool ended = ww_iv_ok(run->end);

	ww_json_open(j, NULL, '{');
	ww_json_int(j, "run", run->n);
	ww_json_int(j, "round", run->round);
	ww_json_text(j, "variant", run->label);
	ww_json_text(j, "command", run->command);
	ww_json_int(j, "repeat", run->repeat);
	ww_json_bool(j, "warmup", run->warmup != 0);
	ww_json_bool(j, "used", run->used != 0);
	if (run->status >= 0)
		ww_json_int(j, "exit", run->status);
	else
		ww_json_null(j, "exit");
	if (run->signal > 0)
		ww_json_int(j, "signal", run->signal);
	ww_json_pair(j, "start_s", seconds(r, run->start.lo_ns), seconds(r, run->start.hi_ns));
	ww_json_pair(j, "end_s", ended ? seconds(r, run->end.lo_ns) : (double)NAN,
		     ended ? seconds(r, run->end.hi_ns) : (double)NAN);
	ww_json_quantity(j, "duration_s", run->duration_s, run->why);
	ww_json_num(j, "cpu_s", run->cpu_s);
	ww_json_quantity(j, "energy_J", run->gross_J, run->why);
	ww_json_quantity(j, "above_baseline_J", run->marginal_J,
			 *run->why ? run->why : "no baseline");
	ww_json_quantity(j, "mean_W", run->mean_W, run->why);
	ww_json_num(j, "peak_W", run->peak_W);
	ww_json_quantity(j, "baseline_before_W", run->before_W, "no baseline");
	ww_json_quantity(j, "baseline_after_W", run->after_W, "no baseline");
	ww_json_num(j, "coverage", run->coverage);
	ww_json_num(j, "edges_J", run->edges_J);
	json_work(j, run->work, run->work_unit, run->gross_per, run->marginal_per, run->time_per,
		  run->work_why);
	ww_json_text(j, "why", *run->why ? run->why : NULL);
	ww_json_close(j, '}');
}

static void json_variant(struct ww_json *j, const struct ww_run_variant *v)
{
	ww_json_open(j, NULL, '{');
	ww_json_text(j, "variant", v->label);
	ww_json_text(j, "command", v->command);
	ww_json_int(j, "runs", (int64_t)v->runs);
	ww_json_int(j, "n", (int64_t)v->n);
	ww_json_int(j, "failed", (int64_t)v->failed);
	ww_json_int(j, "no_energy", (int64_t)v->no_energy);
	ww_json_quantity(j, "duration_s", v->duration_s, "no run counts");
	ww_json_num(j, "duration_sd_s", v->duration_sd);
	ww_json_quantity(j, "energy_J", v->gross_J, "no run counts");
	ww_json_num(j, "energy_sd_J", v->gross_sd);
	ww_json_quantity(j, "above_baseline_J", v->marginal_J, "no baseline");
	ww_json_num(j, "above_baseline_sd_J", v->marginal_sd);
	ww_json_quantity(j, "mean_W", v->mean_W, "no run counts");
	ww_json_num(j, "peak_W", v->peak_W);
	json_work(j, v->work, v->work_unit, v->gross_per, v->marginal_per, v->time_per, "");
	ww_json_close(j, '}');
}

static void json_report(struct ww_str *s, const struct ww_runs *r)
{
	const struct ww_runs_meter *m = &r->meter;
	struct ww_json j = {.s = s};

	ww_json_open(&j, NULL, '{');
	ww_json_head(&j, "wakewatt/run/1", &r->wall);
	ww_json_open(&j, "meter", '{');
	ww_json_text(&j, "channel", m->channel);
	if (ww_semantics_name(m->semantics))
		ww_json_text(&j, "semantics", ww_semantics_name(m->semantics));
	ww_json_num(&j, "period_s", m->period_s);
	ww_json_num(&j, "window_s", m->window_s);
	ww_json_num(&j, "resolution_W", m->resolution);
	ww_json_num(&j, "gain_u", m->gain_u);
	ww_json_num(&j, "offset_u_W", m->offset_u);
	ww_json_close(&j, '}');
	ww_json_open(&j, "runs", '[');
	for (size_t i = 0; i < r->runs; i++)
		json_run(&j, r, &r->run[i]);
	ww_json_close(&j, ']');
	ww_json_open(&j, "variants", '[');
	for (size_t k = 0; k < r->variants; k++)
		json_variant(&j, &r->variant[k]);
	ww_json_close(&j, ']');
	ww_json_notes(&j, &r->notes);
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
}

int ww_runs_report(const struct ww_runs *r, int form, char **out, struct ww_error *err)
{
	struct ww_str text = {0};

	if (form == WW_REPORT_JSON)
		json_report(&text, r);
	else if (form == WW_REPORT_TEXT)
		text_report(&text, r);
	else
		return ww_fail(err, -EINVAL, "report form %d is unknown", form);
	return ww_str_take(&text, out, err);
}
