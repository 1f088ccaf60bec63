/* SPDX-License-Identifier: MIT */
/*
 * What known programs print of their work, as their sources print it: openssl speed,
 * hdparm -t and -T, dd (GNU, BSD, busybox; any language), rsync, nbench (BYTEmark).
 */
#include "text/work.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

#define MIB 1048576.0

/* A whole number at p; its value, NaN where there is none. */
static double whole(const char *p, size_t *used)
{
	double v, place;
	int n = ww_work_number(p, strlen(p), WW_WORK_WHOLE, &v, &place);

	*used = n > 0 ? (size_t)n : 0;
	return n > 0 ? v : (double)NAN;
}

static bool begins(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

/* ---- openssl speed ---- */

/* AES-128-CBC    1206108.16k 1304523.11k: thousands of bytes in a second. */
static void openssl_table(struct ww_work_seen *s, const char *p)
{
	double v, place;

	for (; *p; p++) {
		int n = ww_is_digit(*p) && p[-1] == ' '
				? ww_work_number(p, strlen(p), WW_WORK_DECIMAL, &v, &place)
				: 0;

		if (n > 0 && p[n] == 'k' && (p[n + 1] == ' ' || !p[n + 1]))
			ww_work_add(s, &s->table, v * 1000, place * 1000 / sqrt(12), "B");
		p += n > 0 ? n - 1 : 0;
	}
	s->lines++;
}

/* A signature costs another amount than its check: what is of two kinds is no amount. */
static void openssl_name(struct ww_work_seen *s, const char *p, size_t n)
{
	char why[160];

	n = n < sizeof(s->name) ? n : sizeof(s->name) - 1;
	if (!s->name[0]) {
		memcpy(s->name, p, n);
		s->name[n] = '\0';
	} else if (strlen(s->name) != n || strncmp(s->name, p, n) != 0) {
		snprintf(why, sizeof(why),
			 "both %.40s and %.*s were found: measure one alone, or name its line by "
			 "an expression",
			 s->name, n < 40 ? (int)n : 40, p);
		ww_work_complain(s, why);
	}
}

/* "Doing X for 3s on 16 size blocks: N X's in 2.98s"; without blocks N are operations. */
static void openssl_doing(struct ww_work_seen *s, const char *line)
{
	const char *blocks = strstr(line, " size blocks: "), *p = strstr(line, "s: ");
	double size = 1, count;
	size_t n;

	if (blocks) {
		const char *q = blocks;

		while (q > line && ww_is_digit(q[-1]))
			q--;
		size = whole(q, &n);
		p = blocks + 13;
	}
	if (!p)
		return;
	p += strspn(p, "s: ");
	count = whole(p, &n);
	if (isnan(count) || isnan(size))
		return;
	p = strstr(line, " for ");
	if (p)
		openssl_name(s, line + 6, (size_t)(p - line - 6));
	ww_work_add(s, &s->amount, size * count, 0, blocks ? "B" : "op");
	s->lines++;
}

/* -mr: +DT:NAME:SECONDS:SIZE, then +R:COUNT:NAME:SECONDS. */
static void openssl_mr(struct ww_work_seen *s, const char *line)
{
	const char *last = strrchr(line, ':');
	size_t n;

	if (begins(line, "+DT:")) {
		s->block = whole(last + 1, &n);
		openssl_name(s, line + 4, strcspn(line + 4, ":"));
	} else if (s->block > 0) {
		ww_work_add(s, &s->amount, s->block * whole(line + 3, &n), 0, "B");
		s->lines++;
	}
}

/* +F:25:AES-128-CBC:738062336.00: bytes in a second, a column for each size. */
static void openssl_mr_rates(struct ww_work_seen *s, const char *line)
{
	const char *p = line + 3;
	double v, place;

	for (int field = 0; (p = strchr(p, ':')) != NULL; field++) {
		int n;

		p++;
		n = ww_work_number(p, strlen(p), WW_WORK_DECIMAL, &v, &place);

		if (field > 0 && n > 0 && (p[n] == ':' || !p[n]))
			ww_work_add(s, &s->table, v, place / sqrt(12), "B");
	}
	s->lines++;
}

/* A name and columns that end with "k": of -multi, whose table has no head since 3.0. */
static bool openssl_row(const char *line)
{
	size_t n = strlen(line);

	return n > 2 && *line != ' ' && line[n - 1] == 'k' && ww_is_digit(line[n - 2]) &&
	       strchr(line, ' ');
}

static void openssl(struct ww_work_seen *s, const char *line)
{
	/* -multi: counts of several processes mingle; what comes last is of all of them. */
	if (begins(line, "Forked child ")) {
		s->what = 'm';
		s->why[0] = '\0';
		s->amount = (struct ww_work_tally){0};
	}
	if (s->what != 'm' && (begins(line, "+DT:") || begins(line, "+R:")))
		openssl_mr(s, line);
	else if (s->what != 'm' && begins(line, "Doing "))
		openssl_doing(s, line);
	else if (begins(line, "type ") && strstr(line, " bytes"))
		s->armed = true;
	else if (s->what == 'm' && begins(line, "+F:"))
		openssl_mr_rates(s, line);
	else if ((s->armed && *line && *line != ' ') || (s->what == 'm' && openssl_row(line)))
		openssl_table(s, line + 1);
}

/* ---- hdparm ---- */

/* "Timing buffered disk reads: 142 MB in  3.01 seconds =  47.24 MB/sec", MB of 2^20. */
static void hdparm(struct ww_work_seen *s, const char *line)
{
	const char *p = strstr(line, "Timing ");
	char what = p && strstr(p, "cache") ? 'c' : 'd';
	double v;
	size_t n;

	p = p ? strchr(p, ':') : NULL;
	if (!p)
		return;
	p += 1 + strspn(p + 1, " ");
	v = whole(p, &n);
	if (isnan(v) || !begins(p + n, " MB in"))
		return;
	if (s->what && s->what != what)
		ww_work_complain(s, "hdparm read both from the cache and from the disk: measure "
				    "-t and -T in runs of their own");
	s->what = what;
	ww_work_add(s, &s->amount, v * MIB, 0, "B");
	s->lines++;
}

/* ---- dd ---- */

/* 2000+0 records out, in whatever language. */
static bool dd_records(const char *line)
{
	for (const char *p = line; *p; p++)
		if (*p == '+' && p > line && ww_is_digit(p[-1]) && ww_is_digit(p[1]))
			return true;
	return false;
}

/* What follows the records: the bytes come first, a rate is there. */
static void dd(struct ww_work_seen *s, const char *line)
{
	const char *p = line;
	double v;
	size_t n;

	if (dd_records(line)) {
		s->armed = true;
		return;
	}
	while (*p && !ww_is_digit(*p))
		p++;
	v = whole(p, &n);
	/* A record that was cut ("1 truncated record") comes before it. */
	if (!s->armed || isnan(v) || !strchr(p, '/'))
		return;
	s->armed = false;
	ww_work_add(s, &s->amount, v, 0, "B");
	s->lines++;
}

/* ---- rsync ---- */

/* "69,922,146 bytes", "17.83M bytes": the letter counts thousands. */
static double rsync_bytes(const char *p, double *u)
{
	static const char letters[] = "KMGTP";
	double v, place;
	const char *letter;
	int n;

	p += strspn(p, " ");
	n = ww_work_number(p, strlen(p), WW_WORK_WHOLE, &v, &place);
	letter = n > 0 && p[n] ? strchr(letters, p[n]) : NULL;
	if (letter)
		n = ww_work_number(p, (size_t)n, WW_WORK_DECIMAL, &v, &place);
	if (n <= 0)
		return NAN;
	*u = letter ? place / sqrt(12) * pow(1000, (double)(letter - letters + 1)) : 0;
	return letter ? v * pow(1000, (double)(letter - letters + 1)) : v;
}

/* "sent X bytes  received Y bytes  Z bytes/sec"; before 2.6: "wrote", "read". */
static void rsync(struct ww_work_seen *s, const char *line)
{
	static const char *const words[][2] = {{"sent ", " received "}, {"wrote ", " read "}};

	for (size_t i = 0; i < WW_COUNTOF(words); i++) {
		const char *second = strstr(line, words[i][1]);
		double a, b, ua = 0, ub = 0;

		if (!begins(line, words[i][0]) || !second || !strstr(second, "/sec"))
			continue;
		a = rsync_bytes(line + strlen(words[i][0]), &ua);
		b = rsync_bytes(second + strlen(words[i][1]), &ub);
		ww_work_add(s, &s->amount, a + b, hypot(ua, ub), "B");
		s->lines++;
	}
}

/* ---- nbench ---- */

/* "NUMERIC SORT        :          1165.6  :      29.89  :       9.82", iterations/s */
static void nbench(struct ww_work_seen *s, const char *line)
{
	static const char *const tests[] = {"NUMERIC SORT", "STRING SORT",
					    "BITFIELD",	    "FP EMULATION",
					    "FOURIER",	    "ASSIGNMENT",
					    "IDEA",	    "HUFFMAN",
					    "NEURAL NET",   "LU DECOMPOSITION"};
	const char *p = line + strspn(line, " ");
	double v, place;
	int n;

	for (size_t i = 0; i < WW_COUNTOF(tests); i++) {
		const char *q = p + strlen(tests[i]);

		if (!begins(p, tests[i]))
			continue;
		q += strspn(q, " ");
		if (*q++ != ':')
			continue;
		q += strspn(q, " ");
		if (begins(q, "Iterations/sec.:"))
			q += 16 + strspn(q + 16, " ");
		n = ww_work_number(q, strlen(q), WW_WORK_DECIMAL, &v, &place);
		if (n <= 0 || !(v > 0))
			continue;
		/* The geometric mean takes relative uncertainties; the digits are five. */
		ww_work_add(s, &s->rate, v, 0, "iteration");
		s->lines++;
	}
}

const struct ww_work_format *ww_work_format(const char *name)
{
	static const struct ww_work_format known[] = {{"openssl", openssl, false},
						      {"hdparm", hdparm, false},
						      {"dd", dd, false},
						      {"rsync", rsync, false},
						      {"nbench", nbench, true}};

	for (size_t i = 0; i < WW_COUNTOF(known); i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	return NULL;
}
