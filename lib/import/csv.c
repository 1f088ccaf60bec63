/* SPDX-License-Identifier: MIT */
/* Reading a table of values as planned. */
#include "import/csv.h"

#include <stdio.h>

#define DAY_NS	    (86400 * WW_NS_PER_S)
#define LABELS_MOST 10000

/* State from line to line. */
struct reader {
	struct ww_import *im;
	struct ww_plan *p;
	size_t table; /* index: the list moves as it grows */
	struct ww_field f[WW_CSV_FIELDS];
	size_t fields;
	int64_t last;			      /* time of the row before */
	int64_t midnight;		      /* times of day without a date: days passed */
	size_t power;			      /* column of volts times amperes */
	struct ww_field label[WW_CSV_FIELDS]; /* of the row before; lent from the file */
	struct ww_odd odd[WW_CSV_FIELDS];
	size_t cpus;	   /* rows that are of one CPU only */
	size_t unlabelled; /* beyond the most labels */
	size_t again;	   /* lines that repeat the header */
	bool zone_known, zoned;
	bool cut;
};

static struct ww_table *table_of(const struct reader *r)
{
	return &r->im->table[r->table];
}

static int make_columns(struct reader *r, struct ww_error *err)
{
	struct ww_table *t = ww_import_table(r->im, "meter", err);
	int k = 0;

	if (!t)
		return -ENOMEM;
	r->table = r->im->tables - 1;
	t->notes = r->p->notes;
	t->window_ns = r->p->window_ns;
	for (size_t i = 0; k >= 0 && i < r->p->fields; i++) {
		struct ww_plan_column *c = &r->p->col[i];
		const struct ww_heading *h = &c->head;
		bool joule = strcmp(h->unit, "J") == 0;

		if (c->role != WW_ROLE_VALUE)
			continue;
		if (t->columns == 60) {
			ww_note(&r->im->notes, "only the first 60 columns of readings are read");
			c->role = WW_ROLE_NONE;
			continue;
		}
		k = ww_table_column(t, *h->name ? h->name : h->quantity, h->quantity,
				    joule ? "Wh" : h->unit,
				    strcmp(h->quantity, "energy") == 0 ? WW_COUNTER : c->semantics,
				    err);
		if (k < 0)
			break;
		c->column = (size_t)k;
		t->column[k].resolution = c->resolution;
		t->column[k].scale = joule ? 1 / 3600.0 : 0;
	}
	if (k >= 0 && r->p->dc_power) {
		k = ww_table_column(t, "power", "power", "W", WW_INSTANT, err);
		r->power = (size_t)k;
	}
	return k < 0 ? k : 0;
}

/* A stamp, with the date beside it where it has none of its own. */
static bool stamp_time(struct reader *r, size_t k, int64_t *ns)
{
	struct ww_import *im = r->im;
	struct ww_stamp s, d = {.dated = false};
	int64_t tick = WW_NS_PER_S;

	if (!ww_stamp_read(r->f[k].p, r->f[k].n, r->p->date_order, &s) || !s.clocked)
		return false;
	for (size_t i = 0; i < r->p->fields && !s.dated; i++)
		if (r->p->col[i].role == WW_ROLE_DATE &&
		    !ww_stamp_read(r->f[i].p, r->f[i].n, r->p->date_order, &d))
			return false;
	for (int i = 0; i < s.digits; i++)
		tick /= 10;
	table_of(r)->tick_ns = s.digits < 0 ? 60 * WW_NS_PER_S : tick;
	if (!r->zone_known) {
		r->zone_known = true;
		r->zoned = s.zoned;
		im->zoned = s.zoned || r->p->col[k].head.utc;
		im->zone_s = s.offset_s;
		im->clock = !s.dated && !d.dated ? WW_CLOCK_RELATIVE
			    : im->zoned		 ? WW_CLOCK_UTC
						 : WW_CLOCK_LOCAL;
	}
	if (s.zoned != r->zoned)
		return false;
	*ns = s.ns + d.ns;
	if (im->clock != WW_CLOCK_RELATIVE)
		return true;
	/* It is past midnight when the time of day falls by more than half a day. */
	if (table_of(r)->rows && *ns + r->midnight < r->last - DAY_NS / 2)
		r->midnight += DAY_NS;
	*ns += r->midnight;
	return true;
}

