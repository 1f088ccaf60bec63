/* SPDX-License-Identifier: MIT */
/* A line of kernel text without what stands around the message. */
#include "text/klineimpl.h"

/* More layers than any real log has. */
#define LAYERS_MOST 12

void ww_kline_init(struct ww_kline_state *s)
{
	memset(s, 0, offsetof(struct ww_kline_state, clean));
	/* A leap year, so that each day exists. */
	s->year = 2000;
	s->last_day_ns = -1;
}

static void clear(struct ww_kline *o)
{
	memset(o, 0, sizeof(*o));
	o->kernel_ns = WW_NO_TIME;
	o->host_ns = WW_NO_TIME;
	o->level = -1;
}

/* "> > " of mails. */
static bool quote(struct ww_kcur *c)
{
	while (c->p < c->end && (*c->p == '>' || ww_kl_blank(*c->p)))
		c->p++;
	return true;
}

/* "(XEN) [  12.345678] " and "(d1) " */
static bool xen(struct ww_kcur *c)
{
	const char *p = c->p;
	uint64_t v;
	int64_t ns;
	int decimals;

	if (ww_kl_at(p, c->end, "(XEN)", 5)) {
		p += 5;
	} else if (c->end - p > 3 && p[1] == 'd' && ww_is_digit(p[2])) {
		p = ww_kl_digits(p + 2, c->end, 5, &v);
		if (p >= c->end || *p++ != ')')
			return false;
	} else {
		return false;
	}
	c->o->from = WW_LINE_XEN;
	c->p = ww_kl_blanks(p, c->end);
	c->whole = true;
	if (c->p >= c->end || *c->p != '[')
		return true;
	/* The hypervisor's own clock. */
	p = ww_kl_seconds(ww_kl_blanks(c->p + 1, c->end), c->end, &ns, &decimals);
	if (p && p < c->end && *p == ']') {
		ww_kl_host(c, WW_HOST_ELAPSED, ns, ww_kl_res(decimals));
		c->p = ww_kl_blanks(p + 1, c->end);
	} else if (!p) {
		ww_kl_bracket(c);
	}
	return true;
}

/* - {"dt": "2022-02-23T01:01:30.988092", "lvl": "target", "msg": "[   15.983475] text"} */
static bool lava(struct ww_kcur *c)
{
	const char *p = c->p, *end = c->end, *q;
	int64_t ns;
	int decimals;

	if (!ww_kl_at(p, end, "- {\"dt\":", 8) || end - p < 40 || end[-1] != '}' || end[-2] != '"')
		return false;
	p = ww_kl_blanks(p + 8, end);
	if (p >= end || *p != '"' || !(p = ww_kl_datetime(p + 1, end, &ns, &decimals)))
		return false;
	q = memmem(p, (size_t)(end - p), "\"msg\":", 6);
	if (!q)
		return false;
	q = ww_kl_blanks(q + 6, end);
	if (*q != '"' || q + 1 > end - 2)
		return false;
	ww_kl_host(c, WW_HOST_WALL, ns, ww_kl_res(decimals));
	c->p = q + 1;
	c->end = end - 2;
	return true;
}

/* A prompt or bullet in front of each line, as documents have them. */
static bool sign(struct ww_kcur *c)
{
	if (c->end - c->p < 3 || !ww_kl_blank(c->p[1]))
		return false;
	c->p = ww_kl_blanks(c->p + 1, c->end);
	return true;
}

bool ww_kl_peel(struct ww_kcur *c)
{
	unsigned char b = (unsigned char)*c->p;

	switch (b) {
	case ' ':
	case '\t':
		c->p = ww_kl_blanks(c->p, c->end);
		return true;
	case '>':
		return quote(c);
	case '[':
		return ww_kl_bracket(c);
	case '<':
		return ww_kl_level(c);
	case '(':
		return xen(c);
	case '-':
		return lava(c) || sign(c);
	case '$':
	case '#':
	case '*':
		return sign(c);
	default:
		if (ww_is_digit((char)b))
			return ww_kl_number(c);
		if ((b >= 'A' && b <= 'Z') || (b >= 'a' && b <= 'z') || b >= 0x80)
			return ww_kl_word(c);
		return false;
	}
}

static void peel_all(struct ww_kcur *c)
{
	for (int i = 0; i < LAYERS_MOST && c->p < c->end && !c->whole; i++)
		if (!ww_kl_peel(c))
			return;
}

