/* SPDX-License-Identifier: MIT */
/* ww_stat as a table for people and as JSON (schema wakewatt/stat/1). */
#include "analysis/stat.h"
#include "report/format.h"

#include <math.h>
#include <stdio.h>

/* Two tables that each fit a terminal of 80: over time, and energy. */
enum { NAME, MEAN, MIN, MAX, VALUES, TIME, COVERAGE, GAPS, COLUMNS };
enum { JOULES = 1, WATT_HOURS, REGISTER, Z };

static bool whole(double v)
{
	return fabs(v - round(v)) <= 1e-6 * fmax(1, fabs(v));
}

/*
 * Decimals that show a step (1 for 0.1 and 0.5, 2 for 0.25, 0 for 1 and 10), and a
 * reading that is finer than its meter said it could be.
 */
static int step_decimals(double step, double v)
{
	int d = 0;

	if (!(step > 0))
		return ww_plain_decimals(v);
	while (d < 9 && !(whole(step) && step > 0.5) && fabs(v) < 1e15) {
		step *= 10;
		v *= 10;
		d++;
	}
	for (int most = ww_plain_decimals(v / pow(10, d)); d < most && !whole(v); d++)
		v *= 10;
	return d;
}

/* The least and the greatest value are shown alike. */
static int range_decimals(const struct ww_channel_stat *c)
{
	int a = step_decimals(c->resolution, c->min), b = step_decimals(c->resolution, c->max);

	return a > b ? a : b;
}

static void fill_row(struct ww_str *cell, const struct ww_channel_stat *c,
		     const struct ww_stat_extra *extra)
{
	ww_str_add(&cell[NAME], c->name);
	ww_put_quantity(&cell[MEAN], c->mean, c->unit, ww_plain_decimals(c->mean.value));
	if (!isnan(c->min)) {
		ww_str_fixed(&cell[MIN], c->min, range_decimals(c));
		ww_str_fixed(&cell[MAX], c->max, range_decimals(c));
	}
	ww_str_addf(&cell[VALUES], "%llu", (unsigned long long)c->n);
	if (c->missing)
		ww_str_addf(&cell[VALUES], " (+%llu missing)", (unsigned long long)c->missing);
	if (c->n == 0 && c->duration_s == 0)
		return;
	ww_put_seconds(&cell[TIME], c->duration_s);
	if (extra->counter)
		return;
	ww_put_percent(&cell[COVERAGE], c->coverage);
	ww_str_addf(&cell[GAPS], "%llu", (unsigned long long)c->gaps);
	if (c->gaps) {
		ww_str_add(&cell[GAPS], " (");
		ww_put_seconds(&cell[GAPS], c->gap_s);
		ww_str_add(&cell[GAPS], ")");
	}
}

/* What a register counted beside its reset, or beside turns that nobody saw, is not all. */
static void put_counted(struct ww_str *s, struct ww_quantity q, const char *unit,
			const struct ww_stat_extra *extra)
{
	bool part = *extra->lost && isnan(q.u) && !isnan(q.value);

	ww_str_add(s, part ? "\xe2\x89\xa5 " : "");
	ww_put_quantity(s, q, unit, part && q.value == 0 ? 0 : ww_plain_decimals(q.value));
}

static void fill_energy(struct ww_str *cell, const struct ww_channel_stat *c,
			const struct ww_stat_extra *extra)
{
	struct ww_quantity wh = {c->energy_J.value / 3600, c->energy_J.u / 3600};
	struct ww_quantity own = {c->register_J.value / 3600, c->register_J.u / 3600};

	ww_str_add(&cell[NAME], c->name);
	put_counted(&cell[JOULES], c->energy_J, "J", extra);
	put_counted(&cell[WATT_HOURS], wh, "Wh", extra);
	put_counted(&cell[REGISTER], own, "Wh", extra);
	if (!isnan(c->register_z))
		ww_str_fixed(&cell[Z], c->register_z, 1);
}

