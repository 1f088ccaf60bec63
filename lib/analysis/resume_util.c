/* SPDX-License-Identifier: MIT */
#include "analysis/resume.h"

int ww_grow(void *p, size_t *cap, size_t n, size_t size, struct ww_error *err)
{
	size_t want = *cap ? *cap * 2 : 16;
	void *old, *mem;

	if (n < *cap)
		return 0;
	memcpy(&old, p, sizeof(old));
	mem = realloc(old, want * size);
	if (!mem)
		return ww_fail_nomem(err);
	memcpy(p, &mem, sizeof(mem));
	*cap = want;
	/* cppcheck-suppress memleak ; the caller has it, by the copy of the pointer */
	return 0;
}
