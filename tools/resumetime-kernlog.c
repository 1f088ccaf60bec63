/* SPDX-License-Identifier: MIT */
/* resumetime kernlog: suspends in kernel logs, ftrace and the console of a recording. */
#include "common.h"
#include "outfile.h"
#include "resumetime.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CYCLE = 0x100, ALL, BRIEF, BAUD, GAP, NO_CONSOLE, TOP, HTML, EVENTS, CSV, SOURCE };

struct choice {
	struct ww_kernlog_options read;
	struct ww_page_options page;
	const char *html, *events, *source;
	int form;
};

/* One or two files, and the traces that some of them are in. */
struct input {
	struct ww_text *text[2];
	struct ww_trace *trace[2];
	size_t n;
};

static void help(void)
{
	puts("usage: resumetime kernlog [options] FILE [FILE2]\n"
	     "\n"
	     "Suspends and resumes as the kernel saw them: phases, devices, what was slow and "
	     "what\n"
	     "failed. FILE is a kernel log in any framing (serial capture, dmesg, journal, "
	     "syslog,\n"
	     "logcat), ftrace text or a trace.dat, each also compressed, a recording (.wwt: its\n"
	     "console), or - for standard input, which is followed line by line. Two files are a\n"
	     "pair: kernel log and ftrace of the same suspends.\n"
	     "\n"
	     "  -j, --json            JSON instead of text\n"
	     "      --csv             a line a device\n"
	     "      --html F          one page with the timeline of each cycle; - prints it\n"
	     "      --trace-events F  Trace Event JSON for Perfetto and chrome://tracing; - too\n"
	     "      --cycle N         the details of cycle N alone\n"
	     "      --all             the details of all cycles, also where they are many\n"
	     "      --brief           a line a cycle, also where they are few\n"
	     "      --top N           so many of the slowest devices (10)\n"
	     "      --baud N          the console's baud rate (default: found from the text)\n"
	     "      --no-console      no console took time: correct nothing\n"
	     "      --gap DUR         tell stretches without a line from this length on (100ms)\n"
	     "      --source NAME     serial source of a recording (default: console)\n"
	     "  -h, --help            this text");
}

static int take_number(int c, struct choice *w)
{
	unsigned long v = tool_whole(optarg, c == BAUD ? 100000000 : 1000000000);

	if (v == 0)
		return tool_usage_error(c == BAUD    ? "--baud %s: a rate such as 115200"
					: c == CYCLE ? "--cycle %s: the number of a cycle, from 1"
						     : "--top %s: how many, from 1",
					optarg);
	if (c == BAUD)
		w->read.baud = (uint32_t)v;
	else if (c == CYCLE)
		w->page.cycle = (uint32_t)v;
	else
		w->page.devices = v;
	return -1;
}

static int take_gap(struct choice *w)
{
	struct ww_error err = {0};

	if (ww_duration_parse(optarg, &w->read.gap_ns, &err) < 0)
		return tool_usage_error("--gap: %s", err.text);
	if (w->read.gap_ns <= 0)
		return tool_usage_error("--gap %s: longer than no time, such as 50ms", optarg);
	return -1;
}

/* @return -1 to go on, else the exit status */
static int take(int c, struct choice *w, char **argv)
{
	switch (c) {
	case 'j':
		w->form = WW_REPORT_JSON;
		return -1;
	case CSV:
		w->form = WW_REPORT_CSV;
		return -1;
	case HTML:
		w->html = optarg;
		return -1;
	case EVENTS:
		w->events = optarg;
		return -1;
	case ALL:
		w->page.detail = WW_DETAIL_ALL;
		return -1;
	case BRIEF:
		w->page.detail = WW_DETAIL_TABLE;
		return -1;
	case NO_CONSOLE:
		w->read.no_console = 1;
		return -1;
	case SOURCE:
		w->source = optarg;
		return -1;
	case GAP:
		return take_gap(w);
	case BAUD:
	case CYCLE:
	case TOP:
		return take_number(c, w);
	case 'h':
		help();
		return TOOL_OK;
	default:
		return tool_bad_option(c, argv);
	}
}

