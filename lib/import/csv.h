/* SPDX-License-Identifier: MIT */
/* What the columns of a table are, and reading it by that. */
#ifndef WW_IMPORT_CSV_H
#define WW_IMPORT_CSV_H

#include "import/import.h"

enum ww_role {
	WW_ROLE_NONE,
	WW_ROLE_TIME,  /* a number of seconds times 10^exponent, or a stamp */
	WW_ROLE_DATE,  /* of the stamp whose time of day is the TIME column */
	WW_ROLE_STEP,  /* seconds since the row before */
	WW_ROLE_LABEL, /* text: a mark where it changes */
	WW_ROLE_VALUE
};

struct ww_plan_column {
	int role;
	struct ww_heading head;
	int32_t semantics;
	double resolution;
	size_t column; /* VALUE: of the table */
};

/* How a table of values is to be read. */
struct ww_plan {
	struct ww_csv dialect;
	size_t skip; /* lines before the first row */
	bool has_header;
	size_t fields;
	struct ww_plan_column col[WW_CSV_FIELDS];
	bool stamped;	   /* TIME holds stamps, not numbers */
	int date_order;	   /* enum ww_date_order */
	bool date_assumed; /* either order would do */
	bool epoch;	   /* TIME counts from 1970 */
	int time_exponent, time_seconds;
	const char *notes; /* of the source */
	int64_t window_ns;
	size_t summary;	     /* turbostat: 1 + the column that is "-" where a row is of all CPUs */
	bool pmt_marks;	     /* lines 'M SECONDS "TEXT"' among the rows */
	bool dc_power;	     /* a channel volts * amperes is added */
	size_t volts, amps;  /* fields of these */
	struct ww_num fixed; /* volts that the caller gave instead: code > 0 */
};

#define WW_HEAD_LINES 128

/* The beginning of the file, line by line, without empty ones and comments. */
struct ww_head {
	const char *line[WW_HEAD_LINES];
	size_t n[WW_HEAD_LINES];
	size_t number[WW_HEAD_LINES]; /* of the line in the file */
	size_t lines;
	const char *comment; /* the last one before these */
	size_t comment_n;
	double rate_hz; /* that a comment tells as "Samplerate: 1 kHz"; 0: none does */
};

/* header.c */
void ww_head_read(struct ww_import *im, struct ww_head *h);
/* The first row of the table: data, as many fields as most lines have; h->lines: none */
size_t ww_head_first(const struct ww_head *h, const struct ww_csv *d);
/*
 * A header with more names than that row has fields makes room for them: cells at the end of
 * a row may be left out. One with fewer does not belong to these rows: an error.
 */
int ww_head_width(struct ww_import *im, struct ww_plan *p, const struct ww_head *h, size_t first,
		  struct ww_error *err);
/* Fill p->col[].head from the header above that row, a unit's row, a comment or the caller. */
int ww_head_names(struct ww_import *im, struct ww_plan *p, const struct ww_head *h, size_t first,
		  struct ww_error *err);
/* Lines as "+box, 13" and "all unplugged, 1" that a person typed for an attribution. */
bool ww_head_typed(const struct ww_head *h, const struct ww_csv *d);
/* A stamp in either order of its date. */
bool ww_is_stamp(const struct ww_field *f, struct ww_stamp *s);

/* plan.c: find out what the columns are. */
int ww_plan_make(struct ww_import *im, struct ww_plan *p, struct ww_error *err);
/* csv.c: rows into a new table. */
int ww_plan_read(struct ww_import *im, struct ww_plan *p, struct ww_error *err);

/* Cells of a column that should be numbers and are words. */
struct ww_odd {
	size_t n;
	struct ww_field cell; /* the first, lent */
	size_t line;
};

/* known.c: plans of formats that are known */
/* The first lines of a text that are whole and not empty. */
bool ww_sample_line(const char **text, size_t *n, const char **line, size_t *len);
struct ww_plan *ww_known_new(char sep, size_t fields, struct ww_error *err);
/* heading: quantity and unit, as a header would say it; name: of the channel, NULL the usual one */
void ww_known_set(struct ww_plan *p, size_t i, int role, const char *heading, const char *name,
		  int semantics);
/* Reads by p, and frees it. */
int ww_known_run(struct ww_import *im, struct ww_plan *p, struct ww_error *err);

/* rows.c: how many readings are missing, and why */
void ww_rows_cells(struct ww_import *im, const struct ww_table *t);
/* A register that falls again and again holds the energy of each row: its mean power is added. */
int ww_rows_counters(struct ww_import *im, struct ww_table *t, struct ww_error *err);
/* A product's step is that of the amperes, at the usual voltage. */
void ww_rows_power(const struct ww_plan *p, struct ww_table *t, size_t power);
/* odd[fields]: words are told with their place; a column that holds hardly else is refused. */
int ww_rows_odd(struct ww_import *im, const struct ww_plan *p, const struct ww_table *t,
		const struct ww_odd *odd, struct ww_error *err);

#endif
