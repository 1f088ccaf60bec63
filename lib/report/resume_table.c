/* SPDX-License-Identifier: MIT */
/* The cycles as tables that fit a terminal: what happened in each, and what it drew. */
#include "report/format.h"
#include "report/resume.h"

#include <math.h>

enum { CYCLE, RESULT, LATENCY, STARVED = LATENCY + WW_LAT_COUNT, WATTS, JOULES, COLUMNS };

/* In the order in which they happen. */
const struct ww_resume_column ww_resume_order[WW_LAT_COUNT] = {
	{WW_LAT_SUSPEND_ENTRY, "entry"},
	{WW_LAT_ASLEEP, "asleep"},
	{WW_LAT_ASLEEP_FIRMWARE, "asleep+firmware"},
	{WW_LAT_FIRMWARE, "firmware"},
	{WW_LAT_KERNEL, "kernel"},
	{WW_LAT_RESUME_TO_UART, "to uart"},
	{WW_LAT_RESUME_TO_USER, "to user"},
	{WW_LAT_RESUME_TO_STEADY, "to steady"},
	{WW_LAT_RESUME_TO_ALIVE, "to alive"},
	{WW_LAT_RESUME_TO_SETTLED, "to settled"},
	{WW_LAT_SILENCE, "silence"},
	{WW_LAT_DUT_ASLEEP, "DUT asleep"},
};

static size_t width_of(const struct ww_str *s)
{
	return ww_characters(s->p, s->n);
}

/* Steps of the third digit for bounds, of the second for half-widths; a microsecond at least. */
static double step_of(double v, int digits)
{
	double step = 1e-3;

	while (step * pow(10, digits) <= v)
		step *= 10;
	return step;
}

static int decimals_of(double step)
{
	return step > .5 ? 0 : step > .05 ? 1 : step > .005 ? 2 : 3;
}

void ww_resume_at_most(struct ww_str *s, double ms)
{
	double step = step_of(ms, 3);

	ww_str_add(s, "\xe2\x89\xa4 ");
	ww_str_fixed(s, ceil(ms / step - 1e-9) * step, decimals_of(step));
}

void ww_resume_bound(struct ww_str *s, double lo, double hi)
{
	double step = step_of(lo, 3);

	if (!(lo > 0) || isinf(hi)) {
		ww_str_add(s, isinf(hi) ? "\xe2\x89\xa5 " : "");
		if (isinf(hi))
			ww_str_fixed(s, fmax(lo, 0), 1);
		else
			ww_resume_at_most(s, hi);
		return;
	}
	ww_str_fixed(s, floor(lo / step + 1e-9) * step, decimals_of(step));
	ww_str_add(s, "\xe2\x80\x93");
	step = step_of(hi, 3);
	ww_str_fixed(s, ceil(hi / step - 1e-9) * step, decimals_of(step));
}

/* Milliseconds: middle and half-width, or a bound where the low end is none. */
void ww_resume_ms(struct ww_str *s, struct ww_interval t)
{
	double lo = (double)t.lo_ns / 1e6, hi = (double)t.hi_ns / 1e6, half = (hi - lo) / 2, mid;
	double step;

	if (!ww_iv_ok(t))
		return;
	if (t.hi_ns == WW_TIME_MAX) {
		ww_str_add(s, "\xe2\x89\xa5 ");
		ww_str_fixed(s, t.lo_ns == WW_TIME_MIN ? 0 : lo, 1);
		return;
	}
	if (t.lo_ns <= 0 && t.hi_ns > 0) {
		ww_resume_at_most(s, hi);
		return;
	}
	/* What the middle loses by rounding the half-width gains: still sure. */
	step = step_of(half, 2);
	mid = round((lo + hi) / 2 / step) * step;
	half = fmax(hi - mid, mid - lo);
	if (step_of(half - 1e-9, 2) > step) {
		step *= 10;
		mid = round((lo + hi) / 2 / step) * step;
		half = fmax(hi - mid, mid - lo);
	}
	half = fmax(ceil(half / step - 1e-6), 1) * step;
	ww_str_fixed(s, mid, decimals_of(step));
	ww_str_add(s, " \xc2\xb1 ");
	ww_str_fixed(s, half, decimals_of(step));
}

static bool same(struct ww_interval a, struct ww_interval b)
{
	return a.lo_ns == b.lo_ns && a.hi_ns == b.hi_ns;
}

/* Does one cycle have a latency that the others do not give? */
static bool adds(const struct ww_cycle *c, int latency)
{
	const struct ww_interval *l = c->latency;

	switch (latency) {
	case WW_LAT_RESUME_TO_UART:
		return ww_iv_ok(l[latency]) && !same(l[latency], l[WW_LAT_RESUME_TO_USER]);
	case WW_LAT_RESUME_TO_STEADY:
		return !same(l[latency], l[WW_LAT_RESUME_TO_USER]) &&
		       (ww_iv_ok(l[latency]) || ww_iv_ok(l[WW_LAT_RESUME_TO_USER]));
	case WW_LAT_SILENCE:
		return ww_iv_ok(l[latency]) &&
		       !(ww_iv_ok(l[WW_LAT_ASLEEP]) && ww_iv_ok(l[WW_LAT_RESUME_TO_USER]));
	default:
		return true;
	}
}

bool ww_resume_repeats(const struct ww_resume *r, int latency)
{
	/* A figure as coarse as an RTC stands in the notes. */
	if (latency == WW_LAT_DUT_ASLEEP && r->rtc_ns)
		return true;
	for (size_t i = 0; i < r->cycles; i++)
		if (adds(&r->cycle[i].c, latency))
			return false;
	return true;
}

