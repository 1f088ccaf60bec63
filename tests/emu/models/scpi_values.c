/* SPDX-License-Identifier: MIT */
#include "scpi.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { U, I, P, S, Q, LAMBDA, PHI, FU, FI, UPP, UMP, IPP, IMP, WH, AH, TIME };

static const struct {
	const char *brief, *whole, *column;
} functions[] = {
	[U] = {"U", "U", "Urms"},
	[I] = {"I", "I", "Irms"},
	[P] = {"P", "P", "P"},
	[S] = {"S", "S", "S"},
	[Q] = {"Q", "Q", "Q"},
	[LAMBDA] = {"LAMB", "LAMBDA", "PF"},
	[PHI] = {"PHI", "PHI", "PHI"},
	[FU] = {"FU", "FU", "fU"},
	[FI] = {"FI", "FI", "fI"},
	[UPP] = {"UPP", "UPPEAK", "U+pk"},
	[UMP] = {"UMP", "UMPEAK", "U-pk"},
	[IPP] = {"IPP", "IPPEAK", "I+pk"},
	[IMP] = {"IMP", "IMPEAK", "I-pk"},
	[WH] = {"WH", "WH", "WP"},
	[AH] = {"AH", "AH", "q"},
	[TIME] = {"TIME", "TIME", "TIME"},
};

#define FUNCTIONS (int)(sizeof(functions) / sizeof(functions[0]))

bool scpi_has(const struct scpi *m, const char *fault)
{
	return emu_fault(&m->s, fault);
}

int scpi_function(const char *name)
{
	size_t n = strcspn(name, ",");
	char word[16];

	if (n >= sizeof(word))
		return -1;
	memcpy(word, name, n);
	word[n] = '\0';
	for (int i = 0; i < FUNCTIONS; i++)
		if (strcasecmp(word, functions[i].brief) == 0 ||
		    strcasecmp(word, functions[i].whole) == 0)
			return i;
	return -1;
}

const char *scpi_function_name(int function, bool whole)
{
	return whole ? functions[function].column : functions[function].brief;
}

void scpi_add(struct scpi *m, const char *text)
{
	size_t n = strlen(text);

	if (n > SCPI_OUT - 1 - m->out_n)
		n = SCPI_OUT - 1 - m->out_n;
	memcpy(m->out + m->out_n, text, n);
	m->out_n += n;
}

int64_t scpi_updates(const struct scpi *m, int64_t now)
{
	if (scpi_has(m, "hold") && now - m->on_ns > 3 * EMU_S)
		now = m->on_ns + 3 * EMU_S;
	return now > m->rate_ns ? (now - m->rate_ns) / m->period_ns : 0;
}

static double wh_between(const struct scpi *m, int64_t from, int64_t to)
{
	double w = (emu_watts(&m->s, from) + emu_watts(&m->s, to)) / 2;

	return w * (double)(to - from) / 3.6e12;
}

void scpi_integrate(struct scpi *m, int64_t now, int order)
{
	if (order == 'R') {
		m->running = m->used = false;
		m->ran_ns = 0;
		m->ran_wh = 0;
	} else if (order == 'S' && !m->running) {
		m->running = m->used = true;
		m->run_ns = now;
	} else if (order == 'T' && m->running) {
		m->running = false;
		m->ran_ns += now - m->run_ns;
		m->ran_wh += wh_between(m, m->run_ns, now);
	}
}

/* Of the update that ended at t; NaN: none. */
static double value(const struct scpi *m, int function, int64_t t)
{
	int64_t mid = t - m->period_ns / 2;
	double u = m->s.volts, i = emu_amps(&m->s, mid), p = emu_watts(&m->s, mid), s = u * i;
	bool run = m->running && t > m->run_ns;

	switch (function) {
	case U:
		return u;
	case I:
		return i;
	case P:
		return p;
	case S:
		return s;
	case Q:
		return sqrt(s * s - p * p);
	case LAMBDA:
		return m->s.pf;
	case PHI:
		return acos(m->s.pf) * 57.29577951308232;
	case FU:
		return m->s.hz > 0 ? m->s.hz : (double)NAN;
	case FI:
		return m->s.hz > 0 && m->kind->elements ? m->s.hz : (double)NAN;
	case UPP:
	case UMP:
		return u * (function == UPP ? 1 : -1) * (m->s.hz > 0 ? 1.41421356 : 1);
	case IPP:
	case IMP:
		return i * (function == IPP ? 1 : -1) * (m->s.hz > 0 ? 1.41421356 : 1);
	case WH:
		return m->used ? m->ran_wh + (run ? wh_between(m, m->run_ns, t) : 0) : (double)NAN;
	case TIME:
		return (double)(m->ran_ns + (run ? t - m->run_ns : 0)) / 1e9;
	default:
		return (double)NAN;
	}
}

/* Five digits: +2.3045E+02, or 230.45E+00. */
static void number(const struct scpi *m, double v, char *to, size_t n)
{
	double a = fabs(v);
	int e = a > 0 ? (int)floor(log10(a)) : 0, by = 0;

	if (isnan(v)) {
		snprintf(to, n, "NAN");
		return;
	}
	/* 9.99996 is told as 10. */
	if (a > 0 && round(a / pow(10, e) * 1e4) >= 1e5)
		e++;
	if (m->kind->engineering) {
		by = ((e % 3) + 3) % 3;
		snprintf(to, n, "%.*fE%+03d", 4 - by, v / pow(10, e - by), e - by);
	} else {
		snprintf(to, n, "%+.4fE%+03d", v / pow(10, e), e);
	}
}

static double faulty(const struct scpi *m, double v, int64_t t)
{
	int64_t since = t - m->on_ns;

	if (scpi_has(m, "nan") || (scpi_has(m, "ranging") && since / EMU_S % 4 == 3))
		return (double)NAN;
	return v;
}

static void as_block(struct scpi *m, int64_t t)
{
	unsigned n = m->number * 4;
	char head[16];

	snprintf(head, sizeof(head), "#4%04u", n);
	scpi_add(m, head);
	for (unsigned i = 0; i < m->number && m->out_n + 4 < SCPI_OUT; i++) {
		float f = (float)faulty(m, value(m, m->item[i], t), t);
		uint32_t bits;

		memcpy(&bits, &f, sizeof(bits));
		if (isnan(f))
			bits = 0x7e951bee;
		for (int b = 24; b >= 0; b -= 8)
			m->out[m->out_n++] = (char)(bits >> b);
	}
}

/* All items of the last update. */
void scpi_values(struct scpi *m, int64_t now)
{
	int64_t k = scpi_updates(m, now), t = m->rate_ns + k * m->period_ns;
	unsigned n = m->number;
	char text[64];

	if (m->as_float) {
		as_block(m, t);
		return;
	}
	if (scpi_has(m, "cut") && m->queries % 4 == 3)
		n = n > 1 ? n - 1 : 1;
	for (unsigned i = 0; i < n; i++) {
		/* Before its first update it has nothing. */
		double v = k ? faulty(m, value(m, m->item[i], t), t) : (double)NAN;

		number(m, v, text, sizeof(text));
		if (scpi_has(m, "inf"))
			snprintf(text, sizeof(text), "INF");
		if (scpi_has(m, "over"))
			snprintf(text, sizeof(text), "9.91E37");
		scpi_add(m, i ? "," : "");
		scpi_add(m, text);
	}
}
