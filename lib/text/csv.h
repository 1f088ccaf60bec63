/* SPDX-License-Identifier: MIT */
/*
 * Lines of values in the dialects that people have: separators, quotes, decimal commas,
 * numbers with their unit behind. Pure: nothing is copied, fields are lent from the line.
 */
#ifndef WW_TEXT_CSV_H
#define WW_TEXT_CSV_H

#include "base/str.h"

#define WW_CSV_FIELDS 256	 /* of a line; more is no table of readings */
#define WW_CSV_LINE   (1u << 20) /* longest line */

struct ww_csv {
	char sep;   /* ',' ';' '\t' '|', or ' ' for any run of blanks and tabs */
	bool comma; /* decimals behind a comma */
};

/* Without the blanks and quotes around it; a quote inside is still doubled. */
struct ww_field {
	const char *p;
	size_t n;
	bool quoted;
};

/* The line at p: *len without its end (LF, CR LF, CR). @return bytes to the next, 0: none */
size_t ww_csv_line(const char *p, size_t n, size_t *len);
/* Bytes of a byte order mark of UTF-8 at the beginning: 3 or 0. */
size_t ww_csv_bom(const char *p, size_t n);
/* Empty, or a comment (#, %, //; or ";" with a blank and a word, as sigrok has it). */
bool ww_csv_blank(const char *line, size_t n);
/*
 * Separator and decimal comma that make the most of the first lines numbers and times
 * of the same count. With nothing to go by: a comma as separator, a point for decimals.
 */
struct ww_csv ww_csv_guess(const char *text, size_t n);
/* @return number of fields of the line; at most `max` are stored */
size_t ww_csv_split(const struct ww_csv *d, const char *line, size_t n, struct ww_field *f,
		    size_t max);
/* A field as text: doubled quotes single, control characters blank. */
void ww_field_text(const struct ww_field *f, struct ww_str *s);
/* Without the blanks and tabs around it. */
struct ww_field ww_field_trim(const char *p, size_t n);
/* Is it this word, whatever the case of its letters (ASCII)? */
bool ww_field_is(const struct ww_field *f, const char *word);

enum ww_num_kind {
	WW_NUM_TEXT,	/* none of these */
	WW_NUM_EMPTY,	/* nothing there */
	WW_NUM_MISSING, /* nan, n/a, null, none, - */
	WW_NUM_OVER,	/* inf, OL, and more than a double holds */
	WW_NUM_UNDER,	/* -inf */
	WW_NUM_OK
};

/* value = code / 10^decimals as it was written: "119.1 W" is 1191, 1, "W". */
struct ww_num {
	int64_t code; /* at most 19 digits; further ones are dropped */
	int32_t decimals;
	double value;
	const char *unit; /* what follows the digits, lent; unit_n 0: nothing */
	size_t unit_n;
};

/*
 * A number that fills the field: sign, digits, decimals, exponent, unit. Groups of three
 * digits are taken where they cannot be decimals (1,234.5; 1.234,5 with a decimal comma);
 * where they could be either, the field is WW_NUM_TEXT. @return enum ww_num_kind
 */
int ww_num_read(const char *p, size_t n, bool comma, struct ww_num *out);
/* Where typed numbers tell it themselves: a comma behind the last point is the decimal one. */
bool ww_num_comma(const char *p, size_t n);
/* Where "±", "+-" or "+/-" stands behind a number, *len bytes long; n and 0: nowhere. */
size_t ww_num_sign(const char *p, size_t n, size_t *len);

#endif
