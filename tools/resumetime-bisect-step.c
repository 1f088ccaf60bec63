/* SPDX-License-Identifier: MIT */
/* resumetime bisect-step: good, bad or skip, for git bisect run. */
#include "common.h"
#include "resumetime.h"
#include "resumetime-cycles.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * git takes 1 to 127 for bad, 125 aside; from 128 on it stops. A wrong option must not make a
 * build bad.
 */
#define STOP 129

#define TRIES 5

enum { FAILURES = 0x100, CERTAINTY, TRY };

extern char **environ;

struct choice {
	struct tool_cycles_options read;
	struct ww_bisect_options judge;
	struct ww_cycleset *set[3]; /* good, bad, now */
	char **good, **bad;
	size_t goods, bads;
	unsigned long tries;
	int json;
	char **command; /* NULL: none; after "--" */
};

static void help(void)
{
	puts("usage: resumetime bisect-step [options] NOW...\n"
	     "       resumetime bisect-step [options] NOW -- COMMAND [ARG]...\n"
	     "\n"
	     "Tells git bisect run whether this build is good (exit status 0), bad (1) or cannot\n"
	     "be judged (125): from NOW, a recording (.wwt), a kernel log or ftrace of its "
	     "cycles,\n"
	     "beside those of known builds. COMMAND records NOW; where {} stands in it, the name\n"
	     "of a new file is put, and it is run again until enough is known. Wrong use and what\n"
	     "cannot be judged at all stop the bisection (129).\n"
	     "\n"
	     "  -g, --good FILE       cycles of a build that is good; may be repeated\n"
	     "  -b, --bad FILE        of one that is bad\n"
	     "  -t, --threshold DUR   bad is slower than this, instead of half-way between the "
	     "two\n"
	     "  -m, --metric NAME     what to look at: 'kernel resume', 'phase resume_noirq', "
	     "words\n"
	     "                        of a device's name, failures (default: resume_to_user, else\n"
	     "                        the kernel's resume)\n"
	     "      --failures PART   bad fails in a greater part of its cycles, such as 10%\n"
	     "      --certainty PART  so sure that the verdict is right (99%)\n"
	     "      --tries N         runs of COMMAND at most (5)\n"
	     "  -j, --json            JSON instead of text\n"
	     "      --port NAME       serial source with the heartbeat, of recordings\n"
	     "      --console NAME    serial source with the kernel's messages, of recordings\n"
	     "      --baud N          the console's baud rate (default: found from the text)\n"
	     "      --no-console      no console took time: correct nothing\n"
	     "  -h, --help            this text");
}

/* "10%" or "0.1" */
static int take_part(const char *option, double *part)
{
	struct ww_quantity q;
	struct ww_error err = {0};
	char unit[16];

	if (ww_quantity_parse(optarg, "1", &q, unit, sizeof(unit), &err) < 0)
		return tool_usage_error("%s: %s", option, err.text);
	if (strcmp(unit, "%") == 0)
		q.value /= 100;
	else if (strcmp(unit, "1") != 0)
		return tool_usage_error("%s %s: a part such as 10%%", option, optarg);
	if (!(q.value > 0 && q.value < 1))
		return tool_usage_error("%s %s: more than nothing and less than all", option,
					optarg);
	*part = q.value;
	return -1;
}

static int take_threshold(struct choice *w)
{
	struct ww_error err = {0};
	int64_t ns;

	if (ww_duration_parse(optarg, &ns, &err) < 0)
		return tool_usage_error("--threshold: %s", err.text);
	/* Seconds elsewhere; whoever looks at a resume means ms. */
	if (ns > 0 && strspn(optarg, "+0123456789.") == strlen(optarg))
		return tool_usage_error("--threshold %s: of what unit? %sms, or %ss", optarg,
					optarg, optarg);
	if (ns <= 0)
		return tool_usage_error("--threshold %s: longer than no time, such as 400ms",
					optarg);
	w->judge.threshold_ms = (double)ns / 1e6;
	return -1;
}

static int take_number(struct choice *w)
{
	unsigned long v = tool_whole(optarg, 100000000);

	if (v == 0)
		return tool_usage_error("--tries %s: how many, from 1", optarg);
	w->tries = v;
	return -1;
}

/* @return -1 to go on, else the exit status */
static int take(int c, struct choice *w, char **argv)
{
	int taken = tool_cycles_take(c, optarg, &w->read);

	if (taken != -2)
		return taken;
	switch (c) {
	case 'g':
		w->good[w->goods++] = optarg;
		return -1;
	case 'b':
		w->bad[w->bads++] = optarg;
		return -1;
	case 't':
		return take_threshold(w);
	case 'm':
		w->judge.metric = optarg;
		return -1;
	case FAILURES:
		w->judge.metric = "failures";
		return take_part("--failures", &w->judge.failure_rate);
	case CERTAINTY:
		return take_part("--certainty", &w->judge.certainty);
	case 'j':
		w->json = 1;
		return -1;
	case TRY:
		return take_number(w);
	case 'h':
		help();
		return TOOL_OK;
	default:
		return tool_bad_option(c, argv);
	}
}

