/* SPDX-License-Identifier: MIT */
/* Codes as decimal text with the digits that the channel's scale carries. */
#ifndef WW_VALUE_H
#define WW_VALUE_H

#include "base/str.h"

/* How the codes of a channel are printed. */
struct ww_digits {
	struct ww_scale value;
	int64_t k; /* exact: value = (code * k + k0) / 10^decimals */
	int64_t k0;
	int32_t decimals; /* -1: not a short decimal, shortest round-trip text instead */
	int32_t least;	  /* zeros behind these decimals are left out */
};

/* resolution: of the meter; codes finer than that (typed readings) lose needless zeros. */
struct ww_digits ww_digits_of(double scale, double offset, double resolution);
/* Appends nothing for WW_MISSING. Returns false then. */
bool ww_str_value(struct ww_str *s, const struct ww_digits *d, int64_t code);
/* Append a decimal integer: what printf would, faster. */
void ww_str_int(struct ww_str *s, int64_t v);

#endif
