/* SPDX-License-Identifier: MIT */
/* Tables without a header, or without units, that are known by their looks. */
#include "import/csv.h"

#include <math.h>

#define SAMPLE_LINES 64

bool ww_sample_line(const char **text, size_t *n, const char **line, size_t *len)
{
	while (*n > 0) {
		size_t used = ww_csv_line(*text, *n, len);

		*line = *text;
		*text += used;
		*n -= used;
		if (!ww_csv_blank(*line, *len))
			return *n > 0 || used > *len;
	}
	return false;
}

void ww_known_set(struct ww_plan *p, size_t i, int role, const char *heading, const char *name,
		  int semantics)
{
	struct ww_plan_column *c = &p->col[i];

	ww_heading_read(heading, &c->head);
	c->role = role;
	c->semantics = semantics;
	if (name) {
		size_t n = strlen(name) < sizeof(c->head.name) - 1 ? strlen(name)
								   : sizeof(c->head.name) - 1;

		memcpy(c->head.name, name, n);
		c->head.name[n] = '\0';
	}
}

struct ww_plan *ww_known_new(char sep, size_t fields, struct ww_error *err)
{
	struct ww_plan *p = calloc(1, sizeof(*p));

	if (!p) {
		ww_fail_nomem(err);
		return NULL;
	}
	p->dialect = (struct ww_csv){sep, false};
	p->fields = fields;
	p->time_seconds = 1;
	for (size_t i = 0; i < fields; i++)
		ww_heading_read("", &p->col[i].head);
	return p;
}

int ww_known_run(struct ww_import *im, struct ww_plan *p, struct ww_error *err)
{
	int rc = ww_plan_read(im, p, err);

	free(p);
	return rc;
}

/* --- tracebase: DD/MM/YYYY HH:MM:SS;W;W, averages over one and eight seconds */

static int tracebase_looks(const char *text, size_t n)
{
	const struct ww_csv d = {';', false};
	struct ww_field f[3];
	const char *line;
	struct ww_stamp s;
	struct ww_num v;
	size_t len;
	int lines = 0;

	while (lines < SAMPLE_LINES && ww_sample_line(&text, &n, &line, &len)) {
		if (ww_csv_split(&d, line, len, f, 3) != 3 ||
		    !ww_stamp_read(f[0].p, f[0].n, WW_DATE_DMY, &s) || !s.first || !s.clocked ||
		    f[0].p[2] != '/')
			return 0;
		for (int k = 1; k < 3; k++)
			if (ww_num_read(f[k].p, f[k].n, false, &v) != WW_NUM_OK || v.decimals != 0)
				return 0;
		lines++;
	}
	return lines ? 90 : 0;
}

static int tracebase_read(struct ww_import *im, struct ww_error *err)
{
	struct ww_plan *p = ww_known_new(';', 3, err);

	if (!p)
		return -ENOMEM;
	p->stamped = true;
	p->date_order = WW_DATE_DMY;
	p->window_ns = WW_NS_PER_S;
	p->notes = "mean over one second; power_8s over eight";
	ww_known_set(p, 0, WW_ROLE_TIME, "time", NULL, 0);
	ww_known_set(p, 1, WW_ROLE_VALUE, "W", "power", WW_AVERAGE);
	ww_known_set(p, 2, WW_ROLE_VALUE, "W", "power_8s", WW_AVERAGE);
	p->col[2].head.quantity = "other"; /* the same watts again, smoothed */
	im->clock = WW_CLOCK_LOCAL;
	return ww_known_run(im, p, err);
}

const struct ww_importer ww_import_tracebase = {
	{"tracebase", "tracebase: DD/MM/YYYY HH:MM:SS;W;W, means over one and eight seconds"},
	tracebase_looks,
	tracebase_read};

/* --- TC66: s;V;A of a USB tester, five and six decimals */

static int tc66_looks(const char *text, size_t n)
{
	const struct ww_csv d = {';', false};
	struct ww_field f[3];
	const char *line;
	double last = -1;
	size_t len;
	int lines = 0;

	while (lines < SAMPLE_LINES && ww_sample_line(&text, &n, &line, &len)) {
		struct ww_num s, v, a;

		if (ww_csv_split(&d, line, len, f, 3) != 3 ||
		    ww_num_read(f[0].p, f[0].n, false, &s) != WW_NUM_OK ||
		    ww_num_read(f[1].p, f[1].n, false, &v) != WW_NUM_OK ||
		    ww_num_read(f[2].p, f[2].n, false, &a) != WW_NUM_OK)
			return 0;
		if (s.decimals != 2 || v.decimals != 5 || a.decimals != 6 || s.value < last ||
		    fabs(v.value) > 30 || fabs(a.value) > 10)
			return 0;
		last = s.value;
		lines++;
	}
	return lines > 1 ? 90 : 0;
}

