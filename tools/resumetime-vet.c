/* SPDX-License-Identifier: MIT */
/* resumetime vet: callbacks of drivers that always take the same time. */
#include "common.h"
#include "resumetime.h"
#include "resumetime-cycles.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { MIN = 0x100, WITHIN, CYCLES };

struct choice {
	struct tool_cycles_options read;
	struct ww_vet_options vet;
	int form;
};

static void help(void)
{
	puts("usage: resumetime vet [options] FILE...\n"
	     "\n"
	     "Callbacks of drivers whose time is the same whatever else happens, over many cycles\n"
	     "and logs: delays that someone wrote, the round time that was probably written, and\n"
	     "what one saves without it. FILE is a recording (.wwt), a kernel log, ftrace text or\n"
	     "trace.dat; files joined by '+' tell of the same cycles. Several files: other runs,\n"
	     "kernels or machines, in all of which the time must be the same.\n"
	     "\n"
	     "  -j, --json          JSON instead of text\n"
	     "      --min DUR       only callbacks that take so long (5ms)\n"
	     "      --within DUR    the same: 9 of 10 cycles within so much (1ms)\n"
	     "      --cycles N      only those seen in so many cycles (3)\n"
	     "      --port NAME     serial source with the heartbeat, of recordings\n"
	     "      --console NAME  serial source with the kernel's messages, of recordings\n"
	     "      --baud N        the console's baud rate (default: found from the text)\n"
	     "      --no-console    no console took time: correct nothing\n"
	     "  -h, --help          this text");
}

static int take_number(struct choice *w)
{
	unsigned long v = tool_whole(optarg, 100000000);

	if (v == 0)
		return tool_usage_error("--cycles %s: how many, from 1", optarg);
	w->vet.min_cycles = (uint32_t)v;
	return -1;
}

static int take_length(const char *option, double *ms)
{
	struct ww_error err = {0};
	int64_t ns;

	if (ww_duration_parse(optarg, &ns, &err) < 0)
		return tool_usage_error("%s: %s", option, err.text);
	if (ns <= 0)
		return tool_usage_error("%s %s: longer than no time, such as 2ms", option, optarg);
	*ms = (double)ns / 1e6;
	return -1;
}

/* @return -1 to go on, else the exit status */
static int take(int c, struct choice *w, char **argv)
{
	int taken = tool_cycles_take(c, optarg, &w->read);

	if (taken != -2)
		return taken;
	switch (c) {
	case 'j':
		w->form = WW_REPORT_JSON;
		return -1;
	case MIN:
		return take_length("--min", &w->vet.min_ms);
	case WITHIN:
		return take_length("--within", &w->vet.spread_ms);
	case CYCLES:
		return take_number(w);
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
					      {"min", required_argument, NULL, MIN},
					      {"within", required_argument, NULL, WITHIN},
					      {"cycles", required_argument, NULL, CYCLES},
					      {"baud", required_argument, NULL, CYCLES_BAUD},
					      {"no-console", no_argument, NULL, CYCLES_NO_CONSOLE},
					      {"port", required_argument, NULL, CYCLES_PORT},
					      {"console", required_argument, NULL, CYCLES_CONSOLE},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	int c, rc = -1;

	opterr = 0;
	while (rc < 0 && (c = getopt_long(argc, argv, ":jh", longs, NULL)) != -1)
		rc = take(c, w, argv);
	if (rc < 0 && w->read.kernlog.baud && w->read.kernlog.no_console)
		return tool_usage_error("--baud and --no-console: one of them");
	if (rc < 0 && optind == argc)
		return tool_usage_error("name recordings, kernel logs or ftrace of many cycles");
	return rc;
}

static int read_one(const struct choice *w, const char *operand, struct ww_cycleset **out)
{
	char *name = tool_cycles_name(operand);
	struct ww_error err = {0};
	int rc;

	if (!name) {
		tool_say("out of memory");
		return TOOL_FAILED;
	}
	rc = ww_cycleset_new(name, out, &err);
	free(name);
	return rc < 0 ? tool_fail(&err) : tool_cycles_add(*out, operand, &w->read);
}

static int report(const struct choice *w, struct ww_cycleset **set, size_t n)
{
	struct ww_error err = {0};
	struct ww_vet *v = NULL;
	char *text = NULL;
	int rc = ww_vet_new(set, n, &w->vet, &v, &err);

	if (rc >= 0)
		rc = ww_vet_report(v, w->form, &text, &err);
	ww_vet_free(v);
	return rc < 0 ? tool_fail(&err) : tool_print(text);
}

int resumetime_vet(int argc, char **argv)
{
	struct choice w = {.read.resume.size = sizeof(w.read.resume),
			   .read.kernlog.size = sizeof(w.read.kernlog),
			   .vet.size = sizeof(w.vet),
			   .form = WW_REPORT_TEXT};
	int rc = parse(argc, argv, &w);
	struct ww_cycleset **set;
	size_t n;

	if (rc >= 0)
		return rc;
	n = (size_t)(argc - optind);
	set = calloc(n + 1, sizeof(*set));
	if (!set) {
		tool_say("out of memory");
		return TOOL_FAILED;
	}
	rc = TOOL_OK;
	for (size_t i = 0; i < n && rc == TOOL_OK; i++)
		rc = read_one(&w, argv[optind + (int)i], &set[i]);
	if (rc == TOOL_OK)
		rc = report(&w, set, n);
	for (size_t i = 0; i < n; i++)
		ww_cycleset_free(set[i]);
	free(set);
	return rc;
}
