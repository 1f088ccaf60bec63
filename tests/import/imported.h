/* SPDX-License-Identifier: MIT */
/* What the tests of the importers share: text in, trace out. */
#ifndef TESTS_IMPORTED_H
#define TESTS_IMPORTED_H

#include "../trace/common.h"

#include <math.h>
#include <stdbool.h>

/* A file with this content. */
static inline const char *write_file(const char *name, const char *text, size_t n)
{
	const char *path = at(name);
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	return path;
}

static inline struct ww_trace *import_with(const char *text, const struct ww_import_options *opt)
{
	struct ww_trace *t = NULL;

	OK(ww_import_open(write_file("in", text, strlen(text)), opt, &t, err));
	return t;
}

static inline struct ww_trace *import(const char *text)
{
	return import_with(text, NULL);
}

/* The error's sentence, without the path in front. */
static inline const char *import_error(const char *text, const struct ww_import_options *opt)
{
	static struct ww_error why;
	const char *path = write_file("in", text, strlen(text));
	struct ww_trace *t;

	ww_error_clear(&why);
	assert_true(ww_import_open(path, opt, &t, &why) < 0);
	assert_true(why.code < 0);
	return strncmp(why.text, path, strlen(path)) == 0 ? why.text + strlen(path) : why.text;
}

static inline const struct ww_channel_info *channel(const struct ww_trace *t, const char *name)
{
	for (size_t i = 0; i < ww_trace_channel_count(t); i++)
		if (strcmp(ww_trace_channel(t, i)->name, name) == 0)
			return ww_trace_channel(t, i);
	fail_msg("no channel %s", name);
	return NULL;
}

#define ROWS_MOST 64

/* All of a channel: times in seconds and values. */
struct rows {
	int64_t n;
	int64_t lo[ROWS_MOST], hi[ROWS_MOST];
	double v[ROWS_MOST];
};

static inline struct rows rows_of(struct ww_trace *t, const char *name)
{
	struct rows r = {0};

	r.n = ww_trace_read(t, channel(t, name)->id, WW_TIME_MIN, WW_TIME_MAX, ROWS_MOST, r.lo,
			    r.hi, r.v, NULL);
	assert_true(r.n >= 0);
	return r;
}

/* Times in ns and values of a channel, exactly. n values; NaN: missing. */
static inline void check_rows(struct ww_trace *t, const char *name, size_t n, const double *seconds,
			      const double *values)
{
	struct rows r = rows_of(t, name);

	assert_int_equal(r.n, n);
	for (size_t i = 0; i < n; i++) {
		if (r.hi[i] != llround(seconds[i] * 1e9))
			fail_msg("%s: row %zu at %lld ns, not %.9f s", name, i, (long long)r.hi[i],
				 seconds[i]);
		if (!(r.v[i] == values[i] || (isnan(r.v[i]) && isnan(values[i]))))
			fail_msg("%s: row %zu is %.17g, not %.17g", name, i, r.v[i], values[i]);
	}
}

/* Some note of the import says this. */
static inline bool noted(const struct ww_trace *t, const char *part)
{
	for (size_t i = 0; ww_import_note(t, i); i++)
		if (strstr(ww_import_note(t, i), part))
			return true;
	return false;
}

static inline void check_notes(const struct ww_trace *t, size_t n)
{
	size_t have = 0;

	while (ww_import_note(t, have))
		have++;
	if (have != n)
		fail_msg("%zu notes, not %zu; the first: %s", have, n,
			 have ? ww_import_note(t, 0) : "");
}

#endif
