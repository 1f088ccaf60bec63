/* SPDX-License-Identifier: MIT */
#include "analysis/resume.h"

#include <stdarg.h>
#include <stdio.h>

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

int ww_notes_add(struct ww_notes *v, struct ww_error *err, const char *fmt, ...)
{
	char text[600], *copy;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->p[i], text) == 0)
			return 0;
	rc = ww_grow(&v->p, &v->cap, v->n, sizeof(*v->p), err);
	if (rc < 0)
		return rc;
	copy = strdup(text);
	if (!copy)
		return ww_fail_nomem(err);
	v->p[v->n++] = copy;
	return 0;
}

void ww_notes_free(struct ww_notes *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->p[i]);
	free(v->p);
	*v = (struct ww_notes){0};
}
