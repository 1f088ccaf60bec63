/* SPDX-License-Identifier: MIT */
/* Dates and times of day as other programs write them. Pure. */
#ifndef WW_TEXT_STAMP_H
#define WW_TEXT_STAMP_H

#include "base/base.h"

/* Order of a date's parts where the year is not in front. */
enum ww_date_order { WW_DATE_DMY, WW_DATE_MDY };

struct ww_stamp {
	int64_t ns;	      /* since 1970 UTC; of local times: as if they were UTC */
	int32_t offset_s;     /* of its zone */
	bool zoned;	      /* it names its zone: ns is UTC */
	bool dated;	      /* with a date; else since midnight */
	bool clocked;	      /* with a time of day */
	bool noon;	      /* AM or PM: a habit of those who write the month first */
	int8_t digits;	      /* of the second's decimals; -1: no seconds */
	int8_t first, second; /* parts of a date that may be either; 0: year in front */
};

/*
 * "2026-11-30T14:16:51.250+01:00", "2012/06/10 00:00:09", "10/06/2012 00:00:09",
 * "11-07-2020 17:49:06.145", "10.06.12 00:00", "20231020T081635Z", "14:16:51,250",
 * "2:16:51 PM"; a date alone or a time alone. It must fill the field.
 */
bool ww_stamp_read(const char *p, size_t n, int order, struct ww_stamp *out);

#endif
