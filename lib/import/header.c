/* SPDX-License-Identifier: MIT */
/* Where a table begins, and what its header says. */
#include "import/csv.h"

/* "; Samplerate: 1 kHz" of sigrok; `known` where this line tells none. */
static double rate_of(const char *line, size_t n, double known)
{
	static const struct {
		const char *unit;
		double hz;
	} units[] = {{"hz", 1}, {"khz", 1e3}, {"mhz", 1e6}, {"ghz", 1e9}};
	static const char key[] = "samplerate:";
	struct ww_field f[8];
	const struct ww_csv blank = {' ', false};
	size_t have = ww_csv_split(&blank, line, n, f, WW_COUNTOF(f));
	struct ww_num v;

	for (size_t i = 0; i + 1 < have && i + 1 < WW_COUNTOF(f); i++) {
		struct ww_field unit = i + 2 < have && i + 2 < WW_COUNTOF(f)
					       ? f[i + 2]
					       : (struct ww_field){"", 0, false};

		if (!ww_field_is(&f[i], key) ||
		    ww_num_read(f[i + 1].p, f[i + 1].n, false, &v) != WW_NUM_OK || v.value <= 0)
			continue;
		if (v.unit_n)
			unit = (struct ww_field){v.unit, v.unit_n, false};
		for (size_t u = 0; u < WW_COUNTOF(units); u++)
			if (ww_field_is(&unit, units[u].unit) && v.value * units[u].hz <= 1e9)
				return v.value * units[u].hz;
	}
	return known;
}

void ww_head_read(struct ww_import *im, struct ww_head *h)
{
	struct ww_lines l = ww_import_lines(im);
	size_t len, used, number = 0, left = WW_IMPORT_SAMPLE;

	memset(h, 0, sizeof(*h));
	while (h->lines < WW_HEAD_LINES && l.left &&
	       (used = ww_csv_line(l.p, l.left, &len)) <= left) {
		number++;
		if (!ww_csv_blank(l.p, len)) {
			h->line[h->lines] = l.p;
			h->n[h->lines] = len;
			h->number[h->lines++] = number;
		} else if (h->lines == 0 && len > 1) {
			h->comment = l.p;
			h->comment_n = len;
			h->rate_hz = rate_of(l.p, len, h->rate_hz);
		}
		l.p += used;
		l.left -= used;
		left -= used;
	}
}

bool ww_is_stamp(const struct ww_field *f, struct ww_stamp *s)
{
	return ww_stamp_read(f->p, f->n, WW_DATE_DMY, s) ||
	       ww_stamp_read(f->p, f->n, WW_DATE_MDY, s);
}

bool ww_head_typed(const struct ww_head *h, const struct ww_csv *d)
{
	for (size_t i = 0; i < h->lines && i < 4; i++) {
		struct ww_field f[4];
		size_t n = ww_csv_split(d, h->line[i], h->n[i], f, WW_COUNTOF(f));
		bool sign = f[0].n > 1 && (*f[0].p == '+' || *f[0].p == '-') &&
			    ((f[0].p[1] >= 'a' && f[0].p[1] <= 'z') ||
			     (f[0].p[1] >= 'A' && f[0].p[1] <= 'Z'));

		if (n > 1 && (sign || ww_field_is(&f[0], "all unplugged") ||
			      ww_field_is(&f[0], "all off") || ww_field_is(&f[0], "all on")))
			return true;
	}
	return false;
}

/* Numbers and times where a header has words. */
static bool is_data(const struct ww_csv *d, const char *line, size_t n, size_t *fields)
{
	struct ww_field f[WW_CSV_FIELDS];
	size_t numbers = 0, texts = 0;
	struct ww_stamp s;
	struct ww_num v;

	*fields = ww_csv_split(d, line, n, f, WW_CSV_FIELDS);
	for (size_t i = 0; i < *fields && i < WW_CSV_FIELDS; i++) {
		int kind = ww_num_read(f[i].p, f[i].n, d->comma, &v);

		if (kind == WW_NUM_OK || ww_is_stamp(&f[i], &s))
			numbers++;
		else if (kind == WW_NUM_TEXT)
			texts++;
	}
	return numbers > 0 && numbers >= texts;
}

