/* SPDX-License-Identifier: MIT */
#include "base/str.h"

#include <math.h>
#include <stdio.h>

size_t ww_utf8_len(const unsigned char *p, size_t n)
{
	static const struct {
		unsigned char lo, hi, second_lo, second_hi, len;
	} t[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
		 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
		 {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
		 {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};

	if (p[0] < 0x80)
		return 1;
	for (size_t i = 0; i < WW_COUNTOF(t); i++) {
		if (p[0] < t[i].lo || p[0] > t[i].hi)
			continue;
		if (n < t[i].len || p[1] < t[i].second_lo || p[1] > t[i].second_hi)
			return 0;
		for (size_t k = 2; k < t[i].len; k++)
			if ((p[k] & 0xc0) != 0x80)
				return 0;
		return t[i].len;
	}
	return 0;
}

void ww_str_json(struct ww_str *s, const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;

	ww_str_add(s, "\"");
	for (size_t i = 0; i < n;) {
		size_t len = ww_utf8_len(p + i, n - i);

		if (len == 0) {
			ww_str_add(s, "\\ufffd");
			i++;
			continue;
		}
		if (p[i] == '"' || p[i] == '\\') {
			ww_str_addn(s, "\\", 1);
			ww_str_addn(s, text + i, 1);
		} else if (p[i] == '\n') {
			ww_str_add(s, "\\n");
		} else if (p[i] < 0x20 || p[i] == 0x7f) {
			ww_str_addf(s, "\\u%04x", p[i]);
		} else {
			ww_str_addn(s, text + i, len);
		}
		i += len;
	}
	ww_str_add(s, "\"");
}

static void lead(struct ww_json *j, const char *key)
{
	if (j->need_comma[j->depth])
		ww_str_add(j->s, ",");
	j->need_comma[j->depth] = true;
	if (key) {
		ww_str_json(j->s, key, strlen(key));
		ww_str_add(j->s, ":");
	}
}

void ww_json_open(struct ww_json *j, const char *key, char bracket)
{
	lead(j, key);
	ww_str_addn(j->s, &bracket, 1);
	if (j->depth + 1 < WW_COUNTOF(j->need_comma))
		j->depth++;
	else
		j->s->bad = true;
	j->need_comma[j->depth] = false;
}

void ww_json_close(struct ww_json *j, char bracket)
{
	ww_str_addn(j->s, &bracket, 1);
	if (j->depth > 0)
		j->depth--;
}

void ww_json_text(struct ww_json *j, const char *key, const char *value)
{
	if (!value) {
		ww_json_null(j, key);
		return;
	}
	lead(j, key);
	ww_str_json(j->s, value, strlen(value));
}

void ww_json_num(struct ww_json *j, const char *key, double v)
{
	lead(j, key);
	if (isfinite(v))
		ww_str_num(j->s, v);
	else
		ww_str_add(j->s, "null");
}

void ww_json_fixed(struct ww_json *j, const char *key, double v, int decimals)
{
	lead(j, key);
	if (isfinite(v))
		ww_str_fixed(j->s, v, decimals);
	else
		ww_str_add(j->s, "null");
}

void ww_json_int(struct ww_json *j, const char *key, int64_t v)
{
	lead(j, key);
	ww_str_addf(j->s, "%lld", (long long)v);
}

void ww_json_bool(struct ww_json *j, const char *key, bool v)
{
	lead(j, key);
	ww_str_add(j->s, v ? "true" : "false");
}

void ww_json_null(struct ww_json *j, const char *key)
{
	lead(j, key);
	ww_str_add(j->s, "null");
}
