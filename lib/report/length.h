/* SPDX-License-Identifier: MIT */
/* Times and lengths in reports: intervals in ns, printed as ms or s. */
#ifndef WW_REPORT_LENGTH_H
#define WW_REPORT_LENGTH_H

#include "base/str.h"

/* v units of 10^-digits, exact, without trailing zeros: 1500000 and 6 give "1.5". */
void ww_str_decimal(struct ww_str *s, int64_t v, int digits);
void ww_json_decimal(struct ww_json *j, const char *key, int64_t v, int digits);
/* At most so many decimals, no trailing zeros; null where it is no number. */
void ww_json_trimmed(struct ww_json *j, const char *key, double v, int decimals);
/*
 * A length as {"value", "u"} in ms, with "lo" and "hi" where it is an interval; null where it
 * is not known. res_ns: resolution of the stamps that it is the difference of, 0 unknown.
 */
void ww_json_length(struct ww_json *j, const char *key, struct ww_interval t, double res_ns);
/* The same for people: "1776.855", "128.8 ± 2.4", "≥ 12.1"; nothing where it is not known. */
void ww_put_length(struct ww_str *s, struct ww_interval t, double res_ns);
/* Decimals of ms that a resolution leaves. */
int ww_ms_decimals(double res_ns);

#endif
