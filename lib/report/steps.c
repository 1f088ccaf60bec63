/* SPDX-License-Identifier: MIT */
/* ww_steps as a table for people and as JSON (schema wakewatt/steps/1). */
#include "report/steps.h"

#include <math.h>
#include <stdio.h>

#define WIDTH 80
/* characters of a label in the table */
#define LABEL_MOST  20
#define LABEL_LEAST 10

static const char *const state_name[] = {[WW_STEP_DETECTED] = "detected",
					 [WW_STEP_KNOWN_TIME] = "known-time",
					 [WW_STEP_UNRESOLVED] = "unresolved"};
static const char *const shape_name[] = {[WW_LEVEL_CONSTANT] = "constant",
					 [WW_LEVEL_LINE] = "line",
					 [WW_LEVEL_SETTLING] = "settling"};

const char *ww_steps_state(int state)
{
	return state >= 0 && (size_t)state < WW_COUNTOF(state_name) ? state_name[state] : "unknown";
}

/* Rounded outwards, by no more than a quarter: what is surely within stays so. */
void ww_steps_put_time(struct ww_str *s, const struct ww_steps *st, size_t i)
{
	const struct ww_step_when *w = &st->when[i];
	double width = w->t_hi - w->t_lo, p = 1, lo = w->t_lo, hi = w->t_hi;
	int d = 0;

	if (!(width > 1e-9)) {
		ww_str_fixed(s, lo, st->period_s >= 0.2 ? 1 : 3);
		return;
	}
	for (; d <= 9; d++, p *= 10) {
		lo = floor(w->t_lo * p + 1e-3) / p;
		hi = ceil(w->t_hi * p - 1e-3) / p;
		if (hi - lo <= 1.25 * width)
			break;
	}
	ww_str_fixed(s, lo, d);
	ww_str_add(s, "..");
	ww_str_fixed(s, hi, d);
}

void ww_steps_put_clock(struct ww_str *s, const struct ww_steps *st, double t)
{
	struct ww_str text = {0};
	bool days = st->t_hi - st->t_lo > 86400;

	if (!st->wall.known)
		return;
	ww_str_time(&text, st->wall.real_ns + (int64_t)llround(t * 1e9), st->wall.offset_s);
	s->bad = s->bad || text.bad;
	if (text.n >= 19 && days)
		ww_str_addf(s, "%.5s %.8s", text.p + 5, text.p + 11);
	else if (text.n >= 19)
		ww_str_addf(s, "%.8s", text.p + 11);
	ww_str_free(&text);
}

/* A value of which a few digits are enough: two more than its uncertainty has one. */
static void put_value(struct ww_str *s, double v, double u, bool sign)
{
	int d = ww_decimals_for(u, ww_plain_decimals(v));

	if (isnan(v))
		return;
	v = u > 0 && isfinite(u) ? ww_round_for(v, u) : v;
	ww_str_add(s, sign && v > 0 ? "+" : "");
	ww_str_fixed(s, v, d);
}

void ww_steps_put_change(struct ww_str *s, const struct ww_step *p)
{
	if (p->state == WW_STEP_UNRESOLVED && isfinite(p->bounds[0]) && isfinite(p->bounds[1])) {
		put_value(s, p->bounds[0], (p->bounds[1] - p->bounds[0]) / 4, true);
		ww_str_add(s, "..");
		put_value(s, p->bounds[1], (p->bounds[1] - p->bounds[0]) / 4, true);
		return;
	}
	put_value(s, p->delta.value, 2 * p->delta.u, true);
	if (isfinite(p->delta.u) && p->delta.u > 0) {
		ww_str_add(s, " \xc2\xb1 ");
		put_value(s, 2 * p->delta.u, 2 * p->delta.u, false);
	}
}

void ww_steps_put_settled(struct ww_str *s, const struct ww_steps *st, size_t i)
{
	double after = st->when[i].settled - st->when[i].t_hi;

	/* One reading on: the change fell within it. */
	if (after > 1.5 * st->period_s)
		ww_put_span(s, after);
}

void ww_steps_put_summary(struct ww_str *s, const struct ww_steps *st)
{
	size_t n[3] = {0};
	char number[350];

	for (size_t i = 0; i < st->steps; i++)
		n[st->step[i].state]++;
	ww_str_addf(s, "%s: %zu step%s", st->channel, n[WW_STEP_DETECTED],
		    n[WW_STEP_DETECTED] == 1 ? "" : "s");
	if (n[WW_STEP_KNOWN_TIME])
		ww_str_addf(s, ", %zu at known times", n[WW_STEP_KNOWN_TIME]);
	if (n[WW_STEP_UNRESOLVED])
		ww_str_addf(s, ", %zu unresolved", n[WW_STEP_UNRESOLVED]);
	if (st->n) {
		ww_str_add(s, " in ");
		ww_put_span(s, st->t_hi - st->t_lo);
	}
	ww_str_addf(s, ", %zu reading%s", st->n, st->n == 1 ? "" : "s");
	if (st->resolution > 0) {
		ww_str_add(s, ", resolution ");
		ww_steps_plain(number, sizeof(number), st->resolution);
		ww_str_add(s, number);
		ww_str_add(s, " W");
	}
}

