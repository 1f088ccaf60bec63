/* SPDX-License-Identifier: MIT */
/* How long it lasts, as text and JSON. */
#include "analysis/runtime.h"
#include "report/format.h"

#include <math.h>

/* Minutes below 100, hours and whole minutes beyond. */
static void put_whole(struct ww_str *s, double minutes)
{
	if (minutes >= 100)
		ww_put_span(s, 60 * floor(minutes + 0.5));
	else
		ww_str_addf(s, "%d min", (int)floor(minutes + 0.5));
}

/* "48.0 ± 2.1 min", "1 h 41 min ± 12 min" */
static void put_minutes(struct ww_str *s, struct ww_quantity q)
{
	if (isnan(q.value))
		return;
	if (q.value < 100) {
		ww_put_quantity(s, q, "min", q.value < 10 ? 1 : 0);
		return;
	}
	put_whole(s, q.value);
	if (q.u > 0 && isfinite(q.u)) {
		ww_str_add(s, " \xc2\xb1 ");
		put_whole(s, fmax(2 * q.u, 1));
	}
}

/* "41-63 min", "5.1-7.8 h" */
static void put_bounds(struct ww_str *s, const double b[2])
{
	double unit = b[1] < 180 ? 1 : 60;

	if (isnan(b[0]) || isnan(b[1]))
		return;
	ww_str_fixed(s, b[0] / unit, unit > 1 || b[1] < 10);
	ww_str_add(s, "-");
	ww_str_fixed(s, b[1] / unit, unit > 1 || b[1] < 10);
	ww_str_add(s, unit > 1 ? " h" : " min");
}

static void put_load(struct ww_str *s, const struct ww_runtime *r)
{
	ww_str_add(s, "load ");
	ww_put_quantity(s, r->watts, "W", ww_plain_decimals(r->watts.value) - 2);
	if (!isnan(r->va.value)) {
		ww_str_add(s, isnan(r->watts.value) ? "" : ", ");
		ww_put_quantity(s, r->va, "VA", ww_plain_decimals(r->va.value) - 2);
	}
	if (r->peak_W > 0) {
		ww_str_add(s, ", peak ");
		ww_put_quantity(s, (struct ww_quantity){r->peak_W, NAN}, "W", 1);
	}
	ww_str_add(s, "\n");
}

static void table_row(struct ww_grid *g, const struct ww_runtime_case *c)
{
	struct ww_str *cell = ww_grid_row(g);

	if (!cell)
		return;
	ww_str_add(&cell[0], *c->model ? c->model : "measured");
	put_minutes(&cell[1], c->minutes);
	put_bounds(&cell[2], c->bounds_min);
	if (isfinite(c->exponent))
		ww_str_fixed(&cell[3], c->exponent, 2);
	if (isfinite(c->heaviest)) {
		ww_str_fixed(&cell[4], c->heaviest, c->heaviest < 100 ? 1 : 0);
		ww_str_addf(&cell[4], " %s", c->unit);
	}
	ww_str_add(&cell[5], *c->why ? c->why : c->extrapolated ? "extrapolated" : "");
}

static bool from_curve(const struct ww_runtime_case *c)
{
	return c->method == WW_RUNTIME_TABLE || (c->method == WW_RUNTIME_MEASURED && c->points > 1);
}

static void curves(struct ww_str *s, const struct ww_runtime *r)
{
	struct ww_grid g = {.columns = 6, .left = 1 | 1 << 5};
	struct ww_str want = {0};
	bool some;

	if (r->wanted_h > 0)
		ww_put_span(&want, 3600 * r->wanted_h);
	s->bad = s->bad || want.bad;
	ww_grid_head(&g, (const char *const[]){"model", "runtime", "between", "n",
					       want.p ? want.p : "", ""});
	for (size_t i = 0; i < r->rows; i++)
		if (from_curve(&r->row[i]))
			table_row(&g, &r->row[i]);
	if (g.rows > 1)
		ww_str_add(s, "\n");
	some = g.rows > 1;
	ww_grid_print(s, &g);
	if (some)
		ww_str_add(s, "n: around this load the runtime goes as 1/P^n\n");
	ww_str_free(&want);
}

static void line(struct ww_grid *g, const char *name, struct ww_str **cell)
{
	struct ww_str *row = ww_grid_row(g);

	*cell = row ? &row[1] : NULL;
	if (row)
		ww_str_add(&row[0], name);
}

static void loss(struct ww_str *s, const struct ww_runtime_case *c)
{
	ww_put_quantity(s, c->battery_W, "W", 1);
	ww_str_add(s, " = ");
	ww_put_quantity(s, c->own_W, "W", 0);
	ww_str_add(s, " + load / ");
	ww_put_quantity(s, c->efficiency, "", 3);
}

