/* SPDX-License-Identifier: MIT */
/* The laptop's figures, for the tests of the suspend model. */
#ifndef TESTS_OLPC_H
#define TESTS_OLPC_H

#include "analysis/suspend_model.h"
#include "stat_trace.h"

#define NEAR(a, b)     assert_true(fabs((a) - (b)) <= 1e-9 * fmax(1, fabs((double)(b))))
#define CLOSE(a, b, d) assert_true(fabs((a) - (b)) <= (d))

static inline struct ww_suspend_options olpc(void)
{
	return (struct ww_suspend_options){.size = sizeof(struct ww_suspend_options),
					   .idle_watts = {2.75, 0},
					   .suspended_watts = {1.0, 0},
					   .transition_watts = {3.0, 0},
					   .suspend_s = {0.25, 0},
					   .resume_s = {0.40, 0}};
}

static inline struct ww_suspend_model *make(const struct ww_suspend_options *o)
{
	struct ww_suspend_model *m = NULL;

	OK(ww_suspend_model_new(o, &m, err));
	return m;
}

#endif