static void add_table(struct ww_str *s, const struct ww_stat *st, bool energy)
{
	static const char *const head[2][COLUMNS] = {{"channel", "mean", "min", "max", "values",
						      "time", "coverage", "gaps"},
						     {"energy", "", "", "own register", "z", "", "",
						      ""}};
	struct ww_grid g = {.columns = COLUMNS, .left = 1};

	ww_grid_head(&g, head[energy]);
	for (size_t i = 0; i < st->channels; i++) {
		struct ww_str *row;

		if (energy && isnan(st->channel[i].energy_J.value))
			continue;
		row = ww_grid_row(&g);
		if (row && energy)
			fill_energy(row, &st->channel[i], &st->extra[i]);
		else if (row)
			fill_row(row, &st->channel[i], &st->extra[i]);
	}
	if (g.rows > 1)
		ww_str_add(s, "\n");
	ww_grid_print(s, &g);
}

static void text_report(struct ww_str *s, const struct ww_stat *st)
{
	bool first = true;

	ww_put_start(s, &st->wall);
	ww_str_add(s, "from ");
	ww_put_seconds(s, st->from_s);
	ww_str_add(s, " to ");
	ww_put_seconds(s, st->to_s);
	ww_str_add(s, " after the first record\n");
	add_table(s, st, false);
	add_table(s, st, true);
	ww_put_legend(s);
	for (size_t i = 0; i < st->channels; i++) {
		if (*st->channel[i].why && !st->extra[i].counter) {
			struct ww_str why = {0};

			ww_str_add(s, first ? "\n" : "");
			first = false;
			ww_str_addf(&why, "%s: %s", st->channel[i].name, st->channel[i].why);
			ww_put_note(s, why.bad ? "" : why.p);
			ww_str_free(&why);
		}
	}
	ww_str_add(s, first && st->notes.n ? "\n" : "");
	for (size_t i = 0; i < st->notes.n; i++)
		ww_put_note(s, st->notes.note[i]);
}

static void json_channel(struct ww_json *j, const struct ww_channel_stat *c,
			 const struct ww_stat_extra *extra)
{

	ww_json_open(j, NULL, '{');
	ww_json_text(j, "name", c->name);
	ww_json_text(j, "quantity", c->quantity);
	ww_json_text(j, "unit", c->unit);
	if (ww_semantics_name(c->semantics))
		ww_json_text(j, "semantics", ww_semantics_name(c->semantics));
	ww_json_int(j, "n", (int64_t)c->n);
	ww_json_int(j, "missing", (int64_t)c->missing);
	ww_json_num(j, "duration_s", c->duration_s);
	ww_json_quantity(j, "mean", c->mean,
			 extra->counter && c->n ? "a register has no mean" : c->why);
	ww_json_fixed(j, "min", c->min, range_decimals(c));
	ww_json_fixed(j, "max", c->max, range_decimals(c));
	if (c->resolution > 0)
		ww_json_num(j, "resolution", c->resolution);
	else
		ww_json_null(j, "resolution");
	if (extra->to_joules > 0)
		ww_json_quantity(j, "energy_J", c->energy_J, c->why);
	ww_json_fixed(j, "coverage", c->coverage, 6);
	ww_json_int(j, "gaps", (int64_t)c->gaps);
	ww_json_num(j, "gap_s", c->gap_s);
	if (!isnan(c->register_J.value))
		ww_json_quantity(j, "register_J", c->register_J, extra->lost);
	if (!isnan(c->register_z))
		ww_json_fixed(j, "register_z", c->register_z, 3);
	if (!isnan(c->register_J.value) || extra->counter)
		ww_json_int(j, "register_resets", (int64_t)c->register_resets);
	ww_json_bool(j, "accuracy_known", extra->accuracy_known);
	ww_json_close(j, '}');
}

static void json_report(struct ww_str *s, const struct ww_stat *st)
{
	struct ww_json j = {.s = s};

	ww_json_open(&j, NULL, '{');
	ww_json_head(&j, "wakewatt/stat/1", &st->wall);
	ww_json_num(&j, "from_s", st->from_s);
	ww_json_num(&j, "to_s", st->to_s);
	ww_json_open(&j, "channels", '[');
	for (size_t i = 0; i < st->channels; i++)
		json_channel(&j, &st->channel[i], &st->extra[i]);
	ww_json_close(&j, ']');
	ww_json_notes(&j, &st->notes);
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
}

int ww_stat_report(const struct ww_stat *s, int form, char **out, struct ww_error *err)
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