static void battery(struct ww_str *s, const struct ww_runtime *r, const struct ww_runtime_case *c)
{
	struct ww_grid g = {.columns = 2, .left = 3};
	struct ww_str *cell;

	ww_grid_head(&g, (const char *const[]){"", ""});
	line(&g, "runtime", &cell);
	if (cell) {
		if (*c->why)
			ww_str_addf(cell, "not known: %s", c->why);
		else
			put_minutes(cell, c->minutes);
	}
	if (!isnan(c->bounds_min[0])) {
		line(&g, "between", &cell);
		if (cell)
			put_bounds(cell, c->bounds_min);
	}
	if (!isnan(c->battery_W.value)) {
		line(&g, "from the battery", &cell);
		if (cell)
			loss(cell, c);
		line(&g, "its current", &cell);
		if (cell)
			ww_put_quantity(cell, c->battery_A, "A", 2);
		line(&g, "delivered", &cell);
		if (cell) {
			ww_put_quantity(cell, c->delivered_Wh, "Wh", 1);
			ww_str_add(cell, ", ");
			ww_str_fixed(cell, 100 * c->nameplate, 0);
			ww_str_add(cell, " % of volts times amp-hours");
		}
	}
	if (isfinite(c->heaviest)) {
		line(&g, "heaviest load", &cell);
		if (cell) {
			if (c->heaviest > 0)
				ww_str_fixed(cell, c->heaviest, c->heaviest < 10 ? 2 : 1);
			ww_str_add(cell, c->heaviest > 0 ? " W for " : "none lasts ");
			ww_put_span(cell, 3600 * r->wanted_h);
		}
	}
	/* The head is empty: only what stands below it is printed. */
	ww_str_add(s, "\n");
	for (size_t i = 1; i < g.rows; i++) {
		struct ww_str text = {0};

		ww_str_addf(&text, "%-18s", g.cell[2 * i].p ? g.cell[2 * i].p : "");
		ww_str_add(&text, g.cell[2 * i + 1].p ? g.cell[2 * i + 1].p : "");
		ww_put_wrapped(s, text.p ? text.p : "", 18, 80);
		s->bad = s->bad || text.bad;
		ww_str_free(&text);
	}
	ww_grid_free(&g);
	s->bad = s->bad || g.bad;
}

static void need(struct ww_str *s, const struct ww_runtime_need *n)
{
	struct ww_str t = {0};

	ww_str_add(s, "\n");
	ww_str_add(&t, "for ");
	ww_put_span(&t, 3600 * n->hours.value);
	ww_str_add(&t, ": ");
	ww_put_quantity(&t, n->energy_Wh, "Wh", 0);
	ww_str_add(&t, ", ");
	ww_str_fixed(&t, n->ideal_Ah, n->ideal_Ah < 10 ? 2 : n->ideal_Ah < 100 ? 1 : 0);
	ww_str_add(&t, " Ah at ");
	ww_str_fixed(&t, n->volts, n->volts != floor(n->volts));
	ww_str_add(&t, " V without any loss; it takes ");
	ww_put_quantity(&t, n->Ah, "Ah", n->Ah.value < 10 ? 2 : n->Ah.value < 100 ? 1 : 0);
	if (n->strings)
		ww_str_addf(&t, ", %llu of these in parallel", (unsigned long long)n->strings);
	s->bad = s->bad || t.bad;
	ww_put_wrapped(s, t.p ? t.p : "", 2, 80);
	ww_str_free(&t);
}

static void budget(struct ww_str *s, const struct ww_budget *b, const char *what, const char *unit)
{
	struct ww_str t = {0};

	if (b->n < 2)
		return;
	ww_str_addf(&t, "%s: ", what);
	for (size_t k = 0; k < b->n && b->part[k].u > b->part[0].u / 100; k++) {
		ww_str_addf(&t, "%s%s ", k ? ", " : "", b->part[k].name);
		ww_str_fixed(&t, 2 * b->part[k].u, ww_decimals_for(2 * b->part[k].u, 2));
		ww_str_addf(&t, " %s", unit);
	}
	s->bad = s->bad || t.bad;
	ww_put_wrapped(s, t.p ? t.p : "", 2, 80);
	ww_str_free(&t);
}

static void text_report(struct ww_str *s, const struct ww_runtime *r)
{
	put_load(s, r);
	curves(s, r);
	for (size_t i = 0; i < r->rows; i++)
		if (!from_curve(&r->row[i]))
			battery(s, r, &r->row[i]);
	if (r->has_need)
		need(s, &r->need);
	ww_str_add(s, "\n");
	for (size_t i = 0; i < r->rows && r->rows <= 2; i++) {
		struct ww_str what = {0};

		ww_str_add(&what, "uncertainty of the runtime");
		if (*r->row[i].model && r->rows > 1)
			ww_str_addf(&what, " of %s", r->row[i].model);
		s->bad = s->bad || what.bad;
		budget(s, &r->budget[i], what.p ? what.p : "", "min");
		ww_str_free(&what);
	}
	if (r->has_need)
		budget(s, &r->need_budget, "uncertainty of what it takes", "Ah");
	ww_put_legend(s);
	ww_put_notes(s, &r->notes);
}

