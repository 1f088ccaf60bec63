/* SPDX-License-Identifier: MIT */
/* Android's logcat: brief, tag, process, time, threadtime, with uid, usec, year, epoch, UTC. */
#include "text/klineimpl.h"

int ww_kl_priority(char b)
{
	switch (b) {
	case 'V':
	case 'D':
		return 7;
	case 'I':
		return 6;
	case 'W':
		return 4;
	case 'E':
		return 3;
	case 'F':
	case 'A':
		return 2;
	default:
		return -1;
	}
}

/* Of the kernel's log the tag is "kernel", or empty. */
static void take(struct ww_kcur *c, struct ww_slice tag, const char *p, int level)
{
	while (tag.n && ww_kl_blank(tag.p[tag.n - 1]))
		tag.n--;
	c->o->level = level;
	c->o->tag = tag;
	c->header = true;
	c->p = ww_kl_blanks(p, c->end);
	c->o->from = !tag.n || ww_slice_is(tag, "kernel", 6) ? WW_LINE_KERNEL : WW_LINE_USER;
	if (c->p < c->end && *c->p == '<' && c->o->from == WW_LINE_KERNEL && ww_kl_level(c))
		c->p = ww_kl_blanks(c->p, c->end);
	c->console = NULL;
	if (c->p < c->end && *c->p == '[' && c->o->from == WW_LINE_KERNEL)
		ww_kl_kernel_stamp(c, c->p, false);
	c->whole = true;
}

/* The tag ends with a colon and a blank. */
static const char *tag_end(const char *p, const char *end)
{
	for (; p < end; p++)
		if (*p == ':' && (p + 1 == end || p[1] == ' '))
			return p;
	return NULL;
}

/* "I/tag( 1234): text", "I/tag: text", "I( 1234) text (tag)" */
bool ww_kl_brief(struct ww_kcur *c)
{
	const char *p = c->p, *q, *tag;
	int level = ww_kl_priority(*p);

	if (level < 0 || c->end - p < 5 || p[1] != '/')
		return false;
	tag = p + 2;
	q = tag_end(tag, c->end);
	if (!q)
		return false;
	p = q;
	if (p > tag && p[-1] == ')') {
		const char *open = memrchr(tag, '(', (size_t)(p - tag));

		if (!open)
			return false;
		p = open;
	} else if (memchr(tag, ' ', (size_t)(p - tag))) {
		return false;
	}
	take(c, (struct ww_slice){tag, (size_t)(p - tag)}, q + 1, level);
	return true;
}

/* A second date of MediaTek's, or a zone. */
static const char *again(struct ww_kcur *c, const char *p)
{
	int64_t ns, res;
	const char *q = ww_kl_monthdash(c->s, p, c->end, &ns, &res);

	if (!q && c->end - p > 5 && (*p == '+' || *p == '-') && ww_is_digit(p[1]) && p[5] == ' ')
		q = p + 5;
	return q && q < c->end && ww_kl_blank(*q) ? ww_kl_blanks(q, c->end) : p;
}

/*
 * Behind the date: "  pid   tid L tag: text", with a user's name or number in front of them,
 * or "I/tag( pid): text".
 */
bool ww_kl_logcat(struct ww_kcur *c)
{
	const char *p = again(c, ww_kl_blanks(c->p, c->end)), *q, *colon;
	int numbers = 0, level;
	uint64_t v;

	if (c->end - p > 4 && p[1] == '/') {
		q = c->p;
		c->p = p;
		if (ww_kl_brief(c))
			return true;
		c->p = q;
		return false;
	}
	for (q = p; numbers < 3; numbers++) {
		const char *r = ww_kl_digits(q, c->end, 9, &v);

		/* "root", "u0_a123" */
		if (!r && numbers == 0) {
			for (r = q; r < c->end && !ww_kl_blank(*r) && *r != ':' && *r != '[';)
				r++;
			if (r == q || r - q > 16)
				return false;
		}
		if (!r || r >= c->end || !ww_kl_blank(*r))
			break;
		q = ww_kl_blanks(r, c->end);
	}
	level = q < c->end ? ww_kl_priority(*q) : -1;
	if (numbers < 2 || level < 0 || (q + 1 < c->end && !ww_kl_blank(q[1])))
		return false;
	p = ww_kl_blanks(q + 1, c->end);
	if (p < c->end && (*p == '[' || *p == '<')) {
		take(c, (struct ww_slice){p, 0}, p, level);
		return true;
	}
	colon = tag_end(p, c->end);
	if (!colon)
		return false;
	take(c, (struct ww_slice){p, (size_t)(colon - p)}, colon + 1, level);
	return true;
}
