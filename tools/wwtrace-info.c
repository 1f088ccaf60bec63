/* SPDX-License-Identifier: MIT */
/* wwtrace info: what a trace is. */
#include "common.h"
#include "wwtrace.h"

#include <getopt.h>

static void usage(FILE *f)
{
	fputs("Usage: wwtrace info [--json] FILE\n"
	      "\n"
	      "What a trace is: environment, sources, channels, counts, marks, gaps.\n"
	      "FILE may still be growing, or be - for standard input.\n"
	      "\n"
	      "  --json      as JSON\n"
	      "  -h, --help  this text\n"
	      "\n" TOOL_IMPORT_HELP,
	      f);
}

int wwtrace_info(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
						{"help", no_argument, NULL, 'h'},
						TOOL_IMPORT_OPTIONS,
						{0}};
	int form = WW_REPORT_TEXT, c, rc;
	struct ww_error err = {0};
	struct ww_trace *t;
	const char *file;
	char *text;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		int taken = tool_import_option(c);

		if (taken < 0)
			return TOOL_USAGE;
		if (taken > 0)
			continue;
		if (c == 'h') {
			usage(stdout);
			return fflush(stdout) ? TOOL_FAILED : TOOL_OK;
		}
		if (c != 'j')
			return tool_bad_option(c, argv);
		form = WW_REPORT_JSON;
	}
	file = tool_one_file(argc, argv);
	if (!file)
		return TOOL_USAGE;
	if (tool_open_trace(file, &t) != 0)
		return TOOL_FAILED;
	rc = ww_info_report(t, form, &text, &err);
	ww_trace_close(t);
	return rc < 0 ? tool_fail(&err) : tool_print(text);
}