static void json_budget(struct ww_json *j, const struct ww_budget *b, const char *unit)
{
	ww_json_open(j, "budget", '[');
	for (size_t k = 0; k < b->n; k++) {
		ww_json_open(j, NULL, '{');
		ww_json_text(j, "input", b->part[k].name);
		ww_json_fixed(j, unit, b->part[k].u, ww_decimals_for(b->part[k].u, 6) + 2);
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
}

static void json_maybe(struct ww_json *j, const char *key, struct ww_quantity q)
{
	if (isnan(q.value))
		ww_json_null(j, key);
	else
		ww_json_quantity(j, key, q, "not known");
}

static void json_case(struct ww_json *j, const struct ww_runtime *r, size_t i)
{
	static const char *const method[] = {"table", "battery", "measured"};
	static const char *const side[] = {"below", NULL, "above"};
	const struct ww_runtime_case *c = &r->row[i];

	ww_json_open(j, NULL, '{');
	ww_json_text(j, "model", *c->model ? c->model : NULL);
	ww_json_text(j, "method", method[c->method]);
	ww_json_num(j, "load", c->load);
	ww_json_text(j, "unit", c->unit);
	ww_json_quantity(j, "runtime_min", c->minutes,
			 isnan(c->minutes.value) ? c->why : "not known");
	if (*c->why)
		ww_json_text(j, "why", c->why);
	ww_json_pair(j, "bounds_min", round(100 * c->bounds_min[0]) / 100,
		     round(100 * c->bounds_min[1]) / 100);
	ww_json_text(j, "extrapolated", side[c->extrapolated + 1]);
	ww_json_num(j, "exponent", c->exponent);
	ww_json_int(j, "points", (int64_t)c->points);
	ww_json_num(j, "leave_one_out_log", c->error_log);
	ww_json_num(j, "leave_one_out_linear", c->error_linear);
	json_maybe(j, "battery_W", c->battery_W);
	json_maybe(j, "battery_A", c->battery_A);
	json_maybe(j, "own_W", c->own_W);
	json_maybe(j, "efficiency", c->efficiency);
	json_maybe(j, "delivered_Wh", c->delivered_Wh);
	ww_json_num(j, "part_of_nameplate", c->nameplate);
	ww_json_num(j, "heaviest_load", c->heaviest);
	json_budget(j, &r->budget[i], "u_min");
	ww_json_close(j, '}');
}

static void json_need(struct ww_json *j, const struct ww_runtime *r)
{
	const struct ww_runtime_need *n = &r->need;

	ww_json_open(j, "need", '{');
	ww_json_quantity(j, "hours", n->hours, "taken as exact");
	ww_json_quantity(j, "energy_Wh", n->energy_Wh, "the load has none");
	ww_json_num(j, "volts", n->volts);
	ww_json_num(j, "ideal_Ah", n->ideal_Ah);
	ww_json_quantity(j, "Ah", n->Ah, "no input has one");
	if (n->strings)
		ww_json_int(j, "strings", (int64_t)n->strings);
	else
		ww_json_null(j, "strings");
	json_budget(j, &r->need_budget, "u_Ah");
	ww_json_close(j, '}');
}

static void json_report(struct ww_str *s, const struct ww_runtime *r)
{
	struct ww_json j = {.s = s};

	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "schema", "wakewatt/runtime/1");
	json_maybe(&j, "load_W", r->watts);
	json_maybe(&j, "load_VA", r->va);
	ww_json_num(&j, "peak_W", r->peak_W > 0 ? r->peak_W : NAN);
	ww_json_open(&j, "runtimes", '[');
	for (size_t i = 0; i < r->rows; i++)
		json_case(&j, r, i);
	ww_json_close(&j, ']');
	if (isfinite(r->error_log)) {
		ww_json_open(&j, "table", '{');
		ww_json_num(&j, "leave_one_out_log", r->error_log);
		ww_json_num(&j, "leave_one_out_linear", r->error_linear);
		ww_json_close(&j, '}');
	}
	if (r->has_need)
		json_need(&j, r);
	else
		ww_json_null(&j, "need");
	ww_json_notes(&j, &r->notes);
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
}

int ww_runtime_report(const struct ww_runtime *r, int form, char **out, struct ww_error *err)
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
