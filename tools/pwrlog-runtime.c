/* SPDX-License-Identifier: MIT */
/* pwrlog runtime: how long a battery lasts, and what a wanted runtime takes. */
#include "common.h"
#include "pwrlog.h"
#include "pwrlog-runtime.h"
#include "pwrlog-slurp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void usage(FILE *f)
{
	fputs("usage: pwrlog runtime [OPTIONS] [FILE]\n"
	      "\n"
	      "How long a UPS or a battery lasts, and what a wanted runtime takes. The load is a\n"
	      "number, or the mean of a trace. A quantity is written 25W, or 25W±0.6 with its\n"
	      "uncertainty (k = 2); a part is 0.8 or 80%.\n"
	      "\n"
	      "  --load W              the load; --va VA is its apparent power, --pf its power "
	      "factor\n"
	      "  --va VA               apparent power: for tables in VA; never derived from W "
	      "alone\n"
	      "  --pf PF               power factor, from which the one of W and VA gives the "
	      "other\n"
	      "  --peak W              its peak; --rating is held against it\n"
	      "  --rating W|VA         what the UPS is made for\n"
	      "  --channel NAME        of a trace with several channels of power\n" TOOL_WINDOW_HELP
	      "  --table FILE          a maker's table: loads, and minutes of each model beside "
	      "them\n"
	      "  --table-unit W|VA     what its loads are, where its first line does not tell\n"
	      "  --model NAME          one of its models; else all\n"
	      "  --measured MIN@W      a runtime that was measured: 48min@25W; may be repeated\n"
	      "  --capacity AH         of one battery\n"
	      "  --volts V             of one battery (12); --series N, --parallel N of them\n"
	      "  --series N            batteries in series (1)\n"
	      "  --parallel N          strings in parallel (1)\n"
	      "  --chemistry NAME      lead, lifepo4, liion\n"
	      "  --rated DURATION      the capacity is for a discharge of this time (20h)\n"
	      "  --peukert K           Peukert's exponent\n"
	      "  --efficiency PART     of the inverter\n"
	      "  --own W               its loss without a load\n"
	      "  --dc                  no inverter: DC to DC\n"
	      "  --depth PART          of the charge that is used\n"
	      "  --ageing PART         of the capacity that is left\n"
	      "  --temperature C|PART  of the battery, 10C, or the part of the capacity it leaves\n"
	      "  --for DURATION        the runtime that is wanted: 24h\n"
	      "  --json                as JSON\n"
	      "  --help                this text\n"
	      "\n" TOOL_IMPORT_HELP,
	      f);
}

static bool named(const struct ww_channel_stat *c, const char *name)
{
	const char *dot = strchr(c->name, '.');

	return !name || strcmp(c->name, name) == 0 || (dot && strcmp(dot + 1, name) == 0) ||
	       (dot && strlen(name) == (size_t)(dot - c->name) &&
		strncmp(c->name, name, strlen(name)) == 0);
}

/* Mean power of a trace, its peak, and its VA where the meter gave them. */
static int stat_load(const struct ww_stat *s, const char *path, struct runtime_options *opt)
{
	const struct ww_channel_stat *c;
	size_t found = 0, va = 0;

	for (size_t i = 0; (c = ww_stat_at(s, i)); i++) {
		if (strcmp(c->quantity, "power") == 0 && strcmp(c->unit, "W") == 0 &&
		    named(c, opt->channel) && isfinite(c->mean.value)) {
			found++;
			opt->o.watts = c->mean;
			opt->o.watts.u = isfinite(c->mean.u) ? c->mean.u : 0;
			opt->o.peak_W = opt->o.peak_W > 0 ? opt->o.peak_W : c->max;
		} else if (strcmp(c->quantity, "apparent_power") == 0 && isfinite(c->mean.value) &&
			   va++ == 0) {
			if (opt->o.va.value > 0)
				return tool_usage_error("--va: the trace has measured the VA");
			if (opt->o.pf.value > 0)
				return tool_usage_error("--pf: the trace has measured the VA "
							"beside the watts");
			opt->o.va = c->mean;
			opt->o.va.u = isfinite(c->mean.u) ? c->mean.u : 0;
		}
	}
	if (found == 1 && opt->o.watts.value > 0)
		return 0;
	if (found > 1)
		tool_say("%s: several channels of power; choose one with --channel", path);
	else if (found == 1)
		tool_say("%s: its mean power is not above 0", path);
	else
		tool_say("%s: no channel of power in W%s%s", path, opt->channel ? " named " : "",
			 opt->channel ? opt->channel : "");
	return TOOL_FAILED;
}

static int trace_load(const char *path, struct runtime_options *opt)
{
	struct ww_stat_options o = {.size = sizeof(o)};
	struct tool_span span;
	struct ww_error err = {0};
	struct ww_trace *t = NULL;
	struct ww_stat *s = NULL;
	int rc = tool_open_trace(path, &t);

	if (rc == 0)
		tool_say_import(t);
	if (rc == 0)
		rc = tool_window_find(t, &opt->window, &span);
	if (rc == 0) {
		o.from_ns = span.from_ns;
		o.to_ns = span.to_ns;
		if (ww_stat_new(t, &o, &s, &err) < 0)
			rc = tool_fail(&err);
	}
	if (rc == 0)
		rc = stat_load(s, path, opt);
	ww_stat_free(s);
	ww_trace_close(t);
	return rc;
}

static int read_table(struct runtime_options *opt, struct ww_runtime_table **out)
{
	struct ww_error err = {0};
	char *text = NULL;
	size_t n = 0;
	int rc = tool_slurp(opt->table, &text, &n);

	if (rc == 0 && ww_runtime_table_parse(text, n, opt->table, opt->table_unit, out, &err) < 0)
		rc = tool_fail(&err);
	free(text);
	opt->o.table = *out;
	return rc;
}

static int report(struct runtime_options *opt, const char *path)
{
	struct ww_runtime_table *table = NULL;
	struct ww_runtime *r = NULL;
	struct ww_error err = {0};
	char *text = NULL;
	int rc = path ? trace_load(path, opt) : 0;

	if (rc == 0 && opt->table)
		rc = read_table(opt, &table);
	if (rc == 0 && (ww_runtime_new(&opt->o, &r, &err) < 0 ||
			ww_runtime_report(r, opt->form, &text, &err) < 0))
		rc = path || err.code != -EINVAL ? tool_fail(&err)
						 : tool_usage_error("%s", err.text);
	if (rc == 0)
		rc = tool_print(text);
	ww_runtime_free(r);
	ww_runtime_table_free(table);
	return rc;
}

int pwrlog_runtime(int argc, char **argv)
{
	struct runtime_options opt = {.o = {.size = sizeof(opt.o)}, .form = WW_REPORT_TEXT};
	int c, rc;

	while ((c = getopt_long(argc, argv, ":h", runtime_long_options, NULL)) != -1) {
		int taken = tool_import_option(c);

		if (taken < 0)
			return TOOL_USAGE;
		if (taken)
			continue;
		if (c == 'h') {
			usage(stdout);
			return TOOL_OK;
		}
		rc = runtime_option(c, argv, &opt);
		if (rc)
			return rc;
	}
	if (argc - optind > 1)
		return tool_usage_error("one trace at a time, not also '%s'", argv[optind + 1]);
	if (optind < argc && opt.o.watts.value > 0)
		return tool_usage_error("--load and a trace exclude each other");
	rc = tool_window_check(&opt.window);
	return rc ? rc : report(&opt, optind < argc ? argv[optind] : NULL);
}