static int check(int argc, char **argv, struct choice *w)
{
	int now = argc - optind;

	/* getopt takes "--" away: what stands behind the first operand and it is the command. */
	for (int i = optind; i < argc; i++)
		if (strcmp(argv[i], "--") == 0) {
			now = i - optind;
			w->command = argv + i + 1;
			break;
		}
	if (now == 0)
		return tool_usage_error("name the recording, kernel log or ftrace of this build");
	if (w->command && !*w->command)
		return tool_usage_error("no command behind '--'");
	if (w->command && now > 1)
		return tool_usage_error("one file for the command to record, not also '%s'",
					argv[optind + 1]);
	if (!w->command && w->tries)
		return tool_usage_error("--tries: of which command? Put it behind '--'");
	if (w->judge.threshold_ms > 0 && w->judge.metric &&
	    strcmp(w->judge.metric, "failures") == 0)
		return tool_usage_error("failures have no time: --failures 10%% instead of "
					"--threshold");
	if (w->judge.threshold_ms <= 0 && w->judge.failure_rate <= 0 && (!w->goods || !w->bads) &&
	    !(w->judge.metric && strcmp(w->judge.metric, "failures") == 0))
		return tool_usage_error("what is bad? Give --good FILE and --bad FILE, or "
					"--threshold DUR");
	return -1;
}