/* Some word in it names a time or a quantity. */
static bool has_known(const struct ww_csv *d, const char *line, size_t n)
{
	struct ww_field f[WW_CSV_FIELDS];
	size_t have = ww_csv_split(d, line, n, f, WW_CSV_FIELDS);
	struct ww_heading h;
	bool known = false;

	for (size_t i = 0; i < have && i < WW_CSV_FIELDS; i++) {
		struct ww_str s = {0};

		ww_field_text(&f[i], &s);
		ww_heading_read(s.p ? s.p : "", &h);
		known |= h.kind != WW_HEAD_UNKNOWN;
		ww_str_free(&s);
	}
	return known;
}

/*
 * First row of the table: data, as many fields as most lines have, and a header before it
 * or data after it.
 */
size_t ww_head_first(const struct ww_head *h, const struct ww_csv *d)
{
	size_t fields[WW_HEAD_LINES] = {0}, count[WW_CSV_FIELDS + 1] = {0}, mode = 0;
	bool data[WW_HEAD_LINES] = {false};

	for (size_t i = 0; i < h->lines; i++) {
		data[i] = is_data(d, h->line[i], h->n[i], &fields[i]);
		if (fields[i] <= WW_CSV_FIELDS && data[i])
			count[fields[i]]++;
	}
	for (size_t k = 1; k <= WW_CSV_FIELDS; k++)
		mode = count[k] > count[mode] ? k : mode;
	for (size_t i = 0; i < h->lines; i++)
		if (data[i] && fields[i] == mode &&
		    ((i > 0 && fields[i - 1] == mode &&
		      has_known(d, h->line[i - 1], h->n[i - 1])) ||
		     i + 1 == h->lines || (data[i + 1] && fields[i + 1] == mode)))
			return i;
	for (size_t i = 0; i < h->lines; i++)
		if (data[i] && fields[i] == mode)
			return i;
	return h->lines;
}

static bool is_words(const struct ww_csv *d, const char *line, size_t n, size_t fields,
		     struct ww_field *f)
{
	size_t have = ww_csv_split(d, line, n, f, WW_CSV_FIELDS), words = 0;
	struct ww_num v;

	if (have > WW_CSV_FIELDS || have + 1 < fields || have > fields + 1)
		return false;
	for (size_t i = 0; i < have; i++) {
		int kind = ww_num_read(f[i].p, f[i].n, d->comma, &v);

		if (kind == WW_NUM_OK)
			return false;
		words += kind == WW_NUM_TEXT;
	}
	for (size_t i = have; i < fields; i++)
		f[i] = (struct ww_field){"", 0, false};
	return words > 0;
}

/* Some row of the sample has more than `most` cells with something in them. */
static bool has_wider(const struct ww_plan *p, const struct ww_head *h, size_t first, size_t most)
{
	struct ww_field f[WW_CSV_FIELDS];

	for (size_t i = first; i < h->lines; i++) {
		size_t n = ww_csv_split(&p->dialect, h->line[i], h->n[i], f, WW_CSV_FIELDS);

		for (size_t k = most; k < n && k < WW_CSV_FIELDS; k++)
			if (f[k].n)
				return true;
	}
	return false;
}

int ww_head_width(struct ww_import *im, struct ww_plan *p, const struct ww_head *h, size_t first,
		  struct ww_error *err)
{
	struct ww_field f[WW_CSV_FIELDS];
	struct ww_num v;
	size_t have;

	if (first == 0 || p->dialect.sep == ' ' ||
	    !has_known(&p->dialect, h->line[first - 1], h->n[first - 1]))
		return 0;
	have = ww_csv_split(&p->dialect, h->line[first - 1], h->n[first - 1], f, WW_CSV_FIELDS);
	if (have > WW_CSV_FIELDS)
		return 0;
	for (size_t i = 0; i < have; i++)
		if (ww_num_read(f[i].p, f[i].n, p->dialect.comma, &v) == WW_NUM_OK)
			return 0; /* no header: something that stands before the table */
	if (have >= p->fields) {
		p->fields = have;
		return 0;
	}
	if (have == 1 || !has_wider(p, h, first, have))
		return 0;
	im->line = h->number[first];
	return ww_import_fail(im, err,
			      "column %zu has no name: %zu columns here, the header has %zu%s",
			      have + 1, p->fields, have,
			      p->dialect.sep == ','
				      ? "; if these are decimal commas, write points, or put "
					"semicolons between the columns"
				      : "; name them (--columns), or mend the header");
}

