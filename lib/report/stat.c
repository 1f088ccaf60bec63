/* SPDX-License-Identifier: MIT */
/* ww_stat as a table for people and as JSON (schema wakewatt/stat/1). */
#include "analysis/stat.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

/* Two tables that each fit a terminal of 80: over time, and energy. */
enum { NAME, MEAN, MIN, MAX, VALUES, TIME, COVERAGE, GAPS, COLUMNS };
enum { JOULES = 1, WATT_HOURS, REGISTER, Z };

/* Rows of cells; width counted in characters, not in bytes. */
struct table {
	struct ww_str *cell; /* [rows][COLUMNS] */
	size_t rows;
};

static size_t characters(const struct ww_str *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += ((unsigned char)s->p[i] & 0xc0) != 0x80;
	return n;
}

/* No more than six digits that mean something where nothing says how many do. */
static int plain_decimals(double v)
{
	double a = fabs(v);
	int d = 5;

	for (; a >= 10 && d > 0; a /= 10)
		d--;
	return d;
}

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
		return plain_decimals(v);
	while (d < 9 && !(whole(step) && step > 0.5) && fabs(v) < 1e15) {
		step *= 10;
		v *= 10;
		d++;
	}
	for (int most = plain_decimals(v / pow(10, d)); d < most && !whole(v); d++)
		v *= 10;
	return d;
}

/* The least and the greatest value are shown alike. */
static int range_decimals(const struct ww_channel_stat *c)
{
	int a = step_decimals(c->resolution, c->min), b = step_decimals(c->resolution, c->max);

	return a > b ? a : b;
}

static void add_quantity(struct ww_str *s, struct ww_quantity q, const char *unit, int fallback)
{
	int d = ww_decimals_for(q.u, fallback);

	if (isnan(q.value))
		return;
	ww_str_fixed(s, ww_round_for(q.value, q.u), d);
	if (isfinite(q.u) && q.u > 0) {
		ww_str_add(s, " \xc2\xb1 ");
		ww_str_fixed(s, ww_round_for(q.u, q.u), d);
	}
	if (strcmp(unit, "1") != 0)
		ww_str_addf(s, " %s", unit);
}

static void add_seconds(struct ww_str *s, double v)
{
	ww_str_fixed(s, v, fabs(v) < 10 ? 3 : fabs(v) < 1000 ? 2 : 1);
	ww_str_add(s, " s");
}

/* 99.98 is not 100: a hole must stay visible. */
static void add_percent(struct ww_str *s, double part)
{
	double p = part * 100;

	if (p < 100 && p > 99.9)
		ww_str_add(s, ">99.9 %");
	else
		ww_str_fixed(s, p, 1), ww_str_add(s, " %");
}

static void fill_row(struct ww_str *cell, const struct ww_channel_stat *c,
		     const struct ww_stat_extra *extra)
{
	ww_str_add(&cell[NAME], c->name);
	add_quantity(&cell[MEAN], c->mean, c->unit, plain_decimals(c->mean.value));
	if (!isnan(c->min)) {
		ww_str_fixed(&cell[MIN], c->min, range_decimals(c));
		ww_str_fixed(&cell[MAX], c->max, range_decimals(c));
	}
	ww_str_addf(&cell[VALUES], "%llu", (unsigned long long)c->n);
	if (c->missing)
		ww_str_addf(&cell[VALUES], " (+%llu missing)", (unsigned long long)c->missing);
	if (c->n == 0 && c->duration_s == 0)
		return;
	add_seconds(&cell[TIME], c->duration_s);
	if (extra->counter)
		return;
	add_percent(&cell[COVERAGE], c->coverage);
	ww_str_addf(&cell[GAPS], "%llu", (unsigned long long)c->gaps);
	if (c->gaps) {
		ww_str_add(&cell[GAPS], " (");
		add_seconds(&cell[GAPS], c->gap_s);
		ww_str_add(&cell[GAPS], ")");
	}
}

static void fill_energy(struct ww_str *cell, const struct ww_channel_stat *c)
{
	struct ww_quantity wh = {c->energy_J.value / 3600, c->energy_J.u / 3600};
	struct ww_quantity own = {c->register_J.value / 3600, c->register_J.u / 3600};

	ww_str_add(&cell[NAME], c->name);
	add_quantity(&cell[JOULES], c->energy_J, "J", plain_decimals(c->energy_J.value));
	add_quantity(&cell[WATT_HOURS], wh, "Wh", plain_decimals(wh.value));
	add_quantity(&cell[REGISTER], own, "Wh", plain_decimals(own.value));
	if (!isnan(c->register_z))
		ww_str_fixed(&cell[Z], c->register_z, 1);
}

