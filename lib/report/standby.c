/* SPDX-License-Identifier: MIT */
/* ww_standby as text and as JSON (schema wakewatt/standby/1). */
#include "analysis/standby.h"
#include "report/format.h"

#include <math.h>

static const char *const procedure[] = {"edition 2, sampling method",
					"edition 2, average reading method",
					"edition 2, direct method", "edition 1",
					"15 min after log-in, mean of 5 min"};
static const char *const method[] = {"sampling", "average", "direct", "edition1", "energystar"};

/* Three digits that mean something. */
static void put3(struct ww_str *s, double v, const char *unit)
{
	int d = v != 0 && isfinite(v) ? 2 - (int)floor(log10(fabs(v))) : 0;

	ww_str_fixed(s, v, d < 0 ? 0 : d > 9 ? 9 : d);
	ww_str_addf(s, " %s", unit);
}

static void line(struct ww_str *s, const char *name)
{
	size_t n = 0;

	ww_str_add(s, name);
	for (n = strlen(name); n < 13; n++)
		ww_str_add(s, " ");
}

/* Whole seconds where they are whole. */
static void put_s(struct ww_str *s, double v)
{
	ww_str_fixed(s, v, fabs(v - round(v)) < 1e-6 ? 0 : 1);
}

static void put_result(struct ww_str *s, const struct ww_standby_result *r)
{
	line(s, "power");
	ww_put_quantity(s, r->watts, "W", ww_plain_decimals(r->watts.value));
	ww_str_add(s, isnan(r->u_accuracy) ? " (k = 2, without the meter's accuracy)\n"
					   : " (k = 2)\n");
	line(s, "");
	ww_str_add(s, "mean from ");
	put_s(s, r->from_s);
	ww_str_add(s, " s to ");
	put_s(s, r->to_s);
	ww_str_addf(s, " s, %llu readings", (unsigned long long)r->n);
	if (r->cycles)
		ww_str_addf(s, ", %llu whole cycle%s", (unsigned long long)r->cycles,
			    r->cycles == 1 ? "" : "s");
	ww_str_add(s, "\n");
	line(s, "uncertainty");
	if (isfinite(r->expanded)) {
		ww_str_add(s, "U = ");
		put3(s, r->expanded, "W (k = 2), allowed ");
		put3(s, r->expanded_limit, "W\n");
		line(s, "");
	}
	ww_str_add(s, "k = 1: noise ");
	if (isfinite(r->u_noise))
		put3(s, r->u_noise, "W");
	else
		ww_str_add(s, "unknown");
	/* What noise smooths to less than a millionth is nothing. */
	ww_str_add(s, ", resolution ");
	if (r->u_resolution > 1e-6 * fabs(r->watts.value))
		put3(s, r->u_resolution, "W, accuracy ");
	else
		ww_str_add(s, "0, accuracy ");
	if (isfinite(r->u_accuracy))
		put3(s, r->u_accuracy, "W\n");
	else
		ww_str_add(s, "unknown\n");
}

static void put_stability(struct ww_str *s, const struct ww_standby_result *r)
{
	struct ww_quantity slope = {r->slope.value * 1000, r->slope.u * 1000};

	if (isfinite(slope.value)) {
		line(s, "slope");
		ww_put_quantity(s, slope, "mW/h", 1);
		ww_str_add(s, "; limit ");
		put3(s, r->slope_limit * 1000, "mW/h\n");
	}
	if (isfinite(r->period_s)) {
		line(s, "cycles");
		put3(s, r->period_s, "s each\n");
	}
	line(s, "stability");
	ww_str_add(s, ww_standby_verdict_name(r->verdict));
	if (isfinite(r->tested_s) && r->verdict != WW_STANDBY_NO_TEST) {
		ww_str_add(s, " at ");
		put_s(s, r->tested_s);
		ww_str_add(s, " s");
	}
	ww_str_add(s, "\n");
}

static void put_limit(struct ww_str *s, const struct ww_standby_result *r)
{
	if (isnan(r->limit_watts))
		return;
	line(s, "limit");
	put3(s, r->limit_watts, "W: ");
	ww_str_add(s, r->under == 1	   ? "kept, uncertainty included\n"
		      : r->under == -1	   ? "exceeded, uncertainty included\n"
		      : isnan(r->expanded) ? "not resolved (accuracy unknown)\n"
					   : "not resolved: it lies within value \xc2\xb1 U\n");
}

