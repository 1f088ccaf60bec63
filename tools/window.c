/* SPDX-License-Identifier: MIT */
#include "window.h"

#include <string.h>

#define MARKS_SHOWN 20

/* "90s" after the first record, "-90s" before the last. */
static int moment(struct ww_trace *t, const char *option, const char *text, int64_t *out)
{
	struct ww_interval span = ww_trace_span(t);
	struct ww_error err = {0};
	int64_t ns;

	if (ww_duration_parse(text + (*text == '-'), &ns, &err) < 0)
		return tool_usage_error("%s: %s", option, err.text);
	if (span.lo_ns > span.hi_ns)
		return 0;
	if (*text == '-' ? __builtin_sub_overflow(span.hi_ns, ns, out)
			 : __builtin_add_overflow(span.lo_ns, ns, out))
		*out = *text == '-' ? WW_TIME_MIN : WW_TIME_MAX;
	return 0;
}

/* A window that holds nothing is a mistake, and better said than printed. */
static int stretch(struct ww_trace *t, const struct tool_window *w, struct tool_span *o)
{
	struct ww_interval span = ww_trace_span(t);
	double length = ((double)span.hi_ns - (double)span.lo_ns) / 1e9;
	int rc = 0;

	if (w->from)
		rc = moment(t, "--from", w->from, &o->from_ns);
	if (rc == 0 && w->to)
		rc = moment(t, "--to", w->to, &o->to_ns);
	if (rc || span.lo_ns > span.hi_ns)
		return rc;
	if (w->from && w->to && o->from_ns >= o->to_ns)
		return tool_usage_error("--from %s --to %s: the stretch ends before it begins",
					w->from, w->to);
	if ((w->from && o->from_ns > span.hi_ns) || (w->to && o->to_ns <= span.lo_ns)) {
		tool_say("%s: nothing %s %s: the trace is %.3f s long", ww_trace_path(t),
			 w->from ? "after --from" : "before --to", w->from ? w->from : w->to,
			 length);
		return TOOL_FAILED;
	}
	return 0;
}

static const char *mark_name(const struct ww_mark *m)
{
	return *m->text ? m->text : m->kind;
}

/* The first mark from `start` on whose text, or failing that whose kind, is the name. */
static const struct ww_mark *find_mark(struct ww_trace *t, const char *name, size_t len,
				       size_t start, size_t *at)
{
	for (int by_kind = 0; by_kind < 2; by_kind++) {
		for (size_t i = start; i < ww_trace_mark_count(t); i++) {
			const struct ww_mark *m = ww_trace_mark(t, i);
			const char *have = by_kind ? m->kind : m->text;

			if (strlen(have) == len && strncmp(have, name, len) == 0) {
				*at = i;
				return m;
			}
		}
	}
	return NULL;
}

/* The marks there are, each name once, for one who asked for another. */
static void list_marks(struct ww_trace *t)
{
	size_t n = ww_trace_mark_count(t), shown = 0;

	if (n == 0)
		tool_say("the trace has no marks");
	for (size_t i = 0; i < n && shown < MARKS_SHOWN; i++) {
		const struct ww_mark *m = ww_trace_mark(t, i);
		size_t first;

		if (find_mark(t, mark_name(m), strlen(mark_name(m)), 0, &first) && first < i)
			continue;
		if (shown++ == 0)
			tool_say("the marks are, in their order:");
		fprintf(stderr, "  %s\n", mark_name(m));
		if (shown == MARKS_SHOWN && i + 1 < n)
			fputs("  ...\n", stderr);
	}
}

/* A mark's text may itself hold commas: each of them is tried as the divider. */
static int between(struct ww_trace *t, const char *text, struct tool_span *o)
{
	const char *missing = text;
	size_t missing_len = strcspn(text, ","), a, b;

	for (const char *c = strchr(text, ','); c; c = strchr(c + 1, ',')) {
		const struct ww_mark *m = find_mark(t, text, (size_t)(c - text), 0, &a);

		if (!m)
			continue;
		o->from_ns = m->t.hi_ns;
		m = find_mark(t, c + 1, strlen(c + 1), a + 1, &b);
		if (m && m->t.lo_ns > o->from_ns) {
			o->to_ns = m->t.lo_ns;
			return 0;
		}
		missing = c + 1;
		missing_len = strlen(c + 1);
	}
	tool_say("%s: no mark '%.*s'%s", ww_trace_path(t), (int)missing_len, missing,
		 missing == text ? "" : " after the first one");
	list_marks(t);
	return TOOL_FAILED;
}

int tool_window_check(const struct tool_window *w)
{
	if (w->between && (w->from || w->to))
		return tool_usage_error("--between and --from or --to exclude each other");
	if (w->between && (!strchr(w->between, ',') || *w->between == ',' ||
			   w->between[strlen(w->between) - 1] == ','))
		return tool_usage_error("--between needs two marks, divided by a comma: '%s'",
					w->between);
	return 0;
}

int tool_window_find(struct ww_trace *t, const struct tool_window *w, struct tool_span *out)
{
	int rc = 0;

	*out = (struct tool_span){WW_TIME_MIN, WW_TIME_MAX};
	if (w->between)
		rc = between(t, w->between, out);
	return rc ? rc : stretch(t, w, out);
}
