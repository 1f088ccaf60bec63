/* SPDX-License-Identifier: MIT */
/* The options of pwrlog runtime: quantities with units, each checked where it is read. */
#include "pwrlog-runtime.h"

#include <stdlib.h>
#include <string.h>

/* A quantity in one of the units that are allowed; *which tells which it was. */
static int quantity(const char *option, const char *text, const char *const *units,
		    struct ww_quantity *out, int *which)
{
	struct ww_error err = {0};
	char unit[16];

	if (ww_quantity_parse(text, units[0], out, unit, sizeof(unit), &err) < 0)
		return tool_usage_error("%s: %s", option, err.text);
	for (int i = 0; units[i]; i++) {
		if (strcmp(unit, units[i]) != 0)
			continue;
		if (!(out->value > 0))
			return tool_usage_error("%s: '%s' is not above 0", option, text);
		/* A person who writes 25W+-0.6 means to be sure of it: k = 2. */
		out->u /= 2;
		if (which)
			*which = i;
		return 0;
	}
	return tool_usage_error("%s: '%s' is not in %s", option, text,
				*units[0] ? units[0] : "parts of one, or %");
}

static int watts(const char *option, const char *text, struct ww_quantity *out)
{
	static const char *const units[] = {"W", "kW", "mW", NULL};
	static const double factor[] = {1, 1000, 0.001};
	int which = 0, rc = quantity(option, text, units, out, &which);

	out->value *= factor[which];
	out->u *= factor[which];
	return rc;
}

static int part(const char *option, const char *text, struct ww_quantity *out)
{
	static const char *const units[] = {"", "%", NULL};
	int which = 0, rc = quantity(option, text, units, out, &which);

	out->value /= which ? 100 : 1;
	out->u /= which ? 100 : 1;
	if (rc == 0 && out->value > 1.2)
		return tool_usage_error("%s: '%s' is more than the whole; 80%% or 0.8", option,
					text);
	return rc;
}

static int plain(const char *option, const char *text, const char *unit, struct ww_quantity *out)
{
	const char *units[] = {unit, NULL};

	return quantity(option, text, units, out, NULL);
}

static int hours(const char *option, const char *text, double *out)
{
	struct ww_error err = {0};
	int64_t ns;

	if (ww_duration_parse(text, &ns, &err) < 0)
		return tool_usage_error("%s: %s", option, err.text);
	if (ns <= 0)
		return tool_usage_error("%s: '%s' is not above 0", option, text);
	if (strspn(text, "0123456789.") == strlen(text))
		return tool_usage_error("%s: '%s' has no unit: %sh or %smin?", option, text, text,
					text);
	*out = (double)ns / 3.6e12;
	return 0;
}

static int number(const char *option, const char *text, uint32_t *out)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (*end || end == text || *text == '-' || v < 1 || v > 1000)
		return tool_usage_error("%s: '%s' is not a number of batteries", option, text);
	*out = (uint32_t)v;
	return 0;
}

/* "W" or "VA" as the unit tells. */
static int rating(const char *text, struct ww_runtime_options *o)
{
	static const char *const units[] = {"W", "VA", NULL};
	struct ww_quantity q;
	int which = 0, rc = quantity("--rating", text, units, &q, &which);

	if (rc == 0)
		*(which ? &o->rating_VA : &o->rating_W) = q.value;
	return rc;
}

/* 10C, -5C, 10°C, or the part of the capacity. */
static int temperature(const char *text, struct ww_runtime_options *o)
{
	struct ww_error err = {0};
	struct ww_quantity q;
	char unit[16];

	if (ww_quantity_parse(text, "", &q, unit, sizeof(unit), &err) < 0)
		return tool_usage_error("--temperature: %s", err.text);
	if (strcmp(unit, "C") == 0 || strcmp(unit, "\xc2\xb0"
						   "C") == 0) {
		if (q.value < -60 || q.value > 100)
			return tool_usage_error("--temperature: no battery works at '%s'", text);
		o->celsius = (struct ww_quantity){q.value, q.u / 2};
		o->has_celsius = 1;
		return 0;
	}
	if (!*unit && q.value > 1.2)
		return tool_usage_error("--temperature: '%s': write degrees as 10C, a part as 0.9",
					text);
	return part("--temperature", text, &o->temperature);
}

/* 48min@25W */
static int measured(const char *text, struct runtime_options *opt)
{
	static const char *const units[] = {"min", "m", "h", "s", NULL};
	static const double minutes[] = {1, 1, 60, 1 / 60.0};
	struct ww_runtime_point *p = &opt->point[opt->o.points];
	const char *at = strchr(text, '@');
	char *time = at ? strndup(text, (size_t)(at - text)) : NULL;
	int which = 0, rc;

	if (!time)
		return tool_usage_error("--measured: '%s' is not a time at a load, as in 48min@25W",
					text);
	if (opt->o.points == POINTS) {
		free(time);
		return tool_usage_error("--measured: at most %d", POINTS);
	}
	rc = quantity("--measured", time, units, &p->minutes, &which);
	p->minutes.value *= minutes[which];
	p->minutes.u *= minutes[which];
	if (rc == 0)
		rc = watts("--measured", at + 1, &p->watts);
	opt->o.points += rc == 0;
	opt->o.measured = opt->point;
	free(time);
	return rc;
}

