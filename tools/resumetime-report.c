/* SPDX-License-Identifier: MIT */
/* resumetime report: the suspend/resume cycles of a trace. */
#include "common.h"
#include "outfile.h"

#include <getopt.h>
#include <regex.h>
#include <string.h>
#include <unistd.h>

enum { CSV = 0x100, HTML, EVENTS, KERNEL_LOG, FTRACE };

struct choice {
	struct ww_resume_options opt;
	const char *html, *events;
	const char *text[2]; /* kernel log and ftrace that were read on the DUT */
	int form;
};

static void help(void)
{
	puts("usage: resumetime report [options] FILE\n"
	     "\n"
	     "Finds the suspend/resume cycles in a trace and reports their latencies. FILE is\n"
	     "a trace, a trace still being recorded, or - for standard input.\n"
	     "\n"
	     "  -j, --json           JSON instead of text\n"
	     "      --csv            a line a cycle\n"
	     "      --html F         one page too: time line of each cycle, distribution; - prints "
	     "it\n"
	     "      --trace-events F Trace Event JSON too, for Perfetto and chrome://tracing\n"
	     "      --kernel-log F   kernel log of the same cycles, read on the DUT afterwards\n"
	     "      --ftrace F       ftrace or trace.dat of the same cycles\n"
	     "  -p, --port NAME      serial source with the heartbeat (default: the one with "
	     "beats)\n"
	     "  -c, --console NAME   serial source with boot loader and kernel messages\n"
	     "  -m, --mode MODE      how plain beats were written: stream, reopen or drain;\n"
	     "                       stamped beats need no help\n"
	     "  -H, --handoff REGEX  the boot loader's last message (POSIX extended)\n"
	     "  -P, --period DUR     period of plain beats (default: found from the bytes)\n"
	     "  -h, --help           this text");
}

static int parse_mode(const char *text)
{
	static const char *const names[] = {"", "stream", "reopen", "drain"};

	for (int i = 1; i < 4; i++)
		if (strcmp(text, names[i]) == 0)
			return i;
	return -1;
}

/* A pattern that cannot be read is wrong use, and regcomp tells why. */
static int check_handoff(const char *pattern)
{
	char why[128];
	regex_t re;
	int rc = regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB);

	if (rc != 0) {
		regerror(rc, &re, why, sizeof(why));
		return tool_usage_error("--handoff %s: no POSIX extended regular expression: %s",
					pattern, why);
	}
	regfree(&re);
	return TOOL_OK;
}

/* Options that want a check. @return -1 go on, else the exit status */
static int take(int c, struct choice *w, char **argv)
{
	struct ww_resume_options *opt = &w->opt;
	struct ww_error err = {0};

	switch (c) {
	case 'm':
		opt->mode = parse_mode(optarg);
		return opt->mode < 0
			       ? tool_usage_error("--mode %s: stream, reopen or drain", optarg)
			       : -1;
	case 'H':
		opt->handoff = optarg;
		return check_handoff(optarg) == TOOL_OK ? -1 : TOOL_USAGE;
	case 'P':
		if (ww_duration_parse(optarg, &opt->period_ns, &err) < 0 || opt->period_ns <= 0)
			return tool_usage_error("--period %s: a duration such as 2ms or 0.5s",
						optarg);
		return -1;
	case 'h':
		help();
		return TOOL_OK;
	default:
		return tool_bad_option(c, argv);
	}
}

