/* SPDX-License-Identifier: MIT */
/* What files of the kernel say ("name=value" a line), and the pace at which they are asked. */
#ifndef WW_METER_SYSVAL_H
#define WW_METER_SYSVAL_H

#include "meter/pace.h"

#define WW_SYSVAL_MOST (INT64_C(1) << 53)

struct ww_sysline {
	const char *name, *value; /* not ended by NUL */
	size_t name_n, n;
	char kind; /* '=' read, '!' failed, ':' written, '/' a folder */
};

/* The next line of *p..end; false after the last. Other text is passed over. */
bool ww_sysline_next(const char **p, const char *end, struct ww_sysline *out);
/* The line of that name, of any kind. */
bool ww_sysline_find(const char *text, size_t n, const char *name, struct ww_sysline *out);
bool ww_sysline_is(const struct ww_sysline *l, const char *name);
/* Its name is BEGIN number END ("in", 1, "_input")? */
bool ww_sysline_nth(const struct ww_sysline *l, const char *begin, const char *end,
		    unsigned *number);
/* A whole number, nothing else beside it. */
bool ww_sysline_int(const struct ww_sysline *l, int64_t *out);
bool ww_sysline_num(const struct ww_sysline *l, double *out);
/* Its value, or of an error its name, as a text that ends; cut at n - 1. */
void ww_sysline_text(const struct ww_sysline *l, char *out, size_t n);
/* Of one that is no number: what it says, or that it is empty. */
void ww_sysline_why(const struct ww_sysline *l, char *out, size_t n);
/* The value of that name as a text; "" where it could not be read. */
void ww_sysline_value(const char *text, size_t n, const char *name, char *out, size_t size);

/*
 * Asking again and again. What is late is waited for, asked once more and told; the
 * files of the kernel lose nothing by being read late.
 */
struct ww_sysask {
	int64_t every_ns, next_ns, until_ns;
	int64_t reads; /* for one reading, of which losses are counted; 0: one */
	bool waiting, has_last;
	int64_t last_ns; /* last answer that had values */
	int64_t told_ns, told;
	char why[24]; /* last error of a whole answer, told */
};

void ww_sysask_init(struct ww_sysask *a, int64_t every_ns);
void ww_sysask_start(struct ww_sysask *a, int64_t now_ns);
int64_t ww_sysask_deadline(const struct ww_sysask *a);
/* To be asked now? */
bool ww_sysask_due(struct ww_sysask *a, int64_t now_ns, const struct ww_meter_out *out);
/* An answer with values: what is missing before it is told. */
void ww_sysask_good(struct ww_sysask *a, struct ww_interval t, const struct ww_meter_out *out);
/* An answer without any: why ("EIO") is told when it begins. */
void ww_sysask_bad(struct ww_sysask *a, struct ww_interval t, const char *why,
		   const struct ww_meter_out *out);

#endif
