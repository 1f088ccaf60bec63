/* SPDX-License-Identifier: MIT */
/*
 * What `wwtrace export` writes of samples, as CSV and as JSON lines: a line for each
 * channel of a row, with its interval on the axis of the trace that it came from.
 */
#include "import/import.h"
#include "text/flat.h"

#include <stdio.h>

enum member { LO, HI, SOURCE, CHANNEL, VALUE, UNIT, MEMBERS };

static const char *const members[MEMBERS] = {"t_lo_ns", "t_hi_ns", "source",
					     "channel", "value",   "unit"};
static const struct ww_csv comma = {',', false};

struct reader {
	struct ww_import *im;
	bool json;
	size_t column[64]; /* last one filled, of each source */
	struct ww_field f[MEMBERS];
};

static bool split_json(struct reader *r, const char *line, size_t len)
{
	struct ww_flat j = {.p = line, .end = line + len};
	struct ww_field key, value;
	unsigned have = 0;

	while (ww_flat_next(&j, &key, &value))
		for (size_t i = 0; i < MEMBERS; i++)
			if (ww_field_is(&key, members[i])) {
				r->f[i] = value;
				have |= 1u << i;
			}
	return !j.bad && have == (1u << MEMBERS) - 1;
}

static bool split(struct reader *r, const char *line, size_t len)
{
	return r->json ? split_json(r, line, len)
		       : ww_csv_split(&comma, line, len, r->f, MEMBERS) == MEMBERS;
}

static void text_of(const struct ww_field *f, char *to, size_t size)
{
	ww_plain(to, size, f->p, f->n);
}

static int table_for(struct reader *r, size_t *at, struct ww_error *err)
{
	struct ww_import *im = r->im;
	char name[64];

	text_of(&r->f[SOURCE], name, sizeof(name));
	for (*at = 0; *at < im->tables; (*at)++)
		if (strcmp(im->table[*at].name, name) == 0)
			return 0;
	if (im->tables == WW_COUNTOF(r->column) || !*name)
		return ww_import_fail(im, err,
				      *name ? "more than 64 sources" : "a source without a name");
	r->column[*at] = SIZE_MAX;
	return ww_import_table(im, name, err) ? 0 : -ENOMEM;
}

/* What is measured, by the unit and the channel's name. */
static int new_column(struct ww_table *t, const char *name, const char *unit, struct ww_error *err)
{
	static const char *const factors[] = {"1", "%", "VA", "W", "V", "A", "Wh", "Hz"};
	struct ww_heading u = {0}, word;
	const char *quantity = "other", *plain = "";
	bool known = ww_unit_read(unit, strlen(unit), &u);

	ww_heading_read(name, &word);
	if (known)
		quantity = u.quantity;
	else if (strcmp(unit, "1") == 0 && word.kind == WW_HEAD_VALUE &&
		 strcmp(word.unit, "1") == 0)
		quantity = word.quantity;
	for (size_t i = 0; i < WW_COUNTOF(factors); i++)
		if (strcmp(known ? u.unit : unit, factors[i]) == 0)
			plain = factors[i];
	return ww_table_column(t, name, quantity, plain,
			       strcmp(quantity, "energy") == 0 ? WW_COUNTER : WW_INSTANT, err);
}

static int column_for(struct reader *r, size_t at, size_t *column, int *exponent,
		      struct ww_error *err)
{
	struct ww_table *t = &r->im->table[at];
	char name[64], unit[24];
	struct ww_heading u = {0};
	size_t next = r->column[at] + 1;
	int k;

	text_of(&r->f[UNIT], unit, sizeof(unit));
	if (ww_unit_read(unit, strlen(unit), &u))
		*exponent = u.exponent;
	/* They come in the same order again and again. */
	if (next < t->columns && ww_field_is(&r->f[CHANNEL], t->column[next].name)) {
		*column = next;
		return 0;
	}
	text_of(&r->f[CHANNEL], name, sizeof(name));
	for (*column = 0; *column < t->columns; (*column)++)
		if (strcmp(t->column[*column].name, name) == 0)
			return 0;
	if (t->columns == 60)
		return ww_import_fail(r->im, err, "more than 60 channels of %s", t->name);
	k = new_column(t, name, unit, err);
	*column = (size_t)k;
	return k < 0 ? k : 0;
}

