/* SPDX-License-Identifier: MIT */
/* pwrlog attribute: watts of each device, from tables or traces; and plans for reading them. */
#include "common.h"
#include "pwrlog.h"
#include "pwrlog-slurp.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TABLES 64

struct choice {
	struct ww_attribute_options o;
	const char *table[TABLES];
	size_t tables;
	const char *calibration, *against, *list;
	bool plan; /* list: its devices, beside those of readings */
	char currency[32];
	struct ww_plan_options p;
	int form;
};

static void usage(FILE *f)
{
	fputs("usage: pwrlog attribute [OPTIONS] FILE...\n"
	      "       pwrlog attribute [OPTIONS] --table FILE\n"
	      "       pwrlog attribute --plan [a,b,c] [--readings N] [--one-flip] [FILE...]\n"
	      "\n"
	      "Watts of each device, from readings of known on and off. FILE is a trace with\n"
	      "marks such as '+monitor', '-monitor', 'monitor=standby', or one in which devices\n"
	      "were plugged in one after the other. A table has a reading a line:\n"
	      "\n"
	      "  all unplugged, 1\n"
	      "  +box, 13\n"
	      "  +monitor, 40.5\n"
	      "\n"
	      "  --table FILE          readings typed by hand; - is standard input\n"
	      "  --offset W            what the meter shows too much; '1±0.1' (k = 2)\n"
	      "  --calibration FILE    offset and gain, from pwrlog calibrate --json\n"
	      "  --spec BOUND          the maker's accuracy: '0.2%', '1W', '2%+1W'\n"
	      "  --resolution X        smallest step of the readings, in W\n"
	      "  --own-offsets         each FILE has an offset of its own: other meters\n"
	      "  --drift, --no-drift   fit a drift with time; found by itself where it shows\n"
	      "  --interactions        pairs of devices that do not add\n"
	      "  --order a,b,c         levels in this order too; what was never read is\n"
	      "                        marked synthetic\n"
	      "  --against FILE        what was there before: what is saved\n"
	      "  --hours-per-day H     for the saving in a year (24)\n"
	      "  --price P             of a kWh, '0.0702' or '0.30 EUR'\n"
	      "  --cost P              of what saves, for its pay-back\n"
	      "  --channel NAME        channel of power, where a trace has several\n"
	      "  --spike DUR           longest spike to ignore in a trace (three readings)\n"
	      "  --plan [a,b,c]        states to read the meter in, as a table to fill in:\n"
	      "                        for these devices and those of FILE or --table\n"
	      "  --readings N          how many, for --plan\n"
	      "  --one-flip            one plug at a time, for --plan\n"
	      "  --reading-u W         standard uncertainty of a reading, for --plan\n"
	      "  --json                as JSON\n"
	      "  --help                this text\n"
	      "\n" TOOL_IMPORT_HELP,
	      f);
}

/* "2%+1W", "0.2%", "1", "1W,2%" */
static int read_spec(const char *text, struct ww_attribute_options *o)
{
	const char *p = text;

	while (*p) {
		char *end;
		double v = strtod(p, &end);

		if (end == p || !(v >= 0) || !(v < 1e6))
			break;
		while (*end == ' ')
			end++;
		if (*end == '%') {
			o->spec_rel = v / 100;
			end++;
		} else {
			o->spec_abs = v;
			end += *end == 'W';
		}
		end += strspn(end, " ");
		if (*end == '\0' && o->spec_rel < 1)
			return 0;
		if (*end != '+' && *end != ',')
			break;
		p = end + 1;
		p += strspn(p, " ");
	}
	return tool_usage_error("--spec '%s': expected the maker's accuracy, such as 0.2%%, 1W or "
				"2%%+1W",
				text);
}