static int parse(int argc, char **argv, struct choice *w)
{
	static const struct option longs[] = {{"good", required_argument, NULL, 'g'},
					      {"bad", required_argument, NULL, 'b'},
					      {"threshold", required_argument, NULL, 't'},
					      {"metric", required_argument, NULL, 'm'},
					      {"failures", required_argument, NULL, FAILURES},
					      {"certainty", required_argument, NULL, CERTAINTY},
					      {"tries", required_argument, NULL, TRY},
					      {"json", no_argument, NULL, 'j'},
					      {"port", required_argument, NULL, CYCLES_PORT},
					      {"console", required_argument, NULL, CYCLES_CONSOLE},
					      {"baud", required_argument, NULL, CYCLES_BAUD},
					      {"no-console", no_argument, NULL, CYCLES_NO_CONSOLE},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	int c, rc = -1;

	opterr = 0;
	/* '+': options end with the first operand, so that those of COMMAND stay its own. */
	while (rc < 0 && (c = getopt_long(argc, argv, "+:g:b:t:m:jh", longs, NULL)) != -1)
		rc = take(c, w, argv);
	return rc < 0 ? check(argc, argv, w) : rc;
}

static int new_set(const char *name, struct ww_cycleset **out)
{
	struct ww_error err = {0};

	return ww_cycleset_new(name, out, &err) < 0 ? tool_fail(&err) : TOOL_OK;
}

static int read_known(struct choice *w)
{
	int rc = TOOL_OK;

	if (w->goods)
		rc = new_set("good", &w->set[0]);
	if (rc == TOOL_OK && w->bads)
		rc = new_set("bad", &w->set[1]);
	for (size_t i = 0; i < w->goods && rc == TOOL_OK; i++)
		rc = tool_cycles_add(w->set[0], w->good[i], &w->read);
	for (size_t i = 0; i < w->bads && rc == TOOL_OK; i++)
		rc = tool_cycles_add(w->set[1], w->bad[i], &w->read);
	return rc == TOOL_OK ? new_set("this build", &w->set[2]) : rc;
}

static int judge(struct choice *w, struct ww_bisect *b)
{
	struct ww_error err = {0};

	if (ww_bisect_judge(w->set[2], w->set[0], w->set[1], &w->judge, b, &err) < 0) {
		tool_fail(&err);
		return STOP;
	}
	return b->verdict;
}

/* ------------------------------------------------------------------ command */

static char *replaced(const char *arg, const char *name)
{
	const char *at = strstr(arg, "{}");
	char *s = NULL;

	if (!at)
		return strdup(arg);
	if (asprintf(&s, "%.*s%s%s", (int)(at - arg), arg, name, at + 2) < 0)
		s = NULL;
	return s;
}

static bool placed(char **command)
{
	for (; *command; command++)
		if (strstr(*command, "{}"))
			return true;
	return false;
}

/* A name that is not there yet: "now.wwt", "now-2.wwt" ... */
static char *fresh(const char *now)
{
	const char *slash = strrchr(now, '/'), *dot = strrchr(now, '.');
	size_t n =
		dot && dot > now && (!slash || dot > slash + 1) ? (size_t)(dot - now) : strlen(now);
	char *s = strdup(now);

	for (int i = 2; s && access(s, F_OK) == 0 && i < 100000; i++) {
		free(s);
		if (asprintf(&s, "%.*s-%d%s", (int)n, now, i, now + n) < 0)
			s = NULL;
	}
	return s;
}

/* @return its exit status, 128 and the number of its signal, or -1 */
static int run(char **command, const char *name)
{
	size_t n = 0;
	char **argv;
	int status = -1;
	pid_t pid;

	while (command[n])
		n++;
	argv = calloc(n + 1, sizeof(*argv));
	for (size_t i = 0; argv && i < n; i++)
		if (!(argv[i] = replaced(command[i], name)))
			n = 0;
	if (argv && n) {
		int rc = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

		if (rc != 0)
			tool_say("%s: %s", argv[0], strerror(rc));
		else
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
		status = rc != 0	       ? -1
			 : WIFEXITED(status)   ? WEXITSTATUS(status)
			 : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
					       : -1;
	}
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
	return status;
}

/* Records once more. @return WW_BISECT_*, STOP; SKIP with *again: worth another try */
static int record(struct choice *w, const char *name, struct ww_bisect *b, bool *again)
{
	uint64_t before = ww_cycleset_cycles(w->set[2]);
	int status = run(w->command, name);

	*again = false;
	if (status < 0)
		return STOP;
	/* Ctrl-C, and what a shell says where there is no such program. */
	if (status > 127 || status == 127 || status == 126) {
		tool_say("'%s' ended with status %d", w->command[0], status);
		return STOP;
	}
	if (status != 0)
		tool_say("'%s' ended with status %d", w->command[0], status);
	if (access(name, F_OK) != 0 || tool_cycles_add(w->set[2], name, &w->read) != TOOL_OK) {
		snprintf(b->why, sizeof(b->why), "'%s' left no cycles in '%s'", w->command[0],
			 name);
		return WW_BISECT_SKIP;
	}
	status = judge(w, b);
	*again = status == WW_BISECT_SKIP && b->more != UINT64_MAX &&
		 ww_cycleset_cycles(w->set[2]) > before;
	return status;
}

static int by_command(struct choice *w, const char *now, struct ww_bisect *b)
{
	unsigned long tries = w->tries ? w->tries : TRIES;
	bool many = placed(w->command), again = true;
	int rc = WW_BISECT_SKIP;

	if (!many && access(now, F_OK) == 0) {
		tool_say("%s: is there before it is recorded: of another build? Put {} where the "
			 "command has the file's name, and a new one is chosen",
			 now);
		return STOP;
	}
	for (unsigned long i = 0; i < tries && again; i++) {
		char *name = fresh(now);

		if (!name) {
			tool_say("out of memory");
			return STOP;
		}
		rc = record(w, name, b, &again);
		free(name);
		again = again && many;
	}
	return rc;
}

static int by_files(struct choice *w, char **now, int n, struct ww_bisect *b)
{
	for (int i = 0; i < n; i++)
		/* What a build did not leave is no reason to stop. */
		if (tool_cycles_add(w->set[2], now[i], &w->read) != TOOL_OK) {
			snprintf(b->why, sizeof(b->why), "nothing to be read in '%s'", now[i]);
			return WW_BISECT_SKIP;
		}
	return judge(w, b);
}

static int print(const struct choice *w, const struct ww_bisect *b)
{
	struct ww_error err = {0};
	char *text = NULL;

	if (ww_bisect_report(b, w->json ? WW_REPORT_JSON : WW_REPORT_TEXT, &text, &err) < 0) {
		tool_fail(&err);
		return STOP;
	}
	return tool_print(text) == TOOL_OK ? b->verdict : STOP;
}

static int step(int argc, char **argv, struct choice *w)
{
	struct ww_bisect b = {.verdict = WW_BISECT_SKIP,
			      .threshold_ms = NAN,
			      .median_ms = NAN,
			      .ci_ms = {NAN, NAN},
			      .failure_rate = NAN};
	int rc = parse(argc, argv, w);

	if (rc >= 0)
		return rc == TOOL_OK ? TOOL_OK : STOP;
	if (read_known(w) != TOOL_OK)
		return STOP;
	rc = w->command ? by_command(w, argv[optind], &b)
			: by_files(w, argv + optind, argc - optind, &b);
	return rc == STOP ? STOP : print(w, &b);
}

int resumetime_bisect_step(int argc, char **argv)
{
	struct choice w = {.read.resume.size = sizeof(w.read.resume),
			   .read.kernlog.size = sizeof(w.read.kernlog),
			   .judge.size = sizeof(w.judge)};
	int rc = STOP;

	w.good = calloc((size_t)argc, sizeof(char *));
	w.bad = calloc((size_t)argc, sizeof(char *));
	if (w.good && w.bad)
		rc = step(argc, argv, &w);
	else
		tool_say("out of memory");
	for (size_t i = 0; i < sizeof(w.set) / sizeof(w.set[0]); i++)
		ww_cycleset_free(w.set[i]);
	free(w.good);
	free(w.bad);
	return rc;
}