static bool number_time(struct reader *r, size_t k, int64_t *ns)
{
	const struct ww_plan *p = r->p;
	struct ww_table *t = table_of(r);
	struct ww_num v;
	int digits;

	if (ww_num_read(r->f[k].p, r->f[k].n, p->dialect.comma, &v) != WW_NUM_OK ||
	    !ww_import_ns(&v, p->time_exponent, p->time_seconds, ns))
		return false;
	digits = v.decimals - p->time_exponent;
	if (digits >= 0 && digits <= 9) {
		int64_t tick = WW_NS_PER_S * p->time_seconds;

		for (; digits > 0; digits--)
			tick /= 10;
		t->tick_ns = t->tick_ns && t->tick_ns < tick ? t->tick_ns : tick;
	}
	if (p->col[k].role == WW_ROLE_STEP)
		*ns = t->rows ? ww_add_sat(r->last, *ns) : 0;
	return *ns < INT64_MAX / 2 && *ns > INT64_MIN / 2;
}

/* @return whether the row has a time */
static bool row_time(struct reader *r, int64_t *ns)
{
	for (size_t i = 0; i < r->p->fields; i++) {
		int role = r->p->col[i].role;

		if (role != WW_ROLE_TIME && role != WW_ROLE_STEP)
			continue;
		if (r->p->stamped ? stamp_time(r, i, ns) : number_time(r, i, ns))
			return true;
		if (r->f[i].n == 0)
			ww_import_bad(r->im, "has no time", r->f[0].p, r->f[0].n);
		else
			ww_import_bad(r->im, "is no time", r->f[i].p, r->f[i].n);
		return false;
	}
	*ns = (int64_t)((double)(table_of(r)->rows + r->im->bad) * 1e9 / r->im->rate_hz + 0.5);
	return true;
}

/* A unit in the cell speaks before the header's: "13.5 W", "900 mW". */
static int cell_exponent(const struct ww_plan_column *c, const struct ww_num *v, int *kind)
{
	struct ww_heading unit;

	if (*kind != WW_NUM_OK || v->unit_n == 0)
		return c->head.exponent;
	if (v->unit_n == 1 && *v->unit == '%' && (*c->head.unit == '1' || *c->head.unit == '%'))
		return *c->head.unit == '1' ? -2 : 0;
	if (ww_unit_read(v->unit, v->unit_n, &unit) && strcmp(unit.unit, c->head.unit) == 0)
		return unit.exponent;
	*kind = WW_NUM_TEXT;
	return 0;
}

static void put_power(struct reader *r, const struct ww_num *v, const struct ww_num *a,
		      int exponent)
{
	struct ww_num w = {.decimals = v->decimals + a->decimals, .value = v->value * a->value};
	int kind = WW_NUM_OK;

	if (__builtin_mul_overflow(v->code, a->code, &w.code))
		kind = WW_NUM_MISSING; /* more digits than any meter has */
	ww_table_put(table_of(r), r->power, kind, &w, exponent);
}

static void put_values(struct reader *r)
{
	const struct ww_plan *p = r->p;
	struct ww_num volts = p->fixed, amps = {0}, v;
	unsigned both = p->fixed.code > 0;
	int exponent = 0;

	for (size_t i = 0; i < p->fields; i++) {
		const struct ww_plan_column *c = &p->col[i];
		int kind, e;

		if (c->role != WW_ROLE_VALUE)
			continue;
		kind = i < r->fields ? ww_num_read(r->f[i].p, r->f[i].n, p->dialect.comma, &v)
				     : WW_NUM_EMPTY;
		e = cell_exponent(c, &v, &kind);
		if (kind == WW_NUM_TEXT && r->odd[i].n++ == 0) {
			r->odd[i].cell = r->f[i];
			r->odd[i].line = r->im->line;
		}
		ww_table_put(table_of(r), c->column, kind, &v, e);
		if (!p->dc_power || kind != WW_NUM_OK || (i != p->volts && i != p->amps))
			continue;
		*(i == p->volts ? &volts : &amps) = v;
		exponent += e;
		both++;
	}
	if (both == 2)
		put_power(r, &volts, &amps, exponent);
}

