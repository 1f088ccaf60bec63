/* SPDX-License-Identifier: MIT */
#include "base/uri.h"
#include "base/str.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void unescape(char *s)
{
	char *w = s;

	for (; *s; s++) {
		if (*s == '%' && hex(s[1]) >= 0 && hex(s[2]) >= 0 && (s[1] != '0' || s[2] != '0')) {
			*w++ = (char)(hex(s[1]) * 16 + hex(s[2]));
			s += 2;
		} else {
			*w++ = *s;
		}
	}
	*w = '\0';
}

static int parse_options(const char *place, char *q, struct ww_uri *out, struct ww_error *err)
{
	while (q && *q) {
		char *next = strchr(q, '&'), *eq;

		if (next)
			*next++ = '\0';
		if (*q) {
			if (out->options == WW_URI_OPTIONS)
				return ww_fail(err, -EINVAL, "%s: more than %d options", place,
					       WW_URI_OPTIONS);
			eq = strchr(q, '=');
			if (eq)
				*eq++ = '\0';
			else
				eq = q + strlen(q);
			unescape(eq);
			out->option[out->options].key = q;
			out->option[out->options++].value = eq;
		}
		q = next;
	}
	return 0;
}

int ww_uri_parse(const char *text, struct ww_uri *out, struct ww_error *err)
{
	size_t n = 0;
	char *rest;
	int rc;

	*out = (struct ww_uri){.driver = "", .place = ""};
	if (!*text)
		return ww_fail(err, -EINVAL, "an empty URI names no source");
	out->text = strdup(text);
	if (!out->text)
		return ww_fail_nomem(err);
	rest = out->text;
	while (isalnum((unsigned char)rest[n]) || rest[n] == '_' || rest[n] == '-')
		n++;
	if (n && rest[n] == ':') {
		rest[n] = '\0';
		out->driver = rest;
		rest += n + 1;
	}
	out->place = rest;
	rest = strchr(rest, '?');
	if (rest)
		*rest++ = '\0';
	rc = parse_options(out->place, rest, out, err);
	unescape((char *)(uintptr_t)out->place);
	if (rc < 0)
		ww_uri_free(out);
	return rc;
}

void ww_uri_free(struct ww_uri *u)
{
	free(u->text);
	*u = (struct ww_uri){.driver = "", .place = ""};
}

static void note_asked(struct ww_uri *u, const char *key)
{
	size_t k = strlen(key), n = strlen(u->asked);

	for (const char *p = u->asked; *p; p += strspn(p, ", ")) {
		size_t word = strcspn(p, ",");

		if (word == k && memcmp(p, key, k) == 0)
			return;
		p += word;
	}
	if (n + k + 3 <= sizeof(u->asked))
		snprintf(u->asked + n, sizeof(u->asked) - n, "%s%s", n ? ", " : "", key);
}

const char *ww_uri_get(struct ww_uri *u, const char *key, const char *dflt)
{
	const char *v = dflt;

	note_asked(u, key);
	for (size_t i = 0; i < u->options; i++) {
		if (strcmp(u->option[i].key, key) == 0) {
			u->option[i].used = u->option[i].single = true;
			v = u->option[i].value;
		}
	}
	return v;
}

/* What the user wrote in front of the options. */
static const char *label(const struct ww_uri *u)
{
	return *u->driver ? u->driver : u->place;
}

int ww_uri_num(struct ww_uri *u, const char *key, double lo, double hi, double *value,
	       struct ww_error *err)
{
	const char *v = ww_uri_get(u, key, NULL), *end;
	double d;

	if (!v)
		return 0;
	d = ww_strtod(v, &end);
	if (end == v || *end || !(d >= lo && d <= hi)) {
		char a[32], b[32];

		ww_num_text(a, sizeof(a), lo);
		ww_num_text(b, sizeof(b), hi);
		return ww_fail(err, -EINVAL, "%s: option %s=%s: expected a number from %s to %s",
			       label(u), key, v, a, b);
	}
	*value = d;
	return 1;
}