/* "Restarting tasks ... [name:process&]done." without the name. */
static void unname(struct ww_kcur *c)
{
	char *to = c->s->clean;
	const char *p = c->o->text.p, *end = p + c->o->text.n, *close;

	while (p < end && to < c->s->clean + sizeof(c->s->clean)) {
		close = ww_kl_at(p, end, "[name:", 6) ? memchr(p, ']', (size_t)(end - p)) : NULL;
		if (close)
			p = close + 1;
		else
			*to++ = *p++;
	}
	while (to > c->s->clean && ww_kl_blank(to[-1]))
		to--;
	c->o->text = (struct ww_slice){c->s->clean, (size_t)(to - c->s->clean)};
}

/* The message, once everything is off. */
static void finish(struct ww_kcur *c)
{
	struct ww_kline *o = c->o;

	while (c->p < c->end && (ww_kl_blank(c->end[-1]) || c->end[-1] == '\r'))
		c->end--;
	o->text.p = c->p;
	o->text.n = (size_t)(c->end - c->p);
	o->console_n = (size_t)(c->end - (c->console ? c->console : c->p));
	if (c->named)
		unname(c);
}

/* "[  123.456789] text" at the very beginning, which most lines are. */
static inline bool plain(struct ww_kcur *c)
{
	const char *p = c->p;

	/* Without a blank it may be a logger's own. */
	if (c->end - p < 15 || p[0] != '[' || p[1] != ' ' || c->s->bracketed)
		return false;
	return ww_kl_kernel_stamp(c, p, false);
}

/* Lines below a header of logcat -v long. @return whether they are a program's */
static bool block(struct ww_kcur *c)
{
	/* The next header. */
	if (c->p[0] == '[' && c->end[-1] == ']' && c->end - c->p > 20)
		return false;
	ww_kl_host(c, WW_HOST_WALL, c->s->block_ns, c->s->block_res_ns);
	c->o->level = c->s->block_level;
	if (c->s->block_kernel)
		return false;
	c->o->from = WW_LINE_USER;
	return true;
}

/* Of a pager that numbers lines and draws a frame: "\u2502  31 \u2502 Apr 28 ...  \u2502". */
#define BAR "\xe2\x94\x82"

static void table(struct ww_kcur *c)
{
	const char *p = ww_kl_blanks(c->p + 3, c->end), *q;
	uint64_t v;

	q = ww_kl_digits(p, c->end, 9, &v);
	if (q && ww_kl_at(ww_kl_blanks(q, c->end), c->end, BAR, 3))
		p = ww_kl_blanks(ww_kl_blanks(q, c->end) + 3, c->end);
	c->p = p;
	if (c->end - p >= 3 && memcmp(c->end - 3, BAR, 3) == 0)
		c->end -= 3;
	while (c->end > p && ww_kl_blank(c->end[-1]))
		c->end--;
}

/* The line without ends, marks and escapes. */
static void begin(struct ww_kcur *c, const char *line, size_t n)
{
	while (n && line[n - 1] == '\r')
		n--;
	while (n && *line == '\r') {
		line++;
		n--;
	}
	/* The mark of UTF-8 that some editors begin a file with. */
	if (n >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
		line += 3;
		n -= 3;
	}
	/* A soft line break before an empty line ends the text after all. */
	if (c->s->carry || (n && ww_kl_dirty(c->s, line, n))) {
		n = ww_kl_clean(c->s, line, n);
		line = c->s->clean;
		/* The rest comes with the next line. */
		if (c->s->carry)
			n = 0;
	}
	while (n && ww_kl_blank(line[n - 1]))
		n--;
	c->p = line;
	c->end = line + n;
	if (n > 6 && memcmp(line, BAR, 3) == 0)
		table(c);
}

void ww_kline_parse(struct ww_kline_state *s, const char *line, size_t n, struct ww_kline *o)
{
	struct ww_kcur c = {.s = s, .o = o};

	clear(o);
	s->lines++;
	begin(&c, line, n);
	if (c.p == c.end) {
		s->block = s->block && s->carry;
	} else if (!(s->block && block(&c)) && !plain(&c)) {
		peel_all(&c);
		if (o->kernel_ns == WW_NO_TIME && !c.whole && !c.header)
			ww_kl_search(&c);
	}
	finish(&c);
}
