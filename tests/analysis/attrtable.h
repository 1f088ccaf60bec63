/* SPDX-License-Identifier: MIT */
/* Attribution of a table in a test: solved, or refused, and asked for its devices. */
#ifndef TESTS_ATTRTABLE_H
#define TESTS_ATTRTABLE_H

#include "analysis/attribute.h"
#include "base/str.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct ww_attribute *a;
static struct ww_error e;

#define NEAR(x, y, tol)                                                                            \
	do {                                                                                       \
		double near_x = (x), near_y = (y);                                                 \
		if (!(fabs(near_x - near_y) <= (tol)))                                             \
			fail_msg("%s = %.17g, not %.17g", #x, near_x, near_y);                     \
	} while (0)

static inline int attempt(const struct ww_attribute_options *o, const char *now, const char *before)
{
	int rc;

	ww_attribute_free(a);
	a = NULL;
	e = (struct ww_error){0};
	rc = ww_attribute_new(o, &a, &e);
	if (rc == 0)
		rc = ww_attribute_table(a, WW_SET_NOW, "now", now, strlen(now), &e);
	if (rc == 0 && before)
		rc = ww_attribute_table(a, WW_SET_BEFORE, "before", before, strlen(before), &e);
	return rc < 0 ? rc : ww_attribute_solve(a, &e);
}

static inline void solve(const struct ww_attribute_options *o, const char *now, const char *before)
{
	if (attempt(o, now, before) < 0)
		fail_msg("%s", e.text);
}

static inline const struct ww_device *dev(const char *name)
{
	for (size_t i = 0; ww_attribute_device(a, i); i++)
		if (strcmp(ww_attribute_device(a, i)->name, name) == 0)
			return ww_attribute_device(a, i);
	fail_msg("no device '%s'", name);
	return NULL;
}

static inline bool noted(const char *part)
{
	for (size_t i = 0; ww_attribute_note(a, i); i++)
		if (strstr(ww_attribute_note(a, i), part))
			return true;
	return false;
}

static inline int attr_end(void **state)
{
	(void)state;
	ww_attribute_free(a);
	return 0;
}

#endif
