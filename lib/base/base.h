/* SPDX-License-Identifier: MIT */
/*
 * Base: what every other layer uses, and which uses none of them. Errors,
 * clocks and intervals here; bytes.h, str.h, stats.h and uri.h beside it.
 */
#ifndef WW_BASE_H
#define WW_BASE_H

#include <wakewatt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>

/* Calls that are wrong more often than right do not compile. */
#undef strcpy
#undef strcat
#undef sprintf
#undef vsprintf
#undef gmtime
#undef localtime
#undef atoi
#define strcpy(d, s)	  ww_banned_strcpy
#define strcat(d, s)	  ww_banned_strcat
#define sprintf(...)	  ww_banned_sprintf
#define vsprintf(d, f, a) ww_banned_vsprintf
#define gmtime(t)	  ww_banned_gmtime
#define localtime(t)	  ww_banned_localtime
#define atoi(s)		  ww_banned_atoi

#define WW_COUNTOF(a) (sizeof(a) / sizeof((a)[0]))
#define WW_NS_PER_S   INT64_C(1000000000)
#define WW_NS_PER_MS  INT64_C(1000000)
#define WW_NS_PER_US  INT64_C(1000)

/*
 * Store an error unless one is stored already. code is a negative errno and is
 * returned, so that `return ww_fail(err, -EIO, ...)` reads well.
 */
int ww_fail(struct ww_error *err, int code, const char *fmt, ...) WW_PRINTF(3, 4);
/* The usual sentence for want of memory. Returns -ENOMEM. */
int ww_fail_nomem(struct ww_error *err);

/* A member of a caller's options, absent in older (smaller) structures. */
#define WW_OPT(opt, member, dflt)                                                                  \
	((opt) != NULL && (opt)->size >=                                                           \
				  offsetof(__typeof__(*(opt)), member) + sizeof((opt)->member)     \
		 ? (opt)->member                                                                   \
		 : (dflt))

/* Options with a forgotten size would silently be all defaults. */
#define WW_OPT_CHECK(opt, err)                                                                     \
	((opt) != NULL && (opt)->size == 0                                                         \
		 ? ww_fail((err), -EINVAL, "%s: options without their size", __func__)             \
		 : 0)

int64_t ww_clock_ns(int clockid);

/*
 * Codes to values. A scale that is one over a whole number (0.1, 0.001) divides, so
 * that 1191 tenths read 119.1 and not 119.10000000000001.
 */
struct ww_scale {
	double mul;
	double div;
	double offset;
};

static inline struct ww_scale ww_scale_of(double scale, double offset)
{
	double inv = scale > 0 && scale < 1 ? (double)(int64_t)(1 / scale + 0.5) : 0;

	if (inv >= 2 && 1 / inv == scale)
		return (struct ww_scale){1, inv, offset};
	return (struct ww_scale){scale, 1, offset};
}

static inline double ww_code_value(const struct ww_scale *s, int64_t code)
{
	if (code < WW_CODE_MIN)
		return __builtin_nan("");
	return (double)code * s->mul / s->div + s->offset;
}

/* Intervals. */
static inline bool ww_iv_ok(struct ww_interval a)
{
	return a.lo_ns <= a.hi_ns;
}

/* All durations from a moment in `from` to a moment in `to`; none if either is none. */
struct ww_interval ww_iv_since(struct ww_interval to, struct ww_interval from);
int64_t ww_iv_mid(struct ww_interval a);
int64_t ww_add_sat(int64_t a, int64_t b);

#endif
