/* SPDX-License-Identifier: MIT */
/* pwrlog run: what a command costs, in joules. */
#include "pwrlog-run.h"
#include "pwrlog.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
	"usage: pwrlog run -m METER [OPTIONS] -- CMD [ARG...]\n"
	"       pwrlog run --from FILE [--json]\n"
	"\n"
	"Run a command while a wattmeter is read: its energy and time, all of it and above\n"
	"the baseline, and what a unit of its work costs. The command's own output goes to\n"
	"standard error; the report goes to standard output.\n"
	"\n"
	"  -m URI             a meter: wattsup:/dev/ttyUSB0, sim:?watts=25 (repeat for more)\n"
	"  -n N               runs of each variant (default 1)\n"
	"  --interleave CMD2  another command, run in turns with the first: A B B A\n"
	"  --vary NAME=A,B    runs with NAME set to A, to B...: {NAME} and $NAME\n"
	"  --shuffle          in an order drawn by lot, not in turns\n"
	"  --seed N           the lot's seed (default 1)\n"
	"  --per WHAT         work done, read from the command's output: openssl, hdparm,\n"
	"                     dd, rsync, nbench, or an expression: '([0-9]+) frames'\n"
	"  --repeat K         run the command K times in each run: for short ones\n"
	"  --warmup N         runs before, that do not count\n"
	"  --baseline DUR     measured before and after each run (default 10s; 0: none)\n"
	"  --settle DUR       to come to rest after each run (default 2s)\n"
	"  --ignore-failure   commands that fail count, too\n"
	"  --log FILE         the command's output goes there\n"
	"  --channel NAME     channel of power, where there are several\n"
	"  --every DUR        time between readings, where the meter can be told\n"
	"  -o FILE            keep the trace\n"
	"  --no-realtime      do not ask for real-time priority\n"
	"  --from FILE        report on the runs of such a trace\n"
	"  --json             report as JSON\n"
	"  --help             this text\n";

static bool count(const char *option, const char *text, uint32_t least, uint32_t *out)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || v < least || v > 100000) {
		tool_usage_error("%s: a number from %u to 100000, not '%s'", option, least, text);
		return false;
	}
	*out = (uint32_t)v;
	return true;
}

/* A duration; 0 is one. */
static bool duration(const char *option, const char *text, int64_t *ns)
{
	struct ww_error err = {0};

	if (ww_duration_parse(text, ns, &err) >= 0 && *ns >= 0)
		return true;
	tool_usage_error("--%s: %s", option, err.text[0] ? err.text : "a duration");
	return false;
}

static bool seed(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno)
		return true;
	tool_usage_error("--seed: a whole number, not '%s'", text);
	return false;
}

static bool add(const char *option, const char **list, size_t *n, size_t most, const char *value)
{
	if (*n == most) {
		tool_usage_error("more than %zu times %s", most, option);
		return false;
	}
	list[(*n)++] = value;
	return true;
}

enum { VARY = 256, SHUFFLE, SEED, PER, REPEAT, WARMUP, BASELINE, SETTLE, IGNORE, LOG, CHANNEL };
enum { EVERY = CHANNEL + 1, NO_RT, FROM, JSON, INTERLEAVE };

/* @return 1 taken, 0 it was wrong and was said, -1 not one of these */
static int take_plan(int c, struct run_options *o)
{
	switch (c) {
	case 'n':
		return count("-n", optarg, 1, &o->n);
	case INTERLEAVE:
		return add("--interleave", o->command, &o->commands, RUN_SETS, optarg);
	case VARY:
		return add("--vary", o->vary, &o->varied, RUN_SETS, optarg);
	case SHUFFLE:
		o->shuffle = true;
		return 1;
	case SEED:
		return seed(optarg, &o->seed);
	case REPEAT:
		return count("--repeat", optarg, 1, &o->repeat);
	case WARMUP:
		return count("--warmup", optarg, 0, &o->warmup);
	case BASELINE:
		return duration("baseline", optarg, &o->baseline_ns);
	case SETTLE:
		return duration("settle", optarg, &o->settle_ns);
	case IGNORE:
		o->ignore_failure = true;
		return 1;
	default:
		return -1;
	}
}

static int take_rest(int c, struct run_options *o)
{
	switch (c) {
	case 'm':
		return add("-m", o->uri, &o->meters, RECORDING_SOURCES, optarg);
	case 'o':
		o->out = optarg;
		return 1;
	case PER:
		o->per = optarg;
		return 1;
	case LOG:
		o->log = optarg;
		return 1;
	case CHANNEL:
		o->channel = optarg;
		return 1;
	case EVERY:
		return recording_duration("every", optarg, &o->every_ns);
	case NO_RT:
		o->no_realtime = true;
		return 1;
	case FROM:
		o->from = optarg;
		return 1;
	case JSON:
		o->form = WW_REPORT_JSON;
		return 1;
	default:
		return -1;
	}
}

static int check(int argc, char **argv, struct run_options *o)
{
	struct ww_error err = {0};
	struct ww_work *work = NULL;

	if (o->from && (optind < argc || o->meters || o->out))
		return tool_usage_error("--from FILE reports on runs that were measured; nothing "
					"is run and no meter read");
	if (o->from)
		return 0;
	if (o->meters == 0)
		return tool_usage_error(
			"name a meter with -m URI; 'pwrlog list' tells which are there");
	if (optind == argc)
		return tool_usage_error("name a command to run, after --");
	for (size_t i = 0; i < o->meters; i++)
		if (strncmp(o->uri[i], "manual:", 7) == 0)
			return tool_usage_error("nobody can type readings while a command runs: "
						"manual: is for pwrlog record");
	if (o->out && strcmp(o->out, "-") == 0)
		return tool_usage_error("-o: a file, not '-': standard output has the report");
	if (o->per && ww_work_new(o->per, &work, &err) < 0)
		return tool_usage_error("--per: %s", err.text);
	ww_work_free(work);
	o->argv = argv + optind;
	return 0;
}

