/* SPDX-License-Identifier: MIT */
/* resumetime report: the suspend/resume cycles of a trace. */
#include "common.h"

#include <getopt.h>
#include <regex.h>
#include <string.h>

static void help(void)
{
	puts("usage: resumetime report [options] FILE\n"
	     "\n"
	     "Finds the suspend/resume cycles in a trace and reports their latencies. FILE is\n"
	     "a trace, a trace still being recorded, or - for standard input.\n"
	     "\n"
	     "  -j, --json           JSON instead of text\n"
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

/* @return -1 go on, else the exit status */
static int parse(int argc, char **argv, struct ww_resume_options *opt, int *json)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'},	   {"port", required_argument, NULL, 'p'},
		{"console", required_argument, NULL, 'c'}, {"mode", required_argument, NULL, 'm'},
		{"handoff", required_argument, NULL, 'H'}, {"period", required_argument, NULL, 'P'},
		{"help", no_argument, NULL, 'h'},	   {NULL, 0, NULL, 0}};
	struct ww_error err = {0};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":jp:c:m:H:P:h", longs, NULL)) != -1) {
		switch (c) {
		case 'j':
			*json = 1;
			break;
		case 'p':
			opt->port = optarg;
			break;
		case 'c':
			opt->console = optarg;
			break;
		case 'm':
			opt->mode = parse_mode(optarg);
			if (opt->mode < 0)
				return tool_usage_error("--mode %s: stream, reopen or drain",
							optarg);
			break;
		case 'H':
			opt->handoff = optarg;
			if (check_handoff(optarg) != TOOL_OK)
				return TOOL_USAGE;
			break;
		case 'P':
			if (ww_duration_parse(optarg, &opt->period_ns, &err) < 0 ||
			    opt->period_ns <= 0)
				return tool_usage_error(
					"--period %s: a duration such as 2ms or 0.5s", optarg);
			break;
		case 'h':
			help();
			return TOOL_OK;
		default:
			return tool_bad_option(c, argv);
		}
	}
	return -1;
}

int resumetime_report(int argc, char **argv);
int resumetime_report(int argc, char **argv)
{
	struct ww_resume_options opt = {.size = sizeof(opt)};
	struct ww_error err = {0};
	struct ww_resume *r = NULL;
	struct ww_trace *t = NULL;
	const char *file;
	char *text = NULL;
	int json = 0, rc = parse(argc, argv, &opt, &json);

	if (rc >= 0)
		return rc;
	file = tool_one_file(argc, argv);
	if (!file)
		return TOOL_USAGE;
	if (tool_open_trace(file, &t) != 0)
		return TOOL_FAILED;
	rc = ww_resume_new(t, &opt, &r, &err);
	if (rc >= 0)
		rc = ww_resume_report(r, json ? WW_REPORT_JSON : WW_REPORT_TEXT, &text, &err);
	rc = rc < 0 ? tool_fail(&err) : tool_print(text);
	ww_resume_free(r);
	ww_trace_close(t);
	return rc;
}