static int read_file(struct ww_attribute *a, int set, const char *path, bool table)
{
	struct ww_error err = {0};
	struct ww_trace *t = NULL;
	char *text = NULL;
	size_t n;
	int rc;

	if (!table) {
		rc = tool_open_trace(path, &t);
		if (rc == 0 && ww_attribute_trace(a, set, t, &err) < 0)
			rc = tool_fail(&err);
		ww_trace_close(t);
		return rc;
	}
	rc = tool_slurp(path, &text, &n);
	if (rc == 0 && tool_is_trace(path)) {
		tool_say("%s: this is a trace, not a table: give it without --table", path);
		rc = TOOL_FAILED;
	}
	if (rc == 0 && ww_attribute_table(a, set, strcmp(path, "-") ? path : "standard input", text,
					  n, &err) < 0)
		rc = tool_fail(&err);
	free(text);
	return rc;
}

static int read_calibration(const char *path, struct ww_calibration **out)
{
	struct ww_error err = {0};
	char *text = NULL;
	size_t n;
	int rc = tool_slurp(path, &text, &n);

	if (rc == 0 && ww_calibration_read(path, text, n, out, &err) < 0)
		rc = tool_fail(&err);
	free(text);
	return rc;
}

/* A name as a list of names takes it. */
static int put_name(FILE *f, const char *name, bool first)
{
	if (!first)
		fputc(',', f);
	fputc('"', f);
	for (; *name; name++) {
		if (*name == '"')
			fputc('"', f);
		fputc(*name, f);
	}
	return fputc('"', f);
}

