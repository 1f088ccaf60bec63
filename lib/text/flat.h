/* SPDX-License-Identifier: MIT */
/* A line with one flat JSON object, member by member. Pure; nothing is copied. */
#ifndef WW_TEXT_FLAT_H
#define WW_TEXT_FLAT_H

#include "text/csv.h"

/* Zero-initialise but for p and end. */
struct ww_flat {
	const char *p, *end;
	bool open; /* behind the brace */
	bool bad;  /* not a flat object */
};

/*
 * The next member. Strings without their quotes, as they stand (escapes are left);
 * other values as they stand; value->quoted tells which.
 * @return false at the end of the object, or where it is none (bad)
 */
bool ww_flat_next(struct ww_flat *j, struct ww_field *key, struct ww_field *value);

#endif
