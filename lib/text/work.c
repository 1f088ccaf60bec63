/* SPDX-License-Identifier: MIT */
/* ww_work: lines of output, matched by an expression or by a known program's form. */
#include "text/work.h"

#include <math.h>
#include <stdio.h>

void ww_work_complain(struct ww_work_seen *s, const char *why)
{
	if (!s->why[0])
		snprintf(s->why, sizeof(s->why), "%s", why);
}

void ww_work_add(struct ww_work_seen *s, struct ww_work_tally *t, double value, double u,
		 const char *unit)
{
	char why[160];

	if (!isfinite(value) || value < 0)
		return;
	if (t->n && strcmp(t->unit, unit) != 0) {
		snprintf(why, sizeof(why), "both %s and %s were found, which do not add up",
			 *t->unit ? t->unit : "a count", *unit ? unit : "a count");
		ww_work_complain(s, why);
		return;
	}
	snprintf(t->unit, sizeof(t->unit), "%s", unit);
	t->n++;
	t->sum += value;
	t->u2 += u * u;
	t->logs += log(value);
}

/* ---- expressions ---- */

/* A one in the last digit: the value lies within half of it. */
static double digit_u(double digit)
{
	return digit / sqrt(12);
}

/* Without a second group the word behind the number is its unit where it is one. */
static bool unit_of(const char *at, const regmatch_t *m, struct ww_work_unit *unit)
{
	const char *p = at + m[1].rm_eo;
	size_t n;

	/* A group inside of the number's is a part of the number. */
	if (m[2].rm_so >= m[1].rm_eo)
		return ww_work_unit(at + m[2].rm_so, (size_t)(m[2].rm_eo - m[2].rm_so), unit);
	p += strspn(p, " ");
	n = strcspn(p, " ,;:)\t");
	/* "80 frames per second" are no 80 frames. */
	if (strncmp(p + n, " per ", 5) == 0)
		n += 5 + strcspn(p + n + 5, " ,;:)\t");
	if (!ww_work_unit(p, n, unit) || !unit->known)
		return ww_work_unit("", 0, unit);
	return true;
}

static void match(struct ww_work_seen *s, const char *at, const regmatch_t *m, bool last)
{
	struct ww_work_unit unit;
	double v, digit;
	size_t n = (size_t)(m[1].rm_eo - m[1].rm_so);
	int used = ww_work_number(at + m[1].rm_so, n, WW_WORK_DECIMAL, &v, &digit);
	struct ww_work_tally *t;
	char why[160];

	if (used <= 0 || (size_t)used != n) {
		snprintf(why, sizeof(why), "'%.*s' %s", n < 40 ? (int)n : 40, at + m[1].rm_so,
			 used < 0 ? "can be read in two ways: is the comma a decimal one?"
				  : "is not a number");
		ww_work_complain(s, why);
		return;
	}
	if (!unit_of(at, m, &unit)) {
		ww_work_complain(s, "the unit is neither that of an amount nor that of a rate");
		return;
	}
	t = unit.rate ? &s->rate : &s->amount;
	if (last)
		s->rate = s->amount = (struct ww_work_tally){0};
	ww_work_add(s, t, v * unit.factor, digit_u(digit) * unit.factor, unit.name);
}

static void expression(struct ww_work_seen *s, const regex_t *regex, bool last, const char *line)
{
	const char *at = line;
	regmatch_t m[3];
	bool any = false;

	while (regexec(regex, at, 3, m, at == line ? 0 : REG_NOTBOL) == 0) {
		any = true;
		if (m[1].rm_so >= 0)
			match(s, at, m, last);
		/* An empty match moves on too. */
		at += m[0].rm_eo > m[0].rm_so ? m[0].rm_eo : m[0].rm_eo + 1;
		if (m[0].rm_eo == m[0].rm_so && at[-1] == '\0')
			break;
	}
	s->lines += any;
}

/* ---- lines ---- */

