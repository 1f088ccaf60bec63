/* SPDX-License-Identifier: MIT */
/* Work read from output: however it is cut, the same is found, and it is a number. */
#include "base/base.h"

#include <math.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const what[] = {"openssl",
				   "hdparm",
				   "dd",
				   "rsync",
				   "nbench",
				   "([0-9.,]+) *([A-Za-z/]*)",
				   "last:=([0-9.,e+-]+)",
				   "(x*)"};

static void check(const struct ww_work_found *a)
{
	bool none = a->kind == WW_WORK_NONE;

	if (none != (a->why[0] != '\0') || none != (isnan(a->value) != 0))
		abort();
	if (!none && (!(a->value >= 0) || isinf(a->value) || a->u < 0))
		abort();
	if (strlen(a->unit) > 31)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ww_work_found whole, cut;
	struct ww_work *a, *b;
	char unit[32];

	if (size == 0 || size > 20000)
		return 0;
	if (ww_work_new(what[data[0] % WW_COUNTOF(what)], &a, NULL) < 0 ||
	    ww_work_new(what[data[0] % WW_COUNTOF(what)], &b, NULL) < 0)
		abort();
	ww_work_feed(a, (const char *)data + 1, size - 1);
	ww_work_get(a, &whole);
	check(&whole);
	snprintf(unit, sizeof(unit), "%s", whole.unit);
	for (size_t i = 1; i < size; i++)
		ww_work_feed(b, (const char *)data + i, 1);
	ww_work_get(b, &cut);
	if (whole.kind != cut.kind || whole.lines != cut.lines || strcmp(unit, cut.unit) != 0 ||
	    memcmp(&whole.value, &cut.value, sizeof(cut.value)) != 0)
		abort();
	ww_work_reset(b);
	ww_work_get(b, &cut);
	if (cut.kind != WW_WORK_NONE || cut.lines)
		abort();
	ww_work_free(a);
	ww_work_free(b);
	return 0;
}
