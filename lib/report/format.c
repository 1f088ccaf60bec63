/* SPDX-License-Identifier: MIT */
#include "report/format.h"

#include <math.h>

#define NOTE_WIDTH 80

size_t ww_characters(const char *text, size_t bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < bytes; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

void ww_put_blanks(struct ww_str *s, size_t n)
{
	while (n-- > 0)
		ww_str_addn(s, " ", 1);
}

const char *ww_semantics_name(int semantics)
{
	static const char *const names[] = {"instant", "average", "hold", "counter", "edge"};

	return semantics >= 0 && (size_t)semantics < WW_COUNTOF(names) ? names[semantics] : NULL;
}

/* ---- tables ---- */

struct ww_str *ww_grid_row(struct ww_grid *g)
{
	struct ww_str *row;

	if (g->bad)
		return NULL;
	if (g->rows == g->cap) {
		size_t cap = g->cap ? 2 * g->cap : 8;
		struct ww_str *more = realloc(g->cell, cap * g->columns * sizeof(*more));

		if (!more) {
			g->bad = true;
			return NULL;
		}
		g->cell = more;
		g->cap = cap;
	}
	row = &g->cell[g->rows++ * g->columns];
	memset(row, 0, g->columns * sizeof(*row));
	return row;
}

void ww_grid_head(struct ww_grid *g, const char *const *text)
{
	struct ww_str *row = ww_grid_row(g);

	for (size_t k = 0; row && k < g->columns; k++)
		ww_str_add(&row[k], text[k]);
}

static void print_row(struct ww_str *s, const struct ww_grid *g, size_t r, const size_t *width)
{
	size_t pending = 0;
	bool first = true;

	for (size_t k = 0; k < g->columns; k++) {
		const struct ww_str *c = &g->cell[r * g->columns + k];
		size_t n = ww_characters(c->p, c->n);

		if (!width[k])
			continue;
		pending += first ? 0 : 2;
		first = false;
		if (!(g->left >> k & 1))
			pending += width[k] - n;
		if (n) {
			ww_put_blanks(s, pending);
			ww_str_addn(s, c->p, c->n);
			pending = 0;
		}
		if (g->left >> k & 1)
			pending += width[k] - n;
	}
	ww_str_add(s, "\n");
}

/* Cells may hold names of a file. */
static void make_plain(struct ww_grid *g)
{
	for (size_t i = 0; i < g->rows * g->columns; i++) {
		struct ww_str *c = &g->cell[i], plain = {0};

		if (c->n == 0 || ww_is_plain(c->p, c->n))
			continue;
		ww_str_plain(&plain, c->p);
		plain.bad = plain.bad || c->bad;
		ww_str_free(c);
		*c = plain;
	}
}

void ww_grid_print(struct ww_str *s, struct ww_grid *g)
{
	size_t width[32] = {0};

	make_plain(g);
	for (size_t r = 1; r < g->rows; r++)
		for (size_t k = 0; k < g->columns; k++) {
			const struct ww_str *c = &g->cell[r * g->columns + k];
			size_t n = ww_characters(c->p, c->n);

			width[k] = n > width[k] ? n : width[k];
		}
	for (size_t k = 0; k < g->columns && g->rows; k++) {
		size_t n = ww_characters(g->cell[k].p, g->cell[k].n);

		if (width[k] && n > width[k])
			width[k] = n;
	}
	for (size_t r = 0; g->rows > 1 && r < g->rows; r++)
		print_row(s, g, r, width);
	ww_grid_free(g);
	s->bad = s->bad || g->bad;
}

void ww_grid_free(struct ww_grid *g)
{
	for (size_t i = 0; i < g->rows * g->columns; i++) {
		g->bad = g->bad || g->cell[i].bad;
		ww_str_free(&g->cell[i]);
	}
	free(g->cell);
	g->cell = NULL;
	g->rows = g->cap = 0;
}

/* ---- quantities ---- */

int ww_plain_decimals(double v)
{
	double a = fabs(v);
	int d = 5;

	for (; a >= 10 && d > 0; a /= 10)
		d--;
	return d;
}

void ww_put_quantity(struct ww_str *s, struct ww_quantity standard, const char *unit, int fallback)
{
	struct ww_quantity q = ww_expanded(standard);
	int d = ww_decimals_for(q.u, fallback);

	if (isnan(q.value))
		return;
	ww_str_fixed(s, ww_round_for(q.value, q.u), d);
	if (isfinite(q.u) && q.u > 0) {
		ww_str_add(s, " \xc2\xb1 ");
		ww_str_fixed(s, ww_round_for(q.u, q.u), d);
	}
	if (*unit && strcmp(unit, "1") != 0)
		ww_str_addf(s, " %s", unit);
}

void ww_put_legend(struct ww_str *s)
{
	if (s->p && strstr(s->p, " \xc2\xb1 "))
		ww_str_add(s, "\xc2\xb1 is k = 2, about 95 %\n");
}

void ww_put_seconds(struct ww_str *s, double v)
{
	ww_str_fixed(s, v, fabs(v) < 10 ? 3 : fabs(v) < 1000 ? 2 : 1);
	ww_str_add(s, " s");
}

/* Two units of time, the smaller one rounded: "1 h 31 min". */
static void two_units(struct ww_str *s, double seconds, double big, double small,
		      const char *big_name, const char *small_name)
{
	double whole = round(seconds / small), per = big / small, upper = floor(whole / per);

	ww_str_fixed(s, upper, 0);
	ww_str_addf(s, " %s", big_name);
	if (whole - upper * per > 0) {
		ww_str_add(s, " ");
		ww_str_fixed(s, whole - upper * per, 0);
		ww_str_addf(s, " %s", small_name);
	}
}

void ww_put_span(struct ww_str *s, double seconds)
{
	double a = fabs(seconds);

	if (!isfinite(seconds)) {
		ww_str_add(s, isnan(seconds) ? "unknown" : seconds > 0 ? "for ever" : "never");
		return;
	}
	ww_str_add(s, seconds < 0 ? "-" : "");
	if (a < 99.95) {
		ww_str_fixed(s, a, a < 1 ? 3 : a < 10 ? 2 : 1);
		ww_str_add(s, " s");
	} else if (a < 597) {
		two_units(s, a, 60, 1, "min", "s");
	} else if (a < 3570) {
		ww_str_fixed(s, a / 60, 0);
		ww_str_add(s, " min");
	} else if (a < 48 * 3600) {
		two_units(s, a, 3600, 60, "h", "min");
	} else if (a < 365 * 86400.) {
		two_units(s, a, 86400, 3600, "d", "h");
	} else {
		ww_str_fixed(s, a / (365.25 * 86400), a < 3650 * 86400. ? 1 : 0);
		ww_str_add(s, " years");
	}
}

/* 99.98 is not 100: a hole must stay visible. */
void ww_put_percent(struct ww_str *s, double part)
{
	double p = part * 100;

	if (p < 100 && p > 99.9)
		ww_str_add(s, ">99.9 %");
	else
		ww_str_fixed(s, p, 1), ww_str_add(s, " %");
}

/* ---- text ---- */

static size_t put_words(struct ww_str *s, const char *text, size_t at, size_t indent, size_t width)
{
	bool first = true;

	while (*text) {
		size_t n = strcspn(text, " "), w = ww_characters(text, n);

		if (!first && at > indent && at + 1 + w > width) {
			ww_str_add(s, "\n");
			ww_put_blanks(s, indent);
			at = indent;
		} else if (!first) {
			ww_str_add(s, " ");
			at++;
		}
		ww_str_addn(s, text, n);
		at += w;
		text += n + (text[n] == ' ');
		first = false;
	}
	return at;
}

void ww_put_wrapped(struct ww_str *s, const char *text, size_t indent, size_t width)
{
	size_t at = strspn(text, " ");

	ww_put_blanks(s, at);
	put_words(s, text + at, at, indent, width);
	ww_str_add(s, "\n");
}

void ww_put_note(struct ww_str *s, const char *text)
{
	ww_str_add(s, "- ");
	put_words(s, text, 2, 2, NOTE_WIDTH);
	ww_str_add(s, "\n");
}

void ww_put_notes(struct ww_str *s, const struct ww_notes *l)
{
	ww_str_add(s, l->n ? "\n" : "");
	for (size_t i = 0; i < l->n; i++)
		ww_put_note(s, l->note[i]);
	s->bad = s->bad || l->bad;
}

void ww_put_start(struct ww_str *s, const struct ww_wall *w)
{
	if (w->known) {
		ww_str_add(s, "start ");
		ww_str_time(s, w->real_ns, w->offset_s);
		if (*w->zone || !w->has_offset)
			ww_str_addf(s, " (%s)", *w->zone && w->has_offset ? w->zone : "UTC");
	} else {
		ww_str_add(s, "start unknown: no clock in the trace");
	}
	ww_str_add(s, "\n");
}

/* ---- JSON ---- */

/* Two digits more than a person is shown, so that a program may go on reckoning. */
void ww_json_quantity(struct ww_json *j, const char *key, struct ww_quantity q, const char *why)
{
	int d = ww_decimals_for(q.u, -1);

	ww_json_open(j, key, '{');
	if (d >= 0) {
		ww_json_fixed(j, "value", q.value, d + 2);
		ww_json_fixed(j, "u", q.u, d + 2);
	} else {
		ww_json_num(j, "value", q.value);
		ww_json_num(j, "u", q.u == 0 ? 0 : (double)NAN);
		if (q.u != 0)
			ww_json_text(j, "why", why && *why ? why : "not known");
	}
	ww_json_close(j, '}');
}

void ww_json_pair(struct ww_json *j, const char *key, double lo, double hi)
{
	ww_json_open(j, key, '[');
	ww_json_num(j, NULL, lo);
	ww_json_num(j, NULL, hi);
	ww_json_close(j, ']');
}

void ww_json_head(struct ww_json *j, const char *schema, const struct ww_wall *w)
{
	struct ww_str start = {0};

	if (w->known)
		ww_str_time(&start, w->real_ns, w->offset_s);
	j->s->bad = j->s->bad || start.bad;
	ww_json_text(j, "schema", schema);
	ww_json_text(j, "start", start.p);
	ww_json_text(j, "timezone", *w->zone && w->has_offset ? w->zone : "UTC");
	ww_str_free(&start);
}

void ww_json_notes(struct ww_json *j, const struct ww_notes *l)
{
	ww_json_open(j, "notes", '[');
	for (size_t i = 0; i < l->n; i++)
		ww_json_text(j, NULL, l->note[i]);
	ww_json_close(j, ']');
	j->s->bad = j->s->bad || l->bad;
}
