/* SPDX-License-Identifier: MIT */
#include "base/notes.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void ww_note(struct ww_notes *l, const char *fmt, ...)
{
	char *text = NULL, **more;
	va_list ap;
	int n;

	if (l->bad)
		return;
	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	text = n < 0 ? NULL : malloc((size_t)n + 1);
	l->bad = !text;
	if (!text)
		return;
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	if (!ww_is_plain(text, (size_t)n)) {
		char *plain = malloc(4 * (size_t)n + 1);

		if (plain)
			ww_plain(plain, 4 * (size_t)n + 1, text, (size_t)n);
		free(text);
		text = plain;
		l->bad = !text;
		if (!text)
			return;
	}
	for (size_t i = 0; i < l->n; i++) {
		if (strcmp(l->note[i], text) == 0) {
			free(text);
			return;
		}
	}
	more = realloc(l->note, (l->n + 1) * sizeof(*more));
	if (!more) {
		free(text);
		l->bad = true;
		return;
	}
	l->note = more;
	l->note[l->n++] = text;
}

const char *ww_note_at(const struct ww_notes *l, size_t i)
{
	return i < l->n ? l->note[i] : NULL;
}

void ww_notes_free(struct ww_notes *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->note[i]);
	free(l->note);
	*l = (struct ww_notes){0};
}