static int tc66_read(struct ww_import *im, struct ww_error *err)
{
	struct ww_plan *p = ww_known_new(';', 3, err);

	if (!p)
		return -ENOMEM;
	ww_known_set(p, 0, WW_ROLE_TIME, "t_s", NULL, 0);
	ww_known_set(p, 1, WW_ROLE_VALUE, "V", "voltage", WW_INSTANT);
	ww_known_set(p, 2, WW_ROLE_VALUE, "A", "current", WW_INSTANT);
	p->col[1].resolution = 1e-4; /* of the instrument */
	p->col[2].resolution = 1e-5;
	p->notes = "power is volts times amperes, computed at the import";
	p->dc_power = true;
	p->volts = 1;
	p->amps = 2;
	im->clock = WW_CLOCK_RELATIVE;
	return ww_known_run(im, p, err);
}

const struct ww_importer ww_import_tc66 = {
	{"tc66", "TC66 and TC66C log: seconds;V;A, the power is computed"}, tc66_looks, tc66_read};

/* --- PMT: "timestamp NAME NAME...", watts at an epoch with milliseconds */

static bool pmt_header(const char **text, size_t *n, struct ww_field *f, size_t *fields)
{
	const struct ww_csv d = {' ', false};
	struct ww_heading h;
	const char *line;
	size_t len;
	char name[48];

	if (!ww_sample_line(text, n, &line, &len))
		return false;
	*fields = ww_csv_split(&d, line, len, f, WW_CSV_FIELDS);
	if (*fields < 2 || *fields > WW_CSV_FIELDS || !ww_field_is(&f[0], "timestamp"))
		return false;
	for (size_t i = 1; i < *fields; i++) {
		size_t k = f[i].n < sizeof(name) - 1 ? f[i].n : sizeof(name) - 1;

		memcpy(name, f[i].p, k);
		name[k] = '\0';
		ww_heading_read(name, &h);
		if (h.kind != WW_HEAD_UNKNOWN && (h.kind != WW_HEAD_VALUE || h.has_unit))
			return false;
	}
	return true;
}

static int pmt_looks(const char *text, size_t n)
{
	const struct ww_csv d = {' ', false};
	struct ww_field f[WW_CSV_FIELDS];
	const char *line;
	size_t len, fields;
	struct ww_num v;
	int lines = 0;

	if (!pmt_header(&text, &n, f, &fields))
		return 0;
	while (lines < SAMPLE_LINES && ww_sample_line(&text, &n, &line, &len)) {
		size_t have = ww_csv_split(&d, line, len, f, WW_CSV_FIELDS);

		if (have == 3 && ww_field_is(&f[0], "M"))
			continue;
		if (have != fields || ww_num_read(f[0].p, f[0].n, false, &v) != WW_NUM_OK ||
		    v.decimals != 3 || v.value < 1e8 || v.value > 4.2e9)
			return 0;
		lines++;
	}
	return lines ? 80 : 0;
}

static bool ends_with(const struct ww_field *f, const char *end)
{
	size_t n = strlen(end);

	return f->n > n && memcmp(f->p + f->n - n, end, n) == 0;
}

static int pmt_read(struct ww_import *im, struct ww_error *err)
{
	struct ww_lines l = ww_import_lines(im);
	struct ww_field f[WW_CSV_FIELDS];
	bool instant = false;
	struct ww_plan *p;
	size_t fields;

	if (!pmt_header(&l.p, &l.left, f, &fields))
		return ww_import_fail(im, err, "its first line is no 'timestamp NAME...'");
	p = ww_known_new(' ', fields, err);
	if (!p)
		return -ENOMEM;
	for (size_t i = 1; i < fields; i++)
		instant |= ends_with(&f[i], "_instant");
	ww_known_set(p, 0, WW_ROLE_TIME, "timestamp_s", NULL, 0);
	for (size_t i = 1; i < fields; i++) {
		char name[48];
		size_t n = f[i].n < sizeof(name) - 1 ? f[i].n : sizeof(name) - 1;
		bool average = ends_with(&f[i], "_average");

		memcpy(name, f[i].p, n);
		name[n] = '\0';
		ww_known_set(p, i, WW_ROLE_VALUE, "W", name, average ? WW_AVERAGE : WW_INSTANT);
		if (average && instant)
			p->col[i].head.quantity = "other"; /* the same watts again, smoothed */
	}
	p->has_header = true;
	p->skip = (size_t)(l.p > im->text) ? 1 : 0;
	p->epoch = p->pmt_marks = true;
	im->clock = WW_CLOCK_UTC;
	return ww_known_run(im, p, err);
}

const struct ww_importer ww_import_pmt = {
	{"pmt", "PMT log: timestamp and watts of one or more sensors"}, pmt_looks, pmt_read};
