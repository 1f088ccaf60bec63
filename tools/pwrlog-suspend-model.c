/* SPDX-License-Identifier: MIT */
/* pwrlog suspend-model: what suspending in idle gaps saves, and what it costs. */
#include "common.h"
#include "pwrlog.h"
#include "pwrlog-slurp.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"usage: pwrlog suspend-model [options] [TRACE]\n"
	"\n"
	"Opportunistic suspend: break-even time, average power, battery life, wakes and\n"
	"delays of policies. Powers, energy and times of the first six options may carry an\n"
	"uncertainty (k = 2): 2.75+-0.02.\n"
	"\n"
	"  --idle W              power when idle\n"
	"  --suspended W         power when suspended\n"
	"  --transition W        mean power of both transitions (default: as idle)\n"
	"  --transition-energy J energy of both beyond suspended power, instead\n"
	"  --suspend-time S      from the decision to asleep\n"
	"  --resume-time S       from the wake to work\n"
	"  --gaps LAW            exponential:5, pareto:0.1,1.5[,3600] (least, alpha, most)\n"
	"                        fixed:10, a FILE of seconds, '-' standard input\n"
	"  --timeout S           the fixed time-out to compare (default 15)\n"
	"  --visible-cost J      what a wake that is noticed costs beside its energy\n"
	"  --visible-delay S     delay from which it is noticed (default 0.1)\n"
	"  --battery WH          battery, for hours of life\n"
	"  --generated W         human or solar power\n"
	"  --efficiency X        of its storage, 0 to 1 (default 1)\n"
	"  --ratio X             generated to used, wanted (default 10)\n"
	"  --channel NAME        of TRACE, where there are several of power\n"
	"  --json                as JSON\n"
	"  --help                this text\n"
	"\n"
	"TRACE, of resumetime or of pwrlog, gives what the options do not.\n"
	"\n" TOOL_IMPORT_HELP;

struct job {
	struct ww_suspend_options o;
	bool idle, suspended; /* given */
	const char *gaps, *channel;
	double *list;
	int form;
};

/*
 * "2.75", "2.75W", "2.75+-0.02" (k = 2) or with a plus-minus sign. @return false after it
 * has said so
 */
static bool quantity(const char *option, const char *text, struct ww_quantity *q)
{
	char unit[8];

	if (ww_quantity_parse(text, "", q, unit, sizeof(unit), NULL) == 0 && q->value >= 0 &&
	    (!*unit || strcmp(unit, "W") == 0 || strcmp(unit, "s") == 0)) {
		q->u /= 2;
		return true;
	}
	tool_usage_error("--%s: a number that is not negative, such as 2.75 or 2.75+-0.02", option);
	return false;
}

static bool number(const char *option, const char *text, double *v)
{
	struct ww_quantity q;
	char unit[8], *end;

	*v = strtod(text, &end);
	if (end != text && *end == '\0' && *v > 0 && isfinite(*v))
		return true;
	if (ww_quantity_parse(text, "", &q, unit, sizeof(unit), NULL) == 0 && q.u > 0)
		tool_usage_error("--%s: '%s': this one takes no uncertainty", option, text);
	else
		tool_usage_error("--%s: a number above 0, not '%s'", option, text);
	return false;
}

/* ---- gaps ---- */

static int read_list(struct job *j)
{
	const char *name = strcmp(j->gaps, "-") == 0 ? "standard input" : j->gaps;
	struct ww_error err = {0};
	char *text = NULL;
	size_t n;
	int64_t got;
	int rc = tool_slurp(j->gaps, &text, &n);

	if (rc)
		return rc;
	got = ww_gaps_parse(name, text, n, &j->list, &err);
	free(text);
	if (got < 0)
		return tool_fail(&err);
	j->o.gaps = WW_GAPS_RECORDED;
	j->o.gap = j->list;
	j->o.n = (size_t)got;
	return TOOL_OK;
}

/* "5", or "0.1,1.5,3600": how many numbers. 0: something else stands there */
static int numbers(const char *text, double v[3])
{
	int n = 0;

	for (;;) {
		char *end;

		if (n == 3)
			return 0;
		v[n++] = strtod(text, &end);
		if (end == text || (*end && *end != ','))
			return 0;
		if (!*end)
			return n;
		text = end + 1;
	}
}

