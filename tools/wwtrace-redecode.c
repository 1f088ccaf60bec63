/* SPDX-License-Identifier: MIT */
/* wwtrace redecode: what meters sent, decoded once more by the drivers of today. */
#include "common.h"
#include "wwtrace.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void usage(FILE *f)
{
	fputs("Usage: wwtrace redecode [OPTIONS] FILE -o OUT.wwt\n"
	      "\n"
	      "Decodes the bytes that a recording with --raw kept, by the drivers of this\n"
	      "version, into a new trace; everything else is copied. With unchanged drivers the\n"
	      "readings are the same. FILE may be - for standard input.\n"
	      "\n"
	      "  -o, --output OUT      the trace to make; it must not exist yet\n"
	      "      --source NAME     this meter; without it every one that can be\n"
	      "  -h, --help            this text\n",
	      f);
}

struct args {
	const char *out, *source;
};

/* @return -1 to go on, else the exit status */
static int parse(int argc, char **argv, struct args *a)
{
	static const struct option options[] = {{"output", required_argument, NULL, 'o'},
						{"source", required_argument, NULL, 's'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	int c;

	while ((c = getopt_long(argc, argv, ":ho:", options, NULL)) != -1) {
		switch (c) {
		case 'h':
			usage(stdout);
			return fflush(stdout) ? TOOL_FAILED : TOOL_OK;
		case 'o':
			a->out = optarg;
			break;
		case 's':
			a->source = optarg;
			break;
		default:
			return tool_bad_option(c, argv);
		}
	}
	return -1;
}

/* What it noted while decoding stands in the new trace. */
static void say_notes(const char *path)
{
	const char *key, *value;
	struct ww_trace *t;

	if (ww_trace_open(path, &t, NULL) < 0)
		return;
	for (size_t i = 0; ww_trace_meta_at(t, i, &key, &value); i++)
		if (strncmp(key, "redecode.note.", 14) == 0)
			tool_say("%s", value);
	ww_trace_close(t);
}

static int redecode(struct ww_trace *t, const struct args *a, const char *command)
{
	struct ww_writer_options o = {.size = sizeof(o), .program = "wwtrace", .command = command};
	struct ww_error err = {0}, end = {0};
	struct ww_writer *w;
	int n = ww_writer_open(a->out, &o, &w, &err), rc;

	if (n < 0)
		return tool_fail(&err);
	n = ww_trace_redecode(t, a->source, w, &err);
	rc = ww_writer_close(w, &end);
	if (n < 0 || rc < 0) {
		/* Ours, and of no use. */
		if (a->out)
			unlink(a->out);
		return tool_fail(n < 0 ? &err : &end);
	}
	say_notes(a->out);
	tool_say("%s: %d meter%s decoded again", a->out, n, n == 1 ? "" : "s");
	return TOOL_OK;
}

/* Logs of other programs hold no bytes of a meter: they are not taken for traces here. */
static int open_trace(const char *file, struct ww_trace **t)
{
	struct ww_error err = {0};

	if (strcmp(file, "-") == 0)
		return tool_open_trace(file, t);
	return ww_trace_open(file, t, &err) < 0 ? tool_fail(&err) : TOOL_OK;
}

int wwtrace_redecode(int argc, char **argv)
{
	char *command = tool_command_line(argc, argv);
	struct args a = {0};
	struct ww_trace *t = NULL;
	const char *file;
	int rc = parse(argc, argv, &a);

	if (rc < 0) {
		file = tool_one_file(argc, argv);
		rc = !file    ? TOOL_USAGE
		     : !a.out ? tool_usage_error("say where to: -o OUT.wwt")
			      : open_trace(file, &t);
		if (rc == TOOL_OK) {
			rc = redecode(t, &a, command);
			ww_trace_close(t);
		}
	}
	free(command);
	return rc;
}
