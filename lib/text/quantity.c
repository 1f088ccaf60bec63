/* SPDX-License-Identifier: MIT */
/* A quantity as a person types it: a value, its unit, and what it is uncertain by. */
#include "text/csv.h"

#include <math.h>

/* A number with or without its unit; blanks around it do not matter. */
static bool number(const char *p, size_t n, struct ww_num *out)
{
	struct ww_field f = ww_field_trim(p, n);

	return f.n && ww_num_read(f.p, f.n, ww_num_comma(f.p, f.n), out) == WW_NUM_OK;
}

static bool is(const struct ww_num *v, const char *unit)
{
	return v->unit_n == strlen(unit) && strncmp(v->unit, unit, v->unit_n) == 0;
}

int ww_quantity_parse(const char *text, const char *dflt, struct ww_quantity *out, char *unit,
		      size_t unit_size, struct ww_error *err)
{
	struct ww_num v = {0}, u = {0};
	size_t n = strlen(text), sign, at = ww_num_sign(text, n, &sign), len;
	const char *name;

	if (!number(text, at, &v))
		return ww_fail(err, -EINVAL,
			       "'%s' is no quantity; write it as 25W or 25W\xc2\xb1"
			       "0.6",
			       text);
	if (sign && (!number(text + at + sign, n - at - sign, &u) || u.value < 0))
		return ww_fail(err, -EINVAL, "'%s': what follows the +- is no uncertainty", text);
	if (sign && v.unit_n && u.unit_n && !is(&u, "%") &&
	    !(u.unit_n == v.unit_n && strncmp(u.unit, v.unit, v.unit_n) == 0))
		return ww_fail(err, -EINVAL, "'%s': value and uncertainty are in different units",
			       text);
	*out = (struct ww_quantity){v.value, sign ? u.value : 0};
	if (sign && is(&u, "%") && !is(&v, "%")) {
		out->u = fabs(v.value) * u.value / 100;
		u.unit_n = 0;
	}
	name = v.unit_n ? v.unit : u.unit_n ? u.unit : dflt;
	len = v.unit_n ? v.unit_n : u.unit_n ? u.unit_n : strlen(dflt);
	if (len >= unit_size)
		return ww_fail(err, -EINVAL, "'%s': no unit that is known", text);
	memcpy(unit, name, len);
	unit[len] = '\0';
	return 0;
}
