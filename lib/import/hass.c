/* SPDX-License-Identifier: MIT */
/*
 * Home Assistant's history: "entity_id,state,last_changed", a line for each change. What an
 * entity is, its name says; each that measures is a source, the others' states are labels.
 */
#include "import/import.h"

#define ENTITIES 64

static const struct ww_csv comma = {',', false};

enum { ENTITY, STATE, TIME, PARTS };

struct reader {
	struct ww_import *im;
	size_t at[PARTS], fields; /* where these stand */
	int exponent[ENTITIES];	  /* of each table's values */
	bool zoned, stamped;
	size_t labels;
};

static bool header(const char *line, size_t len, size_t at[PARTS], size_t *fields)
{
	struct ww_field f[WW_CSV_FIELDS];
	unsigned have = 0;

	*fields = ww_csv_split(&comma, line, len, f, WW_CSV_FIELDS);
	for (size_t i = 0; i < *fields && i < WW_CSV_FIELDS; i++) {
		int part = ww_field_is(&f[i], "entity_id")		       ? ENTITY
			   : ww_field_is(&f[i], "state")		       ? STATE
			   : ww_field_is(&f[i], "last_changed")		       ? TIME
			   : ww_field_is(&f[i], "last_updated") && !(have & 4) ? TIME
									       : PARTS;

		if (part == PARTS)
			continue;
		at[part] = i;
		have |= 1u << part;
	}
	return have == 7 && *fields <= WW_CSV_FIELDS;
}

/* The first line with something in it. */
static bool first_line(const char **text, size_t *n, const char **line, size_t *len)
{
	while (*n > 0) {
		size_t used = ww_csv_line(*text, *n, len);

		*line = *text;
		*text += used;
		*n -= used;
		if (*len)
			return true;
	}
	return false;
}

static int looks(const char *text, size_t n)
{
	size_t at[PARTS], fields, len, bom = ww_csv_bom(text, n);
	const char *line;

	text += bom;
	n -= bom;
	return first_line(&text, &n, &line, &len) && header(line, len, at, &fields) ? 95 : 0;
}

/* "sensor.desk_power" without what stands before the point. */
static void name_of(const struct ww_field *f, char *name, size_t size)
{
	const char *dot = memchr(f->p, '.', f->n);
	const char *from = dot ? dot + 1 : f->p;

	ww_plain(name, size, from, f->n - (size_t)(from - f->p));
}

static size_t find(const struct ww_import *im, const char *name)
{
	size_t i = 0;

	while (i < im->tables && strcmp(im->table[i].name, name) != 0)
		i++;
	return i;
}

/* A source for an entity that measures what is known. */
static int meet(struct reader *r, const struct ww_field *entity, struct ww_error *err)
{
	struct ww_import *im = r->im;
	struct ww_heading h;
	struct ww_table *t;
	char name[64];
	bool energy;

	name_of(entity, name, sizeof(name));
	ww_heading_read(name, &h);
	if (h.kind != WW_HEAD_VALUE || !*h.quantity || h.wide || find(im, name) < im->tables)
		return 0;
	if (im->tables == ENTITIES)
		return ww_import_fail(im, err, "more than %d entities that measure", ENTITIES);
	energy = strcmp(h.quantity, "energy") == 0;
	r->exponent[im->tables] = h.exponent;
	if (!h.has_unit && energy)
		r->exponent[im->tables] = 3;
	if (!h.has_unit && *h.unit != '1')
		ww_note(&im->notes, "%s tells no unit: taken as %s%s", name, energy ? "k" : "",
			h.unit);
	t = ww_import_table(im, name, err);
	if (!t)
		return -ENOMEM;
	t->notes = "told where it changes";
	return ww_table_column(t, h.quantity, h.quantity, h.unit, energy ? WW_COUNTER : WW_HOLD,
			       err) < 0
		       ? -ENOMEM
		       : 0;
}

static int put_label(struct reader *r, const struct ww_field *f, int64_t ns, struct ww_error *err)
{
	struct ww_table *t = &r->im->table[0];
	struct ww_str text = {0};
	char name[64];
	int rc;

	if (r->labels++ >= 10000)
		return 0;
	name_of(&f[r->at[ENTITY]], name, sizeof(name));
	ww_str_addf(&text, "%s ", name);
	ww_field_text(&f[r->at[STATE]], &text);
	rc = text.bad ? ww_fail_nomem(err) : ww_table_label(t, WW_MARK_LABEL, text.p, text.n, err);
	ww_str_free(&text);
	if (rc == 0) {
		t->label[t->labels - 1].timed = true;
		t->label[t->labels - 1].at = ns;
	}
	return rc;
}

