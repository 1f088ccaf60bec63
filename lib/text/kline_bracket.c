/* SPDX-License-Identifier: MIT */
/* What stands in brackets at the front of a line. */
#include "text/klineimpl.h"

/* Seconds since 1970 from here on: an uptime of 31 years does not occur. */
#define EPOCH_NS (INT64_C(1000000000) * WW_NS_PER_S)
/* printk pads up to here. */
#define PADDED_NS (INT64_C(10000) * WW_NS_PER_S)

/* Behind a logger's bracket: one blank is its own. */
static bool past(struct ww_kcur *c, const char *p)
{
	uint64_t v;
	const char *q;

	/* "]@2 ": the logger's cpu. */
	if (p < c->end && *p == '@' && (q = ww_kl_digits(p + 1, c->end, 3, &v)))
		p = q;
	c->p = p < c->end && *p == ' ' ? p + 1 : p;
	return true;
}

/* Does a kernel's stamp, maybe with a level, stand here? */
static bool stamp_follows(const char *p, const char *end)
{
	int64_t ns;
	int decimals;

	p = ww_kl_blanks(p, end);
	if (end - p > 3 && p[0] == '<' && ww_is_digit(p[1]) && p[2] == '>')
		p = ww_kl_blanks(p + 3, end);
	if (p >= end || *p != '[')
		return false;
	p = ww_kl_seconds(ww_kl_blanks(p + 1, end), end, &ns, &decimals);
	return p && p < end && decimals >= 6 && *p != ' ';
}

/* A padded stamp further on, behind what the logger saw first. */
static bool stamp_within(const char *p, const char *end)
{
	while (p < end && (p = memchr(p, '[', (size_t)(end - p)))) {
		if (end - p > 2 && p[1] == ' ' && stamp_follows(p, end))
			return true;
		p++;
	}
	return false;
}

/* "[12.345678] ": the kernel's, or a logger's that leaves its delta out. */
static bool lone(struct ww_kcur *c, const char *after, int64_t ns, int decimals, bool padded)
{
	struct ww_kline_state *s = c->s;
	bool mine = c->o->kernel_ns == WW_NO_TIME && c->o->host_clock == WW_HOST_NONE &&
		    c->o->level < 0;

	if (ns >= EPOCH_NS) {
		ww_kl_host(c, WW_HOST_WALL, ns, ww_kl_res(decimals));
		return past(c, after);
	}
	if (!padded && mine &&
	    (s->bracketed || stamp_follows(after, c->end) ||
	     (ns < PADDED_NS && stamp_within(after, c->end)))) {
		s->bracketed = true;
		ww_kl_host(c, WW_HOST_ELAPSED, ns, ww_kl_res(decimals));
		return past(c, after);
	}
	return decimals >= 6 && ww_kl_kernel_stamp(c, c->p, false);
}

/* "[4023.522400 text]" of a Chrome EC; the next line may cut it short. */
static bool chrome_ec(struct ww_kcur *c, const char *p, int64_t ns, int decimals)
{
	if (decimals != 6)
		return false;
	ww_kl_host(c, WW_HOST_ELAPSED, ns, ww_kl_res(decimals));
	c->o->from = WW_LINE_EC;
	c->p = p + 1;
	if (c->end > c->p && c->end[-1] == ']')
		c->end--;
	return c->whole = true;
}

/*
 * What passed, behind a date or time of grabserial: "12.345678 0.000123]", since the start and
 * since the line before. @return how many, -1 something else
 */
static int passed(struct ww_kcur *c, const char **q)
{
	int64_t part[2];
	int d[2], n = 0;

	for (; n < 2 && *q < c->end && **q == ' '; n++) {
		const char *r = ww_kl_seconds(ww_kl_blanks(*q, c->end), c->end, &part[n], &d[n]);

		if (!r)
			return -1;
		*q = r;
	}
	if (*q >= c->end || **q != ']')
		return -1;
	/* The first of two needs no guessed day. */
	if (n == 2)
		ww_kl_host(c, WW_HOST_ELAPSED, part[0], ww_kl_res(d[0]));
	return n;
}

