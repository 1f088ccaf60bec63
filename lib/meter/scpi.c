/* SPDX-License-Identifier: MIT */
#include "meter/scpi.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

#define PATIENCE_NS (3 * WW_NS_PER_S)
#define QUIET_NS    (300 * WW_NS_PER_MS)

void ww_scpi_init(struct ww_scpi *s, bool message)
{
	*s = (struct ww_scpi){.message = message,
			      .patience_ns = PATIENCE_NS,
			      .lapsed_ns = WW_TIME_MIN,
			      .quiet_ns = WW_TIME_MIN};
}

static int64_t patience(const struct ww_scpi *s)
{
	int64_t most = 2 * s->rtt_ns > s->hold_ns ? 2 * s->rtt_ns : s->hold_ns;
	int64_t usual = ww_add_sat(most, QUIET_NS);

	return s->steady && !s->missed && usual < s->patience_ns ? usual : s->patience_ns;
}

void ww_scpi_say(struct ww_scpi *s, const char *text, int64_t now_ns,
		 const struct ww_meter_out *out)
{
	bool query = strchr(text, '?') != NULL;
	char line[WW_SCPI_SENT + 2];
	int n;

	snprintf(query ? s->sent : s->before, WW_SCPI_SENT, "%s", text);
	n = snprintf(line, sizeof(line), "%.*s%s", WW_SCPI_SENT - 1, text,
		     s->message ? "\n" : "\r\n");
	if (query) {
		s->waiting = true;
		s->asked_ns = now_ns;
		s->waits_ns = patience(s);
		s->limit_ns = s->most_ns = ww_add_sat(now_ns, s->waits_ns);
		s->heard = 0;
		s->n = 0;
		s->over = false;
	}
	out->send(out->ctx, line, (size_t)n);
}

int64_t ww_scpi_deadline(const struct ww_scpi *s)
{
	return s->waiting ? s->limit_ns : s->quiet_ns;
}

enum ww_scpi_event ww_scpi_tick(struct ww_scpi *s, int64_t now_ns)
{
	if (!s->waiting || now_ns < s->limit_ns)
		return WW_SCPI_NONE;
	s->waiting = false;
	s->n = 0;
	/* A late answer must not be taken for that to the next query. */
	s->lapsed_ns = s->quiet_ns = ww_add_sat(now_ns, s->waits_ns);
	s->most_ns = ww_add_sat(s->quiet_ns, s->waits_ns);
	s->missed = true;
	return WW_SCPI_SILENT;
}

