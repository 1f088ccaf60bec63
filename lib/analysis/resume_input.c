/* SPDX-License-Identifier: MIT */
#include "analysis/resume_input.h"
#include "base/uri.h"

#include <stdio.h>

static bool ends(const char *s, const char *tail)
{
	size_t a = strlen(s), b = strlen(tail);

	return a >= b && strcmp(s + a - b, tail) == 0;
}

static const struct ww_source_info *by_name(struct ww_trace *t, const char *name)
{
	for (size_t i = 0; i < ww_trace_source_count(t); i++)
		if (strcmp(ww_trace_source(t, i)->name, name) == 0)
			return ww_trace_source(t, i);
	return NULL;
}

static int named(struct ww_trace *t, const char *name, const struct ww_source_info **out,
		 struct ww_error *err)
{
	const struct ww_source_info *s = by_name(t, name);
	struct ww_str have = {0};
	int rc;

	if (s && s->kind == WW_SERIAL) {
		*out = s;
		return 0;
	}
	for (size_t i = 0; i < ww_trace_source_count(t); i++)
		if (ww_trace_source(t, i)->kind == WW_SERIAL)
			ww_str_addf(&have, "%s%s", have.n ? ", " : "", ww_trace_source(t, i)->name);
	rc = ww_fail(err, -ENOENT, "%s: no serial source is called '%s'; its serial sources: %s",
		     ww_trace_path(t), name, have.n ? have.p : "none");
	ww_str_free(&have);
	return rc;
}

/* Share of the bytes at the head of a source that look like beats, in per cent. */
static int looks_like_beats(struct ww_trace *t, uint32_t source, struct ww_error *err)
{
	uint64_t count[256] = {0}, n = 0, beats = 0;
	struct ww_cursor *c;
	struct ww_batch b;
	int rc = ww_cursor_open(t, source, WW_TIME_MIN, WW_TIME_MAX, 0, &c, err);

	if (rc < 0)
		return rc;
	while (n < 65536 && (rc = ww_cursor_next(c, &b, err)) > 0)
		for (size_t i = 0; i < b.n; i++, n++)
			count[b.data[i]]++;
	ww_cursor_close(c);
	if (rc < 0)
		return rc;
	/* Stamped beats: each has one '!' and one newline in 23 bytes. */
	if (count['!'] > 2 && count['!'] * 30 > n && count['\n'] * 2 > count['!'])
		return 100;
	for (int i = 0; i < 256; i++)
		beats += count[i] * 7 > n ? count[i] : 0;
	return n ? (int)(beats * 100 / n) : 0;
}

/* What --raw keeps of a meter is no line of the DUT's; older traces say so by the name. */
static bool of_a_meter(const struct ww_source_info *s)
{
	return strcmp(s->role, "raw") == 0 || strcmp(s->role, "turns") == 0 ||
	       ends(s->name, ".raw");
}

static int find_port(struct ww_trace *t, const struct ww_source_info *console,
		     const struct ww_source_info **out, struct ww_error *err)
{
	const struct ww_source_info *first = NULL;
	int best = 0;

	*out = NULL;
	for (size_t i = 0; i < ww_trace_source_count(t); i++) {
		const struct ww_source_info *s = ww_trace_source(t, i);
		int share;

		if (s->kind != WW_SERIAL || s == console || of_a_meter(s))
			continue;
		share = looks_like_beats(t, s->id, err);
		if (share < 0)
			return share;
		if (!first)
			first = s;
		if (share > best && share >= 60) {
			best = share;
			*out = s;
		}
	}
	if (!*out)
		*out = first;
	return 0;
}

static int read_edges(struct ww_trace *t, uint32_t source, struct ww_edge_list *list,
		      struct ww_error *err)
{
	struct ww_cursor *c;
	struct ww_batch b;
	int rc = ww_cursor_open(t, source, WW_TIME_MIN, WW_TIME_MAX, 0, &c, err);

	if (rc < 0)
		return rc;
	while ((rc = ww_cursor_next(c, &b, err)) > 0)
		for (size_t i = 0; i < b.n; i++) {
			rc = ww_grow(&list->e, &list->cap, list->n, sizeof(*list->e), err);
			if (rc < 0)
				goto out;
			list->e[list->n++] = (struct ww_edge){{b.lo_ns[i], b.hi_ns[i]},
							      b.codes && b.codes[0][i] == 1};
		}
out:
	ww_cursor_close(c);
	return rc;
}

/* The first line with a role is the one that tells, if it ever moved. */
static int take_edges(struct ww_trace *t, const struct ww_source_info *s, struct ww_edge_list *list,
		      struct ww_error *err)
{
	if (list->n) {
		list->other = s->name;
		return 0;
	}
	list->line = s->name;
	return read_edges(t, s->id, list, err);
}