static bool seconds(struct ww_kcur *c, const char *q)
{
	const char *r;
	int64_t ns;
	int decimals;
	bool padded = q > c->p + 1;

	r = ww_kl_seconds(q, c->end, &ns, &decimals);
	if (!r || r >= c->end)
		return false;
	if (*r == ']')
		return lone(c, r + 1, ns, decimals, padded && ns < PADDED_NS);
	if (ww_kl_kernel_stamp(c, c->p, false))
		return true;
	if (*r != ' ')
		return false;
	q = r;
	if (passed(c, &q) == 1) {
		ww_kl_host(c, WW_HOST_ELAPSED, ns, ww_kl_res(decimals));
		return past(c, q + 1);
	}
	return !padded && c->o->from == WW_LINE_UNKNOWN && chrome_ec(c, r, ns, decimals);
}

/* "[18:03:09.123456 12.345678 0.000123]" */
static bool time_of_day(struct ww_kcur *c, const char *q)
{
	int64_t ns;
	int decimals, n;

	q = ww_kl_clock(q, c->end, &ns, &decimals);
	if (!q || (n = passed(c, &q)) < 0)
		return false;
	if (n < 2)
		ww_kl_day(c, ns, ww_kl_res(decimals), n == 0 && decimals == 3);
	return past(c, q + 1);
}

bool ww_kl_grabserial(struct ww_kcur *c, const char *at)
{
	int64_t ns;
	int decimals;
	const char *q = ww_kl_blanks(at + 1, c->end), *r;

	r = ww_kl_seconds(q, c->end, &ns, &decimals);
	if (r) {
		q = r;
		if (passed(c, &q) != 1)
			return false;
		ww_kl_host(c, WW_HOST_ELAPSED, ns, ww_kl_res(decimals));
		return past(c, q + 1);
	}
	r = ww_kl_clock(q, c->end, &ns, &decimals);
	return r && r < c->end && *r == ' ' && time_of_day(c, q);
}

/* "[0 00:00:01.234]" of Tera Term: days and time since the start. */
static bool days_elapsed(struct ww_kcur *c, const char *q)
{
	int64_t ns;
	uint64_t d;
	int decimals;

	q = ww_kl_digits(q, c->end, 4, &d);
	if (!q || q >= c->end || *q != ' ')
		return false;
	q = ww_kl_clock(q + 1, c->end, &ns, &decimals);
	if (!q || q >= c->end || *q != ']')
		return false;
	ww_kl_host(c, WW_HOST_ELAPSED, (int64_t)d * 86400 * WW_NS_PER_S + ns, ww_kl_res(decimals));
	return past(c, q + 1);
}

/* "[ 11-05 17:33:01.123  1234: 5678 I/tag ]" of logcat -v long: a line of its own. */
static bool logcat_long(struct ww_kcur *c, const char *q)
{
	struct ww_kline_state *s = c->s;
	struct ww_slice tag;
	int64_t ns, res;
	int decimals;
	const char *slash, *r = ww_kl_monthdash(s, q, c->end, &ns, &res);

	if (!r) {
		r = ww_kl_datetime(q, c->end, &ns, &decimals);
		if (!r)
			return false;
		res = ww_kl_res(decimals);
	}
	if (r >= c->end || *r != ' ' || c->end[-1] != ']')
		return false;
	slash = memrchr(r, '/', (size_t)(c->end - r));
	if (!slash || slash - r < 2 || slash[-2] != ' ')
		return false;
	tag = (struct ww_slice){slash + 1, (size_t)(c->end - slash - 2)};
	while (tag.n && tag.p[tag.n - 1] == ' ')
		tag.n--;
	s->block = true;
	s->block_ns = ns;
	s->block_res_ns = res;
	s->block_level = ww_kl_priority(slash[-1]);
	s->block_kernel = !tag.n || ww_slice_is(tag, "kernel", 6);
	ww_kl_host(c, WW_HOST_WALL, ns, res);
	c->o->from = s->block_kernel ? WW_LINE_KERNEL : WW_LINE_USER;
	c->o->level = s->block_level;
	c->o->tag = tag;
	c->p = c->end;
	return c->whole = true;
}

