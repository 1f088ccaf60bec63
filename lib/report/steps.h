/* SPDX-License-Identifier: MIT */
/* What the text, the page and the picture of steps have in common. */
#ifndef WW_REPORT_STEPS_H
#define WW_REPORT_STEPS_H

#include "analysis/steps_info.h"
#include "report/format.h"

/* "59.0..60.0", no more digits than its width has. */
void ww_steps_put_time(struct ww_str *s, const struct ww_steps *st, size_t i);
/* "14:16:51", with the day in a trace of more than one; nothing where it is not known. */
void ww_steps_put_clock(struct ww_str *s, const struct ww_steps *st, double t);
/* "+24.90 ± 0.03", or the bounds of what is not resolved: "-0.6..1.4" */
void ww_steps_put_change(struct ww_str *s, const struct ww_step *p);
/* "5.0 s" after the change, nothing where it was at once. */
void ww_steps_put_settled(struct ww_str *s, const struct ww_steps *st, size_t i);
/* "meter.power: 8 steps in 17 min, 1020 readings, resolution 1 W" */
void ww_steps_put_summary(struct ww_str *s, const struct ww_steps *st);
/* What times and uncertainties are, in a sentence. */
void ww_steps_put_legend(struct ww_str *s, const struct ww_steps *st);
/* "detected", "known-time", "unresolved" */
const char *ww_steps_state(int state);

#endif
