/* SPDX-License-Identifier: MIT */
/* pwrlog compare: two sets of runs beside each other. */
#include "common.h"
#include "pwrlog.h"
#include "pwrlog-slurp.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILES 64

struct options {
	struct ww_compare_options o;
	struct ww_numbers_options numbers;
	const char *names, *channel, *measure, *unit;
	int form;
	int meters; /* 0: by what the traces say, 1: one, 2: two */
};

/* A file is runs of a trace or numbers. */
struct input {
	const char *path;
	struct ww_trace *trace;
	struct ww_runs *runs;
	struct ww_numbers *numbers;
};

static void usage(FILE *f)
{
	fputs("usage: pwrlog compare [OPTIONS] A [B...]\n"
	      "\n"
	      "Two or more sets of runs beside each other: ratio with its interval, p-value, "
	      "effect\n"
	      "size, and the smallest difference that would have been seen. Each file is a trace "
	      "of\n"
	      "'pwrlog run', a list of numbers (one a line, or a CSV), or the JSON of hyperfine.\n"
	      "\n"
	      "  --paired              the k-th value of each belongs to the k-th of the other\n"
	      "  --unpaired            not even what was interleaved are pairs\n"
	      "  --base NAME           the variant that the others are compared with (the first)\n"
	      "  --names NAME,...      what to call the files\n"
	      "  --column NAME,...     columns of numbers in a CSV, by name or number\n"
	      "  --label NAME          column whose texts divide the numbers into variants\n"
	      "  --measure NAME        what the numbers are: energy, time, power\n"
	      "  --unit UNIT           their unit\n"
	      "  --resolution Q        smallest step of the numbers\n"
	      "  --offset-u U          standard uncertainty of the meter's offset, in their unit\n"
	      "  --gain-u PERCENT      and of its gain\n"
	      "  --meters one|two      whether the files come from one meter or from two\n"
	      "  --channel NAME        of a trace with several channels of power\n"
	      "  --confidence PERCENT  of the intervals (95)\n"
	      "  --power PERCENT       with which a difference would have been seen (80)\n"
	      "  --json                as JSON\n"
	      "  --help                this text\n",
	      f);
}

static int open_runs(struct input *in, const struct options *opt)
{
	struct ww_runs_options o = {.size = sizeof(o), .channel = opt->channel};
	struct ww_error err = {0};
	int rc = tool_open_trace(in->path, &in->trace);

	if (rc == 0 && ww_runs_new(in->trace, &o, &in->runs, &err) < 0)
		rc = tool_fail(&err);
	if (rc == 0 && ww_runs_count(in->runs) == 0) {
		tool_say("%s: no runs in this trace; record some with 'pwrlog run'", in->path);
		rc = TOOL_FAILED;
	}
	return rc;
}

static int open_numbers(struct input *in, const struct options *opt)
{
	struct ww_numbers_options o = opt->numbers;
	struct ww_error err = {0};
	char *text = NULL;
	size_t n = 0;
	int rc = tool_slurp(in->path, &text, &n);

	o.size = sizeof(o);
	o.name = in->path;
	if (rc == 0 && ww_numbers_parse(text, n, &o, &in->numbers, &err) < 0)
		rc = tool_fail(&err);
	free(text);
	return rc;
}

/* One meter unless what the traces say of their meters differs. */
static bool two_meters(const struct input *in, size_t n)
{
	const char *driver = NULL, *model = NULL, *serial = NULL;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < ww_trace_source_count(in[i].trace); k++) {
			const struct ww_source_info *s = ww_trace_source(in[i].trace, k);

			if (s->kind != WW_METER)
				continue;
			if (driver &&
			    (strcmp(driver, s->driver) != 0 || strcmp(model, s->model) != 0 ||
			     (*serial && *s->serial && strcmp(serial, s->serial) != 0)))
				return true;
			driver = s->driver;
			model = s->model;
			serial = *s->serial || !serial ? s->serial : serial;
			break;
		}
	}
	return false;
}

/* Name of a file without its folder and ending, or the i-th of --names. */
static char *file_name(const struct options *opt, const char *path, size_t i)
{
	const char *p = opt->names;
	const char *slash = strrchr(path, '/'), *dot;
	size_t n;

	for (size_t k = 0; p && k < i; k++) {
		p = strchr(p, ',');
		p = p ? p + 1 : NULL;
	}
	if (p && strcspn(p, ",") > 0)
		return strndup(p, strcspn(p, ","));
	path = slash ? slash + 1 : path;
	dot = strrchr(path, '.');
	n = dot && dot != path ? (size_t)(dot - path) : strlen(path);
	return strndup(path, n);
}

