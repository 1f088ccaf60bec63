/* SPDX-License-Identifier: MIT */
/*
 * Inside of the importers: a text in memory becomes tables (one a source), whose times
 * are put in order, and these a trace in memory. Memory is linear in the number of rows.
 */
#ifndef WW_IMPORT_H
#define WW_IMPORT_H

#include "base/notes.h"
#include "base/stats.h"
#include "base/str.h"
#include "text/csv.h"
#include "text/heading.h"
#include "text/stamp.h"

#define WW_IMPORT_SAMPLE 65536u /* bytes at the beginning that tell the format */

/* A column of values in its base unit: code / 10^decimals. */
struct ww_column {
	char *name;
	const char *quantity, *unit; /* static */
	int32_t semantics;
	int32_t decimals;
	bool capped;	   /* no more decimals than now: a greater value needed the digits */
	double scale;	   /* of the base unit; 0: 1 */
	double resolution; /* told by the format; 0: from the values */
	int64_t *code;	   /* [rows] */
	int64_t most;	   /* greatest |code| so far */
	int32_t fewest;	   /* decimals of the value that shows least of them */
	size_t missing, over, empty;
};

/* Where rows are known to be missing: before row `row`. */
struct ww_break {
	size_t row;
	int64_t lost; /* -1 unknown */
	const char *reason;
};

struct ww_label {
	size_t row; /* the row at whose time it holds, unless */
	bool timed; /* ... it has a time of its own: */
	int64_t at;
	const char *kind;
	char *text;
};

/* Rows of one source. */
struct ww_table {
	char *name;
	const char *notes;  /* of the source; static or NULL */
	const char *driver; /* static */
	char *model;
	int64_t window_ns; /* that a reading covers, 0 a moment */
	size_t rows, cap;
	int64_t *hi;	 /* [rows] ns: of the file's clock */
	int64_t *lo;	 /* [rows], NULL: the same */
	int64_t tick_ns; /* of the digits of its times */
	struct ww_column column[WW_CSV_FIELDS];
	size_t columns;
	struct ww_break *brk;
	size_t breaks;
	struct ww_label *label;
	size_t labels;
};

/* What the times of a file are. */
enum ww_clock {
	WW_CLOCK_NONE,	   /* there are none: rows at a rate */
	WW_CLOCK_RELATIVE, /* since something */
	WW_CLOCK_LOCAL,	   /* of day, without a zone */
	WW_CLOCK_UTC	   /* of day, surely */
};

/* One run of an importer. */
struct ww_import {
	/* given */
	const char *path;
	const char *text;
	size_t n;
	const char *format; /* name of the one that reads it */
	double rate_hz, resolution;
	const char *columns;
	int32_t offset_s;
	bool has_offset;
	/* made */
	struct ww_table *table; /* [tables] */
	size_t tables;
	int clock;
	bool axis_kept; /* times are of a trace's axis already */
	bool zoned;	/* the file names a zone: */
	int32_t zone_s;
	struct ww_notes notes;
	size_t line; /* the current one, from 1 */
	size_t bad;  /* lines left out, the first of them and why */
	size_t bad_first;
	char bad_why[96];
};

struct ww_importer {
	struct ww_import_format format;
	/* Does the beginning look like it? 0 no, more: how sure, up to 100 */
	int (*looks)(const char *text, size_t n);
	int (*read)(struct ww_import *im, struct ww_error *err);
};

extern const struct ww_importer ww_import_csv, ww_import_ptd, ww_import_tracebase, ww_import_tc66,
	ww_import_gmt, ww_import_pmt, ww_import_olpc, ww_import_turbostat, ww_import_wattsup,
	ww_import_hass, ww_import_own_csv, ww_import_own_jsonl;

/* olpc.c: a line <StartData> at the beginning of it, or further down */
bool ww_olpc_data(const char *text, size_t n);

/* table.c */
struct ww_table *ww_import_table(struct ww_import *im, const char *name, struct ww_error *err);
/* @return its index, or negative; a name that is taken gets a number */
int ww_table_column(struct ww_table *t, const char *name, const char *quantity, const char *unit,
		    int semantics, struct ww_error *err);
/* A new row; its values are all missing. */
int ww_table_row(struct ww_table *t, int64_t hi, struct ww_error *err);
/* Intervals instead of moments, from the first row on. */
int ww_table_lo(struct ww_table *t, int64_t lo, struct ww_error *err);
/*
 * A value of the last row: number * 10^exponent, of kind ww_num_kind. Exact: the
 * column takes more decimals where needed, 15 digits in all.
 */
void ww_table_put(struct ww_table *t, size_t column, int kind, const struct ww_num *v,
		  int exponent);
int ww_table_break(struct ww_table *t, int64_t lost, const char *reason, struct ww_error *err);
int ww_table_label(struct ww_table *t, const char *kind, const char *text, size_t n,
		   struct ww_error *err);
double ww_column_value(const struct ww_column *c, size_t row);
/* The smallest step that nearly all values are multiples of, in the unit. */
double ww_column_step(const struct ww_column *c, size_t rows);
void ww_import_free(struct ww_import *im);

/* text.c: lines of the file */
struct ww_lines {
	const char *p;
	size_t left;
};
struct ww_lines ww_import_lines(const struct ww_import *im);
/* @return 1 a line (*len without its end), 0 the end, negative: too long */
int ww_import_line(struct ww_import *im, struct ww_lines *l, const char **line, size_t *len,
		   struct ww_error *err);
/* The current line is left out: why, of which the first is told. */
void ww_import_bad(struct ww_import *im, const char *why, const char *what, size_t n);
/* ns of a number of seconds times 10^exponent times `seconds`; false: out of range */
bool ww_import_ns(const struct ww_num *v, int exponent, int seconds, int64_t *ns);
/* -EINVAL "PATH:LINE: ..." */
int ww_import_fail(const struct ww_import *im, struct ww_error *err, const char *fmt, ...)
	WW_PRINTF(3, 4);

/* times.c: put the rows of a table in order, whatever the clock did; says it in notes */
int ww_import_times(struct ww_import *im, struct ww_table *t, struct ww_error *err);

/* build.c */
int ww_import_build(struct ww_import *im, struct ww_trace **out, struct ww_error *err);

#endif