/* The devices of a list, and those of readings that the list does not have. */
static char *all_names(const struct ww_attribute *a, const struct ww_plan *listed)
{
	const struct ww_device *d;
	const char *name, *last = "";
	size_t size, n = 0, known = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (; listed && (name = ww_plan_device(listed, n)); n++)
		put_name(f, name, n == 0);
	known = n;
	/* Devices with several states stand one behind the other. */
	for (size_t i = 0; (d = ww_attribute_device(a, i)); i++) {
		bool is = strcmp(d->name, last) == 0;

		for (size_t k = 0; !is && k < known; k++)
			is = strcmp(ww_plan_device(listed, k), d->name) == 0;
		if (!is)
			put_name(f, d->name, n++ == 0);
		last = d->name;
	}
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int plan(const struct choice *c, const char *devices)
{
	struct ww_error err = {0};
	struct ww_plan *p = NULL;
	char *text = NULL;
	int rc = TOOL_OK;

	if (ww_plan_new(devices, &c->p, &p, &err) < 0)
		rc = tool_usage_error("--plan: %s", err.text);
	else if (ww_plan_report(p, c->form, &text, &err) < 0)
		rc = tool_fail(&err);
	else
		rc = tool_print(text);
	ww_plan_free(p);
	return rc;
}

static int plan_for(const struct choice *c, const struct ww_attribute *a)
{
	struct ww_plan_options o = {.size = sizeof(o)};
	struct ww_error err = {0};
	struct ww_plan *listed = NULL;
	char *names;
	int rc;

	if (c->list && ww_plan_new(c->list, &o, &listed, &err) < 0)
		return tool_usage_error("--plan: %s", err.text);
	names = all_names(a, listed);
	rc = names ? plan(c, names) : TOOL_FAILED;
	if (!names)
		tool_say("out of memory");
	ww_plan_free(listed);
	free(names);
	return rc;
}

static int attribute(struct choice *c, char **files, int n)
{
	struct ww_calibration *cal = NULL;
	struct ww_attribute *a = NULL;
	struct ww_error err = {0};
	char *text = NULL;
	int rc = 0;

	if (c->calibration)
		rc = read_calibration(c->calibration, &cal);
	c->o.calibration = cal;
	c->o.currency = c->currency;
	if (rc == 0 && ww_attribute_new(&c->o, &a, &err) < 0)
		rc = tool_usage_error("%s", err.text);
	for (size_t i = 0; rc == 0 && i < c->tables; i++)
		rc = read_file(a, WW_SET_NOW, c->table[i], true);
	for (int i = 0; rc == 0 && i < n; i++)
		rc = read_file(a, WW_SET_NOW, files[i], false);
	if (rc == 0 && c->against)
		rc = read_file(a, WW_SET_BEFORE, c->against,
			       /* A recorded trace may be compared with a typed table. */
			       c->tables > 0 && !tool_is_trace(c->against));
	if (rc == 0 && (ww_attribute_solve(a, &err) < 0 ||
			(!c->plan && ww_attribute_report(a, c->form, &text, &err) < 0)))
		rc = tool_fail(&err);
	if (rc == 0)
		rc = c->plan ? plan_for(c, a) : tool_print(text);
	ww_attribute_free(a);
	ww_calibration_free(cal);
	return rc;
}

enum {
	O_TABLE = 256,
	O_OFFSET,
	O_CALIBRATION,
	O_SPEC,
	O_OWN,
	O_DRIFT,
	O_NO_DRIFT,
	O_PAIRS,
	O_ORDER,
	O_AGAINST,
	O_HOURS,
	O_PRICE,
	O_COST,
	O_CHANNEL,
	O_SPIKE,
	O_PLAN,
	O_READINGS,
	O_ONE_FLIP,
	O_READING_U,
	O_JSON
};

/* Options with numbers. @return 0, TOOL_USAGE */
static int number_option(int opt, struct choice *c)
{
	struct ww_error err = {0};
	double v = 0;
	int rc = 0;

	switch (opt) {
	case O_OFFSET:
		c->o.offset_known = 1;
		return tool_watts("--offset", optarg, &c->o.offset.value, &c->o.offset.u);
	case O_SPEC:
		return read_spec(optarg, &c->o);
	case O_HOURS:
		rc = tool_number("--hours-per-day", optarg, 0, 24, &c->o.hours_per_day);
		return rc == 0 && c->o.hours_per_day == 0
			       ? tool_usage_error("--hours-per-day 0: nothing is saved then")
			       : rc;
	case O_PRICE:
		return tool_price("--price", optarg, &c->o.price, c->currency, sizeof(c->currency));
	case O_COST:
		return tool_price("--cost", optarg, &c->o.cost, c->currency, sizeof(c->currency));
	case O_READINGS:
		rc = tool_number("--readings", optarg, 2, 512, &v);
		c->p.readings = (uint32_t)v;
		return rc == 0 && v != c->p.readings
			       ? tool_usage_error("--readings '%s': a whole number", optarg)
			       : rc;
	case O_READING_U:
		return tool_number("--reading-u", optarg, 1e-9, 1e6, &c->p.reading_u);
	case O_SPIKE:
		if (ww_duration_parse(optarg, &c->o.spike_ns, &err) < 0 || c->o.spike_ns <= 0)
			return tool_usage_error("--spike '%s': expected a duration, such as 5s",
						optarg);
		return 0;
	default:
		return -1;
	}
}

/*
 * What stands behind --plan is a list of devices unless it is an option, a file, or what
 * is called as files are.
 */
static bool is_list(const char *text)
{
	const char *dot = strrchr(text, '.');

	if (*text == '-' || *text == '\0' || access(text, F_OK) == 0)
		return false;
	return strchr(text, ',') ||
	       !(strchr(text, '/') || (dot && strlen(dot) > 1 && strlen(dot) <= 5));
}

static int take_option(int opt, struct choice *c, char **argv)
{
	int rc = number_option(opt, c);

	if (rc >= 0)
		return rc;
	switch (opt) {
	case O_TABLE:
		if (c->tables == TABLES)
			return tool_usage_error("more than %d tables", TABLES);
		c->table[c->tables++] = optarg;
		return 0;
	case O_OWN:
		c->o.own_offsets = 1;
		return 0;
	case O_DRIFT:
	case O_NO_DRIFT:
		c->o.drift = opt == O_DRIFT ? 1 : -1;
		return 0;
	case O_PAIRS:
		c->o.interactions = 1;
		return 0;
	case O_ONE_FLIP:
		c->p.one_flip = 1;
		return 0;
	case O_JSON:
		c->form = WW_REPORT_JSON;
		return 0;
	case O_CALIBRATION:
		c->calibration = optarg;
		return 0;
	case O_ORDER:
		c->o.order = optarg;
		return 0;
	case O_AGAINST:
		c->against = optarg;
		return 0;
	case O_CHANNEL:
		c->o.channel = optarg;
		return 0;
	case O_PLAN:
		c->plan = true;
		if (optarg)
			c->list = optarg;
		else if (argv[optind] && is_list(argv[optind]))
			c->list = argv[optind++];
		return 0;
	default:
		return tool_bad_option(opt, argv);
	}
}

/* What does not go together. */
static int check(const struct choice *c, int files, const char *file)
{
	if (c->plan && c->against)
		return tool_usage_error("--plan and --against exclude each other");
	if (c->plan && !c->list && !c->tables && !files)
		return tool_usage_error("--plan of which devices? A list (--plan a,b,c), or "
					"readings of them (FILE, --table FILE)");
	if (!c->plan && (c->p.readings || c->p.one_flip || c->p.reading_u > 0))
		return tool_usage_error("--readings, --one-flip and --reading-u go with --plan");
	if (!c->plan && !c->tables && !files)
		return tool_usage_error("name a trace, or a table with --table");
	if (c->tables && files)
		return tool_usage_error("traces or tables, not both at once: '%s' and '%s'",
					c->table[0], file);
	if (c->o.offset_known && c->calibration)
		return tool_usage_error("--offset and --calibration exclude each other: the "
					"calibration has an offset");
	if (!c->against && (c->o.price > 0 || c->o.cost > 0 || c->o.hours_per_day > 0))
		return tool_usage_error("--price, --cost and --hours-per-day are of a saving: "
					"--against tells what was there before");
	if (c->o.cost > 0 && !(c->o.price > 0))
		return tool_usage_error("--cost needs the --price of a kWh");
	return 0;
}

int pwrlog_attribute(int argc, char **argv)
{
	static const struct option options[] = {{"table", required_argument, NULL, O_TABLE},
						{"offset", required_argument, NULL, O_OFFSET},
						{"calibration", required_argument, NULL,
						 O_CALIBRATION},
						{"spec", required_argument, NULL, O_SPEC},
						{"own-offsets", no_argument, NULL, O_OWN},
						{"drift", no_argument, NULL, O_DRIFT},
						{"no-drift", no_argument, NULL, O_NO_DRIFT},
						{"interactions", no_argument, NULL, O_PAIRS},
						{"order", required_argument, NULL, O_ORDER},
						{"against", required_argument, NULL, O_AGAINST},
						{"hours-per-day", required_argument, NULL, O_HOURS},
						{"price", required_argument, NULL, O_PRICE},
						{"cost", required_argument, NULL, O_COST},
						{"channel", required_argument, NULL, O_CHANNEL},
						{"spike", required_argument, NULL, O_SPIKE},
						{"plan", optional_argument, NULL, O_PLAN},
						{"readings", required_argument, NULL, O_READINGS},
						{"one-flip", no_argument, NULL, O_ONE_FLIP},
						{"reading-u", required_argument, NULL, O_READING_U},
						TOOL_IMPORT_OPTIONS,
						{"json", no_argument, NULL, O_JSON},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	struct choice w = {.o.size = sizeof(w.o), .p.size = sizeof(w.p), .form = WW_REPORT_TEXT};
	int c, rc;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		int import = tool_import_option(c);

		if (c == 'h') {
			usage(stdout);
			return TOOL_OK;
		}
		if (import < 0)
			return TOOL_USAGE;
		if (c == TOOL_IMPORT_RESOLUTION)
			w.o.resolution = strtod(optarg, NULL);
		rc = import ? 0 : take_option(c, &w, argv);
		if (rc)
			return rc;
	}
	rc = check(&w, argc - optind, argv[optind]);
	if (rc)
		return rc;
	if (w.plan && !w.tables && argc == optind)
		return plan(&w, w.list);
	return attribute(&w, argv + optind, argc - optind);
}
