/* SPDX-License-Identifier: MIT */
/* Inside of the parser of typed tables. */
#ifndef WW_TEXT_ONOFF_TABLE_H
#define WW_TEXT_ONOFF_TABLE_H

#include "text/csv.h"
#include "text/onoff.h"

#define FIELDS WW_CSV_FIELDS

/* What a column holds. */
enum column { C_DEVICE, C_WATTS, C_U, C_UU, C_VA, C_PF, C_V, C_A, C_TIME, C_PASS };

struct ww_onoff_parse {
	struct ww_onoff *o;
	const char *name;
	struct ww_csv dialect;
	bool by_blank; /* form A: the reading is the last word */
	bool known;    /* columns are decided */
	bool headed;   /* a header named them */
	bool form_b;
	enum column kind[FIELDS];
	double scale[FIELDS];
	int device[FIELDS]; /* of form B */
	struct ww_field head[FIELDS];
	size_t columns, watts;
	size_t line;
	size_t unfilled, bare; /* lines without a reading, names without a sign */
	double day_s;	       /* added to times of day after midnight */
	double last_s;
	struct ww_error *err;
};

/* "name:3: 'abc' what; help". @return -EINVAL */
int ww_onoff_bad(const struct ww_onoff_parse *t, const char *what, const struct ww_field *f,
		 const char *help);
/* Whether a first line names the columns: no number in it, and no change. */
bool ww_onoff_is_header(const struct ww_field *f, size_t n);
/* Columns by their names. */
int ww_onoff_header(struct ww_onoff_parse *t, const struct ww_field *f, size_t n);
/* After it, the first line below: what form it is. */
int ww_onoff_first(struct ww_onoff_parse *t, const struct ww_field *f, size_t n);
/* Columns of a text without a header, from all its lines. */
int ww_onoff_decide(struct ww_onoff_parse *t, const char *text, size_t n);
/* Separator, decimal comma. */
void ww_onoff_dialect(struct ww_onoff_parse *t, const char *text, size_t n);
/* A line in its fields. @return how many */
size_t ww_onoff_split(const struct ww_onoff_parse *t, const char *line, size_t n,
		      struct ww_field *f);
/* The line at p as ww_csv_line, without a comment at its end; *len 0: nothing in it */
size_t ww_onoff_line(const char *p, size_t n, size_t *len);
bool ww_onoff_is_bit(const struct ww_field *f);
bool ww_onoff_is_number(const struct ww_field *f);

#endif