static void put_clauses(struct ww_str *s, const struct ww_standby *x)
{
	static const char *const head[] = {"clause", "required", "measured", ""};
	struct ww_grid g = {.columns = 4, .left = 15};

	ww_grid_head(&g, head);
	for (size_t i = 0; i < x->clauses; i++) {
		const struct ww_clause *c = &x->clause[i];
		struct ww_str *row = ww_grid_row(&g);

		if (!row)
			break;
		ww_str_add(&row[0], c->name);
		ww_str_add(&row[1], c->requirement);
		ww_str_add(&row[2], *c->measured ? c->measured : "-");
		ww_str_addf(&row[3], "%s%s", ww_clause_state_name(c->state),
			    c->given ? " (given)" : "");
	}
	ww_str_add(s, "\n");
	ww_grid_print(s, &g);
}

static void put_verdict(struct ww_str *s, const struct ww_standby *x)
{
	size_t unseen = 0;

	for (size_t i = 0; i < x->clauses; i++)
		unseen += x->clause[i].state == WW_CLAUSE_NOT_OBSERVED;
	line(s, "verdict");
	if (x->r.standing == WW_STANDBY_NOT_SHOWN)
		ww_str_addf(s, "not shown: nothing seen broken, %zu clause%s not observed\n",
			    unseen, unseen == 1 ? "" : "s");
	else
		ww_str_addf(s, "%s\n", ww_standby_standing_name(x->r.standing));
}

static void text_report(struct ww_str *s, const struct ww_standby *x)
{
	ww_str_addf(s, "standby power, %s: %s\n", procedure[x->r.procedure], x->series.name);
	ww_put_start(s, &x->wall);
	if (*x->model || *x->driver)
		ww_str_addf(s, "meter %s%s%s%s%s\n", *x->model ? x->model : x->driver,
			    *x->serial ? ", serial " : "", x->serial,
			    *x->firmware ? ", firmware " : "", x->firmware);
	ww_str_add(s, "\n");
	put_result(s, &x->r);
	put_stability(s, &x->r);
	put_limit(s, &x->r);
	put_verdict(s, x);
	put_clauses(s, x);
	ww_put_notes(s, &x->notes);
}

/* ---- JSON ---- */

static void json_budget(struct ww_json *j, const struct ww_standby_result *r)
{
	ww_json_open(j, "budget", '{');
	ww_json_num(j, "noise_W", r->u_noise);
	ww_json_num(j, "resolution_W", r->u_resolution);
	ww_json_num(j, "accuracy_W", r->u_accuracy);
	ww_json_num(j, "dof", r->dof);
	ww_json_num(j, "k", 2);
	ww_json_num(j, "U_W", r->expanded);
	ww_json_num(j, "U_limit_W", r->expanded_limit);
	ww_json_close(j, '}');
}

static void json_stability(struct ww_json *j, const struct ww_standby_result *r)
{
	ww_json_open(j, "stability", '{');
	ww_json_text(j, "verdict", ww_standby_verdict_name(r->verdict));
	ww_json_fixed(j, "tested_s", r->tested_s, 3);
	if (isfinite(r->slope.value)) {
		ww_json_quantity(j, "slope_W_per_h", r->slope, "fewer than three cycles");
		ww_json_num(j, "slope_limit_W_per_h", r->slope_limit);
		ww_json_fixed(j, "unresolved_at_s", r->lucky_s, 3);
	}
	if (isfinite(r->variation))
		ww_json_num(j, "variation", r->variation);
	ww_json_close(j, '}');
	if (isfinite(r->period_s)) {
		ww_json_open(j, "cycle", '{');
		ww_json_num(j, "period_s", r->period_s);
		ww_json_int(j, "whole", (int64_t)r->cycles);
		ww_json_close(j, '}');
	} else {
		ww_json_null(j, "cycle");
	}
}

