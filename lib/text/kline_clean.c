/* SPDX-License-Identifier: MIT */
/* What a line went through: terminals' control sequences (ECMA-48), encodings of mails. */
#include "text/klineimpl.h"

#include <strings.h>

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

static bool nbsp(const char *p, const char *end)
{
	return end - p > 1 && p[0] == '\xc2' && p[1] == '\xa0';
}

static int hex(char c)
{
	return ww_is_digit(c) ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "=3D" of RFC 2045, section 6.7; -1: none. */
static int quoted(const char *p, const char *end)
{
	int hi, lo;

	if (end - p < 3 || *p != '=' || (hi = hex(p[1])) < 0 || (lo = hex(p[2])) < 0)
		return -1;
	return hi * 16 + lo;
}

/* "43=2E375323]": some encode each point. */
static bool point(const char *line, const char *p, const char *end)
{
	return p > line && ww_is_digit(p[-1]) && end - p > 9 && p[9] == ']' && ww_is_digit(p[3]) &&
	       ww_is_digit(p[8]);
}

/*
 * Quoted-printable, as a mail is stored: told by an escaped "=", blank or letter of UTF-8, or a
 * soft line break.
 */
static bool is_quoted(const char *line, size_t n)
{
	const char *p = line, *end = line + n;

	if (n >= 72 && n <= 76 && end[-1] == '=' && end[-2] != '=' && !ww_kl_blank(end[-2]))
		return true;
	while ((p = memchr(p, '=', (size_t)(end - p)))) {
		int v = quoted(p, end), after = v >= 0xc2 ? quoted(p + 3, end) : -1;

		if (v == '=' || (after >= 0x80 && after < 0xc0) ||
		    (v == 0xa0 && p > line && p[-1] == '[') || (v == '.' && point(line, p, end)))
			return true;
		p++;
	}
	return false;
}

/* "Content-Transfer-Encoding: quoted-printable", or that of the next mail. */
static bool header(struct ww_kline_state *s, const char *line, size_t n)
{
	static const char of[] = "Content-Transfer-Encoding: ", printable[] = "quoted-printable";
	size_t k = sizeof(of) - 1;

	if ((*line != 'C' && *line != 'c') || n <= k || strncasecmp(line, of, k) != 0)
		return false;
	s->quoted = n - k == sizeof(printable) - 1 && strncasecmp(line + k, printable, n - k) == 0;
	return true;
}

bool ww_kl_dirty(struct ww_kline_state *s, const char *line, size_t n)
{
	const char *p = line, *end = line + n;

	if (!header(s, line, n) && !s->quoted)
		s->quoted = is_quoted(line, n);
	if (s->carry || memchr(line, '\x1b', n) || memchr(line, 0, n) ||
	    (s->quoted && memchr(line, '=', n)))
		return true;
	while ((p = memchr(p, 0xc2, (size_t)(end - p)))) {
		if (nbsp(p, end))
			return true;
		p++;
	}
	return false;
}

/* One byte of the text, or none. @return behind what it was made of */
static const char *next(const struct ww_kline_state *s, const char *p, const char *end, char before,
			char *out)
{
	int q = s->quoted ? quoted(p, end) : -1;

	*out = 0;
	if (*p == '\x1b')
		return escape(p + 1, end);
	if (nbsp(p, end)) {
		*out = ' ';
		return p + 2;
	}
	if (q < 0) {
		*out = *p;
		return p + 1;
	}
	if (q == 0xc2 && quoted(p + 3, end) == 0xa0) {
		*out = ' ';
		return p + 6;
	}
	/* Of Latin 1, where it does not go on with a letter of UTF-8. */
	*out = q == 0xa0 && (unsigned char)before < 0x80 ? ' ' : (char)q;
	return p + 3;
}

size_t ww_kl_clean(struct ww_kline_state *s, const char *line, size_t n)
{
	const char *p = line, *end = line + n;
	size_t len = s->carry;
	bool soft = s->quoted && n > 1 && end[-1] == '=' && end[-2] != '=';
	char c;

	end -= soft;
	while (p < end && len < sizeof(s->clean)) {
		p = next(s, p, end, len ? s->clean[len - 1] : 0, &c);
		if (c && !(c == '\r' && len == 0))
			s->clean[len++] = c;
	}
	/* What the next line goes on with; nothing may grow without end. */
	s->carry = soft && len < sizeof(s->clean) / 2 ? (uint32_t)len : 0;
	return len;
}
