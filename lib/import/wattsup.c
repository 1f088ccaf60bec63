/* SPDX-License-Identifier: MIT */
/*
 * Records of a Watts up? as they came over the line: "#d,-,18,W,V,A,...;" in tenths of W, V,
 * Wh, Hz and VA, in mA and in hundredths of the power factor, with or without a time before
 * them. "#n,-,3,_,INTERVAL,COUNT;" tells the seconds between those of its memory.
 */
#include "import/csv.h"

#define SAMPLE_LINES 64
#define FIELDS	     24

static const struct {
	size_t field;
	const char *name, *quantity, *unit;
	int semantics, decimals;
} columns[] = {{3, "power", "power", "W", WW_AVERAGE, 1},
	       {4, "voltage", "voltage", "V", WW_AVERAGE, 1},
	       {5, "current", "current", "A", WW_AVERAGE, 3},
	       {6, "energy", "energy", "Wh", WW_COUNTER, 1},
	       {16, "power_factor", "power_factor", "1", WW_AVERAGE, 2},
	       {19, "frequency", "frequency", "Hz", WW_AVERAGE, 1},
	       {20, "apparent_power", "apparent_power", "VA", WW_AVERAGE, 1}};

struct record {
	struct ww_field before; /* what stands before the record */
	struct ww_field f[FIELDS];
	size_t n;
};

/* The record of this letter in a line. */
static bool find(const char *line, size_t len, char letter, struct record *r)
{
	const struct ww_csv comma = {',', false};
	const char *p = line, *end = line + len, *stop;

	while (p + 2 < end && !(p[0] == '#' && p[1] == letter && p[2] == ','))
		p++;
	if (p + 2 >= end)
		return false;
	stop = memchr(p, ';', (size_t)(end - p));
	r->before = (struct ww_field){line, (size_t)(p - line), false};
	while (r->before.n && strchr(" \t,;", line[r->before.n - 1]))
		r->before.n--;
	r->n = ww_csv_split(&comma, p, (size_t)((stop ? stop : end) - p), r->f, FIELDS);
	return stop != NULL && r->n <= FIELDS;
}

static int looks(const char *text, size_t n)
{
	size_t len, used, lines = 0;
	struct record r;

	for (; lines < SAMPLE_LINES && n > 0; lines++) {
		used = ww_csv_line(text, n, &len);
		if (find(text, len, 'd', &r) && r.n >= 6)
			return 90;
		text += used;
		n -= used;
	}
	return 0;
}

/* A time before the record: a stamp, or seconds of the day or since 1970. */
static bool time_of(struct ww_import *im, const struct ww_field *f, int64_t *ns, int64_t *tick)
{
	struct ww_stamp s;
	struct ww_num v;

	if (ww_stamp_read(f->p, f->n, WW_DATE_DMY, &s) && s.clocked && s.dated) {
		im->clock = s.zoned ? WW_CLOCK_UTC : WW_CLOCK_LOCAL;
		*ns = s.ns;
		*tick = s.digits > 0 ? 1000000 : WW_NS_PER_S;
		return true;
	}
	if (ww_num_read(f->p, f->n, false, &v) != WW_NUM_OK || v.unit_n ||
	    !ww_import_ns(&v, 0, 1, ns))
		return false;
	im->clock = v.value > 1e8 ? WW_CLOCK_UTC : WW_CLOCK_RELATIVE;
	*tick = v.decimals ? 1000000 : WW_NS_PER_S;
	return true;
}

struct reader {
	struct ww_import *im;
	int64_t step_ns;
	bool timed, told;
};

