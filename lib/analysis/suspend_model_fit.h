/* SPDX-License-Identifier: MIT */
/* Inside of ww_suspend_fit(): cycles in a trace, and the power in them. */
#ifndef WW_ANALYSIS_SUSPEND_MODEL_FIT_H
#define WW_ANALYSIS_SUSPEND_MODEL_FIT_H

#include "analysis/standby.h"
#include "analysis/suspend_model.h"

struct ww_suspend_span {
	double from, to; /* s: decision to suspend, at work again; of a dip: its flanks */
};

struct ww_suspend_dips {
	struct ww_series x;
	struct ww_suspend_options known; /* latencies alone are looked at */
	struct ww_suspend_span *c;
	size_t n;
	double *scratch; /* [2 x.n + 1] */
	double pad;
	double u_step; /* what the meter's steps leave in a mean, W */
	double noise;  /* of an idle reading, W */
	struct ww_suspend_fit *out;
};

void ww_suspend_why(struct ww_suspend_fit *f, const char *text);
/* Suspended power, from the readings amid the dips; left alone where they are too few. */
void ww_suspend_amid(struct ww_suspend_dips *f);
/* Transition energy from both flanks of the dips; left alone where it is not told. */
int ww_suspend_by_edges(struct ww_suspend_dips *f, struct ww_error *err);

#endif
