/* SPDX-License-Identifier: MIT */
#include "text/stamp.h"
#include "base/str.h"

struct reader {
	const char *p, *end;
};

static bool at(const struct reader *r, const char *any)
{
	return r->p < r->end && *r->p && strchr(any, *r->p);
}

/* Digits, at most `most` of them. @return how many */
static int digits(struct reader *r, int most, int *v)
{
	int n = 0;

	for (*v = 0; n < most && r->p < r->end && ww_is_digit(*r->p); n++)
		*v = *v * 10 + (*r->p++ - '0');
	return n;
}

/* Days since 1970-01-01 to a day of the Gregorian calendar. */
static int64_t days_of(int64_t year, int month, int day)
{
	/* Years begin in March, so that the leap day is the last of an era's year. */
	int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400, yoe = y - era * 400;
	int64_t doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static bool day_exists(int year, int month, int day)
{
	static const int last[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return year >= 1 && month >= 1 && month <= 12 && day >= 1 &&
	       day <= last[month - 1] + (month == 2 && leap);
}

/* Three numbers with the same separator between them, or eight digits. */
static bool read_date(struct reader *r, int order, struct ww_stamp *out)
{
	int a, b, c, n = digits(r, 8, &a), nc;
	char sep;

	if (n == 8) {
		out->ns = days_of(a / 10000, a / 100 % 100, a % 100);
		return day_exists(a / 10000, a / 100 % 100, a % 100);
	}
	if ((n != 4 && (n < 1 || n > 2)) || !at(r, "-/."))
		return false;
	sep = *r->p++;
	if (digits(r, 2, &b) < 1 || r->p == r->end || *r->p != sep)
		return false;
	r->p++;
	nc = digits(r, 4, &c);
	if (n == 4) {
		if (nc < 1 || nc > 2 || !day_exists(a, b, c))
			return false;
		out->ns = days_of(a, b, c);
		return true;
	}
	if (nc != 4 && nc != 2)
		return false;
	c += nc == 2 ? 2000 : 0;
	out->first = (int8_t)a;
	out->second = (int8_t)b;
	if (order == WW_DATE_MDY) {
		n = a;
		a = b;
		b = n;
	}
	if (!day_exists(c, b, a))
		return false;
	out->ns = days_of(c, b, a);
	return true;
}

static bool read_fraction(struct reader *r, int64_t *ns, struct ww_stamp *out)
{
	int64_t unit = WW_NS_PER_S;

	if (!at(r, ".,"))
		return true;
	r->p++;
	if (r->p == r->end || !ww_is_digit(*r->p))
		return false;
	for (; r->p < r->end && ww_is_digit(*r->p); r->p++) {
		unit /= 10;
		*ns += unit * (*r->p - '0');
		if (out->digits < 9)
			out->digits++;
	}
	return true;
}

static bool read_noon(struct reader *r, int *hour, struct ww_stamp *out)
{
	const char *p = r->p;
	bool after;

	while (p < r->end && *p == ' ')
		p++;
	if (r->end - p < 2 || (p[1] | 0x20) != 'm' ||
	    ((p[0] | 0x20) != 'a' && (p[0] | 0x20) != 'p'))
		return true;
	after = (p[0] | 0x20) == 'p';
	if (*hour < 1 || *hour > 12)
		return false;
	*hour = *hour % 12 + (after ? 12 : 0);
	out->noon = true;
	r->p = p + 2;
	return true;
}

/* HH:MM, HH:MM:SS, HHMMSS with decimals. */
static bool read_clock(struct reader *r, struct ww_stamp *out)
{
	int h, m, s = 0, n = digits(r, 6, &h);
	int64_t ns = 0;

	out->digits = -1;
	if (n == 6) {
		s = h % 100;
		m = h / 100 % 100;
		h /= 10000;
		out->digits = 0;
	} else {
		if (n < 1 || n > 2 || !at(r, ":"))
			return false;
		r->p++;
		if (digits(r, 2, &m) != 2)
			return false;
		if (at(r, ":")) {
			r->p++;
			if (digits(r, 2, &s) != 2)
				return false;
			out->digits = 0;
		}
	}
	if (out->digits == 0 && !read_fraction(r, &ns, out))
		return false;
	if (!read_noon(r, &h, out) || h > 24 || m > 59 || s > 60 || (h == 24 && (m || s || ns)))
		return false;
	out->ns += ((int64_t)h * 3600 + m * 60 + s) * WW_NS_PER_S + ns;
	return true;
}

/* Z, UTC, GMT, +01, +0100, +01:00. */
static bool read_zone(struct reader *r, struct ww_stamp *out)
{
	int h, m = 0, n;
	bool minus;

	while (r->p < r->end && *r->p == ' ')
		r->p++;
	if (r->p == r->end)
		return true;
	out->zoned = true;
	if (r->end - r->p == 1 && (*r->p == 'Z' || *r->p == 'z'))
		return true;
	if (r->end - r->p == 3 && (memcmp(r->p, "UTC", 3) == 0 || memcmp(r->p, "GMT", 3) == 0))
		return true;
	if (!at(r, "+-"))
		return false;
	minus = *r->p++ == '-';
	n = digits(r, 4, &h);
	if (n == 4) {
		m = h % 100;
		h /= 100;
	} else if (n != 2) {
		return false;
	} else if (at(r, ":")) {
		r->p++;
		if (digits(r, 2, &m) != 2)
			return false;
	}
	if (r->p != r->end || h > 14 || m > 59)
		return false;
	out->offset_s = (h * 3600 + m * 60) * (minus ? -1 : 1);
	out->ns -= out->offset_s * WW_NS_PER_S;
	return true;
}

bool ww_stamp_read(const char *p, size_t n, int order, struct ww_stamp *out)
{
	struct reader r = {p, p + n}, back = r;

	*out = (struct ww_stamp){.digits = -1};
	if (n < 5 || n > 64 || !ww_is_digit(*p))
		return false;
	out->dated = read_date(&r, order, out);
	if (out->dated) {
		/* Beyond this the nanoseconds of a day would not fit. */
		if (out->ns < -106000 || out->ns > 106000)
			return false;
		out->ns *= 86400 * WW_NS_PER_S;
		if (r.p == r.end)
			return true;
		if (*r.p != ' ' && *r.p != 'T' && *r.p != 't' && *r.p != '-' && *r.p != '_')
			return false;
		for (r.p++; r.p < r.end && *r.p == ' ';)
			r.p++;
	} else {
		*out = (struct ww_stamp){.digits = -1};
		r = back;
	}
	out->clocked = read_clock(&r, out);
	return out->clocked && read_zone(&r, out);
}