void ww_steps_put_legend(struct ww_str *s, const struct ww_steps *st)
{
	ww_str_addf(s,
		    "times are seconds %s, and surely within the bounds; \xc2\xb1 is k = 2, "
		    "about 95 %%",
		    st->own_time ? "of the file's own time" : "since the first record");
}

/* ---- text ---- */

enum { TIME, CLOCK, LABEL, CHANGE, BEFORE, AFTER, SETTLED, STATE, COLUMNS };

static void put_label(struct ww_str *s, const char *label, size_t most)
{
	const unsigned char *p = (const unsigned char *)label;
	size_t left = strlen(label), n = 0;

	for (; left && n < most; n++) {
		size_t len = ww_utf8_len(p, left);

		/* A terminal is not told what to do by a label. */
		if (len == 0 || *p < 0x20 || *p == 0x7f ||
		    (len == 2 && p[0] == 0xc2 && p[1] < 0xa0))
			ww_str_add(s, "?");
		else
			ww_str_addn(s, (const char *)p, len);
		len += len == 0;
		p += len;
		left -= len;
	}
	if (left)
		ww_str_add(s, "\xe2\x80\xa6");
}

/* What is left out where a line would be longer than a terminal is wide. */
enum { ALL, NO_SETTLED, NO_CLOCK, SHORT_LABELS, THRIFTS };

static void text_row(struct ww_str *cell, const struct ww_steps *st, size_t i, int thrift)
{
	const struct ww_step *p = &st->step[i];

	ww_steps_put_time(&cell[TIME], st, i);
	if (st->t_hi - st->t_lo >= 600 && thrift < NO_CLOCK)
		ww_steps_put_clock(&cell[CLOCK], st, (st->when[i].t_lo + st->when[i].t_hi) / 2);
	put_label(&cell[LABEL], p->label, thrift < SHORT_LABELS ? LABEL_MOST : LABEL_LEAST);
	ww_steps_put_change(&cell[CHANGE], p);
	put_value(&cell[BEFORE], p->before.value, p->delta.u, false);
	put_value(&cell[AFTER], p->after.value, p->delta.u, false);
	if (thrift < NO_SETTLED)
		ww_steps_put_settled(&cell[SETTLED], st, i);
	if (p->state != WW_STEP_DETECTED)
		ww_str_add(&cell[STATE], ww_steps_state(p->state));
}

static void put_table(struct ww_str *s, const struct ww_steps *st, int thrift)
{
	static const char *const head[COLUMNS] = {"time, s", "clock", "label",	    "change, W",
						  "before",  "after", "settled in", "state"};
	struct ww_grid g = {.columns = COLUMNS, .left = 1U << LABEL | 1U << STATE};

	ww_grid_head(&g, head);
	for (size_t i = 0; i < st->steps; i++) {
		struct ww_str *cell = ww_grid_row(&g);

		if (cell)
			text_row(cell, st, i, thrift);
	}
	ww_grid_print(s, &g);
}

static size_t widest(const char *text)
{
	size_t most = 0, n = 0;

	for (; *text; text++) {
		n = *text == '\n' ? 0 : n + (((unsigned char)*text & 0xc0) != 0x80);
		most = n > most ? n : most;
	}
	return most;
}

/* The fullest table that fits. */
static void text_table(struct ww_str *s, const struct ww_steps *st)
{
	struct ww_str table = {0};

	for (int thrift = ALL; thrift < THRIFTS; thrift++) {
		ww_str_reset(&table);
		put_table(&table, st, thrift);
		if (table.bad || widest(table.n ? table.p : "") <= WIDTH)
			break;
	}
	ww_str_add(s, "\n");
	ww_str_add(s, table.n ? table.p : "");
	s->bad = s->bad || table.bad;
	ww_str_free(&table);
}

