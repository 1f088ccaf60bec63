/* SPDX-License-Identifier: MIT */
/* Files and tables of calibrations: what is taken corrects a reading to a finite power. */
#include "base/base.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct ww_calibration *c)
{
	struct ww_quantity q = ww_calibration_correct(c, (struct ww_quantity){26, 0.03});
	struct ww_calibration *back = NULL;
	char *text = NULL;

	if (!isfinite(q.value) || !(q.u >= 0))
		abort();
	for (int form = 0; form < 2; form++) {
		if (ww_calibration_report(c, form, &text, NULL) < 0)
			abort();
		if (form == WW_REPORT_JSON &&
		    ww_calibration_read("f", text, strlen(text), &back, NULL) < 0)
			abort();
		ww_free(text);
	}
	ww_calibration_free(back);
	ww_calibration_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ww_calibration *c = NULL;
	struct ww_error err = {0};

	if (ww_calibration_read("f", (const char *)data, size, &c, &err) == 0)
		check(c);
	else if (!err.text[0])
		abort();
	err = (struct ww_error){0};
	c = NULL;
	if (ww_calibration_fit("t", (const char *)data, size, NULL, &c, &err) == 0)
		check(c);
	else if (!err.text[0])
		abort();
	return 0;
}