static int put_label(struct reader *r, struct ww_error *err)
{
	struct ww_table *t = table_of(r);
	int rc = 0;

	for (size_t i = 0; i < r->p->fields && rc == 0; i++) {
		const struct ww_field f = r->f[i], *last = &r->label[i];

		if (r->p->col[i].role != WW_ROLE_LABEL ||
		    (last->n == f.n && (f.n == 0 || memcmp(last->p, f.p, f.n) == 0)))
			continue;
		r->label[i] = f;
		if (f.n > 0 && t->labels < LABELS_MOST)
			rc = ww_table_label(t, WW_MARK_LABEL, f.p, f.n, err);
		else if (f.n > 0)
			r->unlabelled++;
	}
	return rc;
}

/* Is it a row at all? Says why not. */
static bool is_row(struct reader *r, const char *line, size_t len, bool last)
{
	const struct ww_plan *p = r->p;
	size_t extra = p->fields;

	r->fields = ww_csv_split(&p->dialect, line, len, r->f, WW_CSV_FIELDS);
	while (extra < r->fields && extra < WW_CSV_FIELDS && r->f[extra].n == 0)
		extra++;
	if (r->fields > p->fields && extra < r->fields) {
		ww_import_bad(r->im, "is a line with too many columns", line, len);
		return false;
	}
	if (r->fields < p->fields && last && line[len - 1] != '\n' &&
	    line + len == r->im->text + r->im->n) {
		r->cut = true;
		return false;
	}
	for (size_t i = r->fields; i < p->fields; i++)
		r->f[i] = (struct ww_field){"", 0, false};
	return true;
}

/* A header in the middle: the program was started again. */
static bool is_header(const struct reader *r)
{
	struct ww_heading h;
	size_t same = 0, of = 0;

	for (size_t i = 0; i < r->p->fields && r->p->has_header; i++) {
		struct ww_str s = {0};

		if (r->p->col[i].role == WW_ROLE_NONE)
			continue;
		ww_field_text(&r->f[i], &s);
		ww_heading_read(s.p ? s.p : "", &h);
		ww_str_free(&s);
		of++;
		same += h.kind == r->p->col[i].head.kind && h.kind != WW_HEAD_UNKNOWN &&
			strcmp(h.name, r->p->col[i].head.name) == 0;
	}
	return of > 0 && same == of;
}

/* A mark of PMT: seconds since the first row, and what was marked. */
static int take_mark(struct reader *r, bool *taken, struct ww_error *err)
{
	struct ww_table *t = table_of(r);
	struct ww_num v;
	int64_t at;
	int rc;

	*taken = r->p->pmt_marks && r->fields == 3 && ww_field_is(&r->f[0], "M") && t->rows > 0 &&
		 ww_num_read(r->f[1].p, r->f[1].n, false, &v) == WW_NUM_OK &&
		 ww_import_ns(&v, 0, 1, &at);
	if (!*taken)
		return 0;
	rc = ww_table_label(t, WW_MARK_LABEL, r->f[2].p, r->f[2].n, err);
	if (rc == 0) {
		t->label[t->labels - 1].timed = true;
		t->label[t->labels - 1].at = ww_add_sat(t->hi[0], at);
	}
	return rc;
}

/* A row of turbostat that is not about all of the machine. */
static bool of_one_cpu(struct reader *r, const char *line, size_t len)
{
	size_t n = ww_csv_split(&r->p->dialect, line, len, r->f, WW_CSV_FIELDS);
	const struct ww_field *f = &r->f[r->p->summary - 1];

	if (n < r->p->summary || f->n == 0)
		return false;
	if (ww_field_is(f, "CPU"))
		r->again++;
	else if (*f->p >= '0' && *f->p <= '9')
		r->cpus++;
	else
		return false;
	return true;
}

