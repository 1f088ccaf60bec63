/* SPDX-License-Identifier: MIT */
/*
 * SPEC PTDaemon's log: "Time,MM-DD-YYYY HH:MM:SS.mmm,Watts,W,Volts,V,Amps,A,PF,F,Mark,NAME"
 * and, of analysers with several elements, "ChN,Watts,..." behind it. A value of -1 is none.
 */
#include "import/csv.h"

#include <stdio.h>

static const struct {
	const char *word, *name, *quantity, *unit;
} kinds[] = {{"Watts", "power", "power", "W"},
	     {"Volts", "voltage", "voltage", "V"},
	     {"Amps", "current", "current", "A"},
	     {"PF", "power_factor", "power_factor", "1"}};

struct reader {
	struct ww_import *im;
	char mark[128];
	struct ww_field f[WW_CSV_FIELDS];
	size_t n;
	size_t told; /* lines of the daemon itself */
};

static const struct ww_csv comma = {',', false};

static bool has_time(const struct reader *r, struct ww_stamp *s)
{
	return r->n >= 3 && r->n <= WW_CSV_FIELDS && ww_field_is(&r->f[0], "Time") &&
	       ww_stamp_read(r->f[1].p, r->f[1].n, WW_DATE_MDY, s) && s->dated && s->clocked;
}

static int looks(const char *text, size_t n)
{
	struct reader r;
	struct ww_stamp s;
	size_t len, used;
	int lines = 0, good = 0;

	while (lines < 16 && n > 0 && (used = ww_csv_line(text, n, &len)) > 0) {
		if (!ww_csv_blank(text, len)) {
			r.n = ww_csv_split(&comma, text, len, r.f, WW_CSV_FIELDS);
			good += has_time(&r, &s);
			lines++;
		}
		text += used;
		n -= used;
	}
	return 2 * good > lines ? 95 : 0;
}

static int kind_of(const struct ww_field *f)
{
	for (size_t i = 0; i < WW_COUNTOF(kinds); i++)
		if (ww_field_is(f, kinds[i].word))
			return (int)i;
	return -1;
}

/* "Ch1": its number, or 0. */
static int element_of(const struct ww_field *f)
{
	struct ww_num v;

	if (f->n < 3 || (memcmp(f->p, "Ch", 2) != 0 && memcmp(f->p, "CH", 2) != 0) ||
	    ww_num_read(f->p + 2, f->n - 2, false, &v) != WW_NUM_OK || v.code < 1 || v.code > 12)
		return 0;
	return (int)v.code;
}

/* The column of a value, made when it is first met. */
static int column_for(struct reader *r, int element, int kind, struct ww_error *err)
{
	struct ww_table *t = &r->im->table[0];
	char name[40];

	if (element)
		snprintf(name, sizeof(name), "ch%d_%s", element, kinds[kind].name);
	else
		snprintf(name, sizeof(name), "%s", kinds[kind].name);
	for (size_t i = 0; i < t->columns; i++)
		if (strcmp(t->column[i].name, name) == 0)
			return (int)i;
	/* Parts of what the first channel tells as a whole. */
	return ww_table_column(t, name, element && kind == 0 ? "other" : kinds[kind].quantity,
			       kinds[kind].unit, WW_AVERAGE, err);
}

static int put_values(struct reader *r, struct ww_error *err)
{
	int element = 0;

	for (size_t i = 2; i + 1 < r->n; i++) {
		struct ww_num v;
		int kind = kind_of(&r->f[i]), is, column;

		if (kind < 0) {
			if (ww_field_is(&r->f[i], "Mark"))
				i++;
			else if (element_of(&r->f[i]))
				element = element_of(&r->f[i]);
			continue;
		}
		i++;
		is = ww_num_read(r->f[i].p, r->f[i].n, false, &v);
		if (is == WW_NUM_OK && v.value == -1.0)
			is = WW_NUM_MISSING;
		column = column_for(r, element, kind, err);
		if (column < 0)
			return column;
		ww_table_put(&r->im->table[0], (size_t)column, is, &v, 0);
	}
	return 0;
}

