/* SPDX-License-Identifier: MIT */
/* Inside of `struct ww_numbers`: groups of numbers while they are being read. */
#ifndef WW_TEXT_NUMBERS_H
#define WW_TEXT_NUMBERS_H

#include "base/notes.h"
#include "base/str.h"

#define WW_NUMBERS_GROUPS 1000
/* Squares of these are still numbers. */
#define WW_NUMBERS_MOST 1e150

struct ww_numbers_list {
	char *label, *measure, *unit;
	double *value, *when;
	size_t n, cap;
};

struct ww_numbers {
	struct ww_numbers_list *list;
	struct ww_numbers_group *group; /* [n]: what is lent */
	size_t n;
	struct ww_notes notes;
};

/*
 * The group of a label, made if there is none. @return its index, -ENOMEM, or -E2BIG
 * beyond WW_NUMBERS_GROUPS
 */
int ww_numbers_group(struct ww_numbers *x, const char *label, const char *measure,
		     const char *unit);
/* One more value; NaN: a run that failed. @return 0 or -ENOMEM */
int ww_numbers_add(struct ww_numbers *x, size_t group, double value, double when);

/* Does the text look like the JSON that hyperfine exports? */
bool ww_hyperfine_is(const char *text, size_t n);
/* All times of each of its commands. */
int ww_hyperfine_parse(const char *text, size_t n, const char *name, struct ww_numbers *x,
		       struct ww_error *err);
/* Lines and columns. */
int ww_numbers_table(const char *text, size_t n, const struct ww_numbers_options *opt,
		     struct ww_numbers *x, struct ww_error *err);

#endif