static int take_gaps(struct job *j)
{
	const char *law = j->gaps;
	double v[3] = {0};
	int n;

	if (!law)
		return TOOL_OK;
	if (strncmp(law, "exponential:", 12) == 0 || strncmp(law, "fixed:", 6) == 0) {
		if (numbers(strchr(law, ':') + 1, v) != 1)
			return tool_usage_error("--gaps %s: one mean in seconds is wanted", law);
		j->o.gaps = *law == 'f' ? WW_GAPS_FIXED : WW_GAPS_EXPONENTIAL;
		j->o.gap_mean = v[0];
		return TOOL_OK;
	}
	if (strncmp(law, "pareto:", 7) != 0)
		return read_list(j);
	n = numbers(law + 7, v);
	if (n < 2)
		return tool_usage_error("--gaps %s: least gap in seconds, alpha, and perhaps the "
					"longest gap are wanted",
					law);
	j->o.gaps = WW_GAPS_PARETO;
	j->o.gap_least = v[0];
	j->o.gap_alpha = v[1];
	j->o.gap_most = v[2];
	return TOOL_OK;
}

/* ---- a trace ---- */

/* What is known of the transitions' energy is neither a number nor nothing. */
static int not_told(const char *path, const struct ww_suspend_fit *f)
{
	if (f->from_beats)
		return TOOL_OK;
	tool_say("%s: idle %.4g W, suspended %.4g W", path, f->idle_watts.value,
		 f->suspended_watts.value);
	return tool_usage_error("%s does not tell what transitions cost", path);
}

/* What was not given is taken from the trace. */
static int take_trace(struct job *j, const char *path)
{
	struct ww_suspend_options *o = &j->o;
	struct ww_suspend_fit f;
	struct ww_error err = {0};
	struct ww_trace *t = NULL;
	int rc = tool_open_trace(path, &t);

	if (rc == 0)
		tool_say_import(t);
	if (rc == 0 && ww_suspend_fit(t, j->channel, o, &f, &err) < 0)
		rc = tool_fail(&err);
	ww_trace_close(t);
	if (rc)
		return rc;
	tool_say("%s: %llu cycles, by %s", path, (unsigned long long)f.cycles,
		 f.from_beats ? "heartbeat and power" : "power alone");
	if (*f.why)
		tool_say("%s: %s", path, f.why);
	if (!j->idle && isfinite(f.idle_watts.value))
		o->idle_watts = f.idle_watts, j->idle = true;
	if (!j->suspended && isfinite(f.suspended_watts.value))
		o->suspended_watts = f.suspended_watts, j->suspended = true;
	if (!(o->suspend_s.value > 0) && isfinite(f.suspend_s.value))
		o->suspend_s = f.suspend_s;
	if (!(o->resume_s.value > 0) && isfinite(f.resume_s.value))
		o->resume_s = f.resume_s;
	if (!(o->transition_watts.value > 0) && !(o->transition_J.value > 0)) {
		if (isfinite(f.transition_J.value) && f.transition_J.value > 0)
			o->transition_J = f.transition_J;
		else
			return not_told(path, &f);
	}
	return TOOL_OK;
}

/* ---- options ---- */

enum { IDLE = 256, SUSPENDED, TRANSITION, ENERGY, SUSPEND_T, RESUME_T, GAPS, TIMEOUT };
enum { VISIBLE_J = 512, VISIBLE_S, BATTERY, GENERATED, EFFICIENCY, RATIO, CHANNEL, JSON };

static const struct option options[] = {{"idle", required_argument, NULL, IDLE},
					{"suspended", required_argument, NULL, SUSPENDED},
					{"transition", required_argument, NULL, TRANSITION},
					{"transition-energy", required_argument, NULL, ENERGY},
					{"suspend-time", required_argument, NULL, SUSPEND_T},
					{"resume-time", required_argument, NULL, RESUME_T},
					{"gaps", required_argument, NULL, GAPS},
					{"timeout", required_argument, NULL, TIMEOUT},
					{"visible-cost", required_argument, NULL, VISIBLE_J},
					{"visible-delay", required_argument, NULL, VISIBLE_S},
					{"battery", required_argument, NULL, BATTERY},
					{"generated", required_argument, NULL, GENERATED},
					{"efficiency", required_argument, NULL, EFFICIENCY},
					{"ratio", required_argument, NULL, RATIO},
					{"channel", required_argument, NULL, CHANNEL},
					{"json", no_argument, NULL, JSON},
					TOOL_IMPORT_OPTIONS,
					{"help", no_argument, NULL, 'h'},
					{NULL, 0, NULL, 0}};

