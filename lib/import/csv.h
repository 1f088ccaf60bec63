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
	bool dc_power;	    /* a channel volts * amperes is added */
	size_t volts, amps; /* fields of these */
};

/* plan.c: find out what the columns are. */
int ww_plan_make(struct ww_import *im, struct ww_plan *p, struct ww_error *err);
/* csv.c: rows into a new table. */
int ww_plan_read(struct ww_import *im, struct ww_plan *p, struct ww_error *err);

#endif