static int put_mark(struct reader *r, struct ww_error *err)
{
	for (size_t i = 2; i + 1 < r->n; i++) {
		const struct ww_field *f = &r->f[i + 1];
		size_t n = f->n < sizeof(r->mark) - 1 ? f->n : sizeof(r->mark) - 1;

		if (!ww_field_is(&r->f[i], "Mark"))
			continue;
		if (strlen(r->mark) == n && memcmp(r->mark, f->p, n) == 0)
			return 0;
		memcpy(r->mark, f->p, n);
		r->mark[n] = '\0';
		return ww_field_is(f, "notset")
			       ? 0
			       : ww_table_label(&r->im->table[0], WW_MARK_LABEL, f->p, f->n, err);
	}
	return 0;
}

/* What the daemon says of itself; the analyser's name among it. */
static int put_words(struct reader *r, const char *line, size_t len, struct ww_error *err)
{
	static const char identity[] = "Analyzer identity response";
	struct ww_table *t = &r->im->table[0];
	const struct ww_field *f = &r->f[r->n > 3 ? 3 : 2];
	const char *colon = memchr(f->p, ':', f->n);
	struct ww_str s = {0};

	r->told++;
	if (t->model || r->n < 5 || f->n < sizeof(identity) || !colon || colon + 2 >= f->p + f->n ||
	    memcmp(f->p, identity, sizeof(identity) - 1) != 0) {
		const char *from = r->f[2].p;

		return r->told > 1000 ? 0
				      : ww_table_label(t, WW_MARK_DEVICE, from,
						       (size_t)(line + len - from), err);
	}
	ww_field_text(&(struct ww_field){colon + 2, (size_t)(f->p + f->n - colon) - 2, false}, &s);
	ww_str_add(&s, " ");
	ww_field_text(&r->f[4], &s);
	return ww_str_take(&s, &t->model, err);
}

static int take(struct reader *r, const char *line, size_t len, struct ww_error *err)
{
	struct ww_table *t = &r->im->table[0];
	struct ww_stamp s;
	int rc;

	r->n = ww_csv_split(&comma, line, len, r->f, WW_CSV_FIELDS);
	if (!has_time(r, &s)) {
		ww_import_bad(r->im, "is no line of PTDaemon", line, len);
		return ww_table_break(t, 1, "line that cannot be read", err);
	}
	if (kind_of(&r->f[2]) < 0)
		return put_words(r, line, len, err);
	t->tick_ns = WW_NS_PER_MS;
	rc = ww_table_row(t, s.ns, err);
	if (rc == 0)
		rc = put_values(r, err);
	return rc == 0 ? put_mark(r, err) : rc;
}

static int ptd_read(struct ww_import *im, struct ww_error *err)
{
	struct reader r = {.im = im};
	struct ww_lines l = ww_import_lines(im);
	struct ww_table *t = ww_import_table(im, "analyser", err);
	const char *line;
	size_t len;
	int rc = t ? 0 : -ENOMEM, more;

	im->line = 0;
	im->clock = WW_CLOCK_LOCAL;
	while (rc == 0 && (more = ww_import_line(im, &l, &line, &len, err)) != 0)
		rc = more < 0 ? more : ww_csv_blank(line, len) ? 0 : take(&r, line, len, err);
	if (rc < 0)
		return rc;
	t = &im->table[0];
	if (t->rows == 0 || im->bad > t->rows) {
		im->line = im->bad_first;
		return ww_import_fail(im, err, "%s", im->bad ? im->bad_why : "no readings in it");
	}
	if (im->bad)
		ww_note(&im->notes, "%zu line%s left out; the first is line %zu: %s", im->bad,
			im->bad == 1 ? "" : "s", im->bad_first, im->bad_why);
	ww_rows_cells(im, t);
	return 0;
}

const struct ww_importer ww_import_ptd = {
	{"ptd", "SPEC PTDaemon log, as MLPerf and SPECpower keep them; marks become labels"},
	looks,
	ptd_read};
