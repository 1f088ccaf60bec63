/* SPDX-License-Identifier: MIT */
/* pwrlog stat: mean, extremes and energy of every channel of a trace. */
#include "common.h"
#include "pwrlog.h"
#include "window.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *f)
{
	fputs("usage: pwrlog stat [--from T] [--to T] [--between MARK,MARK] [--json] FILE\n"
	      "\n"
	      "Mean, extremes and energy of every channel of a trace, with uncertainty.\n"
	      "FILE may still be growing; '-' is a stream on standard input.\n"
	      "\n" TOOL_WINDOW_HELP "  --json                as JSON\n"
	      "  --help                this text\n"
	      "\n" TOOL_IMPORT_HELP,
	      f);
}

static int report(const char *path, const struct tool_window *w, int form)
{
	struct ww_stat_options o = {.size = sizeof(o)};
	struct tool_span span = {0};
	struct ww_error err = {0};
	struct ww_trace *t = NULL;
	struct ww_stat *s = NULL;
	char *text = NULL;
	int rc = tool_open_trace(path, &t);

	if (rc == 0)
		rc = tool_window_find(t, w, &span);
	o.from_ns = span.from_ns;
	o.to_ns = span.to_ns;
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
						TOOL_IMPORT_OPTIONS,
						{NULL, 0, NULL, 0}};
	struct tool_window w = {0};
	int form = WW_REPORT_TEXT, c;
	const char *path;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		int taken = tool_import_option(c);

		if (taken < 0)
			return TOOL_USAGE;
		if (taken > 0)
			continue;
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
	c = tool_window_check(&w);
	if (c)
		return c;
	path = tool_one_file(argc, argv);
	return path ? report(path, &w, form) : TOOL_USAGE;
}
