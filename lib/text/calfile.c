/* SPDX-License-Identifier: MIT */
#include "text/calfile.h"
#include "base/str.h"

#include <math.h>

#define DEPTH 32
#define KEY   64

/* A reader of JSON (RFC 8259) that keeps the numbers and texts it is asked for by path. */
struct reader {
	const char *p, *end;
	char path[KEY * 2]; /* "offset_W.value" */
	size_t path_n;
	unsigned depth, lost; /* lost: deep in a path too long to keep */
	struct ww_str text;   /* the string read last */
	void *ctx;
	int (*number)(void *ctx, const char *path, double v);
	int (*string)(void *ctx, const char *path, const char *v);
};

static void skip(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
		r->p++;
}

static bool take(struct reader *r, char c)
{
	skip(r);
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static int hex4(struct reader *r, unsigned *out)
{
	*out = 0;
	if (r->end - r->p < 4)
		return -EINVAL;
	for (int i = 0; i < 4; i++) {
		char c = *r->p++;
		int d = c >= '0' && c <= '9'   ? c - '0'
			: c >= 'a' && c <= 'f' ? c - 'a' + 10
			: c >= 'A' && c <= 'F' ? c - 'A' + 10
					       : -1;

		if (d < 0)
			return -EINVAL;
		*out = *out * 16 + (unsigned)d;
	}
	return 0;
}

static void add_utf8(struct ww_str *s, unsigned c)
{
	char b[4];

	if (c < 0x80) {
		b[0] = c ? (char)c : ' ';
		ww_str_addn(s, b, 1);
	} else if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		b[1] = (char)(0x80 | (c & 0x3f));
		ww_str_addn(s, b, 2);
	} else if (c < 0x10000) {
		b[0] = (char)(0xe0 | c >> 12);
		b[1] = (char)(0x80 | (c >> 6 & 0x3f));
		b[2] = (char)(0x80 | (c & 0x3f));
		ww_str_addn(s, b, 3);
	} else {
		b[0] = (char)(0xf0 | c >> 18);
		b[1] = (char)(0x80 | (c >> 12 & 0x3f));
		b[2] = (char)(0x80 | (c >> 6 & 0x3f));
		b[3] = (char)(0x80 | (c & 0x3f));
		ww_str_addn(s, b, 4);
	}
}

static int read_escape(struct reader *r)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;
	unsigned c, low;

	if (r->p == r->end)
		return -EINVAL;
	if (*r->p != 'u') {
		at = *r->p ? strchr(from, *r->p) : NULL;
		if (!at)
			return -EINVAL;
		ww_str_addn(&r->text, to + (at - from), 1);
		r->p++;
		return 0;
	}
	r->p++;
	if (hex4(r, &c) < 0)
		return -EINVAL;
	if (c >= 0xd800 && c < 0xdc00) {
		if (r->end - r->p < 6 || r->p[0] != '\\' || r->p[1] != 'u')
			return -EINVAL;
		r->p += 2;
		if (hex4(r, &low) < 0 || low < 0xdc00 || low > 0xdfff)
			return -EINVAL;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	} else if (c >= 0xdc00 && c <= 0xdfff) {
		return -EINVAL;
	}
	add_utf8(&r->text, c);
	return 0;
}

static int read_string(struct reader *r)
{
	ww_str_reset(&r->text);
	if (!take(r, '"'))
		return -EINVAL;
	while (r->p < r->end && *r->p != '"') {
		if ((unsigned char)*r->p < 0x20)
			return -EINVAL;
		if (*r->p != '\\')
			ww_str_addn(&r->text, r->p++, 1);
		else if (r->p++, read_escape(r) < 0)
			return -EINVAL;
	}
	if (r->p == r->end)
		return -EINVAL;
	r->p++;
	return r->text.bad ? -ENOMEM : 0;
}

static int read_number(struct reader *r)
{
	char buf[64];
	size_t n = 0;
	const char *end;
	double v;

	while (r->p + n < r->end && n + 1 < sizeof(buf) && r->p[n] &&
	       strchr("+-.eE0123456789", r->p[n]))
		n++;
	memcpy(buf, r->p, n);
	buf[n] = '\0';
	v = ww_strtod(buf, &end);
	if (n == 0 || end != buf + n || (*buf != '-' && (*buf < '0' || *buf > '9')))
		return -EINVAL;
	r->p += n;
	return r->lost ? 0 : r->number(r->ctx, r->path, v);
}

static int read_word(struct reader *r)
{
	static const char *const words[] = {"true", "false", "null"};

	for (size_t i = 0; i < WW_COUNTOF(words); i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(r->end - r->p) >= n && memcmp(r->p, words[i], n) == 0) {
			r->p += n;
			return r->lost || i == 2 ? 0 : r->number(r->ctx, r->path, i == 0);
		}
	}
	return read_number(r);
}

static int read_value(struct reader *r);

static int read_member(struct reader *r, bool object)
{
	size_t was = r->path_n;
	bool fits;
	int rc = 0;

	if (object) {
		rc = read_string(r);
		if (rc < 0 || !take(r, ':'))
			return rc < 0 ? rc : -EINVAL;
	}
	/* A path too long is one that nobody asks for. */
	fits = was + (object ? r->text.n : 0) + 2 < sizeof(r->path);
	if (fits && was)
		r->path[r->path_n++] = '.';
	if (fits && object && r->text.n) {
		memcpy(r->path + r->path_n, r->text.p, r->text.n);
		r->path_n += r->text.n;
	}
	r->path[r->path_n] = '\0';
	r->lost += !fits;
	rc = read_value(r);
	r->path_n = was;
	r->path[was] = '\0';
	r->lost -= !fits;
	return rc;
}

