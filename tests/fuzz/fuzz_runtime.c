/* SPDX-License-Identifier: MIT */
/* A maker's table, and quantities: whatever comes is told or gives a runtime. */
#include "text/rttable.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void runtimes(const struct ww_runtime_table *t)
{
	struct ww_runtime_options o = {.size = sizeof(o), .table = t};
	struct ww_runtime *r = NULL;
	struct ww_error err = {0};
	char *text = NULL;

	for (size_t i = 1; i < t->rows; i++)
		if (!(t->load[i] > t->load[i - 1]))
			abort();
	o.watts.value = 35;
	o.pf.value = 0.7;
	o.wanted_h.value = 0.5;
	if (ww_runtime_new(&o, &r, &err) < 0) {
		/* A table may state too few runtimes to tell anything. */
		if (err.code != -ENODATA || !err.text[0])
			abort();
		return;
	}
	for (int form = WW_REPORT_TEXT; form <= WW_REPORT_JSON; form++) {
		if (ww_runtime_report(r, form, &text, &err) < 0)
			abort();
		ww_free(text);
	}
	ww_runtime_free(r);
}

/* The first byte chooses the unit, the rest is the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const units[] = {NULL, "W", "VA", "A"};
	struct ww_runtime_table *t = NULL;
	struct ww_error err = {0};
	struct ww_quantity q;
	char text[64], unit[16];
	size_t n = size < sizeof(text) ? size : sizeof(text) - 1;

	if (size < 1)
		return 0;
	memcpy(text, data, n);
	text[n] = '\0';
	if (ww_quantity_parse(text, "W", &q, unit, sizeof(unit), &err) == 0 &&
	    !(isfinite(q.value) && q.u >= 0))
		abort();
	ww_error_clear(&err);
	if (ww_runtime_table_parse((const char *)data + 1, size - 1, "fuzz", units[data[0] & 3], &t,
				   &err) < 0) {
		if (!err.text[0])
			abort();
		return 0;
	}
	runtimes(t);
	ww_runtime_table_free(t);
	return 0;
}