static bool number(struct ww_kcur *c, const char *q)
{
	const char *r, *close;
	int64_t ns;
	int decimals;

	r = ww_kl_datetime(q, c->end, &ns, &decimals);
	close = r;
	if (r && passed(c, &close) >= 0) {
		ww_kl_host(c, WW_HOST_WALL, ns, ww_kl_res(decimals));
		return past(c, close + 1);
	}
	if (r || (c->end - q > 5 && q[2] == '-'))
		return logcat_long(c, q);
	return seconds(c, q) || time_of_day(c, q) || days_elapsed(c, q);
}

/* "[  +0.000108]" of dmesg --reltime, "[<    0.000108>]" of --show-delta alone. */
static bool relative(struct ww_kcur *c, const char *q)
{
	char close = *q == '<' ? '>' : ']';
	int64_t ns;
	int decimals;

	q = ww_kl_seconds(ww_kl_blanks(q + 1, c->end), c->end, &ns, &decimals);
	if (!q || q >= c->end || *q != close)
		return false;
	if (close == '>' && (++q >= c->end || *q != ']'))
		return false;
	ww_kl_delta(c, ns, ww_kl_res(decimals));
	return past(c, q + 1);
}

/* "[INFO ]  " of coreboot since 2022. */
static bool coreboot(struct ww_kcur *c)
{
	const char *p = c->p + 1;
	size_t n = 0;
	static const struct {
		char name[8];
		int level;
	} levels[] = {{"EMERG", 0}, {"ALERT", 1}, {"CRIT ", 2}, {"ERROR", 3}, {"WARN ", 4},
		      {"NOTE ", 5}, {"INFO ", 6}, {"DEBUG", 7}, {"SPEW ", 7}};

	if (c->end - p < 6 || p[5] != ']')
		return false;
	for (; n < WW_COUNTOF(levels); n++)
		if (memcmp(p, levels[n].name, 5) == 0)
			break;
	if (n == WW_COUNTOF(levels))
		return false;
	c->o->level = levels[n].level;
	c->o->from = WW_LINE_FIRMWARE;
	c->p = ww_kl_blanks(p + 6, c->end);
	return c->whole = true;
}

/* Weekday and date of dmesg -T and Tera Term, minutes of dmesg --reltime. */
static bool letters(struct ww_kcur *c, const char *q)
{
	const char *r, *word = q;
	int64_t ns, res;

	r = ww_kl_minute(c->s, q, c->end, &ns);
	if (r) {
		ww_kl_reltime_date(c, ns);
		return past(c, r + 1);
	}
	while (word < c->end && !ww_kl_blank(*word) && *word != ']' && word - q < 16)
		word++;
	if (word >= c->end || !ww_kl_blank(*word))
		return false;
	word = ww_kl_blanks(word, c->end);
	r = ww_kl_monthday(c->s, word, c->end, &ns, &res);
	if (!r)
		r = ww_kl_monthday(c->s, q, c->end, &ns, &res);
	if (!r || r >= c->end)
		return false;
	/* dmesg -dT */
	if (ww_kl_at(r, c->end, " <", 2)) {
		r = memchr(r, '>', (size_t)(c->end - r));
		if (!r || ++r >= c->end)
			return false;
	}
	if (*r != ']')
		return false;
	ww_kl_host(c, WW_HOST_WALL, ns, res);
	return past(c, r + 1);
}

bool ww_kl_bracket(struct ww_kcur *c)
{
	const char *q = ww_kl_blanks(c->p + 1, c->end);

	if (q >= c->end)
		return false;
	if (ww_is_digit(*q)) {
		/* A kernel's stamp is the innermost clock. */
		return number(c, q) || letters(c, q);
	}
	if (*q == '+' || *q == '<')
		return relative(c, q);
	if ((*q == 'T' || *q == 'C') && q + 1 < c->end && ww_is_digit(q[1])) {
		/* PRINTK_CALLER without PRINTK_TIME. */
		const char *at = c->p;

		if (ww_kl_caller(c)) {
			c->console = at;
			c->o->from = WW_LINE_KERNEL;
			c->p = ww_kl_blanks(c->p, c->end);
			return c->whole = true;
		}
	}
	return coreboot(c) || letters(c, q);
}