static int compare_runs(struct input *in, char **name, size_t n, const struct options *opt,
			struct ww_compare **c)
{
	const struct ww_runs *runs[FILES];
	struct ww_compare_options o = opt->o;
	struct ww_error err = {0};

	for (size_t i = 0; i < n; i++)
		runs[i] = in[i].runs;
	o.other_meter = opt->meters == 2 || (opt->meters == 0 && two_meters(in, n));
	if (ww_compare_runs(runs, (const char *const *)name, n, &o, c, &err) < 0)
		return tool_fail(&err);
	return 0;
}

/* The groups of all files as sets. */
static size_t gather(struct input *in, char **name, size_t n, const struct options *opt,
		     struct ww_compare_set *set, char **own)
{
	const struct ww_numbers_group *g;
	size_t sets = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; (g = ww_numbers_at(in[i].numbers, k)); k++, sets++) {
			if (n > 1 && *g->label &&
			    asprintf(&own[sets], "%s: %s", name[i], g->label) < 0)
				own[sets] = NULL;
			set[sets] = (struct ww_compare_set){
				.variant = own[sets]   ? own[sets]
					   : *g->label ? g->label
						       : name[i],
				.measure = opt->measure	 ? opt->measure
					   : *g->measure ? g->measure
							 : "value",
				.unit = opt->unit ? opt->unit : g->unit,
				.value = g->value,
				.when = g->when,
				.n = g->n,
				.per_offset = 1,
				.per_gain = 1,
				.series = (uint32_t)i,
			};
			/* A column that was named alike in each file is not needed to tell. */
			if (k > 0 || n == 1)
				set[sets].measure = sets ? set[0].measure : set[sets].measure;
		}
	}
	return sets;
}

static int compare_numbers(struct input *in, char **name, size_t n, const struct options *opt,
			   struct ww_compare **c)
{
	struct ww_compare_options o = opt->o;
	struct ww_error err = {0};
	size_t most = 0, sets;
	struct ww_compare_set *set;
	char **own;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; ww_numbers_at(in[i].numbers, k); k++)
			most++;
	set = calloc(most + 1, sizeof(*set));
	own = calloc(most + 1, sizeof(*own));
	if (!set || !own) {
		tool_say("out of memory");
		rc = TOOL_FAILED;
	}
	if (rc == 0) {
		sets = gather(in, name, n, opt, set, own);
		o.other_meter = opt->meters == 2;
		if (sets == 1) {
			tool_say("%s: one set of numbers only; name a second file, or the column "
				 "that "
				 "tells the variants apart with --label",
				 in[0].path);
			rc = TOOL_FAILED;
		} else if (ww_compare_new(set, sets, &o, c, &err) < 0) {
			rc = tool_fail(&err);
		}
	}
	for (size_t i = 0; own && i < most; i++)
		free(own[i]);
	free(own);
	free(set);
	return rc;
}

static void say_notes(const struct input *in, size_t n)
{
	const char *note;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; in[i].numbers && (note = ww_numbers_note(in[i].numbers, k)); k++)
			tool_say("%s", note);
}

/* Folders are not part of a name, so two files may well have the same. */
static int check_names(char *const *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(name[i], name[k]) == 0)
				return tool_usage_error("two files are called '%s': tell them "
							"apart with --names A,B",
							name[i]);
	return 0;
}

static int compare(struct input *in, size_t n, const struct options *opt)
{
	struct ww_compare *c = NULL;
	struct ww_error err = {0};
	char *name[FILES] = {NULL}, *text = NULL;
	size_t traces = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		bool trace = tool_is_trace(in[i].path);

		traces += trace;
		rc = trace ? open_runs(&in[i], opt) : open_numbers(&in[i], opt);
		name[i] = file_name(opt, in[i].path, i);
		if (rc == 0 && !name[i]) {
			tool_say("out of memory");
			rc = TOOL_FAILED;
		}
	}
	if (rc == 0 && traces && traces < n) {
		tool_say("a trace and a list of numbers cannot be compared with each other");
		rc = TOOL_FAILED;
	}
	if (rc == 0)
		rc = check_names(name, n);
	if (rc == 0)
		say_notes(in, n);
	if (rc == 0)
		rc = (traces ? compare_runs : compare_numbers)(in, name, n, opt, &c);
	if (rc == 0 && ww_compare_report(c, opt->form, &text, &err) < 0)
		rc = tool_fail(&err);
	if (rc == 0)
		rc = tool_print(text);
	ww_compare_free(c);
	for (size_t i = 0; i < n; i++)
		free(name[i]);
	return rc;
}