static void text_report(struct ww_str *s, const struct ww_steps *st)
{
	struct ww_str line = {0};

	ww_put_start(s, &st->wall);
	ww_steps_put_summary(&line, st);
	ww_put_wrapped(s, line.p ? line.p : "", 2, WIDTH);
	s->bad = s->bad || line.bad;
	ww_str_reset(&line);
	if (st->steps)
		text_table(s, st);
	ww_str_add(s, "\n");
	if (st->steps) {
		ww_steps_put_legend(&line, st);
		ww_put_note(s, line.n ? line.p : "");
		s->bad = s->bad || line.bad;
	}
	for (size_t i = 0; i < st->notes.n; i++)
		ww_put_note(s, st->notes.note[i]);
	ww_str_free(&line);
}

/* ---- JSON ---- */

/* To the ns, as stamps are. */
static double ns(double t)
{
	return round(t * 1e9) / 1e9;
}

static void json_finite(struct ww_json *j, const char *key, double v)
{
	if (isfinite(v))
		ww_json_num(j, key, v);
	else
		ww_json_null(j, key);
}

static void json_step(struct ww_json *j, const struct ww_steps *st, size_t i)
{
	const struct ww_step *p = &st->step[i];
	const struct ww_step_when *w = &st->when[i];

	ww_json_open(j, NULL, '{');
	ww_json_pair(j, "t_s", ns(w->t_lo), ns(w->t_hi));
	json_finite(j, "settled_s", ns(w->settled));
	ww_json_quantity(j, "delta_W", p->delta, NULL);
	ww_json_quantity(j, "before_W", p->before, NULL);
	ww_json_quantity(j, "after_W", p->after, NULL);
	ww_json_text(j, "label", p->mark >= 0 ? p->label : NULL);
	ww_json_text(j, "state", ww_steps_state(p->state));
	if (p->state == WW_STEP_UNRESOLVED)
		ww_json_pair(j, "bounds_W", round(p->bounds[0] * 1e9) / 1e9,
			     round(p->bounds[1] * 1e9) /
				     1e9); /* -0.02, not -0.019999999999999574 */
	else
		ww_json_null(j, "bounds_W");
	json_finite(j, "peak_W", p->peak);
	json_finite(j, "dof", p->dof);
	ww_json_close(j, '}');
}

static void json_level(struct ww_json *j, const struct ww_steps *st, const struct ww_level *l)
{
	ww_json_open(j, NULL, '{');
	ww_json_pair(j, "t_s", ((double)l->from_ns - (double)st->origin_ns) / 1e9,
		     ((double)l->to_ns - (double)st->origin_ns) / 1e9);
	ww_json_quantity(j, "level_W", l->watts, NULL);
	json_finite(j, "sigma_W", l->sigma);
	json_finite(j, "slope_W_per_h", l->slope);
	json_finite(j, "dof", l->dof);
	ww_json_int(j, "n", (int64_t)l->n);
	ww_json_text(j, "shape",
		     l->shape >= 0 && (size_t)l->shape < WW_COUNTOF(shape_name)
			     ? shape_name[l->shape]
			     : "unknown");
	ww_json_close(j, '}');
}

static void json_cycling(struct ww_json *j, const struct ww_cycling *c)
{
	if (c->cycles == 0) {
		ww_json_null(j, "cycling");
		return;
	}
	ww_json_open(j, "cycling", '{');
	ww_json_pair(j, "t_s", ns(c->from), ns(c->to));
	ww_json_int(j, "cycles", (int64_t)c->cycles);
	ww_json_num(j, "period_s", c->period);
	ww_json_num(j, "period_sd_s", c->spread);
	ww_json_num(j, "on_part", c->duty);
	ww_json_num(j, "on_W", c->on);
	ww_json_close(j, '}');
}

static void json_report(struct ww_str *s, const struct ww_steps *st)
{
	struct ww_json j = {.s = s};

	ww_json_open(&j, NULL, '{');
	ww_json_head(&j, "wakewatt/steps/1", &st->wall);
	ww_json_text(&j, "channel", st->channel);
	ww_json_int(&j, "n", (int64_t)st->n);
	ww_json_pair(&j, "t_s", st->n ? ns(st->t_lo) : (double)NAN,
		     st->n ? ns(st->t_hi) : (double)NAN);
	json_finite(&j, "resolution_W", st->resolution > 0 ? st->resolution : (double)NAN);
	json_finite(&j, "noise_W", st->sigma);
	json_finite(&j, "smallest_W", st->smallest);
	ww_json_open(&j, "steps", '[');
	for (size_t i = 0; i < st->steps; i++)
		json_step(&j, st, i);
	ww_json_close(&j, ']');
	ww_json_open(&j, "levels", '[');
	for (size_t i = 0; i < st->levels; i++)
		json_level(&j, st, &st->level[i]);
	ww_json_close(&j, ']');
	json_cycling(&j, &st->cycling);
	ww_json_notes(&j, &st->notes);
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
}

int ww_steps_report(const struct ww_steps *s, int form, char **out, struct ww_error *err)
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
