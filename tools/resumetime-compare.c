/* SPDX-License-Identifier: MIT */
/* resumetime compare: two builds, boards or kernels beside each other. */
#include "common.h"
#include "outfile.h"
#include "resumetime.h"
#include "resumetime-cycles.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { MARKDOWN = 0x100, JUNIT, TOP, NAMES, STRICT };

struct choice {
	struct tool_cycles_options read;
	struct ww_shift_options shift;
	const char *markdown, *junit, *names;
	char *fail_if; /* all of them, joined */
	int json, strict;
	char **operand[2];
	size_t n[2];
};

static void help(void)
{
	puts("usage: resumetime compare [options] A B\n"
	     "       resumetime compare [options] A... -- B...\n"
	     "\n"
	     "Compares the suspends and resumes of two builds, boards or kernels: what moved, by\n"
	     "how much, and how sure that is. A and B are recordings (.wwt), kernel logs, ftrace\n"
	     "text or trace.dat; files joined by '+' tell of the same cycles.\n"
	     "\n"
	     "  -f, --fail-if EXPR  exit status 1 where EXPR is met: 'resume > 5% slower',\n"
	     "                      'phase resume_noirq > 10 ms slower', 'failures > 0',\n"
	     "                      'any device > 20 ms slower'; several by commas\n"
	     "      --strict        exit status 1 also where so few cycles do not decide it\n"
	     "  -j, --json          JSON instead of text\n"
	     "      --markdown F    a table for a pull request; - instead of the text\n"
	     "      --junit F       each condition as a test case; - instead of the text\n"
	     "      --names A,B     what to call the two\n"
	     "      --top N         phases and devices in the lists (those that moved, up to 20)\n"
	     "      --port NAME     serial source with the heartbeat, of recordings\n"
	     "      --console NAME  serial source with the kernel's messages, of recordings\n"
	     "      --baud N        the console's baud rate (default: found from the text)\n"
	     "      --no-console    no console took time: correct nothing\n"
	     "  -h, --help          this text");
}

static int add_condition(struct choice *w)
{
	char *all = NULL;

	if (asprintf(&all, "%s%s%s", w->fail_if ? w->fail_if : "", w->fail_if ? "," : "", optarg) <
	    0) {
		tool_say("out of memory");
		return TOOL_FAILED;
	}
	free(w->fail_if);
	w->fail_if = all;
	return -1;
}

static int take_number(struct choice *w)
{
	unsigned long v = tool_whole(optarg, 100000000);

	if (v == 0)
		return tool_usage_error("--top %s: how many, from 1", optarg);
	w->shift.top = v;
	return -1;
}

/* @return -1 to go on, else the exit status */
static int take(int c, struct choice *w, char **argv)
{
	int taken = tool_cycles_take(c, optarg, &w->read);

	if (taken != -2)
		return taken;
	switch (c) {
	case 1:
		w->operand[0][w->n[0]++] = optarg;
		return -1;
	case 'f':
		return add_condition(w);
	case 'j':
		w->json = 1;
		return -1;
	case STRICT:
		w->strict = 1;
		return -1;
	case MARKDOWN:
		w->markdown = optarg;
		return -1;
	case JUNIT:
		w->junit = optarg;
		return -1;
	case NAMES:
		w->names = optarg;
		return -1;
	case TOP:
		return take_number(w);
	case 'h':
		help();
		return TOOL_OK;
	default:
		return tool_bad_option(c, argv);
	}
}

/* Without "--" the second operand is B. */
static int divide(int argc, char **argv, struct choice *w)
{
	if (optind > 1 && strcmp(argv[optind - 1], "--") == 0) {
		for (int i = optind; i < argc; i++)
			w->operand[1][w->n[1]++] = argv[i];
		if (w->n[0] == 0 || w->n[1] == 0)
			return tool_usage_error("name files of A before '--' and files of B "
						"behind it");
	} else if (w->n[0] != 2) {
		return tool_usage_error(w->n[0] < 2 ? "name two files to compare"
						    : "more than two files: which are A and which "
						      "B? A... -- B...");
	} else {
		w->operand[1][w->n[1]++] = w->operand[0][--w->n[0]];
	}
	if (w->junit && !w->fail_if)
		return tool_usage_error("--junit: a test case needs a condition, --fail-if "
					"'resume > 5%% slower'");
	if (w->strict && !w->fail_if)
		return tool_usage_error("--strict: of which condition? --fail-if 'resume > 5%% "
					"slower'");
	if ((w->junit && strcmp(w->junit, "-") == 0) +
		    (w->markdown && strcmp(w->markdown, "-") == 0) + w->json >
	    1)
		return tool_usage_error("one report at a time on standard output");
	if (w->names && (!strchr(w->names, ',') || strchr(w->names, ',') != strrchr(w->names, ',')))
		return tool_usage_error("--names %s: two names, A,B", w->names);
	return -1;
}

/* No report over a file that is to be read. */
static int check_output(const struct choice *w, const char *out)
{
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; out && k < w->n[i]; k++)
			if (tool_cycles_reads(w->operand[i][k], out))
				return tool_usage_error(
					"'%s' is to be read: name another file to write", out);
	return -1;
}