static void end_line(struct ww_work_seen *s, const struct ww_work *w)
{
	if (s->n == 0)
		return;
	s->line[s->n] = '\0';
	s->n = 0;
	if (!w->format)
		expression(s, &w->regex, w->last, s->line);
	else
		w->format->line(s, s->line);
}

void ww_work_feed(struct ww_work *w, const char *data, size_t n)
{
	struct ww_work_seen *s = &w->seen;

	for (size_t i = 0; i < n; i++) {
		if (data[i] == '\n' || data[i] == '\r')
			end_line(s, w);
		else if (s->n + 1 < sizeof(s->line))
			s->line[s->n++] = data[i] ? data[i] : ' ';
	}
}

/* Amounts add up, rates and what a table tells have a mean. */
static void conclude(const struct ww_work *w, const struct ww_work_seen *s,
		     struct ww_work_found *out)
{
	const struct ww_work_tally *rate = s->rate.n ? &s->rate : &s->table;

	if (s->amount.n && s->rate.n) {
		out->why = "both an amount and a throughput were found";
	} else if (s->amount.n) {
		out->kind = WW_WORK_AMOUNT;
		out->value = s->amount.sum;
		out->u = sqrt(s->amount.u2);
		out->unit = s->amount.unit;
	} else if (rate->n) {
		double k = (double)rate->n;

		out->kind = WW_WORK_RATE;
		out->value =
			w->format && w->format->geometric ? exp(rate->logs / k) : rate->sum / k;
		out->u = sqrt(rate->u2) / k;
		out->unit = rate->unit;
	} else {
		out->why = w->format ? "no line of the output is one that this program prints"
				     : "no line of the output matches";
	}
	if (s->why[0] || *out->why || !isfinite(out->value)) {
		*out = (struct ww_work_found){.lines = s->lines,
					      .unit = "",
					      .value = NAN,
					      .u = NAN,
					      .why = s->why[0]	 ? s->why
						     : *out->why ? out->why
								 : "too large a number"};
	}
}

void ww_work_get(struct ww_work *w, struct ww_work_found *out)
{
	struct ww_work_seen s = w->seen;

	end_line(&s, w);
	*out = (struct ww_work_found){.lines = s.lines, .unit = "", .why = ""};
	conclude(w, &s, out);
	snprintf(w->unit, sizeof(w->unit), "%s", out->unit);
	snprintf(w->why, sizeof(w->why), "%s", out->why);
	out->unit = w->unit;
	out->why = w->why;
}

void ww_work_reset(struct ww_work *w)
{
	memset(&w->seen, 0, sizeof(w->seen));
}

static int compile(struct ww_work *w, const char *what, struct ww_error *err)
{
	char why[128];
	int rc;

	w->last = strncmp(what, "last:", 5) == 0;
	what += w->last ? 5 : 0;
	rc = regcomp(&w->regex, what, REG_EXTENDED);
	if (rc != 0) {
		regerror(rc, &w->regex, why, sizeof(why));
		return ww_fail(err, -EINVAL,
			       "'%s' is neither a program whose output is known (openssl, hdparm, "
			       "dd, rsync, nbench) nor a regular expression (see regex(7)): %s",
			       what, why);
	}
	if (w->regex.re_nsub == 0) {
		regfree(&w->regex);
		return ww_fail(err, -EINVAL,
			       "'%s' has no group: write parentheses around the number, "
			       "'copied ([0-9.]+) (MB)'",
			       what);
	}
	return 0;
}

int ww_work_new(const char *what, struct ww_work **out, struct ww_error *err)
{
	struct ww_work *w = calloc(1, sizeof(*w));
	int rc = 0;

	*out = NULL;
	if (!w)
		return ww_fail_nomem(err);
	w->format = ww_work_format(what);
	if (!w->format)
		rc = compile(w, what, err);
	if (rc < 0) {
		free(w);
		return rc;
	}
	*out = w;
	return 0;
}

void ww_work_free(struct ww_work *w)
{
	if (w && !w->format)
		regfree(&w->regex);
	free(w);
}
