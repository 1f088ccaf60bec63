/* SPDX-License-Identifier: MIT */
/* The bytes of a serial source of a trace, as text that is read piece by piece. */
#include "analysis/pmtrace.h"
#include "base/str.h"

#include <stdio.h>

struct of_trace {
	struct ww_text text;
	struct ww_cursor *cursor;
};

static int of_trace_next(struct ww_text *t, const uint8_t **data, size_t *n, const int64_t **lo,
			 const int64_t **hi, struct ww_error *err)
{
	struct of_trace *o = (struct of_trace *)t;
	struct ww_batch b;
	int rc = ww_cursor_next(o->cursor, &b, err);

	if (rc <= 0)
		return rc;
	*data = b.data;
	*n = b.n;
	*lo = b.lo_ns;
	*hi = b.hi_ns;
	return 1;
}

static void of_trace_close(struct ww_text *t)
{
	struct of_trace *o = (struct of_trace *)t;

	ww_cursor_close(o->cursor);
	free(t->name);
	free(o);
}

int ww_text_source(struct ww_trace *t, const struct ww_source_info *source, struct ww_text **out,
		   struct ww_error *err)
{
	struct of_trace *o = calloc(1, sizeof(*o));
	struct ww_str name = {0};
	int rc;

	if (!o)
		return ww_fail_nomem(err);
	ww_str_addf(&name, "%s, %s", ww_trace_path(t), source->name);
	rc = ww_str_take(&name, &o->text.name, err);
	if (rc >= 0)
		rc = ww_cursor_open(t, source->id, WW_TIME_MIN, WW_TIME_MAX, 0, &o->cursor, err);
	if (rc < 0) {
		free(o->text.name);
		free(o);
		return rc;
	}
	o->text.next = of_trace_next;
	o->text.close = of_trace_close;
	*out = &o->text;
	return 0;
}

/* Of that name, or "console", or the only one; its list for a message otherwise. */
static const struct ww_source_info *choose(struct ww_trace *t, const char *name,
					   struct ww_str *have)
{
	const struct ww_source_info *only = NULL;
	const char *want = name ? name : "console";
	size_t serial = 0;

	for (size_t i = 0; i < ww_trace_source_count(t); i++) {
		const struct ww_source_info *s = ww_trace_source(t, i);

		if (s->kind != WW_SERIAL)
			continue;
		if (strcmp(s->name, want) == 0)
			return s;
		ww_str_addf(have, "%s%s", serial++ ? ", " : "", s->name);
		only = s;
	}
	return !name && serial == 1 ? only : NULL;
}

int ww_text_trace(struct ww_trace *t, const char *source, struct ww_text **out,
		  struct ww_error *err)
{
	struct ww_str have = {0};
	const struct ww_source_info *s = choose(t, source, &have);
	int rc;

	if (s)
		rc = ww_text_source(t, s, out, err);
	else if (have.n == 0)
		rc = ww_fail(err, -ENOENT,
			     "%s: no serial line was recorded, so there is no text of a console "
			     "(record one with: resumetime record --console PORT)",
			     ww_trace_path(t));
	else
		rc = ww_fail(err, -ENOENT, "%s: no serial source is called '%s'; there is: %s",
			     ww_trace_path(t), source ? source : "console", have.p);
	ww_str_free(&have);
	return rc;
}
