/* SPDX-License-Identifier: MIT */
/*
 * olpc-pwr-log and powerd of the XO laptop: lines "NAME: TEXT", a line <StartData>, then
 * seconds since 1970, charge in %, microvolts and microamperes of the battery, its
 * temperature, its counter of charge, and words.
 */
#include "import/csv.h"

enum { SECONDS, CHARGE, VOLTS, AMPS, TEMPERATURE, COUNTER, WORDS };

static const struct ww_csv comma = {',', false};

static bool is_start(const char *line, size_t n)
{
	struct ww_field f;

	return ww_csv_split(&comma, line, n, &f, 1) >= 1 && ww_field_is(&f, "<StartData>");
}

static bool is_header(const char *line, size_t n)
{
	static const char *const names[] = {"Seconds", "SOC", "Vb", "Ib"};
	struct ww_field f[WW_CSV_FIELDS];

	if (ww_csv_split(&comma, line, n, f, WW_CSV_FIELDS) < WORDS)
		return false;
	for (size_t i = 0; i < WW_COUNTOF(names); i++)
		if (!ww_field_is(&f[i], names[i]))
			return false;
	return true;
}

bool ww_olpc_data(const char *text, size_t n)
{
	const char *line;
	size_t len;

	while (ww_sample_line(&text, &n, &line, &len))
		if (is_start(line, len))
			return true;
	return false;
}

static int looks(const char *text, size_t n)
{
	const char *line, *from = text;
	size_t len, left = n;

	return ww_olpc_data(text, n) ||
			       (ww_sample_line(&from, &left, &line, &len) && is_header(line, len))
		       ? 95
		       : 0;
}

/* The first row: how many columns it has, and which line it is. */
static bool find_rows(struct ww_import *im, size_t *skip, size_t *fields)
{
	struct ww_lines l = ww_import_lines(im);
	bool marked = ww_olpc_data(im->text, im->n < WW_IMPORT_SAMPLE ? im->n : WW_IMPORT_SAMPLE);
	bool begun = !marked;
	const char *line;
	size_t len;

	im->line = 0;
	while (ww_import_line(im, &l, &line, &len, NULL) > 0) {
		if (is_start(line, len)) {
			begun = true;
			continue;
		}
		if (!begun || ww_csv_blank(line, len) || is_header(line, len))
			continue;
		*skip = im->line - 1;
		*fields = ww_csv_split(&comma, line, len, NULL, 0);
		return true;
	}
	return false;
}

static int read_olpc(struct ww_import *im, struct ww_error *err)
{
	struct ww_plan *p;
	size_t skip = 0, fields = 0;

	if (!find_rows(im, &skip, &fields))
		return ww_import_fail(im, err, "no rows behind <StartData>");
	im->line = skip + 1;
	if (fields < AMPS + 1 || fields > WW_CSV_FIELDS)
		return ww_import_fail(im, err,
				      "%zu columns; seconds, charge, volts and amperes are the "
				      "first of this log",
				      fields);
	p = ww_known_new(',', fields, err);
	if (!p)
		return -ENOMEM;
	p->skip = skip;
	ww_known_set(p, SECONDS, WW_ROLE_TIME, "time_s", NULL, 0);
	ww_known_set(p, VOLTS, WW_ROLE_VALUE, "uV", "voltage", WW_INSTANT);
	ww_known_set(p, AMPS, WW_ROLE_VALUE, "uA", "current", WW_INSTANT);
	for (size_t i = WORDS; i < fields && i < WORDS + 2; i++)
		p->col[i].role = WW_ROLE_LABEL;
	p->dc_power = true;
	p->volts = VOLTS;
	p->amps = AMPS;
	p->epoch = true;
	p->notes = "the battery's; power is volts times amperes, below 0 where it gives";
	im->clock = WW_CLOCK_UTC;
	return ww_known_run(im, p, err);
}

const struct ww_importer ww_import_olpc = {
	{"olpc", "olpc-pwr-log and powerd of the XO: the battery's microvolts and microamperes"},
	looks,
	read_olpc};