static bool all_units(const struct ww_field *f, size_t fields)
{
	struct ww_heading unit;
	size_t n = 0;

	for (size_t i = 0; i < fields; i++) {
		const char *p = f[i].p;
		size_t len = f[i].n;

		if (len > 2 && (*p == '(' || *p == '[')) {
			p++;
			len -= 2;
		}
		if (len > 0 && !ww_unit_read(p, len, &unit))
			return false;
		n += len > 0;
	}
	return n > 0;
}

static int read_headings(struct ww_plan *p, const struct ww_field *name,
			 const struct ww_field *unit, struct ww_error *err)
{
	for (size_t i = 0; i < p->fields; i++) {
		struct ww_str s = {0};

		ww_field_text(&name[i], &s);
		if (unit && unit[i].n) {
			ww_str_add(&s, " (");
			ww_field_text(&unit[i], &s);
			ww_str_add(&s, ")");
		}
		if (s.bad)
			return ww_fail_nomem(err);
		ww_heading_read(s.p ? s.p : "", &p->col[i].head);
		ww_str_free(&s);
	}
	p->has_header = true;
	return 0;
}

/* "# time power" as gnuplot's users write it. */
static int comment_header(struct ww_plan *p, const struct ww_head *h, struct ww_error *err)
{
	struct ww_field f[WW_CSV_FIELDS];
	const char *text = h->comment, *end;
	bool known = false;
	int rc;

	if (!text)
		return 0;
	end = text + h->comment_n;
	while (text < end && (*text == ' ' || *text == '#' || *text == '%' || *text == '/'))
		text++;
	if (!is_words(&p->dialect, text, (size_t)(end - text), p->fields, f))
		return 0;
	rc = read_headings(p, f, NULL, err);
	for (size_t i = 0; i < p->fields; i++)
		known |= p->col[i].head.kind != WW_HEAD_UNKNOWN;
	p->has_header = known;
	return rc;
}

/* "uA@3.3V": amperes at these volts. @return 0, or the number of a name that tells no volts */
static size_t take_volts(struct ww_plan *p, struct ww_field *f)
{
	for (size_t i = 0; i < p->fields; i++) {
		const char *at = memchr(f[i].p, '@', f[i].n);
		size_t n = at ? (size_t)(at - f[i].p) : f[i].n;

		if (!at)
			continue;
		if (p->fixed.code ||
		    ww_num_read(at + 1, f[i].n - n - 1, false, &p->fixed) != WW_NUM_OK ||
		    p->fixed.code <= 0 ||
		    (p->fixed.unit_n && !(p->fixed.unit_n == 1 && *p->fixed.unit == 'V')))
			return i + 1;
		p->amps = i;
		f[i].n = n;
	}
	return 0;
}

int ww_head_names(struct ww_import *im, struct ww_plan *p, const struct ww_head *h, size_t first,
		  struct ww_error *err)
{
	struct ww_field f[WW_CSV_FIELDS], above[WW_CSV_FIELDS];
	const struct ww_csv comma = {',', false};
	size_t n;

	if (im->columns) {
		n = ww_csv_split(&comma, im->columns, strlen(im->columns), f, WW_CSV_FIELDS);
		for (; n < p->fields; n++) /* the rest is passed over */
			f[n] = (struct ww_field){"", 0, false};
		if (n > p->fields)
			return ww_fail(err, -EINVAL,
				       "%s:%zu: %zu columns, but names for %zu of them were given",
				       im->path, h->number[first], p->fields, n);
		n = take_volts(p, f);
		if (n)
			return ww_fail(err, -EINVAL,
				       "column %zu: '%.*s': volts of direct current stand behind "
				       "the @ of one column, as uA@3.3V",
				       n, (int)f[n - 1].n, f[n - 1].p);
		return read_headings(p, f, NULL, err);
	}
	if (first > 0 && is_words(&p->dialect, h->line[first - 1], h->n[first - 1], p->fields, f)) {
		if (first > 1 && all_units(f, p->fields) &&
		    is_words(&p->dialect, h->line[first - 2], h->n[first - 2], p->fields, above))
			return read_headings(p, above, f, err);
		return read_headings(p, f, NULL, err);
	}
	return comment_header(p, h, err);
}
