/* SPDX-License-Identifier: MIT */
/* What the reports share: tables, quantities with their uncertainty, notes, JSON. */
#ifndef WW_FORMAT_H
#define WW_FORMAT_H

#include "analysis/wall.h"
#include "base/notes.h"
#include "base/str.h"

/* Cells of text; a column that is empty below its head is left out. Zero-initialise. */
struct ww_grid {
	struct ww_str *cell; /* [rows][columns] */
	size_t columns;	     /* set before the first row; at most 32 */
	size_t rows, cap;
	unsigned left; /* bit k: column k is flush left; the others flush right */
	bool bad;
};

/* A new row of `columns` empty cells, NULL without memory (bad is set). */
struct ww_str *ww_grid_row(struct ww_grid *g);
/* The head: its row 0. Texts as many as columns. */
void ww_grid_head(struct ww_grid *g, const char *const *text);
/* Print and free. Width is counted in characters. Nothing where only the head is there. */
void ww_grid_print(struct ww_str *s, struct ww_grid *g);
void ww_grid_free(struct ww_grid *g);

/*
 * In text what stands after ± is the expanded uncertainty, k = 2 (about 95 %), of
 * what is given with a standard one.
 */
static inline struct ww_quantity ww_expanded(struct ww_quantity q)
{
	return (struct ww_quantity){q.value, 2 * q.u};
}
/* "24.90 ± 0.06 W": the expanded uncertainty with two digits, value rounded alike; NaN: nothing. */
void ww_put_quantity(struct ww_str *s, struct ww_quantity standard, const char *unit, int fallback);
/* The line that says what ± is, where any stands in the text. */
void ww_put_legend(struct ww_str *s);
/* "90.0 s", no more digits than a person needs */
void ww_put_seconds(struct ww_str *s, double v);
/* "1 h 31 min", "48 min", "12.3 s", "3.2 d": for long times */
void ww_put_span(struct ww_str *s, double seconds);
/* "99.8 %"; never 100 where a hole is left */
void ww_put_percent(struct ww_str *s, double part);
/* No more than six digits that mean something where nothing says how many do. */
int ww_plain_decimals(double v);
/* How wide a text is on a terminal, as long as no character is wider than another. */
size_t ww_characters(const char *text, size_t bytes);
/* n blanks */
void ww_put_blanks(struct ww_str *s, size_t n);
/* enum ww_semantics; NULL: none of them */
const char *ww_semantics_name(int semantics);
/* Text broken between words to `width` columns; further lines indented. */
void ww_put_wrapped(struct ww_str *s, const char *text, size_t indent, size_t width);
/* One item "- ...", broken at 80 columns. */
void ww_put_note(struct ww_str *s, const char *text);
/* Each note as an item "- ...", broken at 80 columns, an empty line before the first. */
void ww_put_notes(struct ww_str *s, const struct ww_notes *l);
/* "start 2026-11-30T14:16:51.250+01:00 (Europe/Berlin)" and a newline. */
void ww_put_start(struct ww_str *s, const struct ww_wall *w);

/*
 * {"value":..,"u":..}, or u null with a "why"; two digits more than a person is
 * shown. `why` may be NULL.
 */
void ww_json_quantity(struct ww_json *j, const char *key, struct ww_quantity q, const char *why);
/* [lo, hi]; an open (infinite or NaN) end is null */
void ww_json_pair(struct ww_json *j, const char *key, double lo, double hi);
/* "schema", "start", "timezone" */
void ww_json_head(struct ww_json *j, const char *schema, const struct ww_wall *w);
/* "notes": [..] */
void ww_json_notes(struct ww_json *j, const struct ww_notes *l);

#endif
