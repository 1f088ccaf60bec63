/* SPDX-License-Identifier: MIT */
#include "report/plot.h"

static const char *entity(unsigned char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* XML 1.0 has no way to write control characters, nor U+FFFE and U+FFFF. */
static bool forbidden(const unsigned char *p, size_t len)
{
	if (len == 1)
		return p[0] < 0x20 && p[0] != '\t' && p[0] != '\n';
	return len == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe;
}

void ww_str_markup(struct ww_str *s, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t left = strlen(text);

	while (left) {
		size_t len = ww_utf8_len(p, left);
		const char *e = entity(*p);

		if (len == 0 || forbidden(p, len))
			ww_str_add(s, "\xef\xbf\xbd");
		else if (e)
			ww_str_add(s, e);
		else
			ww_str_addn(s, (const char *)p, len);
		len += len == 0;
		p += len;
		left -= len;
	}
}
