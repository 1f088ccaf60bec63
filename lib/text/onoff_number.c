/* SPDX-License-Identifier: MIT */
/* Readings as people type them: "13.5 W", "13,5", "25 ± 0.5 W", "0.60 kWh / 24 h". */
#include "text/csv.h"
#include "text/onoff.h"

#include <math.h>

static const struct {
	const char *name, *unit;
	double scale;
} units[] = {{"W", "W", 1},    {"watt", "W", 1},  {"watts", "W", 1},  {"mW", "W", 1e-3},
	     {"kW", "W", 1e3}, {"VA", "VA", 1},	  {"kVA", "VA", 1e3}, {"V", "V", 1},
	     {"volt", "V", 1}, {"volts", "V", 1}, {"A", "A", 1},      {"mA", "A", 1e-3},
	     {"amp", "A", 1},  {"amps", "A", 1},  {"ampere", "A", 1}};

/* Milliwatts are no megawatts: prefixes keep their case, words do not. */
static bool unit_is(const char *p, size_t n, const char *name)
{
	struct ww_field f = {p, n, false};

	if (strlen(name) <= 2 && n == strlen(name) && n == 2 && (*p == 'm' || *p == 'M'))
		return memcmp(p, name, n) == 0;
	return ww_field_is(&f, name);
}

/* @return the scale into `unit`, 0 it is none of it */
static double scale_of(const char *p, size_t n, const char *unit)
{
	for (size_t i = 0; i < WW_COUNTOF(units); i++)
		if (strcmp(units[i].unit, unit) == 0 && unit_is(p, n, units[i].name))
			return units[i].scale;
	return 0;
}

static void trim(const char **p, size_t *n)
{
	struct ww_field f = ww_field_trim(*p, *n);

	*p = f.p;
	*n = f.n;
}

/* @return 1, 0 empty, -EINVAL; *unit 0: none was written */
static int one(const char *p, size_t n, const char *unit, double *value, double *step,
	       double *scale, bool *percent)
{
	struct ww_num num;
	int kind;

	trim(&p, &n);
	*percent = n > 1 && p[n - 1] == '%';
	if (*percent)
		n--, trim(&p, &n);
	kind = ww_num_read(p, n, ww_num_comma(p, n), &num);
	if (kind == WW_NUM_EMPTY || kind == WW_NUM_MISSING)
		return 0;
	if (kind != WW_NUM_OK || !isfinite(num.value))
		return -EINVAL;
	trim(&num.unit, &num.unit_n);
	*scale = num.unit_n ? scale_of(num.unit, num.unit_n, unit) : 0;
	if (num.unit_n && *scale == 0)
		return -EINVAL;
	*value = num.value;
	*step = num.decimals > 300 ? 0 : pow(10, -num.decimals);
	return 1;
}

/* "24 h", "90 min" in hours. */
static double hours(const char *p, size_t n)
{
	static const struct {
		const char *name;
		double hours;
	} times[] = {{"h", 1},		{"hours", 1}, {"min", 1 / 60.0},
		     {"s", 1 / 3600.0}, {"d", 24},    {"days", 24}};
	struct ww_num num;
	int kind;

	trim(&p, &n);
	kind = ww_num_read(p, n, ww_num_comma(p, n), &num);
	if (kind != WW_NUM_OK || !(num.value > 0))
		return 0;
	trim(&num.unit, &num.unit_n);
	for (size_t i = 0; i < WW_COUNTOF(times); i++)
		if (unit_is(num.unit, num.unit_n, times[i].name))
			return num.value * times[i].hours;
	return 0;
}

/*
 * "0.60 kWh / 24 h": what a register counted in a time. It was read twice, so that its
 * step q is in it with q/sqrt 6. @return 1, 0 it is none
 */
static int from_register(const char *p, size_t n, struct ww_onoff_number *out)
{
	const char *slash = memchr(p, '/', n);
	double h = slash ? hours(slash + 1, (size_t)(p + n - slash) - 1) : 0, k;
	struct ww_num num;
	size_t first = slash ? (size_t)(slash - p) : 0;

	if (!(h > 0))
		return 0;
	trim(&p, &first);
	if (ww_num_read(p, first, ww_num_comma(p, first), &num) != WW_NUM_OK)
		return 0;
	trim(&num.unit, &num.unit_n);
	k = unit_is(num.unit, num.unit_n, "kWh") ? 1000 : unit_is(num.unit, num.unit_n, "Wh");
	if (!(k > 0) || num.decimals > 300 || !(fabs(num.value) * k / h < 1e12))
		return 0;
	out->value = num.value * k / h;
	out->u = pow(10, -num.decimals) * k / h / sqrt(6);
	out->step = 0;
	return isfinite(out->value) && isfinite(out->u);
}

int ww_onoff_number(const char *p, size_t n, const char *unit, double scale,
		    struct ww_onoff_number *out)
{
	size_t len, at = ww_num_sign(p, n, &len);
	double u = (double)NAN, us, ustep, own;
	bool percent, value_percent;
	int rc = one(p, at, unit, &out->value, &out->step, &own, &value_percent);

	if (rc < 0 && strcmp(unit, "W") == 0 && from_register(p, n, out))
		return 1;
	out->u = (double)NAN;
	if (rc <= 0 || value_percent)
		return rc <= 0 ? rc : -EINVAL;
	if (len) {
		rc = one(p + at + len, n - at - len, unit, &u, &ustep, &us, &percent);
		if (rc <= 0 || !(u >= 0))
			return -EINVAL;
		/* "25 ± 0.5 W": the unit is of both. */
		if (own == 0 && us > 0)
			own = us;
		u = percent ? u / 100 * fabs(out->value) * (own > 0 ? own : scale)
			    : u * (us > 0    ? us
				   : own > 0 ? own
					     : scale);
	}
	if (own > 0)
		scale = own;
	out->value *= scale;
	out->step *= scale;
	out->u = u / 2;
	return isfinite(out->value) && fabs(out->value) < 1e12 && !(u > 1e12) ? 1 : -EINVAL;
}
