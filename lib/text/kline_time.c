/* SPDX-License-Identifier: MIT */
/* Clocks that loggers write in front of a line. */
#include "text/klineimpl.h"

#define DAY_NS	(INT64_C(86400) * WW_NS_PER_S)
#define HOUR_NS (INT64_C(3600) * WW_NS_PER_S)
#define YEAR_LO 1970
#define YEAR_HI 2200

const char *ww_kl_digits(const char *p, const char *end, int most, uint64_t *v)
{
	uint64_t x = 0;
	int k = 0;

	for (; p < end && k < most && ww_is_digit(*p); p++, k++)
		x = x * 10 + (uint64_t)(*p - '0');
	*v = x;
	return k ? p : NULL;
}

int64_t ww_kl_res(int decimals)
{
	int64_t res = WW_NS_PER_S;

	for (int i = 0; i < decimals; i++)
		res /= 10;
	return res;
}

/* Digits behind a point: at most nine count. */
static const char *fraction(const char *p, const char *end, int64_t *ns, int *decimals)
{
	int64_t x = 0, unit = WW_NS_PER_S;
	int k = 0;

	for (; p < end && ww_is_digit(*p); p++) {
		if (k == 9)
			continue;
		x = x * 10 + (*p - '0');
		unit /= 10;
		k++;
	}
	*ns = x * unit;
	*decimals = k;
	return k ? p : NULL;
}

const char *ww_kl_seconds(const char *p, const char *end, int64_t *ns, int *decimals)
{
	uint64_t sec;
	int64_t part;

	p = ww_kl_digits(p, end, 10, &sec);
	if (!p || p >= end || *p != '.' || sec > 9000000000)
		return NULL;
	p = fraction(p + 1, end, &part, decimals);
	if (p)
		*ns = (int64_t)sec * WW_NS_PER_S + part;
	return p;
}

static int two(const char *p)
{
	return ww_is_digit(p[0]) && ww_is_digit(p[1]) ? (p[0] - '0') * 10 + p[1] - '0' : -1;
}

const char *ww_kl_clock(const char *p, const char *end, int64_t *ns, int *decimals)
{
	int h, m, s;
	const char *q;
	int64_t part;

	if (end - p < 8 || p[2] != ':' || p[5] != ':')
		return NULL;
	h = two(p);
	m = two(p + 3);
	s = two(p + 6);
	if (h < 0 || h > 23 || m < 0 || m > 59 || s < 0 || s > 60)
		return NULL;
	*ns = (h * INT64_C(3600) + m * 60 + s) * WW_NS_PER_S;
	*decimals = 0;
	p += 8;
	if (end - p > 1 && (*p == '.' || *p == ',') && ww_is_digit(p[1])) {
		q = fraction(p + 1, end, &part, decimals);
		*ns += part;
		p = q;
	}
	return p;
}

