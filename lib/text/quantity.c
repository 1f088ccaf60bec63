/* SPDX-License-Identifier: MIT */
/* A quantity as a person types it: a value, its unit, and what it is uncertain by. */
#include "text/csv.h"

#include <math.h>

/* Where the uncertainty begins, and how long its sign is. */
static const char *find_sign(const char *text, size_t *n)
{
	static const char *const signs[] = {"\xc2\xb1", "+/-", "+-"};

	for (size_t i = 0; i < WW_COUNTOF(signs); i++) {
		const char *p = strstr(text, signs[i]);

		if (p) {
			*n = strlen(signs[i]);
			return p;
		}
	}
	*n = 0;
	return NULL;
}

/* A number with or without its unit; blanks around it do not matter. */
static bool number(const char *p, size_t n, struct ww_num *out)
{
	while (n && (*p == ' ' || *p == '\t')) {
		p++;
		n--;
	}
	while (n && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	return n && ww_num_read(p, n, memchr(p, ',', n) && !memchr(p, '.', n), out) == WW_NUM_OK;
}

static bool is(const struct ww_num *v, const char *unit)
{
	return v->unit_n == strlen(unit) && strncmp(v->unit, unit, v->unit_n) == 0;
}

int ww_quantity_parse(const char *text, const char *dflt, struct ww_quantity *out, char *unit,
		      size_t unit_size, struct ww_error *err)
{
	struct ww_num v = {0}, u = {0};
	size_t sign;
	const char *at = find_sign(text, &sign), *name;
	size_t len;

	if (!number(text, at ? (size_t)(at - text) : strlen(text), &v))
		return ww_fail(err, -EINVAL,
			       "'%s' is no quantity; write it as 25W or 25W\xc2\xb1"
			       "0.6",
			       text);
	if (at && (!number(at + sign, strlen(at + sign), &u) || u.value < 0))
		return ww_fail(err, -EINVAL, "'%s': what follows the +- is no uncertainty", text);
	if (at && v.unit_n && u.unit_n && !is(&u, "%") &&
	    !(u.unit_n == v.unit_n && strncmp(u.unit, v.unit, v.unit_n) == 0))
		return ww_fail(err, -EINVAL, "'%s': value and uncertainty are in different units",
			       text);
	*out = (struct ww_quantity){v.value, at ? u.value : 0};
	if (at && is(&u, "%") && !is(&v, "%")) {
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