/* A positive number, in full. */
static int positive(const char *option, const char *text, double most, double *out)
{
	struct ww_quantity q;
	struct ww_error err = {0};
	char unit[8];

	if (ww_quantity_parse(text, "", &q, unit, sizeof(unit), &err) < 0)
		return tool_usage_error("%s: %s", option, err.text);
	if (!(q.value > 0 && q.value < most) || q.u > 0 || (*unit && strcmp(unit, "%") != 0))
		return tool_usage_error("%s: '%s' is not a number above 0%s", option, text,
					most <= 100 ? " and below 100" : "");
	*out = q.value;
	return 0;
}

enum {
	PAIRED = 256,
	UNPAIRED,
	BASE,
	NAMES,
	COLUMN,
	LABEL,
	MEASURE,
	UNIT,
	RESOLUTION,
	OFFSET,
	GAIN,
	METERS,
	CHANNEL,
	CONF,
	POWER,
	JSON
};

static int option(int c, char **argv, struct options *opt)
{
	int rc = 0;

	switch (c) {
	case PAIRED:
	case UNPAIRED:
		if (opt->o.pairing)
			return tool_usage_error("--paired and --unpaired exclude each other");
		opt->o.pairing = c == PAIRED ? WW_PAIR_YES : WW_PAIR_NO;
		return 0;
	case BASE:
		opt->o.base = optarg;
		return 0;
	case NAMES:
		opt->names = optarg;
		return 0;
	case COLUMN:
		opt->numbers.column = optarg;
		return 0;
	case LABEL:
		opt->numbers.label = optarg;
		return 0;
	case MEASURE:
		opt->measure = optarg;
		return 0;
	case UNIT:
		opt->unit = optarg;
		return 0;
	case CHANNEL:
		opt->channel = optarg;
		return 0;
	case JSON:
		opt->form = WW_REPORT_JSON;
		return 0;
	case RESOLUTION:
		return positive("--resolution", optarg, 1e100, &opt->o.resolution);
	case OFFSET:
		return positive("--offset-u", optarg, 1e100, &opt->o.offset_u);
	case GAIN:
		rc = positive("--gain-u", optarg, 100, &opt->o.gain_u);
		opt->o.gain_u /= 100;
		return rc;
	case CONF:
		rc = positive("--confidence", optarg, 100, &opt->o.conf);
		opt->o.conf /= 100;
		return rc;
	case POWER:
		rc = positive("--power", optarg, 100, &opt->o.power);
		opt->o.power /= 100;
		return rc;
	case METERS:
		opt->meters = strcmp(optarg, "one") == 0 ? 1 : strcmp(optarg, "two") == 0 ? 2 : -1;
		if (opt->meters < 0)
			return tool_usage_error("--meters: 'one' or 'two', not '%s'", optarg);
		return 0;
	default:
		return tool_bad_option(c, argv);
	}
}

int pwrlog_compare(int argc, char **argv)
{
	static const struct option options[] = {{"paired", no_argument, NULL, PAIRED},
						{"unpaired", no_argument, NULL, UNPAIRED},
						{"base", required_argument, NULL, BASE},
						{"names", required_argument, NULL, NAMES},
						{"column", required_argument, NULL, COLUMN},
						{"label", required_argument, NULL, LABEL},
						{"measure", required_argument, NULL, MEASURE},
						{"unit", required_argument, NULL, UNIT},
						{"resolution", required_argument, NULL, RESOLUTION},
						{"offset-u", required_argument, NULL, OFFSET},
						{"gain-u", required_argument, NULL, GAIN},
						{"meters", required_argument, NULL, METERS},
						{"channel", required_argument, NULL, CHANNEL},
						{"confidence", required_argument, NULL, CONF},
						{"power", required_argument, NULL, POWER},
						{"json", no_argument, NULL, JSON},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	struct options opt = {.o = {.size = sizeof(opt.o)}, .form = WW_REPORT_TEXT};
	struct input in[FILES] = {{NULL, NULL, NULL, NULL}};
	size_t n;
	int c, rc;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c == 'h') {
			usage(stdout);
			return TOOL_OK;
		}
		rc = option(c, argv, &opt);
		if (rc)
			return rc;
	}
	n = (size_t)(argc - optind);
	if (n == 0)
		return tool_usage_error("name the files to compare");
	if (n > FILES)
		return tool_usage_error("at most %d files at a time", FILES);
	for (size_t i = 0; i < n; i++)
		in[i].path = argv[optind + (int)i];
	rc = compare(in, n, &opt);
	for (size_t i = 0; i < n; i++) {
		ww_runs_free(in[i].runs);
		ww_trace_close(in[i].trace);
		ww_numbers_free(in[i].numbers);
	}
	return rc;
}
