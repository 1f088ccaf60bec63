/* SPDX-License-Identifier: MIT */
/* Text of strangers on a terminal. */
#include "base/str.h"

#include <stdio.h>

/* Controls of a terminal (C0, DEL, C1), and what turns the direction of a line. */
static bool steers(const unsigned char *p, size_t len)
{
	if (len == 1)
		return *p < 0x20 || *p == 0x7f;
	if (len == 2)
		return p[0] == 0xc2 && p[1] < 0xa0;
	return len == 3 && p[0] == 0xe2 &&
	       ((p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae) ||
		(p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

void ww_plain(char *to, size_t size, const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t k = 0;

	while (n > 0) {
		size_t len = ww_utf8_len(p, n);
		bool raw = len > 0 && !steers(p, len);

		len += len == 0;
		if (k + (raw ? len : 4 * len) >= size)
			break;
		for (size_t i = 0; i < len; i++)
			if (raw)
				to[k++] = (char)p[i];
			else
				k += (size_t)snprintf(to + k, 5, "\\x%02x", p[i]);
		p += len;
		n -= len;
	}
	to[k] = '\0';
}

void ww_str_plain(struct ww_str *s, const char *text)
{
	size_t n = strlen(text);
	char *plain = malloc(4 * n + 1);

	if (plain) {
		ww_plain(plain, 4 * n + 1, text, n);
		ww_str_add(s, plain);
	} else {
		s->bad = true;
	}
	free(plain);
}

bool ww_is_plain(const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;

	while (n > 0) {
		size_t len = ww_utf8_len(p, n);

		if (len == 0 || steers(p, len))
			return false;
		p += len;
		n -= len;
	}
	return true;
}
