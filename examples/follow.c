/* SPDX-License-Identifier: MIT */
/*
 * Print each reading of a trace while it is being recorded, until its recorder ends:
 *
 *   follow TRACE [SOURCE]
 *
 * A reading's time is an interval in which it surely arrived; here its end is printed, in
 * seconds since the trace's first record.
 *
 * cc follow.c -o follow $(pkg-config --cflags --libs wakewatt)
 */
#include <wakewatt.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>

/* The source by name, or the first meter; it may not be described yet. */
static const struct ww_source_info *find(const struct ww_trace *t, const char *name)
{
	const struct ww_source_info *s;

	for (size_t i = 0; (s = ww_trace_source(t, i)); i++)
		if (name ? strcmp(s->name, name) == 0 && s->kind != WW_SERIAL : s->kind == WW_METER)
			return s;
	return NULL;
}

static void print(const struct ww_trace *t, uint32_t source, const struct ww_batch *b)
{
	int64_t zero = ww_trace_span(t).lo_ns;

	for (size_t row = 0; row < b->n; row++) {
		const struct ww_channel_info *c;
		size_t column = 0;

		printf("%12.6f s", (double)(b->hi_ns[row] - zero) / 1e9);
		for (size_t i = 0; (c = ww_trace_channel(t, i)); i++) {
			int64_t code;

			if (c->source != source)
				continue;
			code = b->codes[column++][row];
			if (code < WW_CODE_MIN)
				printf("  %s -", c->name);
			else
				printf("  %s %.9g %s", c->name, (double)code * c->scale + c->offset,
				       c->unit);
		}
		printf("\n");
	}
	fflush(stdout);
}

/* All that is there now. The cursor keeps its place and goes on from it the next time. */
static int take(struct ww_trace *t, const char *name, struct ww_cursor **c, uint32_t *source,
		struct ww_error *err)
{
	const struct ww_source_info *s = *c ? NULL : find(t, name);
	struct ww_batch b;
	int rc = 0;

	if (s) {
		*source = s->id;
		rc = ww_cursor_open(t, s->id, WW_TIME_MIN, WW_TIME_MAX, 0, c, err);
	}
	while (*c && rc >= 0 && (rc = ww_cursor_next(*c, &b, err)) > 0)
		print(t, *source, &b);
	return rc;
}

int main(int argc, char **argv)
{
	const char *name = argc > 2 ? argv[2] : NULL;
	struct ww_cursor *c = NULL;
	struct ww_error err = {0};
	struct ww_trace *t = NULL;
	uint32_t source = 0;
	int rc;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: follow TRACE [SOURCE]\n");
		return 2;
	}
	rc = ww_trace_open(argv[1], &t, &err);
	while (rc >= 0 && (rc = take(t, name, &c, &source, &err)) >= 0 &&
	       ww_trace_state(t) == WW_TRACE_LIVE) {
		struct pollfd p = {.fd = ww_trace_fd(t), .events = POLLIN};

		poll(&p, 1, -1);
		rc = ww_trace_refresh(t, &err);
	}
	/* What the last refresh brought. */
	if (rc >= 0)
		rc = take(t, name, &c, &source, &err);
	if (rc < 0)
		fprintf(stderr, "follow: %s\n", err.text);
	else if (!c)
		fprintf(stderr, "follow: %s: no such source of readings\n", argv[1]);
	ww_cursor_close(c);
	ww_trace_close(t);
	return rc < 0 || !source;
}