int ww_uri_int(struct ww_uri *u, const char *key, int64_t lo, int64_t hi, int64_t *value,
	       struct ww_error *err)
{
	const char *v = ww_uri_get(u, key, NULL);
	char *end;
	long long d;

	if (!v)
		return 0;
	errno = 0;
	/* 010 is ten: nobody means octal here. */
	d = strtoll(v, &end, strncasecmp(v, "0x", 2) == 0 ? 16 : 10);
	if (end == v || *end || errno || d < lo || d > hi)
		return ww_fail(err, -EINVAL,
			       "%s: option %s=%s: expected a whole number from %lld to %lld",
			       label(u), key, v, (long long)lo, (long long)hi);
	*value = d;
	return 1;
}

int ww_uri_usb_id(struct ww_uri *u, const char *key, int64_t *value, struct ww_error *err)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *v = ww_uri_get(u, key, NULL), *p = v;
	size_t n;

	if (!v)
		return 0;
	p += strncasecmp(p, "0x", 2) == 0 ? 2 : 0;
	n = strspn(p, digits);
	if (n < 1 || n > 4 || p[n])
		return ww_fail(err, -EINVAL,
			       "%s: option %s=%s: expected four hexadecimal digits, as lsusb "
			       "prints them",
			       label(u), key, v);
	*value = strtol(p, NULL, 16);
	return 1;
}

int ww_uri_dur(struct ww_uri *u, const char *key, int64_t *ns, struct ww_error *err)
{
	const char *v = ww_uri_get(u, key, NULL);

	if (!v)
		return 0;
	if (ww_duration_parse(v, ns, NULL) < 0)
		return ww_fail(err, -EINVAL,
			       "%s: option %s=%s: expected a duration such as 500ms, 2s or 1m30s",
			       label(u), key, v);
	return 1;
}

int ww_uri_check_used(const struct ww_uri *u, const char *known, struct ww_error *err)
{
	for (size_t i = 0; i < u->options; i++) {
		const char *key = u->option[i].key;

		if (!u->option[i].used)
			return ww_fail(err, -EINVAL, "%s: unknown option %s (known: %s)", label(u),
				       key, known ? known : u->asked);
		for (size_t k = 0; k < i && u->option[i].single; k++)
			if (strcmp(u->option[k].key, key) == 0 && ww_uri_is_secret(key))
				return ww_fail(err, -EINVAL, "%s: option %s is given twice",
					       label(u), key);
			else if (strcmp(u->option[k].key, key) == 0)
				return ww_fail(err, -EINVAL,
					       "%s: option %s is given twice: %s=%s and %s=%s",
					       label(u), key, key, u->option[k].value, key,
					       u->option[i].value);
	}
	return 0;
}

int ww_duration_parse(const char *text, int64_t *ns, struct ww_error *err)
{
	static const struct {
		const char *name;
		double ns;
	} unit[] = {{"ns", 1},	 {"us", 1e3},	{"ms", 1e6},   {"s", 1e9},
		    {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9}};
	const char *p = text;
	double total = 0;

	do {
		const char *end;
		double v = ww_strtod(p, &end);
		size_t n, i;

		/* ww_strtod stops at a unit, except for "inf" and "nan". */
		if (end == p || !isfinite(v) || v < 0)
			goto bad;
		p = end;
		for (n = 0; isalpha((unsigned char)p[n]);)
			n++;
		for (i = 0; i < WW_COUNTOF(unit); i++)
			if (strlen(unit[i].name) == n && strncmp(unit[i].name, p, n) == 0)
				break;
		if (i < WW_COUNTOF(unit))
			total += v * unit[i].ns;
		else if (n == 0 && *p == '\0')
			total += v * 1e9; /* a bare number is seconds */
		else
			goto bad;
		p += n;
	} while (*p);
	if (total > 9e18)
		goto bad;
	*ns = (int64_t)(total + 0.5);
	return 0;
bad:
	return ww_fail(err, -EINVAL, "'%s' is not a duration such as 500ms, 2s, 1m30s or 8h", text);
}