static int chemistry(const char *text, int32_t *out)
{
	static const char *const names[] = {"lead", "lifepo4", "liion"};

	for (int i = 0; i < 3; i++) {
		if (strcmp(text, names[i]) == 0) {
			*out = i;
			return 0;
		}
	}
	return tool_usage_error("--chemistry: lead, lifepo4 or liion, not '%s'", text);
}

enum {
	LOAD = 256,
	VA,
	PF,
	PEAK,
	RATING,
	CHANNEL,
	FROM,
	TO,
	BETWEEN,
	TABLE,
	TABLE_UNIT,
	MODEL,
	MEASURED,
	CAPACITY,
	VOLTS,
	SERIES,
	PARALLEL,
	CHEMISTRY,
	RATED,
	PEUKERT,
	EFFICIENCY,
	OWN,
	DC,
	DEPTH,
	AGEING,
	TEMPERATURE,
	FOR,
	JSON
};

static int option_load(int c, struct runtime_options *opt)
{
	struct ww_quantity q;
	int rc = 0;

	switch (c) {
	case LOAD:
		return watts("--load", optarg, &opt->o.watts);
	case VA:
		return plain("--va", optarg, "VA", &opt->o.va);
	case PF:
		return part("--pf", optarg, &opt->o.pf);
	case PEAK:
		rc = watts("--peak", optarg, &q);
		opt->o.peak_W = rc ? 0 : q.value;
		return rc;
	case RATING:
		return rating(optarg, &opt->o);
	case CHANNEL:
		opt->channel = optarg;
		return 0;
	case FROM:
		opt->window.from = optarg;
		return 0;
	case TO:
		opt->window.to = optarg;
		return 0;
	case BETWEEN:
		opt->window.between = optarg;
		return 0;
	default:
		return -1;
	}
}

static int option_battery(int c, struct runtime_options *opt)
{
	struct ww_runtime_options *o = &opt->o;

	switch (c) {
	case CAPACITY:
		return plain("--capacity", optarg, "Ah", &o->capacity_Ah);
	case VOLTS:
		return plain("--volts", optarg, "V", &o->volts);
	case SERIES:
		return number("--series", optarg, &o->series);
	case PARALLEL:
		return number("--parallel", optarg, &o->parallel);
	case CHEMISTRY:
		return chemistry(optarg, &o->chemistry);
	case RATED:
		return hours("--rated", optarg, &o->rated_h);
	case PEUKERT:
		return plain("--peukert", optarg, "", &o->peukert);
	case EFFICIENCY:
		return part("--efficiency", optarg, &o->efficiency);
	case OWN:
		return watts("--own", optarg, &o->own_W);
	case DC:
		o->direct = 1;
		return 0;
	case DEPTH:
		return part("--depth", optarg, &o->depth);
	case AGEING:
		return part("--ageing", optarg, &o->ageing);
	case TEMPERATURE:
		return temperature(optarg, o);
	case FOR:
		return hours("--for", optarg, &o->wanted_h.value);
	default:
		return -1;
	}
}

const struct option runtime_long_options[] = {{"load", required_argument, NULL, LOAD},
					      {"va", required_argument, NULL, VA},
					      {"pf", required_argument, NULL, PF},
					      {"peak", required_argument, NULL, PEAK},
					      {"rating", required_argument, NULL, RATING},
					      {"channel", required_argument, NULL, CHANNEL},
					      {"from", required_argument, NULL, FROM},
					      {"to", required_argument, NULL, TO},
					      {"between", required_argument, NULL, BETWEEN},
					      {"table", required_argument, NULL, TABLE},
					      {"table-unit", required_argument, NULL, TABLE_UNIT},
					      {"model", required_argument, NULL, MODEL},
					      {"measured", required_argument, NULL, MEASURED},
					      {"capacity", required_argument, NULL, CAPACITY},
					      {"volts", required_argument, NULL, VOLTS},
					      {"series", required_argument, NULL, SERIES},
					      {"parallel", required_argument, NULL, PARALLEL},
					      {"chemistry", required_argument, NULL, CHEMISTRY},
					      {"rated", required_argument, NULL, RATED},
					      {"peukert", required_argument, NULL, PEUKERT},
					      {"efficiency", required_argument, NULL, EFFICIENCY},
					      {"own", required_argument, NULL, OWN},
					      {"dc", no_argument, NULL, DC},
					      {"depth", required_argument, NULL, DEPTH},
					      {"ageing", required_argument, NULL, AGEING},
					      {"temperature", required_argument, NULL, TEMPERATURE},
					      {"for", required_argument, NULL, FOR},
					      TOOL_IMPORT_OPTIONS,
					      {"json", no_argument, NULL, JSON},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};

int runtime_option(int c, char **argv, struct runtime_options *opt)
{
	int rc = option_load(c, opt);

	if (rc < 0)
		rc = option_battery(c, opt);
	if (rc >= 0)
		return rc;
	switch (c) {
	case TABLE:
		opt->table = optarg;
		return 0;
	case TABLE_UNIT:
		opt->table_unit = optarg;
		return strcmp(optarg, "VA") == 0 || strcmp(optarg, "W") == 0
			       ? 0
			       : tool_usage_error("--table-unit: W or VA, not '%s'", optarg);
	case MODEL:
		opt->o.model = optarg;
		return 0;
	case MEASURED:
		return measured(optarg, opt);
	case JSON:
		opt->form = WW_REPORT_JSON;
		return 0;
	default:
		return tool_bad_option(c, argv);
	}
}