static int parse(int argc, char **argv, struct choice *w)
{
	static const struct option longs[] = {{"json", no_argument, NULL, 'j'},
					      {"csv", no_argument, NULL, CSV},
					      {"html", required_argument, NULL, HTML},
					      {"trace-events", required_argument, NULL, EVENTS},
					      {"cycle", required_argument, NULL, CYCLE},
					      {"all", no_argument, NULL, ALL},
					      {"brief", no_argument, NULL, BRIEF},
					      {"top", required_argument, NULL, TOP},
					      {"baud", required_argument, NULL, BAUD},
					      {"no-console", no_argument, NULL, NO_CONSOLE},
					      {"gap", required_argument, NULL, GAP},
					      {"source", required_argument, NULL, SOURCE},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	int c, rc = -1;

	while (rc < 0 && (c = getopt_long(argc, argv, ":jh", longs, NULL)) != -1)
		rc = take(c, w, argv);
	return rc;
}

/* What cannot be meant, before anything is read. */
static int check(int argc, char **argv, const struct choice *w)
{
	if (w->read.baud && w->read.no_console)
		return tool_usage_error("--baud and --no-console: one of them");
	if (w->html && w->events && tool_same_output(w->html, w->events))
		return tool_usage_error("--html and --trace-events name the same file: '%s'",
					w->html);
	if (w->form != WW_REPORT_TEXT && (w->page.cycle || w->page.detail))
		return tool_usage_error("--cycle, --all and --brief are of the text: %s has all "
					"cycles",
					w->form == WW_REPORT_CSV ? "--csv" : "--json");
	if (w->page.cycle && w->page.detail)
		return tool_usage_error("--cycle, --all, --brief: one of them");
	if (argc == optind)
		return tool_usage_error("name a kernel log, ftrace, a recording, or - for standard "
					"input");
	if (argc - optind > 2)
		return tool_usage_error("one file, or the pair of a kernel log and its ftrace, not "
					"also '%s'",
					argv[optind + 2]);
	if (argc - optind == 2 && strcmp(argv[optind], argv[optind + 1]) == 0)
		return tool_usage_error("'%s' twice: the pair is a kernel log and its ftrace",
					argv[optind]);
	for (int i = optind; i < argc; i++) {
		if ((w->html && tool_same_file(w->html, argv[i])) ||
		    (w->events && tool_same_file(w->events, argv[i])))
			return tool_usage_error("'%s' is to be read: name another file to write",
						argv[i]);
		if (strcmp(argv[i], "-") == 0 && w->html && w->events)
			return tool_usage_error("--html and --trace-events: standard input is read "
						"only once, so one of them");
	}
	return -1;
}

/* Recordings are files of SQLite; everything else is text of some kind. */
static bool is_recording(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char head[16];
	bool is = false;
	int fd;

	if (strcmp(path, "-") == 0)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	is = pread(fd, head, sizeof(head), 0) == sizeof(head) &&
	     memcmp(head, magic, sizeof(magic)) == 0;
	close(fd);
	return is;
}

static int open_one(const char *path, const struct choice *w, struct input *in)
{
	struct ww_error err = {0};
	size_t i = in->n;
	int rc;

	if (is_recording(path)) {
		rc = ww_trace_open(path, &in->trace[i], &err);
		if (rc >= 0)
			rc = ww_text_trace(in->trace[i], w->source, &in->text[i], &err);
	} else if (w->source) {
		return tool_usage_error("--source %s: '%s' is no recording", w->source, path);
	} else {
		rc = ww_text_open(path, &in->text[i], &err);
	}
	in->n++;
	return rc < 0 ? tool_fail(&err) : TOOL_OK;
}

static void close_all(struct input *in)
{
	for (size_t i = 0; i < in->n; i++) {
		ww_text_close(in->text[i]);
		ww_trace_close(in->trace[i]);
	}
	*in = (struct input){0};
}

/* @param wrote  false: it was the file that could not be written */
static int write_report(struct ww_kernlog *k, const char *path, int form, const struct choice *w,
			bool *wrote)
{
	struct ww_error err = {0};
	struct tool_out out;
	int64_t n;
	int rc;

	if (!path) {
		n = ww_kernlog_report(k, form, &w->page, STDOUT_FILENO, &err);
		return n < 0 ? tool_out_failed("standard output", (int)n, &err) : TOOL_OK;
	}
	*wrote = false;
	rc = tool_out_open(&out, path);
	if (rc < 0)
		return tool_out_failed(path, rc, NULL);
	n = ww_kernlog_report(k, form, &w->page, out.fd, &err);
	rc = tool_out_close(&out, n >= 0);
	*wrote = n < 0 ? strncmp(err.text, "output: ", 8) != 0 : rc == 0;
	if (n < 0)
		return tool_out_failed(path, (int)n, &err);
	return rc < 0 ? tool_out_failed(path, rc, NULL) : TOOL_OK;
}

/* Reads all and writes one report. @param path  NULL: to standard output */
static int report(int argc, char **argv, const char *path, int form, const struct choice *w,
		  bool *wrote)
{
	struct ww_error err = {0};
	struct ww_kernlog *k = NULL;
	struct input in = {0};
	int rc = TOOL_OK;

	for (int i = optind; rc == TOOL_OK && i < argc; i++)
		rc = open_one(argv[i], w, &in);
	if (rc == TOOL_OK && ww_kernlog_new(in.text, in.n, &w->read, &k, &err) < 0)
		rc = tool_fail(&err);
	if (rc == TOOL_OK)
		rc = write_report(k, path, form, w, wrote);
	ww_kernlog_free(k);
	close_all(&in);
	return rc;
}

/* A page is named after its file. NULL: after none */
static const char *title_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcmp(path, "-") == 0 ? NULL : slash && slash[1] ? slash + 1 : path;
}

static bool printed(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

/*
 * The text comes last: its reader may go away. A file that cannot be written takes no other
 * along; what cannot be read is told once.
 */
static int reports(int argc, char **argv, bool once, const struct choice *w)
{
	const char *path[3] = {w->html, w->events, NULL};
	const int form[3] = {WW_REPORT_HTML, WW_REPORT_TRACE_EVENTS, w->form};
	int rc = TOOL_OK, one;

	for (int i = 0; i < 3; i++) {
		bool wrote = true;

		if (i < 2 ? !path[i]
			  : printed(w->html) || printed(w->events) ||
				    (once && (w->html || w->events)))
			continue;
		one = report(argc, argv, printed(path[i]) ? NULL : path[i], form[i], w, &wrote);
		if (one != TOOL_OK && wrote)
			return one;
		rc = one != TOOL_OK ? one : rc;
	}
	return rc;
}

int resumetime_kernlog(int argc, char **argv)
{
	struct choice w = {.read.size = sizeof(w.read),
			   .page.size = sizeof(w.page),
			   .form = WW_REPORT_TEXT};
	bool once = false;
	int rc = parse(argc, argv, &w);

	if (rc < 0)
		rc = check(argc, argv, &w);
	if (rc >= 0)
		return rc;
	for (int i = optind; i < argc; i++)
		once |= strcmp(argv[i], "-") == 0;
	/* What comes live is told as it comes. */
	if (once && w.page.detail == WW_DETAIL_AUTO && !w.page.cycle)
		w.page.detail = WW_DETAIL_ALL;
	w.page.title = title_of(argv[optind]);
	return reports(argc, argv, once, &w);
}
