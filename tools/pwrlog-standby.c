/* SPDX-License-Identifier: MIT */
/* pwrlog standby: power in a standby mode, from a trace or measured now. */
#include "common.h"
#include "pwrlog.h"
#include "recording.h"
#include "watcher.h"
#include "window.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_NS INT64_C(10800000000000)

static const char help[] =
	"usage: pwrlog standby [options] FILE\n"
	"       pwrlog standby [options] -m METER [-o FILE] [--for DUR]\n"
	"\n"
	"Power in a standby mode by the procedures of IEC 62301, with a list of what was\n"
	"and was not met or observed. With -m it measures until the mode is stable.\n"
	"\n"
	"  --edition N           2 (default) or 1\n"
	"  --method NAME         of edition 2: sampling (default), average or direct\n"
	"  --energystar          15 min after log-in (--from), mean of 5 min\n"
	"  --cyclic              the mode is known to cycle: wait for whole cycles\n"
	"  --limit W             a limit to compare with\n"
	"  --accuracy A          of the meter: 0.1%+0.005W, 0.5% or 0.02W\n"
	"  --crest X             crest factor of the current\n"
	"  --pf X                power factor\n"
	"  --supply V[,HZ]       nominal supply, such as 230,50\n"
	"  --ambient C           temperature of the room\n"
	"  --channel NAME        where there are several of power\n" TOOL_WINDOW_HELP
	"  -m METER              measure now, such as wattsup:/dev/ttyUSB0\n"
	"  -o FILE               keep the trace\n"
	"  --for DUR             end after this time (default 3h)\n"
	"  --every DUR           time between readings, where the meter can be told\n"
	"  --json                as JSON\n"
	"  --help                this text\n"
	"\n" TOOL_IMPORT_HELP;

struct job {
	struct ww_standby_options o;
	struct tool_window window;
	const char *meter;
	const char *out;
	int64_t for_ns, every_ns;
	int edition, method, form;
	bool energystar;
};

/* A number and nothing behind it. */
static bool number(const char *option, const char *text, double least, double *v)
{
	char *end;

	*v = strtod(text, &end);
	if (end == text || *end || !(*v > least) || !isfinite(*v)) {
		tool_usage_error("--%s: '%s' is not a number above %g", option, text, least);
		return false;
	}
	return true;
}

/* "0.1%+0.005W" */
static bool accuracy(const char *text, struct ww_standby_options *o)
{
	const char *p = text;

	o->acc_abs = o->acc_rel = 0;
	while (*p) {
		char *end;
		double v = strtod(p, &end);

		if (end == p || !(v >= 0) || !isfinite(v))
			break;
		end += *end == ' ';
		if (strncmp(end, "mW", 2) == 0)
			o->acc_abs += v / 1000, p = end + 2;
		else if (*end == 'W')
			o->acc_abs += v, p = end + 1;
		else if (*end == '%')
			o->acc_rel += v / 100, p = end + 1;
		else
			break;
		if (!*p && (o->acc_abs > 0 || o->acc_rel > 0))
			return true;
		if (*p != '+')
			break;
		p++;
	}
	tool_usage_error("--accuracy: '%s' is none such as 0.1%%+0.005W, 0.5%% or 0.02W", text);
	return false;
}

static bool supply(const char *text, struct ww_standby_options *o)
{
	char *end;

	o->supply_volts = strtod(text, &end);
	o->supply_hz = 0;
	if (end != text && *end == ',') {
		text = end + 1;
		o->supply_hz = strtod(text, &end);
		if (end == text || !(o->supply_hz > 0))
			o->supply_volts = -1;
	}
	if (*end == '\0' && o->supply_volts > 0 && isfinite(o->supply_volts) &&
	    isfinite(o->supply_hz))
		return true;
	tool_usage_error("--supply: nominal volts and hertz, such as 230,50");
	return false;
}

static bool method(const char *text, struct job *j)
{
	static const char *const name[] = {"sampling", "average", "direct"};

	for (int i = 0; i < 3; i++)
		if (strcmp(text, name[i]) == 0) {
			j->method = i;
			return true;
		}
	tool_usage_error("--method: sampling, average or direct, not '%s'", text);
	return false;
}

