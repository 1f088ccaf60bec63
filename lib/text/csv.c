/* SPDX-License-Identifier: MIT */
#include "text/csv.h"

#define GUESS_LINES 64

size_t ww_csv_line(const char *p, size_t n, size_t *len)
{
	const char *lf = memchr(p, '\n', n);
	size_t to = lf ? (size_t)(lf - p) : n, used = lf ? to + 1 : n;
	const char *cr = memchr(p, '\r', to);

	/* CR alone ends a line too, where it is not the one before the LF. */
	if (cr && cr + 1 < p + to) {
		*len = (size_t)(cr - p);
		return *len + 1;
	}
	*len = cr ? (size_t)(cr - p) : to;
	return used;
}

size_t ww_csv_bom(const char *p, size_t n)
{
	return n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool ww_csv_blank(const char *line, size_t n)
{
	while (n > 0 && is_blank(*line)) {
		line++;
		n--;
	}
	if (n > 2 && line[0] == ';' && line[1] == ' ')
		return (line[2] >= 'A' && line[2] <= 'Z') || (line[2] >= 'a' && line[2] <= 'z');
	return n == 0 || *line == '#' || *line == '%' ||
	       (n > 1 && line[0] == '/' && line[1] == '/');
}

struct ww_field ww_field_trim(const char *p, size_t n)
{
	while (n && is_blank(*p)) {
		p++;
		n--;
	}
	while (n && is_blank(p[n - 1]))
		n--;
	return (struct ww_field){p, n, false};
}

/* Behind the quote that ends what begins at p, or `end` where none does. */
static const char *past_quotes(const char *p, const char *end)
{
	for (p++; p < end; p++) {
		if (*p != '"')
			continue;
		if (p + 1 == end || p[1] != '"')
			return p + 1;
		p++;
	}
	return end;
}

/* The field at p. @return the separator behind it, or `end` */
static const char *one_field(char sep, const char *p, const char *end, struct ww_field *f)
{
	const char *q = p, *stop;

	while (q < end && is_blank(*q) && *q != sep)
		q++;
	if (q < end && *q == '"') {
		stop = past_quotes(q, end);
		*f = (struct ww_field){q + 1, 0, true};
		if (stop > q + 1)
			f->n = (size_t)(stop - q) - (stop[-1] == '"' ? 2 : 1);
		while (stop < end && *stop != sep && !(sep == ' ' && *stop == '\t'))
			stop++;
		return stop;
	}
	if (sep == ' ') {
		for (stop = q; stop < end && !is_blank(*stop);)
			stop++;
	} else {
		stop = memchr(p, sep, (size_t)(end - p));
		stop = stop ? stop : end;
	}
	*f = ww_field_trim(p, (size_t)(stop - p));
	return stop;
}

size_t ww_csv_split(const struct ww_csv *d, const char *line, size_t n, struct ww_field *f,
		    size_t max)
{
	const char *p = line, *end = line + n;
	struct ww_field one;
	size_t count = 0;

	for (;;) {
		if (d->sep == ' ') {
			while (p < end && is_blank(*p))
				p++;
			if (p == end)
				return count;
		}
		p = one_field(d->sep, p, end, count < max ? &f[count] : &one);
		count++;
		if (p >= end)
			return count;
		p++;
	}
}

void ww_field_text(const struct ww_field *f, struct ww_str *s)
{
	for (size_t i = 0; i < f->n; i++) {
		char c = f->p[i];

		if (f->quoted && c == '"' && i + 1 < f->n && f->p[i + 1] == '"')
			i++;
		/* U+0080 to U+009F are controls too. */
		if ((unsigned char)c == 0xc2 && i + 1 < f->n &&
		    (unsigned char)f->p[i + 1] >= 0x80 && (unsigned char)f->p[i + 1] < 0xa0)
			c = f->p[++i] & 0x1f;
		ww_str_addn(s, (unsigned char)c < 0x20 || c == 0x7f ? " " : &c, 1);
	}
}

/* Digits with what stands between those of a date and a time of day. */
static bool like_time(const struct ww_field *f)
{
	static const char ok[] = "0123456789-/:. TZ+APMapm";
	bool digit = false, colon = memchr(f->p, ':', f->n) != NULL;

	for (size_t i = 0; i < f->n; i++) {
		if (f->p[i] == ' ' && !colon)
			return false;
		if (!f->p[i] || !strchr(ok, f->p[i]))
			return false;
		digit |= f->p[i] >= '0' && f->p[i] <= '9';
	}
	return digit;
}

struct sample {
	const char *line[GUESS_LINES];
	size_t n[GUESS_LINES];
	size_t lines;
};

static void take_sample(struct sample *s, const char *text, size_t n)
{
	size_t len, used;

	s->lines = 0;
	while (s->lines < GUESS_LINES && n > 0 && (used = ww_csv_line(text, n, &len)) > 0) {
		if (!ww_csv_blank(text, len) && len <= WW_CSV_LINE) {
			s->line[s->lines] = text;
			s->n[s->lines++] = len;
		}
		text += used;
		n -= used;
	}
}

/* How well the sample falls into a table of numbers: 0 not, 1 wholly. */
static double score(const struct sample *s, const struct ww_csv *d)
{
	size_t from = s->lines > 2 ? 1 : 0, lines[WW_CSV_FIELDS + 1] = {0}, mode = 0;
	double good[WW_CSV_FIELDS + 1] = {0}, all;
	struct ww_field f[WW_CSV_FIELDS];
	struct ww_num v;

	for (size_t i = from; i < s->lines; i++) {
		size_t n = ww_csv_split(d, s->line[i], s->n[i], f, WW_CSV_FIELDS), ok = 0;

		if (n == 0 || n > WW_CSV_FIELDS)
			continue;
		for (size_t k = 0; k < n; k++)
			ok += ww_num_read(f[k].p, f[k].n, d->comma, &v) != WW_NUM_TEXT ||
			      like_time(&f[k]);
		lines[n]++;
		good[n] += (double)ok / (double)n;
	}
	for (size_t n = 1; n <= WW_CSV_FIELDS; n++)
		if (lines[n] > lines[mode] || mode == 0)
			mode = n;
	all = good[mode] / (double)(s->lines - from);
	if (mode == 1) /* any text is one field */
		all *= d->sep == (d->comma ? ';' : ',') ? d->comma ? 0.4 : 0.5 : 0;
	if (from > 0 && ww_csv_split(d, s->line[0], s->n[0], f, WW_CSV_FIELDS) != mode)
		all *= 0.9;
	return all;
}

struct ww_csv ww_csv_guess(const char *text, size_t n)
{
	static const char seps[] = {'\t', ';', ',', '|', ' '};
	struct ww_csv best = {',', false};
	double most = 0; /* ties: the first of the list */
	struct sample s;
	size_t bom = ww_csv_bom(text, n);

	take_sample(&s, text + bom, n - bom);
	for (size_t i = 0; s.lines > 0 && i < 2 * sizeof(seps); i++) {
		struct ww_csv d = {seps[i / 2], i % 2 != 0};
		double now = d.sep == ',' && d.comma && !memchr(s.line[0], '"', s.n[0]) &&
					     !memchr(s.line[s.lines - 1], '"', s.n[s.lines - 1])
				     ? 0
				     : score(&s, &d);

		if (now > most + 1e-9) {
			most = now;
			best = d;
		}
	}
	return best;
}
