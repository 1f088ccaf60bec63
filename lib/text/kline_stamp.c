/* SPDX-License-Identifier: MIT */
/*
 * The kernel's stamp, "[%5lu.%06lu] " (source: kernel/printk/printk.c, print_time), with what
 * vendors add inside the bracket, and who called, which follows it.
 */
#include "text/klineimpl.h"

/* Five places for seconds, a point, six decimals. */
#define STAMP_WIDTH 12
#define DECIMALS    6
/* Glued stamps that lie further off than this are other programs' numbers. */
#define BACK_NS	 (10 * WW_NS_PER_S)
#define AHEAD_NS (INT64_C(86400) * WW_NS_PER_S)

struct stamp {
	int64_t ns;
	int decimals, cpu;
	const char *end; /* behind the "]" */
};

/* "@1" of Amlogic, ",1" of Qualcomm's old kernels, "s" of Huawei, " / 07-04 12:34:56.123". */
static const char *vendor(struct ww_kcur *c, const char *p, struct stamp *out)
{
	const char *q;
	int64_t ns, res;
	uint64_t v;

	if (p >= c->end)
		return NULL;
	if (*p == '@' || *p == ',') {
		q = ww_kl_digits(p + 1, c->end, 4, &v);
		if (q)
			out->cpu = (int)v;
		return q;
	}
	if (*p == 's')
		return p + 1;
	if (!ww_kl_at(p, c->end, " / ", 3))
		return NULL;
	q = ww_kl_monthdash(c->s, p + 3, c->end, &ns, &res);
	if (q)
		ww_kl_host(c, WW_HOST_WALL, ns, res);
	return q;
}

/* " <    0.000123>" of dmesg -d and journalctl -o short-delta. */
static const char *delta(const char *p, const char *end)
{
	int64_t ns;
	int decimals;

	p = ww_kl_blanks(p, end);
	if (p >= end || *p != '<')
		return NULL;
	p = ww_kl_blanks(p + 1, end);
	if (p < end && (*p == '+' || *p == '-'))
		p++;
	/* short-delta leaves it blank where there is no line before. */
	if (p < end && *p != '>')
		p = ww_kl_seconds(p, end, &ns, &decimals);
	if (p)
		p = ww_kl_blanks(p, end);
	return p && p < end && *p == '>' ? p + 1 : NULL;
}

/* The stamp whose '[' is at p. */
static bool read_stamp(struct ww_kcur *c, const char *p, struct stamp *out)
{
	const char *q =
		ww_kl_seconds(ww_kl_blanks(p + 1, c->end), c->end, &out->ns, &out->decimals);

	out->cpu = -1;
	if (!q || out->decimals < DECIMALS || q - p - 1 < 8)
		return false;
	if (q < c->end && *q != ']') {
		const char *r = vendor(c, q, out);

		q = r ? r : delta(q, c->end);
	}
	if (!q || q >= c->end || *q != ']')
		return false;
	out->end = q + 1;
	return true;
}

/* "root@host:~# echo mem > /sys/power/state ": a shell's own line, as those of another boot are. */
static bool prompt(const char *p, const char *end)
{
	return memmem(p, (size_t)(end - p), "# ", 2) || memmem(p, (size_t)(end - p), "$ ", 2);
}

/*
 * Glued behind text: is it the kernel's? A stamp that is not padded may be a number of the
 * text: it must fit the stamps before it, and no sentence leads up to it.
 */
static bool believable(const struct ww_kcur *c, const char *at, int64_t ns)
{
	const struct ww_kline_state *s = c->s;
	unsigned char b;

	if (s->kernel_stamps > 1 &&
	    (ns < s->last_kernel_ns - BACK_NS || ns > s->last_kernel_ns + AHEAD_NS))
		return at[1] == ' ' && prompt(c->p, at);
	if (at[1] == ' ' || at - c->p < 2 || at[-1] != ' ')
		return true;
	b = (unsigned char)(at[-2] | 0x20);
	return !(b >= 'a' && b <= 'z') && !ww_is_digit(at[-2]);
}

bool ww_kl_kernel_stamp(struct ww_kcur *c, const char *at, bool anywhere)
{
	struct ww_kline_state *s = c->s;
	struct ww_kline *o = c->o;
	struct stamp t;

	if (!read_stamp(c, at, &t))
		return false;
	if (anywhere && !believable(c, at, t.ns))
		return false;
	o->kernel_ns = t.ns;
	o->kernel_res_ns = ww_kl_res(t.decimals);
	s->last_kernel_ns = t.ns;
	s->kernel_stamps++;
	if (o->from == WW_LINE_UNKNOWN)
		o->from = WW_LINE_KERNEL;
	if (!c->console)
		c->console = at;
	if (t.cpu >= 0) {
		o->caller_kind = 'C';
		o->caller = t.cpu;
	}
	c->p = t.end;
	while (c->p < c->end && ww_kl_caller(c))
		;
	if (c->p < c->end && *c->p == ' ')
		c->p++;
	/* Only one format has a host behind the stamp; others are asked now and then. */
	if (s->monotonic || s->kernel_stamps < 64 || s->kernel_stamps % 64 == 0)
		ww_kl_monotonic(c);
	c->whole = true;
	return true;
}