static bool take_policy(int c, const char *arg, struct job *j)
{
	switch (c) {
	case TIMEOUT:
		return number("timeout", arg, &j->o.timeout_s);
	case VISIBLE_J:
		return number("visible-cost", arg, &j->o.visible_J);
	case VISIBLE_S:
		return number("visible-delay", arg, &j->o.visible_s);
	case BATTERY:
		return number("battery", arg, &j->o.battery_Wh);
	case GENERATED:
		return number("generated", arg, &j->o.generated_watts);
	case EFFICIENCY:
		return number("efficiency", arg, &j->o.efficiency);
	case RATIO:
		return number("ratio", arg, &j->o.ratio);
	case CHANNEL:
		j->channel = arg;
		return true;
	case GAPS:
		j->gaps = arg;
		return true;
	default:
		j->form = WW_REPORT_JSON;
		return true;
	}
}

/* @return false after it has said what is wrong */
static bool take(int c, const char *arg, struct job *j)
{
	switch (c) {
	case IDLE:
		j->idle = true;
		return quantity("idle", arg, &j->o.idle_watts);
	case SUSPENDED:
		j->suspended = true;
		return quantity("suspended", arg, &j->o.suspended_watts);
	case TRANSITION:
		return quantity("transition", arg, &j->o.transition_watts);
	case ENERGY:
		return quantity("transition-energy", arg, &j->o.transition_J);
	case SUSPEND_T:
		return quantity("suspend-time", arg, &j->o.suspend_s);
	case RESUME_T:
		return quantity("resume-time", arg, &j->o.resume_s);
	default:
		return take_policy(c, arg, j);
	}
}

/* Numbers of the command line that go with no others are wrong use; a trace's are not. */
static int report(struct job *j, bool typed)
{
	struct ww_suspend_model *m = NULL;
	struct ww_error err = {0};
	char *text = NULL;
	int rc = TOOL_OK;

	if (ww_suspend_model_new(&j->o, &m, &err) < 0 ||
	    ww_suspend_model_report(m, j->form, &text, &err) < 0)
		rc = typed && err.code == -EINVAL ? tool_usage_error("%s", err.text)
						  : tool_fail(&err);
	if (rc == TOOL_OK)
		rc = tool_print(text);
	ww_suspend_model_free(m);
	return rc;
}

int pwrlog_suspend_model(int argc, char **argv)
{
	struct job j = {.o = {.size = sizeof(j.o)}};
	int c, rc;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		int im = tool_import_option(c);

		if (im < 0)
			return TOOL_USAGE;
		if (im)
			continue;
		if (c == 'h')
			return fputs(help, stdout) < 0 ? TOOL_FAILED : TOOL_OK;
		if (c == '?' || c == ':')
			return tool_bad_option(c, argv);
		if (!take(c, optarg, &j))
			return TOOL_USAGE;
	}
	if (argc - optind > 1)
		return tool_usage_error("one trace at a time");
	if (optind == argc && (!j.idle || !j.suspended))
		return tool_usage_error("--idle W and --suspended W are needed, or a trace to take "
					"them from");
	rc = optind < argc ? take_trace(&j, argv[optind]) : TOOL_OK;
	if (rc == TOOL_OK && (!j.idle || !j.suspended))
		rc = tool_usage_error(
			"the trace does not tell the power when %s: give it with --%s",
			j.idle ? "suspended" : "idle", j.idle ? "suspended" : "idle");
	if (rc == TOOL_OK)
		rc = take_gaps(&j);
	if (rc == TOOL_OK)
		rc = report(&j, optind == argc);
	free(j.list);
	return rc;
}