static int parse(int argc, char **argv, struct run_options *o)
{
	static const struct option options[] = {{"interleave", required_argument, NULL, INTERLEAVE},
						{"vary", required_argument, NULL, VARY},
						{"shuffle", no_argument, NULL, SHUFFLE},
						{"seed", required_argument, NULL, SEED},
						{"per", required_argument, NULL, PER},
						{"repeat", required_argument, NULL, REPEAT},
						{"warmup", required_argument, NULL, WARMUP},
						{"baseline", required_argument, NULL, BASELINE},
						{"settle", required_argument, NULL, SETTLE},
						{"ignore-failure", no_argument, NULL, IGNORE},
						{"log", required_argument, NULL, LOG},
						{"channel", required_argument, NULL, CHANNEL},
						{"every", required_argument, NULL, EVERY},
						{"no-realtime", no_argument, NULL, NO_RT},
						{"from", required_argument, NULL, FROM},
						{"json", no_argument, NULL, JSON},
						{"help", no_argument, NULL, 'h'},
						{0}};
	int c;

	/* '+': what follows the command's name is the command's. */
	while ((c = getopt_long(argc, argv, "+:m:n:o:h", options, NULL)) != -1) {
		int rc = take_plan(c, o);

		if (rc < 0)
			rc = take_rest(c, o);
		if (c == 'h')
			return fputs(help, stdout) < 0 ? TOOL_FAILED : -1;
		if (rc < 0)
			return tool_bad_option(c, argv);
		if (rc == 0)
			return TOOL_USAGE;
	}
	return check(argc, argv, o);
}

static bool any_energy(const struct ww_runs *r)
{
	for (size_t i = 0; i < ww_runs_count(r); i++)
		if (!isnan(ww_runs_at(r, i)->gross_J.value))
			return true;
	return false;
}

/* @return exit status; *printed: there is a report */
static int report(const char *path, const struct run_options *o, bool *printed)
{
	struct ww_runs_options opt = {.size = sizeof(opt),
				      .channel = o->channel,
				      .failed = o->ignore_failure};
	struct ww_error err = {0};
	struct ww_trace *t = NULL;
	struct ww_runs *r = NULL;
	char *text = NULL;
	int rc = tool_open_trace(path, &t);

	if (rc == 0 &&
	    (ww_runs_new(t, &opt, &r, &err) < 0 || ww_runs_report(r, o->form, &text, &err) < 0))
		rc = tool_fail(&err);
	if (rc == 0)
		rc = tool_print(text);
	*printed = rc == 0;
	if (rc == 0 && !any_energy(r)) {
		tool_say("the energy of no run is known");
		rc = TOOL_FAILED;
	}
	ww_runs_free(r);
	ww_trace_close(t);
	return rc;
}

/* A trace that nobody asked to keep, in a folder of its own. */
static bool temporary(char *dir, char *path, size_t n)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, n, "%s/pwrlog-run-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (strlen(dir) + sizeof("/run.wwt") > n || !mkdtemp(dir)) {
		tool_say("%s: %s", dir, strerror(errno));
		return false;
	}
	snprintf(path, n, "%.*s/run.wwt", (int)n - 10, dir);
	return true;
}

static void clear_away(const char *dir, const char *path)
{
	static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
	char name[300];

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, tails[i]);
		unlink(name);
	}
	rmdir(dir);
}

static int measure(const struct run_options *o, const struct run_plan *p, char *command)
{
	struct recording r = {.program = "pwrlog run",
			      .command = command,
			      .out = o->out,
			      .every_ns = o->every_ns,
			      .no_realtime = o->no_realtime,
			      .name_lock = -1};
	char dir[256] = "", path[256];
	uint32_t runs = 0;
	bool printed = true;
	int rc = TOOL_OK, after;

	if (!o->out) {
		if (!temporary(dir, path, sizeof(path))) {
			free(command);
			return TOOL_FAILED;
		}
		r.out = path;
	}
	rc = recording_open(&r);
	for (size_t i = 0; i < o->meters && rc == TOOL_OK; i++)
		rc = recording_add(&r, o->uri[i], NULL, NULL);
	if (rc == TOOL_OK)
		rc = run_all(&r, o, p, &runs);
	if (runs > 0 || (r.started && rc == TOOL_OK)) {
		/* Also after an end by hand: what was measured until then is worth it. */
		after = report(r.path, o, &printed);
		rc = rc ? rc : after;
	}
	recording_free(&r);
	if (!o->out && !printed)
		tool_say("what was measured is kept: 'pwrlog run --from %s' reports on it", path);
	else if (!o->out)
		clear_away(dir, path);
	return rc;
}

int pwrlog_run(int argc, char **argv)
{
	struct run_options o = {.n = 1, .repeat = 1, .baseline_ns = -1, .settle_ns = -1, .seed = 1};
	struct run_plan p = {.variants = 0};
	bool printed;
	int rc = parse(argc, argv, &o);

	if (rc != TOOL_OK)
		return rc < 0 ? TOOL_OK : rc;
	if (o.from)
		return report(o.from, &o, &printed);
	rc = run_plan_make(&p, &o);
	if (rc == TOOL_OK)
		rc = measure(&o, &p, tool_command_line(argc, argv));
	run_plan_free(&p);
	return rc;
}
