/* SPDX-License-Identifier: MIT */
#include "meter/sysval.h"
#include "base/str.h"

#include <stdio.h>

#define PATIENCE_NS (5 * WW_NS_PER_S)
/* A question that the loop asked a little late is no loss. */
#define LATE_NS (100 * WW_NS_PER_MS)

bool ww_sysline_next(const char **p, const char *end, struct ww_sysline *out)
{
	while (*p < end) {
		const char *line = *p, *stop = memchr(line, '\n', (size_t)(end - line));
		const char *c = line;

		if (!stop)
			stop = end;
		*p = stop + (stop < end);
		while (c < stop && *c != '=' && *c != '!' &&
		       !(*c == ':' && c + 1 < stop && c[1] == '='))
			c++;
		if (c == stop && (c == line || c[-1] != '/'))
			continue;
		*out = (struct ww_sysline){.name = line, .name_n = (size_t)(c - line), .kind = '/'};
		if (c < stop) {
			out->kind = *c;
			c += *c == ':' ? 2 : 1;
			out->value = c;
			out->n = (size_t)(stop - c);
		} else {
			out->name_n--;
			out->value = "";
		}
		return true;
	}
	return false;
}

bool ww_sysline_is(const struct ww_sysline *l, const char *name)
{
	return strlen(name) == l->name_n && memcmp(l->name, name, l->name_n) == 0;
}

bool ww_sysline_find(const char *text, size_t n, const char *name, struct ww_sysline *out)
{
	const char *p = text, *end = text + n;

	while (ww_sysline_next(&p, end, out))
		if (ww_sysline_is(out, name))
			return true;
	*out = (struct ww_sysline){.name = "", .value = "", .kind = '!'};
	return false;
}

bool ww_sysline_nth(const struct ww_sysline *l, const char *begin, const char *end,
		    unsigned *number)
{
	size_t b = strlen(begin), e = strlen(end), i = b;

	if (l->name_n <= b + e || memcmp(l->name, begin, b) != 0 ||
	    memcmp(l->name + l->name_n - e, end, e) != 0)
		return false;
	for (*number = 0; i < l->name_n - e && ww_is_digit(l->name[i]) && *number < 100000; i++)
		*number = 10 * *number + (unsigned)(l->name[i] - '0');
	return i == l->name_n - e;
}

void ww_sysline_text(const struct ww_sysline *l, char *out, size_t n)
{
	ww_plain(out, n, l->value ? l->value : "", l->n);
}

void ww_sysline_why(const struct ww_sysline *l, char *out, size_t n)
{
	ww_sysline_text(l, out, n);
	if (!*out)
		ww_plain(out, n, "empty", 5);
}

void ww_sysline_value(const char *text, size_t n, const char *name, char *out, size_t size)
{
	struct ww_sysline l;

	out[0] = '\0';
	if (ww_sysline_find(text, n, name, &l) && l.kind == '=')
		ww_sysline_text(&l, out, size);
}

bool ww_sysline_int(const struct ww_sysline *l, int64_t *out)
{
	char text[24], *end;
	int64_t v;
	size_t i = 0;

	if (l->kind != '=' || !l->n || l->n >= sizeof(text))
		return false;
	memcpy(text, l->value, l->n);
	text[l->n] = '\0';
	if (text[i] == '-' || text[i] == '+')
		i++;
	if (!ww_is_digit(text[i]))
		return false;
	errno = 0;
	v = strtoll(text, &end, 10);
	/* What a double cannot hold exactly is no measured value. */
	if (*end || errno || v > WW_SYSVAL_MOST || v < -WW_SYSVAL_MOST)
		return false;
	*out = v;
	return true;
}

bool ww_sysline_num(const struct ww_sysline *l, double *out)
{
	char text[64];
	const char *end;

	if (l->kind != '=' || !l->n || l->n >= sizeof(text))
		return false;
	memcpy(text, l->value, l->n);
	text[l->n] = '\0';
	*out = ww_strtod(text, &end);
	return end != text && !*end && *out > -1e300 && *out < 1e300;
}

/* ------------------------------------------------------------------------ pace */

void ww_sysask_init(struct ww_sysask *a, int64_t every_ns)
{
	*a = (struct ww_sysask){.every_ns = every_ns, .next_ns = WW_TIME_MAX};
}

void ww_sysask_start(struct ww_sysask *a, int64_t now_ns)
{
	a->next_ns = now_ns;
	a->waiting = false;
}

int64_t ww_sysask_deadline(const struct ww_sysask *a)
{
	return a->waiting ? a->until_ns : a->next_ns;
}

static int64_t patience(const struct ww_sysask *a)
{
	return a->every_ns > PATIENCE_NS / 3 ? ww_add_sat(3 * a->every_ns, 0) : PATIENCE_NS;
}

static int64_t reading_ns(const struct ww_sysask *a)
{
	return a->reads > 1 ? a->every_ns * a->reads : a->every_ns;
}

static void lost(struct ww_sysask *a, int64_t to_ns, int64_t less, const char *why,
		 const struct ww_meter_out *out)
{
	int64_t from = a->told ? a->told_ns : a->last_ns;
	int64_t each = reading_ns(a);
	int64_t n = ww_add_sat(ww_since(to_ns, a->last_ns), each / 2) / each - less - a->told;

	if (!a->has_last || n <= 0 || from >= to_ns)
		return;
	out->loss(out->ctx, (struct ww_interval){from, to_ns}, n, why);
	a->told += n;
	a->told_ns = to_ns;
}

bool ww_sysask_due(struct ww_sysask *a, int64_t now_ns, const struct ww_meter_out *out)
{
	if (now_ns < ww_sysask_deadline(a))
		return false;
	if (a->waiting)
		lost(a, now_ns, 0, "silent", out);
	else if (a->why[0] && /* what is asked now may be good */
		 ww_since(now_ns, a->told ? a->told_ns : a->last_ns) >= patience(a))
		lost(a, now_ns, 1, "unreadable", out);
	if (ww_since(now_ns, a->next_ns) >= a->every_ns)
		a->next_ns = now_ns;
	a->next_ns = ww_add_sat(a->next_ns, a->every_ns);
	a->waiting = true;
	a->until_ns = ww_add_sat(now_ns, patience(a));
	return true;
}

void ww_sysask_good(struct ww_sysask *a, struct ww_interval t, const struct ww_meter_out *out)
{
	a->waiting = false;
	if (a->why[0])
		ww_meter_tell(out, t, "readable again, after %s", a->why);
	if (ww_since(t.lo_ns, a->last_ns) > 2 * reading_ns(a) + LATE_NS)
		lost(a, t.lo_ns, 1, a->why[0] ? "unreadable" : a->told ? "silent" : "slow", out);
	a->why[0] = '\0';
	a->has_last = true;
	a->last_ns = t.hi_ns;
	a->told = 0;
}

void ww_sysask_bad(struct ww_sysask *a, struct ww_interval t, const char *why,
		   const struct ww_meter_out *out)
{
	a->waiting = false;
	if (strcmp(a->why, why) != 0)
		ww_meter_tell(out, t, "cannot be read: %s", why);
	snprintf(a->why, sizeof(a->why), "%.20s", why);
}