static void add_padding(struct ww_str *s, size_t n)
{
	while (n-- > 0)
		ww_str_addn(s, " ", 1);
}

/* Columns that are empty throughout are left out; the first is flush left. */
static void print_table(struct ww_str *s, const struct table *t)
{
	size_t width[COLUMNS] = {0};

	for (size_t r = 1; r < t->rows; r++)
		for (size_t k = 0; k < COLUMNS; k++)
			if (characters(&t->cell[r * COLUMNS + k]) > width[k])
				width[k] = characters(&t->cell[r * COLUMNS + k]);
	for (size_t k = 0; k < COLUMNS; k++)
		if (width[k] && characters(&t->cell[k]) > width[k])
			width[k] = characters(&t->cell[k]);
	for (size_t r = 0; r < t->rows; r++) {
		size_t pending = 0;

		for (size_t k = 0; k < COLUMNS; k++) {
			const struct ww_str *c = &t->cell[r * COLUMNS + k];
			size_t n = characters(c);

			if (!width[k])
				continue;
			if (k > 0)
				pending += 2 + (width[k] - n);
			if (n) {
				add_padding(s, pending);
				ww_str_addn(s, c->p, c->n);
				pending = k == 0 ? width[k] - n : 0;
			}
		}
		ww_str_add(s, "\n");
	}
}

static int add_table(struct ww_str *s, const struct ww_stat *st, bool energy)
{
	static const char *const head[2][COLUMNS] = {{"channel", "mean", "min", "max", "values",
						      "time", "coverage", "gaps"},
						     {"energy", "", "", "own register", "z", "", "",
						      ""}};
	struct table t = {.rows = 1};

	t.cell = calloc((st->channels + 1) * COLUMNS, sizeof(*t.cell));
	if (!t.cell)
		return -ENOMEM;
	for (size_t k = 0; k < COLUMNS; k++)
		ww_str_add(&t.cell[k], head[energy][k]);
	for (size_t i = 0; i < st->channels; i++) {
		if (!energy)
			fill_row(&t.cell[t.rows++ * COLUMNS], &st->channel[i], &st->extra[i]);
		else if (!isnan(st->channel[i].energy_J.value))
			fill_energy(&t.cell[t.rows++ * COLUMNS], &st->channel[i]);
	}
	if (t.rows > 1) {
		ww_str_add(s, "\n");
		print_table(s, &t);
	}
	for (size_t i = 0; i < t.rows * COLUMNS; i++) {
		s->bad = s->bad || t.cell[i].bad;
		ww_str_free(&t.cell[i]);
	}
	free(t.cell);
	return 0;
}

/* A note, broken between words so that it fits a terminal of 80. */
static void add_note(struct ww_str *s, const char *text)
{
	size_t at = 2;

	ww_str_add(s, "- ");
	while (*text) {
		size_t n = strcspn(text, " "), w = 0;

		for (size_t i = 0; i < n; i++)
			w += ((unsigned char)text[i] & 0xc0) != 0x80;
		if (at > 2 && at + 1 + w > 80) {
			ww_str_add(s, "\n  ");
			at = 2;
		} else if (at > 2) {
			ww_str_add(s, " ");
			at++;
		}
		ww_str_addn(s, text, n);
		at += w;
		text += n + (text[n] == ' ');
	}
	ww_str_add(s, "\n");
}

static void add_start(struct ww_str *s, const struct ww_stat *st)
{
	ww_str_time(s, st->start_real_ns, st->offset_s);
}