static bool read_ns(const struct ww_field *f, int64_t *ns)
{
	struct ww_num v;

	if (ww_num_read(f->p, f->n, false, &v) != WW_NUM_OK || v.decimals != 0 || v.unit_n)
		return false;
	*ns = v.code;
	return v.code < INT64_MAX / 2 && v.code > INT64_MIN / 2;
}

static int take(struct reader *r, struct ww_error *err)
{
	struct ww_table *t;
	int64_t lo, hi;
	size_t at, column = 0;
	struct ww_num v;
	int exponent = 0, kind, rc;

	if (!read_ns(&r->f[LO], &lo) || !read_ns(&r->f[HI], &hi) || lo > hi) {
		ww_import_bad(r->im, "is no interval of time", r->f[LO].p, r->f[LO].n);
		return 0;
	}
	rc = table_for(r, &at, err);
	if (rc == 0)
		rc = column_for(r, at, &column, &exponent, err);
	if (rc < 0)
		return rc;
	t = &r->im->table[at];
	if (t->rows == 0 || t->hi[t->rows - 1] != hi || t->lo[t->rows - 1] != lo ||
	    r->column[at] == SIZE_MAX || column <= r->column[at]) {
		rc = ww_table_row(t, hi, err);
		if (rc == 0)
			rc = ww_table_lo(t, lo, err);
	}
	if (rc < 0)
		return rc;
	r->column[at] = column;
	kind = ww_num_read(r->f[VALUE].p, r->f[VALUE].n, false, &v);
	ww_table_put(t, column, kind, &v, exponent);
	return 0;
}

/* An export shows the digits of the resolution, and more only where there is more. */
static void find_steps(struct ww_table *t)
{
	for (size_t k = 0; k < t->columns; k++) {
		struct ww_column *c = &t->column[k];

		c->resolution = 1;
		for (int i = 0; i < c->fewest && i < c->decimals; i++)
			c->resolution /= 10;
	}
}

static int check(struct ww_import *im, struct ww_error *err)
{
	size_t rows = 0;

	for (size_t i = 0; i < im->tables; i++)
		rows += im->table[i].rows;
	for (size_t i = 0; i < im->tables; i++)
		find_steps(&im->table[i]);
	if (rows == 0 || im->bad > rows) {
		im->line = im->bad_first;
		return ww_import_fail(im, err, "%s", im->bad ? im->bad_why : "no samples in it");
	}
	if (im->bad)
		ww_note(&im->notes, "%zu line%s left out; the first is line %zu: %s", im->bad,
			im->bad == 1 ? "" : "s", im->bad_first, im->bad_why);
	ww_note(&im->notes, "an export does not tell how its readings are meant: taken as those "
			    "of moments");
	im->clock = WW_CLOCK_RELATIVE;
	return 0;
}

static int own_read(struct ww_import *im, bool json, struct ww_error *err)
{
	struct reader r = {.im = im, .json = json};
	struct ww_lines l = ww_import_lines(im);
	const char *line;
	size_t len;
	int rc = 0, more;

	im->line = 0;
	while (rc == 0 && (more = ww_import_line(im, &l, &line, &len, err)) != 0) {
		if (more < 0)
			return more;
		if (len == 0 || (!json && im->line == 1))
			continue;
		if (split(&r, line, len))
			rc = take(&r, err);
		else
			ww_import_bad(im, "is no line of an export of samples", line, len);
	}
	return rc < 0 ? rc : check(im, err);
}

static int csv_looks(const char *text, size_t n)
{
	static const char header[] = "t_lo_ns,t_hi_ns,source,channel,value,unit";

	return n >= sizeof(header) - 1 && memcmp(text, header, sizeof(header) - 1) == 0 ? 100 : 0;
}

static int csv_read(struct ww_import *im, struct ww_error *err)
{
	return own_read(im, false, err);
}

static int jsonl_looks(const char *text, size_t n)
{
	struct reader r = {.json = true};
	size_t len = 0;

	return n && ww_csv_line(text, n, &len) && split_json(&r, text, len) ? 100 : 0;
}

static int jsonl_read(struct ww_import *im, struct ww_error *err)
{
	return own_read(im, true, err);
}

const struct ww_importer ww_import_own_csv = {
	{"export-csv", "samples that wwtrace export wrote as CSV"}, csv_looks, csv_read};
const struct ww_importer ww_import_own_jsonl = {{"export-jsonl",
						 "samples that wwtrace export wrote as JSON lines"},
						jsonl_looks,
						jsonl_read};
