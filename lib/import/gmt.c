/* SPDX-License-Identifier: MIT */
/*
 * Green Metrics Tool: "MICROSECONDS VALUE" of a wattmeter, which does not say its unit,
 * or "MICROSECONDS VALUE DOMAIN" of RAPL, microjoules since the line before.
 */
#include "import/csv.h"

#include <math.h>
#include <stdio.h>

#define SAMPLE_LINES	64
#define MICROWATTS_FROM 2e6 /* more than that many mW, or less than 2 W in uW */
#define US_MOST		INT64_C(4200000000000000)
#define DIGITS		16 /* of microseconds since 1970 */

struct entry {
	int64_t us;
	struct ww_num value;
	struct ww_field domain; /* n 0: none */
};

static bool parse(const char *line, size_t len, struct entry *e)
{
	const struct ww_csv d = {' ', false};
	struct ww_field f[3];
	struct ww_num t;
	size_t n = ww_csv_split(&d, line, len, f, 3);

	if (n < 2 || n > 3 || f[0].n != DIGITS ||
	    ww_num_read(f[0].p, f[0].n, false, &t) != WW_NUM_OK || t.decimals || t.unit_n ||
	    ww_num_read(f[1].p, f[1].n, false, &e->value) != WW_NUM_OK || e->value.unit_n)
		return false;
	if (t.code < 0 || t.code > US_MOST)
		return false;
	e->us = t.code;
	e->domain = n == 3 ? f[2] : (struct ww_field){"", 0, false};
	return true;
}

static int looks(const char *text, size_t n)
{
	struct entry e;
	size_t len, used;
	int lines = 0, good = 0;

	while (lines < SAMPLE_LINES && n > 0 && (used = ww_csv_line(text, n, &len)) > 0) {
		if (text[used - 1] != '\n' && lines > 0)
			break; /* may be cut */
		if (!ww_csv_blank(text, len)) {
			good += parse(text, len, &e) && e.value.decimals == 0;
			lines++;
		}
		text += used;
		n -= used;
	}
	return lines > 1 && 2 * good > lines ? 85 : 0;
}

/* The table of a domain, made when it is first met. */
static int table_for(struct ww_import *im, const struct ww_field *domain, size_t *at,
		     struct ww_error *err)
{
	char name[48] = "meter";
	struct ww_table *t;

	if (domain->n)
		ww_plain(name, sizeof(name), domain->p, domain->n);
	for (*at = 0; *at < im->tables; (*at)++)
		if (strcmp(im->table[*at].name, name) == 0)
			return 0;
	if (im->tables == 64)
		return ww_import_fail(im, err, "more than 64 domains");
	t = ww_import_table(im, name, err);
	if (!t)
		return -ENOMEM;
	if (domain->n)
		t->notes = "energy since the line before, divided by the time between them";
	return ww_table_column(t, "power", "power", "W", domain->n ? WW_AVERAGE : WW_INSTANT, err) <
			       0
		       ? -ENOMEM
		       : 0;
}

/* Microjoules of the time since the row before. @return 0, 1 where there is none */
static int add_energy(struct ww_table *t, const struct entry *e, int64_t before)
{
	int64_t dt = before == INT64_MIN ? 0 : e->us - before;
	struct ww_num w = {.decimals = 6};

	if (dt <= 0)
		return 1;
	w.value = e->value.value / (double)dt;
	w.code = llround(w.value * 1e6);
	ww_table_put(t, 0, fabs(w.value) < 1e9 ? WW_NUM_OK : WW_NUM_OVER, &w, 0);
	return 0;
}

static int take(struct ww_import *im, const struct entry *e, int64_t *before, int exponent,
		struct ww_error *err)
{
	struct ww_table *t;
	size_t at;
	int rc = table_for(im, &e->domain, &at, err);

	if (rc < 0)
		return rc;
	t = &im->table[at];
	t->tick_ns = WW_NS_PER_US;
	rc = ww_table_row(t, e->us * 1000, err);
	if (rc < 0)
		return rc;
	if (e->domain.n && add_energy(t, e, before[at]) != 0)
		t->rows--; /* the first only says when the second begins */
	if (!e->domain.n)
		ww_table_put(t, 0, WW_NUM_OK, &e->value, exponent);
	before[at] = e->us;
	return 0;
}

static int scan(struct ww_import *im, int exponent, struct ww_error *err)
{
	struct ww_lines l = ww_import_lines(im);
	int64_t before[64];
	const char *line;
	struct entry e;
	size_t len;
	int rc = 0, more;

	for (size_t i = 0; i < WW_COUNTOF(before); i++)
		before[i] = INT64_MIN;
	im->line = 0;
	while (rc == 0 && (more = ww_import_line(im, &l, &line, &len, err)) != 0) {
		if (more < 0)
			return more;
		if (ww_csv_blank(line, len))
			continue;
		if (!parse(line, len, &e))
			ww_import_bad(im, "is not 'microseconds value'", line, len);
		else
			rc = take(im, &e, before, exponent, err);
	}
	return rc;
}

/* A power in mW or in uW: the file does not say; the tool once wrote the one, now the other. */
static int unit_of(struct ww_import *im)
{
	struct ww_lines l = ww_import_lines(im);
	double v[SAMPLE_LINES];
	const char *line;
	struct entry e;
	size_t len, n = 0;
	bool micro;

	while (n < SAMPLE_LINES && ww_import_line(im, &l, &line, &len, NULL) > 0)
		if (parse(line, len, &e) && !e.domain.n)
			v[n++] = e.value.value;
	if (n == 0)
		return -6;
	micro = ww_median(v, n) > MICROWATTS_FROM;
	ww_note(&im->notes,
		"the file does not tell its unit: taken as %s (--columns us,%s says "
		"otherwise)",
		micro ? "microwatts" : "milliwatts", micro ? "mW" : "uW");
	return micro ? -6 : -3;
}

static int gmt_read(struct ww_import *im, struct ww_error *err)
{
	int rc = scan(im, unit_of(im), err);
	size_t rows = 0;

	for (size_t i = 0; i < im->tables; i++)
		rows += im->table[i].rows;
	if (rc == 0 && (rows == 0 || im->bad > rows)) {
		im->line = im->bad_first;
		return ww_import_fail(im, err, "%s", im->bad ? im->bad_why : "no rows");
	}
	if (im->bad)
		ww_note(&im->notes, "%zu line%s left out; the first is line %zu: %s", im->bad,
			im->bad == 1 ? "" : "s", im->bad_first, im->bad_why);
	for (size_t i = 0; i < im->tables; i++)
		ww_rows_cells(im, &im->table[i]);
	im->clock = WW_CLOCK_UTC;
	return rc;
}

const struct ww_importer ww_import_gmt = {
	{"gmt", "Green Metrics Tool: microseconds and a power, or RAPL's energy and its domain"},
	looks,
	gmt_read};
