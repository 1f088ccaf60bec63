/* SPDX-License-Identifier: MIT */
#include "typed.h"
#include "reading.h"

#include <ctype.h>
#include <string.h>

/* The k-th source that is typed into: it has one channel. */
static bool manual_at(const struct recording *r, size_t k, struct ww_live *l)
{
	for (size_t i = 0; ww_recorder_live(r->rec, i, l) == 1; i++)
		if (l->kind == WW_MANUAL && k-- == 0)
			return true;
	return false;
}

/* "meter2: 40.5" is for meter2, where there are several; without a name for the first. */
static char *whose(const struct recording *r, char *line, size_t *k)
{
	struct ww_live l;

	*k = 0;
	for (size_t i = 0; r->manuals > 1 && manual_at(r, i, &l); i++) {
		size_t n = strlen(l.source);

		if (strncmp(line, l.source, n) != 0 || line[n] != ':')
			continue;
		*k = i;
		line += n + 1;
		return line + strspn(line, " \t");
	}
	return line;
}

void typed_say_several(const struct recording *r)
{
	struct ww_live first, last;

	if (r->manuals > 1 && manual_at(r, 0, &first) && manual_at(r, r->manuals - 1, &last))
		tool_say("%zu meters are typed: '%s: 40.5' is a reading of %s; a line without a "
			 "name is of %s",
			 r->manuals, last.source, last.source, first.source);
}

static void take_mark(struct recording *r, const char *text)
{
	struct ww_mark m = {.kind = WW_MARK_LABEL, .text = text};
	struct ww_error err = {0};
	size_t n = strlen(text);

	if (n == 0)
		return;
	r->typed = true;
	if (ww_recorder_mark(r->rec, &m, &err) < 0)
		tool_fail(&err);
	else
		tool_say("mark '%s'%s", text,
			 r->manuals && isdigit((unsigned char)text[n - 1])
				 ? " (no reading: one goes behind a comma)"
				 : "");
}

static void take_reading(struct recording *r, size_t k, const struct reading *got)
{
	struct ww_error err = {0};
	struct ww_live l;

	r->typed = true;
	if (ww_recorder_type(r->rec, r->manual[k], got->value, got->label, &err) < 0) {
		tool_fail(&err);
		return;
	}
	/* What was stored, not what was typed: a number may have had too many digits. */
	if (!manual_at(r, k, &l))
		return;
	tool_say("%s%sreading %.15g%s%s%s%s%s", r->manuals > 1 ? l.source : "",
		 r->manuals > 1 ? ": " : "", l.value, strcmp(l.unit, "1") ? " " : "",
		 strcmp(l.unit, "1") ? l.unit : "", *got->label ? ", label '" : "", got->label,
		 *got->label ? "'" : "");
}

void typed_take(void *ctx, char *line, bool cut)
{
	struct recording *r = ctx;
	struct reading got = {0};
	struct ww_live l = {0};
	size_t n = strlen(line), k;

	while (n > 0 && isspace((unsigned char)line[n - 1]))
		line[--n] = '\0';
	line += strspn(line, " \t");
	if (cut)
		tool_say("the line was cut after %zu bytes: a label is no longer than that", n);
	if (!*line)
		return;
	if (r->manuals == 0) {
		take_mark(r, line);
		return;
	}
	line = whose(r, line, &k);
	if (!manual_at(r, k, &l))
		return;
	switch (reading_parse(line, l.unit, &got)) {
	case READING_VALUE:
		take_reading(r, k, &got);
		break;
	case READING_MARK:
		take_mark(r, got.label);
		break;
	case READING_REFUSED:
		tool_say("not taken: %s", got.why);
	}
}
