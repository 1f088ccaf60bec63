/* SPDX-License-Identifier: MIT */
/*
 * turbostat: a header, then for each time a row of all CPUs, with "-" where others have
 * their number, and a row for each CPU.
 */
#include "import/csv.h"

#define SAMPLE_LINES 64

/* The header among the first lines. @return its number of columns, 0 none */
static size_t header(const char **text, size_t *n, struct ww_csv *d, struct ww_field *f,
		     size_t *number)
{
	const char *line;
	size_t len;

	for (*number = 1; *number <= SAMPLE_LINES && *n > 0; (*number)++) {
		size_t used = ww_csv_line(*text, *n, &len), fields;
		bool cpu = false, watts = false, busy = false;

		line = *text;
		*text += used;
		*n -= used;
		d->sep = memchr(line, '\t', len) ? '\t' : ' ';
		fields = ww_csv_split(d, line, len, f, WW_CSV_FIELDS);
		for (size_t i = 0; i < fields && fields <= WW_CSV_FIELDS; i++) {
			cpu |= ww_field_is(&f[i], "CPU");
			busy |= ww_field_is(&f[i], "Busy%") || ww_field_is(&f[i], "Avg_MHz") ||
				ww_field_is(&f[i], "Core");
			watts |= f[i].n > 4 && memcmp(f[i].p + f[i].n - 4, "Watt", 4) == 0;
		}
		if (cpu && busy && watts)
			return fields;
	}
	return 0;
}

static int looks(const char *text, size_t n)
{
	struct ww_field f[WW_CSV_FIELDS];
	struct ww_csv d = {' ', false};
	size_t number;

	return header(&text, &n, &d, f, &number) ? 90 : 0;
}

static void set_column(struct ww_plan *p, size_t i, const struct ww_field *f)
{
	char name[48];

	ww_plain(name, sizeof(name), f->p, f->n);
	if (ww_field_is(f, "CPU")) {
		p->summary = i + 1;
	} else if (ww_field_is(f, "Time_Of_Day_Seconds")) {
		ww_known_set(p, i, WW_ROLE_TIME, "time_s", NULL, 0);
	} else if (f->n > 4 && memcmp(f->p + f->n - 4, "Watt", 4) == 0) {
		ww_known_set(p, i, WW_ROLE_VALUE, name, NULL, WW_AVERAGE);
		p->col[i].role = WW_ROLE_VALUE;
	}
}

static int read_turbostat(struct ww_import *im, struct ww_error *err)
{
	struct ww_lines l = ww_import_lines(im);
	struct ww_field f[WW_CSV_FIELDS];
	struct ww_csv d = {' ', false};
	bool timed = false;
	struct ww_plan *p;
	size_t number, fields = header(&l.p, &l.left, &d, f, &number);

	if (fields == 0)
		return ww_import_fail(im, err, "no header of turbostat with CPU and PkgWatt");
	p = ww_known_new(d.sep, fields, err);
	if (!p)
		return -ENOMEM;
	p->skip = number;
	p->has_header = true;
	for (size_t i = 0; i < fields; i++) {
		set_column(p, i, &f[i]);
		timed |= p->col[i].role == WW_ROLE_TIME;
	}
	if (!timed && im->rate_hz <= 0) {
		free(p);
		return ww_import_fail(
			im, err,
			"no column Time_Of_Day_Seconds: say how many rows of all "
			"CPUs a second there are (--rate 0.2 for turbostat's usual 5 s), "
			"or let it log its time (turbostat --enable "
			"Time_Of_Day_Seconds)");
	}
	if (timed && im->rate_hz > 0)
		ww_note(&im->notes, "the file tells its times: the rate given is not used");
	p->epoch = timed;
	p->notes = "means over the time since the row before";
	im->clock = timed ? WW_CLOCK_UTC : WW_CLOCK_NONE;
	return ww_known_run(im, p, err);
}

const struct ww_importer ww_import_turbostat = {
	{"turbostat", "turbostat with its columns of watts: the rows of all CPUs"},
	looks,
	read_turbostat};
