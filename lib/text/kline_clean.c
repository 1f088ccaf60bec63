/* SPDX-License-Identifier: MIT */
/* Terminals' control sequences, ECMA-48, out of a line. */
#include "text/klineimpl.h"

/* Behind "ESC [": parameters, then one final byte. */
static const char *csi(const char *p, const char *end)
{
	while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x40)
		p++;
	return p < end && (unsigned char)*p >= 0x40 && (unsigned char)*p < 0x7f ? p + 1 : p;
}

/* Behind "ESC ]", "ESC P" and the like: up to BEL or ESC \. */
static const char *string(const char *p, const char *end)
{
	const char *q = p;

	for (; q < end; q++) {
		if (*q == '\a')
			return q + 1;
		if (*q == '\x1b')
			return q + 1 < end && q[1] == '\\' ? q + 2 : q;
	}
	/* It never ends: the line is text. */
	return p;
}

static const char *escape(const char *p, const char *end)
{
	if (p >= end)
		return p;
	switch (*p) {
	case '[':
		return csi(p + 1, end);
	case ']':
	case 'P':
	case 'X':
	case '^':
	case '_':
		return string(p + 1, end);
	case '(':
	case ')':
	case '*':
	case '+':
	case '#':
	case '%':
	case ' ':
		return end - p > 1 ? p + 2 : p + 1;
	default:
		return (unsigned char)*p >= 0x30 && (unsigned char)*p < 0x7f ? p + 1 : p;
	}
}

size_t ww_kl_clean(const char *line, size_t n, char *to, size_t size)
{
	const char *p = line, *end = line + n;
	size_t len = 0;

	while (p < end && len < size) {
		if (*p == '\x1b')
			p = escape(p + 1, end);
		else if (*p == 0)
			p++;
		else
			to[len++] = *p++;
	}
	return len;
}
