/* SPDX-License-Identifier: MIT */
#include "base/str.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void ww_str_free(struct ww_str *s)
{
	free(s->p);
	*s = (struct ww_str){0};
}

void ww_str_reset(struct ww_str *s)
{
	s->n = 0;
	if (s->p)
		s->p[0] = '\0';
}

static bool reserve(struct ww_str *s, size_t more)
{
	size_t cap = s->cap ? s->cap : 64;
	char *p;

	if (s->bad || more > SIZE_MAX / 4 - s->n) {
		s->bad = true;
		return false;
	}
	if (s->n + more + 1 <= s->cap)
		return true;
	while (cap < s->n + more + 1)
		cap *= 2;
	p = realloc(s->p, cap);
	if (!p) {
		s->bad = true;
		return false;
	}
	s->p = p;
	s->cap = cap;
	return true;
}

void ww_str_addn(struct ww_str *s, const char *text, size_t n)
{
	if (!reserve(s, n))
		return;
	if (n)
		memcpy(s->p + s->n, text, n);
	s->n += n;
	s->p[s->n] = '\0';
}

void ww_str_add(struct ww_str *s, const char *text)
{
	ww_str_addn(s, text, strlen(text));
}

void ww_str_addf(struct ww_str *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		s->bad = true;
	if (n < 0 || !reserve(s, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(s->p + s->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	s->n += (size_t)n;
}

int ww_str_take(struct ww_str *s, char **out, struct ww_error *err)
{
	ww_str_addn(s, "", 0);
	if (s->bad) {
		ww_str_free(s);
		return ww_fail_nomem(err);
	}
	*out = s->p;
	*s = (struct ww_str){0};
	return 0;
}

/* printf follows LC_NUMERIC of the embedding program: put the point back. */
static void unlocalise(char *buf)
{
	const char *point = localeconv()->decimal_point;
	char *at;

	if (strcmp(point, ".") == 0)
		return;
	at = strstr(buf, point);
	if (at) {
		size_t n = strlen(point);

		*at = '.';
		memmove(at + 1, at + n, strlen(at + n) + 1);
	}
}

void ww_fixed_text(char *buf, size_t n, double v, int decimals)
{
	if (isnan(v)) {
		snprintf(buf, n, "nan");
		return;
	}
	snprintf(buf, n, "%.*f", decimals < 0 ? 0 : decimals > 18 ? 18 : decimals, v);
	unlocalise(buf);
	/* No minus zero. */
	if (buf[0] == '-' && strspn(buf + 1, "0.") == strlen(buf + 1))
		memmove(buf, buf + 1, strlen(buf));
}

void ww_str_fixed(struct ww_str *s, double v, int decimals)
{
	char buf[400];

	ww_fixed_text(buf, sizeof(buf), v, decimals);
	ww_str_add(s, buf);
}

void ww_num_text(char *buf, size_t n, double v)
{
	if (isnan(v)) {
		snprintf(buf, n, "nan");
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(buf, n, "%.*g", digits, v);
		unlocalise(buf);
		if (ww_strtod(buf, NULL) == v)
			break;
	}
	/* Nobody writes 600 as 6e+02; these digits are all of it. */
	if (fabs(v) < 1e15 && strchr(buf, 'e') && floor(v) == v)
		snprintf(buf, n, "%.0f", v);
}

void ww_str_num(struct ww_str *s, double v)
{
	char buf[64];

	ww_num_text(buf, sizeof(buf), v);
	ww_str_add(s, buf);
}

/* Power of ten of the first digit of u once it is rounded to two digits. */
static int magnitude(double u)
{
	char buf[40];

	/* 0.0996 becomes 0.10: printf knows without a logarithm that may be off by one. */
	snprintf(buf, sizeof(buf), "%.1e", u);
	return (int)strtol(strchr(buf, 'e') + 1, NULL, 10);
}

int ww_decimals_for(double u, int fallback)
{
	int d;

	if (!isfinite(u) || u <= 0.0)
		return fallback;
	d = 1 - magnitude(u);
	return d < 0 ? 0 : d > 12 ? 12 : d;
}

double ww_round_for(double v, double u)
{
	double unit = 1;

	if (!isfinite(v) || !isfinite(u) || u <= 0.0)
		return v;
	for (int m = magnitude(u) - 1; m > 0; m--)
		unit *= 10;
	return unit > 1 ? round(v / unit) * unit : v;
}

/* Days since 1970-01-01 to a date of the Gregorian calendar, for years 1 to 9999 and beyond. */
static void civil(int64_t days, int64_t *year, int *month, int *day)
{
	/* Years begin in March, so that the leap day is the last of an era's year. */
	int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;

	*day = (int)(doy - (153 * mp + 2) / 5 + 1);
	*month = (int)(mp < 10 ? mp + 3 : mp - 9);
	*year = yoe + era * 400 + (*month <= 2);
}

void ww_str_time(struct ww_str *s, int64_t real_ns, int32_t offset_s)
{
	int64_t sec = real_ns / WW_NS_PER_S, ns = real_ns % WW_NS_PER_S, days, left, year;
	int month, day, off = offset_s < 0 ? -offset_s : offset_s;

	if (ns < 0) {
		ns += WW_NS_PER_S;
		sec--;
	}
	sec += offset_s;
	days = sec / 86400;
	left = sec % 86400;
	if (left < 0) {
		left += 86400;
		days--;
	}
	civil(days, &year, &month, &day);
	ww_str_addf(s, "%04lld-%02d-%02dT%02d:%02d:%02d.%03d%c%02d:%02d", (long long)year, month,
		    day, (int)(left / 3600), (int)(left / 60 % 60), (int)(left % 60),
		    (int)(ns / WW_NS_PER_MS), offset_s < 0 ? '-' : '+', off / 3600 % 100,
		    off / 60 % 60);
}

double ww_strtod(const char *s, const char **end)
{
	/* Any double in fixed notation; longer texts are no numbers of ours. */
	enum { MOST = 800 };
	const char *point = localeconv()->decimal_point;
	char buf[MOST + 16], *stop, *dot = NULL;
	size_t skip = strspn(s, " \t\n\v\f\r"), more = strlen(point), n = 0, used;
	double v;

	if (more > 8)
		more = 1;
	for (const char *p = s + skip; n < MOST && *p; p++) {
		/* Letters: e, inf, nan; not the x of hexadecimals. */
		if (*p == '.' && !dot) {
			dot = buf + n;
			memcpy(dot, more == 1 && strlen(point) > 1 ? "." : point, more);
			n += more;
		} else if ((*p >= '0' && *p <= '9') || *p == '+' || *p == '-' ||
			   strchr("einfatyEINFATY", *p)) {
			buf[n++] = *p;
		} else {
			break;
		}
	}
	buf[n] = '\0';
	v = strtod(buf, &stop);
	used = (size_t)(stop - buf);
	if (dot && stop > dot)
		used -= more - 1;
	if (n >= MOST) {
		used = 0;
		v = NAN;
	}
	if (end)
		*end = used ? s + skip + used : s;
	return v;
}

void ww_str_csv(struct ww_str *s, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		ww_str_add(s, text);
		return;
	}
	ww_str_add(s, "\"");
	for (const char *p = text; *p; p++) {
		if (*p == '"')
			ww_str_add(s, "\"");
		ww_str_addn(s, p, 1);
	}
	ww_str_add(s, "\"");
}
