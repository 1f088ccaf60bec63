/* SPDX-License-Identifier: MIT */
/* Headers of logs: syslog, journal, dmesg -x, /dev/kmsg; bare dates and times. */
#include "text/klineimpl.h"

#define EPOCH_NS (INT64_C(1000000000) * WW_NS_PER_S)

int ww_kl_level_name(const char *p, size_t n)
{
	static const struct {
		char name[8];
		int level;
	} levels[] = {{"emerg", 0},  {"panic", 0}, {"alert", 1}, {"crit", 2},
		      {"err", 3},    {"error", 3}, {"warn", 4},	 {"warning", 4},
		      {"notice", 5}, {"info", 6},  {"debug", 7}};

	for (size_t i = 0; i < WW_COUNTOF(levels); i++)
		if (n == strlen(levels[i].name) && memcmp(p, levels[i].name, n) == 0)
			return levels[i].level;
	return -1;
}

/* "<6>" of a console with console_msg_format=syslog, of dmesg -r, "<30>" of syslog on the wire. */
bool ww_kl_level(struct ww_kcur *c)
{
	uint64_t v;
	const char *q = ww_kl_digits(c->p + 1, c->end, 3, &v);

	if (!q || q >= c->end || *q != '>' || v > 191)
		return false;
	c->o->level = (int)(v & 7);
	if (v >= 8)
		c->o->from = WW_LINE_USER;
	c->console = c->p;
	c->p = q + 1;
	/* RFC 5424: "<30>1 2023-12-01T..." */
	if (ww_kl_at(c->p, c->end, "1 2", 3))
		c->p += 2;
	return true;
}

static uint64_t hash(const char *p, size_t n)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * UINT64_C(1099511628211);
	return h;
}

static size_t word_len(const char *p, const char *end)
{
	const char *q = memchr(p, ' ', (size_t)(end - p));

	return (size_t)((q ? q : end) - p);
}

/* "kernel:", "systemd-sleep[6290]:". @return its end, behind the colon; NULL none */
static const char *tag_at(const char *p, const char *end, struct ww_slice *tag, bool *pid)
{
	size_t n = word_len(p, end);
	const char *q = p;

	*pid = false;
	if (n < 2 || n > 128 || p[n - 1] != ':')
		return NULL;
	while (q < p + n - 1 && *q != '[' && *q != ':')
		q++;
	if (q == p)
		return NULL;
	tag->p = p;
	tag->n = (size_t)(q - p);
	if (*q == '[') {
		if (p[n - 2] != ']')
			return NULL;
		*pid = true;
	} else if (q != p + n - 1) {
		return NULL;
	}
	return p + n;
}

static bool is_kernel(struct ww_slice tag)
{
	return ww_slice_is(tag, "kernel", 6) || ww_slice_is(tag, "klogd", 5) ||
	       ww_slice_is(tag, "Kernel", 6);
}

static void take_tag(struct ww_kcur *c, struct ww_slice tag, const char *p)
{
	c->o->tag = tag;
	c->o->from = is_kernel(tag) ? WW_LINE_KERNEL : WW_LINE_USER;
	c->header = true;
	c->console = NULL;
	c->p = p < c->end && *p == ' ' ? p + 1 : p;
	/* Of a kernel's line, only its stamp may follow; of a program's, a stamp at once. */
	if (c->p < c->end && *c->p == '[')
		ww_kl_kernel_stamp(c, c->p, false);
	c->whole = true;
}

/* "kern.info" of BusyBox and OpenWrt. */
static const char *facility(struct ww_kcur *c, const char *p)
{
	size_t n = word_len(p, c->end);
	const char *dot = memchr(p, '.', n);
	int level;

	if (!dot || dot == p || n > 24)
		return NULL;
	level = ww_kl_level_name(dot + 1, n - (size_t)(dot + 1 - p));
	if (level < 0)
		return NULL;
	c->o->level = level;
	return ww_kl_blanks(p + n, c->end);
}

/* RFC 5424 behind its date: host, program, process, message id, data. */
static bool rfc5424(struct ww_kcur *c)
{
	const char *p = c->p, *word[5];
	struct ww_slice tag;
	size_t n[5];

	if (!c->console || *c->console != '<')
		return false;
	for (int i = 0; i < 5; i++) {
		word[i] = p;
		n[i] = word_len(p, c->end);
		if (!n[i] || p + n[i] >= c->end)
			return false;
		p += n[i] + 1;
	}
	if (n[4] != 1 || word[4][0] != '-')
		return false;
	tag = (struct ww_slice){word[1], n[1]};
	take_tag(c, tag, p);
	return true;
}

/* "INFO" where others name the host (ChromeOS). */
static void shouted(struct ww_kcur *c, const char *p, size_t n)
{
	char low[8];
	int level;

	if (n < 3 || n >= sizeof(low))
		return;
	for (size_t i = 0; i < n; i++) {
		if (p[i] < 'A' || p[i] > 'Z')
			return;
		low[i] = (char)(p[i] | 0x20);
	}
	level = ww_kl_level_name(low, n);
	if (level >= 0)
		c->o->level = level;
}