enum { EDITION = 256, METHOD, ENERGYSTAR, LIMIT, ACCURACY, CREST, PF, SUPPLY, AMBIENT, CHANNEL };
enum { FROM = 512, TO, BETWEEN, FOR, EVERY, JSON, CYCLIC };

static const struct option options[] = {{"edition", required_argument, NULL, EDITION},
					{"method", required_argument, NULL, METHOD},
					{"energystar", no_argument, NULL, ENERGYSTAR},
					{"cyclic", no_argument, NULL, CYCLIC},
					{"limit", required_argument, NULL, LIMIT},
					{"accuracy", required_argument, NULL, ACCURACY},
					{"crest", required_argument, NULL, CREST},
					{"pf", required_argument, NULL, PF},
					{"supply", required_argument, NULL, SUPPLY},
					{"ambient", required_argument, NULL, AMBIENT},
					{"channel", required_argument, NULL, CHANNEL},
					{"from", required_argument, NULL, FROM},
					{"to", required_argument, NULL, TO},
					{"between", required_argument, NULL, BETWEEN},
					{"for", required_argument, NULL, FOR},
					{"every", required_argument, NULL, EVERY},
					{"json", no_argument, NULL, JSON},
					TOOL_IMPORT_OPTIONS,
					{"help", no_argument, NULL, 'h'},
					{NULL, 0, NULL, 0}};

/* Options of the procedure and of the meter. @return false after it has said what is wrong */
static bool take_standard(int c, char *arg, struct job *j)
{
	switch (c) {
	case EDITION:
		j->edition = strcmp(arg, "1") == 0 ? 1 : strcmp(arg, "2") == 0 ? 2 : 0;
		if (!j->edition)
			tool_usage_error("--edition: 1 or 2, not '%s'", arg);
		return j->edition != 0;
	case METHOD:
		return method(arg, j);
	case LIMIT:
		return number("limit", arg, 0, &j->o.limit_watts);
	case ACCURACY:
		return accuracy(arg, &j->o);
	case CREST:
		return number("crest", arg, 0, &j->o.crest);
	case PF:
		return number("pf", arg, 0, &j->o.power_factor);
	case SUPPLY:
		return supply(arg, &j->o);
	case AMBIENT:
		return number("ambient", arg, -100, &j->o.ambient_degC);
	default:
		j->energystar = true;
		return true;
	}
}

/* @return false after it has said what is wrong */
static bool take(int c, char *arg, struct job *j)
{
	switch (c) {
	case CHANNEL:
		j->o.channel = arg;
		return true;
	case FROM:
		j->window.from = arg;
		return true;
	case TO:
		j->window.to = arg;
		return true;
	case BETWEEN:
		j->window.between = arg;
		return true;
	case FOR:
		return recording_duration("for", arg, &j->for_ns);
	case EVERY:
		return recording_duration("every", arg, &j->every_ns);
	case JSON:
		j->form = WW_REPORT_JSON;
		return true;
	case CYCLIC:
		j->o.cyclic = 1;
		return true;
	case 'm':
		if (j->meter)
			tool_usage_error("one meter at a time (-m %s)", arg);
		else
			j->meter = arg;
		return j->meter == arg;
	case 'o':
		j->out = arg;
		return true;
	default:
		return take_standard(c, arg, j);
	}
}

/* What does not go together. @return 0 or TOOL_USAGE */
static int check(struct job *j, int argc)
{
	if (j->energystar && (j->edition || j->method >= 0))
		return tool_usage_error("--energystar has no --edition and no --method");
	if (j->edition == 1 && j->method >= 0)
		return tool_usage_error("--method is of edition 2");
	if (j->meter && optind < argc)
		return tool_usage_error("-m measures now: no FILE beside it (-o keeps the trace)");
	if (j->meter && (j->window.from || j->window.to || j->window.between))
		return tool_usage_error("--from, --to and --between are for a FILE, not for -m");
	if (!j->meter && (j->out || j->for_ns || j->every_ns))
		return tool_usage_error("-o, --for and --every go with -m METER");
	if (j->out && strcmp(j->out, "-") == 0)
		return tool_usage_error("-o: a file; the report goes to standard output");
	j->o.procedure = j->energystar	   ? WW_STANDBY_ENERGYSTAR
			 : j->edition == 1 ? WW_STANDBY_EDITION1
			 : j->method > 0   ? j->method
					   : WW_STANDBY_SAMPLING;
	return tool_window_check(&j->window);
}