/* Days since 1970 of a date (proleptic Gregorian calendar). */
static int64_t days(int64_t y, int m, int d)
{
	int64_t era, yoe, doy;

	y -= m <= 2;
	era = y / 400;
	yoe = y - era * 400;
	doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

/* "Z", "+01:00", "-0530"; what is none of them stays. */
static const char *zone(const char *p, const char *end, int64_t *offset_ns)
{
	const char *q = p + 1;
	int h, m = 0;

	*offset_ns = 0;
	if (p < end && *p == 'Z')
		return q;
	if (end - p < 3 || (*p != '+' && *p != '-') || (h = two(q)) < 0 || h > 14)
		return p;
	q += 2;
	if (end - q >= 3 && *q == ':' && two(q + 1) >= 0)
		q++;
	if (end - q >= 2 && two(q) >= 0) {
		m = two(q);
		q += 2;
	}
	*offset_ns = (h * INT64_C(3600) + m * 60) * WW_NS_PER_S;
	if (*p == '-')
		*offset_ns = -*offset_ns;
	return q;
}

/* "2026-11-30", "2026/11/30" or "20261130". */
static const char *year_first(const char *p, const char *end, int *y, int *m, int *d)
{
	char sep;

	if (end - p < 8 || two(p) < 0 || two(p + 2) < 0)
		return NULL;
	*y = two(p) * 100 + two(p + 2);
	sep = p[4];
	p += 4;
	if (sep == '-' || sep == '/') {
		if (end - p < 6 || p[3] != sep)
			return NULL;
		*m = two(p + 1);
		*d = two(p + 4);
		p += 6;
	} else {
		*m = two(p);
		*d = two(p + 2);
		p += 4;
	}
	if (*y < YEAR_LO || *y >= YEAR_HI || *m < 1 || *m > 12 || *d < 1 || *d > 31)
		return NULL;
	return p;
}

const char *ww_kl_datetime(const char *p, const char *end, int64_t *ns, int *decimals)
{
	int64_t clock, offset;
	int y, m, d;

	p = year_first(p, end, &y, &m, &d);
	if (!p || p >= end || (*p != 'T' && *p != ' ' && *p != '_' && *p != 't'))
		return NULL;
	p = ww_kl_clock(p + 1, end, &clock, decimals);
	if (!p)
		return NULL;
	p = zone(p, end, &offset);
	*ns = days(y, m, d) * DAY_NS + clock - offset;
	return p;
}

/* Beginnings of names, the longer before those that they begin with. */
static const struct {
	const char *name;
	int month;
} months[] = {
	{"Jan", 1},
	{"jan", 1},
	{"Gen", 1},
	{"gen", 1},
	{"Ene", 1},
	{"ene", 1},
	{"J\303\244n", 1},
	{"\321\217\320\275\320\262", 1},
	{"Feb", 2},
	{"feb", 2},
	{"Fev", 2},
	{"fev", 2},
	{"f\303\251v", 2},
	{"\321\204\320\265\320\262", 2},
	{"Mar", 3},
	{"mar", 3},
	{"M\303\244r", 3},
	{"m\303\244r", 3},
	{"mrt", 3},
	{"\320\274\320\260\321\200", 3},
	{"Apr", 4},
	{"apr", 4},
	{"Abr", 4},
	{"abr", 4},
	{"avr", 4},
	{"\320\260\320\277\321\200", 4},
	{"May", 5},
	{"may", 5},
	{"Mai", 5},
	{"mai", 5},
	{"maj", 5},
	{"mei", 5},
	{"mag", 5},
	{"\320\274\320\260\321\217", 5},
	{"\320\274\320\260\320\271", 5},
	{"Jun", 6},
	{"jun", 6},
	{"juin", 6},
	{"giu", 6},
	{"\320\270\321\216\320\275", 6},
	{"Jul", 7},
	{"jul", 7},
	{"juil", 7},
	{"lug", 7},
	{"\320\270\321\216\320\273", 7},
	{"Aug", 8},
	{"aug", 8},
	{"Ago", 8},
	{"ago", 8},
	{"ao\303\273", 8},
	{"\320\260\320\262\320\263", 8},
	{"Sep", 9},
	{"sep", 9},
	{"Set", 9},
	{"set", 9},
	{"\321\201\320\265\320\275", 9},
	{"Oct", 10},
	{"oct", 10},
	{"Okt", 10},
	{"okt", 10},
	{"Out", 10},
	{"out", 10},
	{"ott", 10},
	{"\320\276\320\272\321\202", 10},
	{"Nov", 11},
	{"nov", 11},
	{"\320\275\320\276\321\217", 11},
	{"Dec", 12},
	{"dec", 12},
	{"Dez", 12},
	{"dez", 12},
	{"Dic", 12},
	{"dic", 12},
	{"d\303\251c", 12},
	{"\320\264\320\265\320\272", 12},
};

/* "3月" */
static int month_number(const char *p, size_t n)
{
	uint64_t v;
	const char *q = ww_kl_digits(p, p + n, 2, &v);

	return q && q < p + n && (unsigned char)*q >= 0x80 && v >= 1 && v <= 12 ? (int)v : 0;
}

/* 1..12. A name that is in no table counts on from the month before it. */
static int month_of(struct ww_kline_state *s, const char *p, size_t n)
{
	uint64_t h = UINT64_C(14695981039346656037);
	int m = month_number(p, n);

	for (size_t i = 0; !m && i < WW_COUNTOF(months); i++) {
		size_t k = strlen(months[i].name);

		if (k <= n && memcmp(p, months[i].name, k) == 0)
			m = months[i].month;
	}
	if (m) {
		s->month_hash = 0;
		return m;
	}
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * UINT64_C(1099511628211);
	m = s->month ? s->month : 1;
	if (s->month && s->month_hash != h)
		m = m % 12 + 1;
	s->month_hash = h;
	return m;
}

/* Without a year: it goes on from what was, and a new one begins where winter ends. */
static int64_t date_ns(struct ww_kline_state *s, int year, int m, int d)
{
	if (year)
		s->year = year;
	else if (s->month >= 11 && m <= 2)
		s->year++;
	else if (s->month && s->month <= 2 && m >= 11)
		s->year--; /* a line of before the new year that came late */
	s->month = m;
	return days(s->year, m, d) * DAY_NS;
}

/* Length of a word that may be a month; 0: none. */
static size_t month_word(const char *p, const char *end)
{
	size_t n = 0;
	bool letter = false;

	while (p + n < end && !ww_kl_blank(p[n]) && n < 24) {
		unsigned char b = (unsigned char)p[n];

		letter |= (b | 0x20) >= 'a' && (b | 0x20) <= 'z';
		letter |= b >= 0x80;
		if (b == '[' || b == ':' || b == '=' || b == '/')
			return 0;
		n++;
	}
	return letter && n >= 2 && n < 24 ? n : 0;
}

const char *ww_kl_monthday(struct ww_kline_state *s, const char *p, const char *end, int64_t *ns,
			   int64_t *res)
{
	size_t n = month_word(p, end);
	const char *q = ww_kl_blanks(p + n, end), *year;
	uint64_t day, y = 0;
	int64_t clock;
	int decimals;

	if (!n || q >= end || !ww_is_digit(*q))
		return NULL;
	q = ww_kl_digits(q, end, 2, &day);
	/* "Dec. 1, " */
	if (q < end && (*q == ',' || *q == '.'))
		q++;
	if (q >= end || !ww_kl_blank(*q) || day < 1 || day > 31)
		return NULL;
	q = ww_kl_blanks(q, end);
	/* "Nov 30 2026 22:35:58" of routers. */
	if (end - q > 4 && ww_kl_blank(q[4])) {
		year = ww_kl_digits(q, end, 4, &y);
		if (year != q + 4 || y < YEAR_LO || y >= YEAR_HI)
			return NULL;
		q = ww_kl_blanks(year, end);
	}
	q = ww_kl_clock(q, end, &clock, &decimals);
	if (!q || (q < end && !ww_kl_blank(*q) && *q != ':' && *q != ']'))
		return NULL;
	/* "Fri Dec  1 18:03:09 2023", with nothing behind it but text. */
	if (!y && end - q >= 5 && *q == ' ' && (end - q == 5 || q[5] == ' ' || q[5] == ']')) {
		year = ww_kl_digits(q + 1, end, 4, &y);
		if (year == q + 5 && y >= YEAR_LO && y < YEAR_HI)
			q = year;
		else
			y = 0;
	}
	*ns = date_ns(s, (int)y, month_of(s, p, n), (int)day) + clock;
	*res = ww_kl_res(decimals);
	return q;
}

const char *ww_kl_minute(struct ww_kline_state *s, const char *p, const char *end, int64_t *ns)
{
	const char *close = memchr(p, ']', (size_t)(end - p)), *q;
	uint64_t day;
	size_t n = 0;
	int h, m;

	if (!close || close - p < 8 || close - p > 32 || close[-3] != ':')
		return NULL;
	h = two(close - 5);
	m = two(close - 2);
	if (h < 0 || h > 23 || m < 0 || m > 59 || !ww_kl_blank(close[-6]))
		return NULL;
	while (p + n < close && !ww_is_digit(p[n]) && !ww_kl_blank(p[n]))
		n++;
	q = ww_kl_digits(ww_kl_blanks(p + n, close), close, 2, &day);
	if (n < 2 || q != close - 6 || day < 1 || day > 31)
		return NULL;
	*ns = date_ns(s, 0, month_of(s, p, n), (int)day) + (h * INT64_C(60) + m) * 60 * WW_NS_PER_S;
	return close;
}

const char *ww_kl_monthdash(struct ww_kline_state *s, const char *p, const char *end, int64_t *ns,
			    int64_t *res)
{
	int64_t clock;
	int m, d, decimals;

	if (end - p < 14 || p[2] != '-' || p[5] != ' ')
		return NULL;
	m = two(p);
	d = two(p + 3);
	p = m >= 1 && m <= 12 && d >= 1 && d <= 31 ? ww_kl_clock(p + 6, end, &clock, &decimals)
						   : NULL;
	if (!p)
		return NULL;
	*ns = date_ns(s, 0, m, d) + clock;
	*res = ww_kl_res(decimals);
	return p;
}

void ww_kl_host(struct ww_kcur *c, int clock, int64_t ns, int64_t res)
{
	if (c->o->host_clock != WW_HOST_NONE)
		return;
	c->o->host_clock = clock;
	c->o->host_ns = ns;
	c->o->host_res_ns = res;
}

void ww_kl_delta(struct ww_kcur *c, int64_t ns, int64_t res)
{
	if (c->o->host_clock != WW_HOST_NONE)
		return;
	c->s->sum_ns = ww_add_sat(c->s->sum_ns, ns);
	ww_kl_host(c, WW_HOST_DELTA, c->s->sum_ns, res);
}

/*
 * A date where dmesg --reltime has no delta, at the first line of each new minute. The line
 * belongs to that minute, and not before what was already.
 */
void ww_kl_reltime_date(struct ww_kcur *c, int64_t ns)
{
	struct ww_kline_state *s = c->s;

	if (!s->anchored) {
		s->anchored = true;
		s->anchor_ns = ns - s->sum_ns;
	}
	if (ns - s->anchor_ns > s->sum_ns)
		s->sum_ns = ns - s->anchor_ns;
	ww_kl_host(c, WW_HOST_DELTA, s->sum_ns, 60 * WW_NS_PER_S);
}

void ww_kl_day(struct ww_kcur *c, int64_t ns, int64_t res, bool may_be_delta)
{
	struct ww_kline_state *s = c->s;
	int64_t fall = s->last_day_ns - ns;

	if (c->o->host_clock != WW_HOST_NONE)
		return;
	/* tio writes differences in the same form: they are small, and fall again and again. */
	if (may_be_delta && !s->deltas && fall > 0 && fall < HOUR_NS &&
	    s->last_day_ns < 600 * WW_NS_PER_S && !s->day_ns) {
		s->deltas = true;
		s->sum_ns = s->last_day_ns;
	}
	if (may_be_delta && s->deltas) {
		ww_kl_delta(c, ns, res);
		return;
	}
	/* Clocks are set back by an hour at most (summer time). */
	if (s->last_day_ns >= 0 && fall > HOUR_NS + 60 * WW_NS_PER_S)
		s->day_ns += DAY_NS;
	s->last_day_ns = ns;
	ww_kl_host(c, WW_HOST_DAY, ns + s->day_ns, res);
}
