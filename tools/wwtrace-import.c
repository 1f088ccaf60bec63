/* SPDX-License-Identifier: MIT */
/* wwtrace import: a file of another program becomes a trace. */
#include "common.h"
#include "wwtrace.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *f)
{
	fputs("Usage: wwtrace import [OPTIONS] FILE -o OUT.wwt\n"
	      "       wwtrace import --list\n"
	      "\n"
	      "Stores a file of another program as a trace. All commands take such files as they\n"
	      "are; a stored trace is smaller, opens faster and keeps what was assumed.\n"
	      "FILE may be - for standard input, also for a stream of a trace.\n"
	      "\n"
	      "  -o, --output OUT      the trace to make; it must not exist yet\n"
	      "      --list            the formats that are known\n"
	      "  -h, --help            this text\n"
	      "\n" TOOL_IMPORT_HELP,
	      f);
}

static int list(void)
{
	for (size_t i = 0; ww_import_format_at(i); i++)
		printf("%-14s %s\n", ww_import_format_at(i)->name, ww_import_format_at(i)->what);
	return TOOL_OK;
}

/* @return -1 to go on, else the exit status */
static int parse(int argc, char **argv, const char **out)
{
	static const struct option options[] = {{"output", required_argument, NULL, 'o'},
						{"list", no_argument, NULL, 'l'},
						{"help", no_argument, NULL, 'h'},
						TOOL_IMPORT_OPTIONS,
						{0}};
	int c;

	while ((c = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		int taken = tool_import_option(c);

		if (taken < 0)
			return TOOL_USAGE;
		if (taken > 0)
			continue;
		switch (c) {
		case 'h':
			usage(stdout);
			return fflush(stdout) ? TOOL_FAILED : TOOL_OK;
		case 'l':
			return list();
		case 'o':
			*out = optarg;
			break;
		default:
			return tool_bad_option(c, argv);
		}
	}
	return -1;
}

int wwtrace_import(int argc, char **argv)
{
	char *command = tool_command_line(argc, argv);
	struct ww_writer_options o = {.size = sizeof(o), .program = "wwtrace", .command = command};
	struct ww_error err = {0};
	const char *file, *out = NULL;
	struct ww_trace *t = NULL;
	int64_t rows;
	int rc = parse(argc, argv, &out);

	if (rc < 0) {
		file = tool_one_file(argc, argv);
		rc = !file  ? TOOL_USAGE
		     : !out ? tool_usage_error("say where to: -o OUT.wwt")
			    : tool_open_trace(file, &t);
		if (rc == TOOL_OK) {
			tool_say_import(t);
			rows = ww_import_store(t, out, &o, &err);
			ww_trace_close(t);
			rc = rows < 0 ? tool_fail(&err) : TOOL_OK;
			if (rows >= 0)
				tool_say("%s: %lld rows", out, (long long)rows);
		}
	}
	free(command);
	return rc;
}