static void json_surroundings(struct ww_json *j, const struct ww_standby *x)
{
	const struct ww_standby_result *r = &x->r;

	ww_json_num(j, "crest", r->crest);
	ww_json_num(j, "power_factor", r->power_factor);
	ww_json_num(j, "mcr", r->mcr);
	ww_json_open(j, "supply", '{');
	ww_json_num(j, "volts", r->volts);
	ww_json_num(j, "hz", r->hz);
	ww_json_num(j, "thd", r->thd);
	ww_json_num(j, "crest", r->volts_crest);
	ww_json_close(j, '}');
	if (x->opt.ambient_degC != 0)
		ww_json_num(j, "ambient_degC", x->opt.ambient_degC);
	else
		ww_json_null(j, "ambient_degC");
	ww_json_open(j, "meter", '{');
	ww_json_text(j, "uri", x->uri);
	ww_json_text(j, "driver", x->driver);
	ww_json_text(j, "model", x->model);
	ww_json_text(j, "serial", x->serial);
	ww_json_text(j, "firmware", x->firmware);
	ww_json_num(j, "resolution_W",
		    x->series.resolution > 0 ? x->series.resolution : (double)NAN);
	ww_json_num(j, "accuracy_W", x->acc_abs);
	ww_json_num(j, "accuracy_part", x->acc_rel);
	ww_json_num(j, "period_s", x->series.period_s);
	ww_json_text(j, "semantics", ww_semantics_name(x->series.semantics));
	ww_json_close(j, '}');
	ww_json_open(j, "dut", '{');
	for (size_t i = 0; i < x->duts; i++)
		ww_json_text(j, x->dut[2 * i], x->dut[2 * i + 1]);
	ww_json_close(j, '}');
}

static void json_clauses(struct ww_json *j, const struct ww_standby *x)
{
	ww_json_open(j, "clauses", '[');
	for (size_t i = 0; i < x->clauses; i++) {
		const struct ww_clause *c = &x->clause[i];

		ww_json_open(j, NULL, '{');
		ww_json_text(j, "name", c->name);
		ww_json_text(j, "required", c->requirement);
		ww_json_text(j, "measured", *c->measured ? c->measured : NULL);
		ww_json_text(j, "state", ww_clause_state_name(c->state));
		ww_json_bool(j, "given", c->given != 0);
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
}

static void json_report(struct ww_str *s, const struct ww_standby *x)
{
	static const char *const under[] = {"exceeded", "not resolved", "kept"};
	const struct ww_standby_result *r = &x->r;
	struct ww_json j = {.s = s};

	ww_json_open(&j, NULL, '{');
	ww_json_head(&j, "wakewatt/standby/1", &x->wall);
	ww_json_text(&j, "channel", x->series.name);
	ww_json_text(&j, "procedure", method[r->procedure]);
	ww_json_quantity(&j, "watts", r->watts, "see the notes");
	json_budget(&j, r);
	ww_json_fixed(&j, "begin_s", r->begin_s, 3);
	ww_json_open(&j, "window_s", '[');
	ww_json_fixed(&j, NULL, r->from_s, 3);
	ww_json_fixed(&j, NULL, r->to_s, 3);
	ww_json_close(&j, ']');
	ww_json_int(&j, "n", (int64_t)r->n);
	ww_json_fixed(&j, "interval_s", r->interval_s, 6);
	ww_json_int(&j, "gaps", (int64_t)r->gaps);
	ww_json_fixed(&j, "coverage", r->coverage, 6);
	json_stability(&j, r);
	if (isfinite(r->limit_watts)) {
		ww_json_open(&j, "limit", '{');
		ww_json_num(&j, "watts", r->limit_watts);
		ww_json_text(&j, "verdict", under[r->under + 1]);
		ww_json_close(&j, '}');
	}
	json_surroundings(&j, x);
	json_clauses(&j, x);
	ww_json_text(&j, "standing", ww_standby_standing_name(r->standing));
	ww_json_open(&j, "data", '{');
	ww_json_text(&j, "program", *x->program ? x->program : NULL);
	ww_json_text(&j, "command", *x->command ? x->command : NULL);
	ww_json_int(&j, "readings", (int64_t)x->series.n);
	ww_json_int(&j, "missing", (int64_t)x->series.missing);
	ww_json_text(&j, "sha256", x->sha256);
	ww_json_text(&j, "analysed_by", "wakewatt " WW_VERSION_STRING);
	ww_json_close(&j, '}');
	ww_json_notes(&j, &x->notes);
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
}

int ww_standby_report(const struct ww_standby *s, int form, char **out, struct ww_error *err)
{
	struct ww_str text = {0};

	if (form == WW_REPORT_JSON)
		json_report(&text, s);
	else if (form == WW_REPORT_TEXT)
		text_report(&text, s);
	else
		return ww_fail(err, -EINVAL, "report form %d is unknown", form);
	return ww_str_take(&text, out, err);
}