void ww_kl_host_tag(struct ww_kcur *c)
{
	const char *p = c->p = ww_kl_blanks(c->p, c->end), *q, *after;
	struct ww_slice tag;
	bool pid;
	uint64_t h;
	size_t n;

	if (p >= c->end || *p == '[' || *p == '<' || rfc5424(c))
		return;
	q = facility(c, p);
	if (q)
		p = c->p = q;
	after = tag_at(p, c->end, &tag, &pid);
	if (after && (pid || q || is_kernel(tag))) {
		take_tag(c, tag, after);
		return;
	}
	n = word_len(p, c->end);
	if (q || after || p + n >= c->end)
		return;
	h = hash(p, n);
	q = facility(c, ww_kl_blanks(p + n, c->end));
	after = tag_at(q ? q : p + n + 1, c->end, &tag, &pid);
	if (after && (pid || q || is_kernel(tag) || h == c->s->host_hash)) {
		c->s->host_hash = h;
		shouted(c, p, n);
		take_tag(c, tag, after);
	} else if (h == c->s->host_hash) {
		/* "host last message repeated 3 times" */
		c->o->from = WW_LINE_USER;
		c->p = p + n + 1;
		c->header = c->whole = true;
	}
}

void ww_kl_monotonic(struct ww_kcur *c)
{
	const char *p = c->p, *after;
	size_t n = word_len(p, c->end);
	struct ww_slice tag;
	bool pid;

	if (n == 0 || n > 64 || p + n >= c->end || p[n - 1] == ':')
		return;
	after = tag_at(p + n + 1, c->end, &tag, &pid);
	if (!after || (!pid && !is_kernel(tag) && !c->s->monotonic))
		return;
	if (!pid && !is_kernel(tag) && hash(p, n) != c->s->host_hash)
		return;
	c->s->monotonic = true;
	c->s->host_hash = hash(p, n);
	c->o->tag = tag;
	c->p = after < c->end ? after + 1 : after;
	c->console = NULL;
	if (is_kernel(tag))
		return;
	/* The same clock, but no stamp of printk. */
	c->o->from = WW_LINE_USER;
	ww_kl_host(c, WW_HOST_ELAPSED, c->o->kernel_ns, c->o->kernel_res_ns);
	c->o->kernel_ns = WW_NO_TIME;
	c->o->kernel_res_ns = 0;
	c->header = true;
}

/* "6,1234,5678901,-;text" and "...,caller=T12;text" of /dev/kmsg and netconsole. */
static bool kmsg(struct ww_kcur *c)
{
	uint64_t pri, seq, us, v;
	const char *p = ww_kl_digits(c->p, c->end, 4, &pri), *semi;

	if (!p || p >= c->end || *p != ',')
		return false;
	p = ww_kl_digits(p + 1, c->end, 18, &seq);
	if (!p || p >= c->end || *p != ',')
		return false;
	p = ww_kl_digits(p + 1, c->end, 15, &us);
	if (!p || p >= c->end || *p != ',')
		return false;
	semi = memchr(p, ';', (size_t)(c->end - p));
	if (!semi)
		return false;
	if (semi - p > 9 && (p = memmem(p, (size_t)(semi - p), ",caller=", 8)) && semi - p > 9) {
		c->o->caller_kind = p[8] == 'C' ? 'C' : 'T';
		c->o->caller = ww_kl_digits(p + 9, semi, 9, &v) ? (int32_t)v : -1;
	}
	c->o->level = (int)(pri & 7);
	c->o->from = pri < 8 ? WW_LINE_KERNEL : WW_LINE_USER;
	c->o->kernel_ns = (int64_t)us * WW_NS_PER_US;
	c->o->kernel_res_ns = WW_NS_PER_US;
	c->s->last_kernel_ns = c->o->kernel_ns;
	c->s->kernel_stamps++;
	c->p = semi + 1;
	return c->whole = true;
}

/* Is there something that a number of grep could stand in front of? */
static bool grep_number(struct ww_kcur *c, const char *after)
{
	const char *number = c->p;

	if (after >= c->end || (*after != ':' && *after != '-' && *after != ' '))
		return false;
	c->p = ww_kl_blanks(after + 1, c->end);
	if (c->p < c->end && !ww_kl_blank(*c->p) && ww_kl_peel(c))
		return true;
	c->p = number;
	return false;
}

static bool seconds(struct ww_kcur *c)
{
	int64_t ns;
	int decimals;
	const char *p = ww_kl_seconds(c->p, c->end, &ns, &decimals), *q;

	if (!p || p >= c->end || !ww_kl_blank(*p))
		return false;
	q = ww_kl_blanks(p, c->end);
	if (ns >= EPOCH_NS) {
		ww_kl_host(c, WW_HOST_WALL, ns, ww_kl_res(decimals));
		c->p = p + 1;
		if (!ww_kl_logcat(c))
			ww_kl_host_tag(c);
		return true;
	}
	/* Of a program that counts: only where the kernel's own stamp follows. */
	if (q >= c->end || (*q != '[' && *q != '<'))
		return false;
	ww_kl_host(c, WW_HOST_ELAPSED, ns, ww_kl_res(decimals));
	c->p = q;
	return true;
}