/* What was heard and was no answer: its beginning, for the sentence. */
static void keep(struct ww_scpi *s, const char *text)
{
	snprintf(s->told, sizeof(s->told), "%.40s", text);
	for (char *p = s->told; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
}

static bool is_text(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((s[i] < ' ' || s[i] > '~') && s[i] != '\t')
			return false;
	return true;
}

static enum ww_scpi_event bad(struct ww_scpi *s, int64_t now)
{
	s->line[s->n < sizeof(s->line) ? s->n : sizeof(s->line) - 1] = '\0';
	keep(s, s->line);
	s->waiting = false;
	s->n = 0;
	s->quiet_ns = ww_add_sat(now, QUIET_NS);
	return WW_SCPI_BAD;
}

/*
 * No answer is a query's own text: that is an echo. A command's text may be one (":NUM 8"
 * with headers on), and is an echo where queries are echoed, too.
 */
static bool echo(struct ww_scpi *s)
{
	if (strcmp(s->line, s->sent) == 0) {
		s->echoes = true;
		return true;
	}
	if (!s->echoes || strcmp(s->line, s->before) != 0)
		return false;
	s->before[0] = '\0';
	return true;
}

/* A whole line is there. */
static enum ww_scpi_event complete(struct ww_scpi *s, int64_t now)
{
	while (s->n && (s->line[s->n - 1] == '\r' || s->line[s->n - 1] == ' '))
		s->n--;
	if (s->over || !is_text(s->line, s->n)) {
		s->over = false;
		return s->waiting ? bad(s, now) : WW_SCPI_NONE;
	}
	s->line[s->n] = '\0';
	s->n = 0;
	if (!s->line[0] || echo(s))
		return WW_SCPI_NONE;
	if (!s->waiting) {
		s->stray++;
		return WW_SCPI_NONE;
	}
	s->waiting = s->missed = false;
	if (now - s->asked_ns > s->rtt_ns)
		s->rtt_ns = now - s->asked_ns;
	return WW_SCPI_ANSWER;
}

static void take(struct ww_scpi *s, struct ww_interval t, char c)
{
	if (!s->n)
		s->t = t;
	if (s->n < sizeof(s->line) - 1)
		s->line[s->n++] = c;
	else
		s->over = true;
}

enum ww_scpi_event ww_scpi_feed(struct ww_scpi *s, struct ww_interval t, const uint8_t *p, size_t n)
{
	enum ww_scpi_event ev = WW_SCPI_NONE, now;

	s->heard += n;
	if (n && !s->waiting) {
		/* Its end is the end of what was given up; but it may never end. */
		if (t.hi_ns < s->lapsed_ns || s->quiet_ns > t.lo_ns)
			s->quiet_ns = ww_add_sat(t.hi_ns, QUIET_NS);
		s->quiet_ns = s->quiet_ns < s->most_ns ? s->quiet_ns : s->most_ns;
		s->lapsed_ns = WW_TIME_MIN;
	}
	for (size_t i = 0; i < n; i++) {
		if (p[i] != '\n' || s->message) {
			take(s, t, (char)p[i]);
			/* It may never end: told once, and dropped. */
			if (!s->over || !s->waiting || s->message)
				continue;
			now = bad(s, t.hi_ns);
			s->over = true;
		} else {
			now = complete(s, t.hi_ns);
		}
		ev = ev == WW_SCPI_NONE ? now : ev;
		if (now == WW_SCPI_ANSWER) {
			s->stray += n - i > 2;
			return now;
		}
	}
	if (s->message && n) {
		while (s->n && s->line[s->n - 1] == '\n')
			s->n--;
		ev = complete(s, t.hi_ns);
	}
	return ev;
}

void ww_scpi_why(const struct ww_scpi *s, char *text, size_t n)
{
	if (s->told[0])
		snprintf(text, n, "what came begins with \"%s\"", s->told);
	else if (s->heard)
		snprintf(text, n, "%llu bytes came without the end of a line",
			 (unsigned long long)s->heard);
	else
		snprintf(text, n, "nothing came");
}

size_t ww_scpi_split(char *text, char sep, char **part, size_t most)
{
	size_t n = 0;

	while (n < most) {
		char *end = text, *last = NULL;
		bool quoted = false;

		for (; *end && (quoted || *end != sep); end++) {
			quoted ^= *end == '"';
			if (*end == ' ' && !quoted)
				last = end;
		}
		while (*text == ' ')
			text++;
		/* ":NUMERIC:NORMAL:NUMBER 8": the last word is the value. */
		if (*text == ':' && last && last > text && last + 1 < end)
			text = last + 1;
		part[n++] = text;
		if (!*end)
			break;
		*end = '\0';
		text = end + 1;
	}
	return n;
}

bool ww_scpi_number(const char *text, double *v)
{
	const char *end;

	text += strspn(text, " \t");
	if (strncasecmp(text, "NAN", 3) == 0 || strncmp(text, "---", 3) == 0) {
		*v = (double)NAN;
		return true;
	}
	*v = ww_strtod(text, &end);
	if (end == text)
		return false;
	end += strspn(end, " \t");
	if (*end)
		return false;
	/* SCPI 1999, 7.2.1.5: 9.91E37 is no number, 9.9E37 is infinity. */
	if (fabs(*v) > 9.905e37 && fabs(*v) < 9.915e37)
		*v = (double)NAN;
	else if (fabs(*v) >= 9.8e37)
		*v = *v > 0 ? (double)INFINITY : -(double)INFINITY;
	return true;
}

bool ww_scpi_digit(const char *text, double *coarsest)
{
	const char *point = NULL, *end, *p = text;
	double v, step = 1;

	if (!ww_scpi_number(text, &v) || !isfinite(v))
		return false;
	for (; *p && *p != 'E' && *p != 'e'; p++) {
		if (*p == '.')
			point = p;
		else if (point && ww_is_digit(*p))
			step /= 10;
	}
	if (*p)
		step *= pow(10, ww_strtod(p + 1, &end));
	if (step <= *coarsest)
		return false;
	*coarsest = step;
	return true;
}

int64_t ww_scpi_code(const char *text, double scale)
{
	double v, c;

	if (!ww_scpi_number(text, &v) || isnan(v))
		return WW_MISSING;
	c = v / scale;
	if (isinf(v) || fabs(c) > 9e15)
		return v > 0 ? WW_OVER : WW_UNDER;
	return (int64_t)(c < 0 ? c - 0.5 : c + 0.5);
}

static void copy(char *to, size_t n, const char *from)
{
	size_t k = 0;

	for (; k + 1 < n && from[k]; k++)
		to[k] = from[k];
	to[k] = '\0';
}

bool ww_scpi_idn(const char *line, struct ww_scpi_idn *out)
{
	char text[WW_SCPI_LINE], *part[5];
	size_t n;

	copy(text, sizeof(text), line);
	n = ww_scpi_split(text, ',', part, 5);
	if (n < 4 || !*part[0] || ww_is_digit(*part[0]) || *part[0] == '+' || *part[0] == '-')
		return false;
	copy(out->maker, sizeof(out->maker), part[0]);
	copy(out->model, sizeof(out->model), part[1]);
	copy(out->serial, sizeof(out->serial), part[2]);
	copy(out->firmware, sizeof(out->firmware), part[3]);
	return true;
}
