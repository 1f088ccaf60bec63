/* SPDX-License-Identifier: MIT */
/*
 * What is drawn for a cycle: a function of the seed and the cycle's number alone, so
 * that a campaign that goes on after a break draws as if there had been none.
 */
#ifndef WW_CONTROL_DRAW_H
#define WW_CONTROL_DRAW_H

#include "base/base.h"

/* lo, lo + step, ... up to hi, each as likely. */
int64_t ww_draw(uint64_t seed, uint32_t cycle, int64_t lo, int64_t hi, int64_t step);
/* Never 0. */
uint64_t ww_draw_seed(void);
/* "rtc:2s..10s": 1 a range of whole seconds, 0 another text, -EINVAL */
int ww_draw_alarm(const char *text, int64_t range_s[2], struct ww_error *err);

#endif