static int check(const struct choice *w)
{
	int rc = check_output(w, w->markdown);

	if (rc < 0)
		rc = check_output(w, w->junit);
	if (rc < 0 && w->markdown && w->junit && tool_same_output(w->markdown, w->junit))
		return tool_usage_error("--markdown and --junit name the same file: '%s'",
					w->junit);
	return rc;
}

static int parse(int argc, char **argv, struct choice *w)
{
	static const struct option longs[] = {{"fail-if", required_argument, NULL, 'f'},
					      {"strict", no_argument, NULL, STRICT},
					      {"json", no_argument, NULL, 'j'},
					      {"markdown", required_argument, NULL, MARKDOWN},
					      {"junit", required_argument, NULL, JUNIT},
					      {"names", required_argument, NULL, NAMES},
					      {"top", required_argument, NULL, TOP},
					      {"port", required_argument, NULL, CYCLES_PORT},
					      {"console", required_argument, NULL, CYCLES_CONSOLE},
					      {"baud", required_argument, NULL, CYCLES_BAUD},
					      {"no-console", no_argument, NULL, CYCLES_NO_CONSOLE},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	int c, rc = -1;

	opterr = 0;
	while (rc < 0 && (c = getopt_long(argc, argv, "-:f:jh", longs, NULL)) != -1)
		rc = take(c, w, argv);
	if (rc < 0)
		rc = divide(argc, argv, w);
	return rc < 0 ? check(w) : rc;
}

static char *side_name(const struct choice *w, int i)
{
	const char *comma = w->names ? strchr(w->names, ',') : NULL;
	char *first, *name = NULL;

	if (comma)
		return i ? strdup(comma + 1) : strndup(w->names, (size_t)(comma - w->names));
	first = tool_cycles_name(w->operand[i][0]);
	if (!first || w->n[i] == 1)
		return first;
	if (asprintf(&name, "%s and %zu more", first, w->n[i] - 1) < 0)
		name = NULL;
	free(first);
	return name;
}

static int read_side(const struct choice *w, int i, struct ww_cycleset **out)
{
	char *name = side_name(w, i);
	struct ww_error err = {0};
	int rc = 0;

	if (!name) {
		tool_say("out of memory");
		return TOOL_FAILED;
	}
	if (ww_cycleset_new(name, out, &err) < 0)
		rc = tool_fail(&err);
	for (size_t k = 0; rc == 0 && k < w->n[i]; k++)
		rc = tool_cycles_add(*out, w->operand[i][k], &w->read);
	free(name);
	return rc;
}

/* @param path  NULL or "-": to standard output */
static int write_report(const struct ww_shift *s, const char *path, int form)
{
	struct ww_error err = {0};
	char *text = NULL;

	if (ww_shift_report(s, form, &text, &err) < 0)
		return tool_fail(&err);
	if (!path || strcmp(path, "-") == 0)
		return tool_print(text);
	return tool_write_file(path, text);
}

static int write_all(const struct ww_shift *s, const struct choice *w)
{
	bool out = false;
	int rc = TOOL_OK;

	if (w->markdown) {
		rc = write_report(s, w->markdown, WW_REPORT_MARKDOWN);
		out |= strcmp(w->markdown, "-") == 0;
	}
	if (w->junit && rc == TOOL_OK) {
		rc = write_report(s, w->junit, WW_REPORT_JUNIT);
		out |= strcmp(w->junit, "-") == 0;
	}
	if (!out && rc == TOOL_OK)
		rc = write_report(s, NULL, w->json ? WW_REPORT_JSON : WW_REPORT_TEXT);
	return rc;
}

static int judge(const struct ww_shift *s, const struct choice *w)
{
	int failed = ww_shift_failed(s);

	if (failed > 0) {
		tool_say("a condition of --fail-if is met");
		return TOOL_FAILED;
	}
	if (failed == -EAGAIN) {
		tool_say("so few cycles do not decide a condition of --fail-if");
		return w->strict ? TOOL_FAILED : TOOL_OK;
	}
	return TOOL_OK;
}

static int compare(struct choice *w)
{
	struct ww_cycleset *set[2] = {NULL, NULL};
	struct ww_shift *s = NULL;
	struct ww_error err = {0};
	int rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++)
		rc = read_side(w, i, &set[i]);
	w->shift.fail_if = w->fail_if;
	if (rc == 0 && ww_shift_new(set[0], set[1], &w->shift, &s, &err) < 0)
		rc = tool_refused(&err);
	if (rc == 0)
		rc = write_all(s, w);
	if (rc == 0)
		rc = judge(s, w);
	ww_shift_free(s);
	ww_cycleset_free(set[0]);
	ww_cycleset_free(set[1]);
	return rc;
}

int resumetime_compare(int argc, char **argv)
{
	struct choice w = {.read.resume.size = sizeof(w.read.resume),
			   .read.kernlog.size = sizeof(w.read.kernlog),
			   .shift.size = sizeof(w.shift)};
	int rc = TOOL_FAILED;

	for (int i = 0; i < 2; i++)
		w.operand[i] = calloc((size_t)argc + 1, sizeof(char *));
	if (w.operand[0] && w.operand[1])
		rc = parse(argc, argv, &w);
	else
		tool_say("out of memory");
	if (rc < 0)
		rc = compare(&w);
	free(w.fail_if);
	free(w.operand[0]);
	free(w.operand[1]);
	return rc;
}
