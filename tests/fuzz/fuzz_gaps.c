/* SPDX-License-Identifier: MIT */
/* Lists of idle gaps: what is read can be judged, what is refused says where. */
#include "base/base.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ww_suspend_options o = {.size = sizeof(o),
				       .idle_watts = {2.75, 0.01},
				       .suspended_watts = {1, 0.01},
				       .suspend_s = {0.25, 0},
				       .resume_s = {0.4, 0},
				       .gaps = WW_GAPS_RECORDED};
	struct ww_suspend_model *m = NULL;
	struct ww_error err = {0};
	double *gap = NULL;
	char *text = NULL;
	int64_t n = ww_gaps_parse("list", (const char *)data, size, &gap, &err);

	if (n < 0) {
		if (gap || strncmp(err.text, "list:", 5) != 0)
			abort();
		return 0;
	}
	for (int64_t i = 0; i < n; i++)
		if (!(gap[i] >= 0) || !isfinite(gap[i]))
			abort();
	o.gap = gap;
	o.n = (size_t)n;
	ww_error_clear(&err);
	/* All zero, or more than a double holds in sum: refused. */
	if (ww_suspend_model_new(&o, &m, &err) == 0) {
		double best = ww_suspend_model_policy(m, WW_POLICY_BEST)->watts.value;
		double least = ww_suspend_model_policy(m, WW_POLICY_CLAIRVOYANT)->watts.value;

		if (!(best <= 2.75 * (1 + 1e-9)) || !(least <= best * (1 + 1e-9)) || !(least >= 1))
			abort();
		if (ww_suspend_model_report(m, WW_REPORT_TEXT, &text, &err) < 0)
			abort();
		ww_free(text);
	} else if (!err.text[0]) {
		abort();
	}
	ww_suspend_model_free(m);
	ww_free(gap);
	return 0;
}