void ww_resume_latency(struct ww_str *s, const struct ww_cycle_out *o, int latency)
{
	struct ww_interval t = o->c.latency[latency];

	if (ww_iv_ok(t) && o->bound_only >> latency & 1)
		ww_resume_bound(s, t.lo_ns == WW_TIME_MIN ? 0 : (double)t.lo_ns / 1e6,
				t.hi_ns == WW_TIME_MAX ? INFINITY : (double)t.hi_ns / 1e6);
	else
		ww_resume_ms(s, t);
}

static void fill_row(struct ww_str *cell, const struct ww_resume *r, const struct ww_cycle_out *o)
{
	const struct ww_cycle *c = &o->c;
	int64_t longest = 0;

	ww_str_addf(&cell[CYCLE], "%u", (unsigned)c->n);
	ww_str_addf(&cell[RESULT], "%s%s", ww_result_name(c->result), c->warmup ? ", warm-up" : "");
	for (int i = 0; i < WW_LAT_COUNT; i++)
		if (!ww_resume_repeats(r, ww_resume_order[i].latency))
			ww_resume_latency(&cell[LATENCY + i], o, ww_resume_order[i].latency);
	for (size_t i = 0; i < c->stalls; i++)
		if (ww_iv_mid(c->stall[i].length) > longest)
			longest = ww_iv_mid(c->stall[i].length);
	if (c->stalls) {
		ww_str_addf(&cell[STARVED], "%llux, longest ", (unsigned long long)c->stalls);
		ww_str_fixed(&cell[STARVED], (double)longest / 1e6, 0);
	}
	ww_put_quantity(&cell[WATTS], c->asleep_watts, "W", 3);
	ww_put_quantity(&cell[JOULES], c->energy_J, "J", 3);
}

static void fill_head(struct ww_str *cell)
{
	ww_str_add(&cell[CYCLE], "cycle");
	ww_str_add(&cell[RESULT], "result");
	for (int i = 0; i < WW_LAT_COUNT; i++)
		ww_str_add(&cell[LATENCY + i], ww_resume_order[i].head);
	ww_str_add(&cell[STARVED], "starved");
	ww_str_add(&cell[WATTS], "asleep at");
	ww_str_add(&cell[JOULES], "energy");
}

/* Columns that are empty throughout are left out: width 0. */
static void find_widths(const struct ww_str *cell, size_t rows, size_t *width)
{
	for (size_t c = 0; c < COLUMNS; c++) {
		bool used = false;

		width[c] = 0;
		for (size_t i = 0; i < rows; i++) {
			size_t n = width_of(&cell[i * COLUMNS + c]);

			used |= i > 0 && n > 0;
			if (n > width[c])
				width[c] = n;
		}
		if (!used)
			width[c] = 0;
	}
}

/* The cycle's number and columns [from, to). */
static void print_part(struct ww_str *s, const struct ww_str *cell, size_t rows,
		       const size_t *width, size_t from, size_t to)
{
	for (size_t i = 0; i < rows; i++) {
		const struct ww_str *row = &cell[i * COLUMNS];
		size_t behind = 0;

		ww_put_blanks(s, width[CYCLE] - width_of(&row[CYCLE]));
		ww_str_add(s, row[CYCLE].p);
		for (size_t c = from; c < to; c++) {
			const char *text = row[c].n ? row[c].p : "-";
			size_t n = row[c].n ? width_of(&row[c]) : 1;

			if (width[c] == 0)
				continue;
			ww_put_blanks(s, behind + 2 + (c == RESULT ? 0 : width[c] - n));
			ww_str_add(s, text);
			behind = c == RESULT ? width[c] - n : 0;
		}
		ww_str_add(s, "\n");
	}
}

/* As many columns side by side as fit; the meter's have a table of their own. */
static void print_tables(struct ww_str *s, const struct ww_str *cell, size_t rows)
{
	size_t width[COLUMNS], from = RESULT;

	find_widths(cell, rows, width);
	while (from < COLUMNS) {
		size_t to = from, sum = width[CYCLE], used = 0;

		while (to < COLUMNS) {
			size_t w = width[to] ? width[to] + 2 : 0;

			/* The meter's, with or without watts, begin a table unless one is begun. */
			bool meter = to == WATTS || (to == JOULES && width[WATTS] == 0);

			if (used && w && (sum + w > WW_RESUME_WIDTH || (meter && from == RESULT)))
				break;
			sum += w;
			used += w > 0;
			to++;
		}
		if (used && from != RESULT)
			ww_str_add(s, "\n");
		if (used)
			print_part(s, cell, rows, width, from, to);
		from = to;
	}
}

int ww_resume_tables(struct ww_str *s, const struct ww_resume *r, struct ww_error *err)
{
	size_t rows = r->cycles + 1;
	struct ww_str *cell = calloc(rows * COLUMNS, sizeof(*cell));

	if (!cell)
		return ww_fail_nomem(err);
	fill_head(cell);
	for (size_t i = 0; i < r->cycles; i++)
		fill_row(&cell[(i + 1) * COLUMNS], r, &r->cycle[i]);
	for (size_t i = 0; i < rows * COLUMNS; i++)
		s->bad = s->bad || cell[i].bad;
	if (!s->bad)
		print_tables(s, cell, rows);
	for (size_t i = 0; i < rows * COLUMNS; i++)
		ww_str_free(&cell[i]);
	free(cell);
	return 0;
}