static int take(struct reader *r, const struct record *d, struct ww_error *err)
{
	struct ww_table *t = &r->im->table[0];
	int64_t ns = (int64_t)t->rows * r->step_ns, tick = WW_NS_PER_S;
	int rc;

	if (d->n < 6 || (r->timed && !time_of(r->im, &d->before, &ns, &tick))) {
		ww_import_bad(r->im, d->n < 6 ? "is a record cut short" : "is no time",
			      d->n < 6 ? d->f[0].p : d->before.p,
			      d->n < 6 ? d->f[0].n : d->before.n);
		return ww_table_break(t, 1, "line that cannot be read", err);
	}
	t->tick_ns = tick;
	rc = ww_table_row(t, ns, err);
	for (size_t i = 0; rc == 0 && i < WW_COUNTOF(columns); i++) {
		const struct ww_field *f = &d->f[columns[i].field];
		struct ww_num v = {0};
		int kind = WW_NUM_EMPTY;

		if (columns[i].field < d->n && !(f->n == 1 && *f->p == '_'))
			kind = ww_num_read(f->p, f->n, false, &v);
		if (kind == WW_NUM_OK && (v.decimals || v.unit_n))
			kind = WW_NUM_TEXT;
		ww_table_put(t, i, kind, &v, -columns[i].decimals);
	}
	return rc;
}

/* One a second, unless the file or the caller says otherwise. */
static int scan(struct reader *r, struct ww_error *err)
{
	struct ww_lines l = ww_import_lines(r->im);
	const char *line;
	struct record d;
	struct ww_num v;
	int rc = 0, more;
	size_t len;

	r->im->line = 0;
	while (rc == 0 && (more = ww_import_line(r->im, &l, &line, &len, err)) != 0) {
		if (more < 0)
			return more;
		if (find(line, len, 'n', &d) && d.n > 4 && !r->timed && r->im->rate_hz <= 0 &&
		    ww_num_read(d.f[4].p, d.f[4].n, false, &v) == WW_NUM_OK && v.value >= 1 &&
		    v.value < 1e6) {
			r->step_ns = (int64_t)(v.value * 1e9);
			r->told = true;
		}
		if (!find(line, len, 'd', &d))
			continue;
		if (r->im->table[0].rows == 0 && d.before.n)
			r->timed = true;
		rc = take(r, &d, err);
	}
	return rc;
}

static int read_wattsup(struct ww_import *im, struct ww_error *err)
{
	struct reader r = {.im = im, .step_ns = WW_NS_PER_S};
	struct ww_table *t = ww_import_table(im, "meter", err);
	int rc = t ? 0 : -ENOMEM;

	if (im->rate_hz > 0)
		r.step_ns = (int64_t)(1e9 / im->rate_hz + 0.5);
	im->clock = WW_CLOCK_NONE;
	for (size_t i = 0; rc >= 0 && i < WW_COUNTOF(columns); i++)
		rc = ww_table_column(t, columns[i].name, columns[i].quantity, columns[i].unit,
				     columns[i].semantics, err);
	if (rc >= 0)
		rc = scan(&r, err);
	if (rc < 0)
		return rc;
	t = &im->table[0];
	if (t->rows == 0 || im->bad > t->rows) {
		im->line = im->bad_first;
		return ww_import_fail(im, err, "%s", im->bad ? im->bad_why : "no records in it");
	}
	for (size_t i = 0; i < t->columns; i++) {
		t->column[i].resolution = 1;
		for (int k = 0; k < columns[i].decimals; k++)
			t->column[i].resolution /= 10;
	}
	t->window_ns = r.timed ? 0 : r.step_ns;
	if (im->bad)
		ww_note(&im->notes, "%zu line%s left out; the first is line %zu: %s", im->bad,
			im->bad == 1 ? "" : "s", im->bad_first, im->bad_why);
	ww_rows_cells(im, t);
	if (!r.timed && !r.told && im->rate_hz <= 0)
		ww_note(&im->notes, "the records tell no times: taken as one a second (--rate says "
				    "otherwise)");
	return 0;
}

const struct ww_importer ww_import_wattsup = {
	{"wattsup", "records of a Watts up? as they come over the line: #d,-,18,W,V,A,..."},
	looks,
	read_wattsup};