/* A stamp behind something foreign: a prompt, junk, half a line of a program. */
bool ww_kl_search(struct ww_kcur *c)
{
	const char *p = c->p, *at = c->p, *q;

	while ((p = memchr(p, '[', (size_t)(c->end - p)))) {
		q = ww_kl_blanks(p + 1, c->end);
		if (c->end - p > STAMP_WIDTH + 1 && q < c->end && ww_is_digit(*q)) {
			q = memchr(q, '.', (size_t)(c->end - q));
			if (!q)
				return false;
			if (q - p >= 1 + STAMP_WIDTH - DECIMALS - 1 &&
			    ww_kl_kernel_stamp(c, p, true)) {
				const char *console = p;

				/* "root@host:~# <6>[  103.459191] " */
				if (p - at >= 3 && p[-1] == '>' && p[-2] >= '0' && p[-2] <= '7' &&
				    p[-3] == '<') {
					c->o->level = p[-2] - '0';
					console = p - 3;
				}
				c->console = console;
				c->o->glued = console > at;
				return true;
			}
		}
		p++;
	}
	return false;
}

static bool take_task(struct ww_kcur *c, char kind, uint64_t who, const char *p)
{
	if (!c->o->caller_kind || kind == 'T') {
		c->o->caller_kind = kind;
		c->o->caller = who > INT32_MAX ? -1 : (int32_t)who;
	}
	c->p = p;
	return true;
}

/* "[ T1849]", "[    C0]": PRINTK_CALLER; "[c1]" of Tizen. */
static bool printk_caller(struct ww_kcur *c, const char *p)
{
	const char *q = ww_kl_blanks(p + 1, c->end);
	uint64_t v;
	char kind;

	/* "[ 2]" of Kylin: its processor. */
	if (q < c->end && ww_is_digit(*q) && p == c->p && !c->o->caller_kind) {
		q = ww_kl_digits(q, c->end, 3, &v);
		return q < c->end && *q == ']' && take_task(c, 'C', v, q + 1);
	}
	if (q >= c->end || (*q != 'T' && *q != 'C' && *q != 'c'))
		return false;
	kind = *q == 'T' ? 'T' : 'C';
	q = ww_kl_digits(q + 1, c->end, 9, &v);
	/* "[C5 t2624]" of ASR: both. */
	if (q && kind == 'C' && ww_kl_at(q, c->end, " t", 2)) {
		kind = 'T';
		q = ww_kl_digits(q + 2, c->end, 9, &v);
	}
	if (!q || q >= c->end || *q != ']')
		return false;
	return take_task(c, kind, v, q + 1);
}

/* "[pid:1,cpu0,swapper/0]" of Huawei; "[0:      swapper/0:    1]" of Samsung. */
static bool vendor_caller(struct ww_kcur *c, const char *p)
{
	const char *close = memchr(p, ']', (size_t)(c->end - p)), *q;
	uint64_t v;

	if (!close || close - p > 48)
		return false;
	if (ww_kl_at(p, close, "[pid:", 5)) {
		q = ww_kl_digits(p + 5, close, 9, &v);
		if (q && q < close && *q == ',')
			return take_task(c, 'T', v, close + 1);
		return false;
	}
	q = ww_kl_digits(p + 1, close, 3, &v);
	if (!q || close - q < 4 || *q != ':')
		return false;
	for (q = close; ww_is_digit(q[-1]);)
		q--;
	if (q == close || (q[-1] != ':' && q[-1] != ' '))
		return false;
	ww_kl_digits(q, close, 9, &v);
	while (q[-1] == ' ')
		q--;
	return q[-1] == ':' && q - p > 4 && take_task(c, 'T', v, close + 1);
}

/* ".(0)[1436:comm][name:mod&]" of MediaTek; the first character tells the state of irqs. */
static bool mediatek(struct ww_kcur *c, const char *p)
{
	const char *q = p, *close;
	uint64_t v;

	/* "*6)" where no task is told. */
	if (c->end - p > 3 && (*p == '*' || *p == '.' || *p == '-') && ww_is_digit(p[1])) {
		q = ww_kl_digits(p + 1, c->end, 2, &v);
		return q < c->end && *q == ')' && take_task(c, 'C', v, q + 1);
	}
	if (q < c->end && (*q == '.' || *q == '-'))
		q++;
	if (q >= c->end || *q != '(')
		return false;
	q = ww_kl_digits(q + 1, c->end, 3, &v);
	if (!q || c->end - q < 4 || q[0] != ')' || q[1] != '[')
		return false;
	/* "(0)[]": no task is told. */
	if (q[2] == ']')
		return take_task(c, 'C', v, q + 3);
	q = ww_kl_digits(q + 2, c->end, 9, &v);
	if (!q || q >= c->end || *q != ':')
		return false;
	close = memchr(q, ']', (size_t)(c->end - q));
	if (!close)
		return false;
	q = close + 1;
	if (ww_kl_at(q, c->end, "[name:", 6)) {
		close = memchr(q, ']', (size_t)(c->end - q));
		q = close ? close + 1 : q;
	}
	/* "]: text", and "[name:mod&]" wherever the kernel went on with a line. */
	if (ww_kl_at(q, c->end, ": ", 2))
		q += 2;
	c->named = memmem(q, (size_t)(c->end - q), "[name:", 6) != NULL;
	return take_task(c, 'T', v, q);
}

bool ww_kl_caller(struct ww_kcur *c)
{
	const char *p = c->p;

	/* dmesg puts a blank between, Samsung two and a letter. */
	while (p < c->end && *p == ' ' && p - c->p < 2)
		p++;
	if (p >= c->end)
		return false;
	switch (*p) {
	case '[':
		return printk_caller(c, p) || vendor_caller(c, p);
	case '<':
		if (c->end - p > 3 && p[2] == '>' && ww_is_digit(p[1]) && mediatek(c, p + 3)) {
			c->o->level = p[1] & 7;
			return true;
		}
		return false;
	case '.':
	case '-':
	case '*':
	case '(':
		return mediatek(c, p);
	case 'D':
	case 'I':
	case 'N':
	case 'W':
	case 'E':
		return c->end - p > 2 && p[1] == '[' && vendor_caller(c, p + 1);
	default:
		return false;
	}
}
