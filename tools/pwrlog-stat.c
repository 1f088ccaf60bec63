/* SPDX-License-Identifier: MIT */
/* pwrlog stat: mean, extremes and energy of every channel of a trace. */
#include "common.h"
#include "pwrlog.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

struct window {
	const char *from, *to, *between;
};

static void usage(FILE *f)
{
	fputs("usage: pwrlog stat [--from T] [--to T] [--between MARK,MARK] [--json] FILE\n"
	      "\n"
	      "Mean, extremes and energy of every channel of a trace, with uncertainty.\n"
	      "FILE may still be growing; '-' is a stream on standard input.\n"
	      "\n"
	      "  --from T, --to T      only this stretch; T counts from the first record (90s,\n"
	      "                        1m30s), or back from the last one (-90s)\n"
	      "  --between MARK,MARK   from the end of one mark to the beginning of another\n"
	      "  --json                as JSON\n"
	      "  --help                this text\n",
	      f);
}

/* "90s" after the first record, "-90s" before the last. */
static int moment(struct ww_trace *t, const char *text, int64_t *out)
{
	struct ww_interval span = ww_trace_span(t);
	struct ww_error err = {0};
	int64_t ns;

	if (ww_duration_parse(text + (*text == '-'), &ns, &err) < 0)
		return tool_usage_error("%s", err.text);
	if (span.lo_ns > span.hi_ns)
		return 0;
	if (*text == '-' ? __builtin_sub_overflow(span.hi_ns, ns, out)
			 : __builtin_add_overflow(span.lo_ns, ns, out))
		*out = *text == '-' ? WW_TIME_MIN : WW_TIME_MAX;
	return 0;
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

/* A mark's text may itself hold commas: each of them is tried as the divider. */
static int between(struct ww_trace *t, const char *text, struct ww_stat_options *o)
{
	const char *missing = text;
	size_t missing_len = strcspn(text, ","), a, b;

	for (const char *c = strchr(text, ','); c; c = strchr(c + 1, ',')) {
		const struct ww_mark *m = find_mark(t, text, (size_t)(c - text), 0, &a);

		if (!m)
			continue;
		o->from_ns = m->t.hi_ns;
		m = find_mark(t, c + 1, strlen(c + 1), a + 1, &b);
		if (m) {
			o->to_ns = m->t.lo_ns;
			return 0;
		}
		missing = c + 1;
		missing_len = strlen(c + 1);
	}
	if (!strchr(text, ','))
		return tool_usage_error("--between needs two marks, divided by a comma: '%s'",
					text);
	tool_say("%s: no mark '%.*s'%s; see: wwtrace info %s", ww_trace_path(t), (int)missing_len,
		 missing, missing == text ? "" : " after the first one", ww_trace_path(t));
	return TOOL_FAILED;
}

static int report(const char *path, const struct window *w, int form)
{
	struct ww_stat_options o = {.size = sizeof(o)};
	struct ww_error err = {0};
	struct ww_trace *t = NULL;
	struct ww_stat *s = NULL;
	char *text = NULL;
	int rc = tool_open_trace(path, &t);

	if (rc == 0 && w->between)
		rc = between(t, w->between, &o);
	if (rc == 0 && w->from)
		rc = moment(t, w->from, &o.from_ns);
	if (rc == 0 && w->to)
		rc = moment(t, w->to, &o.to_ns);
	if (rc == 0 &&
	    (ww_stat_new(t, &o, &s, &err) < 0 || ww_stat_report(s, form, &text, &err) < 0))
		rc = tool_fail(&err);
	if (rc == 0)
		rc = tool_print(text);
	ww_stat_free(s);
	ww_trace_close(t);
	return rc;
}

int pwrlog_stat(int argc, char **argv)
{
	static const struct option options[] = {{"from", required_argument, NULL, 'f'},
						{"to", required_argument, NULL, 't'},
						{"between", required_argument, NULL, 'b'},
						{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	struct window w = {0};
	int form = WW_REPORT_TEXT, c;
	const char *path;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case 'f':
			w.from = optarg;
			break;
		case 't':
			w.to = optarg;
			break;
		case 'b':
			w.between = optarg;
			break;
		case 'j':
			form = WW_REPORT_JSON;
			break;
		case 'h':
			usage(stdout);
			return TOOL_OK;
		default:
			return tool_bad_option(c, argv);
		}
	}
	if (w.between && (w.from || w.to))
		return tool_usage_error("--between and --from or --to exclude each other");
	path = tool_one_file(argc, argv);
	return path ? report(path, &w, form) : TOOL_USAGE;
}