static int take(struct reader *r, const struct ww_field *f, struct ww_error *err)
{
	const struct ww_field *when = &f[r->at[TIME]], *state = &f[r->at[STATE]];
	struct ww_table *t;
	struct ww_stamp s;
	struct ww_num v;
	char name[64];
	size_t k;
	int rc;

	if (!ww_stamp_read(when->p, when->n, WW_DATE_DMY, &s) || !s.dated || !s.clocked ||
	    (r->stamped && s.zoned != r->zoned)) {
		ww_import_bad(r->im, "is no time", when->p, when->n);
		return 0;
	}
	r->stamped = true;
	r->zoned = s.zoned;
	r->im->clock = s.zoned ? WW_CLOCK_UTC : WW_CLOCK_LOCAL;
	name_of(&f[r->at[ENTITY]], name, sizeof(name));
	k = find(r->im, name);
	if (k == r->im->tables)
		return put_label(r, f, s.ns, err);
	t = &r->im->table[k];
	t->tick_ns = s.digits > 0 ? WW_NS_PER_MS : WW_NS_PER_S;
	rc = ww_table_row(t, s.ns, err);
	if (rc == 0)
		ww_table_put(t, 0, ww_num_read(state->p, state->n, false, &v), &v, r->exponent[k]);
	return rc;
}

static int scan(struct reader *r, bool meeting, struct ww_error *err)
{
	struct ww_lines l = ww_import_lines(r->im);
	struct ww_field f[WW_CSV_FIELDS];
	bool begun = false;
	const char *line;
	int rc = 0, more;
	size_t len;

	r->im->line = 0;
	while (rc == 0 && (more = ww_import_line(r->im, &l, &line, &len, err)) != 0) {
		if (more < 0)
			return more;
		if (len == 0)
			continue;
		if (!begun) {
			begun = true;
			if (!header(line, len, r->at, &r->fields))
				return ww_import_fail(
					r->im, err,
					"its first line does not name entity_id, state "
					"and last_changed");
			continue;
		}
		if (ww_csv_split(&comma, line, len, f, WW_CSV_FIELDS) != r->fields) {
			if (!meeting)
				ww_import_bad(r->im, "has other columns than the header", line,
					      len);
			continue;
		}
		rc = meeting ? meet(r, &f[r->at[ENTITY]], err) : take(r, f, err);
	}
	return rc;
}

static int read_hass(struct ww_import *im, struct ww_error *err)
{
	struct reader r = {.im = im};
	int rc = scan(&r, true, err);
	size_t rows = 0;

	if (rc == 0 && im->tables == 0) {
		im->line = 0;
		return ww_import_fail(im, err,
				      "no entity whose name ends in power, energy, voltage or "
				      "current: rename it, or name the columns (--format csv "
				      "--columns ,W,time)");
	}
	if (im->columns)
		ww_note(&im->notes, "Home Assistant's history tells its columns: those named are "
				    "not used (--format csv takes it as a plain table)");
	if (rc == 0)
		rc = scan(&r, false, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < im->tables; i++) {
		const struct ww_table *t = &im->table[i];

		rows += t->rows;
		if (t->column[0].missing)
			ww_note(&im->notes, "%s: %zu of %zu states are no number: missing", t->name,
				t->column[0].missing, t->rows);
	}
	if (rows == 0 || im->bad > rows) {
		im->line = im->bad_first;
		return ww_import_fail(im, err, "%s", im->bad ? im->bad_why : "no states in it");
	}
	if (im->bad)
		ww_note(&im->notes, "%zu line%s left out; the first is line %zu: %s", im->bad,
			im->bad == 1 ? "" : "s", im->bad_first, im->bad_why);
	if (r.labels)
		ww_note(&im->notes, "%zu states of what does not measure are labels", r.labels);
	return 0;
}

const struct ww_importer ww_import_hass = {
	{"hass", "Home Assistant's history: entity_id,state,last_changed"}, looks, read_hass};