/* "05:21:14.310872543 UTC": the end of Android's "suspend exit", wrapped; no logger's stamp. */
static bool wrapped(const char *q, const char *end)
{
	while (end > q && (ww_kl_blank(end[-1]) || end[-1] == '\r'))
		end--;
	return end - q == 4 && memcmp(q, " UTC", 4) == 0;
}

bool ww_kl_number(struct ww_kcur *c)
{
	const char *p = c->p, *q;
	int64_t ns, res;
	int decimals;
	uint64_t v;

	q = ww_kl_datetime(p, c->end, &ns, &decimals);
	if (q && wrapped(q, c->end))
		return false;
	if (q && (q == c->end || ww_kl_blank(*q))) {
		ww_kl_host(c, WW_HOST_WALL, ns, ww_kl_res(decimals));
		c->p = q;
		if (!ww_kl_logcat(c))
			ww_kl_host_tag(c);
		return true;
	}
	q = ww_kl_monthdash(c->s, p, c->end, &ns, &res);
	if (q && q < c->end && ww_kl_blank(*q)) {
		ww_kl_host(c, WW_HOST_WALL, ns, res);
		c->p = q;
		ww_kl_logcat(c);
		return true;
	}
	q = ww_kl_clock(p, c->end, &ns, &decimals);
	if (q && wrapped(q, c->end))
		return false;
	if (q && q < c->end && ww_kl_blank(*q)) {
		ww_kl_day(c, ns, ww_kl_res(decimals), false);
		c->p = ww_kl_blanks(q, c->end);
		return true;
	}
	if (kmsg(c) || seconds(c))
		return true;
	q = ww_kl_digits(p, c->end, 9, &v);
	if (q && q < c->end && (unsigned char)*q >= 0x80)
		return ww_kl_word(c);
	return q && grep_number(c, q);
}

/* "kern  :info  : " of dmesg -x. */
static bool decoded(struct ww_kcur *c)
{
	const char *colon, *level;
	size_t k;
	int v;

	if (c->end - c->p < 14 || c->p[6] != ':')
		return false;
	level = c->p + 7;
	colon = memchr(level, ':', (size_t)(c->end - level));
	if (!colon || colon - level < 6 || colon - level > 8)
		return false;
	k = word_len(level, colon);
	v = ww_kl_level_name(level, k);
	if (v < 0)
		return false;
	c->o->level = v;
	c->o->from = memcmp(c->p, "kern  ", 6) == 0 ? WW_LINE_KERNEL : WW_LINE_USER;
	c->p = ww_kl_blanks(colon + 1, c->end);
	return true;
}

/* "Fri Dec  1 18:03:09 2023 ", "Fri 2023-12-01 18:03:09 CET ", behind the weekday. */
static bool weekday(struct ww_kcur *c, size_t n)
{
	const char *p = ww_kl_blanks(c->p + n, c->end), *q;
	int64_t ns, res;
	int decimals;

	if (n > 12 || p >= c->end)
		return false;
	q = ww_kl_datetime(p, c->end, &ns, &decimals);
	if (q && q < c->end && *q == ' ') {
		ww_kl_host(c, WW_HOST_WALL, ns, ww_kl_res(decimals));
		q++;
		n = word_len(q, c->end);
		/* A zone by its name is not known. */
		if (n <= 5 && q < c->end && ((*q >= 'A' && *q <= 'Z') || *q == '+' || *q == '-'))
			q += n;
		c->p = q;
		ww_kl_host_tag(c);
		return true;
	}
	q = ww_kl_monthday(c->s, p, c->end, &ns, &res);
	if (!q || (q < c->end && !ww_kl_blank(*q)))
		return false;
	ww_kl_host(c, WW_HOST_WALL, ns, res);
	c->p = q;
	ww_kl_host_tag(c);
	return true;
}

bool ww_kl_word(struct ww_kcur *c)
{
	size_t n = 0;
	const char *p = c->p, *q;
	int64_t ns, res;

	while (p + n < c->end && n < 32 && !ww_kl_blank(p[n]))
		n++;
	if (p + n >= c->end || n >= 32)
		return false;
	/* A bare tag, cut out of a log. */
	if (n == 7 && memcmp(p, "kernel:", 7) == 0) {
		take_tag(c, (struct ww_slice){p, 6}, p + 7);
		return true;
	}
	if (p[1] == '/')
		return ww_kl_brief(c);
	q = ww_kl_monthday(c->s, p, c->end, &ns, &res);
	if (q && q < c->end && *q == ':')
		q++;
	if (q && (q == c->end || ww_kl_blank(*q))) {
		ww_kl_host(c, WW_HOST_WALL, ns, res);
		c->p = q;
		ww_kl_host_tag(c);
		return true;
	}
	/* A label of grabserial. */
	q = ww_kl_blanks(p + n, c->end);
	if (q < c->end && *q == '[' && ww_kl_grabserial(c, q))
		return true;
	return weekday(c, n) || decoded(c);
}