static int read_members(struct reader *r, bool object)
{
	char close = object ? '}' : ']';
	int rc = 0;

	if (r->depth++ == DEPTH)
		return -EINVAL;
	if (!take(r, close)) {
		do
			rc = read_member(r, object);
		while (rc == 0 && take(r, ','));
		if (rc == 0 && !take(r, close))
			rc = -EINVAL;
	}
	r->depth--;
	return rc;
}

static int read_value(struct reader *r)
{
	int rc;

	skip(r);
	if (r->p == r->end)
		return -EINVAL;
	if (*r->p == '{' || *r->p == '[')
		return read_members(r, *r->p++ == '{');
	if (*r->p != '"')
		return read_word(r);
	rc = read_string(r);
	return rc < 0 || r->lost ? rc : r->string(r->ctx, r->path, r->text.n ? r->text.p : "");
}

/* --- what is asked for */

struct wanted {
	struct ww_calibration_info *info;
	char **meter;
	char schema[40];
};

static int on_number(void *ctx, const char *path, double v)
{
	struct wanted *w = ctx;
	struct ww_calibration_info *i = w->info;
	const struct {
		const char *path;
		double *to;
	} rows[] = {{"offset_W.value", &i->offset.value},
		    {"offset_W.u", &i->offset.u},
		    {"gain.value", &i->gain.value},
		    {"gain.u", &i->gain.u},
		    {"covariance_W", &i->cov},
		    {"residual_W", &i->s},
		    {"resolution_W", &i->resolution},
		    {"lowest_W", &i->lo},
		    {"highest_W", &i->hi},
		    {"zero_W.value", &i->zero},
		    {"zero_W.u", &i->zero_u}};

	for (size_t k = 0; k < WW_COUNTOF(rows); k++)
		if (strcmp(path, rows[k].path) == 0)
			*rows[k].to = v;
	if (strcmp(path, "dead_zone") == 0)
		i->dead_zone = v != 0;
	if (strcmp(path, "n") == 0 && v >= 0 && v < 1e9)
		i->n = (uint64_t)v;
	return 0;
}

static int on_string(void *ctx, const char *path, const char *v)
{
	struct wanted *w = ctx;

	if (strcmp(path, "schema") == 0 && strlen(v) < sizeof(w->schema))
		memcpy(w->schema, v, strlen(v) + 1);
	if (strcmp(path, "meter") == 0 && !*w->meter) {
		*w->meter = strdup(v);
		if (!*w->meter)
			return -ENOMEM;
	}
	return 0;
}

static int check(const char *name, const struct ww_calibration_info *i, struct ww_error *err)
{
	double limit = sqrt(i->offset.u * i->offset.u * i->gain.u * i->gain.u);

	if (!isfinite(i->offset.value) || !isfinite(i->gain.value))
		return ww_fail(err, -EINVAL, "%s: no offset_W or no gain in it", name);
	if (!(i->gain.value > 0.1) || !(i->gain.value < 10))
		return ww_fail(err, -EINVAL,
			       "%s: a gain of that size is no wattmeter's: it is indicated watts "
			       "by true watts, about 1",
			       name);
	if (!(i->offset.u >= 0) || !(i->gain.u >= 0) || isinf(i->offset.u) || isinf(i->gain.u))
		return ww_fail(err, -EINVAL, "%s: offset_W and gain need their \"u\"", name);
	if (!(fabs(i->cov) <= limit * 1.000001 + 1e-15))
		return ww_fail(err, -EINVAL, "%s: a covariance beyond what the two u allow", name);
	return 0;
}

int ww_calfile_read(const char *name, const char *text, size_t n, struct ww_calibration_info *info,
		    char **meter, struct ww_error *err)
{
	struct wanted w = {.info = info, .meter = meter};
	struct reader r = {
		.p = text, .end = text + n, .ctx = &w, .number = on_number, .string = on_string};
	double nan = (double)NAN;
	int rc;

	*info = (struct ww_calibration_info){.offset = {nan, nan},
					     .gain = {nan, nan},
					     .s = nan,
					     .lo = nan,
					     .hi = nan,
					     .zero = nan,
					     .zero_u = nan};
	*meter = NULL;
	rc = read_value(&r);
	skip(&r);
	if (rc == -ENOMEM) {
		ww_fail_nomem(err);
	} else if (rc < 0 || r.p < r.end) {
		size_t line = 1;

		for (const char *p = text; p < r.p; p++)
			line += *p == '\n';
		rc = ww_fail(
			err, -EINVAL,
			"%s:%zu: not JSON; a calibration is what pwrlog calibrate --json prints",
			name, line);
	} else if (strcmp(w.schema, "wakewatt/calibration/1") != 0) {
		rc = ww_fail(err, -EINVAL,
			     "%s: its schema is '%s', not wakewatt/calibration/1: it comes from "
			     "pwrlog calibrate",
			     name, w.schema);
	} else {
		rc = check(name, info, err);
	}
	ww_str_free(&r.text);
	if (rc < 0) {
		free(*meter);
		*meter = NULL;
	}
	return rc;
}
