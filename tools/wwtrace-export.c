/* SPDX-License-Identifier: MIT */
/* wwtrace export: records as lines for other programs. */
#include "common.h"
#include "wwtrace.h"

#include <getopt.h>
#include <string.h>
#include <unistd.h>

static void usage(FILE *f)
{
	fputs("Usage: wwtrace export [--what KIND] [--source NAME] [--format csv|jsonl] [--redact] "
	      "FILE\n"
	      "\n"
	      "Records of a trace, one a line, in the order of time. Times are in ns on the axis\n"
	      "of the trace, the bench's CLOCK_BOOTTIME. FILE may be - for standard input.\n"
	      "\n"
	      "  --what KIND      samples (default), bytes, events, marks or gaps\n"
	      "  --source NAME    of one source only\n"
	      "  --format FORM    csv (default) or jsonl\n"
	      "  --redact         without host names, serial numbers and command lines\n"
	      "  -h, --help       this text\n"
	      "\n" TOOL_IMPORT_BASIC_HELP,
	      f);
}

/* Number of a word in a list, -1 if it is none of them. */
static int word(const char *text, const char *const *list)
{
	for (int i = 0; list[i]; i++)
		if (strcmp(list[i], text) == 0)
			return i;
	return -1;
}

/* @return -1 to go on, else the exit status */
static int parse(int argc, char **argv, struct ww_export_options *o)
{
	static const struct option options[] = {{"what", required_argument, NULL, 'w'},
						{"source", required_argument, NULL, 's'},
						{"format", required_argument, NULL, 'f'},
						{"redact", no_argument, NULL, 'r'},
						{"help", no_argument, NULL, 'h'},
						TOOL_IMPORT_BASIC,
						{0}};
	static const char *const whats[] = {"samples", "bytes", "events", "marks", "gaps", NULL};
	static const char *const forms[] = {"csv", "jsonl", NULL};
	int c;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		int taken = tool_import_option(c);

		if (taken < 0)
			return TOOL_USAGE;
		if (taken > 0)
			continue;
		switch (c) {
		case 'h':
			usage(stdout);
			return fflush(stdout) ? TOOL_FAILED : TOOL_OK;
		case 'w':
			o->what = word(optarg, whats);
			if (o->what < 0)
				return tool_usage_error(
					"--what %s: samples, bytes, events, marks or gaps", optarg);
			break;
		case 'f':
			o->jsonl = word(optarg, forms);
			if (o->jsonl < 0)
				return tool_usage_error("--format %s: csv or jsonl", optarg);
			break;
		case 's':
			o->source = optarg;
			break;
		case 'r':
			o->redact = 1;
			break;
		default:
			return tool_bad_option(c, argv);
		}
	}
	return -1;
}

int wwtrace_export(int argc, char **argv)
{
	struct ww_export_options o = {.size = sizeof(o)};
	struct ww_error err = {0};
	struct ww_trace *t;
	const char *file;
	int64_t n;
	int rc = parse(argc, argv, &o);

	if (rc >= 0)
		return rc;
	file = tool_one_file(argc, argv);
	if (!file)
		return TOOL_USAGE;
	if (tool_open_trace(file, &t) != 0)
		return TOOL_FAILED;
	tool_say_import(t);
	n = ww_export(t, &o, STDOUT_FILENO, &err);
	ww_trace_close(t);
	return n < 0 ? tool_fail(&err) : TOOL_OK;
}
