/* SPDX-License-Identifier: MIT */
/* What the forms of a comparison of cycles share. */
#ifndef WW_REPORT_SHIFT_H
#define WW_REPORT_SHIFT_H

#include "analysis/shift.h"
#include "report/format.h"

/* A digit more than its own uncertainty leaves is noise: what a row's figures are rounded to. */
double ww_shift_grain(const struct ww_shift_row *r);
/* "812.3", "+149.6" with sign; "never" and "∞" where it is infinite. */
void ww_shift_put(struct ww_str *s, double v, double grain, bool sign);
/* "+148.1 to +151.2", "at least +3.1"; nothing where neither end is known. */
void ww_shift_put_ci(struct ww_str *s, const struct ww_shift_row *r);
void ww_shift_put_p(struct ww_str *s, double p);
/* "+18.4 %" of A's median; nothing where there is none. */
void ww_shift_put_percent(struct ww_str *s, const struct ww_shift_row *r);
/* "slower", "no difference seen (12 ms would have been)" */
void ww_shift_put_verdict(struct ww_str *s, const struct ww_shift_row *r);
/* Is it one that moved, or is there in one set only? */
bool ww_shift_moved(const struct ww_shift_row *r);
/* Does the i-th row stand in a list of so many? phases and others are one, devices another. */
bool ww_shift_whole(const struct ww_shift_row *r);
bool ww_shift_device(const struct ww_shift_row *r);
/* "met: 148.1 ms at least, limit 40.6 ms" */
void ww_shift_put_state(struct ww_str *s, const struct ww_shift_cond *c);
/* Rows of the list of parts that are printed. */
size_t ww_shift_listed(const struct ww_shift *s, bool devices, size_t *moved);

void ww_shift_json(struct ww_str *s, const struct ww_shift *t);
void ww_shift_markdown(struct ww_str *s, const struct ww_shift *t);
void ww_shift_junit(struct ww_str *s, const struct ww_shift *t);

#endif