static int text_report(struct ww_str *s, const struct ww_stat *st)
{
	bool first = true;
	int rc;

	if (st->has_wall) {
		ww_str_add(s, "start ");
		add_start(s, st);
		if (*st->zone || !st->has_offset)
			ww_str_addf(s, " (%s)", *st->zone && st->has_offset ? st->zone : "UTC");
	} else {
		ww_str_add(s, "start unknown: no clock in the trace");
	}
	ww_str_add(s, "\nfrom ");
	add_seconds(s, st->from_s);
	ww_str_add(s, " to ");
	add_seconds(s, st->to_s);
	ww_str_add(s, " after the first record\n");
	rc = add_table(s, st, false);
	if (rc == 0)
		rc = add_table(s, st, true);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < st->channels; i++) {
		if (*st->channel[i].why && !st->extra[i].counter) {
			struct ww_str why = {0};

			ww_str_add(s, first ? "\n" : "");
			first = false;
			ww_str_addf(&why, "%s: %s", st->channel[i].name, st->channel[i].why);
			add_note(s, why.bad ? "" : why.p);
			ww_str_free(&why);
		}
	}
	ww_str_add(s, first && st->notes ? "\n" : "");
	for (size_t i = 0; i < st->notes; i++)
		add_note(s, st->note[i]);
	return 0;
}

/* Two digits more than a person is shown, so that a program may go on reckoning. */
static void json_quantity(struct ww_json *j, const char *key, struct ww_quantity q, const char *why)
{
	int d = ww_decimals_for(q.u, -1);

	ww_json_open(j, key, '{');
	if (d >= 0) {
		ww_json_fixed(j, "value", q.value, d + 2);
		ww_json_fixed(j, "u", q.u, d + 2);
	} else {
		ww_json_num(j, "value", q.value);
		ww_json_null(j, "u");
		ww_json_text(j, "why", *why ? why : "not known");
	}
	ww_json_close(j, '}');
}

static void json_channel(struct ww_json *j, const struct ww_channel_stat *c,
			 const struct ww_stat_extra *extra)
{
	static const char *const semantics[] = {"instant", "average", "hold", "counter"};

	ww_json_open(j, NULL, '{');
	ww_json_text(j, "name", c->name);
	ww_json_text(j, "quantity", c->quantity);
	ww_json_text(j, "unit", c->unit);
	if (c->semantics >= 0 && (size_t)c->semantics < WW_COUNTOF(semantics))
		ww_json_text(j, "semantics", semantics[c->semantics]);
	ww_json_int(j, "n", (int64_t)c->n);
	ww_json_int(j, "missing", (int64_t)c->missing);
	ww_json_num(j, "duration_s", c->duration_s);
	json_quantity(j, "mean", c->mean,
		      extra->counter && c->n ? "a register has no mean" : c->why);
	ww_json_fixed(j, "min", c->min, range_decimals(c));
	ww_json_fixed(j, "max", c->max, range_decimals(c));
	if (c->resolution > 0)
		ww_json_num(j, "resolution", c->resolution);
	else
		ww_json_null(j, "resolution");
	if (extra->to_joules > 0)
		json_quantity(j, "energy_J", c->energy_J, c->why);
	ww_json_fixed(j, "coverage", c->coverage, 6);
	ww_json_int(j, "gaps", (int64_t)c->gaps);
	ww_json_num(j, "gap_s", c->gap_s);
	if (!isnan(c->register_J.value))
		json_quantity(j, "register_J", c->register_J, extra->lost);
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
	struct ww_str start = {0};

	if (st->has_wall)
		add_start(&start, st);
	s->bad = s->bad || start.bad;
	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "schema", "wakewatt/stat/1");
	ww_json_text(&j, "start", start.p);
	ww_json_text(&j, "timezone", *st->zone && st->has_offset ? st->zone : "UTC");
	ww_json_num(&j, "from_s", st->from_s);
	ww_json_num(&j, "to_s", st->to_s);
	ww_json_open(&j, "channels", '[');
	for (size_t i = 0; i < st->channels; i++)
		json_channel(&j, &st->channel[i], &st->extra[i]);
	ww_json_close(&j, ']');
	ww_json_open(&j, "notes", '[');
	for (size_t i = 0; i < st->notes; i++)
		ww_json_text(&j, NULL, st->note[i]);
	ww_json_close(&j, ']');
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
	ww_str_free(&start);
}

int ww_stat_report(const struct ww_stat *s, int form, char **out, struct ww_error *err)
{
	struct ww_str text = {0};
	int rc = 0;

	if (form == WW_REPORT_JSON)
		json_report(&text, s);
	else if (form == WW_REPORT_TEXT)
		rc = text_report(&text, s);
	else
		return ww_fail(err, -EINVAL, "report form %d is unknown", form);
	if (rc < 0) {
		ww_str_free(&text);
		return ww_fail_nomem(err);
	}
	return ww_str_take(&text, out, err);
}