static int report(const char *path, struct job *j)
{
	struct tool_span span = {0};
	struct ww_error err = {0};
	struct ww_trace *t = NULL;
	struct ww_standby *s = NULL;
	char *text = NULL;
	int rc = tool_open_trace(path, &t);

	if (rc == 0)
		rc = tool_window_find(t, &j->window, &span);
	j->o.from_ns = span.from_ns;
	j->o.to_ns = span.to_ns;
	if (rc == 0 && (ww_standby_new(t, &j->o, &s, &err) < 0 ||
			ww_standby_report(s, j->form, &text, &err) < 0))
		rc = tool_fail(&err);
	if (rc == 0)
		rc = tool_print(text);
	ww_standby_free(s);
	ww_trace_close(t);
	return rc;
}

/* ---- measured now ---- */

static int judge(struct ww_trace *t, void *ctx, char *say, size_t room, struct ww_error *err)
{
	const struct job *j = ctx;
	const struct ww_standby_result *r;
	struct ww_standby *s = NULL;
	int done = 0;

	if (ww_standby_new(t, &j->o, &s, err) < 0) {
		/* Too few readings yet; whatever else it was, the report will say it. */
		ww_error_clear(err);
		return 0;
	}
	r = ww_standby_get(s);
	done = r->verdict == WW_STANDBY_STABLE || r->verdict == WW_STANDBY_NO_TEST;
	if (r->verdict == WW_STANDBY_TOO_SHORT)
		snprintf(say, room, "%.4f W so far; the procedure needs longer yet",
			 r->watts.value);
	else if (isfinite(r->slope.value))
		snprintf(say, room, "%.4g W, %s: slope %.1f mW/h, 2 u = %.1f, limit %.1f",
			 r->watts.value, ww_standby_verdict_name(r->verdict), r->slope.value * 1e3,
			 2e3 * r->slope.u, r->slope_limit * 1e3);
	else
		snprintf(say, room, "%.4g W, %s", r->watts.value,
			 ww_standby_verdict_name(r->verdict));
	ww_standby_free(s);
	return done;
}

/* A place for a trace that is not kept. */
static bool temporary(char *folder, char *path, size_t room)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, room, "%s/pwrlog-standby-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(folder)) {
		tool_say("%s: no place for the trace; name one with -o", folder);
		*folder = '\0';
		return false;
	}
	snprintf(path, room, "%s/trace.wwt", folder);
	return true;
}

static void forget(const char *folder)
{
	static const char *const name[] = {"trace.wwt", "trace.wwt-wal", "trace.wwt-shm"};
	char path[256];

	if (!*folder)
		return;
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, name[i]);
		unlink(path);
	}
	rmdir(folder);
}

static int measure(int argc, char **argv, struct job *j)
{
	char folder[200] = "", path[256];
	struct watcher w = {.judge = judge, .ctx = j, .every_ns = INT64_C(60000000000)};
	struct recording r = {.program = "pwrlog standby",
			      .out = j->out,
			      .for_ns = j->for_ns ? j->for_ns : LONGEST_NS + INT64_C(60000000000),
			      .every_ns = j->every_ns,
			      .enough = watcher_enough,
			      .enough_ctx = &w};
	int rc = TOOL_OK;

	if (!j->out) {
		if (!temporary(folder, path, sizeof(folder)))
			return TOOL_FAILED;
		r.out = path;
	}
	w.path = r.out;
	r.command = tool_command_line(argc, argv);
	rc = recording_open(&r);
	if (rc == TOOL_OK)
		rc = recording_add(&r, j->meter, NULL, NULL);
	if (rc == TOOL_OK)
		rc = recording_run(&r);
	watcher_end(&w);
	if (rc == TOOL_OK)
		rc = report(r.path, j);
	recording_free(&r);
	forget(folder);
	return rc;
}

int pwrlog_standby(int argc, char **argv)
{
	struct job j = {.o = {.size = sizeof(j.o)}, .method = -1};
	const char *path;
	int c;

	while ((c = getopt_long(argc, argv, ":hm:o:", options, NULL)) != -1) {
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
	c = check(&j, argc);
	if (c)
		return c;
	if (j.meter)
		return measure(argc, argv, &j);
	path = tool_one_file(argc, argv);
	return path ? report(path, &j) : TOOL_USAGE;
}
