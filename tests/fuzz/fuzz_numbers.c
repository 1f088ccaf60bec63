/* SPDX-License-Identifier: MIT */
/* Lists of numbers and the JSON of hyperfine: whatever comes is told or compared. */
#include "text/numbers.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const struct ww_numbers *x)
{
	struct ww_compare_set set[8];
	const struct ww_numbers_group *g;
	struct ww_compare *c = NULL;
	struct ww_error err = {0};
	char *text = NULL;
	size_t n = 0;

	for (size_t i = 0; n < 8 && (g = ww_numbers_at(x, i)); i++) {
		for (size_t k = 0; k < g->n; k++)
			if (!isnan(g->value[k]) && !(fabs(g->value[k]) <= WW_NUMBERS_MOST))
				abort();
		if (g->n > 60)
			continue;
		set[n++] = (struct ww_compare_set){.variant = g->label,
						   .measure = "value",
						   .unit = "",
						   .value = g->value,
						   .when = g->when,
						   .n = g->n};
	}
	if (ww_compare_new(set, n, NULL, &c, &err) < 0) {
		if (!err.text[0])
			abort();
		return;
	}
	for (int form = WW_REPORT_TEXT; form <= WW_REPORT_JSON; form++) {
		if (ww_compare_report(c, form, &text, &err) < 0)
			abort();
		ww_free(text);
	}
	ww_compare_free(c);
}

/* The first byte chooses the options, the rest is the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const columns[] = {NULL, "1", "2,1", "a"};
	static const char *const labels[] = {NULL, "1", "2", "b"};
	struct ww_numbers_options o = {.size = sizeof(o), .name = "fuzz"};
	struct ww_numbers *x = NULL;
	struct ww_error err = {0};

	if (size < 1)
		return 0;
	o.column = columns[data[0] & 3];
	o.label = labels[data[0] >> 2 & 3];
	if (ww_numbers_parse((const char *)data + 1, size - 1, &o, &x, &err) < 0) {
		if (!err.text[0])
			abort();
		return 0;
	}
	compare(x);
	ww_numbers_free(x);
	return 0;
}