static int take_row(struct reader *r, const char *line, size_t len, bool last, struct ww_error *err)
{
	size_t bad = r->im->bad;
	bool mark = false;
	int64_t ns = 0;
	int rc = 0;

	if (r->p->pmt_marks) {
		r->fields = ww_csv_split(&r->p->dialect, line, len, r->f, WW_CSV_FIELDS);
		rc = take_mark(r, &mark, err);
	}
	if (mark || rc < 0)
		return rc;
	if (r->p->summary && of_one_cpu(r, line, len))
		return 0;
	if (!is_row(r, line, len, last))
		return r->cut ? 0 : ww_table_break(table_of(r), 1, "line that cannot be read", err);
	if (!row_time(r, &ns)) {
		if (!is_header(r))
			return ww_table_break(table_of(r), 1, "line that cannot be read", err);
		r->im->bad = bad;
		r->again++;
		return 0;
	}
	rc = ww_table_row(table_of(r), ns, err);
	if (rc < 0)
		return rc;
	r->last = ns;
	put_values(r);
	return put_label(r, err);
}

static int check_rows(struct reader *r, struct ww_error *err)
{
	struct ww_import *im = r->im;
	size_t rows = table_of(r)->rows;

	if (im->bad > rows || rows == 0) {
		im->line = im->bad ? im->bad_first : 0;
		return ww_import_fail(im, err, "%s%s%zu of %zu lines cannot be read", im->bad_why,
				      im->bad ? "; " : "", im->bad, im->bad + rows);
	}
	if (im->bad)
		ww_note(&im->notes, "%zu line%s left out; the first is line %zu: %s", im->bad,
			im->bad == 1 ? "" : "s", im->bad_first, im->bad_why);
	if (r->cut)
		ww_note(&im->notes, "the last line is cut off: left out");
	if (r->again)
		ww_note(&im->notes, "the header comes again %zu time%s", r->again,
			r->again == 1 ? "" : "s");
	if (r->cpus)
		ww_note(&im->notes,
			"%zu rows of single CPUs are passed over: the row of all of "
			"them is the machine's",
			r->cpus);
	if (r->unlabelled)
		ww_note(&im->notes, "only the first %d labels are taken: %zu more are left out",
			LABELS_MOST, r->unlabelled);
	if (r->p->dc_power)
		ww_rows_power(r->p, table_of(r), r->power);
	if (r->p->dc_power)
		ww_note(&im->notes,
			r->p->fixed.code ? "power is amperes times the volts that were given"
					 : "power is volts times amperes, computed here: right for "
					   "direct current");
	if (ww_rows_counters(im, table_of(r), err) < 0)
		return -ENOMEM;
	ww_rows_cells(im, table_of(r));
	return ww_rows_odd(im, r->p, table_of(r), r->odd, err);
}

int ww_plan_read(struct ww_import *im, struct ww_plan *p, struct ww_error *err)
{
	struct reader r = {.im = im, .p = p};
	struct ww_lines l = ww_import_lines(im);
	const char *line;
	size_t len;
	int rc = make_columns(&r, err), more;

	im->line = 0;
	while (rc == 0 && (more = ww_import_line(im, &l, &line, &len, err)) != 0) {
		if (more < 0)
			rc = more;
		else if (im->line > p->skip && !ww_csv_blank(line, len))
			rc = take_row(&r, line, len, l.left == 0, err);
	}
	return rc < 0 ? rc : check_rows(&r, err);
}

static int looks(const char *text, size_t n)
{
	/* JSON has rows of numbers too, but none that are readings over time. */
	while (n > 0 && strchr(" \t\r\n", *text)) {
		text++;
		n--;
	}
	return n == 0 || (*text != '{' && *text != '[');
}

static int read_csv(struct ww_import *im, struct ww_error *err)
{
	struct ww_plan *p = malloc(sizeof(*p));
	int rc = p ? ww_plan_make(im, p, err) : ww_fail_nomem(err);

	if (rc == 0)
		rc = ww_plan_read(im, p, err);
	free(p);
	return rc;
}

const struct ww_importer ww_import_csv = {
	{"csv", "a table of values: any separator, with a header, a time or a rate"},
	looks,
	read_csv};