/* @return -1 go on, else the exit status */
static int parse(int argc, char **argv, struct choice *w)
{
	static const struct option longs[] = {{"json", no_argument, NULL, 'j'},
					      {"csv", no_argument, NULL, CSV},
					      {"html", required_argument, NULL, HTML},
					      {"trace-events", required_argument, NULL, EVENTS},
					      {"kernel-log", required_argument, NULL, KERNEL_LOG},
					      {"ftrace", required_argument, NULL, FTRACE},
					      {"port", required_argument, NULL, 'p'},
					      {"console", required_argument, NULL, 'c'},
					      {"mode", required_argument, NULL, 'm'},
					      {"handoff", required_argument, NULL, 'H'},
					      {"period", required_argument, NULL, 'P'},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	int c, rc = -1;

	opterr = 0;
	while (rc < 0 && (c = getopt_long(argc, argv, ":jp:c:m:H:P:h", longs, NULL)) != -1) {
		const char **to = c == HTML	    ? &w->html
				  : c == EVENTS	    ? &w->events
				  : c == KERNEL_LOG ? &w->text[0]
				  : c == FTRACE	    ? &w->text[1]
				  : c == 'p'	    ? &w->opt.port
				  : c == 'c'	    ? &w->opt.console
						    : NULL;

		if (to)
			*to = optarg;
		else if (c == 'j' || c == CSV)
			w->form = c == CSV ? WW_REPORT_CSV : WW_REPORT_JSON;
		else
			rc = take(c, w, argv);
	}
	return rc;
}

/* Files that would overwrite what is read, or each other. */
static int check(const struct choice *w, const char *file)
{
	const char *read[3] = {file, w->text[0], w->text[1]};
	bool input = false;

	if (w->html && w->events && tool_same_output(w->html, w->events))
		return tool_usage_error("--html and --trace-events name the same file: '%s'",
					w->html);
	for (int i = 0; i < 3; i++) {
		if (!read[i])
			continue;
		if ((w->html && tool_same_file(w->html, read[i])) ||
		    (w->events && tool_same_file(w->events, read[i])))
			return tool_usage_error("'%s' is to be read: name another file to write",
						read[i]);
		if (strcmp(read[i], "-") == 0 && input)
			return tool_usage_error("standard input is read once: name a file for one "
						"of the two");
		input |= strcmp(read[i], "-") == 0;
	}
	return TOOL_OK;
}

/* What the DUT kept of the same cycles. */
static int add_texts(struct ww_resume *r, const struct choice *w)
{
	struct ww_kernlog_options opt = {.size = sizeof(opt)};
	struct ww_text *text[2] = {NULL, NULL};
	struct ww_error err = {0};
	size_t n = 0;
	int rc = 0;

	for (int i = 0; i < 2 && rc >= 0; i++)
		if (w->text[i])
			rc = ww_text_open(w->text[i], &text[n++], &err);
	if (rc >= 0 && n)
		rc = ww_resume_add_text(r, text, n, &opt, &err);
	for (size_t i = 0; i < n; i++)
		ww_text_close(text[i]);
	return rc < 0 ? tool_fail(&err) : TOOL_OK;
}

static int write_page(const struct ww_resume *r, struct ww_trace *t, const char *path, int form)
{
	struct ww_error err = {0};
	struct tool_out out;
	int rc, closed;

	if (!path)
		return TOOL_OK;
	if (strcmp(path, "-") == 0) {
		rc = ww_resume_page(r, t, form, NULL, STDOUT_FILENO, &err);
		return rc < 0 ? tool_out_failed("standard output", rc, &err) : TOOL_OK;
	}
	rc = tool_out_open(&out, path);
	if (rc < 0)
		return tool_out_failed(path, rc, NULL);
	rc = ww_resume_page(r, t, form, NULL, out.fd, &err);
	closed = tool_out_close(&out, rc >= 0);
	if (rc < 0)
		return tool_out_failed(path, rc, &err);
	return closed < 0 ? tool_out_failed(path, closed, NULL) : TOOL_OK;
}

/* Instead of the text. */
static bool printed(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

static int report(const struct ww_resume *r, struct ww_trace *t, const struct choice *w)
{
	struct ww_error err = {0};
	char *text = NULL;
	int rc;

	/* The text comes last: its reader may go away. One that fails takes no other along. */
	rc = write_page(r, t, w->html, WW_REPORT_HTML);
	if (write_page(r, t, w->events, WW_REPORT_TRACE_EVENTS) != TOOL_OK)
		rc = TOOL_FAILED;
	if (printed(w->html) || printed(w->events))
		return rc;
	if (ww_resume_report(r, w->form, &text, &err) < 0)
		return tool_fail(&err);
	return tool_print(text) == TOOL_OK ? rc : TOOL_FAILED;
}

int resumetime_report(int argc, char **argv);
int resumetime_report(int argc, char **argv)
{
	struct choice w = {.opt.size = sizeof(w.opt), .form = WW_REPORT_TEXT};
	struct ww_error err = {0};
	struct ww_resume *r = NULL;
	struct ww_trace *t = NULL;
	const char *file;
	int rc = parse(argc, argv, &w);

	if (rc >= 0)
		return rc;
	file = tool_one_file(argc, argv);
	if (!file)
		return TOOL_USAGE;
	rc = check(&w, file);
	if (rc != TOOL_OK)
		return rc;
	if (tool_open_trace(file, &t) != 0)
		return TOOL_FAILED;
	if (ww_resume_new(t, &w.opt, &r, &err) < 0)
		rc = tool_fail(&err);
	if (rc == TOOL_OK)
		rc = add_texts(r, &w);
	if (rc == TOOL_OK)
		rc = report(r, t, &w);
	ww_resume_free(r);
	ww_trace_close(t);
	return rc;
}