/* A line's role; in older traces only its URI tells: gpio:gpiochip0/17?role=wake. */
static int take_line(struct ww_trace *t, const struct ww_source_info *s, struct ww_resume_input *in,
		     struct ww_error *err)
{
	struct ww_uri uri;
	const char *role;
	int rc = ww_uri_parse(s->uri, &uri, NULL);

	if (rc < 0)
		uri = (struct ww_uri){.options = 0}; /* an unreadable one tells none */
	role = *s->role ? s->role : ww_uri_get(&uri, "role", "");
	if (strcmp(role, "off") == 0)
		rc = take_edges(t, s, &in->off, err);
	else if (strcmp(role, "wake") == 0)
		rc = take_edges(t, s, &in->woken, err);
	else if (strcmp(role, "sleep") == 0)
		rc = take_edges(t, s, &in->sleep, err);
	ww_uri_free(&uri);
	return rc < 0 ? rc : 0;
}

static int take_gaps(struct ww_trace *t, struct ww_resume_input *in, struct ww_error *err)
{
	for (size_t i = 0; i < ww_trace_gap_count(t); i++) {
		const struct ww_gap *g = ww_trace_gap(t, i);
		char *reason;
		int rc;

		/* A silent line is what is measured here, not a loss. */
		if (!in->port || g->source != in->port->id || strcmp(g->reason, "silent") == 0)
			continue;
		rc = ww_grow(&in->gap, &in->gaps_cap, in->gaps, sizeof(*in->gap), err);
		if (rc < 0)
			return rc;
		reason = strdup(g->reason);
		if (!reason)
			return ww_fail_nomem(err);
		in->gap[in->gaps] = *g;
		in->gap[in->gaps++].reason = reason;
	}
	return 0;
}

int ww_resume_gather(struct ww_trace *t, const struct ww_resume_options *opt,
		     struct ww_resume_input *in, struct ww_error *err)
{
	const char *port = WW_OPT(opt, port, NULL), *console = WW_OPT(opt, console, NULL);
	int rc = 0;

	*in = (struct ww_resume_input){0};
	if (console)
		rc = named(t, console, &in->console, err);
	else
		in->console = by_name(t, "console");
	if (in->console && in->console->kind != WW_SERIAL)
		in->console = NULL;
	in->sign = ww_trace_meta(t, "campaign.alive");
	if (in->sign && !*in->sign)
		in->sign = NULL;
	if (rc >= 0 && port)
		rc = named(t, port, &in->port, err);
	else if (rc >= 0 && !in->sign)
		rc = find_port(t, in->console, &in->port, err);
	/* The only line there is carries the beat, whatever it is called. */
	if (rc >= 0 && !in->port && !console && !in->sign)
		in->port = in->console;
	if (in->port == in->console)
		in->console = NULL;
	if (rc >= 0 && !in->port && !in->sign)
		rc = ww_fail(err, -ENOENT,
			     "%s: no serial line was recorded, so there is no heartbeat to find "
			     "cycles in (record one with: resumetime record -p PORT)",
			     ww_trace_path(t));
	for (size_t i = 0; rc >= 0 && i < ww_trace_source_count(t); i++)
		if (ww_trace_source(t, i)->kind == WW_LINE)
			rc = take_line(t, ww_trace_source(t, i), in, err);
	if (rc >= 0)
		rc = take_gaps(t, in, err);
	if (rc < 0)
		ww_resume_input_free(in);
	return rc < 0 ? rc : 0;
}

void ww_resume_input_free(struct ww_resume_input *in)
{
	for (size_t i = 0; i < in->gaps; i++)
		free((char *)in->gap[i].reason);
	free(in->gap);
	free(in->off.e);
	free(in->woken.e);
	free(in->sleep.e);
	*in = (struct ww_resume_input){0};
}

int ww_resume_load(struct ww_trace *t, uint32_t source, int64_t from, int64_t to,
		   struct ww_window *w, struct ww_error *err)
{
	struct ww_cursor *c;
	struct ww_batch b;
	int rc = ww_cursor_open(t, source, from, to, 0, &c, err);

	ww_window_reset(w);
	if (rc < 0)
		return rc;
	while ((rc = ww_cursor_next(c, &b, err)) > 0) {
		rc = ww_window_add(w, b.n, b.lo_ns, b.hi_ns, b.data, err);
		if (rc < 0)
			break;
	}
	ww_cursor_close(c);
	return rc < 0 ? rc : 0;
}
