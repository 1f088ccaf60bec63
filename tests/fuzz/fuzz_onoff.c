/* SPDX-License-Identifier: MIT */
/* Typed tables: refused with a sentence, or solved and reported; states are ones there are. */
#include "text/onoff.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct ww_onoff *o)
{
	for (size_t i = 0; i < o->readings; i++) {
		const struct ww_onoff_reading *r = &o->reading[i];

		if (r->devices > o->devices || !isfinite(r->watts) || r->u < 0 || !(r->step >= 0))
			abort();
		for (size_t k = 0; k < r->devices; k++)
			if (r->on[k] > o->device[k].states)
				abort();
	}
}

static void solve(const uint8_t *data, size_t size)
{
	struct ww_attribute_options opt = {.size = sizeof(opt), .interactions = size % 2};
	struct ww_attribute *a = NULL;
	struct ww_error err = {0};
	char *text = NULL;

	if (ww_attribute_new(&opt, &a, NULL) < 0)
		abort();
	if (ww_attribute_table(a, 0, "t", (const char *)data, size, &err) == 0 &&
	    ww_attribute_solve(a, &err) == 0) {
		for (int form = 0; form < 2; form++) {
			if (ww_attribute_report(a, form, &text, NULL) < 0)
				abort();
			ww_free(text);
		}
	} else if (!err.text[0]) {
		abort();
	}
	ww_attribute_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ww_onoff o = {0};
	struct ww_error err = {0};
	int rc = ww_onoff_table(&o, "t", (const char *)data, size, &err);
	bool small = o.devices < 30 && o.readings < 200;

	if ((rc < 0) != (err.text[0] != '\0') || (rc == 0 && o.readings == 0))
		abort();
	check(&o);
	ww_onoff_free(&o);
	if (small)
		solve(data, size);
	return 0;
}
